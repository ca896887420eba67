"""Corpora in memory: documents with their classes, and their raw bytes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Documents:
    """Documents of a corpus in their fixed order, without their text.

    Parameters
    ----------
    ids : tuple of str, length n
        Unique names: the path inside the archive, decoded as latin-1.
    labels : int array, shape (n,)
        Index into `classes`; -1 for every document of a multi-label corpus, whose classes are in `topics`.
    parts : int array, shape (n,)
        Index into `part_names`: the university of a page, or the part (train, test) of a given split.
    classes, part_names : tuple of str
        In the fixed order that one-vs-one ties and all tables follow.
    topics : bool array, shape (n, n_classes), optional
        True where a document has a class, in a multi-label corpus. None where each document has exactly one class, its
        label.
    groups : int array, shape (n,), optional
        Documents with the same number belong together (a customer's, an author's, a thread's); folds may keep them
        together.
    dates : datetime64[s] or int64 array, shape (n,), optional
        Date of each document. Integers order documents only within a class: numbers of posts, which every newsgroup
        counts separately.
    """

    ids: tuple[str, ...]
    labels: NDArray[np.int32]
    parts: NDArray[np.int32]
    classes: tuple[str, ...]
    part_names: tuple[str, ...]
    topics: NDArray[np.bool_] | None = None
    groups: NDArray[np.int32] | None = None
    dates: NDArray[np.datetime64] | NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def dated_by_class(self) -> bool:
        """Whether the dates order documents only within a class."""
        return self.dates is not None and self.dates.dtype.kind == "i"

    def take(self, rows: NDArray[np.intp]) -> Documents:
        """Return the documents at `rows`, with the same classes and group names."""
        of_documents = "labels", "parts", "topics", "groups", "dates"
        arrays = {name: getattr(self, name) for name in of_documents if getattr(self, name) is not None}
        taken = {name: values[rows] for name, values in arrays.items()}
        return replace(self, ids=tuple(self.ids[row] for row in rows), **taken)

    def of_classes(self, classes: tuple[str, ...]) -> tuple[NDArray[np.intp], Documents]:
        """Select the documents of some classes; return their rows, and the documents coded by these classes in order.

        Multi-label documents all stay; those without any of the classes have none.
        """
        codes = [self.classes.index(name) for name in classes]
        if self.topics is not None:
            return np.arange(len(self)), replace(self, classes=classes, topics=self.topics[:, codes])
        position = np.full(len(self.classes), -1, dtype=np.int32)
        position[codes] = np.arange(len(codes), dtype=np.int32)
        labels = position[self.labels]
        rows = np.flatnonzero(labels >= 0)
        return rows, replace(self.take(rows), labels=labels[rows], classes=classes)

    def classes_of(self, row: int) -> list[str]:
        """Return the names of the classes of a document."""
        codes = [self.labels[row]] if self.topics is None else np.flatnonzero(self.topics[row])
        return [self.classes[code] for code in codes]

    def sizes(self) -> NDArray[np.int64]:
        """Count documents by class and group, shape (n_classes, n_groups).

        A multi-label document counts for each of its classes.
        """
        rows, classes = (np.arange(len(self)), self.labels) if self.topics is None else np.nonzero(self.topics)
        sizes = np.zeros((len(self.classes), len(self.part_names)), dtype=np.int64)
        np.add.at(sizes, (classes, self.parts[rows]), 1)
        return sizes


#: Concatenated bytes of n documents, and the n + 1 bounds between them.
TextChunk = tuple["NDArray[np.uint8]", "NDArray[np.int64]"]

#: Smallest size of a chunk in bytes, but for the last one.
TEXT_CHUNK_BYTES = 2**23


def concatenate_texts(pieces: Sequence[bytes | memoryview]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Concatenate documents; return their bytes, and the n + 1 bounds between them."""
    bounds = np.zeros(len(pieces) + 1, dtype=np.int64)
    np.cumsum([len(piece) for piece in pieces], out=bounds[1:])
    # a bytearray rather than bytes: compiled functions with a fixed signature accept writable arrays only
    return np.frombuffer(bytearray().join(pieces), dtype=np.uint8), bounds


def batch_texts(texts: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    """Yield lists of consecutive texts, each list of at least `size` bytes but the last."""
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
    """Text of a document, with the fields that it was joined from as an attribute.

    Parameters
    ----------
    text : bytes
    fields : mapping of str to bytes
    """

    fields: Mapping[str, bytes]

    def __new__(cls, text: bytes, fields: Mapping[str, bytes]) -> Self:
        """Create the bytes of `text`, with `fields` as an attribute."""
        fielded = super().__new__(cls, text)
        fielded.fields = fields
        return fielded


@dataclass(frozen=True)
class Corpus:
    """Documents with their raw bytes, concatenated in one buffer.

    Parameters
    ----------
    dataset : str
        Name of the dataset card.
    documents : Documents
    text : uint8 array
        Bytes of all documents, in document order.
    bounds : int64 array, shape (n + 1,)
        Document i is ``text[bounds[i]:bounds[i + 1]]``.
    digest : str
        Content digest of the whole corpus as distributed, not only of the selected classes.
    fields : mapping of str to int64 array, shape (n, 2)
        Start and stop of each field within the bytes of each document, where documents are joined from fields.
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
            fields = {name: text[slice(*spans[row])] for name, spans in self.fields.items()}
            yield FieldedText(text, fields) if fields else text

    def chunks(self, size: int = TEXT_CHUNK_BYTES) -> Iterator[TextChunk]:
        """Yield consecutive documents in chunks of about `size` bytes: their bytes, and the bounds between them."""
        start = 0
        while start < len(self.documents):
            stop = min(int(np.searchsorted(self.bounds, self.bounds[start] + size)), len(self.documents))
            bounds = self.bounds[start : stop + 1]
            yield self.text[bounds[0] : bounds[-1]], bounds - bounds[0]
            start = stop

    def take(self, rows: NDArray[np.intp]) -> Corpus:
        """Return the corpus restricted to the documents at `rows`, in that order; for all rows, nothing is copied."""
        if np.array_equal(rows, np.arange(len(self.documents))):
            return self
        text, bounds = concatenate_texts([self.text[self.bounds[row] : self.bounds[row + 1]].data for row in rows])
        fields = {name: spans[rows] for name, spans in self.fields.items()}
        return Corpus(self.dataset, self.documents.take(rows), text, bounds, self.digest, fields)
