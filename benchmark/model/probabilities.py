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
        """Return the input; for two classes the values of the second."""
        return X[:, 0] if len(self.classes_) == 2 else X

    def predict(self, X: Array) -> NDArray[Any]:
        """Raise NotImplementedError: scikit-learn requires the method, but never calls it."""
        raise NotImplementedError


def fit_sigmoids(values: Array, truth: NDArray[Any], learned: LearnedClasses, classes: tuple[str, ...]) -> Array:
    """Fit slope a and offset b of each sigmoid p = 1 / (1 + exp(a f + b)), see `class_probabilities`, shape (n, 2).

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
        values, truth = values[known], truth[known]
        if len(classes) == 2 and len(np.unique(truth)) == 2:
            return _fitted(_sigmoid_inputs(values), truth)
        if len(classes) == 2:
            lone = classes[1 - int(truth[0])]
            raise ValueError(f"the class {lone!r} has one training document: too few for a probability")
        return np.concatenate([_of_class(values[:, [c]], truth == c) for c in range(len(classes))])
    sigmoids = []
    for column in learned.columns:
        known = np.isfinite(values[:, column])
        if len(np.unique(truth[known, column])) < 2:
            raise ValueError(f"the class {classes[column]!r} has too few training documents for a probability")
        sigmoids.append(_fitted(values[known][:, [column]], truth[known, column]))
    return np.concatenate([np.empty((0, 2)), *sigmoids])


def _of_class(values: Array, members: NDArray[np.bool_]) -> Array:
    """Fit the sigmoid of one class; of a class without a document it is 1 / (n + 2), as in Platt (1999)."""
    return _fitted(values, members) if members.any() else np.array([[0.0, np.log(len(members) + 1.0)]])


def _fitted(values: Array, truth: NDArray[Any]) -> Array:
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 - slow, and for fitting alone
    from sklearn.frozen import FrozenEstimator  # noqa: PLC0415

    everything = np.arange(len(values))
    identity = FrozenEstimator(_Identity().fit(values, truth))
    # The classifier is frozen, so one fold has all documents; a class may have fewer documents than default folds.
    once = [(everything, everything)]
    calibrated = CalibratedClassifierCV(identity, method="sigmoid", cv=once, ensemble=False).fit(values, truth)
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
