"""One reading of one's own files: what the documents are, text aside, and all that is wrong with them."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.corpora.own import documents_of
from benchmark.errors import DataError, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.corpora.corpus import Documents
    from benchmark.corpora.file_rows import Row
    from benchmark.corpora.files import OwnFiles

#: The group of documents that have none.
EVERYTHING = "all"
LONGEST_NAME = 1000


@dataclass(frozen=True, eq=False)
class Scanned:
    """What stands in the files but the text.

    Parameters
    ----------
    documents : Documents
    rows : intp array, shape (n,)
        The record of each document, ascending from 0: those that were dropped are left out.
    dropped : dict of str to int
        How many records were left out, by why.
    """

    documents: Documents
    rows: NDArray[np.intp]
    dropped: dict[str, int]


def scanned(reader: OwnFiles) -> Scanned:
    """Read the files to their end, once for each content.

    Raises
    ------
    DataError
        All that has to be mended in them; or one was changed while it was read.
    """
    return _scanned(json.dumps([reader.parameters(), str(reader.base)]), reader.digest(), _Hidden(reader))


class _Hidden:
    """An argument that a cache doesn't look at."""

    def __init__(self, reader: OwnFiles) -> None:
        self.reader = reader

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hidden)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=8)
def _scanned(parameters: str, digest: str, hidden: _Hidden) -> Scanned:  # noqa: ARG001 - a key
    found = _Scan(hidden.reader).done()
    hidden.reader.check_unchanged()
    return found


class _Scan:
    """One reading of all records: what they are, and all that is wrong with them."""

    def __init__(self, reader: OwnFiles) -> None:
        self.reader = reader
        self.sided, self.grouped = reader.has("split"), reader.has("group")
        self.ids, self.labels, self.places = list[str](), list[Any](), dict[str, str]()
        self.splits, self.units, self.dates = list[str](), list[str](), list[datetime]()
        self.rows, self.seen = list[int](), dict[str, int]()
        self.wrong: dict[str, tuple[int, str]] = {}
        self.dropped: Counter[str] = Counter()

    def done(self) -> Scanned:
        """Read to the end; DataError with all that has to be mended."""
        number = -1
        for number, row in enumerate(self.reader.rows()):
            self._take(number, row)
        where = self.reader.where
        if number < 0:
            raise DataError(f"{where}: holds no document")
        self._refuse(where)  # first of all: other classes would be rare without these documents
        kept = self._not_rare()
        self._refuse(where)
        documents = self._documents(kept)
        if len(documents.classes) < 2:
            have = (
                f"all documents have the class {documents.classes[0]!r}" if documents.classes else "no document is left"
            )
            raise DataError(f"{where}: {have}; it takes two classes to tell apart")
        return Scanned(documents, np.array(self.rows, dtype=np.intp)[kept], dict(self.dropped))

    def _refuse(self, where: str) -> None:
        if self.wrong:
            raise DataError(
                "\n".join(f"{where}: {_counted(n, what, place)}" for what, (n, place) in self.wrong.items())
            )

    def _take(self, number: int, row: Row) -> None:
        reader = self.reader
        name = str(number + 1) if row.id is None else _name(row.id)
        labels = _labels(row, reader.separator) if reader.several else _name(row.label)
        if not row.text.strip() and self._left_out("empty", row):
            return
        if not labels and not reader.several and self._left_out("unlabelled", row):
            return
        if (not name or name in self.seen) and self._left_out("repeated" if name else "nameless", row, name):
            return
        self.seen[name] = number
        self.rows.append(number)
        self.ids.append(name)
        self.labels.append(labels)
        if not reader.several:
            self.places.setdefault(str(labels), row.place)
        self.splits.append(self._named(row, "split", row.split) if self.sided else EVERYTHING)
        if self.grouped:
            self.units.append(self._named(row, "group", row.group))
        if reader.date is not None:
            self.dates.append(_date(row, reader.date))

    def _left_out(self, why: str, row: Row, name: str = "") -> bool:
        if why in self.reader.drop:
            self.dropped[why] += 1
        else:
            self._note(why, row.place + (f" ({quoted(name)})" if name else ""))
        return True

    def _named(self, row: Row, what: str, value: Any) -> str:
        name = _name(value)
        if not name:
            self._note(what, row.place)
        return name

    def _note(self, what: str, place: str) -> None:
        n, first = self.wrong.get(what, (0, place))
        self.wrong[what] = n + 1, first

    def _not_rare(self) -> NDArray[np.bool_]:
        kept = np.ones(len(self.ids), dtype=bool)
        if self.reader.several:
            return kept
        sizes = Counter(self.labels)
        for position, label in enumerate(self.labels):
            if sizes[label] == 1 and label:
                if "rare" in self.reader.drop:
                    kept[position] = False
                    self.dropped["rare"] += 1
                else:
                    self._note("rare", f"{self.places[label]}, class {quoted(label)}")
        return kept

    def _documents(self, kept: NDArray[np.bool_]) -> Documents:
        rows, several = np.flatnonzero(kept), self.reader.several
        labels = [self.labels[row] for row in rows]
        classes = sorted({name for each in labels for name in each} if several else set(labels))
        units = [self.units[row] for row in rows] if self.units else None
        return documents_of(
            [self.ids[row] for row in rows],
            labels if several else ((name,) for name in labels),
            classes,
            units if units is not None and not self.sided else [self.splits[row] for row in rows],
            several=several,
            units=units,
            dates=np.array([self.dates[row] for row in rows], dtype="datetime64[s]") if self.dates else None,
        )


_SAID = {
    "empty": "without text; give them some, or leave them out by drop: [empty]",
    "unlabelled": "without a class; give them one, or leave them out by drop: [unlabelled]",
    "repeated": "with the id of another one before them; name another column, or keep the first of each by "
    "drop: [repeated]",
    "nameless": "without an id; fill the column, or leave `id` out",
    "rare": "whose class has no other, so that it can't be both trained on and tested; give them another class, or "
    "leave them out by drop: [rare]",
    "split": "without a side of the split; fill the column",
    "group": "without a group; fill the column",
}


def _counted(n: int, why: str, place: str) -> str:
    return f"{n:,} document{'s' if n > 1 else ''} {_SAID[why]} (the first: {place})"


def _name(value: Any) -> str:
    """A class, id, side or group as text: a number as it is written."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value).strip().replace("\0", "")[:LONGEST_NAME]


def _labels(row: Row, separator: str | None) -> tuple[str, ...]:
    """The classes of a document that may have several."""
    given = row.label
    if isinstance(given, str):
        if separator is None and given.strip():
            raise DataError(f"{row.place}: the classes are text, {quoted(given)}; name their separator, such as ';'")
        given = given.split(separator) if separator else []
    if given is None:
        given = []
    if not isinstance(given, list):
        given = [given]
    return tuple(dict.fromkeys(name for each in given if (name := _name(each))))


def _date(row: Row, column: str) -> datetime:
    value = row.date
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
    except ValueError:
        raise DataError(
            f"{row.place}: {column} is {quoted(value)}, and must be a date as ISO 8601 has it: 2024-05-31"
        ) from None
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found
