"""Parameters of a user's own files, as a configuration states them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from benchmark.corpora.file_digest import digest_paths
from benchmark.corpora.user.dates import check_date_format
from benchmark.corpora.user.records import QUOTINGS, TextForm
from benchmark.corpora.user.text_lines import check_encoding
from benchmark.corpora.user.user_corpus import UserCorpus
from benchmark.system.errors import ConfigError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.corpora.file_digest import CorpusDigest

#: Documents that `drop` can leave out.
DROP_REASONS = {
    "empty": "documents without text",
    "unlabelled": "documents without a class",
    "repeated": "documents with the id of an earlier document",
    "rare": "documents that are the only one of their class",
}
#: Meanings of a folder's name in the path of a document.
FOLDER_LEVELS = ("label", "split", "group")


@dataclass(frozen=True)
class FileParameters(UserCorpus):
    """Where a user's documents are, and which columns or folders have what.

    Parameters
    ----------
    path : str, or mapping of str to str
        File or folder, relative to the configuration. A mapping has one for each part: ``{train: a.csv, test: b.csv}``.
    text : str or list of str
        Column of the text; in JSON, `body.text` is the key text of the object body. Several columns are joined by line
        feeds, and are fields that are counted separately.
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
        Column of the date, in ISO 8601 (2024-05-31, or with a time) or a local form that is clear from its values.
    date_format : str, optional
        Format of the dates, in the codes of Python's strptime: "%d/%m/%Y". By default it is recognised.
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
        for key, allowed in (("folders", FOLDER_LEVELS), ("drop", tuple(DROP_REASONS))):
            for value in getattr(self, key):
                if value not in allowed:
                    raise ConfigError(f"{key}: {unknown_name('word', value, allowed)}")
        if sorted(self.folders) != sorted(set(self.folders)) or "label" not in self.folders:
            raise ConfigError("folders: must name each level once, and one of them must be label")
        self._check_table()
        if isinstance(self.path, dict) and (self.split is not None or "split" in self.folders):
            raise ConfigError("split: the path already names the parts of the split")
        if self.date_format is not None:
            check_date_format(self.date_format, self.date)
        if not self.path or [] in (self.text, self.label, self.labels):
            raise ConfigError("path, text, label and labels must not be empty")
        if self.format is not None and self.fields:
            raise ConfigError("format: several columns of text are its fields already")

    def _check_table(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ConfigError(f"delimiter is {self.delimiter!r}: must be one character")
        if self.quoting not in QUOTINGS:
            raise ConfigError(f"quoting: {unknown_name('word', self.quoting, list(QUOTINGS))}")
        if self.escape is not None and (
            len(self.escape) != 1 or self.escape in '"\r\n' or self.escape == self.delimiter
        ):
            raise ConfigError(f"escape is {self.escape!r}: must be one character, such as a backslash")

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

    @cached_property
    def digests(self) -> CorpusDigest:
        """Digests of the files, computed once; files with other content raise DataError from then on."""
        return digest_paths(self.places())

    def has(self, what: str) -> bool:
        """Test whether documents have a part of a split ("split"), or a group ("group")."""
        if what == "split" and isinstance(self.path, dict):
            return True
        in_column, above = getattr(self, what) is not None, what in self.folders
        return any(above if place.is_folder else in_column for place in self.digests.places)

    def digest(self) -> str:
        """Return the sha256 over the files' names (of a folder, below it; of a split, its part) and contents."""
        return self.digests.digest

    def check_unchanged(self) -> None:
        """Raise DataError if a file was edited since its digest was computed."""
        self.digests.check_unchanged()

    def parameters(self) -> dict[str, Any]:
        """Return all parameters by name, as plain data."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "base"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
