"""Every kind of file that the guide promises gives the same documents."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import zipfile
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.user.user_files import UserFiles
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    {"id": "a", "text": 'Gebühr "heute", morgen', "label": "x"},
    {"id": "b", "text": "two\nlines", "label": "y"},
    {"id": "c", "text": "café 3 €", "label": "x"},
    {"id": "d", "text": "four", "label": "y"},
]


def table(delimiter: str = ",", end: str = "\r\n", before: str = "") -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerows([["id", "text", "label"], *(row.values() for row in ROWS)])
    return before + out.getvalue()


def parquet(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, "zstd", asbytes=True))


def zipped(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("folder/", b"")
        archive.writestr("folder/tickets.csv", content)
        archive.writestr("__MACOSX/._tickets.csv", b"of a file manager")
    return out.getvalue()


LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
PLAIN = {
    "a.csv": table().encode(),
    "a.tsv": table("\t").encode(),
    "a.jsonl": LINES.encode(),
    "a.ndjson": "\n".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode(),
    "a.json": json.dumps(ROWS, indent=1).encode(),
    "lines.json": LINES.encode(),
    "a.parquet": parquet(ROWS),
    "a.pq": parquet(ROWS),
}
PACKED = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": zstd, ".zip": zipped}
WIDE = "".join(f"{line},,\n" for line in table(end="\n").replace("two\nlines", "two lines").splitlines()) + ",,,,\n\n"

#: Name, content, parameters.
KINDS: list[tuple[str, bytes, dict[str, Any]]] = [
    *((name, content, {}) for name, content in PLAIN.items()),
    *((f"{name}{end}", pack(content), {}) for name, content in PLAIN.items() for end, pack in PACKED.items()),
    ("TICKETS.CSV.GZ", gzip.compress(table().encode()), {}),
    *(("a.csv", table().encode(each), {}) for each in ("utf-8-sig", "utf-16")),
    ("a.csv", "\ufeff".encode("utf-16-be") + table().encode("utf-16-be"), {}),
    ("a.csv", table().encode("utf-16-le"), {"encoding": "utf-16-le"}),
    ("a.tsv", table("\t").encode("utf-16"), {}),  # "Unicode text" of Excel
    *((name, content, {"encoding": "cp1252"}) for name, content in (("a.csv", table().encode("cp1252")),)),
    ("a.csv", table().encode("utf-8-sig"), {"encoding": "cp1252"}),
    ("a.csv", table(end="\n").encode(), {}),
    ("a.csv", table(end="\r").replace("two\nlines", '"two\nlines"').encode(), {}),
    ("a.csv", table(";").encode(), {"delimiter": ";"}),
    ("a.csv", table(";", before="sep=;\r\n").encode("utf-8-sig"), {}),
    ("a.csv", table("\t", before="SEP=\t\n").encode(), {}),
    ("a.csv", WIDE.encode(), {}),  # empty columns and rows of Excel
    ("a.csv", table().partition("\r\n")[2].encode(), {"header": False, "id": "1", "text": "2", "label": "3"}),
    ("a.csv", table().replace("id,text", " id ,text ").encode(), {}),
    ("a.csv", table().replace('""', '\\"').encode(), {"escape": "\\"}),
    ("a.csv", table().replace("\r\nd,", "\r\n\r\nd,").encode(), {}),
]


@pytest.mark.parametrize(("name", "content", "how"), KINDS, ids=[f"{n}: {name}" for n, (name, *_) in enumerate(KINDS)])
def test_every_kind_gives_the_same_documents(tmp_path: Path, name: str, content: bytes, how: dict[str, Any]) -> None:
    (tmp_path / name).write_bytes(content)
    reader = UserFiles(name, **{"id": "id", **how}, base=tmp_path)
    reader.check()
    corpus = reader.load(CorpusSource(None))
    texts = ["two lines" if content == WIDE.encode() and row["id"] == "b" else row["text"] for row in ROWS]
    assert [text.decode().replace("\r", "\n") for text in corpus] == texts
    assert (corpus.documents.ids, corpus.documents.classes) == (("a", "b", "c", "d"), ("x", "y"))
    assert corpus.documents.labels.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("end", ["", ".gz", ".zip"])
def test_a_folder_and_a_file_for_each_part(tmp_path: Path, end: str) -> None:
    for part, rows in (("train", ROWS[:2]), ("test", ROWS[2:])):
        for row in rows:
            path = tmp_path / "docs" / part / row["label"] / f"{row['id']}.txt{end}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes({"": bytes, **PACKED}[end](row["text"].encode()))
    (tmp_path / "docs" / "train" / "x" / ".DS_Store").write_text("of a file manager")
    (tmp_path / "docs" / ".hidden").mkdir()
    (tmp_path / "docs" / ".hidden" / "x").write_text("none")
    parts = UserFiles({"train": "docs/train", "test": "docs/test"}, base=tmp_path).load(CorpusSource(None))
    assert parts.documents.ids == tuple(
        f"{each}.txt{end}" for each in ("train/x/a", "train/y/b", "test/x/c", "test/y/d")
    )
    assert [parts.documents.part_names[part] for part in parts.documents.parts] == ["train", "train", "test", "test"]
    assert list(parts)[1] == b"two\nlines"
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "x").symlink_to(tmp_path / "docs" / "train")
    (tmp_path / "links" / "y").symlink_to(tmp_path / "docs" / "test")
    assert len(UserFiles("links", base=tmp_path).outline()) == 4, "links are followed"


@pytest.mark.parametrize("end", [".gz", ".xz", ".zst"])
def test_a_long_file_is_read_to_its_end_in_one_stream_or_two(tmp_path: Path, end: str) -> None:
    content = table(end="\n") + "".join(f"i{n},{'w' * (n % 997)} {n * n},x\n" for n in range(4000))
    path, pack = tmp_path / f"a.csv{end}", PACKED[end]
    for cut in (0, 1_000_007):
        pieces = [content.encode()[:cut], content.encode()[cut:]]
        path.write_bytes(b"".join(map(pack, filter(None, pieces))))
        assert len(UserFiles(path.name, base=tmp_path).outline()) == 4004
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataError, match=r"a\.csv.* (truncated|Truncated|ended)"):
        UserFiles(path.name, base=tmp_path).outline()
