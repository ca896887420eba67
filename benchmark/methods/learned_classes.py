"""The classes that can be learned from training documents, and predictions from their decision values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from benchmark.evaluation.predictions import SettingPredictions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.methods.problem import Problem

    Array = NDArray[np.float64]


class Decisions(NamedTuple):
    """Decisions on m documents.

    Parameters
    ----------
    predicted : int32 array, shape (m,), or bool array, shape (m, k)
        Predicted class of each document, or class indicators where documents may have several classes.
    tied : bool array, of the shape of `predicted`
        True for a tie for the first place, or for a decision value of exactly 0.
    values : float64 array, shape (m, k), or None
        Decision value of each class; infinite for classes that could not be learned. None where a method has none.
    """

    predicted: NDArray[Any]
    tied: NDArray[np.bool_]
    values: Array | None

    @property
    def known_values(self) -> Array:
        """`values`, of a method that has some."""
        assert self.values is not None  # noqa: S101 - see `FittedMethod.decide`
        return self.values

    def timed(self, seconds: Array) -> SettingPredictions:
        """Return the predictions of a split, with `seconds` by `TIMERS`, shape (6,)."""
        return SettingPredictions.of_split(self.predicted, self.tied, seconds, self.values)


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

    def decide(self, values: Array) -> Decisions:
        """Return decisions from decision values of the learned classes, shape (m, n_learned).

        The class with the largest value is predicted, of ties the first; where documents may have several classes, the
        classes with a positive value (LIBSVM's rule). A class that could not be learned has the value -inf, or inf if
        it is predicted for every document.

        Raises
        ------
        FloatingPointError
            If a decision value is not finite.
        """
        check_finite_values(values)
        if not self.multilabel:
            tied = (values == values.max(axis=1, keepdims=True)).sum(axis=1) > 1
            return Decisions(self.columns[values.argmax(axis=1)].astype(np.int32), tied, self.class_values(values))
        predicted = np.repeat(self.everywhere[None], len(values), axis=0)
        tied = np.zeros(predicted.shape, dtype=bool)
        predicted[:, self.columns], tied[:, self.columns] = values > 0, values == 0
        return Decisions(predicted, tied, self.class_values(values))

    def class_values(self, values: Array) -> Array:
        """Return decision values of all classes, shape (m, k), from those of the learned ones, shape (m, n_learned)."""
        full = np.tile(np.where(self.everywhere, np.inf, -np.inf), (len(values), 1))
        full[:, self.columns] = values
        return full


def check_finite_values(values: Array) -> Array:
    """Return the decision values; FloatingPointError if one isn't finite."""
    if not np.isfinite(values).all():
        raise FloatingPointError("a decision value is not a finite number")
    return values
