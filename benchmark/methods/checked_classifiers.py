"""Classifiers of users and libraries: copies go in, and what comes out is checked, or it would be a wrong score."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import replace
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from benchmark.classifiers.sklearn_adapter import score_of_each
from benchmark.config.components import is_library_class
from benchmark.methods.problem import check_finite_values
from benchmark.system.errors import one_line, unknown_name
from benchmark.system.memory import free_memory
from benchmark.system.user_classes import is_builtin, source_location

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.system.arrays import Array, Bools


#: Warnings of what a library will change: they say nothing of the numbers.
_OF_FUTURE = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
#: Longest text of a warning.
_LONGEST = 200


def check_real_array(values: Any, shape: tuple[int, ...], what: str) -> Array:
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
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{what} gives values of the type {type(values).__name__} ({array.dtype}), not real numbers")
    if array.shape != shape:
        raise ValueError(f"{what} gives values of the shape {array.shape}, not {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} gives values that are not finite numbers")
    return array.astype(np.float64, copy=False)


def with_coded_weights(classifier: Any, classes: Sequence[str]) -> Any:
    """Return a classifier whose class weights, and those of its steps, are by the codes of the labels, not by name.

    Raises
    ------
    ValueError
        If a weight is of no class.
    """
    parameters = classifier.get_params() if hasattr(classifier, "get_params") else {}
    coded = {}
    for key, value in parameters.items():
        if key.rpartition("__")[2] == "class_weight" and isinstance(value, dict):
            if unknown := [str(each) for each in value if str(each) not in classes]:
                raise ValueError(f"class_weight: {unknown_name('class', unknown[0], classes)}")
            coded[key] = {classes.index(str(each)): weight for each, weight in value.items()}
    return clone(classifier).set_params(**coded) if coded else classifier


class CheckedClassifier:
    """Wrapper of a user's or library's classifier that passes copies and checks return values.

    Parameters
    ----------
    classifier : estimator
        Has `fit`, `predict` and, once fitted, `classes_`; `decision_function` or `predict_proba` where it has scores.

    Attributes
    ----------
    classes_ : int32 array, shape (k,)
        Training classes, in the order of the columns of `scores`.
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier
        self.classes_: NDArray[np.int32] = np.empty(0, dtype=np.int32)

    def fit(self, X: Any, y: NDArray[np.int32]) -> CheckedClassifier:
        """Train the classifier on copies and check its `classes_`.

        Parameters
        ----------
        X : CSR array, shape (n, V), or array of str, shape (n,)
            Training points or texts.
        y : int32 array, shape (n,)
            Their classes.

        Raises
        ------
        ValueError
            If `classes_` isn't the set of training classes without repetition.
        """
        expected = np.unique(y)
        fitted = self.classifier.fit(self._input(X), y.copy())
        self.classifier = self.classifier if fitted is None else fitted
        classes = np.asarray(getattr(self.classifier, "classes_", expected))
        if classes.dtype.kind not in "iu" or not np.array_equal(np.sort(classes), expected):
            problem = f"its classes_ are {classes.tolist()}, but the training classes are {expected.tolist()}"
            raise ValueError(f"{self._source()}: {problem}")
        self.classes_ = classes.astype(np.int32)
        return self

    def _input(self, X: Any) -> Any:
        """Return a copy of points that the classifier accepts; ValueError if a dense one takes too much memory.

        A library's classifier gets sparse points where its tags for scikit-learn say so, or it has none.
        """
        if X.dtype == object:  # texts
            return list(X)
        if not sp.issparse(X):
            return X.copy()
        tagged = is_library_class(type(self.classifier)) and hasattr(self.classifier, "__sklearn_tags__")
        if not tagged or get_tags(self.classifier).input_tags.sparse:
            return X.sorted_indices()
        needed, budget = 8 * X.shape[0] * X.shape[1], free_memory()
        if needed > budget:
            shape = f"{X.shape[0]:,} documents × {X.shape[1]:,} coordinates"
            problem = f"takes dense points only, and {shape} take {needed / 1e9:.1f} GB of {budget / 1e9:.1f} GB"
            raise ValueError(f"{self._source()}: {problem}; select terms, or take a classifier of sparse points")
        return X.toarray()

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the predicted classes of points, shape (m,).

        Raises
        ------
        ValueError
            If the predictions have another shape or aren't training classes.
        """
        what = f"its predict of {X.shape[0]} documents"
        predicted = self._real(self.classifier.predict(self._input(X)), (X.shape[0],), what)
        if len(unknown := np.setdiff1d(predicted, self.classes_)):
            problem = f"{what} gives {unknown[0]:g}, but the training classes are {self.classes_.tolist()}"
            raise ValueError(f"{self._source()}: {problem}")
        return predicted.astype(np.int32)

    def scores(self, X: Any) -> Array | None:
        """Return the score of each class, shape (m, k), or None if the classifier only predicts.

        Raises
        ------
        ValueError
            If the scores have another shape or aren't finite real numbers.
        """
        methods, n, k = ("decision_function", "predict_proba"), X.shape[0], len(self.classes_)
        method = next((name for name in methods if hasattr(self.classifier, name)), None)
        if method is None:
            return None
        values = getattr(self.classifier, method)(self._input(X))
        what = f"its {method} of {n} documents and {k} classes"
        return score_of_each(self._real(values, (n,) if k == 2 and np.ndim(values) == 1 else (n, k), what))

    def _source(self) -> str:
        """Return file and line of the classifier's class: for an error alone, since they are parsed from the file."""
        return source_location(type(self.classifier), short=True)

    def _real(self, values: Any, shape: tuple[int, ...], what: str) -> Array:
        """Return the values, see `check_real_array`."""
        try:
            return check_real_array(values, shape, what)
        except ValueError as error:
            raise ValueError(f"{self._source()}: {error}") from None


def checked_classifier(classifier: Any, classes: Sequence[str] = ()) -> Any:
    """Return a classifier of this package unchanged, and any other wrapped in `CheckedClassifier`.

    Its class weights by name are put by code, see `with_coded_weights`, where the labels are codes of `classes`.
    """
    if is_builtin(type(classifier)):
        return classifier
    return CheckedClassifier(with_coded_weights(classifier, classes) if classes else classifier)


def predicted_codes(classifier: Any, X: Any) -> tuple[NDArray[np.int32], Bools, Array | None]:
    """Return the predicted class of each point, whether its best score is also another class's, and the scores.

    Classes and ties have the shape (m,), the scores (m, k), with the classes ascending, or they are None.

    A user's or library's classifier has the last word on its classes: they need not be those of its best scores.

    Raises
    ------
    FloatingPointError
        If a score is not finite.
    """
    if isinstance(classifier, CheckedClassifier):
        codes, scores = classifier.predict(X), classifier.scores(X)
    else:
        scores = check_finite_values(score_of_each(classifier.decision_function(X)))
        codes = classifier.classes_[scores.argmax(axis=1)].astype(np.int32)
    if scores is None:
        return codes, np.zeros(len(codes), dtype=bool), None
    tied = np.asarray((scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1)
    return codes, tied, scores[:, classifier.classes_.argsort()]


def value_of_class(classifier: Any, X: Any) -> Array:
    """Return the decision values, shape (m,), of a classifier of class 1 against class 0: positive where it predicts 1.

    Raises
    ------
    FloatingPointError
        If a score is not finite.
    """
    codes, _, scores = predicted_codes(classifier, X)
    values = codes - 0.5 if scores is None else (scores[:, 1] - scores[:, 0]) / 2
    if isinstance(classifier, CheckedClassifier):
        wrong = (values > 0) != (codes == 1)
        values[wrong] = np.where(codes[wrong] == 1, 1, -1) * np.finfo(np.float64).tiny
    return np.asarray(values)


def warned_of_other_labels(predictions: list[SettingPredictions]) -> list[SettingPredictions]:
    """Return the predictions of splits, the first with a warning if labels are not those of the largest scores.

    A classifier or a file has the last word on its labels, but what ranks its scores then ranks other labels.
    """
    scored = [(p.values, p.predicted) for p in predictions if p.values is not None and p.predicted.ndim == 1]
    largest = [values[np.arange(len(codes)), codes] == values.max(axis=1) for values, codes in scored]
    n, other = sum(map(len, largest)), sum(int((~each).sum()) for each in largest)
    if not other:
        return predictions
    text = f"{other:,} of {n:,} labels are not the largest score"
    return [replace(predictions[0], warnings=(*predictions[0].warnings, text)), *predictions[1:]]


@contextlib.contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect the texts of warnings, each once, but for those of a library's future; the list is filled at the end."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    shown = (one_line(f"{w.category.__name__}: {w.message}") for w in caught if not issubclass(w.category, _OF_FUTURE))
    texts += dict.fromkeys(shorten(text, _LONGEST, placeholder=" …") for text in shown)
