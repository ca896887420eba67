"""Probabilities from decision values by sigmoids (Platt 1999), which scikit-learn fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.methods.problem import LearnedClasses
    from benchmark.system.arrays import Array


#: Stands for the value of a class that could not be learned, which is -inf.
_LOWEST = -1e100


def fit_sigmoids(values: Array, truth: NDArray[Any], learned: LearnedClasses, classes: tuple[str, ...]) -> Array:
    """Fit slope a and offset b of each sigmoid p = 1 / (1 + exp(a f + b)), see `class_probabilities`, shape (n, 2).

    Of more than two classes, of which each document has one, the sigmoid of a class without a document is 1 / (n + 2),
    as in Platt (1999).

    Parameters
    ----------
    values : float64 array, shape (m, k)
        Decision values of documents that the classifiers were not trained on; NaN for documents without any.
    truth : int array, shape (m,), or bool array, shape (m, k)
    learned : LearnedClasses
    classes : tuple of str, length k
        Class names, for error messages.

    Raises
    ------
    ValueError
        If the documents with a decision value of a class all have the class, or none has it.
    """
    from sklearn.calibration import _SigmoidCalibration  # noqa: PLC0415 - slow, and for fitting alone

    members, inputs, codes = truth, values, learned.columns.tolist()
    if not learned.multilabel:
        members, inputs = truth[:, None] == np.arange(len(classes)), _sigmoid_inputs(values)
        codes = list(range(len(classes)))[-inputs.shape[1] :]
    sigmoids = [np.empty((0, 2))]
    for code, f in zip(codes, inputs.T[codes] if learned.multilabel else inputs.T, strict=True):
        known = np.isfinite(f)
        inside = members[known, code]
        if inside.any() and not inside.all():
            fitted = _SigmoidCalibration().fit(f[known], inside)
            sigmoids.append(np.array([[fitted.a_, fitted.b_]]))
        elif learned.multilabel or len(classes) == 2:
            lone = classes[code if learned.multilabel or not inside.any() else 0]
            raise ValueError(f"the class {lone!r} has too few training documents for a probability")
        else:
            sigmoids.append(np.array([[0.0, np.log(len(inside) + 1.0)]]))
    return np.concatenate(sigmoids)


def class_probabilities(values: Array, sigmoids: Array, learned: LearnedClasses) -> Array:
    """Return class probabilities, shape (m, k), as scikit-learn's `CalibratedClassifierCV` computes them.

    Where each document has one class, each class has a sigmoid, and the probabilities are normalized to sum 1. The
    class with the largest need not be the label, which follows the decision values alone. With two
    classes there is one sigmoid, of the second class's value minus the first's. Where documents may have several
    classes, each learned class has a sigmoid. Other classes have probability 0, or 1 if all documents have the class.
    """
    a, b = sigmoids.T
    if learned.multilabel:
        probabilities = np.tile(learned.everywhere.astype(np.float64), (len(values), 1))
        probabilities[:, learned.columns] = expit(-(a * values[:, learned.columns] + b))
        return probabilities
    raw = expit(-(a * _sigmoid_inputs(np.maximum(values, _LOWEST)) + b))
    if values.shape[1] == 2:
        return np.hstack([1 - raw, raw])
    total = raw.sum(axis=1, keepdims=True)
    even = np.full(raw.shape, 1 / raw.shape[1])
    return np.asarray(np.minimum(np.divide(raw, total, out=even, where=total > 0), 1.0))


def _sigmoid_inputs(values: Array) -> Array:
    return values[:, [1]] - values[:, [0]] if values.shape[1] == 2 else values
