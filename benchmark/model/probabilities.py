"""Decision values to probabilities by sigmoids (Platt 1999), which scikit-learn fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.methods.fitted import Learned

    Array = NDArray[np.float64]


class _Identity(ClassifierMixin, BaseEstimator):
    """A classifier whose decision values are what it is given."""

    def fit(self, X: Array, y: NDArray[Any]) -> Self:  # noqa: ARG002
        """Learn which classes there are."""
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Array) -> Array:
        """The values; of two classes those of the second."""
        return X[:, 0] if len(self.classes_) == 2 else X

    def predict(self, X: Array) -> NDArray[Any]:
        """Never asked for, but scikit-learn wants it to be there."""
        raise NotImplementedError


def fit_sigmoids(values: Array, truth: NDArray[Any], learned: Learned, classes: tuple[str, ...]) -> Array:
    """Slope a and offset b of each sigmoid p = 1 / (1 + exp(a f + b)), see `probabilities_of`, shape (n, 2).

    Parameters
    ----------
    values : float64 array, shape (m, k)
        Decision values of documents that the machines were not trained on.
    truth : int array, shape (m,), or bool array, shape (m, k)
    learned : Learned
    classes : tuple of str, length k
        Names for the errors.

    Raises
    ------
    ValueError
        If a class has no document with a decision value, or no other has.
    """
    if not learned.several:
        return _fitted(_told_apart(values), truth)
    found = []
    for column in learned.columns:
        known = np.isfinite(values[:, column])
        if len(np.unique(truth[known, column])) < 2:
            raise ValueError(f"the class {classes[column]!r} has too few training documents for a probability")
        found.append(_fitted(values[known][:, [column]], truth[known, column]))
    return np.concatenate([np.empty((0, 2)), *found])


def _fitted(values: Array, truth: NDArray[Any]) -> Array:
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 - slow, and for fitting alone
    from sklearn.frozen import FrozenEstimator  # noqa: PLC0415

    everything = np.arange(len(values))
    identity = FrozenEstimator(_Identity().fit(values, truth))
    # Nothing is trained here: one fold of all documents, since a class may have fewer than the folds of a default.
    once = [(everything, everything)]
    calibrated = CalibratedClassifierCV(identity, method="sigmoid", cv=once, ensemble=False).fit(values, truth)
    (one,) = calibrated.calibrated_classifiers_
    return np.array([[each.a_, each.b_] for each in one.calibrators])


def probabilities_of(values: Array, sigmoids: Array, learned: Learned) -> Array:
    """A probability for each class, shape (m, k), as scikit-learn's `CalibratedClassifierCV` has them.

    Where each document has one class, each class has a sigmoid and they are divided by their sum; of two classes the
    second has one, of how much its value is above the first's. Where documents may have several, each learned class
    has a sigmoid; others have 0, or 1 if they are given to every document.
    """
    a, b = sigmoids.T
    if learned.several:
        found = np.tile(learned.everywhere.astype(np.float64), (len(values), 1))
        found[:, learned.columns] = expit(-(a * values[:, learned.columns] + b))
        return found
    raw = expit(-(a * _told_apart(values) + b))
    if values.shape[1] == 2:
        return np.hstack([1 - raw, raw])
    total = raw.sum(axis=1, keepdims=True)
    even = np.full(raw.shape, 1 / raw.shape[1])
    return np.asarray(np.minimum(np.divide(raw, total, out=even, where=total > 0), 1.0))


def _told_apart(values: Array) -> Array:
    return values[:, [1]] - values[:, [0]] if values.shape[1] == 2 else values
