"""A corpus of one's own: a folder of class folders, or a file of records with named columns, read as a stream."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.corpora.archive import Source
from benchmark.corpora.assemble import select
from benchmark.corpora.corpus import Documents, StreamedCorpus
from benchmark.corpora.reader import CorpusReader
from benchmark.corpora.records import LINES, PARQUET, TABLES, check_encoding, decoded, kind_of, opened, records
from benchmark.errors import ConfigError, DataError, quoted, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

#: What may be left out of a corpus.
DROPPED = {
    "empty": "documents without text",
    "unlabelled": "documents without a class",
    "repeated": "documents whose id another one before them has",
    "rare": "documents of a class that has no other",
}
#: What a folder's name can be in the path of a document.
LEVELS = ("label", "split", "group")
#: The group of documents that have none.
EVERYTHING = "all"
LONGEST_NAME = 1000


@dataclass(frozen=True)
class OwnFiles(CorpusReader):
    """One's own documents: a folder of class folders, or a file of records (.csv, .tsv, .jsonl, .parquet; .gz, .zst).

    Parameters
    ----------
    path : str, or mapping of str to str
        Relative to the configuration. A mapping names a file for each side of a split: ``{train: a.csv, test: b.csv}``.
    text : str or list of str
        Column of the text; several are joined by line feeds.
    label : str
        Column of the class.
    labels : str, optional
        Column of the classes, where a document may have several or none: a list, or text with a `separator`.
    separator : str, optional
    id : str, optional
        Column of a document's name; its number, from 1, where left out.
    split : str, optional
        Column of the side of a given split, such as train and test.
    group : str, optional
        Column of what documents belong to: a customer, an author, a thread. The groups of ``leave-one-group-out``,
        unless there is a `split`; folds may keep a group's documents together.
    date : str, optional
        Column of the date, as ISO 8601 has it: 2024-05-31, or with a time.
    folders : list of str
        Of a folder: what the names of the folders above a document are, from the top: label, split, group.
    encoding : str
    delimiter : str, optional
        Between the columns of a table; a comma, or in ``.tsv`` a tab.
    drop : list of str
        What is left out rather than refused: empty, unlabelled, repeated, rare.
    base : Path
        What `path` is relative to.
    """

    path: str | dict[str, str]
    text: str | list[str] = "text"
    label: str = "label"
    labels: str | None = None
    separator: str | None = None
    id: str | None = None
    split: str | None = None
    group: str | None = None
    date: str | None = None
    folders: Sequence[str] = ("label",)
    encoding: str = "utf-8"
    delimiter: str | None = None
    drop: Sequence[str] = ()
    base: Path = field(default=Path(), compare=False)

    name: ClassVar[str] = "files"
    set_by_run: ClassVar[tuple[str, ...]] = ("base",)

    def check(self) -> None:
        """Refuse parameters that no file could have."""
        check_encoding(self.encoding)
        for key, allowed in (("folders", LEVELS), ("drop", tuple(DROPPED))):
            for value in getattr(self, key):
                if value not in allowed:
                    raise ConfigError(f"{key}: {unknown('word', value, allowed)}")
        if sorted(self.folders) != sorted(set(self.folders)) or "label" not in self.folders:
            raise ConfigError("folders: names each level once, and one of them is the label")
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ConfigError(f"delimiter is {self.delimiter!r}: must be one character")
        if self.split is not None and isinstance(self.path, dict):
            raise ConfigError("split: the path names the sides of the split already")
        if not self.path or (isinstance(self.text, list) and not self.text):
            raise ConfigError("path and text must not be empty")

    # --- What a configuration is checked against ---

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order of their names."""
        return self.outline().classes

    @property
    def groups(self) -> tuple[str, ...]:
        """The sides of the split, or else the groups, in the order of their names; "all" where there are none."""
        return self.outline().group_names

    @property
    def several(self) -> bool:
        """Whether documents may have several classes, or none."""
        return self.labels is not None

    def outline(self) -> Documents:
        """The documents themselves: the file is read to its end, and all that is wrong with it is told."""
        return self.scanned().documents

    def scanned(self) -> Scanned:
        """What stands in the files but the text; read once while they are as they were."""
        stamps = tuple((str(path), *_stamp(path)) for _, path in self._files())
        return _scanned(json.dumps([self.parameters(), str(self.base)]), stamps, _Hidden(self))

    def facts(self) -> dict[str, Any]:
        """Where paths are relative to, and what is needed to check the configuration without the files."""
        return {"base": str(self.base.resolve()), **super().facts()}

    # --- What a run takes ---

    @property
    def code(self) -> tuple[Any, ...]:
        """The functions that decide which documents it gives."""
        return OwnFiles, StreamedCorpus, select

    def locate(
        self,
        *,
        download: bool,  # noqa: ARG002 - it is here, or nowhere
        notify: Callable[[str], None],  # noqa: ARG002
        progress: bool,  # noqa: ARG002
    ) -> Source:
        """The path, as the configuration names it."""
        return Source(Path(str(self.path)) if isinstance(self.path, str) else Path(", ".join(self.path.values())))

    def content(self, source: Source) -> Mapping[str, Any]:  # noqa: ARG002 - there is one
        """Digests of the files, and every parameter but where they are."""
        kinds = [[split, kind_of(path)] for split, path in self._files()]
        return {"kinds": kinds, "digest": self.digest(), **{k: v for k, v in self.parameters().items() if k != "path"}}

    def load(self, source: Source) -> StreamedCorpus:  # noqa: ARG002 - there is one
        """The documents, and their text as a stream."""
        found = self.scanned()
        return StreamedCorpus(self.name, found.documents, found.rows, self._texts, self.digest())

    def digest(self) -> str:
        """The sha256 over the files' names (of a folder, below it; of a split, its side) and contents."""
        whole = hashlib.sha256()
        for split, path in self._files():
            for relpath, each in _below(path) if path.is_dir() else [("", path)]:
                whole.update(f"{split}\0{relpath}\0".encode("utf-8", "surrogateescape"))
                whole.update(_file_digest(str(each), _stamp(each)))
        return whole.hexdigest()

    def parameters(self) -> dict[str, Any]:
        """Every parameter by name, as plain data."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "base"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}

    def _files(self) -> list[tuple[str, Path]]:
        """Each file with the side of the split that it is, "" where the path names none."""
        given = self.path if isinstance(self.path, dict) else {"": self.path}
        found = [(split, self.base / Path(name).expanduser()) for split, name in given.items()]
        for _, path in found:
            if not path.exists():
                raise DataError(f"{path}: no such file or folder; path is relative to the configuration")
        return found

    def _texts(self) -> Iterator[bytes]:
        """The text of every record, as UTF-8."""
        for row in self.rows():
            yield row.text.encode("utf-8", "replace")

    def rows(self) -> Iterator[Row]:
        """Every record, as the files have it."""
        for split, path in self._files():
            yield from _rows_of_folder(self, split, path) if path.is_dir() else _rows_of_file(self, split, path)


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

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}" if self.line else str(self.path)


def _rows_of_file(reader: OwnFiles, split: str, path: Path) -> Iterator[Row]:
    if kind_of(path) not in (*TABLES, *LINES, *PARQUET):
        kinds = [*TABLES, *LINES, *PARQUET]
        raise DataError(f"{path}: {unknown('kind of file', kind_of(path) or path.name, kinds)}, or a folder")
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
        yield Row(path, line, text or "", label, name, split or side, group, date)


def _below(folder: Path) -> list[tuple[str, Path]]:
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
    for relpath, path in _below(folder):
        *parents, _ = relpath.split("/")
        if len(parents) < len(levels):
            wanted = "/".join([*(f"<{level}>" for level in levels), relpath.rsplit("/", 1)[-1]])
            raise DataError(f"{path}: lies in no folder of a class; it should be {folder}/{wanted} (see `folders`)")
        given = dict(zip(levels, parents, strict=False))
        with opened(path) as file:
            content = file.read()
        text = decoded(content, reader.encoding, path, 1, 0)
        yield Row(path, 0, text, given["label"], relpath, split or given.get("split"), given.get("group"), None)


# --- Reading all that isn't text ---


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


class _Hidden:
    """An argument that a cache doesn't look at."""

    def __init__(self, reader: OwnFiles) -> None:
        self.reader = reader

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hidden)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=8)
def _scanned(parameters: str, stamps: tuple[tuple[Any, ...], ...], hidden: _Hidden) -> Scanned:  # noqa: ARG001 - a key
    return _Scan(hidden.reader).done()


@lru_cache(maxsize=65_536)
def _file_digest(path: str, stamp: tuple[int, int, int]) -> bytes:  # noqa: ARG001 - a key
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from None


def _stamp(path: Path) -> tuple[int, int, int]:
    """What changes with a file, or with any file below a folder."""
    try:
        if not path.is_dir():
            stat = path.stat()
            return stat.st_size, stat.st_mtime_ns, stat.st_ino
        stats = [each.stat() for _, each in _below(path)]
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from None
    return sum(s.st_size for s in stats), hash(tuple((s.st_mtime_ns, s.st_ino) for s in stats)), len(stats)


class _Scan:
    """One reading of all records: what they are, and all that is wrong with them."""

    def __init__(self, reader: OwnFiles) -> None:
        self.reader = reader
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
        where = self.reader.path if isinstance(self.reader.path, str) else ", ".join(self.reader.path.values())
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
        self.splits.append(self._named(row, "split", row.split) if _has(reader, "split") else EVERYTHING)
        if _has(reader, "group"):
            self.units.append(self._named(row, "group", row.group))
        if reader.date is not None:
            self.dates.append(_date(row, reader.date))

    def _left_out(self, why: str, row: Row, name: str = "") -> bool:
        if why in self.reader.drop:
            self.dropped[why] += 1
        else:
            n, first = self.wrong.get(why, (0, row.place + (f" ({quoted(name)})" if name else "")))
            self.wrong[why] = n + 1, first
        return True

    def _named(self, row: Row, what: str, value: Any) -> str:
        name = _name(value)
        if not name:
            n, first = self.wrong.get(what, (0, row.place))
            self.wrong[what] = n + 1, first
        return name

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
                    n, first = self.wrong.get("rare", (0, f"{self.places[label]}, class {quoted(label)}"))
                    self.wrong["rare"] = n + 1, first
        return kept

    def _documents(self, kept: NDArray[np.bool_]) -> Documents:
        rows = np.flatnonzero(kept)
        labels = [self.labels[row] for row in rows]
        n, several = len(rows), self.reader.several
        classes = tuple(sorted({name for each in labels for name in each} if several else set(labels)))
        code = {name: position for position, name in enumerate(classes)}
        topics = None
        if several:
            topics = np.zeros((n, len(classes)), dtype=np.bool_)
            for position, names in enumerate(labels):
                topics[position, [code[name] for name in names]] = True
        codes = np.full(n, -1, np.int32) if several else np.array([code[name] for name in labels], dtype=np.int32)
        units, unit_names = _coded([self.units[row] for row in rows]) if self.units else (None, ())
        groups, group_names = _coded([self.splits[row] for row in rows])
        if units is not None and not _has(self.reader, "split"):
            groups, group_names = units, unit_names
        dates = np.array([self.dates[row] for row in rows], dtype="datetime64[s]") if self.dates else None
        ids = tuple(self.ids[row] for row in rows)
        return Documents(ids, codes, groups, classes, group_names, topics, units, dates)


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


def _has(reader: OwnFiles, what: str) -> bool:
    """Whether documents have a side of a split, or a group."""
    folder = not isinstance(reader.path, dict) and kind_of(Path(reader.path)) not in (*TABLES, *LINES, *PARQUET)
    if what == "split" and isinstance(reader.path, dict):
        return True
    return what in reader.folders if folder else getattr(reader, what) is not None


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


def _coded(names: Sequence[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Names as positions among their sorted values."""
    known = sorted(set(names))
    code = {name: position for position, name in enumerate(known)}
    return np.array([code[name] for name in names], dtype=np.int32), tuple(known)


@dataclass(frozen=True)
class RecordedCorpus(CorpusReader):
    """One's own corpus as a manifest keeps it: enough to read a run again, not to make one.

    Parameters
    ----------
    kept : mapping
        As `CorpusReader.facts` gives it.
    """

    kept: Mapping[str, Any]

    name: ClassVar[str] = OwnFiles.name

    @classmethod
    def called(cls, name: str, facts: Mapping[str, Any]) -> RecordedCorpus:
        """One that configurations call otherwise."""
        own: type[RecordedCorpus] = cls if name == cls.name else type(cls.__name__, (cls,), {"name": name})
        return own(facts)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order of their names."""
        return tuple(self.kept["classes"])

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups, in the order of their names."""
        return tuple(self.kept["groups"])

    @property
    def several(self) -> bool:
        """Whether documents may have several classes, or none."""
        return self.kept["documents"] is not None

    def outline(self) -> Documents:
        """Documents right in number, class and group."""
        return outlined(self.classes, self.groups, self.kept["sizes"], self.kept["documents"])

    def locate(self, *_: Any, **__: Any) -> Any:
        """Nowhere."""
        raise DataError("the corpus of a finished run is asked for by its configuration, not by its manifest")

    content = load = locate

    @property
    def code(self) -> tuple[Any, ...]:
        """Nothing is computed of it."""
        return ()


def outlined(
    classes: tuple[str, ...],
    groups: tuple[str, ...],
    sizes: Iterable[Sequence[int]],
    documents: Sequence[int] | None,
) -> Documents:
    """Documents by number: of each class and group, or, where they may have several classes, of each group.

    Of documents with several classes or none, numbers don't say which; these have none here.
    """
    if documents is not None:
        sides = np.repeat(np.arange(len(groups)), list(documents)).astype(np.int32)
        none = np.zeros((len(sides), len(classes)), dtype=bool)
        labels = np.full(len(sides), -1, dtype=np.int32)
        return Documents(tuple(map(str, range(len(sides)))), labels, sides, classes, groups, none)
    flat = np.ravel([list(row) for row in sizes])
    labels = np.repeat(np.repeat(np.arange(len(classes)), len(groups)), flat).astype(np.int32)
    sides = np.repeat(np.tile(np.arange(len(groups)), len(classes)), flat).astype(np.int32)
    return Documents(tuple(map(str, range(len(labels)))), labels, sides, classes, groups)
