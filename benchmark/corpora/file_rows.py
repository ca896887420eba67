"""One's own files to rows, as a stream: the records of a file, or the files of a folder; and digests of their bytes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.corpora.records import decoded, opened, records
from benchmark.errors import DataError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmark.corpora.files import OwnFiles


@dataclass(frozen=True, slots=True)
class Row:
    """One record, before it is looked at."""

    path: Path
    line: int
    text: str
    label: Any
    id: Any
    split: Any
    group: Any
    date: Any
    fields: Mapping[str, str]

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}" if self.line else str(self.path)


def rows_of(reader: OwnFiles, split: str, path: Path) -> Iterator[Row]:
    """The records of a file, or the files of a folder, on one side of a split.

    Raises
    ------
    DataError
        One of them can't be read, or lies where no document should.
    """
    return _rows_of_folder(reader, split, path) if path.is_dir() else _rows_of_file(reader, split, path)


def _rows_of_file(reader: OwnFiles, split: str, path: Path) -> Iterator[Row]:
    texts = [reader.text] if isinstance(reader.text, str) else list(reader.text)
    rest = [reader.labels or reader.label, reader.id, reader.split, reader.group, reader.date]
    columns = [*texts, *(name for name in rest if name is not None)]
    n = len(texts)
    for line, values in records(path, columns, encoding=reader.encoding, delimiter=reader.delimiter):
        given = iter(values[n:])
        label, name, side, group, date = (None if column is None else next(given) for column in rest)
        text = values[0] if n == 1 else "\n".join(str(each) for each in values[:n] if each is not None)
        if text is not None and not isinstance(text, str):
            raise DataError(f"{path}:{line}: {texts[0]} is {quoted(text)}, and must be text")
        own = zip(reader.fields, values, strict=False)
        fields = {column: "" if value is None else str(value) for column, value in own}
        yield Row(path, line, text or "", label, name, split or side, group, date, fields)


def below(folder: Path) -> list[tuple[str, Path]]:
    """The files below a folder that aren't hidden, by their relative paths, in the order of these."""
    found = []
    for top, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(top) / name for name in names if not name.startswith(".")]
    return sorted((path.relative_to(folder).as_posix(), path) for path in found)


def _refuse(error: OSError) -> None:
    raise DataError(f"{error.filename}: can't be read: {error.strerror}")


def _rows_of_folder(reader: OwnFiles, split: str, folder: Path) -> Iterator[Row]:
    levels = list(reader.folders)
    for relpath, path in below(folder):
        *parents, _ = relpath.split("/")
        if len(parents) < len(levels):
            wanted = "/".join([*(f"<{level}>" for level in levels), relpath.rsplit("/", 1)[-1]])
            raise DataError(f"{path}: lies in no folder of a class; it should be {folder}/{wanted} (see `folders`)")
        given = dict(zip(levels, parents, strict=False))
        with opened(path) as file:
            content = file.read()
        text = decoded(content, reader.encoding, path, 1, 0)
        name = f"{split}/{relpath}" if split else relpath
        yield Row(path, 0, text, given["label"], name, split or given.get("split"), given.get("group"), None, {})


def file_digest(path: Path) -> bytes:
    """The sha256 of a file; taken once while it is as it was."""
    return _digest(path, stamp(path))


@lru_cache(maxsize=65_536)
def _digest(path: Path, as_it_is: tuple[int, int, int]) -> bytes:  # noqa: ARG001 - a key
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from None


def stamp(path: Path) -> tuple[int, int, int]:
    """What changes with a file, or with any file below a folder."""
    try:
        if not path.is_dir():
            stat = path.stat()
            return stat.st_size, stat.st_mtime_ns, stat.st_ino
        stats = [each.stat() for _, each in below(path)]
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from None
    return sum(s.st_size for s in stats), hash(tuple((s.st_mtime_ns, s.st_ino) for s in stats)), len(stats)
