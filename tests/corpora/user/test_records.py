"""Files of records: the same records from every format, and file, line and reason for what can't be read."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import lzma
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.corpora.file_digest import file_digest
from benchmark.corpora.user import records
from benchmark.corpora.user.records import file_extension, iter_records, read_columns
from benchmark.corpora.user.text_lines import READ_BYTES
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    {"id": "a", "text": "two\nlines, and a comma", "label": "x"},
    {"id": "b", "text": 'a "quoted" word', "label": "y"},
    {"id": "c", "text": "Gebühr, проблема", "label": "x"},
]
COLUMNS = ("text", "label")
EXPECTED = [[row[name] for name in COLUMNS] for row in ROWS]


def table(rows: list[dict[str, str]], delimiter: str = ",") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def parquet(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


FORMATS = {
    "a.csv": table(ROWS),
    "a.tsv": table(ROWS, "\t"),
    "a.jsonl": b"".join(json.dumps(row).encode() + b"\n" for row in ROWS),
    "a.ndjson": b"\n\n".join(json.dumps(row, ensure_ascii=False).encode() for row in ROWS),
    "a.json": json.dumps(ROWS, indent=1).encode(),
    "a.parquet": parquet(ROWS),
    "a.pq": parquet(ROWS),
}
PACKED = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}
CASES = [(name, end) for name in FORMATS for end in PACKED if not (end and name in ("a.parquet", "a.pq"))]


def read(path: Path, content: bytes, columns: tuple[str, ...] = COLUMNS, **how: Any) -> list[Any]:
    path.write_bytes(content)
    return list(iter_records(path, columns, **how))


@pytest.mark.parametrize(("name", "end"), CASES)
def test_every_format_gives_the_same_records(name: str, end: str, tmp_path: Path) -> None:
    found = read(tmp_path / f"{name}{end}", PACKED[end](FORMATS[name]))
    assert [values for _, values in found] == EXPECTED


def test_frames_follow_each_other_in_a_file(tmp_path: Path) -> None:
    content, half = FORMATS["a.csv"], 30
    packed = zstandard.compress(content[:half]) + zstandard.compress(content[half:])
    assert [values for _, values in read(tmp_path / "a.csv.zst", packed)] == EXPECTED


@pytest.mark.parametrize("end", [".gz", ".xz", ".zst"])
def test_a_long_file_is_decompressed_to_its_end_in_one_stream_or_several(end: str, tmp_path: Path) -> None:
    """Longer than what is read at once, packed and plain; the second stream begins within a piece."""
    rows = [base64.b64encode(np.random.default_rng(n).bytes(6000)).decode() for n in range(40)]
    content = "".join(f"{row}\n" for row in ["text", *rows]).encode()
    pack = (lambda piece: lzma.compress(piece, preset=0)) if end == ".xz" else PACKED[end]
    for cuts in ([], [7, 200_001]):
        packed = b"".join(pack(content[start:stop]) for start, stop in pairwise([0, *cuts, len(content)]))
        assert len(packed) > 1.5 * READ_BYTES
        assert [text for _, (text,) in read(tmp_path / f"a.csv{end}", packed, ("text",))] == rows
    with pytest.raises(DataError, match=r"a\.csv.* is truncated: its compressed stream ends too early$"):
        read(tmp_path / f"a.csv{end}", packed[:-30], ("text",))


def test_what_reads_zst_is_named_where_it_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(DataError, match=r"a\.csv\.zst: reading \.zst needs the package zstandard"):
        read(tmp_path / "a.csv.zst", zstandard.compress(FORMATS["a.csv"]))


def test_a_record_knows_the_line_that_it_begins_on(tmp_path: Path) -> None:
    assert [line for line, _ in read(tmp_path / "a.csv", FORMATS["a.csv"])] == [2, 4, 5]
    assert [line for line, _ in read(tmp_path / "a.ndjson", FORMATS["a.ndjson"])] == [1, 3, 5]


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b""])
def test_a_byte_order_mark_is_no_part_of_the_first_column(mark: bytes, tmp_path: Path) -> None:
    assert read(tmp_path / "a.csv", mark + b"text,label\r\na,b\r\n") == [(2, ["a", "b"])]


def test_other_delimiters_and_encodings(tmp_path: Path) -> None:
    content = "text;label\nGebühr;a,b\n".encode("cp1252")
    assert read(tmp_path / "a.csv", content, encoding="cp1252", delimiter=";") == [(2, ["Gebühr", "a,b"])]


@given(st.integers(0, 30), st.integers(0, 40))
@settings(max_examples=30)
def test_the_first_byte_that_is_not_of_the_encoding_is_named(tmp_path_factory: Any, line: int, column: int) -> None:
    lines = [b"text,label"] + [b"x" * 40 + b",y"] * 31
    lines[line + 1] = lines[line + 1][:column] + b"\xe9" + lines[line + 1][column:]
    content = b"\n".join(lines)
    path = tmp_path_factory.mktemp("bytes") / "a.csv"
    with pytest.raises(DataError) as raised:
        read(path, content)
    place = f"{path}:{line + 2}: the byte 0xe9 at offset {content.index(0xE9):,}"
    assert str(raised.value).startswith(f"{place} is not utf-8")


LONG = "and the header has 2; quote the text if it holds"
RAGGED = [
    ("a.csv", b"text,label\nx,a\ny, z,b\n", f":3: has 3 columns, {LONG} commas"),
    ("a.csv", b"text,label\nx,a\ny,b,\n", f":3: has 3 columns, {LONG} commas"),
    ("a.tsv", b"text\tlabel\nx\ty\tb\n", f":2: has 3 columns, {LONG} tabs"),
    (
        "a.csv",
        b'\xef\xbb\xbftext,label\r\n"x\n\ny",a\r\n\r\n"p\nq", r,b\r\ns,a\r\n',
        f":6: has 3 columns, {LONG} commas",
    ),
    ("a.csv", b'label,text,note\n"a\nb",x,n\na,"x\ny"\n', ":4: has 2 columns, and the header has 3"),
    ("a.csv", b"text,label,note\nx,a\n", ":2: has 2 columns, and the header has 3"),
    ("a.csv", b"alpha beta,a\ngamma,b\n", "if its first row is not a header, add one, or set header: false"),
]


@pytest.mark.parametrize(("name", "content", "said"), RAGGED)
def test_a_row_of_another_length_is_refused_with_the_line_that_it_begins_on(
    name: str, content: bytes, said: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as raised:
        read(tmp_path / name, content)
    assert said in str(raised.value)
    with pytest.raises(DataError):
        read(tmp_path / f"{name}.gz", gzip.compress(content))


def test_rows_as_long_as_the_header_may_have_empty_lines_and_a_trailing_delimiter(tmp_path: Path) -> None:
    content = b'text,label,\n\nx,a,\n"y,\n z",b,\n\n\n,,\n'
    skipped = list[int]()
    assert read(tmp_path / "a.csv", content, skipped=skipped) == [(3, ["x", "a"]), (4, ["y,\n z", "b"])]
    assert skipped == [8], "a row of delimiters alone is no record"


def test_columns_without_a_header_are_called_by_their_numbers(tmp_path: Path) -> None:
    content, how = b'"alpha;\n beta";a\n\ngamma;b\n', {"header": False, "delimiter": ";"}
    assert read(tmp_path / "a.csv", content, ("2", "1"), **how) == [(1, ["a", "alpha;\n beta"]), (4, ["b", "gamma"])]
    assert read_columns(tmp_path / "a.csv", **how) == ["1", "2"]
    with pytest.raises(DataError, match=r"a\.csv:5: has 3 columns, and the first row has 2; quote .* semicolons"):
        read(tmp_path / "a.csv", content + b"x;y;z\n", ("1",), **how)


SHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
REFUSED = [
    ("a.csv", b"text,lable\n", "has no column 'label'; did you mean 'lable'?"),
    ("a.csv", b"text,label,text\n", "two columns are named 'text'"),
    ("a.csv", b"label,text\nx\n", ":2: has 1 column, and the header has 2"),
    ("a.csv", b'text,label\n"x\n', ":2: is not a valid table: unexpected end of data"),
    ("a.csv", b"", "has no column 'text'"),
    ("a.csv", b"a,b,text,d,e,f\n", "has no column 'label' (columns: a, b, text, d, e, f)"),
    ("a.jsonl", b'{"text": 1, "label": 2}\n{"text"\n', ":2: is not valid JSON"),
    ("a.jsonl", b"[1]\n", ":1: is [1], and must be an object"),
    ("a.jsonl", b'{"text": "x"}\n', "has no column 'label'"),
    ("a.csv.gz", gzip.compress(FORMATS["a.csv"])[:-9], "is truncated"),
    ("a.csv.gz", b"text,label\n", "can't be read: Not a gzipped file (b'te')"),
    ("a.csv.gz", gzip.compress(FORMATS["a.csv"])[:-8] + b"\0" * 8, "can't be read: CRC check failed"),
    ("a.csv.gz", gzip.compress(FORMATS["a.csv"])[:12] + b"\xff" * 40, "can't be read: Error -3 while decompressing"),
    ("a.csv.xz", b"text,label\n", "can't be read: Input format not supported by decoder"),
    ("a.csv.zst", b"text,label\n", "can't be read"),
    *(("a.csv.zst", zstandard.compress(FORMATS["a.csv"])[:-n], "is truncated") for n in (1, 4, 9, 30)),
    ("a.csv.xz", lzma.compress(FORMATS["a.csv"])[:-9], "is truncated"),
    ("a.parquet", b"PAR1", "can't be read"),
    ("a.parquet", parquet([{"text": "x"}]), "has no column 'label'"),
    ("a.docx", b"", "unknown kind of file '.docx'"),
    *((f"a{end}", b"PK", "is a spreadsheet: save its table as CSV (UTF-8), or write it as Parquet") for end in SHEETS),
    ("a.csv", b"text,label\nx,a\ny\rz,b\n", ":3: is not a valid table: a carriage return stands alone outside quotes"),
]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
def test_a_file_that_is_gone_was_changed_if_it_was_digested(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with pytest.raises(DataError, match=rf"^{path}: can't be read: .*No such file or directory"):
        list(iter_records(path, COLUMNS))
    path.touch()
    digest = file_digest(path)
    path.unlink()
    with pytest.raises(DataError, match=rf"^{path}: was changed while it was read; run it again$"):
        list(iter_records(path, COLUMNS, digest=digest))


# Named without the content: a gzip header holds the second, and workers must collect the same names.
@pytest.mark.parametrize(("name", "content", "said"), REFUSED, ids=[f"{name}: {said}" for name, _, said in REFUSED])
def test_what_can_not_be_read_is_said_with_its_place(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as raised:
        read(tmp_path / name, content)
    assert str(raised.value).startswith(str(tmp_path / name))
    assert said in str(raised.value)


@given(st.sampled_from(sorted(FORMATS)), st.data())
@settings(max_examples=300)
def test_damaged_files_give_records_or_a_reason(tmp_path_factory: Any, name: str, data: Any) -> None:
    content = bytearray(FORMATS[name])
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=5))
    path = tmp_path_factory.mktemp("damaged") / name
    found, said = [], str(path)
    try:
        found = read(path, bytes(content))
    except DataError as error:
        said = str(error)
    assert said.startswith(str(path))
    assert all(len(values) == len(COLUMNS) for _, values in found)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.CSV", ".csv"),
        ("a.csv.GZ", ".csv"),
        ("a.b.tsv.xz", ".tsv"),
        ("a.gz", ""),
        ("a", ""),
        ("a.csv.zst.gz", ".csv"),
        ("2024.jsonl", ".jsonl"),
    ],
)
def test_a_kind_is_the_last_end_of_a_name_but_that_of_its_compression(name: str, kind: str, tmp_path: Path) -> None:
    assert file_extension(tmp_path / name) == kind


def test_ends_of_names_in_capitals_are_read(tmp_path: Path) -> None:
    for name, content in (("A.CSV.GZ", gzip.compress(FORMATS["a.csv"])), ("B.JSONL", FORMATS["a.jsonl"])):
        assert [values for _, values in read(tmp_path / name, content)] == EXPECTED


@pytest.mark.parametrize("size", [1, 2, 4096])
def test_rows_of_parquet_are_counted_through_all_of_its_batches(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "RECORD_BATCH_ROWS", size)
    rows = [{"a.b": n, "a": {"b": -n, "c": n * n}, "text": f"t{n}", "body": {"a.b": "x"}} for n in range(5)]
    found = read(tmp_path / "a.parquet", parquet(rows), ("text", "a.c", "a.b", "body.a.b", "text"))
    assert found == [(n + 1, [f"t{n}", n * n, n, "x", f"t{n}"]) for n in range(5)]


def test_columns_of_json_are_those_of_its_first_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "RECORD_BATCH_ROWS", 2)
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x"}\n{"label": 1, "text": 2}\n{"more": 1}\n')
    assert read_columns(path) == ["text", "label"]
    assert [values for _, values in iter_records(path, ["more", "text"])] == [[None, "x"], [None, 2], [1, None]]
    with pytest.raises(records.UnknownColumnError, match=r"has no column 'mores' \(columns: text, label\)$") as raised:
        list(iter_records(path, ["text", "mores"]))
    assert raised.value.column == "mores"
    path.write_text("\n")
    assert list(iter_records(path, ["text"])) == []


def test_what_is_no_file_of_records_is_told_with_the_kinds_that_are(tmp_path: Path) -> None:
    kinds = "(allowed: .csv, .tsv, .jsonl, .ndjson, .json, .parquet, .pq)"
    for name, kind in (("a.doc", ".doc"), ("a.doc.gz", ".doc"), ("notes", "notes"), ("a.gz", "a.gz")):
        (tmp_path / name).write_bytes(b"text,label\n")
        for read_it in (lambda path: list(iter_records(path, COLUMNS)), read_columns):
            with pytest.raises(DataError) as raised:
                read_it(tmp_path / name)
            said = str(raised.value)
            assert said.startswith(f"{tmp_path / name}: unknown kind of file '{kind}'")
            assert kinds in said
            assert said.endswith(", or a folder")


def test_columns_of_every_format_are_those_of_the_records(tmp_path: Path) -> None:
    for name, content in FORMATS.items():
        (tmp_path / name).write_bytes(content)
        assert read_columns(tmp_path / name) == ["id", "text", "label"], name
        with pytest.raises(records.UnknownColumnError) as raised:
            list(iter_records(tmp_path / name, ["text", "lable"]))
        said = "has no column 'lable'; did you mean 'label'? (columns: id, text, label)"
        assert str(raised.value) == f"{tmp_path / name}: {said}"
