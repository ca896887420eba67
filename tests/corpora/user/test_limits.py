"""Limits on a user's files: exact, named with their numbers, and settable; what never ends isn't opened."""

from __future__ import annotations

import gzip
import json
import lzma
import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
import zstandard
from pyarrow import parquet

from benchmark.corpora.user import limits, records
from benchmark.corpora.user.limits import FILE_LIMITS
from benchmark.corpora.user.records import iter_records
from benchmark.corpora.user.user_files import UserFiles
from benchmark.system.errors import BenchError, DataError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [{"text": f"alpha {'xy'[i % 2]}", "label": f"c{i % 4}"} for i in range(12)]


def write(folder: Path, name: str) -> None:
    """Write twelve documents of four classes."""
    lines = [json.dumps(row) for row in ROWS]
    content = {
        "csv": "text,label\n" + "".join(f"{row['text']},{row['label']}\n" for row in ROWS),
        "jsonl": "".join(f"{line}\n" for line in lines),
        "json": f"[{', '.join(lines)}]",
    }
    kind, _, packing = name.partition(".")[2].partition(".")
    if kind == "parquet":
        parquet.write_table(pa.Table.from_pylist(ROWS), folder / name)
        return
    pack = {"": bytes, "gz": gzip.compress, "xz": lzma.compress, "zst": zstandard.compress}[packing]
    (folder / name).write_bytes(pack(content[kind].encode()))


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json", "t.parquet", "t.csv.gz", "t.jsonl.xz", "t.csv.zst"])
def test_as_many_records_as_the_limit_are_read_and_no_more(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, name)
    monkeypatch.setenv("BENCH_MAX_RECORDS", "13" if "csv" in name else "12")  # the header is a row
    assert len(UserFiles(name, base=tmp_path).outline()) == 12
    monkeypatch.setenv("BENCH_MAX_RECORDS", "11")
    write(tmp_path, f"other{name[1:]}")
    with pytest.raises(DataError, match=r"11.*BENCH_MAX_RECORDS in the environment sets another limit"):
        UserFiles(f"other{name[1:]}", base=tmp_path).outline()


@pytest.mark.parametrize("packing", [".gz", ".xz", ".zst", ".GZ"])
def test_a_packed_file_of_fewer_bytes_than_records_is_counted_too(
    packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"text,label\n" + b"a,x\na,y\n" * 1000
    pack = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}[packing.lower()]
    path = tmp_path / f"t.csv{packing}"
    path.write_bytes(pack(content))
    assert path.stat().st_size < 2000
    monkeypatch.setenv("BENCH_MAX_RECORDS", "2001")
    records.check_size(path)
    monkeypatch.setenv("BENCH_MAX_RECORDS", "2000")
    with pytest.raises(DataError, match="has more than 2,000 records"):
        records.check_size(path)


def test_a_text_of_many_lines_is_one_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_MAX_RECORDS", "5")
    (tmp_path / "t.json").write_text(json.dumps(ROWS[:2] * 2, indent=1))
    assert len(UserFiles("t.json", drop=["rare"], label="text", base=tmp_path).outline()) == 4
    (tmp_path / "t.csv").write_text("text,label\n" + "".join(f'"a\n\n\nb{i}",{"xy"[i % 2]}\n' for i in range(4)))
    assert len(UserFiles("t.csv", base=tmp_path).outline()) == 4


def test_as_many_classes_as_the_limit_are_read_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "t.csv")
    write(tmp_path, "other.csv")
    monkeypatch.setenv("BENCH_MAX_CLASSES", "4")
    assert len(UserFiles("t.csv", base=tmp_path).outline().classes) == 4
    monkeypatch.setenv("BENCH_MAX_CLASSES", "3")
    with pytest.raises(
        DataError, match=r"other\.csv: has 4 classes; at most 3 .*BENCH_MAX_CLASSES.* of at most 32,767"
    ):
        UserFiles("other.csv", base=tmp_path).outline()


def test_classes_are_counted_one_by_one_where_documents_have_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three classes make up to eight sets of them."""
    for name, more in (("t.jsonl", []), ("other.jsonl", ["d"])):
        rows = [{"text": "a", "all": [c for c in "abc" if ord(c) & n or n == 7]} for n in range(8)] + [
            {"text": "a", "all": more}
        ]
        (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    monkeypatch.setenv("BENCH_MAX_CLASSES", "3")
    assert UserFiles("t.jsonl", labels="all", base=tmp_path).outline().classes == ("a", "b", "c")
    with pytest.raises(DataError, match=r"^other\.jsonl: has 4 classes; at most 3 are read; BENCH_MAX_CLASSES in"):
        UserFiles("other.jsonl", labels="all", base=tmp_path).outline()


@pytest.mark.parametrize("limit", FILE_LIMITS, ids=lambda limit: limit.variable)
def test_a_limit_is_checked_against_the_number_that_is_set(
    limit: limits.FileLimit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(limit.variable, "12")
    most = int(12 * limit.unit)
    assert limit.most == most
    limit.check(most, "t.csv")
    more = "; " + limit.variable + " in the environment sets another limit"
    more += ", of at most 32,767" if limit is limits.CLASSES else ""
    with pytest.raises(DataError) as raised:
        limit.check(most + 1, "t.csv")
    assert str(raised.value) == f"t.csv: has {most + 1:,} {limit.what}; at most {most:,} are read{more}"
    assert str(limit.too_many("t.csv")) == f"t.csv: has more than {most:,} {limit.what}, the most that are read{more}"


@pytest.mark.parametrize("packing", [".gz", ".xz", ".zst"])
def test_a_short_file_may_be_as_much_alike_as_it_likes(packing: str, tmp_path: Path) -> None:
    content = b"text,label\n" + b"".join(b"a" * 200_000 + b",%c\n" % label for label in b"xyxy")
    pack = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}[packing]
    packed = pack(content)
    assert len(content) > limits.UNPACKED_RATIO.most * len(packed)
    (tmp_path / f"t.csv{packing}").write_bytes(packed)
    assert len(UserFiles(f"t.csv{packing}", base=tmp_path).outline()) == 4


@pytest.mark.parametrize("variable", ["BENCH_MAX_UNPACKED_GB", "BENCH_MAX_UNPACKED_RATIO"])
@pytest.mark.parametrize("packing", [".gz", ".xz", ".zst"])
def test_what_is_decompressed_has_a_limit(
    packing: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MIN_UNPACKED_BYTES", 100)
    path = tmp_path / f"t.csv{packing}"
    write(tmp_path, path.name)
    size = sum(len(f"{row['text']},{row['label']}\n") for row in ROWS) + len("text,label\n")
    packed = path.stat().st_size
    most = {"BENCH_MAX_UNPACKED_GB": size / 1e9, "BENCH_MAX_UNPACKED_RATIO": -(-size // packed)}[variable]
    monkeypatch.setenv(variable, repr(most))
    assert len(list(iter_records(path, ["text"]))) == 12
    monkeypatch.setenv(variable, repr({size / 1e9: (size - 1) / 1e9}.get(most, most - 1)))
    if variable.endswith("RATIO") and (most - 1) * packed >= size:
        pytest.skip("the packed file is larger")
    most_said = f"times its {packed:,} bytes" if variable.endswith("RATIO") else "more than .* GB"
    with pytest.raises(DataError, match=rf"is decompressed to .*{most_said}; {variable} in the environment"):
        list(iter_records(path, ["text"]))


def test_limits_are_those_that_the_documentation_states(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for limit in FILE_LIMITS:
        monkeypatch.delenv(limit.variable, raising=False)
    assert [limit.most for limit in FILE_LIMITS] == [20_000, 10_000_000, 4 * 10**9, 200]
    sizes = {1: 2**24, 2**24 // 200: 2**24, 10**6: 2 * 10**8, 2 * 10**7: 4 * 10**9, 10**10: 4 * 10**9}
    assert {packed: limits.unpacked_limit(packed) for packed in sizes} == sizes
    said = str(limits.unpacked_error(tmp_path / "t.gz", 10**9))
    assert said.startswith(f"{tmp_path}/t.gz: is decompressed to more than 4 GB; BENCH_MAX_UNPACKED_GB in the environ")
    said = str(limits.unpacked_error(tmp_path / "t.gz", 10**6))
    assert "t.gz: is decompressed to more than 200,000,000 bytes, 200 times its 1,000,000 bytes; BENCH" in said
    assert "BENCH_MAX_UNPACKED_RATIO" in said


@pytest.mark.parametrize("limit", FILE_LIMITS, ids=lambda limit: limit.variable)
@pytest.mark.parametrize("value", ["", "x", "-1", "nan", "inf", "1e400"])
def test_a_limit_that_is_no_number_is_refused(
    limit: limits.FileLimit, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(limit.variable, value)
    with pytest.raises(BenchError, match=rf"{limit.variable} is '.*'; it must be a number of {limit.what}"):
        _ = limit.most


def test_more_classes_than_a_prediction_can_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_MAX_CLASSES", "32768")
    with pytest.raises(BenchError, match="at most 32,767"):
        _ = limits.CLASSES.most


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


def test_a_limit_below_what_any_file_may_have_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BENCH_MAX_UNPACKED_GB", "0.001")
    assert {limits.unpacked_limit(packed) for packed in (1, 10**4, 10**9)} == {10**6}
    said = str(limits.unpacked_error(tmp_path / "t.gz", 10))
    assert said.startswith(f"{tmp_path}/t.gz: is decompressed to more than 0.001 GB; BENCH_MAX_UNPACKED_GB in the")
    monkeypatch.setenv("BENCH_MAX_UNPACKED_RATIO", "1")
    monkeypatch.setenv("BENCH_MAX_UNPACKED_GB", "1")
    assert [limits.unpacked_limit(packed) for packed in (1, 2**24, 2**24 + 1)] == [2**24, 2**24, 2**24 + 1]
