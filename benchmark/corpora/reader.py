"""Base of the components under `corpus`: their documents are known before their text is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.corpora.archive import CorpusSource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmark.corpora.corpus import Corpus, Documents


class CorpusReader(ABC):
    """Read one corpus; its parameters are those of the constructor.

    A configuration is checked against `outline`, which needs no text. A run then reads the documents by `load`.

    Attributes
    ----------
    name : str
        Name in configurations.
    lexer : {"unicode", "rainbow"}
        Default lexer: the letters of every script, or those that Rainbow reads.
    format : str or None
        Format by which texts are divided into fields, such as "mail" or "html"; see `benchmark.text.fields`.
    fields : sequence of str
        Fields that the texts are joined from, see `FieldedText`.
    subset : str or None
        Subset of the corpus, as named by its card; None for the whole corpus.
    """

    name: ClassVar[str]
    lexer: ClassVar[str] = "unicode"
    format: str | None = None
    fields: Sequence[str] = ()
    subset: str | None = None

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes, in the order that decides ties; a tuple of str."""
        return self.outline().classes

    @property
    def parts(self) -> tuple[str, ...]:
        """Groups (universities), or parts of a given split; a tuple of str."""
        return self.outline().part_names

    @property
    def multilabel(self) -> bool:
        """Whether documents may have several classes, or none."""
        return self.outline().topics is not None

    @abstractmethod
    def outline(self) -> Documents:
        """Return the documents without their text.

        Returns
        -------
        Documents
            n documents with the right classes and groups; their ids may be placeholders.

        Raises
        ------
        DataError
            If the corpus is missing or invalid, and the documents aren't known without it.
        """

    def locate(self, *, download: bool, notify: Callable[[str], None]) -> CorpusSource:  # noqa: ARG002
        """Find the corpus, or download it; a corpus that is generated has no path, which is the default.

        Parameters
        ----------
        download : bool
            Whether a missing corpus may be downloaded.
        notify : callable
            Called with messages about a download.

        Returns
        -------
        CorpusSource
            Location of the corpus.

        Raises
        ------
        DataError
            If the corpus isn't found, or the download fails.
        """
        return CorpusSource(None)

    @abstractmethod
    def content(self, source: CorpusSource) -> Mapping[str, Any]:
        """Return everything that determines the documents, as plain data: results are stored under it.

        Parameters
        ----------
        source : CorpusSource
            As returned by `locate`.

        Returns
        -------
        mapping of str to plain data
            Digests of the files, parameters, and the numbers that the documents are checked against.

        Raises
        ------
        DataError
            If files can't be read.
        """

    @abstractmethod
    def load(self, source: CorpusSource) -> Corpus:
        """Read the documents with their text.

        Parameters
        ----------
        source : CorpusSource
            As returned by `locate`.

        Returns
        -------
        Corpus
            n documents, as in `outline`, and their texts as bytes.

        Raises
        ------
        DataError
            If the corpus is missing, damaged, or differs from `outline` or its card.
        """

    def read(self, *, download: bool, notify: Callable[[str], None] = print) -> tuple[str, Any, dict[str, Any]]:
        """Locate and read the corpus in one step, as a user's is read; parameters as of `locate`.

        Returns
        -------
        str, Corpus or CountsCorpus, dict
            The source, the documents with their texts in memory, and the facts.
        """
        source = self.locate(download=download, notify=notify)
        return str(source), self.load(source), dict(self.facts())

    def facts(self) -> dict[str, Any]:
        """Return what a manifest says of this corpus, beside what it says of every one; nothing unless overridden."""
        return {}
