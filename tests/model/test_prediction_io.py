"""The two commands: from a configuration to a model, and from files of every kind to lines."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import benchmark
from benchmark.cli import app
from benchmark.model import prediction_io
from benchmark.model.prediction_io import STANDARD_INPUT, read_texts
from benchmark.system.errors import DataError
from tests.trials.limits import mostly_slow

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
    folder = made("--probability")
    given = [json.loads(line) for line in (folder / "mine.jsonl").read_text().splitlines()]
    table = pd.DataFrame(given)[["name", "subject", "body"]]
    table.to_csv(folder / "new.csv", index=False)
    table.to_csv(folder / "new.tsv.gz", index=False, sep="\t")
    table.to_parquet(folder / "new.parquet")
    outputs = []
    for name in ("mine.jsonl", "new.csv", "new.tsv.gz", "new.parquet"):
        result = bench("predict", folder / "model", folder / name, "--id", "name")
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


def test_json_lines_have_all_digits_and_the_estimator_says_the_same(made: Callable[..., Path]) -> None:
    folder = made("--probability")
    model = benchmark.load_model(folder / "model")
    multilabel, texts = (
        model.multilabel,
        [" ".join(words) for words in (["leaf", "cup"], ["ship", "pen", "paper"])],
    )
    result = bench("predict", folder / "model", "--format", "jsonl", "--top-terms", 2, input="\n".join(texts))
    found = [json.loads(line) for line in result.stdout.splitlines()]
    order = model.classes_.tolist()
    values, probabilities, given = (ask(texts) for ask in (model.decision_function, model.predict_proba, model.predict))
    for row, value, probability, own in zip(found, values, probabilities, given, strict=True):
        assert [row["decision"][name] for name in order] == value.tolist()
        assert [row["probability"][name] for name in order] == probability.tolist()
        if multilabel:
            assert row["labels"] == [name for name, is_one in zip(order, own, strict=True) if is_one]
            assert set(row["words"]) == set(row["labels"])
        else:
            assert row["label"] == own
    told = [
        word for row in found for each in (row["words"].values() if multilabel else [row["words"]]) for word in each
    ]
    assert told
    assert set(told) <= set(" ".join(texts).split())
    as_csv = rows_of(bench("predict", folder / "model", "--top-terms", 2, input="\n".join(texts)).stdout)
    for row, line in zip(found, as_csv, strict=True):
        own_words = row["words"] if multilabel else {"": row["words"]}
        assert {k.removeprefix("words").strip(): v.split() for k, v in line.items() if k.startswith("words") and v} == {
            name: words for name, words in own_words.items() if words
        }


def test_what_is_wrong_is_said_in_a_line(made: Callable[..., Path]) -> None:
    folder = made()
    config, model = folder / "mine.yaml", folder / "model"
    (folder / "new.csv").write_text("subject,text\na,b\n")
    (folder / "odd.jsonl").write_text('{"subject": 7, "body": "a"}\n')
    cases: list[tuple[tuple[object, ...], int, str]] = [
        (("fit", config, "--cell", "ngd", "--out", model), 2, "holds a model already; --overwrite"),
        (("fit", config, "--cell", "ngdd", "--out", folder / "x"), 2, "unknown cell 'ngdd'; did you mean 'ngd'?"),
        (("fit", config, "--cell", "mnb", "--out", folder / "x", "--split", "fold-9"), 2, "unknown split 'fold-9'"),
        (("predict", folder / "nothing", config), 3, "is not the folder of a model (model.json is missing)"),
        (("predict", model, folder / "nothing.txt"), 3, "can't be read: No such file or directory"),
        (("predict", model, folder / "new.csv"), 3, "has no column 'body'"),
        (("predict", model, folder / "odd.jsonl"), 3, "odd.jsonl:1: the text is 7, and must be text"),
        (("predict", model, "--format", "xml"), 2, "unknown format 'xml' (allowed: csv, jsonl)"),
        (("predict", model, "--encoding", "utf-9"), 2, "unknown encoding 'utf-9'"),
    ]
    for arguments, code, message in cases:
        result = bench(*arguments, input="")
        assert (result.exit_code, result.stderr.count("\n")) == (code, 1), arguments
        assert message in result.stderr
    assert bench("fit", config, "--cell", "mnb", "--out", model, "--overwrite").exit_code == 0
    assert bench("predict", model, folder / "new.csv", "--text", "subject", "--text", "text").exit_code == 0


def test_the_header_alone_is_the_answer_to_nothing(made: Callable[..., Path]) -> None:
    folder = made()
    result = bench("predict", folder / "model", input="")
    assert (result.exit_code, result.stdout.count("\n"), result.stderr) == (0, 1, "")
    assert result.stdout.split(",")[1] in ("label", "labels")
    assert bench("predict", folder / "model", "--format", "jsonl", input="").stdout == ""


@pytest.mark.parametrize("made", mostly_slow([False, True], 1), indirect=True)
@pytest.mark.parametrize("named", mostly_slow([((),), (("-",),)], 1))
def test_an_input_that_cannot_be_read_is_said_in_a_line_before_the_header(
    named: tuple[str, ...], made: Callable[..., Path]
) -> None:
    folder = made()
    arguments = ["predict", str(folder / "model"), *named]
    script = f"import sys; from benchmark.cli import main; sys.argv[1:] = {arguments}; main()"
    for redirected, message in (("<&-", "is closed"), ('0>"$2"', "can't be read: Bad file descriptor")):
        words = ["sh", "-c", f'"$0" -c "$1" {redirected}', sys.executable, script, str(folder / "written")]
        found = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (found.returncode, found.stdout) == (3, "")
        assert found.stderr.startswith(f"bench: standard input {message}")
        assert found.stderr.count("\n") == 1


def test_points_have_no_model(tmp_path: Path) -> None:
    config = Path(__file__).parents[2] / "configs" / "decision-boundaries.yaml"
    result = bench("fit", config, "--cell", "simplex-heat", "--out", tmp_path / "model")
    assert result.exit_code == 2
    assert result.stderr.strip().endswith("there are no texts to predict")


def test_lines_of_standard_input_are_texts_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"one \t\r\n\n  two\r\n\xff \nlast "
    monkeypatch.setattr(prediction_io.sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    found = list(read_texts([STANDARD_INPUT], {"text": ["text"]}))
    found = [(name.id, text) for name, text in found]
    assert found == [("1", b"one \t"), ("2", b""), ("3", b"  two"), ("4", b"\xff "), ("5", b"last ")]
    monkeypatch.setattr(prediction_io.sys, "stdin", None)
    with pytest.raises(DataError, match=r"^standard input is closed: name files of texts"):
        list(read_texts([STANDARD_INPUT], {"text": ["text"]}))
