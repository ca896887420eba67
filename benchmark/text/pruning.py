"""Minimum frequencies of the terms of a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Name in place of a group: each split counts its own training documents.
TRAINING = "training"


@dataclass(frozen=True)
class Pruning:
    """Minimum frequency of terms in the vocabulary; the default keeps every term.

    Parameters
    ----------
    min_occurrences : int
        Keep terms that occur at least this often in the collection (Rainbow's ``--prune-vocab-by-occur-count``).
    min_documents : int
        Keep terms that occur in at least this many documents. Rainbow's ``--prune-vocab-by-doc-count=N`` drops
        words in N *or fewer* documents, which is ``min_documents = N + 1``.
    group : str, optional
        Count only the documents of this group, such as the training documents; a term that doesn't occur there is
        dropped. All documents by default. With "training", each split counts its own training documents, and what is
        counted here are all documents: no term that a split keeps is rarer in them.
    """

    min_occurrences: int = 1
    min_documents: int = 1
    group: str | None = None

    @property
    def by_split(self) -> bool:
        """True if each split prunes again, by the counts in its training documents."""
        return self.group == TRAINING

    def keeps(self, occurrences: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which terms are kept, from their numbers of occurrences and documents, both of shape (n_terms,)."""
        return (occurrences >= self.min_occurrences) & (documents >= self.min_documents)
