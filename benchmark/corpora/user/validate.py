"""Read a user's files once: collect the documents without their text, and all problems with them."""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.corpora.user.dates import DateColumn
from benchmark.corpora.user.label_notes import UNQUOTED_LIST, SwallowedRows, label_notes, listed_labels
from benchmark.corpora.user.records_reader import iter_rows
from benchmark.corpora.user.user_corpus import encode_documents
from benchmark.system.checks import escape_surrogates
from benchmark.system.errors import DataError, quote_value, unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmark.corpora.corpus import Documents
    from benchmark.corpora.user.file_parameters import FileParameters
    from benchmark.corpora.user.records_reader import FileRow

#: Group of documents without a group.
NO_GROUP = "all"
MAX_LABEL_LENGTH = 1000


class DocumentsError(DataError):
    """Documents with problems; `reasons` has their numbers by reason, of which `drop` can leave out some."""

    def __init__(self, message: str, reasons: dict[str, int]) -> None:
        super().__init__(message)
        self.reasons = reasons


@dataclass(frozen=True, eq=False)
class ScanResult:
    """Content of the files without the text.

    Parameters
    ----------
    documents : Documents
    rows : intp array, shape (n,)
        Number of each document's record, from 0, ascending; records that were dropped are missing.
    dropped : dict of str to int
        Numbers of dropped records, by reason.
    notes : tuple of str
        What the files may mean otherwise: classes that are nearly alike, texts that hold rows, links.
    """

    documents: Documents
    rows: NDArray[np.intp]
    dropped: dict[str, int]
    notes: tuple[str, ...] = ()


def scan_files(reader: FileParameters) -> ScanResult:
    """Read the files to the end; cached by their content.

    Raises
    ------
    DataError
        The files have problems (the message lists all), or a file was changed while it was read.
    """
    return _scanned(json.dumps(reader.parameters()), reader.digest(), _Hidden(reader))


class _Hidden:
    """Argument that is not part of a cache's key."""

    def __init__(self, reader: FileParameters) -> None:
        self.reader = reader

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hidden)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=8)
def _scanned(parameters: str, digest: str, hidden: _Hidden) -> ScanResult:  # noqa: ARG001 - a key
    reader = hidden.reader
    scan = _Scan(reader).done()
    reader.check_unchanged()
    return scan


class _Scan:
    """State of one pass over all records: their documents, and all problems with them."""

    def __init__(self, reader: FileParameters) -> None:
        self.reader = reader
        self.sided, self.grouped = reader.has("split"), reader.has("group")
        self.ids, self.labels, self.places = list[str](), list[Any](), dict[str, str]()
        self.splits, self.groups = list[str](), list[str]()
        self.dates = None if reader.date is None else DateColumn(reader.date, reader.date_format)
        self.rows, self.seen = list[int](), dict[str, int]()
        self.wrong: dict[str, tuple[int, str]] = {}
        self.dropped: Counter[str] = Counter()
        self.rename = {_composed(old): _composed(new) for old, new in (reader.rename or {}).items()}
        self.renamed, self.decomposed = set[str](), Counter[str]()
        self.skipped, self.swallowed = list[int](), SwallowedRows()

    def done(self) -> ScanResult:
        """Read to the end; raise DataError with all problems."""
        number = -1
        for number, row in enumerate(iter_rows(self.reader, self.skipped)):
            self._take(number, row)
            self.swallowed.add(row)
        where = self.reader.where
        if number < 0:
            raise DataError(f"{where}: holds no document")
        self._refuse(where)  # before rare classes are sought: without these documents other classes would be rare
        kept = self._not_rare()
        self._refuse(where)
        documents = self._documents(kept)
        if len(documents.classes) < 2:
            problem = (
                f"all documents have the class {documents.classes[0]!r}" if documents.classes else "no document is left"
            )
            raise DataError(f"{where}: {problem}; classification needs at least two classes")
        if unused := [name for name in self.rename if name not in self.renamed]:
            raise DataError(f"{where}: rename: {unknown_name('class', unused[0], documents.classes)}")
        rows = np.array(self.rows, dtype=np.intp)[kept]
        return ScanResult(documents, rows, dict(self.dropped), tuple(self._notes(documents)))

    def _notes(self, documents: Documents) -> Iterator[str]:
        places = self.reader.digests.places
        where = ", ".join(place.path.name for place in places)
        if links := sum(place.links for place in places):
            yield f"{where}: links aren't followed: {links:,} left out"
        if n := len(self.skipped):
            rows = "1 row has only delimiters and is" if n == 1 else f"{n:,} rows have only delimiters and are"
            yield f"{where}: {rows} left out (the first: line {self.skipped[0]:,})"
        yield from self.swallowed.notes(self.reader, documents.classes)
        yield from label_notes(documents, self.decomposed)

    def _refuse(self, where: str) -> None:
        if self.wrong:
            lines = [f"{where}: {_counted(n, what, place)}" for what, (n, place) in self.wrong.items()]
            raise DocumentsError("\n".join(lines), {what: n for what, (n, _) in self.wrong.items()})

    def _take(self, number: int, row: FileRow) -> None:
        reader = self.reader
        name = str(number + 1) if row.id is None else _name(row.id)
        labels = tuple(dict.fromkeys(filter(None, map(self._class, _labels(row, reader)))))
        if not row.text.strip() and self._left_out("empty", row):
            return
        if not labels and not reader.multilabel and self._left_out("unlabelled", row):
            return
        if (not name or name in self.seen) and self._left_out("repeated" if name else "nameless", row, name):
            return
        self.seen[name] = number
        self.rows.append(number)
        self.ids.append(name)
        self.labels.append(labels if reader.multilabel else labels[0])
        if not reader.multilabel:
            self.places.setdefault(labels[0], row.place)
        self.splits.append(self._named(row, "split", row.split) if self.sided else NO_GROUP)
        if self.grouped:
            self.groups.append(self._named(row, "group", row.group))
        if self.dates is not None and self._named(row, "date", row.date):
            self.dates.add(row.date, row.place)

    def _class(self, value: Any) -> str:
        """Return a class by its name in composed Unicode, renamed."""
        name = _name(value)
        composed = _composed(name)
        if composed in self.rename:
            self.renamed.add(composed)
            return self.rename[composed]
        if composed != name:
            self.decomposed[composed] += 1
        return composed

    def _left_out(self, why: str, row: FileRow, name: str = "") -> bool:
        if why in self.reader.drop:
            self.dropped[why] += 1
        else:
            self._note(why, row.place + (f" ({quote_value(name)})" if name else ""))
        return True

    def _named(self, row: FileRow, what: str, value: Any) -> str:
        name = _name(value)
        if not name:
            self._note(what, row.place)
        return name

    def _note(self, what: str, place: str) -> None:
        n, first = self.wrong.get(what, (0, place))
        self.wrong[what] = n + 1, first

    def _not_rare(self) -> NDArray[np.bool_]:
        kept = np.ones(len(self.ids), dtype=bool)
        if self.reader.multilabel:
            return kept
        sizes = Counter(self.labels)
        for position, label in enumerate(self.labels):
            if sizes[label] == 1 and label:
                if "rare" in self.reader.drop:
                    kept[position] = False
                    self.dropped["rare"] += 1
                else:
                    self._note("rare", f"{self.places[label]}, class {quote_value(label)}")
        return kept

    def _documents(self, kept: NDArray[np.bool_]) -> Documents:
        rows, multilabel = np.flatnonzero(kept), self.reader.multilabel
        labels = [self.labels[row] for row in rows]
        classes = sorted({name for names in labels for name in names} if multilabel else set(labels))
        groups = [self.groups[row] for row in rows] if self.groups else None
        dates = None if self.dates is None else np.array(self.dates.dates(), dtype="datetime64[s]")[rows]
        return encode_documents(
            [self.ids[row] for row in rows],
            labels if multilabel else ((name,) for name in labels),
            classes,
            groups if groups is not None and not self.sided else [self.splits[row] for row in rows],
            multilabel=multilabel,
            groups=groups,
            dates=dates,
        )


_PROBLEMS = {
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


def _counted(n: int, why: str, place: str) -> str:
    return f"{n:,} document{'s' if n > 1 else ''} {_PROBLEMS[why]} (the first: {place})"


def _name(value: Any) -> str:
    """Return a class, id, part or group as text that UTF-8 can encode; a number as Python prints it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return escape_surrogates(str(value)).strip().replace("\0", "")[:MAX_LABEL_LENGTH]


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip())


def _labels(row: FileRow, reader: FileParameters) -> list[Any]:
    """Return the classes of a document, one unless it may have several; raise DataError where they may be a list."""
    value = row.label
    listed = listed_labels(value) if isinstance(value, str) else value
    if isinstance(listed, dict) or (isinstance(listed, list) and any(isinstance(each, list | dict) for each in listed)):
        raise DataError(f"{row.place}: the class is {quote_value(value)}, and must be text, or a list of texts")
    if not reader.multilabel:
        if isinstance(listed, list):
            hint = "name its column by `labels`, not `label`, since a document may have several"
            raise DataError(f"{row.place}: the class is a list, {quote_value(value)}: {hint}")
        return [value]
    if listed is not None:
        return listed if isinstance(listed, list) else [listed]
    if value is None or not value.strip():
        return []
    separator = reader.separator
    if separator is None:
        raise DataError(f"{row.place}: the classes are text, {quote_value(value)}; name their separator, such as ';'")
    if UNQUOTED_LIST.fullmatch(value.strip()) and separator in value:
        wanted = f"without its brackets, or its classes in quotes: {json.dumps(['a', 'b'])}"
        raise DataError(f"{row.place}: the classes are a list without quotes, {quote_value(value)}: write it {wanted}")
    pieces: list[Any] = value.split(separator) if separator else [value]
    return pieces
