"""From a configuration to a model, and from files of every kind to lines."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import benchmark
from benchmark.cli import app
from benchmark.model.prediction_io import format_predictions, read_texts
from benchmark.model.text_model import TextPredictions

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

CONFIG = """\
name: mine
corpus: {name: files, path: mine.jsonl, text: [subject, body], id: name, CLASSES, separator: ;}
text: {stoplist: none, digits: token}
protocol: {name: k-fold, k: 3, stratified: false}
methods: [ngd, mnb]
"""
WORDS = {"tea": "leaf cup kettle brew steam", "rum": "cane barrel ship sailor storm", "ink": "pen paper letter quill"}


def bench(*arguments: object, **options: Any) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], **options)


def documents(n: int, *, multilabel: bool) -> list[dict[str, Any]]:
    rng, rows = np.random.default_rng(0), []
    for number in range(n):
        names = [name for name in WORDS if rng.random() < 0.6] if multilabel else [list(WORDS)[number % len(WORDS)]]
        words = rng.choice(" ".join([*(WORDS[name] for name in names), "the of and"]).split(), 12)
        row = {"name": f"n{number}", "subject": words[0], "body": " ".join(words[1:])}
        rows.append(row | {"labels" if multilabel else "label": names if multilabel else names[0]})
    return rows


@pytest.fixture(params=[False, True], ids=["single", "several"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path]:
    """A model of one's own documents, fitted by the command; the documents stand beside it."""
    multilabel = request.param
    text = "".join(json.dumps(row) + "\n" for row in documents(90, multilabel=multilabel))
    (tmp_path / "mine.jsonl").write_text(text)
    columns = "labels: labels" if multilabel else "label: label"
    config = CONFIG.replace("CLASSES", columns).replace(", separator: ;", "" if not multilabel else ", separator: ;")
    (tmp_path / "mine.yaml").write_text(config)

    def make(*options: object) -> Path:
        result = bench("fit", tmp_path / "mine.yaml", "--cell", "ngd", "--out", tmp_path / "model", *options)
        assert result.exit_code == 0, result.output
        assert result.stdout.startswith(f"Written to {tmp_path / 'model'}: ")
        return tmp_path

    return make


def rows_of(output: str) -> list[dict[str, str]]:
    return list(csv.DictReader(output.splitlines()))


def test_every_kind_of_file_is_answered_alike(made: Callable[..., Path]) -> None:
    """Without an option, the names are those of the training documents' column; another delimiter is stated."""
    folder = made("--probability")
    given = [json.loads(line) for line in (folder / "mine.jsonl").read_text().splitlines()]
    table = pd.DataFrame(given)[["name", "subject", "body"]]
    table.to_csv(folder / "new.csv", index=False)
    table.to_csv(folder / "new.tsv.gz", index=False, sep="\t")
    table.to_parquet(folder / "new.parquet")
    table.to_csv(folder / "odd.csv", index=False, sep="|", encoding="utf-16")
    outputs = []
    for name in ("mine.jsonl", "new.csv", "new.tsv.gz", "new.parquet", "odd.csv"):
        result = bench("predict", folder / "model", folder / name, *(["--delimiter", "|"] * (name == "odd.csv")))
        assert (result.exit_code, result.stderr) == (0, "")
        outputs.append(result.stdout)
    assert len(set(outputs)) == 1
    rows = rows_of(outputs[0])
    assert [row["id"] for row in rows] == [row["name"] for row in given]
    label = "label" if "label" in given[0] else "labels"
    pairs = zip(rows, given, strict=True)
    right = [set(filter(None, row[label].split(";"))) == set(np.ravel(own[label])) for row, own in pairs]
    assert np.mean(right) > 0.8


def test_plain_files_and_standard_input_are_documents_and_lines(made: Callable[..., Path]) -> None:
    folder = made()
    lines = ["leaf cup brew", "", "the ship of a sailor, and rum"]
    (folder / "a.txt").write_text(lines[0])
    (folder / "b.eml.gz").write_bytes(gzip.compress(lines[2].encode()))
    files = bench("predict", folder / "model", folder / "a.txt", folder / "b.eml.gz")
    piped = bench("predict", folder / "model", input="\r\n".join(lines))
    named = bench("predict", folder / "model", "-", input="\n".join(lines) + "\n")
    assert piped.stdout == named.stdout
    of_files, of_lines = rows_of(files.stdout), rows_of(piped.stdout)
    assert [row.pop("id") for row in of_files] == [str(folder / "a.txt"), str(folder / "b.eml.gz")]
    assert [row.pop("id") for row in of_lines] == ["1", "2", "3"]
    assert of_files == [of_lines[0], of_lines[2]]
    assert piped.stderr == "1 of 3 documents have no word that the model knows\n"
    nothing = bench("predict", folder / "model", input="")
    assert (nothing.exit_code, nothing.stdout.count("\n"), nothing.stderr) == (0, 1, "")


def test_json_lines_have_all_digits_and_the_estimator_says_the_same(made: Callable[..., Path]) -> None:
    folder = made("--probability")
    model, texts = benchmark.load_model(folder / "model"), ["leaf cup", "ship pen paper"]
    result = bench("predict", folder / "model", "--format", "jsonl", "--top-terms", 2, input="\n".join(texts))
    found = [json.loads(line) for line in result.stdout.splitlines()]
    order = model.classes_.tolist()
    values, probabilities, given = (ask(texts) for ask in (model.decision_function, model.predict_proba, model.predict))
    for row, value, probability, own in zip(found, values, probabilities, given, strict=True):
        assert [row[f"decision {name}"] for name in order] == value.tolist()
        assert [row[f"probability {name}"] for name in order] == probability.tolist()
        if model.multilabel:
            assert row["labels"] == [name for name, is_one in zip(order, own, strict=True) if is_one]
            assert {name for name in order if f"words {name}" in row} == set(row["labels"])
        else:
            assert row["label"] == own
    words = [each for row in found for key, each in row.items() if key.startswith("words")]
    assert set().union(*words) <= set(" ".join(texts).split())
    assert any(words)


def test_what_is_wrong_is_said_in_a_line(made: Callable[..., Path]) -> None:
    folder = made()
    config, model = folder / "mine.yaml", folder / "model"
    (folder / "new.csv").write_text("subject,text\na,b\n")
    (folder / "a.xlsx").write_bytes(b"PK")
    cases: list[tuple[tuple[object, ...], int, str]] = [
        (("fit", config, "--cell", "ngd", "--out", model), 2, "is not empty; --overwrite"),
        (("fit", config, "--cell", "ngdd", "--out", folder / "x"), 2, "unknown cell 'ngdd'; did you mean 'ngd'?"),
        (("fit", config, "--cell", "mnb", "--out", folder / "x", "--split", "fold-9"), 2, "unknown split 'fold-9'"),
        (("predict", folder / "nothing", config), 3, "nothing/model.json: can't be read: No such file or directory"),
        (("predict", model, folder / "nothing.txt"), 3, "can't be read: No such file or directory"),
        (("predict", model, folder / "new.csv"), 3, "has no column 'body'"),
        (("predict", model, folder / "a.xlsx"), 3, "save its table as CSV"),
        (("predict", model, "--encoding", "utf-9"), 2, "unknown encoding 'utf-9'"),
        (("predict", model, "--delimiter", ";;"), 2, "must be one character, such as ';'"),
    ]
    for arguments, code, message in cases:
        result = bench(*arguments, input="")
        assert (result.exit_code, result.stderr.count("\n")) == (code, 1), arguments
        assert message in result.stderr
    assert bench("fit", config, "--cell", "mnb", "--out", model, "--overwrite").exit_code == 0
    found = bench("predict", model, folder / "new.csv", "--text", "subject", "--text", "text")
    assert [row["id"] for row in rows_of(found.stdout)] == [f"{folder / 'new.csv'}:2"], "it has no column of names"


def test_points_have_no_model(tmp_path: Path) -> None:
    config = Path(__file__).parents[2] / "configs" / "decision-boundaries.yaml"
    result = bench("fit", config, "--cell", "simplex-heat", "--out", tmp_path / "model")
    assert result.exit_code == 2
    assert result.stderr.strip().endswith("there are no texts to predict")


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
def test_a_prediction_is_a_row_of_a_table_and_a_line_of_json(multilabel: bool) -> None:
    """The value of a class that was not learned is empty, or null."""
    predicted, words = (np.array([[True, False, True]]), {0: ["leaf"], 2: ["cup", "pot"]}) if multilabel else (
        np.array([1], np.int32), {1: ["cup", "pot"]})  # fmt: skip
    answers = TextPredictions(predicted, np.array([[0.25, 1 / 3, -np.inf]]), None, np.array([3]), (words,))
    model: Any = SimpleNamespace(classes=("a", "b", "c"), multilabel=multilabel, sigmoids=None)
    asked, label = [(("n1",), answers)], {"labels": ["a", "c"]} if multilabel else {"label": "b"}
    header, row = "".join(format_predictions(model, asked, with_words=True)).splitlines()
    assert row == ("n1,a;c,0.25,0.333333333333,,leaf,,cup;pot" if multilabel else "n1,b,0.25,0.333333333333,,cup;pot")
    own = ["words a", "words b", "words c"] if multilabel else ["words"]
    assert header.split(",") == ["id", *label, "decision a", "decision b", "decision c", *own]
    (line,) = "".join(format_predictions(model, asked, as_json=True)).splitlines()
    shown = {"words a": ["leaf"], "words c": ["cup", "pot"]} if multilabel else {"words": ["cup", "pot"]}
    assert json.loads(line) == {"id": "n1", "decision a": 0.25, "decision b": 1 / 3, "decision c": None} | label | shown


def test_records_have_names_and_fields(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 7, "head": "é", "body": null}\n{"n": "x", "head": "", "body": "b"}\n')
    found = list(read_texts([path], {"text": ["head", "body"], "reading": {"id": "n"}}))
    assert [(name, bytes(text)) for name, text in found] == [("7", "é".encode()), ("x", b"\nb")]
    assert found[0][1].fields == {"head": "é".encode(), "body": b""}  # type: ignore[attr-defined]
