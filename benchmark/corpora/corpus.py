"""What a corpus is once it has been read: who the documents are, and their raw bytes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Documents:
    """The documents of a corpus, in their one fixed order, without their text.

    Parameters
    ----------
    ids : tuple of str, length n
        Unique names: the path inside the archive, decoded as latin-1.
    labels : int array, shape (n,)
        Index into `classes`; -1 for every document where `topics` says which classes it has.
    groups : int array, shape (n,)
        Index into `group_names`: the university of a page, or the side (train, test) of a given split.
    classes, group_names : tuple of str
        In the fixed order that one-vs-one ties and every table follow.
    topics : bool array, shape (n, n_classes), optional
        Which classes each document has, where it may have several or none (multi-label). None where each has exactly
        one, its label.
    units : int array, shape (n,), optional
        Documents of one number belong together (a customer's, an author's, a thread's): folds may keep them so.
    dates : datetime64[s] or int64 array, shape (n,), optional
        When each was written. Whole numbers tell the order of the documents of one class alone: the numbers of posts,
        which each newsgroup counts by itself.
    """

    ids: tuple[str, ...]
    labels: NDArray[np.int32]
    groups: NDArray[np.int32]
    classes: tuple[str, ...]
    group_names: tuple[str, ...]
    topics: NDArray[np.bool_] | None = None
    units: NDArray[np.int32] | None = None
    dates: NDArray[np.datetime64] | NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        """Refuse topics that don't fit, and labels beside topics: a reader of either would be misled."""
        if self.topics is None:
            return
        if self.topics.shape != (len(self.ids), len(self.classes)) or self.topics.dtype != np.bool_:
            wanted = f"bool of shape {(len(self.ids), len(self.classes))}"
            raise ValueError(f"topics must be {wanted}, not {self.topics.dtype} of shape {self.topics.shape}")
        if np.any(self.labels != -1):
            raise ValueError("multi-label documents have the label -1, and their classes in topics")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def dated_by_class(self) -> bool:
        """Whether the dates order the documents of one class alone."""
        return self.dates is not None and self.dates.dtype.kind == "i"

    def take(self, rows: NDArray[np.intp]) -> Documents:
        """The documents at `rows`, with the same classes and group names."""
        ids = tuple(self.ids[row] for row in rows)
        names = self.classes, self.group_names
        topics = None if self.topics is None else self.topics[rows]
        units = None if self.units is None else self.units[rows]
        dates = None if self.dates is None else self.dates[rows]
        return Documents(ids, self.labels[rows], self.groups[rows], *names, topics, units, dates)

    def of_classes(self, classes: tuple[str, ...]) -> tuple[NDArray[np.intp], Documents]:
        """The documents of some classes, as a collection of these classes in this order: their rows, and they.

        Where documents may have several classes all of them stay, those of other classes as documents of none.
        """
        codes = [self.classes.index(name) for name in classes]
        if self.topics is not None:
            return np.arange(len(self)), replace(self, classes=classes, topics=self.topics[:, codes])
        position = np.full(len(self.classes), -1, dtype=np.int32)
        position[codes] = np.arange(len(codes), dtype=np.int32)
        labels = position[self.labels]
        rows = np.flatnonzero(labels >= 0)
        return rows, replace(self.take(rows), labels=labels[rows], classes=classes)

    def sizes(self) -> NDArray[np.int64]:
        """Documents by class and group, shape (n_classes, n_groups).

        A multi-label document counts for each of its classes.
        """
        rows, classes = (np.arange(len(self)), self.labels) if self.topics is None else np.nonzero(self.topics)
        sizes = np.zeros((len(self.classes), len(self.group_names)), dtype=np.int64)
        np.add.at(sizes, (classes, self.groups[rows]), 1)
        return sizes


Chunk = tuple["NDArray[np.uint8]", "NDArray[np.int64]"]
"""Documents end to end: their bytes, and the bounds between them, one more than there are documents."""

CHUNK = 2**23
"""Bytes from which on a chunk is whole."""


def join(pieces: Sequence[bytes | memoryview]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Lay documents end to end: their bytes, and the n + 1 bounds between them."""
    bounds = np.zeros(len(pieces) + 1, dtype=np.int64)
    np.cumsum([len(piece) for piece in pieces], out=bounds[1:])
    # a bytearray and not bytes: compiled functions of a fixed signature accept writable arrays only
    return np.frombuffer(bytearray().join(pieces), dtype=np.uint8), bounds


def batches(texts: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    """Texts in order, so many that they have `size` bytes or more, at a time."""
    batch, n_bytes = list[bytes](), 0
    for text in texts:
        batch.append(text)
        n_bytes += len(text)
        if n_bytes >= size:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


class FieldedText(bytes):
    """A document's text, and beside it the fields that it was put together from.

    Parameters
    ----------
    text : bytes
    fields : mapping of str to bytes
    """

    fields: Mapping[str, bytes]

    def __new__(cls, text: bytes, fields: Mapping[str, bytes]) -> Self:
        """The text's bytes."""
        found = super().__new__(cls, text)
        found.fields = fields
        return found


@dataclass(frozen=True)
class Corpus:
    """Documents with their raw bytes, end to end in one buffer.

    Parameters
    ----------
    dataset : str
        Name of the dataset card.
    documents : Documents
    text : uint8 array
        All documents' bytes, concatenated in document order.
    bounds : int64 array, shape (n + 1,)
        Document i is ``text[bounds[i]:bounds[i + 1]]``.
    digest : str
        Content digest of the whole corpus as distributed (not only of the classes kept).
    fields : mapping of str to int64 array, shape (n, 2)
        Where documents are put together from fields, between which of its bytes each document has them.
    """

    dataset: str
    documents: Documents
    text: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    digest: str
    fields: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[bytes]:
        for row, (start, stop) in enumerate(pairwise(self.bounds)):
            text = self.text[start:stop].tobytes()
            own = {name: text[slice(*spans[row])] for name, spans in self.fields.items()}
            yield FieldedText(text, own) if own else text

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        """The documents in order, some of them at a time: their bytes, and the bounds between them."""
        start = 0
        while start < len(self.documents):
            stop = int(np.searchsorted(self.bounds, self.bounds[start] + size))
            stop = min(max(stop, start + 1), len(self.documents))
            bounds = self.bounds[start : stop + 1]
            yield self.text[bounds[0] : bounds[-1]], bounds - bounds[0]
            start = stop

    def take(self, rows: NDArray[np.intp]) -> Corpus:
        """The corpus restricted to the documents at `rows`, in that order; of all of them nothing is copied."""
        if np.array_equal(rows, np.arange(len(self.documents))):
            return self
        pieces = [self.text[self.bounds[row] : self.bounds[row + 1]] for row in rows]
        lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
        text = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.uint8)
        bounds = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
        fields = {name: spans[rows] for name, spans in self.fields.items()}
        return Corpus(self.dataset, self.documents.take(rows), text, bounds, self.digest, fields)


@dataclass(frozen=True)
class StreamedCorpus:
    """Documents whose bytes are read when they are asked for, and never held together.

    Parameters
    ----------
    dataset : str
    documents : Documents
    rows : intp array, shape (n,)
        The record of each document, ascending.
    texts : callable
        The bytes of every record from the first one on, UTF-8.
    digest : str
        Of the files.
    """

    dataset: str
    documents: Documents
    rows: NDArray[np.intp]
    texts: Callable[[], Iterator[bytes]]
    digest: str

    def __iter__(self) -> Iterator[bytes]:
        wanted = iter(self.rows.tolist())
        row = next(wanted, None)
        for number, text in enumerate(self.texts()):
            if row is None:
                return
            if number == row:
                yield text
                row = next(wanted, None)

    def take(self, rows: NDArray[np.intp]) -> StreamedCorpus:
        """The corpus restricted to the documents at `rows`, which ascend."""
        return replace(self, documents=self.documents.take(rows), rows=self.rows[rows])

    def chunks(self, size: int = CHUNK) -> Iterator[Chunk]:
        """The documents in order, some of them at a time, as `Corpus.chunks` gives them."""
        yield from map(join, batches(self, size))


AnyCorpus = Corpus | StreamedCorpus
