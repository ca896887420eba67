"""One's own files: documents as their columns say, each thing that is wrong with them told, nothing held twice."""

from __future__ import annotations

import json
import os
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.assemble import select_documents
from benchmark.corpora.user.user_card import check_user_card, user_card_path, user_card_yaml
from benchmark.corpora.user.user_files import UserFiles
from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.corpora.corpus import StreamedCorpus

ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": "one", "label": "x", "tags": ["p", "q"], "who": "c2", "side": "train", "when": "2024-02-01"},
    {
        "id": "b",
        "text": "two",
        "label": "y",
        "tags": [],
        "who": "c1",
        "side": "test",
        "when": "2024-01-01T10:00:00+02:00",
    },
    {"id": "c", "text": "three", "label": "x", "tags": ["q"], "who": "c2", "side": "train", "when": "2023-12-31"},
    {"id": "d", "text": "four", "label": "y", "tags": "q", "who": "c3", "side": "train", "when": "2024-01-02 03:04:05"},
]
COLUMNS: dict[str, Any] = {"id": "id", "group": "who", "split": "side", "date": "when"}


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., UserFiles]:
    """A reader of records, each ROWS's with some values otherwise."""

    def make(*changes: dict[str, Any], rows: list[dict[str, Any]] | None = None, **how: Any) -> UserFiles:
        given = [row | change for row, change in zip(ROWS, [*changes, *({} for _ in ROWS)], strict=False)]
        given = given if rows is None else rows
        (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
        reader = UserFiles(**{"path": "a.jsonl", **COLUMNS, **how}, base=tmp_path)
        reader.check()
        return reader

    return make


def loaded(reader: UserFiles) -> StreamedCorpus:
    return reader.load(reader.locate(download=False, notify=print, progress=False))


def test_documents_are_what_their_columns_say(files: Callable[..., UserFiles]) -> None:
    documents = files().outline()
    assert documents.ids == ("a", "b", "c", "d")
    assert (documents.classes, documents.labels.tolist()) == (("x", "y"), [0, 1, 0, 1])
    assert (documents.part_names, documents.parts.tolist()) == (("test", "train"), [1, 0, 1, 1])
    np.testing.assert_array_equal(documents.groups, [1, 0, 1, 2])
    dates = ["2024-02-01T00:00:00", "2024-01-01T08:00:00", "2023-12-31T00:00:00", "2024-01-02T03:04:05"]
    np.testing.assert_array_equal(documents.dates, np.array(dates, dtype="datetime64[s]"))


def test_without_a_split_the_groups_are_those_of_the_column(files: Callable[..., UserFiles]) -> None:
    assert files(split=None).outline().part_names == ("c1", "c2", "c3")
    plain = files(split=None, group=None, date=None, id=None).outline()
    assert (plain.part_names, plain.groups, plain.dates, plain.ids) == (("all",), None, None, ("1", "2", "3", "4"))


def test_columns_of_the_text_are_lines_and_an_empty_one_is_none(files: Callable[..., UserFiles]) -> None:
    more = [{"more": "tail"}, {"more": None}, {"more": ""}, {"text": None, "more": "alone"}]
    read = loaded(files(*more, text=["text", "more"]))
    assert [bytes(text) for text in read] == [b"one\ntail", b"two", b"three\n", b"alone"]


def test_documents_may_have_several_classes(files: Callable[..., UserFiles]) -> None:
    documents = files({}, {}, {}, {"tags": "p;q"}, labels="tags", separator=";").outline()
    assert documents.classes == ("p", "q")
    assert documents.topics is not None
    assert documents.topics.tolist() == [[True, True], [False, False], [False, True], [True, True]]
    with pytest.raises(DataError, match=r"a.jsonl:4: the classes are text, 'q'; name their separator"):
        files(labels="tags").outline()


def test_text_of_several_columns_is_joined(files: Callable[..., UserFiles]) -> None:
    assert list(loaded(files(text=["id", "text"]))) == [b"a\none", b"b\ntwo", b"c\nthree", b"d\nfour"]


@pytest.mark.parametrize("size", [1, 4, 9, 2**23])
def test_chunks_of_any_size_hold_the_same_documents(files: Callable[..., UserFiles], size: int) -> None:
    corpus = loaded(files())
    texts = [part[start:stop].tobytes() for part, bounds in corpus.chunks(size) for start, stop in pairwise(bounds)]
    assert texts == list(corpus) == [b"one", b"two", b"three", b"four"]


def test_selected_documents_keep_their_text(files: Callable[..., UserFiles]) -> None:
    corpus = select_documents(loaded(files()), ["y", "x"], exclude=["c"])
    assert (corpus.documents.ids, corpus.documents.labels.tolist()) == (("a", "b", "d"), [1, 0, 0])
    assert list(corpus) == [b"one", b"two", b"four"]
    assert list(select_documents(loaded(files()), ["y"])) == [b"two", b"four"]


WRONG = [
    (({"text": " "}, {}, {"text": ""}), {}, "empty", "2 documents without text", "a.jsonl:1)"),
    (({}, {"label": None}), {}, "unlabelled", "1 document without a class", "a.jsonl:2)"),
    (({}, {}, {"id": "a"}), {}, "repeated", "1 document with the id of an earlier document", "a.jsonl:3 ('a'))"),
    (({"label": "z"},), {}, "rare", "1 document whose class has no other", "a.jsonl:1, class 'z')"),
]


@pytest.mark.parametrize(("changes", "how", "why", "said", "where"), WRONG)
def test_what_is_wrong_is_counted_with_its_first_place_or_left_out(
    files: Callable[..., UserFiles], changes: tuple[Any, ...], how: dict[str, Any], why: str, said: str, where: str
) -> None:
    more = [{**ROWS[row], "id": name, "text": name} for row, name in ((1, "e"), (0, "f"), (0, "g"))]
    rows = [row | change for row, change in zip(ROWS, [*changes, *({} for _ in ROWS)], strict=False)] + more
    with pytest.raises(DataError) as raised:
        files(rows=rows, **how).outline()
    assert said in str(raised.value)
    assert f"drop: [{why}]" in str(raised.value)
    assert str(raised.value).endswith(where)
    reader = files(rows=rows, drop=[why], **how)
    found = reader.scanned()
    assert found.dropped == {why: len(rows) - len(found.rows)} == {why: int(said[0])}
    assert list(loaded(reader)) == [rows[row]["text"].encode() for row in found.rows]


def test_all_that_is_wrong_is_told_at_once(files: Callable[..., UserFiles]) -> None:
    with pytest.raises(DataError) as raised:
        files({"text": ""}, {"label": ""}, {"who": ""}, {"id": ""}).outline()
    assert [line.split(" document")[1].split()[1] for line in str(raised.value).splitlines()] == [
        "text;",
        "a",
        "a",
        "an",
    ]


@pytest.mark.parametrize(
    ("change", "how", "said"),
    [
        ({"text": 3}, {}, "a.jsonl:1: text is 3, and must be text"),
        ({"when": "31.12."}, {}, "a.jsonl:1: when is '31.12.', and must be a date in ISO 8601"),
        (
            {"when": "31.12.2024"},
            {},
            "a.jsonl:2: when is '2024-01-01T10:00:00+02:00', and must be a date in the form of",
        ),
        ({}, {"label": "lable"}, "has no column 'lable'; did you mean 'label'?"),
        (
            {},
            {"label": "side", "drop": ["rare"]},
            "all documents have the class 'train'; classification needs at least two classes",
        ),
    ],
)
def test_what_can_not_be_left_out_is_refused_with_its_line(
    files: Callable[..., UserFiles], change: dict[str, Any], how: dict[str, Any], said: str
) -> None:
    with pytest.raises(DataError) as raised:
        files(change, **how).outline()
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"drop": ["emtpy"]}, "did you mean 'empty'?"),
        ({"folders": ["split"]}, "one of them must be label"),
        ({"folders": ["label", "label"]}, "must name each level once"),
        ({"folders": ["label", "grup"]}, "folders: unknown word 'grup'; did you mean 'group'?"),
        *(({"delimiter": each}, "must be one character") for each in (";;", "", '"', "\n", "\r")),
        ({"encoding": "utf-9"}, "unknown encoding 'utf-9'"),
        ({"date_format": "dd/mm/yyyy"}, "must have the codes of Python's strptime, such as '%d/%m/%Y'"),
        ({"date_format": "%d/%m/%Y", "date": None}, "there is no date; name its column by `date`"),
        ({"text": []}, "must not be empty"),
        ({"path": ""}, "must not be empty"),
        ({"path": {}, "split": None}, "must not be empty"),
        ({"path": {"train": "a", "test": "b"}}, "split: the path already names the parts of the split"),
        ({"text": ["text"], "format": "mail"}, "several columns of text are its fields already"),
        ({"path": {"train": "a", "test": "b"}, "folders": ["split", "label"], "split": None}, "names the parts"),
    ],
)
def test_parameters_that_no_file_could_have_are_refused(
    files: Callable[..., UserFiles], how: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        files(**how)
    assert said in str(raised.value)


def test_a_folder_of_class_folders(tmp_path: Path) -> None:
    for relpath in ("train/x/1.txt", "train/y/2.txt", "test/x/1.txt", "test/y/.hidden", "test/y/deep/er.txt"):
        (tmp_path / "essays" / relpath).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "essays" / relpath).write_text(relpath)
    reader = UserFiles("essays", folders=["split", "label"], base=tmp_path)
    assert reader.outline().ids == ("test/x/1.txt", "test/y/deep/er.txt", "train/x/1.txt", "train/y/2.txt")
    assert reader.outline().classes == ("x", "y")
    assert reader.outline().part_names == ("test", "train")
    assert [text.decode() for text in loaded(reader)] == list(reader.outline().ids)
    (tmp_path / "essays" / "readme").write_text("x")
    with pytest.raises(DataError, match=r"readme: lies in no folder of a class; it should be .*<split>/<label>/readme"):
        UserFiles("essays", folders=["split", "label"], base=tmp_path).outline()


def test_a_file_for_each_side_of_a_split(tmp_path: Path) -> None:
    for side in ("train", "test"):
        (tmp_path / f"{side}.csv").write_text(f"text,label\n{side} one,x\n{side} two,y\n")
    reader = UserFiles({"train": "train.csv", "test": "test.csv"}, base=tmp_path)
    assert reader.outline().part_names == ("test", "train")
    assert reader.outline().parts.tolist() == [1, 1, 0, 0]
    assert list(loaded(reader))[2] == b"test one"


@pytest.mark.parametrize("name", ["essays", "a.b", "essays.csv", "a.b.gz"])
def test_a_folder_is_one_whatever_its_name_looks_like(tmp_path: Path, name: str) -> None:
    for relpath in ("x/1", "x/2", "y/3", "y/4"):
        (tmp_path / name / "anna" / relpath).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "anna" / relpath).write_text(relpath)
    reader = UserFiles(name, folders=["group", "label"], base=tmp_path)
    assert reader.outline().classes == ("x", "y")
    assert reader.outline().part_names == ("anna",)
    before = reader.content(CorpusSource(None))
    (tmp_path / name).rename(tmp_path / "other")
    assert replace(reader, path="other").content(CorpusSource(None)) == before


def test_a_folder_for_each_side_of_a_split(tmp_path: Path) -> None:
    for side in ("train", "test"):
        for relpath in ("anna/x/1", "ben/y/2"):
            (tmp_path / f"{side}.d" / relpath).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / f"{side}.d" / relpath).write_text(relpath)
    reader = UserFiles({"train": "train.d", "test": "test.d/"}, folders=["group", "label"], base=tmp_path)
    documents = reader.outline()
    assert documents.ids == ("train/anna/x/1", "train/ben/y/2", "test/anna/x/1", "test/ben/y/2")
    assert [documents.part_names[group] for group in documents.parts] == ["train", "train", "test", "test"]
    np.testing.assert_array_equal(documents.groups, [0, 1, 0, 1])
    (tmp_path / "more.csv").write_text("text,label,who\none,x,ben\ntwo,y,eve\n")
    mixed = UserFiles({"train": "train.d", "test": "more.csv"}, folders=["group", "label"], group="who", base=tmp_path)
    np.testing.assert_array_equal(mixed.outline().groups, [0, 1, 1, 2])


@pytest.mark.parametrize("name", ["tickets", "tickets.txt", "tickets.gz", "a.b"])
def test_a_file_whose_name_says_no_kind_is_refused_in_a_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("text,label\none,x\n")
    with pytest.raises(DataError, match=r"unknown kind of file .*\.csv, .*or a folder") as raised:
        UserFiles(name, base=tmp_path).outline()
    assert "\n" not in str(raised.value)


def test_content_is_that_of_the_files_and_parameters_and_not_of_where_they_are(
    files: Callable[..., UserFiles], tmp_path: Path
) -> None:
    reader = files()
    before = reader.content(CorpusSource(None))
    (tmp_path / "b.jsonl").write_bytes((tmp_path / "a.jsonl").read_bytes())
    assert replace(reader, path="b.jsonl").content(CorpusSource(None)) == before
    assert replace(reader, label="side").content(CorpusSource(None)) != before
    assert files({"text": "other"}).content(CorpusSource(None)) != before


@pytest.mark.parametrize("use", ["content", "load"])
def test_files_that_were_edited_since_they_were_read_are_refused(
    files: Callable[..., UserFiles], tmp_path: Path, use: str
) -> None:
    reader = files()
    reader.outline()
    assert reader.facts() == {"base": str(tmp_path)}
    assert reader.locate(download=True, notify=print, progress=True).path == Path("a.jsonl")
    (tmp_path / "a.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    with pytest.raises(DataError, match=r"a\.jsonl: was changed while it was read; run it again"):
        list(reader.content(CorpusSource(None)) if use == "content" else loaded(reader))


def test_a_file_that_loses_documents_while_it_is_read_is_told(files: Callable[..., UserFiles], tmp_path: Path) -> None:
    corpus = loaded(files())
    (tmp_path / "a.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    with pytest.raises(DataError, match=r"a\.jsonl: was changed while it was read; run it again"):
        list(corpus)


def test_a_card_refuses_another_corpus_and_says_how_it_differs(files: Callable[..., UserFiles], tmp_path: Path) -> None:
    config = tmp_path / "mine.yaml"
    reader = files()
    check_user_card(reader, config)  # without a card, anything goes
    user_card_path(config).parent.mkdir()
    user_card_path(config).write_text(user_card_yaml(reader, "mine"))
    check_user_card(reader, config)
    with pytest.raises(DataError, match="as many documents of each class and group, but other content"):
        check_user_card(files({"text": "another"}), config)
    with pytest.raises(DataError) as raised:
        check_user_card(files({}, {"side": "train"}, {"side": "test"}), config)
    assert "x, train: 2 documents on the card, 1 now" in str(raised.value)
    assert "x, test: 0 documents on the card, 1 now" in str(raised.value)
    assert "y, train: 1 documents on the card, 2 now" in str(raised.value)
    assert f"bench data pin {config}" in str(raised.value)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"label": "who"}, "x, train: 2 documents on the card, 0 now"),
        ({"split": None}, "x, c2: 0 documents on the card"),
    ],
)
def test_a_card_is_of_the_columns_too(
    files: Callable[..., UserFiles], tmp_path: Path, how: dict[str, Any], said: str
) -> None:
    """The same files with another column of classes, or of parts, are another corpus."""
    config, changes = tmp_path / "mine.yaml", ({}, {}, {}, {"who": "c1"})
    user_card_path(config).parent.mkdir()
    user_card_path(config).write_text(user_card_yaml(files(*changes), "mine"))
    check_user_card(files(*changes), config)
    with pytest.raises(DataError, match=rf"a\.jsonl differs from its card {user_card_path(config)}:") as raised:
        check_user_card(files(*changes, **how), config)
    assert said in str(raised.value)


def test_a_card_lists_the_classes_and_groups_of_then_and_of_now(
    files: Callable[..., UserFiles], tmp_path: Path
) -> None:
    config = tmp_path / "mine.yaml"
    user_card_path(config).parent.mkdir()
    user_card_path(config).write_text(user_card_yaml(files(), "mine"))
    other = {"side": "dev", "label": "z"}
    gone = files({"side": "dev"}, other, {"side": "dev"}, other)
    with pytest.raises(DataError) as raised:
        check_user_card(gone, config)
    assert str(raised.value).splitlines()[1:-1] == [
        "  x, train: 2 documents on the card, 0 now",
        "  x, dev: 0 documents on the card, 2 now",
        "  y, test: 1 documents on the card, 0 now",
        "  y, train: 1 documents on the card, 0 now",
        "  z, dev: 0 documents on the card, 2 now",
    ]


def test_a_card_has_names_that_no_yaml_file_can_have(files: Callable[..., UserFiles], tmp_path: Path) -> None:
    odd = {"label": "x\x1b[31m", "side": "tr\x07ain"}
    reader, config = files(odd, {}, odd), tmp_path / os.fsdecode(b"mine\xff.yaml")
    user_card_path(config).parent.mkdir()
    user_card_path(config).write_text(user_card_yaml(reader, config.stem))
    check_user_card(reader, config)


#: Another value of each parameter but the path.
OTHERWISE: dict[str, Any] = {
    "text": ["text", "label"],
    "label": "who",
    "labels": "tags",
    "rename": {"x": "z"},
    "separator": ";",
    "id": None,
    "split": None,
    "group": None,
    "date": None,
    "date_format": "%d/%m/%Y",
    "folders": ("split", "label"),
    "encoding": "latin-1",
    "delimiter": ";",
    "header": False,
    "quoting": "none",
    "escape": "\\",
    "drop": ("empty",),
    "format": "mail",
}


def test_every_parameter_but_the_path_decides_the_counts(files: Callable[..., UserFiles]) -> None:
    one = files()
    assert {each.name for each in fields(UserFiles)} == {*OTHERWISE, "path", "base"}
    contents = [one.content(CorpusSource(None))]
    contents += [replace(one, **{name: value}).content(CorpusSource(None)) for name, value in OTHERWISE.items()]
    assert len({json.dumps(each, sort_keys=True) for each in contents}) == 1 + len(OTHERWISE)
    (one.base / "b.jsonl").write_bytes((one.base / "a.jsonl").read_bytes())
    assert replace(one, path="b.jsonl").content(CorpusSource(None)) == contents[0]


def documents_of(tmp_path: Path, rows: list[dict[str, Any]], **how: Any) -> Any:
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return UserFiles("own.jsonl", base=tmp_path, **how).scanned()


@pytest.mark.parametrize(
    ("given", "separator", "expected"),
    [
        (None, None, set()),
        ([], None, set()),
        (" ", None, set()),
        ("", ";", set()),
        ("p; q;;p; ", ";", {"p", "q"}),
        ("p;q", ",", {"p;q"}),
        (["p", " q ", "", None, "p"], None, {"p", "q"}),
        (["p;q"], ";", {"p;q"}),
        (3, None, {"3"}),
        ([3, True, float("nan")], None, {"3", "True"}),
    ],
)
def test_classes_of_a_document_are_the_names_of_its_list(
    tmp_path: Path, given: Any, separator: str | None, expected: set[str]
) -> None:
    rows = [{"text": "a", "all": given}, {"text": "b", "all": ["p"]}, {"text": "c", "all": ["q"]}]
    documents = documents_of(tmp_path, rows, labels="all", separator=separator).documents
    assert {documents.classes[n] for n in np.flatnonzero(documents.topics[0])} == expected
    assert (documents.labels == -1).all()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (" x ", "x"),
        (7, "7"),
        (1.5, "1.5"),
        (True, "True"),
        ("a\0b", "ab"),
        ("l" * 1001, "l" * 1000),
        ("l" * 1000, "l" * 1000),
    ],
)
def test_a_class_is_its_text(tmp_path: Path, given: Any, name: str) -> None:
    rows = [{"text": f"word {n}", "label": label} for n, label in enumerate([given, given, "other", "other"])]
    assert set(documents_of(tmp_path, rows).documents.classes) == {name, "other"}


@pytest.mark.parametrize("given", [None, "", " ", float("nan"), "\0"])
def test_what_is_no_name_is_no_class_no_id_and_no_group(tmp_path: Path, given: Any) -> None:
    names = ("label", "id", "group", "split")
    rows = [{"text": f"word {n}", **{key: f"{key}{n % 2 if key != 'id' else n}" for key in names}} for n in range(4)]
    problems = {
        "label": "without a class",
        "id": "without an id",
        "group": "without a group",
        "split": "without a part",
    }
    for key, said in problems.items():
        if key == "id" and given is None:  # a record without an id is called by its number
            continue
        wrong = [rows[0], rows[1] | {key: given}, *rows[2:]]
        with pytest.raises(DataError, match=rf"own\.jsonl: 1 document {said}.* \(the first: .*own\.jsonl:2\)$"):
            documents_of(
                tmp_path, wrong, **{each: each for each in names if each != "label"}, drop=["empty", "repeated"]
            )


def test_all_that_can_be_left_out_is_left_out_in_one_pass(tmp_path: Path) -> None:
    """In this order, so that each record is counted once; a class whose others are left out is rare."""
    given = [
        ("a", "one", "x"),
        ("a", "", ""),
        ("a", "two", ""),
        ("a", "again", "x"),
        ("b", "three", "x"),
        ("c", " ", "z"),
        ("d", "four", "z"),
        ("e", "five", "y"),
        ("f", "six", "y"),
    ]
    rows = [dict(zip(("id", "text", "label"), row, strict=True)) for row in given]
    found = documents_of(tmp_path, rows, id="id", drop=["empty", "unlabelled", "repeated", "rare"])
    assert found.dropped == {"empty": 2, "unlabelled": 1, "repeated": 1, "rare": 1}
    assert found.documents.ids == ("a", "b", "e", "f")
    assert found.rows.tolist() == [0, 4, 7, 8]
    with pytest.raises(DataError, match=r"own\.jsonl: no document is left; classification needs at least two"):
        documents_of(tmp_path, rows[1:3], id="id", drop=["empty", "unlabelled"])
    (tmp_path / "own.jsonl").write_text("\n")
    with pytest.raises(DataError, match=r"^own\.jsonl: holds no document$"):
        UserFiles("own.jsonl", base=tmp_path).outline()


@pytest.mark.parametrize(
    ("given", "separator", "names"),
    [
        ("p;q;r", ";", ["p", "q", "r"]),
        (" p ; q;p;", ";", ["p", "q"]),
        ("p, q", ", ", ["p", "q"]),
        ("p;q", "|", ["p;q"]),
        ("", ";", []),
        (" ", None, []),
        (["p;q", "r"], ";", ["p;q", "r"]),
        (7, ";", ["7"]),
    ],
)
def test_a_separator_divides_a_text_into_all_of_its_classes(
    tmp_path: Path, given: Any, separator: str | None, names: list[str]
) -> None:
    rows = [{"text": "a", "all": given}, {"text": "b", "all": ["y"]}, {"text": "c", "all": ["x"]}]
    documents = documents_of(tmp_path, rows, labels="all", separator=separator).documents
    assert [documents.classes[c] for c in np.flatnonzero(documents.topics[0])] == sorted(names)
    with pytest.raises(DataError, match=r"own\.jsonl:1: the classes are text, 'p;q'; name their separator, such as"):
        documents_of(tmp_path, [{"text": "a", "all": "p;q"}, *rows[1:]], labels="all")


def test_where_paths_begin_is_stated_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for folder in (tmp_path, tmp_path / "sub"):
        (folder / "own.csv").write_text("text,label\na,x\nb,y\nc,x\nd,y\n")
    for base in (Path(), Path("sub/.."), tmp_path / "sub" / ".."):
        assert UserFiles("own.csv", base=base).facts() == {"base": str(tmp_path)}
    assert UserFiles("own.csv", base=Path("sub")).facts() == {"base": str(tmp_path / "sub")}


def test_a_card_names_its_files_as_the_configuration_does(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for name in ("a", "b"):
        (tmp_path / "data" / f"{name}.csv").write_text("text,label\na,x\nb,y\nc,x\nd,y\n")
    for path, tops, title in (
        ("data/a.csv", ["data/a.csv"], "a.csv"),
        ({"train": "data/a.csv", "test": "data/b.csv"}, ["data/a.csv", "data/b.csv"], "a.csv, b.csv"),
    ):
        reader = UserFiles(path, base=tmp_path)
        card = yaml.safe_load(user_card_yaml(reader, "own"))
        assert (card["name"], card["tops"], card["title"], card["digest"]) == ("own", tops, title, reader.digest())
        assert (card["licence"], card["citation"], card["tops_are"]) == ("unknown", "unknown", "files")
        parts = {"all": 2} if isinstance(path, str) else {"test": 2, "train": 2}
        assert card["counts"] == {"x": parts, "y": parts}


def test_one_document_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 document whose class has no other document"):
        documents_of(tmp_path, [{"text": "a", "label": "x"}])
    with pytest.raises(DataError, match=r"all documents have the class 'x'; classification needs at least two classes"):
        documents_of(tmp_path, [{"text": "a", "all": ["x"]}], labels="all")


def test_a_class_of_several_may_have_one_document(tmp_path: Path) -> None:
    rows = [{"text": "a", "all": ["p"]}, {"text": "b", "all": ["q", "r"]}]
    assert documents_of(tmp_path, rows, labels="all").documents.classes == ("p", "q", "r")


def test_what_is_wrong_is_said_before_rare_classes_are(tmp_path: Path) -> None:
    """Without the document that has no text, the class x would have one."""
    rows = [{"text": text, "label": label} for text, label in (("", "x"), ("b", "x"), ("c", "y"), ("d", "y"))]
    with pytest.raises(DataError) as raised:
        documents_of(tmp_path, rows)
    assert str(raised.value).count("\n") == 0
    assert "1 document without text" in str(raised.value)


def test_groups_and_parts_are_those_of_columns_in_files_and_of_folders_in_folders(tmp_path: Path) -> None:
    (tmp_path / "docs" / "g" / "x").mkdir(parents=True)
    (tmp_path / "docs" / "g" / "x" / "1").write_text("a")
    (tmp_path / "own.csv").write_text("text,label,who,side\na,x,g,train\n")
    cases: list[tuple[str, dict[str, Any], tuple[bool, bool]]] = [
        ("own.csv", {}, (False, False)),
        ("own.csv", {"group": "who"}, (False, True)),
        ("own.csv", {"split": "side"}, (True, False)),
        ("own.csv", {"folders": ["split", "group", "label"]}, (False, False)),
        ("docs", {"group": "who", "split": "side"}, (False, False)),
        ("docs", {"folders": ["group", "label"]}, (False, True)),
        ("docs", {"folders": ["split", "label"]}, (True, False)),
    ]
    for path, how, expected in cases:
        reader = UserFiles(path, base=tmp_path, **how)
        assert (reader.has("split"), reader.has("group")) == expected, (path, how)
    both = UserFiles({"train": "docs", "test": "own.csv"}, base=tmp_path, group="who")
    assert (both.has("split"), both.has("group")) == (True, True)
    assert both.where == "docs, own.csv"


def test_a_tilde_is_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "own.csv").write_text("text,label\na,x\nb,y\nc,x\nd,y\n")
    for path in ("~/own.csv", str(tmp_path / "home" / "own.csv"), "../home/own.csv"):
        reader = UserFiles(path, base=tmp_path / "elsewhere")
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        assert reader.outline().classes == ("x", "y")
        assert reader.where == path
    parts = UserFiles({"train": "~/own.csv", "test": "own.csv"}, base=tmp_path / "home")
    assert parts.outline().part_names == ("test", "train")
    with pytest.raises(DataError, match=rf"^{tmp_path}/home/none\.csv: no such file or folder"):
        UserFiles({"train": "~/own.csv", "test": "~/none.csv"}).outline()


def test_a_path_that_there_is_none_of_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.csv: no such file or folder; path is relative to the configuration"):
        UserFiles("nowhere.csv", base=tmp_path).outline()


@pytest.mark.parametrize(("n", "names"), [(50, {f"g{i:02}" for i in range(50)}), (51, {"all"})])
def test_a_card_counts_up_to_fifty_groups_each(tmp_path: Path, n: int, names: set[str]) -> None:
    rows = [{"text": "a", "who": f"g{i % n:02}", "all": ["p", "q"][: 1 + i % 2]} for i in range(2 * n)]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    reader = UserFiles("own.jsonl", labels="all", group="who", base=tmp_path)
    card = yaml.safe_load(user_card_yaml(reader, "own"))
    assert card["documents"].keys() == card["counts"]["p"].keys() == names
    assert sum(card["documents"].values()) == 2 * n
    assert (sum(card["counts"]["p"].values()), sum(card["counts"]["q"].values())) == (2 * n, n)
    assert (card["tops"], card["tops_are"], card["title"]) == (["own.jsonl"], "files", "own.jsonl")
    plain = UserFiles("own.jsonl", label="who", base=tmp_path)
    assert "documents" not in yaml.safe_load(user_card_yaml(plain, "own"))


def test_a_card_lists_twenty_differences_and_counts_the_others(tmp_path: Path) -> None:
    config, rows = tmp_path / "own.yaml", [{"text": "a", "label": f"c{i // 2:02}"} for i in range(50)]
    reader = UserFiles("own.jsonl", base=tmp_path)
    user_card_path(config).parent.mkdir()
    for n, more in ((25, 5), (20, 0)):
        (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        user_card_path(config).write_text(user_card_yaml(replace(reader), "own"))
        added = [{"text": "b", "label": f"c{i:02}"} for i in range(n)]
        (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows + added))
        with pytest.raises(DataError) as raised:
            check_user_card(replace(reader), config)
        lines = str(raised.value).splitlines()
        assert lines[1] == "  c00, all: 2 documents on the card, 3 now"
        assert sum("on the card, 3 now" in line for line in lines) == 20
        assert (f"  … and {more} more" in lines) == (more > 0)


def test_columns_of_the_text_are_fields_that_may_be_empty_or_numbers(tmp_path: Path) -> None:
    rows = [
        {"title": "one", "body": "two", "label": "x"},
        {"title": None, "body": 3, "label": "y"},
        {"body": "", "label": "x"},
        {"title": "\ud800", "body": "four", "label": "x"},
        {"title": "five", "label": "y"},
    ]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    reader = UserFiles("own.jsonl", text=["title", "body"], drop=["empty"], base=tmp_path)
    texts = list(loaded(reader))
    assert [bytes(text) for text in texts] == [b"one\ntwo", b"3", b"?\nfour", b"five"]
    assert [dict(text.fields) for text in texts] == [  # type: ignore[attr-defined]
        {"title": b"one", "body": b"two"},
        {"title": b"", "body": b"3"},
        {"title": b"?", "body": b"four"},
        {"title": b"five", "body": b""},
    ]
    assert reader.scanned().dropped == {"empty": 1}


def test_what_is_left_out_takes_its_group_its_part_and_its_date_along(tmp_path: Path) -> None:
    rows = [
        {"text": "a", "label": label, "who": f"w{n}", "side": f"s{n}", "day": f"2024-01-0{n + 1}", "id": f"d{n}"}
        for n, label in enumerate(["x", "lone", "y", "", "x", "y"])
    ]
    how = {"id": "id", "group": "who", "date": "day", "drop": ["rare", "unlabelled"]}
    kept = [0, 2, 4, 5]
    for split, parts in ((None, "w"), ("side", "s")):
        documents = documents_of(tmp_path, rows, split=split, **how).documents
        assert documents.ids == tuple(f"d{n}" for n in kept)
        assert [documents.part_names[part] for part in documents.parts] == [f"{parts}{n}" for n in kept]
        assert documents.groups.tolist() == [0, 1, 2, 3]
        assert [str(date)[:10] for date in documents.dates] == [f"2024-01-0{n + 1}" for n in kept]
