"""Stream the rows of a user's files: records of a file, or files of a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.corpora.user.decompress import open_decompressed
from benchmark.corpora.user.records import iter_records
from benchmark.corpora.user.text_lines import READ_BYTES, decode_text, encoding_of
from benchmark.system.errors import DataError, quote_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchmark.corpora.file_digest import DigestedPath, FileDigest
    from benchmark.corpora.user.file_parameters import FileParameters


@dataclass(frozen=True, slots=True)
class FileRow:
    """One record, before it is checked."""

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


def iter_rows(reader: FileParameters) -> Iterator[FileRow]:
    """Yield the records of files, or the files of folders, as they were when they were digested.

    Raises
    ------
    DataError
        A file can't be read, was changed, or isn't in a folder of a class.
    """
    for place in reader.digests.places:
        if place.is_folder:
            yield from _rows_of_folder(reader, place)
        else:
            yield from _rows_of_file(reader, place.split, place.path, place.files[""])


def _rows_of_file(reader: FileParameters, split: str, path: Path, digest: FileDigest) -> Iterator[FileRow]:
    texts = [reader.text] if isinstance(reader.text, str) else list(reader.text)
    rest = [reader.labels or reader.label, reader.id, reader.split, reader.group, reader.date]
    columns = [*texts, *(name for name in rest if name is not None)]
    n = len(texts)
    how: dict[str, Any] = {"encoding": reader.encoding, "delimiter": reader.delimiter, "header": reader.header}
    for line, values in iter_records(path, columns, digest=digest, **how):
        others = iter(values[n:])
        label, name, part, group, date = (None if column is None else next(others) for column in rest)
        text = values[0] if n == 1 else "\n".join(str(value) for value in values[:n] if value is not None)
        if text is not None and not isinstance(text, str):
            raise DataError(f"{path}:{line}: {texts[0]} is {quote_value(text)}, and must be text")
        named = zip(reader.fields, values, strict=False)
        fields = {column: "" if value is None else str(value) for column, value in named}
        yield FileRow(path, line, text or "", label, name, split or part, group, date, fields)


def _rows_of_folder(reader: FileParameters, place: DigestedPath) -> Iterator[FileRow]:
    levels, split, folder = list(reader.folders), place.split, place.path
    for relpath, digest in place.files.items():
        path = folder / relpath
        *parents, _ = relpath.split("/")
        if len(parents) < len(levels):
            wanted = "/".join([*(f"<{level}>" for level in levels), relpath.rsplit("/", 1)[-1]])
            raise DataError(f"{path}: lies in no folder of a class; it should be {folder}/{wanted} (see `folders`)")
        names = dict(zip(levels, parents, strict=False))
        with open_decompressed(path, digest) as file:
            content = file.read()
        text = decode_text(content, encoding_of(content[:READ_BYTES], reader.encoding), path, 1, 0)
        name = f"{split}/{relpath}" if split else relpath
        yield FileRow(path, 0, text, names["label"], name, split or names.get("split"), names.get("group"), None, {})
