"""A user's corpus: a folder of class folders, or a file of records with named columns."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence  # noqa: TC003 - types of parameters
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.corpora.user.documents import DROP_REASONS, read_documents
from benchmark.corpora.user.records import QUOTINGS, TextForm, file_extension
from benchmark.corpora.user.text_files import check_encoding
from benchmark.corpora.user.user_corpus import UserCorpus
from benchmark.system.errors import ConfigError, DataError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.corpora.archive import CorpusSource
    from benchmark.corpora.corpus import Corpus, Documents
    from benchmark.corpora.user.documents import ScanResult

#: Meanings of a folder's name in the path of a document.
FOLDER_LEVELS = ("label", "split", "group")


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
    folders : list of str
        Meaning of the folders above a document, from the top: label, split, group.
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
    folders: Sequence[str] = ("label",)
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
        words = {"folders": FOLDER_LEVELS, "drop": tuple(DROP_REASONS), "quoting": tuple(QUOTINGS)}
        for key, allowed in words.items():
            words_stated = getattr(self, key)
            for value in [words_stated] if isinstance(words_stated, str) else words_stated:
                if value not in allowed:
                    raise ConfigError(f"{key}: {unknown_name('word', value, allowed)}")
        try:
            csv.reader((), delimiter=self.delimiter or ",", escapechar=self.escape)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"delimiter, escape: {error}") from None
        if len(self.folders) != len(set(self.folders)) or "label" not in self.folders:
            raise ConfigError("folders: must name each level once, and one of them must be label")
        if isinstance(self.path, dict) and (self.split is not None or "split" in self.folders):
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
        return {field.name: getattr(self, field.name) for field in fields(TextForm)}

    @property
    def fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """Columns of the text, where there are several."""
        return () if isinstance(self.text, str) else tuple(self.text)

    def has(self, what: str) -> bool:
        """Test whether documents have a part of a split ("split"), or a group ("group")."""
        if what == "split" and isinstance(self.path, dict):
            return True
        in_column, above = getattr(self, what) is not None, what in self.folders
        return any(above if path.is_dir() else in_column for _, path in self.paths_by_part())

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
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "base"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @cached_property
    def _stamps(self) -> tuple[tuple[str, int, int], ...]:
        """Name, size and time of modification of each file."""
        stats = [(str(file), file.stat()) for _, path in self.paths_by_part() for _, file in files_below(path)]
        return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@lru_cache(maxsize=2)
def _read(parameters: str, base: Path, stamps: tuple[tuple[str, int, int], ...]) -> ScanResult:
    del stamps  # files that were edited are read again
    reader = UserFiles(**json.loads(parameters), base=base)
    return read_documents(reader, [(part, path, files_below(path)) for part, path in reader.paths_by_part()])


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
    raise DataError(f"{error.filename}: can't be read: {error.strerror}")
