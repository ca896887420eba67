"""Files like the one that a model was trained on need no option, and answers are as short or full as is asked for."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.evaluation.public_test_sets import LABEL_SEPARATOR
from benchmark.model.base import TextPredictions
from benchmark.model.persistence import read_model, write_model
from benchmark.model.prediction_io import PredictionForm, format_predictions

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

WORDS = {"tea": "leaf cup Gebühr steam", "rum": "cane barrel ship sailor", "ink": "pen paper letter quill"}
ROWS = [{"id": f"n{n}", "body": f"{WORDS[name]} {n}", "label": name} for n, name in enumerate([*WORDS] * 8)]
CONFIG = """\
name: mine
corpus: {name: files, path: mine.csv, text: body, id: id, HOW}
text: {stoplist: none, digits: token}
protocol: {name: k-fold, k: 3}
methods: [mnb]
"""


def bench(*arguments: object, **options: Any) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], **options)


def table(path: Path, delimiter: str = ",", encoding: str = "utf-8", columns: tuple[str, ...] = tuple(ROWS[0])) -> Path:
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.DictWriter(file, columns, delimiter=delimiter, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(ROWS)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a table with semicolons in cp1252, which lies beside it."""
    folder = tmp_path_factory.mktemp("semicolons")
    table(folder / "mine.csv", ";", "cp1252")
    (folder / "mine.yaml").write_text(CONFIG.replace("HOW", 'delimiter: ";", encoding: cp1252'))
    assert bench("fit", folder / "mine.yaml", "--cell", "mnb", "--out", folder / "model").exit_code == 0
    return folder / "model"


def answers(*arguments: object) -> list[dict[str, str]]:
    done = bench("predict", *arguments)
    assert done.exit_code == 0, done.output
    return list(csv.DictReader(done.stdout.splitlines()))


def test_the_file_of_the_training_documents_needs_no_option(model: Path) -> None:
    found = answers(model, model.with_name("mine.csv"))
    assert [row["id"] for row in found] == [row["id"] for row in ROWS]
    assert [row["label"] for row in found] == [row["label"] for row in ROWS]
    assert list(found[0]) == ["id", "label", "decision ink", "decision rum", "decision tea"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_other_delimiters_are_seen_by_the_columns(model: Path, tmp_path: Path, name: str, delimiter: str) -> None:
    path = table(tmp_path / name, delimiter, "utf-16")  # its mark goes before the model's cp1252
    assert answers(model, path) == answers(model, model.with_name("mine.csv"))
    assert answers(model, path, "--delimiter", delimiter) == answers(model, path)


def test_without_the_id_of_the_training_documents_file_and_line_are_the_name(model: Path, tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", columns=("body",))
    assert [row["id"] for row in answers(model, path, "--encoding", "utf-8")][:2] == [f"{path}:2", f"{path}:3"]


def test_the_label_alone_and_columns_of_the_input(model: Path) -> None:
    path = model.with_name("mine.csv")
    assert list(answers(model, path, "--only", "label")[0]) == ["id", "label"]
    assert list(answers(model, path, "--only", "decision")[0])[2:] == ["decision ink", "decision rum", "decision tea"]
    found = answers(model, path, "--only", "label", "--keep", "label", "--keep", "body")
    assert list(found[0]) == ["id", "input label", "body", "label"]
    assert [(row["input label"], row["body"]) for row in found] == [(row["label"], row["body"]) for row in ROWS]
    assert list(answers(model, path, "--only", "label", "--keep-all")[0]) == [
        "id",
        "input id",
        "body",
        "input label",
        "label",
    ]
    done = bench("predict", model, path, "--only", "label", "--keep-all", "--format", "jsonl")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"id": row["id"], "input": row, "label": row["label"]} for row in ROWS
    ]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--only", "lable"], 2, "unknown part 'lable'; did you mean 'label'?"),
        (["--only", "probability"], 2, "the model has no probability; fit it with --probability"),
        (["--keep", "boddy"], 3, "has no column 'boddy'; did you mean 'body'?"),
        (["--delimiter", ";;"], 2, "must be one character, such as ';'"),
        (["--delimiter", ","], 3, "has no column 'body'"),
        (["--encoding", "cp125"], 2, "unknown encoding 'cp125'"),
    ],
)
def test_what_can_not_be_printed_is_said_in_a_line(model: Path, options: list[str], code: int, said: str) -> None:
    done = bench("predict", model, model.with_name("mine.csv"), *options)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert said in done.stderr


def test_lines_and_spreadsheets_have_no_columns(model: Path, tmp_path: Path) -> None:
    done = bench("predict", model, "--keep", "body", input="leaf\n")
    assert (done.exit_code, "has no columns to keep" in done.stderr) == (3, True)
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    done = bench("predict", model, tmp_path / "a.xlsx")
    assert (done.exit_code, "save its table as CSV" in done.stderr) == (3, True)


def test_a_model_that_does_not_say_how_files_are_read_is_read(model: Path, tmp_path: Path) -> None:
    """Models that were written before have no `reading`."""
    kept = read_model(model)
    assert kept.about["reading"] == {"encoding": "cp1252", "delimiter": ";", "header": True, "id": "id"}
    del kept.about["reading"]
    write_model(kept, tmp_path / "old")
    assert [row["label"] for row in answers(tmp_path / "old", table(tmp_path / "a.csv"))] == [r["label"] for r in ROWS]


@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3))
def test_csv_has_six_digits_unless_they_make_values_equal(values: list[float]) -> None:
    class Model:
        classes, multilabel, has_probabilities, term_separator = ("a", "b", "c"), False, False, " "

    found = TextPredictions(np.array([0], np.int32), np.array([values]), None, None, ())
    text = "".join(format_predictions(Model(), [(("x",), found)], PredictionForm()))  # type: ignore[arg-type]
    written = [float(value) for value in text.splitlines()[1].split(",")[2:]]
    np.testing.assert_allclose(written, values, rtol=5e-6)
    twelve = {float(f"{value:.12g}") for value in values}
    assert len(set(written)) == len(twelve)
    assert LABEL_SEPARATOR not in text


def test_close_values_keep_the_digits_that_tell_them_apart() -> None:
    class Model:
        classes, multilabel, has_probabilities, term_separator = ("a", "b"), False, False, " "

    for values, expected in (
        ([0.1234567891, 2 / 3], "0.123457,0.666667"),
        ([0.12345671, 0.12345672], "0.12345671,0.12345672"),
    ):
        found = TextPredictions(np.array([0], np.int32), np.array([values]), None, None, ())
        text = "".join(format_predictions(Model(), [(("x",), found)], PredictionForm()))  # type: ignore[arg-type]
        assert text.splitlines()[1] == f"x,a,{expected}"
