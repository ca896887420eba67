"""Odd files of users: a pipe, names that aren't UTF-8, dates out of range."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from benchmark.corpora.user.user_files import UserFiles
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [{"text": f"alpha {'xy'[i % 2]}", "label": f"c{i % 4}"} for i in range(12)]


@pytest.mark.parametrize("name", ["t.csv", "docs/a/odd.txt"])
def test_a_pipe_is_refused_unopened(name: str, tmp_path: Path) -> None:
    for each in ("a/1", "a/2", "b/1", "b/2"):
        (tmp_path / "docs" / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / each).write_text("alpha")
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match=f"{name}: is a pipe or device"):
        UserFiles(name.partition("/")[0], base=tmp_path).outline()


@pytest.mark.parametrize("role", ["id", "label", "group", "split"])
def test_lone_surrogates_are_escaped(role: str, tmp_path: Path) -> None:
    rows = [{**row, "id": f"d{i}", "group": f"g{i % 2}", "split": f"s{i % 2}"} for i, row in enumerate(ROWS)]
    for i in (3, 11):
        rows[i][role] = f"x\ud800{i if role == 'id' else ''}"
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    documents = UserFiles("t.jsonl", **{role: role}, drop=["rare"], base=tmp_path).outline()
    names = [*documents.ids, *documents.classes, *documents.part_names]
    assert any(r"x\ud800" in name for name in names)
    "".join(names).encode()


def test_names_that_are_not_utf_8_are_escaped(tmp_path: Path) -> None:
    for name in (b"a/1", b"a/\xff", b"b\xff/1", b"b\xff/2"):
        path = os.path.join(os.fsencode(tmp_path), b"docs", name)  # noqa: PTH118
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(b"alpha")
    documents = UserFiles("docs", base=tmp_path).outline()
    assert documents.classes == ("a", r"b\udcff")
    assert r"a/\udcff" in documents.ids


@pytest.mark.parametrize("value", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"])
def test_a_date_that_its_zone_puts_out_of_range_is_refused(value: str, tmp_path: Path) -> None:
    lines = [f"alpha,{'xy'[i % 2]},2024-01-0{1 + i}" for i in range(6)]
    (tmp_path / "t.csv").write_text("\n".join(["text,label,date", *lines, f"alpha,x,{value}", ""]))
    with pytest.raises(DataError, match=r"t\.csv:8: date is .*must be a date of the years 1 to 9999 in UTC"):
        UserFiles("t.csv", date="date", base=tmp_path).outline()
