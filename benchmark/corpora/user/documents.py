"""Records of a user's files to a corpus: the documents with their text, and all problems with them."""

from __future__ import annotations

import hashlib
import json
import math
import sys
import unicodedata
from array import array
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmark.corpora.corpus import Corpus
from benchmark.corpora.user.dates import parse_date
from benchmark.corpora.user.label_notes import UNQUOTED_LIST, label_notes, listed_labels
from benchmark.corpora.user.records import TABLE_DELIMITERS, TextForm, file_extension, iter_records, read_columns
from benchmark.corpora.user.text_files import decode_error, encoding_of, open_decompressed
from benchmark.corpora.user.user_corpus import encode_documents
from benchmark.system.checks import escape_surrogates
from benchmark.system.errors import DataError, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.corpora.corpus import Documents
    from benchmark.corpora.user.file_parameters import FileParameters

    #: Part of the split (or ""), file or folder, and its files by path below the folder.
    Place = tuple[str, Path, Sequence[tuple[str, Path]]]

#: Group of documents without a group.
NO_GROUP = "all"
MAX_LABEL_LENGTH = 1000
#: Largest number of texts with line breaks that are searched for rows of a table.
MAX_SEARCHED = 1000
#: Values of a column that says whether a document has a class, in lower case.
CLASS_MARKS = {"1": True, "true": True, "0": False, "false": False, "": False}
PROBLEMS = {
    "empty": "without text; add a text, or leave such documents out by drop: [empty]",
    "unlabelled": "without a class; add a class, or leave such documents out by drop: [unlabelled]",
    "repeated": "with the id of an earlier document; use another column as id, or keep only the first by "
    "drop: [repeated]",
    "nameless": "without an id; fill the column, or leave `id` out",
    "rare": "whose class has no other document, so that it can't be both trained on and tested; change the class, or "
    "leave such documents out by drop: [rare]",
    "split": "without a part of the split; fill the column",
    "group": "without a group; fill the column",
    "date": "without a date; fill the column",
}


class DocumentsError(DataError):
    """Documents with problems; `reasons` has their numbers by reason, of which `drop` can leave out some."""

    def __init__(self, message: str, reasons: dict[str, int]) -> None:
        super().__init__(message)
        self.reasons = reasons


@dataclass(frozen=True, eq=False)
class ScanResult:
    """Content of the files.

    Parameters
    ----------
    corpus : Corpus
    dropped : dict of str to int
        Numbers of dropped records, by reason.
    notes : tuple of str
        What the files may mean otherwise: classes that are nearly alike, texts that hold rows.
    """

    corpus: Corpus
    dropped: dict[str, int]
    notes: tuple[str, ...]

    @property
    def documents(self) -> Documents:
        """Documents without their text."""
        return self.corpus.documents


class FileRow(NamedTuple):
    """One record, before it is checked; its line is 0 for a file of a folder."""

    path: Path
    line: int
    texts: Sequence[Any]
    label: Any
    id: Any
    split: Any
    group: Any
    date: Any

    @property
    def location(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}" if self.line else str(self.path)


def read_documents(reader: FileParameters, places: Sequence[Place]) -> ScanResult:
    """Read files once, to the end: what is digested is what becomes documents.

    Raises
    ------
    DataError
        The files can't be read, or documents have problems; the message lists all of these.
    """
    collector, digest, skipped = _Collector(reader), hashlib.sha256(), list[int]()
    for part, path, files in places:
        for relpath, file in files:
            of_file = hashlib.sha256()
            if path.is_dir():
                collector.add(_row_of_text(reader, part, path, relpath, file, of_file))
            else:
                for row in _rows_of_file(reader, part, file, of_file, skipped):
                    collector.add(row)
            digest.update(f"{part}\0{relpath}\0".encode("utf-8", "surrogateescape"))
            digest.update(of_file.digest())
    corpus = collector.corpus(digest.hexdigest())
    notes = [*collector.notes(corpus.documents.classes), *label_notes(corpus.documents)]
    if n := len(skipped):
        names = ", ".join(path.name for _, path, _ in places)
        rows = "1 row has only delimiters and is" if n == 1 else f"{n:,} rows have only delimiters and are"
        notes.insert(0, f"{names}: {rows} left out (the first: line {skipped[0]:,})")
    return ScanResult(corpus, dict(collector.dropped), tuple(notes))


# --- Records to rows ---


def _rows_of_file(reader: FileParameters, part: str, path: Path, digest: Any, skipped: list[int]) -> Iterator[FileRow]:
    texts = [reader.text] if isinstance(reader.text, str) else list(reader.text)
    classes = reader.labels or reader.label
    labels = [classes] if isinstance(classes, str) else classes
    rest = [reader.id, reader.split, reader.group, reader.date]
    columns = [*texts, *labels, *(name for name in rest if name is not None)]
    n, n_labels = len(texts), len(labels)
    for line, values in iter_records(path, columns, digest=digest, skipped=skipped, **reader.form):
        label = values[n]
        if labels is classes:
            marks = dict(zip(labels, values[n : n + n_labels], strict=True))
            label = _marked_classes(marks, f"{path}:{line}", several=reader.multilabel)
        others = iter(values[n + n_labels :])
        name, split, group, date = [None if column is None else next(others) for column in rest]
        yield FileRow(path, line, values[:n], label, name, part or split, group, date)


def class_mark(value: Any) -> bool | None:
    """Return whether a value says that a document has a class, 1 or 0; None for any other value."""
    return CLASS_MARKS.get(str("" if value is None else value).strip().lower().removesuffix(".0"))


def _marked_classes(values: Mapping[str, Any], location: str, *, several: bool) -> list[str] | str | None:
    """Return the columns that hold 1 and not 0: all of them, or, unless there may be several, the only one."""
    marks = {name: class_mark(value) for name, value in values.items()}
    for name, mark in marks.items():
        if mark is None:
            raise DataError(f"{location}: {name} is {quote_value(values[name])}, and must be 0 or 1")
    classes = [name for name, mark in marks.items() if mark]
    if several:
        return classes
    if len(classes) > 1:
        listed = ", ".join(classes)
        raise DataError(
            f"{location}: has {len(classes)} classes ({listed}): name their columns by `labels`, not `label`"
        )
    return classes[0] if classes else None


def _row_of_text(reader: FileParameters, part: str, folder: Path, relpath: str, path: Path, digest: Any) -> FileRow:
    """Return the document of a file below a folder, whose path names its class."""
    *parents, name = relpath.split("/")
    if len(parents) < len(reader.folders):
        wanted = "/".join([*(f"<{level}>" for level in reader.folders), name])
        raise DataError(f"{path}: lies in no folder of a class; it should be {folder}/{wanted} (see `folders`)")
    above = dict(zip(reader.folders, parents, strict=False))
    with open_decompressed(path, digest) as file:
        content = file.read()
    encoding = encoding_of(content[:4], reader.encoding, path)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise decode_error(path, encoding, error) from None
    identity = f"{part}/{relpath}" if part else relpath
    return FileRow(path, 0, [text], above["label"], identity, part or above.get("split"), above.get("group"), None)


# --- Rows to documents ---


class _Collector:
    """Documents of the rows that were added, their text, and all problems with them."""

    def __init__(self, reader: FileParameters) -> None:
        self.reader = reader
        self.has_parts, self.has_groups = reader.has("split"), reader.has("group")
        self.number = 0
        self.ids, self.known = list[str](), set[str]()
        self.labels, self.first = list[tuple[str, ...]](), dict[tuple[str, ...], str]()
        self.parts, self.groups, self.dates = list[str](), list[str](), list[Any]()
        self.text, self.bounds, self.spans = bytearray(), array("q", [0]), array("q")
        self.problems: dict[str, tuple[int, str]] = {}
        self.dropped: Counter[str] = Counter()
        self.rename = {_composed(old): _composed(new) for old, new in (reader.rename or {}).items()}
        self.renamed = set[str]()
        self.classes_of = cache(self._classes)
        self.multiline: list[tuple[Path, int, str]] = []

    def add(self, row: FileRow) -> None:
        """Take a document, drop it, or note what is wrong with it."""
        reader = self.reader
        self.number += 1
        try:
            labels = self.classes_of(row.label) if isinstance(row.label, str) else self._classes(row.label)
        except ValueError as error:
            raise DataError(f"{row.location}: {error}") from None
        text, spans = self._text(row)
        name = str(self.number) if row.id is None else _name(row.id)
        if not text.strip():
            self._leave_out("empty", row.location)
        elif not labels and not reader.multilabel:
            self._leave_out("unlabelled", row.location)
        elif not name or name in self.known:
            self._leave_out("repeated" if name else "nameless", row.location, name)
        else:
            self.known.add(name)
            self.ids.append(name)
            self.labels.append(labels)
            if labels not in self.first:
                self.first[labels] = row.location
            self.parts.append(self._filled("split", row.split, row) if self.has_parts else NO_GROUP)
            if self.has_groups:
                self.groups.append(self._filled("group", row.group, row))
            if reader.date is not None and self._filled("date", row.date, row):
                self.dates.append(self._date(row))
            self.text += text
            self.bounds.append(len(self.text))
            self.spans.extend(spans)
            if b"\n" in text and row.line and len(self.multiline) < MAX_SEARCHED:
                self.multiline.append((row.path, row.line, text.decode()))

    def corpus(self, digest: str) -> Corpus:
        """Return the documents; raise DataError with all problems."""
        where = self.reader.where
        if not self.number:
            raise DataError(f"{where}: holds no document")
        self._refuse()  # before rare classes are sought: without these documents other classes would be rare
        rare = self._rare()
        self._refuse()
        rows = np.arange(len(self.ids))
        text, bounds = np.frombuffer(self.text, dtype=np.uint8), np.frombuffer(self.bounds, dtype=np.int64)
        spans = np.frombuffer(self.spans, dtype=np.int64).reshape(len(rows), len(self.reader.fields), 2)
        fields = {name: spans[:, i] for i, name in enumerate(self.reader.fields)}
        corpus = Corpus(self.reader.name, self._documents(rows), text, bounds, digest, fields)
        if rare:
            left = np.array([row for row in rows if self.labels[row] not in rare], dtype=np.intp)
            corpus = replace(corpus.take(left), documents=self._documents(left))
        classes = corpus.documents.classes
        if len(classes) < 2:
            problem = f"all documents have the class {classes[0]!r}" if classes else "no document is left"
            raise DataError(f"{where}: {problem}; classification needs at least two classes")
        if unused := [name for name in self.rename if name not in self.renamed]:
            raise DataError(f"{where}: rename: {unknown_name('class', unused[0], classes)}")
        return corpus

    def _documents(self, rows: NDArray[np.intp]) -> Documents:
        groups = [self.groups[row] for row in rows] if self.groups else None
        return encode_documents(
            [self.ids[row] for row in rows],
            [self.labels[row] for row in rows],
            groups if groups is not None and not self.has_parts else [self.parts[row] for row in rows],
            multilabel=self.reader.multilabel,
            groups=groups,
            dates=np.array(self.dates, dtype="datetime64[s]")[rows] if self.dates else None,
        )

    def notes(self, classes: Sequence[str]) -> Iterator[str]:
        """Yield a note if lines within quotes have as many columns as the table, and the name of a class in one."""
        known, found = {*classes, *CLASS_MARKS} - {""}, list[str]()
        columns = cache(lambda path: len(read_columns(path, **self.reader.form)))
        for path, line, text in self.multiline:
            if file_extension(path) in TABLE_DELIMITERS:
                cells = (each.split(TextForm(**self.reader.form).delimiter_of(path)) for each in text.split("\n"))
                if any(len(row) == columns(path) and not known.isdisjoint(map(str.strip, row)) for row in cells):
                    found.append(f"{path.name}:{line}")
        if found:
            records = "1 record holds" if len(found) == 1 else f"{len(found):,} records hold"
            where = f"{records} lines that look like rows of the table within quotes (the first begins at {found[0]})"
            yield f"{where}. If these quotes are part of the text: quoting: none (bench init: --quoting none)."

    def _refuse(self) -> None:
        if self.problems:
            lines = [
                f"{self.reader.where}: {n:,} document{'s' if n > 1 else ''} {PROBLEMS[why]} (the first: {first})"
                for why, (n, first) in self.problems.items()
            ]
            raise DocumentsError("\n".join(lines), {why: n for why, (n, _) in self.problems.items()})

    def _leave_out(self, why: str, location: str, name: str = "") -> None:
        if why in self.reader.drop:
            self.dropped[why] += 1
        else:
            self._note(why, location + (f" ({quote_value(name)})" if name else ""))

    def _note(self, why: str, location: str) -> None:
        n, first = self.problems.get(why, (0, location))
        self.problems[why] = n + 1, first

    def _filled(self, what: str, value: Any, row: FileRow) -> str:
        """Return the name of a part, group or date; note where it is missing."""
        name = _name(value)
        if not name:
            self._note(what, row.location)
        return sys.intern(name)

    def _rare(self) -> set[tuple[str, ...]]:
        """Return the classes of one document, which are dropped or noted."""
        sizes = Counter(self.labels) if not self.reader.multilabel else {}
        rare = {labels for labels, n in sizes.items() if n == 1}
        for labels in sizes if rare else ():
            if labels in rare:
                self._leave_out("rare", f"{self.first[labels]}, class {quote_value(labels[0])}")
        return rare

    def _text(self, row: FileRow) -> tuple[bytes, list[int]]:
        """Return a document's text, and start and stop of each of its fields, if it has any."""
        if not self.reader.fields:
            text = row.texts[0]
            if not isinstance(text, str | None):
                raise DataError(f"{row.location}: {self.reader.text} is {quote_value(text)}, and must be text")
            return (text or "").encode("utf-8", "replace"), []
        pieces, spans, start = list[bytes](), list[int](), 0
        for value in row.texts:
            piece = b"" if value is None else str(value).encode("utf-8", "replace")
            spans += [start, start + len(piece)]
            if value is not None:
                pieces.append(piece)
                start += len(piece) + 1
        return b"\n".join(pieces), spans

    def _date(self, row: FileRow) -> Any:
        try:
            return parse_date(row.date, self.reader.date_format)
        except ValueError as error:
            raise DataError(
                f"{row.location}: {self.reader.date} is {quote_value(row.date)}, and must be {error}"
            ) from None

    def _classes(self, value: Any) -> tuple[str, ...]:
        """Return the classes of a document by their names in composed Unicode, renamed."""
        names = [_composed(_name(each)) for each in _labels(value, self.reader)]
        self.renamed.update(name for name in names if name in self.rename)
        return tuple(dict.fromkeys(filter(None, (self.rename.get(name, name) for name in names))))


def _name(value: Any) -> str:
    """Return a class, id, part or group as text that UTF-8 can encode; a number as Python prints it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    text = value if isinstance(value, str) else str(value)
    return (text if text.isascii() else escape_surrogates(text)).strip().replace("\0", "")[:MAX_LABEL_LENGTH]


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip())


def _labels(value: Any, reader: FileParameters) -> Sequence[Any]:
    """Return the classes of a document, one unless it may have several; ValueError where they may be a list."""
    listed = listed_labels(value) if isinstance(value, str) else value
    if isinstance(listed, dict) or (isinstance(listed, list) and any(isinstance(each, list | dict) for each in listed)):
        raise ValueError(f"the class is {quote_value(value)}, and must be text, or a list of texts")
    if not reader.multilabel:
        if isinstance(listed, list):
            hint = "name its column by `labels`, not `label`, since a document may have several"
            raise ValueError(f"the class is a list, {quote_value(value)}: {hint}")
        return [value]
    if listed is not None:
        return listed if isinstance(listed, list) else [listed]
    if value is None or not value.strip():
        return []
    if reader.separator is None:
        raise ValueError(f"the classes are text, {quote_value(value)}; name their separator, such as ';'")
    if UNQUOTED_LIST.fullmatch(value.strip()) and reader.separator in value:
        wanted = f"without its brackets, or its classes in quotes: {json.dumps(['a', 'b'])}"
        raise ValueError(f"the classes are a list without quotes, {quote_value(value)}: write it {wanted}")
    return value.split(reader.separator) if reader.separator else [value]
