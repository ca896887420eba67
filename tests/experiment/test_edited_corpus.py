"""A user's files that are edited at any moment of a run: counts of one content, or a refusal and an empty store."""

from __future__ import annotations

import gzip
import io
import json
import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from pyarrow import parquet

from benchmark.config.model import Collection, TextSettings
from benchmark.corpora import file_digest
from benchmark.corpora.corpus import StreamedCorpus
from benchmark.corpora.file_digest import FileDigest
from benchmark.corpora.user import decompress, records
from benchmark.corpora.user.counts_folder import COUNTS_FOLDER_FILES, CountsFolder
from benchmark.corpora.user.user_files import UserFiles
from benchmark.corpora.user.validate import _Scan, _scanned
from benchmark.experiment import counting as reading
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.store import Store
from benchmark.system.errors import DataError
from benchmark.text.lexer import Lexing
from benchmark.text.pruning import Pruning
from tests.trials.limits import mostly_slow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Edit = Callable[[], None]
    Content = dict[str, bytes]

N = 300
REFUSAL = "was changed while it was read; run it again"
#: Longer than a file system's clock takes to go on.
TICK = 0.02


def rows(k: int) -> list[dict[str, str]]:
    """Documents as long for every k: each k-th one has the words of the other class."""
    words = ("alpha beta gamma", "delta zeta omega")
    numbers = " ".join(f"w{10 + j}" for j in range(10))
    return [{"text": f"{words[(i + (i % k == 0)) % 2]} {numbers} n{100 + i}", "label": "ab"[i % 2]} for i in range(N)]


def table(k: int) -> bytes:
    return b"text,label\n" + b"".join(f"{row['text']},{row['label']}\n".encode() for row in rows(k))


def columns(k: int) -> bytes:
    out = io.BytesIO()
    how: dict[str, Any] = {"compression": "none", "use_dictionary": False, "row_group_size": 20}
    parquet.write_table(pa.Table.from_pylist(rows(k)), out, **how)
    return out.getvalue()


def packed_table(k: int) -> bytes:
    """A packed table of one length for every k: zeros may follow."""
    packed = gzip.compress(table(k), mtime=0)
    return packed + b"\0" * (8_000 - len(packed))


FORMATS: dict[str, Callable[[int], Content]] = {
    "t.csv": lambda k: {"t.csv": table(k)},
    "t.jsonl": lambda k: {"t.jsonl": b"".join(json.dumps(row).encode() + b"\n" for row in rows(k))},
    "t.parquet": lambda k: {"t.parquet": columns(k)},
    "t.csv.gz": lambda k: {"t.csv.gz": packed_table(k)},
    "t.csv.zst": lambda k: {"t.csv.zst": zstandard.compress(table(k))},
    "docs": lambda k: {
        f"docs/{row['label']}/{n:03}.txt": row["text"].encode() for n, row in enumerate(rows(k)) if n < 40
    },
}


def write(folder: Path, content: Content, *, forged: bool) -> None:
    """Edit files in place; with their times put back where that is asked for."""
    time.sleep(TICK)
    for name, each in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.stat() if path.exists() else None
        with path.open("r+b" if before else "wb") as file:
            file.write(each)
            file.truncate()
        if before and forged:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def counts_of(folder: Path, name: str, store: Store) -> tuple[Any, ...]:
    """What a new run reads, in a form that can be compared."""
    _scanned.cache_clear()
    reader = UserFiles(name, base=folder)
    how = TextSettings(Lexing(lexer="unicode", stoplist="none"), Pruning())
    counts = read_counts(Collection.of(reader, reader.classes, (), how), RunContext(store))[0]
    return counts.documents.ids, counts.documents.labels.tolist(), counts.vocabulary, counts.matrix.toarray().tolist()


def found_or_refused(read: Callable[[], Any]) -> Any:
    """What is read, or what an error says of a file."""
    try:
        return read()
    except DataError as error:
        return str(error).partition(": ")[2]


def nth_of(calls: int, edit: Edit) -> Edit:
    """Edit at one of several calls."""
    left = [calls]

    def called() -> None:
        left[0] -= 1
        if left[0] == 0:
            edit()

    return called


def wrapped(patch: pytest.MonkeyPatch, where: Any, name: str, before: Edit) -> None:
    """Do something before each call of a function."""
    call = getattr(where, name)

    def wrapper(*args: Any, **how: Any) -> Any:
        before()
        return call(*args, **how)

    patch.setattr(where, name, wrapper)


def while_counted(patch: pytest.MonkeyPatch, edit: Edit) -> None:
    texts = StreamedCorpus.__iter__

    def some_then_edit(corpus: StreamedCorpus) -> Any:
        at = nth_of(10, edit)
        for text in texts(corpus):
            at()
            yield text

    patch.setattr(StreamedCorpus, "__iter__", some_then_edit)


STAGES: dict[str, Callable[[pytest.MonkeyPatch, Edit], None]] = {
    "digested": lambda patch, edit: wrapped(patch, file_digest, "_sha256", nth_of(2, edit)),
    "digested, scanned": lambda patch, edit: wrapped(patch, _Scan, "done", edit),
    "scanned": lambda patch, edit: wrapped(patch, _Scan, "_take", nth_of(10, edit)),
    "scanned, named": lambda patch, edit: wrapped(patch, reading, "_content", edit),
    "named, counted": lambda patch, edit: wrapped(patch, reading, "_counts", edit),
    "counted": while_counted,
    "counted, stored": lambda patch, edit: wrapped(patch, reading, "counts_to_arrays", edit),
}


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in many small pieces, as large ones are."""
    monkeypatch.setattr(file_digest, "DIGEST_BLOCK_BYTES", 512)
    monkeypatch.setattr(decompress, "READ_BYTES", 64)
    monkeypatch.setattr(records, "RECORD_BATCH_ROWS", 20)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("forged", [False, True])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", mostly_slow(FORMATS, 3))
def test_counts_are_of_one_content_or_nothing_is_stored(name: str, stage: str, forged: bool, tmp_path: Path) -> None:
    old, new = FORMATS[name](5), FORMATS[name](3)
    write(tmp_path, new, forged=False)
    of_new = counts_of(tmp_path, name, Store(tmp_path / "fresh"))
    write(tmp_path, old, forged=False)
    of_old = counts_of(tmp_path, name, Store(tmp_path / "fresh"))
    assert of_old != of_new

    edits, store = [0], Store(tmp_path / "store")

    def edit() -> None:
        edits[0] += 1
        write(tmp_path, new, forged=forged)

    write(tmp_path, old, forged=False)  # at another time: what this process has read of it doesn't count
    with pytest.MonkeyPatch.context() as patch:
        STAGES[stage](patch, edit)
        found = found_or_refused(lambda: counts_of(tmp_path, name, store))
    assert edits[0] >= 1
    assert found in (REFUSAL, of_old, of_new)
    assert (found == REFUSAL) == (not any(path.is_file() for path in (tmp_path / "store").rglob("*")))
    assert counts_of(tmp_path, name, store) == of_new
    write(tmp_path, old, forged=forged)
    assert counts_of(tmp_path, name, store) == of_old


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "docs"])
def test_an_edit_that_is_undone_while_the_text_is_counted_does_no_harm(name: str, tmp_path: Path) -> None:
    old, new, store = FORMATS[name](5), FORMATS[name](3), Store(tmp_path / "store")
    write(tmp_path, old, forged=False)
    of_old = counts_of(tmp_path, name, Store(tmp_path / "fresh"))
    texts = StreamedCorpus.__iter__

    def edited(corpus: StreamedCorpus) -> Any:
        found = texts(corpus)
        yield next(found)
        write(tmp_path, new, forged=True)
        try:
            held = [next(found) for _ in range(30)]
        finally:
            write(tmp_path, old, forged=True)
        yield from held
        yield from found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StreamedCorpus, "__iter__", edited)
        assert found_or_refused(lambda: counts_of(tmp_path, name, store)) in (REFUSAL, of_old)
    assert counts_of(tmp_path, name, store) == of_old


@pytest.mark.parametrize("name", ["t.csv", "docs"])
def test_a_file_that_goes_while_it_is_read_is_a_changed_one(name: str, tmp_path: Path) -> None:
    content = FORMATS[name](5)
    write(tmp_path, content, forged=False)
    with pytest.MonkeyPatch.context() as patch:
        STAGES["named, counted"](patch, (tmp_path / next(iter(content))).unlink)
        with pytest.raises(DataError, match=REFUSAL):
            counts_of(tmp_path, name, Store(tmp_path / "store"))


def matrices(k: int) -> Content:
    """A folder of counts, of files as long for every k."""
    lines = [f"{(n + (n % k == 0)) % 2} 1:{1 + n % k} 2:1\n" for n in range(20)]
    label = [f"d{n},{'ab'[(n + (n % k == 0)) % 2]}\n" for n in range(20)]
    texts = "".join(lines), f"w{k}\nv{k}\n", "id,label\n" + "".join(label), f"f{k}\nf{k}\n"
    return {f"counts/{name}": text.encode() for name, text in zip(COUNTS_FOLDER_FILES, texts, strict=True)}


def matrix_of(folder: Path) -> tuple[Any, ...]:
    """What a new reader reads, and its digest."""
    reader = CountsFolder("counts", base=folder)
    corpus, content = reader.load(None), reader.content(None)  # type: ignore[arg-type]
    reader.check_unchanged()
    return corpus.documents.labels.tolist(), corpus.vocabulary, corpus.matrix.toarray().tolist(), content["digest"]


@pytest.mark.parametrize("number", range(1, 8))
def test_counts_prepared_elsewhere_are_of_one_content(number: int, tmp_path: Path) -> None:
    old, new = matrices(5), matrices(3)
    write(tmp_path, new, forged=False)
    of_new = matrix_of(tmp_path)
    write(tmp_path, old, forged=False)
    of_old = matrix_of(tmp_path)
    edit = nth_of(number, lambda: write(tmp_path, new, forged=False))
    with pytest.MonkeyPatch.context() as patch:
        for where, name in ((CountsFolder, "_bytes"), (CountsFolder, "_documents"), (CountsFolder, "_named")):
            wrapped(patch, where, name, edit)
        wrapped(patch, CountsFolder, "content", edit)
        found = found_or_refused(lambda: matrix_of(tmp_path))
    assert found in (REFUSAL, of_old, of_new)
    assert matrix_of(tmp_path) == of_new


def test_another_documents_file_of_the_same_size_and_time_is_refused(tmp_path: Path) -> None:
    write(tmp_path, matrices(5), forged=False)
    other = {f"counts/{COUNTS_FOLDER_FILES[2]}": matrices(3)[f"counts/{COUNTS_FOLDER_FILES[2]}"]}
    with pytest.MonkeyPatch.context() as patch:
        wrapped(patch, CountsFolder, "_named", lambda: write(tmp_path, other, forged=True))
        with pytest.raises(DataError, match=rf"{COUNTS_FOLDER_FILES[2]}: {REFUSAL}"):
            matrix_of(tmp_path)


def test_every_block_has_a_digest() -> None:
    content = np.random.default_rng(1).bytes(1000)
    found = FileDigest.of(content[start : start + 300] for start in range(0, 1000, 300))
    assert (found.size, len(found.blocks)) == (1000, 4 * 32)
    assert found.matches(3, content[900:])
    assert not found.matches(3, content[899:])
