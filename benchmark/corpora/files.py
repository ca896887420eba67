"""A corpus of one's own: a folder of class folders, or a file of records with named columns, read as a stream."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.corpora.corpus import FieldedText, StreamedCorpus
from benchmark.corpora.file_digest import digest_of
from benchmark.corpora.file_rows import rows_of
from benchmark.corpora.own import OwnCorpus
from benchmark.corpora.records import check_encoding, kind_of
from benchmark.corpora.scan import scanned
from benchmark.errors import ConfigError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmark.corpora.archive import Source
    from benchmark.corpora.corpus import Documents
    from benchmark.corpora.file_digest import CorpusDigest
    from benchmark.corpora.file_rows import Row
    from benchmark.corpora.scan import Scanned

#: What may be left out of a corpus.
DROPPED = {
    "empty": "documents without text",
    "unlabelled": "documents without a class",
    "repeated": "documents whose id another one before them has",
    "rare": "documents of a class that has no other",
}
#: What a folder's name can be in the path of a document.
LEVELS = ("label", "split", "group")


@dataclass(frozen=True)
class OwnFiles(OwnCorpus):
    """One's own documents: a folder of class folders, or a file of records (.csv, .tsv, .jsonl, .parquet; .gz, .zst).

    Parameters
    ----------
    path : str, or mapping of str to str
        Relative to the configuration. A mapping names one for each side of a split: ``{train: a.csv, test: b.csv}``.
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
    header : bool
        Whether the first row of a table names its columns; where it doesn't, they are called "1", "2", ….
    drop : list of str
        What is left out rather than refused: empty, unlabelled, repeated, rare.
    format : str, optional
        How the text is divided into fields that are counted by themselves: mail or html. Several columns of the text
        are such fields by their names.
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
    header: bool = True
    drop: Sequence[str] = ()
    format: str | None = None

    name: ClassVar[str] = "files"

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
        if isinstance(self.path, dict) and (self.split is not None or "split" in self.folders):
            raise ConfigError("split: the path names the sides of the split already")
        if not self.path or (isinstance(self.text, list) and not self.text):
            raise ConfigError("path and text must not be empty")
        if self.format is not None and self.fields:
            raise ConfigError("format: the columns of the text are its fields already")

    # --- What a configuration is checked against ---

    @property
    def several(self) -> bool:
        """Whether documents may have several classes, or none."""
        return self.labels is not None

    @property
    def fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns of the text, where there are several."""
        return () if isinstance(self.text, str) else tuple(self.text)

    def outline(self) -> Documents:
        """The documents themselves: the file is read to its end, and all that is wrong with it is told."""
        return self.scanned().documents

    def scanned(self) -> Scanned:
        """Return what stands in the files but the text; read once."""
        return scanned(self)

    @cached_property
    def digests(self) -> CorpusDigest:
        """Digests of the files, taken once: the same content is read from then on, or none."""
        return digest_of(self.places())

    def has(self, what: str) -> bool:
        """Whether documents have a side of a split ("split"), or a group ("group")."""
        if what == "split" and isinstance(self.path, dict):
            return True
        in_column, above = getattr(self, what) is not None, what in self.folders
        return any(above if place.is_folder else in_column for place in self.digests.places)

    # --- What a run takes ---

    def content(self, source: Source) -> Mapping[str, Any]:  # noqa: ARG002 - there is one
        """Digests of the files, and every parameter but where they are; DataError if they were changed since."""
        self.check_unchanged()
        kinds = [[place.split, "" if place.is_folder else kind_of(place.path)] for place in self.digests.places]
        return {"kinds": kinds, "digest": self.digest(), **{k: v for k, v in self.parameters().items() if k != "path"}}

    def load(self, source: Source) -> StreamedCorpus:  # noqa: ARG002 - there is one
        """The documents, and their text as a stream."""
        found = self.scanned()
        return StreamedCorpus(self.name, found.documents, found.rows, self._texts, self.digest())

    def digest(self) -> str:
        """Return the sha256 over the files' names (of a folder, below it; of a split, its part) and contents."""
        return self.digests.digest

    def check_unchanged(self) -> None:
        """Raise DataError if a file was edited since its digest was taken."""
        self.digests.check_unchanged()

    def parameters(self) -> dict[str, Any]:
        """Every parameter by name, as plain data."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "base"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}

    def _texts(self) -> Iterator[bytes]:
        """The text of every record, as UTF-8."""
        for row in self.rows():
            text = row.text.encode("utf-8", "replace")
            yield (
                FieldedText(text, {k: v.encode("utf-8", "replace") for k, v in row.fields.items()})
                if row.fields
                else text
            )

    def rows(self) -> Iterator[Row]:
        """Yield every record, as the files had it when they were digested."""
        for place in self.digests.places:
            yield from rows_of(self, place)
