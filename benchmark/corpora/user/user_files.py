"""A user's corpus: a folder of class folders, or a file of records with named columns, and all problems with it."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence  # noqa: TC003 - types of parameters
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from benchmark.corpora.corpus import Corpus, concatenate_texts
from benchmark.corpora.user.labels import ClassNames, label_notes, name_of
from benchmark.corpora.user.records import (
    QUOTINGS,
    TABLE_DELIMITERS,
    TextForm,
    file_extension,
    iter_records,
)
from benchmark.corpora.user.text_files import check_encoding, decode_text, read_file
from benchmark.corpora.user.user_corpus import UserCorpus, encode_documents
from benchmark.system.checks import as_list
from benchmark.system.errors import ConfigError, DataError, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmark.corpora.archive import CorpusSource
    from benchmark.corpora.corpus import Documents

#: Group of documents without a group.
NO_GROUP = "all"
#: Largest number of texts with line breaks that are searched for rows of a table.
MAX_SEARCHED = 1000
#: What is wrong with documents, and the remedy, by reason.
PROBLEMS = {
    "empty": ("without text", "add a text"),
    "unlabelled": ("without a class", "add a class"),
    "repeated": ("with the id of an earlier document", "use another column as id"),
    "rare": ("whose class has no other document to train or test on", "change the class"),
    "nameless": ("without an id", "fill the column, or leave `id` out"),
    "split": ("without a part of the split", "fill the column"),
    "group": ("without a group", "fill the column"),
    "date": ("without a date", "fill the column"),
}
#: Reasons for which `drop` can leave documents out.
DROP_REASONS = ("empty", "unlabelled", "repeated", "rare")


@dataclass(frozen=True)
class UserFiles(UserCorpus):
    """A user's documents: a folder of class folders, or a file of records (.csv, .tsv, .jsonl, .parquet; .gz, .zst).

    Parameters
    ----------
    path : str, or mapping of str to str
        File or folder, relative to the configuration. A mapping has one for each part: ``{train: a.csv, test: b.csv}``.
    text : str or list of str
        Column of the text. Several columns are joined by line feeds, and are fields that are counted separately.
    label : str or list of str
        Column of the class; or a column for each class, of which exactly one holds 1 and the others 0.
    labels : str or list of str, optional
        Column of the classes, where a document may have several or none: a list, a list written as text
        (``["a", "b"]``), or text with a `separator`. Or a column for each class, which holds 0 or 1.
    rename : mapping of str to str, optional
        Classes by another name, so that two become one: ``{billing: Billing}``. A class named "" is none.
    separator : str, optional
        Separator of the classes in a text, such as ";".
    id : str, optional
        Column of a document's id; by default its number, from 1.
    split : str, optional
        Column of the part of a given split, such as train or test.
    group : str, optional
        Column of the group (a customer, an author, a thread). ``leave-one-group-out`` leaves out these groups, unless
        there is a `split`; folds may keep a group's documents together.
    date : str, optional
        Column of the date, in ISO 8601 (2024-05-31, or with a time).
    date_format : str, optional
        Format of other dates, in the codes of Python's strptime: "%d/%m/%Y".
    encoding : str
        Encoding of the files, such as utf-8, latin-1 or cp1252; a byte order mark (of UTF-16, say) goes before it.
    delimiter : str, optional
        Character between the columns of a table; by default a comma, in ``.tsv`` a tab.
    header : bool
        Whether the first row of a table has the names of its columns; otherwise they are named "1", "2", ….
    quoting : str
        Quotes of a table: double (a text may stand in quotes, in which a quote is doubled) or none (a quote is a
        character like any other, and every line is a row).
    escape : str, optional
        Character that stands before a quote, a delimiter or a line feed of a table's text, such as a backslash.
    drop : list of str
        Documents that are left out instead of causing an error: empty, unlabelled, repeated, rare.
    format : str, optional
        Format by which the text is divided into fields that are counted separately: mail or html. Not with several
        columns of text.
    base : Path
        Folder that `path` is relative to.
    """

    name: ClassVar[str] = "files"

    path: str | dict[str, str]
    text: str | list[str] = "text"
    label: str | list[str] = "label"
    labels: str | list[str] | None = None
    rename: dict[str, str] | None = None
    separator: str | None = None
    id: str | None = None
    split: str | None = None
    group: str | None = None
    date: str | None = None
    date_format: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool = True
    quoting: str = "double"
    escape: str | None = None
    drop: Sequence[str] = ()
    format: str | None = None

    def check(self) -> None:
        """Raise ConfigError for parameters that no file can satisfy."""
        check_encoding(self.encoding)
        for key, words, allowed in (("drop", self.drop, DROP_REASONS), ("quoting", [self.quoting], tuple(QUOTINGS))):
            if wrong := [word for word in words if word not in allowed]:
                raise ConfigError(f"{key}: {unknown_name('word', wrong[0], allowed)}")
        try:
            csv.reader((), delimiter=self.delimiter or ",", escapechar=self.escape)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"delimiter, escape: {error}") from None
        if isinstance(self.path, dict) and self.split is not None:
            raise ConfigError("split: the path already names the parts of the split")
        if self.format is not None and self.fields:
            raise ConfigError("format: several columns of text are its fields already")

    @property
    def multilabel(self) -> bool:
        """Whether documents may have several classes, or none."""
        return self.labels is not None

    @property
    def form(self) -> dict[str, Any]:
        """How files of text are written, see `TextForm`."""
        return {each.name: getattr(self, each.name) for each in fields(TextForm)}

    @property
    def fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """Columns of the text, where there are several."""
        return () if isinstance(self.text, str) else tuple(self.text)

    def has(self, what: str) -> bool:
        """Test whether documents have a part of a split ("split"), a group or a date."""
        if what == "split" and isinstance(self.path, dict):
            return True
        return getattr(self, what) is not None and any(not path.is_dir() for _, path in self.paths_by_part())

    def outline(self) -> Documents:
        """Return the documents; read the files to the end, and raise DataError with all problems."""
        return self.scanned().corpus.documents

    def scanned(self) -> ScanResult:
        """Return the documents and dropped records of the files; cached as long as the files aren't edited."""
        return _read(json.dumps(self._parameters()), self.base, self._stamps)

    def digest(self) -> str:
        """Return the sha256 over the files' names (of a folder, below it; of a split, its part) and contents."""
        return self.scanned().corpus.digest

    def facts(self) -> dict[str, Any]:
        """Return the folder that paths are relative to, and notes on the documents."""
        notes = list(self.scanned().notes)
        return super().facts() | ({"notes": notes} if notes else {})

    def content(self, source: CorpusSource) -> Mapping[str, Any]:  # noqa: ARG002 - there is one
        """Return the digest of the files and all parameters but `path`."""
        kinds = [[split, "" if path.is_dir() else file_extension(path)] for split, path in self.paths_by_part()]
        parameters = {key: value for key, value in self._parameters().items() if key != "path"}
        return {"kinds": kinds, "digest": self.digest(), **parameters}

    def load(self, source: CorpusSource) -> Corpus:  # noqa: ARG002 - there is one
        """Return the documents with their text."""
        return self.scanned().corpus

    def _parameters(self) -> dict[str, Any]:
        """Return all parameters by name, as plain data."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "base"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @cached_property
    def _stamps(self) -> tuple[tuple[str, int, int], ...]:
        """Name, size and time of modification of each file."""
        stats = [(str(file), file.stat()) for _, path in self.paths_by_part() for _, file in files_below(path)]
        return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@lru_cache(maxsize=2)
def _read(parameters: str, base: Path, stamps: tuple[tuple[str, int, int], ...]) -> ScanResult:
    del stamps  # files that were edited are read again
    return read_documents(UserFiles(**json.loads(parameters), base=base))


def files_below(path: Path) -> list[tuple[str, Path]]:
    """Return the files below a folder that aren't hidden, sorted by relative path; a file itself has the path ""."""
    if not path.is_dir():
        return [("", path)]
    found = list[tuple[str, Path]]()
    for top, folders, names in os.walk(path, onerror=_refuse, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files = (Path(top) / name for name in names if not name.startswith("."))
        found += [(file.relative_to(path).as_posix(), file) for file in files]
    return sorted(found)


def _refuse(error: OSError) -> None:
    """Raise DataError for a folder that can't be read: its documents would be missing without a word."""
    raise DataError(f"{error.filename}: can't be read: {error.strerror}")


# --- Documents of the files ---


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


class FileRow(NamedTuple):
    """Texts and labels of a record, and its id, split, group and date by role; the line of a whole file is 0."""

    path: Path
    line: int
    texts: Sequence[Any]
    labels: Sequence[Any]
    others: Mapping[str, Any]

    @property
    def location(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}" if self.line else str(self.path)


def read_documents(parameters: UserFiles) -> ScanResult:
    """Read files once, to the end: what is digested is what becomes documents.

    Raises
    ------
    DataError
        The files can't be read, or documents have problems; the message lists all of these.
    """
    collector, digest, skipped = _Collector(parameters), hashlib.sha256(), list[int]()
    for part, path in (parts := parameters.paths_by_part()):
        for relpath, file in files_below(path):
            of_file = hashlib.sha256()
            if path.is_dir():
                collector.add(_row_of_text(parameters, part, path, relpath, of_file))
            else:
                for row in _rows_of_file(parameters, part, file, of_file, skipped):
                    collector.add(row)
            digest.update(f"{part}\0{relpath}\0".encode("utf-8", "surrogateescape"))
            digest.update(of_file.digest())
    corpus = collector.corpus(digest.hexdigest())
    if parts[0][1].is_dir() and set(corpus.documents.classes) == {"train", "test"}:
        stated = f"path: {{train: {parameters.path}/train, test: {parameters.path}/test}}"
        raise DataError(f"{parts[0][1]}: train and test are parts of a split, not classes: name them, {stated}")
    notes = [*collector.rows_within_quotes(corpus.documents.classes), *label_notes(corpus.documents)]
    if n := len(skipped):
        names = ", ".join(path.name for _, path in parts)
        rows = "1 row has only delimiters and is" if n == 1 else f"{n:,} rows have only delimiters and are"
        notes.insert(0, f"{names}: {rows} left out (the first: line {skipped[0]:,})")
    return ScanResult(corpus, dict(collector.dropped), tuple(notes))


def _rows_of_file(parameters: UserFiles, part: str, path: Path, digest: Any, skipped: list[int]) -> Iterator[FileRow]:
    texts, labels = as_list(parameters.text), as_list(parameters.labels or parameters.label)
    roles = {role: column for role in ("id", "split", "group", "date") if (column := getattr(parameters, role))}
    columns, n, end = [*texts, *labels, *roles.values()], len(texts), len(texts) + len(labels)
    more = {"split": part} if part else {}
    for line, values in iter_records(path, columns, digest=digest, skipped=skipped, **parameters.form):
        others = dict(zip(roles, values[end:], strict=True)) | more if roles else more
        yield FileRow(path, line, values[:n], values[n:end], others)


def _row_of_text(parameters: UserFiles, part: str, folder: Path, relpath: str, digest: Any) -> FileRow:
    """Return the document of a file below a folder, whose class is the first folder of its path."""
    path, (label, *below) = folder / relpath, relpath.split("/")
    if not below:
        raise DataError(f"{path}: lies in no folder of a class; it should be {folder}/<label>/{label}")
    text = decode_text(path, read_file(path, digest), parameters.encoding)
    return FileRow(path, 0, [text], [label], {"split": part, "id": f"{part}/{relpath}" if part else relpath})


def parse_date(value: Any, form: str | None = None, name: str = "date") -> datetime:
    """Return a date in UTC without its name.

    Parameters
    ----------
    value : Any
    form : str, optional
        Format of its text, in the codes of strptime; by default ISO 8601.
    name : str
        Name of its column.

    Raises
    ------
    ValueError
        The value is no such date.
    """
    text = str(value).strip()
    try:
        found = datetime.strptime(text, form) if form else datetime.fromisoformat(text)  # noqa: DTZ007 - as it says
        return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found
    except (OverflowError, ValueError):  # in UTC, it may be before the year 1, or after 9999
        iso = "in ISO 8601, such as 2024-05-31; or state its form, such as date_format: '%d/%m/%Y'"
        wanted = f"as date_format states it, {form!r}" if form else iso
        raise ValueError(f"{name} is {quote_value(value)}, and must be a date {wanted}") from None


class _Collector:
    """Documents of the rows that were added, and all problems with them."""

    def __init__(self, parameters: UserFiles) -> None:
        self.parameters, columns, rename = parameters, parameters.labels or parameters.label, parameters.rename or {}
        self.classes = ClassNames(columns, rename, parameters.separator, multilabel=parameters.multilabel)
        self.filled = [what for what in ("split", "group", "date") if parameters.has(what)]
        self.number, self.known, self.first = 0, set[str](), dict[tuple[str, ...], str]()
        #: Of each document its id, classes, part, group, date, text in UTF-8, and spans of its fields in the text.
        self.kept: list[tuple[Any, ...]] = []
        self.problems = defaultdict[str, list[str]](list)
        self.dropped: Counter[str] = Counter()
        #: Texts of several lines, by file and line.
        self.multiline: dict[str, str] = {}

    def add(self, row: FileRow) -> None:
        """Take a document, drop it, or note what is wrong with it."""
        self.number += 1
        how = self.parameters
        try:
            labels = self.classes.of(row.labels)
            text, spans = _joined(row.texts, how)
            name = name_of(row.others.get("id", self.number))
            if why := self._problem(row, name, labels, text):
                where = f"{row.location} ({quote_value(name)})" if why == "repeated" else row.location
                self._leave_out(why, where)
                return
            date = parse_date(row.others["date"], how.date_format, str(how.date)) if "date" in self.filled else None
        except ValueError as error:
            raise DataError(f"{row.location}: {error}") from None
        self.known.add(name)
        if labels not in self.first:
            self.first[labels] = row.location
        part, group = sys.intern(name_of(row.others.get("split"))), sys.intern(name_of(row.others.get("group")))
        self.kept.append((name, labels, part, group, date, text, spans))
        if b"\n" in text and len(self.multiline) < MAX_SEARCHED:
            self.multiline[row.location] = text.decode()

    def _problem(self, row: FileRow, name: str, labels: tuple[str, ...], text: bytes) -> str:
        """Return the reason why a document can't be used, one of `PROBLEMS`, or ""."""
        if not text.decode().strip():
            return "empty"
        if not labels and not self.parameters.multilabel:
            return "unlabelled"
        if not name or name in self.known:
            return "repeated" if name else "nameless"
        return next((what for what in self.filled if not name_of(row.others.get(what))), "")

    def _leave_out(self, why: str, location: str) -> None:
        """Count a document that is dropped, or that has a problem."""
        if why in self.parameters.drop:
            self.dropped[why] += 1
        else:
            self.problems[why].append(location)

    def _refuse(self) -> None:
        lines = []
        for why, places in self.problems.items():
            what, remedy = PROBLEMS[why]
            remedy += f", or leave such documents out by drop: [{why}]" if why in DROP_REASONS else ""
            documents = f"{len(places):,} document{'s' if len(places) > 1 else ''}"
            lines.append(f"{self.parameters.where}: {documents} {what}; {remedy} (the first: {places[0]})")
        if lines:
            raise DocumentsError("\n".join(lines), {why: len(places) for why, places in self.problems.items()})

    def corpus(self, digest: str) -> Corpus:
        """Return the documents; raise DataError with all problems."""
        where, fields = self.parameters.where, self.parameters.fields
        if not self.number:
            raise DataError(f"{where}: holds no document")
        self._refuse()  # before rare classes are sought: without these documents other classes would be rare
        sizes = Counter(() if self.parameters.multilabel else (labels for _, labels, *_ in self.kept))
        for labels in [each for each, n in sizes.items() if n == 1]:
            self._leave_out("rare", f"{self.first[labels]}, class {quote_value(labels[0])}")
        self._refuse()
        kept = [each for each in self.kept if sizes[each[1]] != 1]
        ids, classes_of, parts, groups, dates, texts, spans = zip(*kept, strict=True) if kept else ((),) * 7
        has_groups = "group" in self.filled
        documents = encode_documents(
            ids,
            classes_of,
            parts if "split" in self.filled else groups if has_groups else [NO_GROUP] * len(ids),
            multilabel=self.parameters.multilabel,
            groups=groups if has_groups else None,
            dates=np.array(dates, dtype="datetime64[s]") if "date" in self.filled else None,
        )
        if len(documents.classes) < 2:
            classes = ", ".join(map(repr, documents.classes)) or "none"
            raise DataError(f"{where}: classification needs at least two classes; the documents have {classes}")
        if unused := list(self.classes.unused):
            raise DataError(f"{where}: rename: {unknown_name('class', unused[0], documents.classes)}")
        bounds = np.array(spans, dtype=np.int64).reshape(len(ids), len(fields), 2)
        of_fields = {name: bounds[:, i] for i, name in enumerate(fields)}
        return Corpus(self.parameters.name, documents, *concatenate_texts(texts), digest, of_fields)

    def rows_within_quotes(self, classes: Sequence[str]) -> Iterator[str]:
        """Yield a note if a table's text has a line with delimiters between which a class stands."""
        path, known = self.parameters.paths_by_part()[0][1], set(classes)
        mark = self.parameters.delimiter or TABLE_DELIMITERS.get(file_extension(path), "")
        found = [
            where
            for where, text in self.multiline.items()
            if mark and any(mark in line and known & {*map(str.strip, line.split(mark))} for line in text.split("\n"))
        ]
        if found:
            first = f"{len(found):,} of the records; the first begins at {Path(found[0]).name}"
            remedy = "If these quotes are part of the text: quoting: none (bench init: --quoting none)."
            yield f"Lines that look like rows of the table stand within quotes ({first}). {remedy}"


def _joined(values: Sequence[Any], parameters: UserFiles) -> tuple[bytes, Sequence[int]]:
    """Return a document's text, and start and stop of each of its fields, if it has any."""
    if not parameters.fields:
        if not isinstance(values[0], str | None):
            raise ValueError(f"{parameters.text} is {quote_value(values[0])}, and must be text")
        return (values[0] or "").encode("utf-8", "replace"), ()
    pieces = [None if value is None else str(value).encode("utf-8", "replace") for value in values]
    spans, start = list[int](), 0
    for piece in pieces:
        spans += [start, start + len(piece or b"")]
        start += 0 if piece is None else len(piece) + 1
    return b"\n".join(piece for piece in pieces if piece is not None), spans
