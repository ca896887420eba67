"""The documents that a method is trained and tested on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.corpora.corpus import Documents
    from benchmark.text.counts import Counts


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
    """

    counts: Counts
    key: str
    seed: int
    trained: NDArray[np.intp] | None = None

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
