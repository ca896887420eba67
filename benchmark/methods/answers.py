"""Check what a plug-in answers: a wrong shape, type or class would become a wrong number without a word."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.foreign import place_of
from benchmark.registries import shipped

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray


def real_numbers(values: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """Return values as float64.

    Parameters
    ----------
    values : array-like
    shape : tuple of int
        What they must have.
    what : str
        What gives them, for the message.

    Raises
    ------
    ValueError
        If they have another shape, or aren't finite real numbers.
    """
    found = np.asarray(values)
    if np.ma.isMaskedArray(values) or found.dtype.kind not in "fiu":
        raise ValueError(f"{what} gives values of the type {type(values).__name__} ({found.dtype}), not real numbers")
    if found.shape != shape:
        raise ValueError(f"{what} gives values of the shape {found.shape}, not {shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{what} gives values that are not finite numbers")
    return found.astype(np.float64, copy=False)


class CheckedClassifier:
    """A plug-in's classifier, which is handed copies and whose answers are checked.

    Parameters
    ----------
    classifier : estimator
        With `fit`, `class_scores` and, once it is fitted, `classes_`.

    Attributes
    ----------
    classes_ : int32 array, shape (k,)
        The training classes, in the order of the columns of its scores.
    """

    def __init__(self, classifier: Any) -> None:
        self._classifier, self._place = classifier, place_of(type(classifier), short=True)
        self.classes_: NDArray[np.int32] = np.empty(0, dtype=np.int32)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._classifier, name)

    def fit(self, X: sp.csr_array, y: NDArray[np.int32], *rankings: NDArray[np.intp] | None) -> CheckedClassifier:
        """Train it on points, shape (n, V), and their classes, shape (n,); and terms of each class, if it selects them.

        Raises
        ------
        ValueError
            If its `classes_` aren't the training classes, each once.
        """
        trained = np.unique(y)
        fitted = self._classifier.fit(X.copy(), y.copy(), *copy.deepcopy(rankings))
        self._classifier = self._classifier if fitted is None else fitted
        given = getattr(self._classifier, "classes_", None)
        classes = np.asarray(given)
        whole = classes.dtype.kind in "iu" and classes.ndim == 1 and not np.ma.isMaskedArray(given)
        if not whole or not np.array_equal(np.sort(classes), trained):
            said = f"{classes.tolist()} of the type {classes.dtype}"
            raise ValueError(f"{self._place}: its classes_ are {said}, and it was trained on {trained.tolist()}")
        self.classes_ = classes.astype(np.int32)
        return self

    def class_scores(self, X: sp.csr_array) -> NDArray[np.float64]:
        """Return scores of points, shape (m, k).

        Raises
        ------
        ValueError
            If they have another shape, or aren't finite real numbers.
        """
        scores = self._classifier.class_scores(X.copy())
        n, k = X.shape[0], len(self.classes_)
        return real_numbers(scores, (n, k), f"{self._place}: its class_scores, of {n} documents and {k} classes,")


def with_checks(classifier: Any) -> Any:
    """Return a classifier of this package as it is, and a plug-in's with its answers checked."""
    return classifier if shipped(type(classifier)) else CheckedClassifier(classifier)
