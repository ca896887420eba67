"""Rules for thresholds on the decision values of multi-label classifiers, by their names in a configuration.

A document gets every class whose decision value is above the class's threshold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

if TYPE_CHECKING:
    from benchmark.system.arrays import Array, Bools

#: The fbr of Lewis et al. From 0.1 to 0.6, folds of ModApte's training stories have micro-F1 within 0.003; lower values
#: give a better macro-F1.
MIN_THRESHOLD_F1 = 0.3


class ZeroThreshold(BaseEstimator):
    """Predicts each class whose decision value is above 0."""

    #: True if a document without any class gets that of its largest value.
    at_least_one: ClassVar[bool] = False


class AtLeastOne(ZeroThreshold):
    """Predicts each class whose decision value is above 0, or that of the largest value where none is."""

    at_least_one: ClassVar[bool] = True


class CrossValidatedThreshold(ZeroThreshold):
    """Predicts each class whose decision value is above the threshold with the best F1 on training documents.

    Attributes
    ----------
    thresholds_ : float64 array, shape (k,)
        See `class_thresholds`.
    """

    def fit(self, values: Array, members: Bools) -> Self:
        """Learn the thresholds from out-of-fold decision values.

        Parameters
        ----------
        values : float64 array, shape (n, k)
            Decision values of each training document by a method that was trained without it; infinite where that
            could not learn the class, NaN for documents that no fold tests.
        members : bool array, shape (n, k)
            Classes of each document.

        Returns
        -------
        CrossValidatedThreshold
            This rule.
        """
        self.thresholds_ = class_thresholds(values, members)
        return self


#: Rules without `fit` have the threshold 0.
THRESHOLDS: dict[str, type[ZeroThreshold]] = {
    "zero": ZeroThreshold,
    "at-least-one": AtLeastOne,
    "cross-validated": CrossValidatedThreshold,
}


def class_thresholds(values: Array, members: Bools) -> Array:
    """Compute the threshold of each class that maximizes F1, by SCutFBR.1 (Yang 2001; Lewis, Yang, Rose & Li 2004).

    A threshold lies half way between the decision value with the largest F1 and the next lower value. A class whose
    largest F1 is below `MIN_THRESHOLD_F1` gets its highest value: too few documents support any other choice.

    Parameters
    ----------
    values : float64 array, shape (n, k)
        Decision values of documents that the classifiers were not trained on; infinite where a class wasn't trained.
    members : bool array, shape (n, k)
        Classes of each document.

    Returns
    -------
    float64 array, shape (k,)

    Examples
    --------
    >>> class_thresholds(np.array([[0.5], [-0.25], [-0.75], [-1.0]]), np.array([[True], [True], [False], [False]]))
    array([-0.5])
    """
    return np.array([_threshold(*column) for column in zip(values.T, members.T, strict=True)], dtype=np.float64)


def _threshold(values: Array, inside: Bools) -> float:
    from sklearn.metrics import precision_recall_curve  # noqa: PLC0415 - slow, and runs served from the store don't need it

    finite = np.isfinite(values)
    if not inside[finite].any():
        return float(max(values[finite], default=0.0))
    precision, recall, cuts = precision_recall_curve(inside[finite], values[finite])
    f1 = 2 * precision * recall / np.maximum(precision + recall, np.finfo(np.float64).tiny)
    best = int(f1[1:-1].argmax()) + 1 if len(cuts) > 1 else 0  # the lowest cut would give all documents the class
    if best == 0 or f1[best] < MIN_THRESHOLD_F1:
        return float(cuts[-1])
    return float(cuts[best - 1] + cuts[best]) / 2
