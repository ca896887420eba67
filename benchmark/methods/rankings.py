"""Rankings of terms by information gain on the training documents, for all classes or for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from benchmark.representation.selection import aggregate_gains, checked_n_terms, information_gain, rank_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from benchmark.methods.problem import Problem


@dataclass(frozen=True, eq=False)
class Rankings:
    """Information gain of each term for each class; the first n terms of a ranking are the n best.

    Parameters
    ----------
    gains : float64 array, shape (k, V)
        Information gains over the training documents, in nats.
    shares : float64 array, shape (k,)
        Share of the training documents in each class.
    """

    gains: NDArray[np.float64]
    shares: NDArray[np.float64]

    @classmethod
    def learn(cls, problem: Problem, train: NDArray[np.intp]) -> Self:
        """Compute the gains over the documents at `train`.

        Raises
        ------
        ValueError
            If a class has no training document, where each document has exactly one class.
        """
        documents = problem.documents
        classes = problem.members[train] if problem.multilabel else documents.labels[train]
        gains = information_gain(problem.counts.matrix[train], classes, documents.classes)
        return cls(gains, problem.members[train].sum(axis=0) / len(train))

    def of_all(self, number: int, aggregate: str) -> NDArray[np.intp]:
        """Return the best terms for all classes, shape (number,); ValueError if there are fewer terms."""
        checked_n_terms(number, self.gains.shape[1])
        return rank_terms(aggregate_gains(self.gains, self.shares, aggregate))[:number]

    def of_each(self) -> NDArray[np.intp]:
        """Return the terms of each class by decreasing gain, shape (k, V)."""
        return rank_terms(self.gains)
