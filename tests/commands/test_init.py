"""A first configuration: what is proposed fits the file, what is written runs, and nothing is overwritten."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from benchmark.commands.init import (
    MAX_KERNEL_DOCUMENTS,
    Proposal,
    configuration_path,
    configuration_text,
    propose_columns,
)
from benchmark.experiment.configuration import load_checked
from tests.shapes import invoke

if TYPE_CHECKING:
    from click.testing import Result

ROWS = [
    {
        "ticket": f"T{n:02}",
        "subject": f"about {n}",
        "body": f"{queue} {queue} and much more of the {n}th text",
        "queue": queue,
        "tags": f"{queue};urgent",
        "customer": f"C{n % 7}",
        "created": f"2024-{1 + n % 12:02}-{1 + n % 28:02}",
        "side": "train" if n % 4 else "test",
    }
    for n, queue in enumerate(["billing", "login", "shipping"] * 20)
]
WORDS = [f"a longer text of document {n} with words of its own" for n in range(12)]
NAMED = {"text": "body", "label": "queue"}
ALL = NAMED | {"id": "ticket", "split": "side", "group": "customer", "date": "created"}
BY_DATE = {"name": "by-date", "test_share": 0.25}
GROUPED = {"name": "k-fold", "k": 5, "grouped": True}
TESTED_ONCE = {"name": "k-fold", "k": 5}
FIXED = {"name": "fixed-split", "train": "train", "test": "test"}


def table(path: Path, *columns: str, changes: Any = (), rows: Any = ROWS) -> Path:
    """Write some columns of rows as a table; `changes` has new values of a row by its number."""
    changed = [{name: row[name] for name in columns or row} for row in rows]
    for number, change in changes:
        changed[number] |= change
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(changed[0]))
        writer.writeheader()
        writer.writerows(changed)
    return path


def init(path: Path, *options: str) -> tuple[Result, Any]:
    """Run the command, and return its result with what it wrote."""
    target = path.with_name("own.yaml")
    done = invoke("init", path, "--out", target, *options)
    return done, yaml.safe_load(target.read_text(encoding="utf-8")) if target.exists() else None


def sample(**columns: Any) -> Proposal:
    return Proposal(Path("mine.csv"), columns, {})


@pytest.mark.parametrize(
    ("columns", "options", "corpus", "protocol"),
    [
        ((), (), ALL, FIXED),
        (("body", "queue", "created"), (), NAMED | {"date": "created"}, BY_DATE),
        (("body", "queue", "customer"), (), NAMED | {"group": "customer"}, GROUPED),
        (("body", "queue"), (), NAMED, TESTED_ONCE),
        (("subject", "body", "queue"), ("--text", "subject"), NAMED | {"text": "subject"}, TESTED_ONCE),
        (
            ("body", "tags"),
            ("--labels", "tags", "--separator", ";"),
            {"text": "body", "labels": "tags", "separator": ";"},
            TESTED_ONCE | {"stratified": False},
        ),
    ],
)
def test_columns_and_options_reach_the_configuration_which_is_valid(
    tmp_path: Path, columns: tuple[str, ...], options: tuple[str, ...], corpus: Any, protocol: Any
) -> None:
    done, config = init(table(tmp_path / "a.csv", *columns), *options)
    assert done.exit_code == 0, done.output
    assert config["corpus"] == {"name": "files", "path": "a.csv"} | corpus
    assert config["protocol"] == protocol
    assert config["text"].get("vocabulary_from") == protocol.get("train")
    assert len(load_checked(tmp_path / "own.yaml").ids) == 6
    assert "text is " in done.stdout
    assert config["name"] == "own"


def test_files_of_other_forms(tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text(table(tmp_path / "a.csv", "body", "queue").read_text(), encoding="utf-16")
    assert init(tmp_path / "u.csv", "--overwrite", "--encoding", "utf-16")[1]["corpus"]["encoding"] == "utf-16"
    rows = [{"id": row["ticket"], "body": row["body"], "target": row["queue"]} for row in ROWS]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    corpus = init(tmp_path / "t.json", "--overwrite")[1]["corpus"]
    assert [corpus[role] for role in ("text", "label", "id")] == ["body", "target", "id"]
    for row in ROWS:
        (tmp_path / "essays" / row["queue"]).mkdir(parents=True, exist_ok=True)
        (tmp_path / "essays" / row["queue"] / row["ticket"]).write_text(row["body"])
    done, config = init(tmp_path / "essays", "--overwrite")
    assert config["corpus"] == {"name": "files", "path": "essays"}
    assert "the names of the folders are the classes" in done.stdout
    assert load_checked(tmp_path / "own.yaml").variants["base"].collection.classes == ("billing", "login", "shipping")


NUMBERED = [{"some words 0 of 0": f"some words {n % 7} of {n}", "a": "ab"[n % 2]} for n in range(1, 60)]
MIXED = [{"body": f"words {n}", "queue": "a;b" if n % 10 == 0 else "ab"[n % 2]} for n in range(60)]
#: Rows; options that are refused, and what is said; options that are accepted, and columns that they write.
DECISIONS: list[tuple[Any, str, str, str, dict[str, Any]]] = [
    (ROWS, "--label queu", "--label: unknown column 'queu'; did you mean 'queue'", "--label queue", {}),
    (ROWS, "--encoding utf8x", "unknown encoding 'utf8x'", "--encoding ascii", {"encoding": "ascii"}),
    (NUMBERED, "", "t.csv:1: looks like a document", "--no-header", {"text": "1", "label": "2", "header": False}),
    (NUMBERED, "", "'a' occurs again in its column: add --header or --no-header", "--header", {"label": "a"}),
    (NUMBERED, "", "looks like a document", "--label a", {"label": "a"}),
    (MIXED, "", "'queue' has values such as 'a;b': add --labels queue --s", "--single-label", {"label": "queue"}),
    (MIXED, "", ", or --single-label if each is one", "--labels queue --separator ;", {"labels": "queue"}),
]


@pytest.mark.parametrize(("rows", "options", "said", "accepted", "corpus"), DECISIONS)
def test_what_a_file_does_not_decide_is_refused_with_the_options_that_do(
    tmp_path: Path, rows: Any, options: str, said: str, accepted: str, corpus: dict[str, Any]
) -> None:
    path = table(tmp_path / "t.csv", rows=rows)
    done, config = init(path, *options.split())
    assert (done.exit_code, config) == (2, None)
    assert said in done.output
    done, config = init(path, *accepted.split())
    assert done.exit_code == 0, done.output
    assert corpus.items() <= config["corpus"].items()


def test_nothing_is_overwritten_and_a_refusal_leaves_what_was_there(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "subject", "body", "queue")
    init(path)
    done, config = init(path, "--text", "subject")
    assert "exists already; --overwrite replaces it, --out names another file" in done.output
    assert config["corpus"]["text"] == "body"
    assert init(path, "--text", "subject", "--overwrite")[1]["corpus"]["text"] == "subject"
    few = table(tmp_path / "few.csv", "body", "queue", rows=[*ROWS[:4], ROWS[3]])
    assert init(few, "--overwrite", "--label", "queue")[0].exit_code != 0
    assert init(path)[1]["corpus"]["text"] == "subject"
    names = {"My tickets (2).csv.gz": "My-tickets-2", "-x_y-.csv": "x-y", "äöü.csv": "mine", "a.b.csv": "a"}
    for name, stem in names.items():
        assert configuration_path(Path(name), None, overwrite=False) == Path(f"{stem}.yaml")


@pytest.mark.parametrize(
    ("changes", "drop", "said"),
    [
        ([(3, {"queue": ""})], ["unlabelled"], "leaves out documents without a class (1); 59 are left"),
        ([(3, {"queue": "odd", "body": ""}), (4, {"queue": "odd"})], ["empty", "rare"], "without text (1), documents"),
    ],
)
def test_documents_that_can_not_be_classified_are_left_out(
    tmp_path: Path, changes: Any, drop: list[str], said: str
) -> None:
    done, config = init(table(tmp_path / "t.csv", "ticket", "body", "queue", changes=changes))
    assert config["corpus"]["drop"] == drop
    assert said in done.stdout


@pytest.mark.parametrize("role", ["id", "split", "group", "date"])
def test_a_proposed_column_is_given_up_where_a_document_has_no_value_but_not_a_named_one(
    tmp_path: Path, role: str
) -> None:
    column = ALL[role]
    path = table(tmp_path / "t.csv", "body", "queue", column, changes=[(50, {column: ""})])
    done, config = init(path)
    assert (done.exit_code, role in config["corpus"], "drop" in config["corpus"]) == (0, False, False)
    done, _ = init(path, f"--{role}", column, "--overwrite")
    assert done.exit_code == 3
    assert re.search(r"1 document without .*; fill the column", done.output)
    twice = table(tmp_path / "t.csv", "ticket", "body", "queue", changes=[(50, {"ticket": "T01"})])
    assert not {"id", "drop"} & init(twice, "--overwrite")[1]["corpus"].keys()
    corpus = init(twice, "--id", "ticket", "--overwrite")[1]["corpus"]
    assert (corpus["id"], corpus["drop"]) == ("ticket", ["repeated"])


@pytest.mark.parametrize("queue", ["s{n}", "net"])
def test_without_a_column_of_classes_nothing_is_written(tmp_path: Path, queue: str) -> None:
    rows = [row | {"queue": queue.format(n=n)} for n, row in enumerate(ROWS)]
    done, config = init(table(tmp_path / "t.csv", "ticket", "body", "queue", rows=rows))
    assert (done.exit_code, config, done.stdout) == (2, None, "")
    assert "no column looks like a label (columns: 'ticket, body, queue'); name it by --label" in done.stderr
    (tmp_path / "t.jsonl").write_text('{"n": 1, "label": "a"}\n{"n": 2, "label": "a"}\n')
    assert (
        "no column looks like a text (columns: 'n, label'); name it by --text"
        in init(tmp_path / "t.jsonl", "--label", "label")[0].output
    )


@pytest.mark.parametrize(
    ("columns", "proposed"),
    [
        ({"x": ["a", "b", "c", "d"] * 3}, {"label": "x"}),  # a third as many values as rows
        ({"x": ["a", "b", "c", "d", "e", *"aaaaaaa"]}, {}),
        ({"y2": ["a", "b", "c"] * 4, "x": ["a", "b"] * 6}, {"label": "x"}),  # the fewest values
        ({"x": ["a", "b"] * 6, "category": ["a", "b", "c"] * 4, "class": ["c", "b", "a", "d"] * 3}, {"label": "class"}),
        ({"tags": [["a"], ["a", "b"]] * 6}, {"labels": "tags"}),
        ({"tags": ["['a']", "['a', 'b']"] * 6}, {"labels": "tags"}),
        ({"tags": [["a"], ["a", "b"]] * 6, "queue": ["a", "b"] * 6}, {"label": "queue"}),
        ({"x": ["Train", "test", "dev", "val"] * 3}, {"split": "x"}),
        ({"key": [*"abcdefghijkl"]}, {"id": "key"}),
        ({"user": [*"abcdefghijjj"]}, {"group": "user"}),
        ({"x": ["20240101", "20240229"] * 6}, {"date": "x"}),
        ({"x": ["01/02/2020", "03/02/2020"] * 6, "class": ["a", "b"] * 6}, {"label": "class"}),  # day or month first
    ],
)
def test_a_role_is_proposed_by_values_and_usual_names(columns: dict[str, Any], proposed: dict[str, str]) -> None:
    numbers = {"numbers": [10.0**n for n in range(12)]}
    assert propose_columns(sample(body=WORDS, **columns), {"text": "body"}) == {"text": "body"} | proposed
    found = propose_columns(sample(**numbers, **columns, body=WORDS), {})
    assert found == {"text": "body"} | proposed


def test_an_exact_kernel_is_of_as_many_documents_as_its_time_allows() -> None:
    for n, pairs in ((MAX_KERNEL_DOCUMENTS, 5), (MAX_KERNEL_DOCUMENTS + 1, 4)):
        text = configuration_text(replace(sample(), n_documents=n), Path("a.yaml"))
        assert (text.count("ngd"), len(yaml.safe_load(text)["compare"])) == (2 * (pairs - 4), pairs)
