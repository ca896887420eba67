"""Decision values to the threshold of each class, above which a document that may have several is given it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A class is given where its value is above 0; where none is, the one of the largest, too; or above its own threshold.
THRESHOLDS = ("zero", "at-least-one", "cross-validated")
#: Lewis et al.'s fbr. From 0.1 to 0.6, folds of ModApte's training stories have micro-F1 within 0.003; a lower one has
#: the better macro-F1.
LEAST_F1 = 0.3


def class_thresholds(values: NDArray[np.float64], members: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Of each class the threshold of the largest F1, half way to the next lower value: SCutFBR.1, shape (k,).

    Of a class whose largest F1 is below `LEAST_F1` it is the highest value: so few documents tell of its threshold,
    that any other is chosen by chance (Yang 2001; Lewis, Yang, Rose & Li 2004).

    Parameters
    ----------
    values : float64 array, shape (n, k)
        Decision values of documents that the machines were not trained on; infinite where a class wasn't learned.
    members : bool array, shape (n, k)
        Which classes each has.

    Examples
    --------
    >>> class_thresholds(np.array([[0.5], [-0.25], [-0.75], [-1.0]]), np.array([[True], [True], [False], [False]]))
    array([-0.5])
    """
    return np.array([_threshold(*each) for each in zip(values.T, members.T, strict=True)], dtype=np.float64)


def _threshold(values: NDArray[np.float64], inside: NDArray[np.bool_]) -> float:
    from sklearn.metrics import precision_recall_curve  # noqa: PLC0415 - slow, and a run from the store does without

    known = np.isfinite(values)
    if not inside[known].any():
        return float(max(values[known], default=0.0))
    precision, recall, cuts = precision_recall_curve(inside[known], values[known])
    f1 = 2 * precision * recall / np.maximum(precision + recall, np.finfo(np.float64).tiny)
    best = int(f1[1:-1].argmax()) + 1 if len(cuts) > 1 else 0  # at the lowest, all documents would be given the class
    if best == 0 or f1[best] < LEAST_F1:
        return float(cuts[-1])
    return float(cuts[best - 1] + cuts[best]) / 2
