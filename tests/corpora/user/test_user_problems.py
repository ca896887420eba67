"""All that is wrong with a user's documents, word by word, and files that are read anew when they have changed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import yaml

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.user import validate
from benchmark.corpora.user.records import UnknownColumnError
from benchmark.corpora.user.records_reader import iter_rows
from benchmark.corpora.user.user_card import check_user_card, user_card_path, user_card_yaml
from benchmark.corpora.user.user_files import UserFiles
from benchmark.corpora.user.validate import DocumentsError
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

#: One document a line, of two classes and two parts.
GOOD = [
    {
        "id": f"d{n}",
        "text": f"word {n}",
        "label": "xy"[n % 2],
        "who": f"w{n % 2}",
        "side": ["train", "test"][n // 4],
        "day": f"2024-01-0{n + 1}",
    }
    for n in range(8)
]
COLUMNS: dict[str, Any] = {"id": "id", "group": "who", "split": "side", "date": "day"}


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


#: What is said of documents with a problem, where there are two and where there is one.
SAID = {
    "empty": "without text; add a text, or leave such documents out by drop: [empty]",
    "unlabelled": "without a class; add a class, or leave such documents out by drop: [unlabelled]",
    "repeated": "with the id of an earlier document; use another column as id, or keep only the first by "
    "drop: [repeated]",
    "nameless": "without an id; fill the column, or leave `id` out",
    "split": "without a part of the split; fill the column",
    "group": "without a group; fill the column",
    "date": "without a date; fill the column",
}
WRONG: dict[str, dict[str, Any]] = {
    "empty": {"text": " \n"},
    "unlabelled": {"label": ""},
    "repeated": {"id": "d0"},
    "nameless": {"id": ""},
    "split": {"side": " "},
    "group": {"who": "\0"},
    "date": {"day": " "},
}


def test_all_problems_are_listed_with_their_numbers_and_first_places(tmp_path: Path) -> None:
    """In the order in which they are met: the first of a document, or all that are of its part, group and date."""
    more = [{**GOOD[0], "id": f"e{n}", **change} for n, change in enumerate([*WRONG.values(), *WRONG.values()])]
    path = written(
        tmp_path / "own.jsonl", [*GOOD, *more, {**GOOD[1], "id": "f", "side": None, "who": None, "day": None}]
    )
    with pytest.raises(DocumentsError) as raised:
        UserFiles("own.jsonl", **COLUMNS, base=tmp_path).outline()
    n_of = dict.fromkeys(WRONG, 2) | {"split": 3, "group": 3, "date": 3}
    lines = []
    for number, (why, said) in enumerate(SAID.items()):
        place = f"{path}:{9 + number}" + (" ('d0')" if why == "repeated" else "")
        lines.append(f"own.jsonl: {n_of[why]} documents {said} (the first: {place})")
    assert str(raised.value).splitlines() == lines
    assert raised.value.reasons == n_of


@pytest.mark.parametrize("why", WRONG)
def test_a_problem_of_one_document_is_told_in_the_singular(tmp_path: Path, why: str) -> None:
    path = written(tmp_path / "own.jsonl", [*GOOD, {**GOOD[0], "id": "e", **WRONG[why]}, GOOD[1] | {"id": "f"}])
    reader = UserFiles("own.jsonl", **COLUMNS, base=tmp_path)
    with pytest.raises(DocumentsError) as raised:
        reader.outline()
    place = f"{path}:9" + (" ('d0')" if why == "repeated" else "")
    assert str(raised.value) == f"own.jsonl: 1 document {SAID[why]} (the first: {place})"
    assert raised.value.reasons == {why: 1}
    for drop in ("empty", "unlabelled", "repeated", "rare"):
        left = UserFiles("own.jsonl", **COLUMNS, drop=[drop], base=tmp_path)
        if drop != why:
            with pytest.raises(DocumentsError):
                left.outline()
            continue
        assert left.scanned().dropped == {why: 1}
        assert left.outline().ids == (*(f"d{n}" for n in range(8)), "f")
        assert list(left.load(CorpusSource(None)))[-2:] == [b"word 7", b"word 1"]


def test_rare_classes_are_told_with_the_first_and_left_out_together(tmp_path: Path) -> None:
    rows = [GOOD[0], {**GOOD[0], "label": "p"}, *GOOD[1:], {**GOOD[0], "label": "q"}]
    path = written(tmp_path / "own.jsonl", [{**row, "id": n} for n, row in enumerate(rows)])
    with pytest.raises(DocumentsError) as raised:
        UserFiles("own.jsonl", id="id", base=tmp_path).outline()
    assert str(raised.value) == (
        "own.jsonl: 2 documents whose class has no other document, so that it can't be both trained on and tested; "
        f"change the class, or leave such documents out by drop: [rare] (the first: {path}:2, class 'p')"
    )
    assert raised.value.reasons == {"rare": 2}
    left = UserFiles("own.jsonl", id="id", drop=["rare"], base=tmp_path)
    assert left.scanned().dropped == {"rare": 2}
    assert left.outline().ids == ("0", *(str(n) for n in range(2, 9)))
    assert left.scanned().rows.tolist() == [0, *range(2, 9)]


def test_an_id_may_return_in_no_part_of_a_split(tmp_path: Path) -> None:
    for side in ("train", "test"):
        written(tmp_path / f"{side}.jsonl", GOOD)
    path = {"train": "train.jsonl", "test": "test.jsonl"}
    with pytest.raises(
        DocumentsError, match=r"^train\.jsonl, test\.jsonl: 8 documents with the id of an .*:1 \('d0'\)"
    ):
        UserFiles(path, id="id", base=tmp_path).outline()
    assert UserFiles(path, base=tmp_path).outline().ids == tuple(map(str, range(1, 17)))
    kept = UserFiles(path, id="id", drop=["repeated"], base=tmp_path).outline()
    assert (kept.part_names, len(kept)) == (("train",), 8)


def test_columns_that_one_of_two_files_lacks_are_told_with_that_file(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("text,label\na,x\nb,y\n")
    (tmp_path / "test.csv").write_text("text,lable\na,x\nb,y\n")
    with pytest.raises(UnknownColumnError, match=r"test\.csv: has no column 'label'; did you mean 'lable'\?") as raised:
        UserFiles({"train": "train.csv", "test": "test.csv"}, base=tmp_path).outline()
    assert raised.value.column == "label"


@pytest.mark.parametrize("column", ["text", "label", "id", "who", "side", "day"])
def test_each_column_that_is_missing_is_named(tmp_path: Path, column: str) -> None:
    written(tmp_path / "own.jsonl", [{k: v for k, v in row.items() if k != column} for row in GOOD])
    with pytest.raises(UnknownColumnError, match=rf"own\.jsonl: has no column '{column}'") as raised:
        UserFiles("own.jsonl", **COLUMNS, base=tmp_path).outline()
    assert raised.value.column == column


def test_the_column_that_is_no_text_is_named_first_of_several(tmp_path: Path) -> None:
    written(tmp_path / "own.jsonl", [{"body": 3, "label": "x", "id": "a"}])
    with pytest.raises(DataError, match=r"own\.jsonl:1: body is 3, and must be text$"):
        UserFiles("own.jsonl", text="body", id="id", base=tmp_path).outline()


def test_a_file_with_new_content_is_read_anew_and_one_with_the_old_is_not(tmp_path: Path) -> None:
    """Whatever was read before, from the same path or another."""
    path, found = tmp_path / "own.jsonl", []
    for second, label in enumerate(("x", "u", "x")):
        written(path, [{**row, "label": row["label"].replace("x", label)} for row in GOOD])
        os.utime(path, (second + 1, second + 1))
        reader = UserFiles("own.jsonl", base=tmp_path)
        found.append(reader.scanned())
        assert reader.outline().classes == tuple(sorted((label, "y")))
        assert UserFiles("own.jsonl", base=tmp_path).scanned() is reader.scanned()
        assert UserFiles("own.jsonl", group="who", base=tmp_path).outline().groups is not None
    assert found[0] is found[2]
    path.unlink()
    with pytest.raises(DataError, match=r"own\.jsonl: no such file or folder"):
        UserFiles("own.jsonl", base=tmp_path).outline()


def test_a_document_of_a_folder_is_called_by_its_path_and_has_no_line(tmp_path: Path) -> None:
    for name in ("x/1", "x/2", "y/1", "y/2"):
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text("" if name == "y/1" else name)
    with pytest.raises(DocumentsError, match=rf"^docs: 1 document without text; .*the first: {tmp_path}/docs/y/1\)$"):
        UserFiles("docs", base=tmp_path).outline()
    (tmp_path / "docs" / "y" / "1").write_text("y/1")
    documents = UserFiles("docs", id="id", group="who", date=None, base=tmp_path).outline()
    assert (documents.ids, documents.groups, documents.dates) == (("x/1", "x/2", "y/1", "y/2"), None, None)


def test_a_card_refuses_another_number_of_documents_of_several_classes(tmp_path: Path) -> None:
    config = tmp_path / "mine.yaml"
    written(tmp_path / "own.jsonl", [{"text": "a", "all": ["p", "q"][: n % 3]} for n in range(9)])
    reader = UserFiles("own.jsonl", labels="all", base=tmp_path)
    card = user_card_path(config)
    card.parent.mkdir()
    card.write_text(user_card_yaml(reader, "mine"))
    check_user_card(reader, config)
    facts = yaml.safe_load(card.read_text())
    assert facts["documents"] == {"all": 9}
    assert facts["counts"] == {"p": {"all": 6}, "q": {"all": 3}}
    for key, wrong in (("documents", {"all": 8}), ("digest", "0" * 64), ("counts", {"p": {"all": 6}, "q": {"all": 2}})):
        card.write_text(yaml.safe_dump({**facts, key: wrong}, sort_keys=False))
        with pytest.raises(DataError, match=rf"^own\.jsonl differs from its card {card}:\n") as raised:
            check_user_card(reader, config)
        said = "  q, all: 2 documents on the card, 3 now" if key == "counts" else "  as many documents of each class"
        assert str(raised.value).splitlines()[1].startswith(said)


def test_dates_of_dropped_documents_do_not_count(tmp_path: Path) -> None:
    rows = [dict(row) for row in GOOD]
    rows[3] |= {"text": "", "day": "soon"}
    written(tmp_path / "own.jsonl", rows)
    documents = UserFiles("own.jsonl", date="day", drop=["empty"], base=tmp_path).outline()
    assert documents.dates is not None
    assert (np.diff(documents.dates).astype(int) // 86_400).tolist() == [1, 1, 2, 1, 1, 1]
    written(tmp_path / "own.jsonl", [rows[0], rows[1] | {"day": "soon"}, *rows[2:]])
    with pytest.raises(DataError, match=r"own\.jsonl:2: day is 'soon', and must be a date in the form of the first"):
        UserFiles("own.jsonl", date="day", drop=["empty"], base=tmp_path).outline()


@pytest.mark.parametrize("edit", ["another file", "more of a file", "an older file"])
def test_a_folder_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: str
) -> None:
    """Also where what was read of it was as it had been digested."""
    docs = tmp_path / "docs"
    for name in ("x/1", "x/2", "y/1", "y/2"):
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(f"{edit} {name}")

    def rows_then_edit(reader: UserFiles, skipped: list[int]) -> Any:
        yield from iter_rows(reader, skipped)
        if edit == "another file":
            (docs / "y" / "3").write_text("new")
        elif edit == "more of a file":
            (docs / "x" / "1").write_text(f"{edit} x/1 and more")
        else:
            os.utime(docs / "x" / "1", (1, 1))

    monkeypatch.setattr(validate, "iter_rows", rows_then_edit)
    with pytest.raises(DataError, match=rf"^{docs}: was changed while it was read; run it again$"):
        UserFiles("docs", base=tmp_path).outline()
    monkeypatch.setattr(validate, "iter_rows", iter_rows)
    assert len(UserFiles("docs", base=tmp_path).outline()) == 4 + (edit == "another file")
