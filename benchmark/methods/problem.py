"""The documents that a method is trained and tested on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from benchmark.representation import canonical_csr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.corpora.corpus import Documents
    from benchmark.text.counts import Counts
    from benchmark.text.pruning import Pruning
    from benchmark.text.strings import Texts


@dataclass(frozen=True, eq=False)
class Problem:
    """The documents of one task under one variant, before they are split.

    Parameters
    ----------
    counts : Counts
        Term counts of the task's documents; labels are positions in the task's classes.
    key : str
        Digest of everything that determines `counts`.
    seed : int
        Seed of the experiment.
    trained : intp array, optional
        Rows of the documents that any split of the experiment trains on, ascending; inner products have a column for
        each.
    pruning : Pruning, optional
        Pruning that each split does again, on its training documents; by default none does.
    texts : Texts, optional
        The documents as strings, where a method reads them.
    """

    counts: Counts
    key: str
    seed: int
    trained: NDArray[np.intp] | None = None
    pruning: Pruning | None = None
    texts: Texts | None = None

    @property
    def documents(self) -> Documents:
        """The task's documents."""
        return self.counts.documents

    @property
    def multilabel(self) -> bool:
        """True if a document may have several classes, or none."""
        return self.documents.topics is not None

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """Class indicators of each document, shape (n, k)."""
        documents = self.documents
        if documents.topics is not None:
            return documents.topics
        return np.asarray(documents.labels[:, None] == np.arange(len(documents.classes)))

    def training_terms(self, train: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of the terms that pruning keeps in the documents at `train`, ascending."""
        if self.pruning is None:
            return np.arange(len(self.counts.vocabulary))
        counts, n = self.counts.matrix[train], len(self.counts.vocabulary)
        occurrences = np.bincount(counts.indices, weights=counts.data, minlength=n).astype(np.int64)
        return np.flatnonzero(self.pruning.keeps(occurrences, np.bincount(counts.indices, minlength=n)))

    def over_terms_of(self, train: NDArray[np.intp]) -> Problem:
        """Return the problem over the terms that pruning keeps in the documents at `train`, see `training_terms`.

        Without pruning by split, it is this problem.
        """
        if self.pruning is None:
            return self
        kept, counts = self.training_terms(train), self.counts
        matrix, words = canonical_csr(counts.matrix[:, kept]), tuple(counts.vocabulary[term] for term in kept)
        own = replace(counts, matrix=matrix, vocabulary=words, block_of=counts.block_of[kept])
        return Problem(own, f"{self.key}, terms of {hashlib.sha256(train.tobytes()).hexdigest()}", self.seed)
