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

#: Values of a column that says whether a document has a class, in lower case.
CLASS_MARKS = {"1": True, "true": True, "0": False, "false": False, "": False}


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


def iter_rows(reader: FileParameters, skipped: list[int] | None = None) -> Iterator[FileRow]:
    """Yield the records of files, or the files of folders, as they were when they were digested.

    Parameters
    ----------
    reader : FileParameters
    skipped : list of int, optional
        Gets the lines of rows that are no records, see `iter_records`.

    Raises
    ------
    DataError
        A file can't be read, was changed, or isn't in a folder of a class.
    """
    for place in reader.digests.places:
        if place.is_folder:
            yield from _rows_of_folder(reader, place)
        else:
            yield from _rows_of_file(reader, place.split, place.path, place.files[""], skipped)


def _rows_of_file(
    reader: FileParameters, split: str, path: Path, digest: FileDigest, skipped: list[int] | None
) -> Iterator[FileRow]:
    texts = [reader.text] if isinstance(reader.text, str) else list(reader.text)
    classes = reader.labels or reader.label
    labels = [classes] if isinstance(classes, str) else classes
    rest = [reader.id, reader.split, reader.group, reader.date]
    columns = [*texts, *labels, *(name for name in rest if name is not None)]
    n = len(texts)
    for line, values in iter_records(path, columns, digest=digest, skipped=skipped, **reader.form):
        label = values[n]
        if labels is classes:
            label = _marked_classes(dict(zip(labels, values[n:], strict=False)), f"{path}:{line}")
            label = label if reader.multilabel else _only_class(label, f"{path}:{line}")
        others = iter(values[n + len(labels) :])
        name, part, group, date = (None if column is None else next(others) for column in rest)
        text = values[0] if n == 1 else "\n".join(str(value) for value in values[:n] if value is not None)
        if text is not None and not isinstance(text, str):
            raise DataError(f"{path}:{line}: {texts[0]} is {quote_value(text)}, and must be text")
        named = zip(reader.fields, values, strict=False)
        fields = {column: "" if value is None else str(value) for column, value in named}
        yield FileRow(path, line, text or "", label, name, split or part, group, date, fields)


def class_mark(value: Any) -> bool | None:
    """Return whether a value says that a document has a class, 1 or 0; None for any other value."""
    return CLASS_MARKS.get(str("" if value is None else value).strip().lower().removesuffix(".0"))


def _marked_classes(values: Mapping[str, Any], place: str) -> list[str]:
    """Return the columns that hold 1 and not 0; raise DataError for any other value."""
    found = []
    for name, value in values.items():
        mark = class_mark(value)
        if mark is None:
            raise DataError(f"{place}: {name} is {quote_value(value)}, and must be 0 or 1")
        found += [name] if mark else []
    return found


def _only_class(classes: list[str], place: str) -> str | None:
    """Return the class of a document, None if it has none; raise DataError if it has several."""
    if len(classes) > 1:
        several = ", ".join(classes)
        raise DataError(f"{place}: has {len(classes)} classes ({several}): name their columns by `labels`, not `label`")
    return classes[0] if classes else None


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
