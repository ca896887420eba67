"""The classes that can be learned from training documents, and predictions from their decision values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from benchmark.evaluation.predictions import SettingPredictions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.methods.problem import Problem

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LearnedClasses:
    """Classes that some training documents have and others don't; a class that none has is never predicted.

    Where documents may have several classes, a class that every training document has is predicted for every document.

    Parameters
    ----------
    multilabel : bool
        True if a document may have several classes, or none.
    columns : intp array, shape (n_learned,)
        Positions of the learned classes, ascending.
    everywhere : bool array, shape (k,)
        True for classes that every training document has; always False where each document has exactly one class.
    """

    multilabel: bool
    columns: NDArray[np.intp]
    everywhere: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem, train: NDArray[np.intp]) -> Self:
        """Return the classes that can be learned from the documents at `train`."""
        members = problem.members[train]
        everywhere = np.asarray(members.all(axis=0) & problem.multilabel)
        return cls(problem.multilabel, np.flatnonzero(members.any(axis=0) & ~everywhere), everywhere)

    def names(self, problem: Problem) -> tuple[str, ...]:
        """Return the names of the learned classes."""
        return tuple(problem.documents.classes[int(column)] for column in self.columns)

    def predict_from(self, values: Array) -> NDArray[Any]:
        """Return predictions from decision values of the learned classes, shape (m, n_learned).

        Returns
        -------
        int32 array, shape (m,), or bool array, shape (m, k)
            The class with the largest value, of ties the first; or the classes with a positive value (LIBSVM's rule).

        Raises
        ------
        FloatingPointError
            If a decision value is not finite.
        """
        check_finite_values(values)
        if not self.multilabel:
            return np.asarray(self.columns[values.argmax(axis=1)], dtype=np.int32)
        predicted = np.repeat(self.everywhere[None], len(values), axis=0)
        predicted[:, self.columns] = values > 0
        return predicted

    def class_values(self, values: Array) -> Array:
        """Return a decision value for each class, shape (m, k), from those of the learned ones, shape (m, n_learned).

        A class that could not be learned has -inf, or inf if it is predicted for every document.
        """
        full = np.tile(np.where(self.everywhere, np.inf, -np.inf), (len(values), 1))
        full[:, self.columns] = values
        return full

    def predictions(self, values: Array, seconds: Array) -> SettingPredictions:
        """Return the predictions of a split from decision values of the learned classes, shape (m, n_learned)."""
        predicted = self.predict_from(values)
        if self.multilabel:
            tied = np.zeros(predicted.shape, dtype=bool)
            tied[:, self.columns] = values == 0
        else:
            tied = (values == values.max(axis=1, keepdims=True)).sum(axis=1) > 1
        return SettingPredictions.of_split(predicted, tied, seconds, self.class_values(values))


def check_finite_values(values: Array) -> Array:
    """Return the decision values; FloatingPointError if one isn't finite."""
    if not np.isfinite(values).all():
        raise FloatingPointError("a decision value is not a finite number")
    return values
