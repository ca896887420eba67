"""A first configuration: what is proposed fits the file, what is written runs, and nothing is overwritten."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.cli.prompts import confirm_columns
from benchmark.commands import plan as planning
from benchmark.commands.init import (
    FileSample,
    configuration_path,
    configuration_text,
    exact_kernel_problem,
    find_separator,
    not_a_header_reason,
    notes_on_columns,
    propose_columns,
    sample_file,
)
from benchmark.commands.plan import Plan
from benchmark.experiment.configuration import load_checked

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


def table(path: Path, *columns: str, changes: Any = (), rows: Any = ROWS, form: Any = None) -> Path:
    """Write some columns of rows as a table; `changes` has new values of a row by its number."""
    changed = [{name: row[name] for name in columns or row} for row in rows]
    for number, change in changes:
        changed[number] |= change
    with path.open("w", newline="", encoding=(form or {}).get("encoding", "utf-8")) as file:
        writer = csv.DictWriter(file, list(changed[0]), delimiter=(form or {}).get("delimiter", ","))
        writer.writeheader()
        writer.writerows(changed)
    return path


def init(path: Path, *options: str) -> tuple[Result, Any]:
    """Run the command, and return its result with what it wrote."""
    target = path.with_name("own.yaml")
    done = CliRunner().invoke(app, ["init", str(path), "--out", str(target), "--no-pilot", *options])
    return done, yaml.safe_load(target.read_text(encoding="utf-8")) if target.exists() else None


def sample(suffix: str = "csv", form: Any = None, **columns: Any) -> FileSample:
    return FileSample(Path(f"mine.{suffix}"), columns, form or {})


# What the command writes


NAMED = {"text": "body", "label": "queue"}
ALL = NAMED | {"id": "ticket", "split": "side", "group": "customer", "date": "created"}
BY_DATE = {"name": "by-date", "test_share": 0.25}
GROUPED = {"name": "k-fold", "k": 5, "grouped": True}
TESTED_ONCE = {"name": "k-fold", "k": 5}
FIXED = {"name": "fixed-split", "train": "train", "test": "test"}


@pytest.mark.parametrize(
    ("columns", "options", "corpus", "protocol"),
    [
        ((), (), ALL, FIXED),
        (("body", "queue", "side"), (), NAMED | {"split": "side"}, FIXED),
        (("body", "queue", "created"), (), NAMED | {"date": "created"}, BY_DATE),
        (("body", "queue", "customer"), (), NAMED | {"group": "customer"}, GROUPED),
        (("body", "queue"), (), NAMED, TESTED_ONCE),
        (("body", "queue"), ("--delimiter", ";"), NAMED | {"delimiter": ";"}, TESTED_ONCE),
        (("body", "queue"), ("--delimiter", "\t"), NAMED | {"delimiter": "\t"}, TESTED_ONCE),
        (("body", "queue"), ("--encoding", "utf-16"), NAMED | {"encoding": "utf-16"}, TESTED_ONCE),
        (("subject", "body", "queue"), ("--text", "subject"), NAMED | {"text": "subject"}, TESTED_ONCE),
        ((), ("--split-by", "group"), ALL, GROUPED),
        (
            ("body", "tags"),
            ("--labels", "tags", "--separator", ";"),
            {"text": "body", "labels": "tags", "separator": ";"},
            TESTED_ONCE | {"stratified": False},
        ),
        (("body", "queue"), ("--drop", "rare"), NAMED | {"drop": ["rare"]}, TESTED_ONCE),
    ],
)
def test_columns_and_options_reach_the_configuration_which_is_valid(
    tmp_path: Path, columns: tuple[str, ...], options: tuple[str, ...], corpus: Any, protocol: Any
) -> None:
    form = dict(zip(map(lambda option: option[2:], options[::2]), options[1::2], strict=True))  # noqa: C417
    path = table(tmp_path / "a.csv", *columns, form=form)
    done, config = init(path, *(() if "delimiter" in form else options))
    assert done.exit_code == 0, done.output
    assert config["corpus"] == {"name": "files", "path": "a.csv"} | corpus
    assert config["protocol"] == protocol
    assert config["text"].get("vocabulary_from") == protocol.get("train")
    assert len(load_checked(tmp_path / "own.yaml").ids) == 6
    assert "text is " in done.stdout
    assert config["name"] == "own"


def test_a_folder_of_classes(tmp_path: Path) -> None:
    for row in ROWS:
        (tmp_path / "essays" / row["queue"]).mkdir(parents=True, exist_ok=True)
        (tmp_path / "essays" / row["queue"] / row["ticket"]).write_text(row["body"])
    done, config = init(tmp_path / "essays")
    assert config["corpus"] == {"name": "files", "path": "essays"}
    assert "the names of the folders are the classes" in done.stdout
    assert load_checked(tmp_path / "own.yaml").variants["base"].collection.classes == ("billing", "login", "shipping")


def test_a_table_without_a_header_has_numbers_for_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("".join(f"some words {n % 7} of {n},{'ab'[n % 2]}\n" for n in range(60)))
    done, config = init(path)
    assert (done.exit_code, config) == (2, None)
    assert re.search(r"t\.csv:1: looks like a document .*'a' occurs again.*: add --header or --no-header", done.output)
    _, config = init(path, "--no-header")
    assert (config["corpus"]["text"], config["corpus"]["label"], config["corpus"]["header"]) == ("1", "2", False)
    for options in (("--header",), ("--text", "some words 0 of 0", "--label", "a")):
        assert init(path, "--overwrite", *options)[0].exit_code == 0


@pytest.mark.parametrize("way", [None, "date", "group", "random"])
def test_the_other_ways_to_split_are_listed_and_the_group_stays_a_column(tmp_path: Path, way: str | None) -> None:
    path = table(tmp_path / "a.csv", "body", "queue", "customer", "created")
    done, config = init(path, *(("--split-by", way) if way else ()))
    protocols = {"date": BY_DATE, "group": GROUPED, "random": TESTED_ONCE}
    taken = way or "date"
    assert (config["protocol"], config["corpus"]["group"]) == (protocols.pop(taken), "customer")
    (line,) = (line for line in done.output.splitlines() if line.startswith("The split is by"))
    assert line.startswith(f"The split is by {taken}: it measures")
    assert all(f"--split-by {other} measures" in line for other in protocols)
    for text in (done.output, (tmp_path / "own.yaml").read_text()):
        assert ("ocuments of a 'customer' may be on both sides" in text) == (taken != "group")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--split-by", "group"), "no column is the group; name it by --group"),
        (("--split-by", "dat"), "did you mean 'date'"),
        (("--label", "queu"), "--label: unknown column 'queu'; did you mean 'queue'"),
        (("--encoding", "utf8x"), "unknown encoding 'utf8x'"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, options: tuple[str, ...], reason: str) -> None:
    done, config = init(table(tmp_path / "a.csv", "body", "queue", "created"), *options)
    assert (done.exit_code, config) == (2, None)
    assert reason in done.output


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.csv", "no such file or folder"),
        ("empty.csv", "holds no document"),
        ("a.zip", "unknown kind of file 'a.zip'"),
        ("plain", "unknown kind of file 'plain'"),
    ],
)
def test_files_that_are_no_table_are_refused(tmp_path: Path, name: str, reason: str) -> None:
    for each in ("empty.csv", "a.zip", "plain"):
        (tmp_path / each).write_bytes(b"" if each == "empty.csv" else b"PK\x03\x04\xd9")
    done, config = init(tmp_path / name)
    assert (done.exit_code, config) == (3, None)
    assert reason in done.output


def test_nothing_is_overwritten_and_a_run_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", "subject", "body", "queue")
    init(path)
    done, config = init(path, "--text", "subject")
    assert "exists already; --overwrite replaces it, --out names another file" in done.output
    assert config["corpus"]["text"] == "body"
    assert init(path, "--text", "subject", "--overwrite")[1]["corpus"]["text"] == "subject"
    few = table(tmp_path / "few.csv", "body", "queue", rows=[*ROWS[:4], ROWS[3]])
    assert init(few, "--overwrite", "--label", "queue", "--drop", "rare")[0].exit_code != 0
    assert init(path)[1]["corpus"]["text"] == "subject"


@pytest.mark.parametrize(
    ("name", "stem"),
    [("My tickets (2).csv.gz", "My-tickets-2"), ("-x_y-.csv", "x-y"), ("äöü.csv", "mine"), ("a.b.csv", "a")],
)
def test_a_configuration_has_the_name_of_its_file(name: str, stem: str) -> None:
    assert configuration_path(FileSample(Path(name), {}, {}), None, overwrite=False) == Path(f"{stem}.yaml")


def test_nobody_is_asked_where_standard_input_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert confirm_columns({"body": WORDS}, {"text": "body"}, set()) == {"text": "body"}


# Documents that are left out, and columns that are given up


@pytest.mark.parametrize(
    ("changes", "drop", "said"),
    [
        ([(3, {"queue": ""})], ["unlabelled"], "leaves out documents without a class (1); 59 are left"),
        ([(3, {"body": " "}), (9, {"body": ""})], ["empty"], "leaves out documents without text (2); 58 are left"),
        ([(3, {"queue": "odd"})], ["rare"], "leaves out documents that are the only one of their class (1)"),
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


def test_an_id_that_occurs_twice_is_given_up_or_its_documents_are(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "ticket", "body", "queue", changes=[(50, {"ticket": "T01"})])
    assert not {"id", "drop"} & init(path)[1]["corpus"].keys()
    _, config = init(path, "--id", "ticket", "--overwrite")
    assert (config["corpus"]["id"], config["corpus"]["drop"]) == ("ticket", ["repeated"])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row | {"queue": f"s{n}"} for n, row in enumerate(ROWS)], "'queue' has 60 values in 60 rows"),
        ([row | {"queue": "net"} for row in ROWS], "'queue' has 1 value in 60 rows"),
        (ROWS[:4], "'queue' has 3 values in 4 rows"),
    ],
)
def test_without_a_column_of_classes_nothing_is_written(tmp_path: Path, rows: Any, said: str) -> None:
    done, config = init(table(tmp_path / "t.csv", "ticket", "body", "queue", rows=rows))
    assert (done.exit_code, config, done.stdout) == (2, None, "")
    assert f"no column looks like a class ({said}" in done.stderr
    assert done.stderr.strip().endswith("name it by --label")


def test_without_a_column_of_text_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"n": 1, "label": "a"}\n{"n": 2, "label": "a"}\n')
    assert "no column looks like a text; name it by --text" in init(tmp_path / "t.jsonl", "--label", "label")[0].output


# Separators and columns of 0 and 1


@pytest.mark.parametrize("mark", ";|,")
def test_classes_that_hold_a_separator_are_asked_about(tmp_path: Path, mark: str) -> None:
    changes = [(n, {"queue": f"a{mark}b"}) for n in range(0, 60, 10)]
    path = table(tmp_path / "t.csv", "body", "queue", changes=changes)
    done, config = init(path)
    assert (done.exit_code, config) == (2, None)
    assert f"t.csv: the column 'queue' has values such as 'a{mark}b'" in done.output
    assert f"--labels queue --separator '{mark}', or --single-label" in done.output
    assert init(path, "--single-label")[1]["corpus"]["label"] == "queue"
    init(path, "--labels", "queue", "--separator", mark, "--overwrite")
    classes = load_checked(tmp_path / "own.yaml").variants["base"].collection.classes
    assert classes == ("a", "b", "billing", "login", "shipping")


@pytest.mark.parametrize(("holding", "found"), [(5, False), (6, True)])
def test_a_separator_is_in_more_than_a_twentieth_of_the_classes(holding: int, *, found: bool) -> None:
    values = ["a;b"] * (holding - 1) + [" c;d "] + [";a", "b|", " a "] + ["a"] * (97 - holding)
    seen = sample(label=[*values, None])
    assert find_separator(seen, {"label": "label"})[:2] == ((";", "a;b") if found else ())
    (note,) = notes_on_columns(seen, {"label": "label"})
    assert note.startswith(f"{holding} of 101 values of 'label' hold ';', such as 'a;b': each is taken as one class")
    assert not notes_on_columns(sample(label=[";a", "b|", "c"]), {"label": "label"})


@pytest.mark.parametrize("answer", [True, False])
def test_at_a_terminal_the_person_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bool) -> None:
    asked = list[str]()
    monkeypatch.setattr("benchmark.cli.prompts.ask_yes_no", lambda *said: asked.append(said[0]) or answer)
    path = tmp_path / "t.csv"
    path.write_text("".join(f"some words {n % 7} of {n},{'ab'[n % 2]};c\n" for n in range(60)))
    corpus = init(path)[1]["corpus"]
    assert len(asked) == 2
    separator = ";" if answer else None
    assert ("header" in corpus, "labels" in corpus, corpus.get("separator")) == (not answer, answer, separator)


@pytest.mark.parametrize(("spam", "role"), [("10", "label"), ("11", "labels")])
def test_columns_of_zero_and_one_may_be_classes(tmp_path: Path, spam: str, role: str) -> None:
    rows = [{"body": f"one of them {n % 7} {n}", "rude": n % 2, "spam": spam[n % 2] if n else 0} for n in range(1, 61)]
    rows += [] if role == "label" else [{"body": "none of them", "rude": 0, "spam": 0}]
    path = table(tmp_path / "t.csv", rows=rows)
    done, config = init(path)
    assert (done.exit_code, config) == (2, None)
    assert f"hold only 0 and 1: add --{role} 'rude,spam' if each is a class, or --label rude" in done.output
    assert init(path, f"--{role}", "rude,spam")[1]["corpus"][role] == ["rude", "spam"]
    load_checked(tmp_path / "own.yaml")


# Proposals, by values and names


@pytest.mark.parametrize(
    ("columns", "proposed"),
    [
        ({"x": ["a", "b", "c", "d"] * 3}, {"label": "x"}),  # a third as many values as rows
        ({"x": ["a", "b", "c", "d", "e", *"aaaaaaa"]}, {}),
        ({"x": ["a"] * 12}, {}),
        ({"x": ["a", "b", None] * 4}, {"label": "x"}),
        ({"x": ["a", "b"] * 6, "y2": ["a", "b", "c"] * 4}, {"label": "x"}),  # the fewest values
        ({"y2": ["a", "b", "c"] * 4, "x": ["a", "b"] * 6}, {"label": "x"}),
        ({"x": ["a", "b"] * 6, "labels": ["a", "b", "c"] * 4}, {"label": "x"}),
        ({"x": ["a", "b"] * 6, "category": ["a", "b", "c"] * 4, "class": ["c", "b", "a", "d"] * 3}, {"label": "class"}),
        ({"tags": [["a"], ["a", "b"]] * 6}, {"labels": "tags"}),
        ({"tags": ["['a']", "['a', 'b']"] * 6}, {"labels": "tags"}),
        ({"tags": [["a"], ["a", "b"]] * 6, "queue": ["a", "b"] * 6}, {"label": "queue"}),
        ({"x": [["a"], ["a", "b"]] * 6, "z": ["a", "b"] * 6}, {"label": "z"}),
        ({"x": ["train", "test"] * 6}, {"split": "x"}),
        ({"x": ["Train", "test", "dev", "val"] * 3}, {"split": "x"}),
        ({"x": ["train", "test", "dev", "val", "valid", "test"] * 2}, {}),  # five parts are none of the usual
        ({"x": ["train"] * 12}, {}),
        ({"x": ["train", "tests"] * 6}, {"label": "x"}),
        ({"key": [*"abcdefghijkl"]}, {"id": "key"}),
        ({"x": [f"{n}" for n in range(12)]}, {"id": "x"}),
        ({"x": [*range(12)]}, {"id": "x"}),
        ({"x": [n + 0.5 for n in range(12)]}, {}),
        ({"x": [f"1,{n}" for n in range(12)]}, {}),  # a number with a comma for the point
        ({"x": [f"v1.{n}" for n in range(12)]}, {"id": "x"}),
        ({"x": [f"a b{n}" for n in range(12)]}, {}),
        ({"x": [*"abcdefghijk", None]}, {}),  # a document has no name
        ({"x": [*"abcdefghijk", "a"]}, {}),
        ({"x": [f"{'y' * 62}{n:02}" for n in range(12)]}, {"id": "x"}),
        ({"x": [f"{'y' * 63}{n:02}" for n in range(12)]}, {}),
        ({"id": [f"{'long ' * 20}{n}" for n in range(12)]}, {"id": "id"}),  # its name says so
        ({"user": [*"abcdefghijjj"]}, {"group": "user"}),
        ({"user": ["a"] * 12}, {}),
        ({"x": [f"2024-01-{n + 10}" for n in range(12)]}, {"date": "x"}),
    ],
)
def test_a_role_is_proposed_by_values_and_usual_names(columns: dict[str, Any], proposed: dict[str, str]) -> None:
    assert propose_columns(sample(body=WORDS, **columns), {"text": "body"}) == {"text": "body"} | proposed


@pytest.mark.parametrize(
    ("values", "label"), [(["a", "b"], True), (["a", "b", "a"], True), (["a", "b", "c", "a"], False), (["a"], False)]
)
def test_two_classes_suffice_in_few_rows(values: list[str], label: bool) -> None:
    found = propose_columns(sample(body=WORDS[: len(values)], x=values), {"text": "body"})
    assert ("label" in found) is label


def test_the_longest_column_is_the_text_and_nested_keys_have_dots(tmp_path: Path) -> None:
    seen = sample(short=[f"s{n}" for n in range(12)], body=WORDS, numbers=[10.0**n for n in range(12)])
    assert propose_columns(seen, {})["text"] == "body"
    rows = [{"id": row["ticket"], "body": {"text": row["body"]}, "target": row["queue"]} for row in ROWS]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    roles = propose_columns(sample_file(tmp_path / "t.json"), {})
    assert roles == {"text": "body.text", "label": "target", "id": "id"}


@pytest.mark.parametrize(
    ("values", "date"),
    [
        (["20240101", "20240229"], True),
        (["2024-01-01T10:00:00"] * 2, True),
        (["2024-1-1", "2024-1-2"], False),
        (["2024010", "2024011"], False),
        (["20240101", "20240230"], False),
        (["20240101", None], False),
        (["01.02.2020", "13.02.2020"], False),
        (["1 Feb 2020", "13 Feb 2020"], True),
        (["01/02/2020", "03/02/2020"], False),  # the day or the month may be first
        (["13/02/2020", "02/13/2020"], False),
    ],
)
def test_a_date_has_eight_characters_or_more_and_one_form(values: list[str | None], date: bool) -> None:
    seen = sample(body=WORDS[: len(values)], x=values, y=values)
    assert propose_columns(seen, {"text": "body"}).get("date") == ("x" if date else None)
    assert notes_on_columns(seen, {"text": "body", "date": "x"}) == [], "there is a date already"


@pytest.mark.parametrize(
    ("day", "options", "form"),
    [
        ("{:02}/{:02}/2020", ("--date-format", "%d/%m/%Y"), "%d/%m/%Y"),
        ("{:02}/01/2020", ("--date", "created", "--date-format", "%m/%d/%Y"), "%m/%d/%Y"),
    ],
)
def test_the_form_of_dates_is_recognised_or_stated(
    tmp_path: Path, day: str, options: tuple[str, ...], form: str
) -> None:
    days = [day.format(1 + n % (28 if not options else 12), 1 + n % 12) for n in range(60)]
    path = table(
        tmp_path / "t.csv", "body", "queue", "created", changes=[(n, {"created": d}) for n, d in enumerate(days)]
    )
    config = init(path, *options)[1]
    assert (config["protocol"]["name"], config["corpus"]["date_format"]) == ("by-date", form)


@pytest.mark.parametrize(
    ("name", "suffix", "reason"),
    [
        ("one two three four five six seven eight", "csv", None),
        (
            "one two three four five six seven eight nine",
            "csv",
            "'one two three four five six seven eight nine' is a lo",
        ),
        ("one two three four five six seven eight nine", "jsonl", None),
        ("12.5", "csv", "'12.5' is a number or a date"),
        ("2024-01-02", "csv", "'2024-01-02' is a number or a date"),
        ("a", "csv", "'a' occurs again in its column"),
        ("", "csv", None),
    ],
)
def test_a_header_has_short_names_and_none_that_occurs_again(name: str, suffix: str, reason: str | None) -> None:
    seen = sample(suffix, **{name: [" a ", "", "b"], "other": ["c", "d", "e"]})
    found = not_a_header_reason(seen)
    assert found is None if reason is None else (found or "").startswith(reason)
    assert not_a_header_reason(seen, [name, "other"]) is None
    assert not_a_header_reason(sample(suffix, {"header": False}, **seen.columns)) is None
    assert not_a_header_reason(sample(suffix, **{name: ["b", "b"], "Label": ["c", "d"]})) is None


@pytest.mark.parametrize(
    ("sides", "protocol"),
    [
        (["test", "train"], FIXED),
        (["dev", "testing", "training"], {"name": "fixed-split", "train": "training", "test": "testing"}),
        (["dev", "val"], {"name": "fixed-split", "train": "dev", "test": "val"}),
        (["Test", "val"], TESTED_ONCE),
    ],
)
def test_the_split_trains_on_what_its_name_says(sides: list[str], protocol: Any) -> None:
    seen = sample(text=WORDS, label=["a", "b"] * 6, part=(sides * 6)[:12])
    text = configuration_text(seen, {"text": "text", "label": "label", "split": "part"}, Path("mine.yaml"))
    assert yaml.safe_load(text)["protocol"] == protocol


@pytest.mark.parametrize(("n_groups", "k"), [(1, 5), (2, 2), (4, 4), (5, 5), (6, 5)])
def test_groups_have_as_many_folds_as_there_are_but_never_one(n_groups: int, k: int) -> None:
    seen = sample(t=["x"] * 12, l=["a", "b"] * 6, g=[f"g{n % n_groups}" for n in range(12)])
    text = configuration_text(seen, {"text": "t", "label": "l", "group": "g"}, Path("mine.yaml"))
    assert yaml.safe_load(text)["protocol"] == {"name": "k-fold", "k": k, "grouped": True}


@pytest.mark.parametrize(
    ("classes", "length", "proposed"), [(20, 150, True), (19, 150, False), (20, 151, False), (21, 149, True)]
)
def test_characters_are_proposed_for_twenty_classes_of_short_texts(
    tmp_path: Path, classes: int, length: int, *, proposed: bool
) -> None:
    rows = [{"text": f"{n:0{length}}"[:length], "label": f"c{n % classes}"} for n in range(100, 200)]
    config = init(table(tmp_path / "t.csv", rows=rows))[1]
    assert (["words-and-characters", "tfidf-hellinger"] in config["compare"]) is proposed
    assert len(load_checked(tmp_path / "own.yaml").ids) == 6 + 2 * proposed


# The exact kernel


@pytest.mark.parametrize(
    ("seconds", "peak", "said"),
    [
        (9400.0, 8.9e10, "2.6 h of processor time and 89 GB, of which 20 GB are free"),
        (60.0, 3e10, "60 s of processor time and 30 GB, of which 20 GB are free"),
        (9400.0, 2e9, "2.6 h of processor time and 2.0 GB"),
        (7201.0, 2e9, "2.0 h of processor time and 2.0 GB"),
        (7200.0, 2e10, None),
    ],
)
def test_an_hour_of_all_processors_and_the_free_memory_are_enough(seconds: float, peak: float, said: str) -> None:
    problem = exact_kernel_problem(Plan([], [("ngd", 1, seconds)], peak, free_bytes=2e10, jobs=2))
    assert problem is None if said is None else f"with it, a run would take about {said}. " in (problem or "")


def test_where_memory_is_short_the_linear_route_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "free_memory", lambda: -1e12)
    done, config = init(table(tmp_path / "a.csv", "body", "queue"))
    assert done.exit_code == 0
    assert "ngd, an exact kernel, is left out" in done.stdout
    assert "Next: bench run" not in done.stdout
    assert "ngd" not in config["methods"]
    assert "tfidf-hellinger" in [each.get("name") for each in config["methods"] if isinstance(each, dict)]
    load_checked(tmp_path / "own.yaml")
