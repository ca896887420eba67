"""Thresholds on the decision values of multi-label classifiers: a document gets every class above its threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Rules for predicting a class. "zero": its decision value is above 0. "at-least-one": above 0, or the largest where no
#: class is above 0. "cross-validated": above the class's threshold (`class_thresholds`).
THRESHOLD_RULES = ("zero", "at-least-one", "cross-validated")
#: The fbr of Lewis et al. From 0.1 to 0.6, folds of ModApte's training stories have micro-F1 within 0.003; lower values
#: give a better macro-F1.
MIN_THRESHOLD_F1 = 0.3


def class_thresholds(values: NDArray[np.float64], members: NDArray[np.bool_]) -> NDArray[np.float64]:
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


def _threshold(values: NDArray[np.float64], inside: NDArray[np.bool_]) -> float:
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
