"""Parameters of a user's own files, as a configuration states them."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from benchmark.corpora.user.records import QUOTINGS, TextForm
from benchmark.corpora.user.text_files import check_encoding
from benchmark.corpora.user.user_corpus import UserCorpus
from benchmark.system.errors import ConfigError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        if self.date_format is not None and self.date is None:
            raise ConfigError("date_format: there is no date; name its column by `date`")
        if not self.path or [] in (self.text, self.label, self.labels):
            raise ConfigError("path, text, label and labels must not be empty")
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
