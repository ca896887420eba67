"""What a configuration names under `corpus`: documents that can be told apart before their text is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmark.corpora.archive import Source
    from benchmark.corpora.corpus import AnyCorpus, Documents


class CorpusReader(ABC):
    """One corpus; its parameters are its constructor's.

    A configuration is checked against `outline`, without a word of text; a run then takes the documents from `load`.
    """

    #: What configurations call it.
    name: ClassVar[str]
    #: How its text is lexed where a configuration says nothing: by the letters of every script, or as Rainbow does.
    lexer: ClassVar[str] = "unicode"
    #: How its text is divided into fields, as mail or html is; see `benchmark.text.fields`.
    format: str | None = None
    #: The fields that its texts are put together from, see `FieldedText`.
    fields: Sequence[str] = ()
    #: Part of the corpus, as its card names it; None for the whole.
    subset: str | None = None

    @property
    @abstractmethod
    def classes(self) -> tuple[str, ...]:
        """The classes, in the order that decides ties."""

    @property
    @abstractmethod
    def groups(self) -> tuple[str, ...]:
        """The groups: universities, or the sides of a given split."""

    @property
    @abstractmethod
    def several(self) -> bool:
        """Whether documents may have several classes, or none."""

    @abstractmethod
    def outline(self) -> Documents:
        """The documents it will have, right in number, class and group; their names may be stand-ins.

        Raises
        ------
        DataError
            If that can't be told because the corpus is missing or wrong.
        """

    @abstractmethod
    def locate(self, *, download: bool, notify: Callable[[str], None], progress: bool) -> Source:
        """Where the corpus is; downloaded if need be, and if that is allowed."""

    @abstractmethod
    def content(self, source: Source) -> Mapping[str, Any]:
        """What decides which documents it gives: digests of its files, parameters, what it is checked against."""

    @abstractmethod
    def load(self, source: Source) -> AnyCorpus:
        """The documents with their text.

        Raises
        ------
        DataError
            The corpus is missing, damaged, or not the one that was promised.
        """

    def check_unchanged(self) -> None:  # noqa: B027 - most corpora have nothing to check
        """Raise DataError if files were edited since `content` named them; called before their counts are stored.

        Does nothing unless a subclass has files that may be edited.
        """

    def facts(self) -> dict[str, Any]:
        """Return what a manifest says of this corpus, beside what it says of every one; nothing unless overridden."""
        return {}


class LastCorpus:
    """The corpus that was read last: other words of the same documents are counted without reading them again."""

    def __init__(self) -> None:
        self._key: tuple[Any, ...] = ()
        self._corpus: Any = None

    def load(self, reader: CorpusReader, source: Source) -> Any:
        """What the reader loads from its source, or what stands here if reader, source and content are the same."""
        key = reader, source, reader.content(source)
        if self._key != key:
            self._key, self._corpus = (), None  # let the old go before reading the new
            self._key, self._corpus = key, reader.load(source)
        return self._corpus
