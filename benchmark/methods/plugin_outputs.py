"""Check the return values of plug-ins: a wrong shape, type or class would silently become a wrong score."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.system.plugin_errors import source_location
from benchmark.system.registries import is_builtin

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray


def check_real_array(values: Any, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """Return the values as a float64 array.

    Parameters
    ----------
    values : array-like
    shape : tuple of int
        Required shape.
    what : str
        Source of the values, for the message.

    Raises
    ------
    ValueError
        If the values have another shape or aren't finite real numbers.
    """
    array = np.asarray(values)
    if np.ma.isMaskedArray(values) or array.dtype.kind not in "fiu":
        raise ValueError(f"{what} gives values of the type {type(values).__name__} ({array.dtype}), not real numbers")
    if array.shape != shape:
        raise ValueError(f"{what} gives values of the shape {array.shape}, not {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} gives values that are not finite numbers")
    return array.astype(np.float64, copy=False)


class CheckedClassifier:
    """Wrapper of a plug-in's classifier that passes copies and checks return values.

    Parameters
    ----------
    classifier : estimator
        Has `fit`, `class_scores` and, once fitted, `classes_`.

    Attributes
    ----------
    classes_ : int32 array, shape (k,)
        Training classes, in the order of the columns of `class_scores`.
    """

    def __init__(self, classifier: Any) -> None:
        self._classifier, self._place = classifier, source_location(type(classifier), short=True)
        self.classes_: NDArray[np.int32] = np.empty(0, dtype=np.int32)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._classifier, name)

    def fit(self, X: sp.csr_array, y: NDArray[np.int32], *rankings: NDArray[np.intp] | None) -> CheckedClassifier:
        """Train the classifier on copies and check its `classes_`.

        Parameters
        ----------
        X : CSR array, shape (n, V)
            Training points.
        y : int32 array, shape (n,)
            Their classes.
        *rankings : intp array, shape (k, V), or None
            Terms of each class, the best first, for a classifier that selects terms.

        Raises
        ------
        ValueError
            If `classes_` isn't the set of training classes without repetition.
        """
        expected = np.unique(y)
        fitted = self._classifier.fit(X.copy(), y.copy(), *copy.deepcopy(rankings))
        self._classifier = self._classifier if fitted is None else fitted
        attribute = getattr(self._classifier, "classes_", None)
        classes = np.asarray(attribute)
        integers = classes.dtype.kind in "iu" and classes.ndim == 1 and not np.ma.isMaskedArray(attribute)
        if not integers or not np.array_equal(np.sort(classes), expected):
            problem = f"its classes_ are {classes.tolist()} of the type {classes.dtype}"
            raise ValueError(f"{self._place}: {problem}, but the training classes are {expected.tolist()}")
        self.classes_ = classes.astype(np.int32)
        return self

    def class_scores(self, X: sp.csr_array) -> NDArray[np.float64]:
        """Return the class scores of points, shape (m, k).

        Raises
        ------
        ValueError
            If the scores have another shape or aren't finite real numbers.
        """
        scores = self._classifier.class_scores(X.copy())
        n, k = X.shape[0], len(self.classes_)
        return check_real_array(scores, (n, k), f"{self._place}: its class_scores of {n} documents and {k} classes")


def checked_classifier(classifier: Any) -> Any:
    """Return a classifier of this package unchanged, and a plug-in's classifier wrapped in `CheckedClassifier`."""
    return classifier if is_builtin(type(classifier)) else CheckedClassifier(classifier)
