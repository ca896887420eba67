"""What is written runs, or nothing is: documents that have to be left out, and columns that could be two things."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.commands.init import (
    FileSample,
    check_columns,
    configuration_text,
    notes_on_columns,
    propose_columns,
    removed_unless_it_runs,
    sample_file,
    settle_documents,
)
from benchmark.corpora.user.file_parameters import DROP_REASONS
from benchmark.corpora.user.validate import DocumentsError
from benchmark.experiment.configuration import load_checked
from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from click.testing import Result

ROWS = [
    {"package": f"p{n:02}", "body": f"{label} word{n % 7} of it {n}", "section": label}
    for n, label in enumerate(["net", "games", "mail"] * 20)
]

WORDS = [f"a longer text of document {n} with words of its own" for n in range(12)]


def table(path: Path, *changes: tuple[int, dict[str, str]], rows: list[dict[str, str]] = ROWS) -> Path:
    changed = [dict(row) for row in rows]
    for number, change in changes:
        changed[number] |= change
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(changed[0]))
        writer.writeheader()
        writer.writerows(changed)
    return path


def init(path: Path, *options: str) -> tuple[Result, Path]:
    target = path.with_name("own.yaml")
    return CliRunner().invoke(app, ["init", str(path), "--out", str(target), "--no-pilot", *options]), target


@pytest.mark.parametrize(
    ("changes", "drop", "said"),
    [
        (
            [(3, {"section": ""})],
            ["unlabelled"],
            "drop: [unlabelled] leaves out documents without a class (1); 59 are left",
        ),
        ([(3, {"body": " "}), (9, {"body": ""})], ["empty"], "leaves out documents without text (2); 58 are left"),
        ([(3, {"section": "odd"})], ["rare"], "leaves out documents that are the only one of their class (1)"),
        (
            [(3, {"section": "odd", "body": ""}), (4, {"section": "odd"})],
            ["empty", "rare"],
            "without text (1), documents",
        ),
    ],
)
def test_what_has_to_be_left_out_is_left_out_and_said(
    tmp_path: Path, changes: list[tuple[int, dict[str, str]]], drop: list[str], said: str
) -> None:
    path = table(tmp_path / "t.csv", *changes)
    seen = sample_file(path)
    settled = settle_documents(seen, propose_columns(seen, {}), (), separator=None, drop=[])
    assert settled.drop == tuple(drop)
    if len(drop) == 1:
        done, target = init(path)
        assert (done.exit_code, said in done.stdout) == (0, True)
        assert yaml.safe_load(target.read_text())["corpus"]["drop"] == drop
        assert len(load_checked(target).variants["base"].collection.reader.outline()) == settled.documents


def test_an_id_is_a_column_of_other_short_values_and_none_that_only_begins_so(tmp_path: Path) -> None:
    seen = sample_file(table(tmp_path / "t.csv"))
    assert propose_columns(seen, {})["id"] == "package"
    url = [{"id": f"{'long ' * 20}{n}"} | row for n, row in enumerate(ROWS)]
    proposed = propose_columns(sample_file(table(tmp_path / "u.csv", rows=url)), {"text": "body"})
    assert proposed["id"] == "id", "its name says so"
    score = [row | {"package": f"0.{n}5"} for n, row in enumerate(ROWS)]
    assert "id" not in propose_columns(sample_file(table(tmp_path / "s.csv", rows=score)), {})
    twice = table(tmp_path / "r.csv", (50, {"package": "p01"}))
    roles = propose_columns(seen, {}) | {"id": "package"}
    settled = settle_documents(sample_file(twice), roles, (), separator=None, drop=[])
    assert ("id" in settled.roles, settled.drop, settled.documents) == (False, (), 60), "the column goes, no document"
    unlabelled = table(tmp_path / "n.csv", (50, {"package": "p01"}), (7, {"section": ""}))
    settled = settle_documents(sample_file(unlabelled), roles, {"label"}, separator=None, drop=[])
    assert ("id" in settled.roles, settled.drop, settled.documents) == (False, ("unlabelled",), 59)
    named = settle_documents(sample_file(twice), roles, {"id"}, separator=None, drop=[])
    assert (named.roles["id"], named.drop) == ("package", ("repeated",))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row | {"section": f"s{n}"} for n, row in enumerate(ROWS)], "'section' has 60 values in 60 rows"),
        ([row | {"section": "net"} for row in ROWS], "'section' has 1 value in 60 rows"),
        (ROWS[:4], "'section' has 3 values in 4 rows"),
    ],
)
def test_without_a_column_of_classes_nothing_is_written(tmp_path: Path, rows: Any, said: str) -> None:
    done, target = init(table(tmp_path / "t.csv", rows=rows))
    assert (done.exit_code, target.exists(), done.stdout) == (2, False, "")
    assert f"no column looks like a class ({said}" in done.stderr
    assert done.stderr.strip().endswith("name it by --label")


def test_without_a_column_of_text_nothing_is_proposed(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"n": 1, "label": "a"}\n{"n": 2, "label": "a"}\n')
    seen = sample_file(tmp_path / "t.jsonl")
    with pytest.raises(ConfigError, match="no column looks like a text; name it by --text"):
        check_columns(seen, {"label": "label"})


def test_a_file_that_does_not_run_leaves_what_was_there(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", rows=[*ROWS[:4], ROWS[3]])
    for before in (None, "", "mine: yes\n"):
        target = path.with_name("own.yaml")
        if before is not None:
            target.write_text(before)
        done, _ = init(path, "--overwrite", "--label", "section", "--drop", "rare")
        assert done.exit_code != 0
        assert (target.read_text() if target.exists() else None) == before


@pytest.mark.parametrize("before", [None, b"", b"mine: yes\n"])
@pytest.mark.parametrize("error", [None, DataError("damaged"), KeyboardInterrupt()])
def test_a_configuration_that_does_not_run_is_as_it_was_before(
    tmp_path: Path, before: bytes | None, error: BaseException | None
) -> None:
    """An empty file was there, too; what runs stays, whatever was there."""
    target = tmp_path / "own.yaml"
    if before is not None:
        target.write_bytes(before)
    if error is None:
        with removed_unless_it_runs(target):
            target.write_bytes(b"new")
        assert target.read_bytes() == b"new"
        return

    def fail(content: bytes | None) -> None:
        with removed_unless_it_runs(target):
            if content is not None:
                target.write_bytes(content)
            raise error

    for content in (b"new", None):
        with pytest.raises(type(error)):
            fail(content)
        assert (target.read_bytes() if target.exists() else None) == before


#: Reasons why documents can't be read, of which the last is none to leave documents out for.
WHY = ("empty", "unlabelled", "repeated", "nameless", "split", "group", "long")


@pytest.mark.parametrize("named", [(), ("id",), ("id", "split", "group")])
@pytest.mark.parametrize("drop", [(), ("empty",), ("empty", "unlabelled", "repeated", "rare")])
@pytest.mark.parametrize(
    "reasons", [*((why,) for why in WHY), ("empty", "repeated"), ("empty", "long"), ("group", "unlabelled", "split")]
)
def test_a_proposed_column_goes_first_then_documents_and_what_can_not_be_left_out_is_an_error(
    monkeypatch: pytest.MonkeyPatch, reasons: tuple[str, ...], drop: tuple[str, ...], named: tuple[str, ...]
) -> None:
    """The same documents are read until nothing is wrong with them, or nothing helps."""
    roles = {"text": "t", "label": "l", "id": "i", "split": "s", "group": "g"}
    of_role = {"repeated": "id", "nameless": "id", "split": "split", "group": "group"}
    left = [dict.fromkeys(reasons, 3)]

    class Reader:
        def __init__(self, **given: Any) -> None:
            self.given = given

        def check(self) -> None:
            """Nothing is wrong with the parameters."""

        def scanned(self) -> Any:
            wrong = {
                why: n
                for why, n in left[0].items()
                if of_role.get(why, "text") in self.given and why not in self.given.get("drop", ())
            }
            if wrong:
                raise DocumentsError("wrong", wrong)
            return SimpleNamespace(dropped={"empty": 1}, documents=range(7), notes=())

    monkeypatch.setattr("benchmark.commands.init.UserFiles", Reader)
    gone = {of_role[why] for why in reasons if why in of_role and of_role[why] not in named}
    gone -= {"id"} if "repeated" in drop and "nameless" not in reasons else set()
    rest = [why for why in reasons if of_role.get(why) not in gone and why not in drop]
    seen = FileSample(Path("a.csv"), {name: [] for name in "tlisg"}, None, "utf-8")
    if set(rest) <= set(DROP_REASONS):
        found = settle_documents(seen, roles, named, separator=None, drop=drop)
        assert found.roles == {role: name for role, name in roles.items() if role not in gone}
        assert found.drop == (*drop, *rest)
        assert (found.dropped, found.documents) == ({"empty": 1}, 7)
    else:
        with pytest.raises(DocumentsError, match="wrong") as refused:
            settle_documents(seen, roles, named, separator=None, drop=drop)
        assert list(refused.value.reasons) == rest, "all that is wrong is told, though a part could be left out"
    assert len(roles) == 5, "what was given is left as it was"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252", "utf-16-le"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_that_of_the_first_line_in_its_encoding(tmp_path: Path, encoding: str, delimiter: str) -> None:
    rows = [["tëxt", "label", "key"], *([f"wörd {n}", "ab"[n % 2], f"k{n}"] for n in range(6))]
    content = "".join(delimiter.join(row) + "\n" for row in rows).encode(encoding)
    for suffix, usual in (("csv", ","), ("tsv", "\t")):
        path = tmp_path / f"t.{suffix}"
        path.write_bytes(content)
        seen = sample_file(path, encoding=encoding)
        assert seen.delimiter == (None if delimiter == usual else delimiter)
        assert {name: values[1] for name, values in seen.columns.items()} == {
            "tëxt": "wörd 1",
            "label": "b",
            "key": "k1",
        }
        assert (seen.encoding, seen.header, seen.date_format) == (encoding, True, None)


@pytest.mark.parametrize(("n_groups", "k"), [(1, 5), (2, 2), (4, 4), (5, 5), (6, 5)])
def test_a_column_of_groups_has_as_many_folds_as_there_are_but_never_one(n_groups: int, k: int) -> None:
    columns = {"t": ["x"] * 12, "l": ["a", "b"] * 6, "g": [f"g{n % n_groups}" for n in range(12)]}
    seen = FileSample(Path("a.csv"), columns, None, "utf-8")
    for several, rest in (({"label": "l"}, {}), ({"labels": "l"}, {"stratified": False})):
        text = configuration_text(seen, {"text": "t", "group": "g", **several}, "name", "a.csv")
        assert yaml.safe_load(text)["protocol"] == {"name": "k-fold", "k": k, "grouped": True, **rest}
        text = configuration_text(seen, {"text": "t", **several}, "name", "a.csv")
        assert yaml.safe_load(text)["protocol"] == {"name": "k-fold", "k": 5, **rest}


def test_dates_are_taken_where_they_are_clear_and_asked_for_where_not(tmp_path: Path) -> None:
    clear = [row | {"created": f"{1 + n % 28:02}/{1 + n % 12:02}/2020"} for n, row in enumerate(ROWS)]
    done, target = init(table(tmp_path / "t.csv", rows=clear))
    config = yaml.safe_load(target.read_text())
    assert (done.exit_code, config["protocol"]["name"]) == (0, "by-date")
    assert config["corpus"]["date_format"] == "%d/%m/%Y"
    unclear = [row | {"created": f"{1 + n % 12:02}/{1 + n % 7:02}/2020"} for n, row in enumerate(ROWS)]
    path = table(tmp_path / "u.csv", rows=unclear)
    seen = sample_file(path)
    assert "date" not in propose_columns(seen, {})
    (note,) = notes_on_columns(seen, propose_columns(seen, {}))
    assert "--date created --date-format '%d/%m/%Y' or --date-format '%m/%d/%Y'" in note
    with pytest.raises(DataError, match="no date of the file says which number is the day"):
        settle_documents(seen, propose_columns(seen, {"date": "created"}), {"date"}, separator=None, drop=[])
    stated = sample_file(path, date_format="%m/%d/%Y")
    assert settle_documents(stated, propose_columns(stated, {"date": "created"}), {"date"}, separator=None, drop=[])


@pytest.mark.parametrize("role", ["id", "split", "group", "date"])
def test_a_proposed_column_goes_where_a_document_has_no_value_and_a_named_one_is_told(
    tmp_path: Path, role: str
) -> None:
    full = [row | {"more": f"2024-01-{1 + n % 28:02}" if role == "date" else f"m{n}"} for n, row in enumerate(ROWS)]
    roles = {"text": "body", "label": "section", role: "more"}
    seen = sample_file(table(tmp_path / "t.csv", (50, {"more": ""}), rows=full))
    settled = settle_documents(seen, roles, (), separator=None, drop=[])
    assert (role in settled.roles, settled.drop, settled.documents) == (False, (), 60)
    with pytest.raises(DataError, match=r"1 document without .*; fill the column.*\(the first: .*t\.csv:52\)$"):
        settle_documents(seen, roles, {role}, separator=None, drop=[])


@pytest.mark.parametrize(
    ("values", "date"),
    [
        (["20240101", "20240229"], True),
        (["2024-01-01", "2024-02-29"], True),
        (["2024-01-01T10:00:00"] * 2, True),
        (["2024-1-1", "2024-1-2"], False),
        (["2024-01", "2024-02"], False),
        (["2024010", "2024011"], False),
        (["20240101", "20240230"], False),
        (["20240101", None], False),
        (["01.02.2020", "13.02.2020"], True),
        (["01/02/2020", "03/02/2020"], False),  # the day or the month may be first
        (["13/02/2020", "02/13/2020"], False),
    ],
)
def test_a_date_has_eight_characters_or_more_and_one_form(values: list[str | None], date: bool) -> None:
    columns = {"body": WORDS[: len(values)], "x": values, "y": values}
    seen = FileSample(Path("a.csv"), columns, None, "utf-8")
    assert propose_columns(seen, {"text": "body"}).get("date") == ("x" if date else None)
    ambiguous = values[1] == "03/02/2020"
    ways = "--date-format '%d/%m/%Y' or --date-format '%m/%d/%Y'"
    assert (
        notes_on_columns(seen, {"text": "body", "id": "x"})
        == [f"'y' may be a date, such as '01/02/2020', with the day or the month first: --date y {ways}"] * ambiguous
    )
    assert notes_on_columns(seen, {"text": "body", "date": "x"}) == [], "there is a date already"


def test_a_separator_in_a_few_classes_is_said(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", (0, {"section": "net;linux"}), (3, {"section": "net;linux"}))
    done, _ = init(path)
    assert "2 of 60 values of 'section' hold ';', such as 'net;linux': each is taken as one class" in done.stdout


def test_nested_json_is_proposed_by_dotted_names(tmp_path: Path) -> None:
    rows = [{"id": row["package"], "body": {"text": row["body"]}, "target": row["section"]} for row in ROWS]
    (tmp_path / "t.json").write_text(str(rows).replace("'", '"'))
    roles = propose_columns(sample_file(tmp_path / "t.json"), {})
    assert roles == {"text": "body.text", "label": "target", "id": "id"}


@pytest.mark.parametrize(
    ("columns", "proposed"),
    [
        ({"x": ["a", "b"]}, {"label": "x"}),  # two classes suffice, though they are more than a third of the rows
        ({"x": ["a", "b", "a"]}, {"label": "x"}),
        ({"x": ["a", "b", "c"]}, {"id": "x"}),
        ({"x": ["a", "b", "c", "a"]}, {}),
        ({"x": ["a", "b", None] * 4}, {"label": "x"}),
        ({"x": [*"abcdefghijk", None]}, {}),  # a document has no name
        ({"x": [*"abcdefghijk", ""]}, {}),
        ({"x": [*"abcdefghijk", "a"]}, {}),
        ({"x": [*"abcdefghijk", True]}, {}),
        ({"x": [*range(12)]}, {"id": "x"}),
        ({"x": [f"1,{n}" for n in range(12)]}, {}),  # a number with a comma for the point
        ({"x": [f"-.{n}" for n in range(12)]}, {}),
        ({"x": [f"v1.{n}" for n in range(12)]}, {"id": "x"}),
        ({"x": [[n] for n in range(12)]}, {}),
        ({"x": ["a"]}, {}),
    ],
)
def test_a_class_has_two_values_and_an_id_names_every_document(
    columns: dict[str, list[Any]], proposed: dict[str, str]
) -> None:
    (values,) = columns.values()
    seen = FileSample(Path("a.jsonl"), {"body": WORDS[: len(values)], **columns}, None, "utf-8")
    found = propose_columns(seen, {"text": "body"})
    assert {role: name for role, name in found.items() if role in ("label", "id")} == proposed


NAMED = {"delimiter": ";", "header": False, "encoding": "cp1252", "date_format": "%d/%m/%Y"}


@pytest.mark.parametrize("n", range(5))
def test_all_that_the_file_is_and_the_user_said_stands_in_the_corpus_section(n: int) -> None:
    """Each statement stands there, with and without the others."""
    said = dict(itertools.islice(itertools.cycle([*NAMED.items()]), n, n + n))
    how = {"delimiter": None, "encoding": "utf-8", **said}
    seen = FileSample(Path("a.csv"), {"t": ["x"], "l": ["a"], "d": ["01/02/2020"]}, **how)
    for separator, drop in ((None, ()), (";", ("empty", "rare"))):
        for roles in ({"text": "t", "label": "l"}, {"text": "t", "labels": "l", "date": "d"}):
            text = configuration_text(seen, roles, "name", "a.csv", separator=separator, drop=drop)
            corpus = yaml.safe_load(text)["corpus"]
            expected = {"name": "files", "path": "a.csv", **roles, **said}
            if "date" not in roles:
                expected.pop("date_format", None)
            expected |= {} if separator is None else {"separator": ";", "drop": ["empty", "rare"]}
            assert corpus == expected
