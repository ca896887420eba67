"""What a corpus is once it has been read: who the documents are, and their raw bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """

    ids: tuple[str, ...]
    labels: NDArray[np.int32]
    groups: NDArray[np.int32]
    classes: tuple[str, ...]
    group_names: tuple[str, ...]
    topics: NDArray[np.bool_] | None = None

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

    def take(self, rows: NDArray[np.intp]) -> Documents:
        """The documents at `rows`, with the same classes and group names."""
        ids = tuple(self.ids[row] for row in rows)
        topics = None if self.topics is None else self.topics[rows]
        return Documents(ids, self.labels[rows], self.groups[rows], self.classes, self.group_names, topics)

    def of_classes(self, classes: tuple[str, ...]) -> tuple[NDArray[np.intp], Documents]:
        """The documents of some classes, as a collection of these classes in this order: their rows, and they.

        Where documents may have several classes all of them stay, those of other classes as documents of none.
        """
        codes = [self.classes.index(name) for name in classes]
        if self.topics is not None:
            rows = np.arange(len(self))
            return rows, Documents(self.ids, self.labels, self.groups, classes, self.group_names, self.topics[:, codes])
        position = np.full(len(self.classes), -1, dtype=np.int32)
        position[codes] = np.arange(len(codes), dtype=np.int32)
        labels = position[self.labels]
        rows = np.flatnonzero(labels >= 0)
        ids = tuple(self.ids[row] for row in rows)
        return rows, Documents(ids, labels[rows], self.groups[rows], classes, self.group_names)

    def sizes(self) -> NDArray[np.int64]:
        """Documents by class and group, shape (n_classes, n_groups).

        A multi-label document counts for each of its classes.
        """
        rows, classes = (np.arange(len(self)), self.labels) if self.topics is None else np.nonzero(self.topics)
        sizes = np.zeros((len(self.classes), len(self.group_names)), dtype=np.int64)
        np.add.at(sizes, (classes, self.groups[rows]), 1)
        return sizes


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
    """

    dataset: str
    documents: Documents
    text: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    digest: str

    def __iter__(self) -> Iterator[bytes]:
        for start, stop in zip(self.bounds[:-1], self.bounds[1:], strict=True):
            yield self.text[start:stop].tobytes()

    def take(self, rows: NDArray[np.intp]) -> Corpus:
        """The corpus restricted to the documents at `rows`, in that order."""
        pieces = [self.text[self.bounds[row] : self.bounds[row + 1]] for row in rows]
        lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
        text = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.uint8)
        bounds = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
        return Corpus(self.dataset, self.documents.take(rows), text, bounds, self.digest)
