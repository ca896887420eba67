"""Training documents to rankings of the terms: one for all classes, or one for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from benchmark.representation.selection import aggregate, checked_size, information_gain, rank_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benchmark.methods.base import Problem


@dataclass(frozen=True, eq=False)
class Rankings:
    """What the presence of each term tells about each class; the terms of every number are a ranking's beginning.

    Parameters
    ----------
    gains : float64 array, shape (k, V)
        Information gains over the training documents, in nats.
    shares : float64 array, shape (k,)
        Share of the training documents that each class has.
    """

    gains: NDArray[np.float64]
    shares: NDArray[np.float64]

    @classmethod
    def learn(cls, problem: Problem, train: NDArray[np.intp]) -> Self:
        """From the documents at `train`; ValueError if there are none of a class, where each has exactly one."""
        documents = problem.documents
        of = problem.members[train] if problem.several else documents.labels[train]
        gains = information_gain(problem.counts.matrix[train], of, documents.classes)
        return cls(gains, problem.members[train].sum(axis=0) / len(train))

    def of_all(self, number: int, over_classes: str) -> NDArray[np.intp]:
        """The best terms for all classes, shape (number,); ValueError if there are not so many."""
        checked_size(number, self.gains.shape[1])
        return rank_terms(aggregate(self.gains, self.shares, over_classes))[:number]

    def of_each(self) -> NDArray[np.intp]:
        """Terms by falling gain for each class, shape (k, V)."""
        return rank_terms(self.gains)
