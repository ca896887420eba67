"""Probabilities from decision values by sigmoids (Platt 1999), which scikit-learn fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.methods.problem import LearnedClasses

    Array = NDArray[np.float64]


#: Stands for the value of a class that could not be learned, which is -inf.
_LOWEST = -1e100


class _Identity(ClassifierMixin, BaseEstimator):
    """Classifier whose decision values are its input."""

    def fit(self, X: Array, y: NDArray[Any]) -> Self:  # noqa: ARG002
        """Store the classes."""
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Array) -> Array:
        """Return the input."""
        return X[:, 0]

    def predict(self, X: Array) -> NDArray[Any]:
        """Raise NotImplementedError: scikit-learn requires the method, but never calls it."""
        raise NotImplementedError


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
    if not learned.multilabel:
        known = ~np.isnan(values).any(axis=1)
        values, truth = _sigmoid_inputs(values[known]), truth[known]
        codes = range(len(classes)) if len(classes) > 2 else [1]
        pairs = [(values[:, [n]], truth == code) for n, code in enumerate(codes)]
    else:
        codes = learned.columns.tolist()
        finite = [np.isfinite(values[:, code]) for code in codes]
        pairs = [(values[rows][:, [code]], truth[rows, code]) for code, rows in zip(codes, finite, strict=True)]
    sigmoids = [np.empty((0, 2))]
    for code, (values_of, members) in zip(codes, pairs, strict=True):
        if members.any() and not members.all():
            sigmoids.append(_fitted(values_of, members))
        elif learned.multilabel or len(classes) == 2:
            lone = classes[code if learned.multilabel or not members.any() else 0]
            raise ValueError(f"the class {lone!r} has too few training documents for a probability")
        else:
            sigmoids.append(np.array([[0.0, np.log(len(members) + 1.0)]]))
    return np.concatenate(sigmoids)


def _fitted(values: Array, members: NDArray[np.bool_]) -> Array:
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 - slow, and for fitting alone
    from sklearn.frozen import FrozenEstimator  # noqa: PLC0415

    everything = np.arange(len(values))
    # The classifier is frozen, so one fold has all documents; a class may have fewer documents than default folds.
    once = [(everything, everything)]
    frozen = FrozenEstimator(_Identity().fit(values, members))
    calibrated = CalibratedClassifierCV(frozen, method="sigmoid", cv=once, ensemble=False).fit(values, members)
    (one,) = calibrated.calibrated_classifiers_
    return np.array([[each.a_, each.b_] for each in one.calibrators])


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
