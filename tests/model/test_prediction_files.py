"""Files like the one that a model was trained on need no option, and answers are as short or full as is asked for."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import date
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.model.prediction_io import (
    DocumentName,
    format_predictions,
    parts_of_predictions,
    read_texts,
)
from benchmark.model.text_model import TextPredictions

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


@pytest.mark.parametrize("delimiter", [",", "\t", "|"])
def test_another_delimiter_is_stated(model: Path, tmp_path: Path, delimiter: str) -> None:
    path = table(tmp_path / "a.csv", delimiter, "utf-16")  # its mark goes before the model's cp1252
    assert answers(model, path, "--delimiter", delimiter) == answers(model, model.with_name("mine.csv"))


def test_without_the_id_of_the_training_documents_file_and_line_are_the_name(model: Path, tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", ";", columns=("body",))
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


#: A document of one class, and one without a class where there may be several; a class that was not learned.
ANSWERS = TextPredictions(
    np.array([1, 0], np.int32),
    np.array([[0.25, 1 / 3, -np.inf], [2.0, -1.0, 0.5]]),
    np.array([[0.125, 0.75, 0.125], [0.5, 1 / 3, 1 / 6]]),
    np.array([3, 0]),
    ({1: ["leaf", "cup"]}, {0: []}),
)
SEVERAL = replace(
    ANSWERS,
    predicted=np.array([[True, False, True], [False, False, False]]),
    probabilities=None,
    words=({0: ["leaf"], 2: ["cup", "pot"]}, {}),
)
KEPT = ({"when": date(2024, 1, 2), "label": "x"}, {"when": None, "label": 3})


def written(answers: TextPredictions, *, as_json: bool, kept: Any = ({}, {}), parts: Any = ()) -> list[str]:
    """Return the lines of two documents."""
    sigmoids, multilabel = answers.probabilities, answers.predicted.ndim == 2
    given: Any = SimpleNamespace(classes=("a", "b", "c"), multilabel=multilabel, sigmoids=sigmoids, term_separator=" ")
    names = tuple(DocumentName(f"n{number}", each) for number, each in enumerate(kept, start=1))
    parts = parts_of_predictions(given, parts)
    return "".join(format_predictions(given, [(names, answers)], parts, as_json=as_json, with_words=True)).splitlines()


@pytest.mark.parametrize(
    ("answers", "how", "lines"),
    [
        (
            ANSWERS,
            {},
            [
                "id,label,decision a,decision b,decision c,probability a,probability b,probability c,words",
                "n1,b,0.25,0.333333333333,,0.125,0.75,0.125,leaf cup",
                "n2,a,2,-1,0.5,0.5,0.333333333333,0.166666666667,",
            ],
        ),
        (
            SEVERAL,
            {},
            [
                "id,labels,decision a,decision b,decision c,words a,words b,words c",
                "n1,a;c,0.25,0.333333333333,,leaf,,cup pot",
                "n2,,2,-1,0.5,,,",
            ],
        ),
        (
            ANSWERS,
            {"kept": KEPT, "parts": ["label"]},
            ["id,when,input label,label,words", "n1,2024-01-02,x,b,leaf cup", "n2,,3,a,"],
        ),
    ],
)
def test_a_table_of_predictions_has_what_is_asked_for(answers: TextPredictions, how: Any, lines: list[str]) -> None:
    assert written(answers, as_json=False, **how) == lines


def test_lines_of_json_have_all_digits() -> None:
    first, second = (json.loads(line) for line in written(ANSWERS, as_json=True, kept=KEPT))
    assert first == {
        "id": "n1",
        "input": {"when": "2024-01-02", "label": "x"},
        "label": "b",
        "decision": {"a": 0.25, "b": 1 / 3, "c": None},
        "probability": {"a": 0.125, "b": 0.75, "c": 0.125},
        "words": ["leaf", "cup"],
    }
    assert (second["label"], second["words"]) == ("a", [])
    first, second = (json.loads(line) for line in written(SEVERAL, as_json=True))
    assert (first["labels"], first["words"]) == (["a", "c"], {"a": ["leaf"], "c": ["cup", "pot"]})
    assert (second["labels"], second["words"], "probability" in first) == ([], {}, False)


def test_records_have_names_fields_and_columns_to_keep(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 7, "head": "é", "body": null, "k": [1]}\n{"n": "x", "head": "", "body": "b", "k": null}\n')
    found = list(read_texts([path], {"text": ["head", "body"], "reading": {"id": "n"}}, keep=["k", "head"]))
    assert [(name.id, bytes(text)) for name, text in found] == [("7", "é".encode()), ("x", b"\nb")]
    assert found[0][1].fields == {"head": "é".encode(), "body": b""}  # type: ignore[attr-defined]
    assert [name.kept for name, _ in found] == [{"k": [1], "head": "é"}, {"k": None, "head": ""}]
    unnamed = [name.id for name, _ in read_texts([path], {"text": ["body"], "reading": {"id": "gone"}})]
    assert unnamed == [f"{path}:1", f"{path}:2"]
