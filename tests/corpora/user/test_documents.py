"""Content of a file and parameters of `corpus`: the documents, or the message with its line."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.user.user_files import DocumentsError, UserFiles
from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.corpora.corpus import Corpus

#: Documents of two classes, a JSON object each.
GOOD: list[dict[str, Any]] = [
    {"id": f"d{n}", "text": f"word {n}", "label": "xy"[n % 2], "who": f"w{n % 3}", "part": ["a", "b"][n // 4],
     "day": f"2024-01-0{n + 1}", "tags": ["p", "q"][: n % 3]}
    for n in range(8)
]  # fmt: skip
COLUMNS = {"id": "id", "group": "who", "split": "part", "date": "day"}


def lines(*changes: dict[str, Any], more: list[dict[str, Any]] | None = None) -> bytes:
    """Return the documents as JSON lines, the first of them changed."""
    rows = [row | change for row, change in zip(GOOD, [*changes, *({} for _ in GOOD)], strict=False)] + (more or [])
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read(folder: Path, content: bytes, name: str = "t.jsonl", **how: Any) -> Corpus:
    (folder / name).write_bytes(content)
    reader = UserFiles(name, **how, base=folder)
    reader.check()
    return reader.load(CorpusSource(None))


def named(corpus: Corpus) -> list[list[str]]:
    """Return the classes of each document by name."""
    documents = corpus.documents
    if documents.topics is None:
        return [[documents.classes[label]] for label in documents.labels]
    return [[name for name, has in zip(documents.classes, row, strict=True) if has] for row in documents.topics]


def test_documents_are_those_of_the_columns(tmp_path: Path) -> None:
    documents = read(tmp_path, lines({"day": "2024-01-01T10:00:00+02:00"}), **COLUMNS).documents
    assert documents.ids == tuple(f"d{n}" for n in range(8))
    assert (documents.part_names, documents.parts.tolist()) == (("a", "b"), [0] * 4 + [1] * 4)
    assert documents.groups is not None
    assert documents.dates is not None
    assert documents.groups.tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert str(documents.dates[0]) == "2024-01-01T08:00:00"
    by_group = read(tmp_path, lines(), group="who").documents
    assert (by_group.ids[:2], by_group.part_names, by_group.dates) == (("1", "2"), ("w0", "w1", "w2"), None)


def test_columns_of_the_text_are_its_fields(tmp_path: Path) -> None:
    changes = (
        {"title": "one", "body": "two"},
        {"body": 3},
        {"title": "\ud800", "body": "four"},
        {"title": "five", "body": ""},
    )
    corpus = read(tmp_path, lines(*changes), text=["title", "body"], drop=["empty"])
    assert list(corpus) == [b"one\ntwo", b"3", b"?\nfour", b"five\n"]
    fields = [dict(text.fields) for text in corpus]  # type: ignore[attr-defined]
    assert fields[:2] == [{"title": b"one", "body": b"two"}, {"title": b"", "body": b"3"}]
    assert corpus.take([2]).fields["body"].tolist() == [[2, 6]]  # type: ignore[arg-type]


#: Value of the column, separator; classes.
SEVERAL: list[tuple[Any, str | None, list[str]]] = [
    (None, None, []), ([], None, []), ("", ";", []), ("p; q;;p; ", ";", ["p", "q"]), ("p;q", ",", ["p;q"]),
    (["p", " q ", "", None, "p"], None, ["p", "q"]), ([3, True, float("nan")], None, ["3", "True"]), (3, None, ["3"]),
    ("['p', \"q\"]", None, ["p", "q"]), ("['p' 'q']", None, ["p", "q"]), ("('p', 'q')", ",", ["p", "q"]),
    ("{'q', 'p'}", None, ["p", "q"]), ('["p", null, "q"]', ",", ["p", "q"]), ("['it\\'s']", None, ["it's"]),
    ("[1, 2]", ",", ["1", "2"]),
    ("(p)", ";", ["(p)"]),
]  # fmt: skip


@pytest.mark.parametrize(("value", "separator", "expected"), SEVERAL)
def test_several_classes_are_a_list_or_separated(
    tmp_path: Path, value: Any, separator: str | None, expected: list[str]
) -> None:
    content = lines({"tags": value}, {"tags": ["y"]}, {"tags": ["z"]})
    assert named(read(tmp_path, content, labels="tags", separator=separator))[0] == expected


@pytest.mark.parametrize(
    ("value", "name"),
    [(" x ", "x"), (7, "7"), (1.5, "1.5"), (True, "True"), ("a\0b", "ab"), ("cafe\u0301", "café")],
)  # fmt: skip
def test_a_class_is_its_text_in_composed_unicode(tmp_path: Path, value: Any, name: str) -> None:
    assert named(read(tmp_path, lines({"label": value}, {}, {"label": value})))[0] == [name]


def test_a_column_for_each_class_holds_0_or_1_however_it_is_written(tmp_path: Path) -> None:
    content = b"text,x,y\na,1,0\nb,0.0,1.0\nc,True,FALSE\nd,,1\n"
    assert named(read(tmp_path, content, "t.csv", label=["x", "y"])) == [["x"], ["y"], ["x"], ["y"]]
    several = content + b"e,1,1\nf,,\n"
    assert named(read(tmp_path, several, "t.csv", labels=["x", "y"]))[4:] == [["x", "y"], []]


#: Date, format; what it is in UTC.
DATES: list[tuple[Any, str | None, str]] = [
    ("2024-05-31", None, "2024-05-31T00:00:00"), ("2024-05-31 10:20", None, "2024-05-31T10:20:00"),
    ("20240531T102030Z", None, "2024-05-31T10:20:30"), ("2024-05-31T01:00+02:00", None, "2024-05-30T23:00:00"),
    ("Fri, 31 May 2024 10:00:00 +0200", "%a, %d %b %Y %H:%M:%S %z", "2024-05-31T08:00:00"),
    ("31.5.2024 10:00", "%d.%m.%Y %H:%M", "2024-05-31T10:00:00"), ("5/6/24", "%d/%m/%y", "2024-06-05T00:00:00"),
    ("0999-01-01", None, "0999-01-01T00:00:00"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "form", "expected"), DATES)
def test_dates_of_one_meaning_are_read(tmp_path: Path, value: str, form: str | None, expected: str) -> None:
    rows = [{"day": value} for _ in GOOD] if form else [{"day": value}]
    dates = read(tmp_path, lines(*rows), date="day", date_format=form).documents.dates
    assert dates is not None
    assert str(dates[0]) == expected


ISO = (
    "t.jsonl:1: day is '{}', and must be a date in ISO 8601, such as 2024-05-31; or state its form, such as date_format"
)
LOCAL_DATES = "31/12/2020", "1.2.2024", "5/6/2024 10:00 UTC", "soon", "31 May 2024", "31.12."
CUT = pa.compress(b"text,label\nx,a\n", "zstd", asbytes=True)[:-4]
PACKED = gzip.compress(b"text,label\nx,a\n")

#: Name, content, parameters; part of the message.
REFUSED: list[tuple[str, bytes, dict[str, Any], str]] = [
    # documents: how many, and the first
    ("t.jsonl", lines({"text": "\u3000 "}, {}, {"text": ""}), {},
     "t.jsonl: 2 documents without text; add a text, or leave such documents out by drop: [empty]"),
    ("t.jsonl", lines({"label": float("nan")}), {}, "t.jsonl:1)"),
    ("t.jsonl", lines({}, {}, {"id": "d0"}), COLUMNS,
     "1 document with the id of an earlier document; use another column as id, or"),
    ("t.jsonl", lines({}, {}, {"id": "d0"}), COLUMNS, "t.jsonl:3 ('d0'))"),
    ("t.jsonl", lines({"id": ""}), COLUMNS, "1 document without an id; fill the column, or leave `id` out"),
    ("t.jsonl", lines({"who": None}), COLUMNS, "1 document without a group; fill the column"),
    ("t.jsonl", lines({}, {"label": "z"}), {}, "1 document whose class has no other document"),
    ("t.jsonl", lines({}, {"label": "z"}), {}, "t.jsonl:2, class 'z')"),
    ("t.jsonl", b"\n", {}, "t.jsonl: holds no document"),
    ("t.jsonl", lines(), {"label": "q"}, "has no column 'q' (columns: id, text, label, who, part, day, tags)"),
    ("t.jsonl", lines(*({"label": "x"} for _ in GOOD)), {},
     "classification needs at least two classes; the documents have 'x'"),
    ("t.jsonl", lines(*({"label": ""} for _ in GOOD)), {"drop": ["unlabelled"]},
     "classification needs at least two classes; the documents have none"),
    ("t.jsonl", lines(), {"rename": {"X": "y"}}, "rename: unknown class 'X'; did you mean 'x'?"),
    # values
    ("t.jsonl", lines({}, {"text": 3}), {}, "t.jsonl:2: text is 3, and must be text"),
    ("t.jsonl", lines({"label": ["a"]}), {},
     "t.jsonl:1: the class is a list, ['a']: name its column by `labels`, not `label`"),
    ("t.jsonl", lines({"label": "['a']"}), {}, "t.jsonl:1: the class is a list"),
    ("t.jsonl", lines({"label": {"a": 1}}), {},
     "t.jsonl:1: the class is {'a': 1}, and must be text, or a list of texts"),
    ("t.jsonl", lines({"tags": "p;q"}), {"labels": "tags"},
     "t.jsonl:1: the classes are text, 'p;q'; name their separator"),
    ("t.csv", b"text,x,y\na,1,1\n", {"label": ["x", "y"]},
     "t.csv:2: has 2 classes (x, y): name their columns by `labels`"),
    ("t.csv", b"text,x,y\na,1,no\n", {"label": ["x", "y"]}, "t.csv:2: y is 'no', and must be 0 or 1"),
    *(("t.jsonl", lines({"day": day}), {"date": "day"}, ISO.format(day)) for day in LOCAL_DATES),
    ("t.jsonl", lines(), {"date": "day", "date_format": "%d/%m/%Y"},
     "t.jsonl:1: day is '2024-01-01', and must be a date as date_format states it, '%d/%m/%Y'"),
    # tables
    ("t.csv", b"text,lable\n", {}, "t.csv: has no column 'label'; did you mean 'lable'? (columns: text, lable)"),
    ("t.csv", b"text;label\n", {}, "the columns are separated by ';': state delimiter: ';'"),
    ("t.csv", b"alpha beta,a\ngamma,b\n", {}, "t.csv: has no column 'text' (columns: alpha beta, a)"),
    ("t.csv", b"text,label,text\nx,a,y\n", {}, "t.csv:1: two columns are named 'text'"),
    ("t.csv", b"", {}, "t.csv: has no column 'text'"),
    ("t.csv", b"text,label\nx,a\ny, z,b\n", {},
     "t.csv:3: has 3 columns, and the header has 2; quote the text if it holds ','"),
    ("t.csv", b"label,text\r\n\r\nx\r\n", {}, "t.csv:3: has 1 column, and the header has 2"),
    ("t.csv", b'text,label\n"x\ny",a\n"z,b\n', {},
     "t.csv:4: is not a valid table: unexpected end of data; if quotes are part of the text, state quoting: none"),
    ("t.csv", b"sep=;\ntext;label\nx;a\ny;b;c\n", {}, "t.csv:4: has 3 columns"),
    ("t.csv", "text,label\nx,a\ncafé,b\n".encode("cp1252"), {},
     "t.csv:3: the byte 0xe9 is not utf-8; name the file's encoding, such as encoding: cp1252"),
    ("t.csv", b"text,label\nx,a\n" * 9000 + b"\xff,b\n", {}, "t.csv:18001: the byte 0xff is not utf-8"),
    # JSON and Parquet
    ("t.jsonl", b'{"text": "x", "label": 2}\n\n{"text"\n', {}, "t.jsonl:3: is not valid JSON: Expecting ':' delimiter"),
    ("t.jsonl", b'{"text": "x", "label": 2}\n[1]\n', {}, "t.jsonl:2: is [1], and must be an object: {…}"),
    ("t.jsonl", b'{"text": "caf\xe9"}\n', {}, "t.jsonl:1: the byte 0xe9 is not utf-8"),
    ("t.json", b'[{"text": "x"},\n{"text": "y",}]', {}, "t.json:2: is not valid JSON: "),
    ("t.json", b'{\n"data": [{"text": "x"}]}', {},
     "enclosed in double quotes; JSON is read as an array, [{…}, …], or as an object a line"),
    ("t.parquet", b"PAR1", {}, "t.parquet: can't be read"),
    # files
    ("t.csv.gz", PACKED[:-9], {}, "t.csv.gz: can't be read: Compressed file ended before"),
    ("t.csv.gz", b"text,label\n", {}, "t.csv.gz: can't be read: Not a gzipped file"),
    ("t.csv.gz", PACKED[:-8] + b"\0" * 8, {}, "t.csv.gz: can't be read: CRC check failed"),
    ("t.csv.zst", CUT, {}, "t.csv.zst: can't be read: Truncated"),
    *((f"t.csv{end}", b"text,label\n", {}, f"t.csv{end}: can't be read") for end in (".xz", ".zst", ".zip")),
    ("t.xlsx", b"PK", {}, "t.xlsx: is a spreadsheet: save its table as CSV (UTF-8), or write it as Parquet"),
    ("t.docx", b"", {}, "t.docx: unknown kind of file '.docx'"),
    ("t.gz", PACKED, {},
     "t.gz: unknown kind of file 't.gz' (allowed: .csv, .tsv, .jsonl, .ndjson, .json, .parquet, .pq), or a folder"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "how", "part"), REFUSED, ids=[f"{n}: {each[0]}" for n, each in enumerate(REFUSED)]
)
def test_problems_are_refused_with_file_and_line(
    tmp_path: Path, name: str, content: bytes, how: dict[str, Any], part: str
) -> None:
    with pytest.raises(DataError) as raised:
        read(tmp_path, content, name, **how)
    assert part in str(raised.value)


#: Parameters that no file can satisfy; part of the message.
IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"drop": ["emtpy"]}, "did you mean 'empty'?"),
    ({"quoting": "single"}, "quoting: unknown word 'single' (allowed: double, none)"),
    ({"delimiter": ";;"}, '"delimiter" must be a 1-character string'),
    ({"escape": ""}, '"escapechar" must be a 1-character string'),
    ({"encoding": "utf-9"}, "encoding: unknown encoding 'utf-9'"),
    ({"path": {"train": "a", "test": "b"}, "split": "part"}, "split: the path already names the parts of the split"),
    ({"text": ["text"], "format": "mail"}, "several columns of text are its fields already"),
]


@pytest.mark.parametrize(("how", "part"), IMPOSSIBLE)
def test_parameters_that_no_file_satisfies_are_refused(how: dict[str, Any], part: str) -> None:
    with pytest.raises(ConfigError) as raised:
        UserFiles(**{"path": "t.csv", **how}).check()
    assert part in str(raised.value)


def test_all_problems_are_listed_at_once_with_their_numbers(tmp_path: Path) -> None:
    with pytest.raises(DocumentsError) as raised:
        read(tmp_path, lines({"text": ""}, {"label": ""}, {"who": ""}, {"id": ""}, {"text": ""}), **COLUMNS)
    assert raised.value.reasons == {"empty": 2, "unlabelled": 1, "group": 1, "nameless": 1}
    assert len(str(raised.value).splitlines()) == 4


def test_drop_leaves_out_documents_with_their_group_part_date_and_text(tmp_path: Path) -> None:
    more = [{**GOOD[0], "id": "e", **each} for each in ({"text": " "}, {"label": ""}, {"id": "d1"}, {"label": "z"})]
    content = lines({"day": "soon", "text": ""}, more=more)
    how = {**COLUMNS, "drop": ["empty", "unlabelled", "repeated", "rare"]}
    corpus = read(tmp_path, content, **how)
    assert corpus.documents.ids == tuple(f"d{n}" for n in range(1, 8))
    assert list(corpus) == [f"word {n}".encode() for n in range(1, 8)]
    assert corpus.documents.dates is not None
    assert [str(date)[8:10] for date in corpus.documents.dates] == [f"0{n + 1}" for n in range(1, 8)]
    reader = UserFiles("t.jsonl", **how, base=tmp_path)  # type: ignore[arg-type]
    assert reader.scanned().dropped == {"empty": 2, "unlabelled": 1, "repeated": 1, "rare": 1}


def test_what_is_digested_is_what_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(lines())
    one = UserFiles("t.jsonl", base=tmp_path)
    content = one.content(CorpusSource(None))
    (tmp_path / "t.jsonl").write_bytes(lines({"text": "edited"}))
    os.utime(tmp_path / "t.jsonl", (1, 1))
    assert next(iter(one.load(CorpusSource(None)))) == b"word 0"
    assert one.content(CorpusSource(None)) == content
    other = UserFiles("t.jsonl", base=tmp_path)
    assert next(iter(other.load(CorpusSource(None)))) == b"edited"
    assert other.content(CorpusSource(None)) != content
    (tmp_path / "u.jsonl").write_bytes(lines())
    assert UserFiles("u.jsonl", base=tmp_path).content(CorpusSource(None)) == content, "wherever the file is"
    assert UserFiles("u.jsonl", label="part", base=tmp_path).content(CorpusSource(None)) != content


#: Another value of each parameter but the path.
OTHERWISE: dict[str, Any] = {
    "text": ["text", "label"], "label": "who", "labels": "tags", "rename": {"x": "z"}, "separator": ";", "id": "id",
    "split": "part", "group": "who", "date": "day", "date_format": "%d/%m/%Y",
    "encoding": "latin-1", "delimiter": ";", "header": False, "quoting": "none", "escape": "\\", "drop": ["empty"],
    "format": "mail",
}  # fmt: skip


def test_every_parameter_but_the_path_decides_the_content(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(lines())
    assert {each.name for each in fields(UserFiles)} == {*OTHERWISE, "path", "base"}
    changes: list[dict[str, Any]] = [{}, *({name: value} for name, value in OTHERWISE.items())]
    contents = [UserFiles("t.jsonl", base=tmp_path, **each).content(CorpusSource(None)) for each in changes]
    assert len({json.dumps(each, sort_keys=True) for each in contents}) == len(changes)


def test_paths_are_relative_to_the_configuration_or_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "t.jsonl").write_bytes(lines())
    (tmp_path / "sub").mkdir()
    assert len(UserFiles("~/t.jsonl", base=tmp_path / "sub").outline()) == len(
        UserFiles("../t.jsonl", base=tmp_path / "sub").outline()
    )
    with pytest.raises(DataError, match=r"none\.csv: no such file or folder; path is relative to the configuration"):
        UserFiles("none.csv", base=tmp_path).outline()


def test_a_document_of_a_folder_is_named_by_its_path(tmp_path: Path) -> None:
    for relpath in ("x/1", "x/2", "y/1", "y/2"):
        (tmp_path / "docs" / relpath).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / relpath).write_text("" if relpath == "y/1" else relpath)
    with pytest.raises(DocumentsError, match=rf"^docs: 1 document without text; .*the first: {tmp_path}/docs/y/1\)$"):
        UserFiles("docs", base=tmp_path).outline()
    (tmp_path / "docs" / "y" / "1").write_bytes(b"\n caf\xe9")
    with pytest.raises(DataError, match=r"docs/y/1:2: the byte 0xe9 is not utf-8"):
        UserFiles("docs", base=tmp_path).outline()
    assert len(UserFiles("docs", encoding="cp1252", base=tmp_path).outline()) == 4
    (tmp_path / "docs" / "readme").write_text("x")
    with pytest.raises(DataError, match=r"readme: lies in no folder of a class; it should be .*docs/<label>/readme"):
        UserFiles("docs", encoding="cp1252", base=tmp_path).outline()


def test_parts_of_a_split_are_no_classes(tmp_path: Path) -> None:
    for name in ("train/a", "train/b", "test/a", "test/b"):
        (tmp_path / "docs" / name).mkdir(parents=True)
        (tmp_path / "docs" / name / "1.txt").write_text("some words")
    with pytest.raises(DataError, match=r"not classes: name them, path: \{train: docs/train, test: docs/test\}"):
        UserFiles("docs", base=tmp_path).outline()
