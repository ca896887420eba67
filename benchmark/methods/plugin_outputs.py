"""Check the return values of plug-ins: a wrong shape, type or class would silently become a wrong score."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from benchmark.classifiers.class_scores import score_method, score_of_each
from benchmark.config.components import is_library_class
from benchmark.methods.learned_classes import check_finite_values
from benchmark.system.errors import unknown_name
from benchmark.system.memory import free_memory
from benchmark.system.registries import is_builtin
from benchmark.system.user_classes import source_location

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.predictions import SettingPredictions


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
    array = _array(values, what)
    if np.ma.isMaskedArray(values) or array.dtype.kind not in "fiu":
        raise ValueError(f"{what} gives values of the type {type(values).__name__} ({array.dtype}), not real numbers")
    if array.shape != shape:
        raise ValueError(f"{what} gives values of the shape {array.shape}, not {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what} gives values that are not finite numbers")
    return array.astype(np.float64, copy=False)


def _array(values: Any, what: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of several lengths
        raise ValueError(f"{what} gives values that are no array: {error}") from None


def takes_sparse(classifier: Any) -> bool:
    """Return whether a classifier gets sparse points: of a library, as its tags for scikit-learn say, if it has any."""
    if not is_library_class(type(classifier)) or not hasattr(classifier, "__sklearn_tags__"):
        return True
    return bool(get_tags(classifier).input_tags.sparse)


def with_coded_weights(classifier: Any, classes: Sequence[str]) -> Any:
    """Return a classifier whose class weights are by the codes of the labels that it gets, not by name.

    Parameters
    ----------
    classifier : estimator
        A parameter `class_weight` of it, of one of its parts, or in the grid of a search may be a mapping by class.
    classes : sequence of str
        In the order of their codes.

    Raises
    ------
    ValueError
        If a weight is of no class.
    """
    if not hasattr(classifier, "get_params"):
        return classifier
    given = classifier.get_params()
    coded = {key: _coded_weights(key, value, classes) for key, value in given.items()}
    changed = {key: value for key, value in coded.items() if value is not given[key]}
    return clone(classifier).set_params(**changed) if changed else classifier


def _coded_weights(key: str, value: Any, classes: Sequence[str]) -> Any:
    """Return the value of a parameter with class weights by code; the same object where it has none."""
    name = key.rpartition("__")[2]
    if name == "class_weight" and isinstance(value, dict):
        unknown = next((each for each in value if str(each) not in classes), None)
        if unknown is not None:
            raise ValueError(f"class_weight: {unknown_name('class', str(unknown), classes)}")
        return {classes.index(str(each)): weight for each, weight in value.items()}
    if name in ("param_grid", "param_distributions"):
        if isinstance(value, dict):
            coded = {
                each: [_coded_weights(each, one, classes) for one in own] if isinstance(own, list | tuple) else own
                for each, own in value.items()
            }
            return coded if any(each.endswith("class_weight") for each in coded) else value
        if isinstance(value, list | tuple):
            grids = [_coded_weights(key, each, classes) for each in value]
            return grids if any(a is not b for a, b in zip(grids, value, strict=True)) else value
    return value


class CheckedClassifier:
    """Wrapper of a plug-in's classifier that passes copies and checks return values.

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

    @property
    def _place(self) -> str:
        """File and line of the classifier's class, for messages."""
        return source_location(type(self.classifier), short=True)

    def fit(self, X: sp.csr_array, y: NDArray[np.int32], *rankings: NDArray[np.intp] | None) -> CheckedClassifier:
        """Train the classifier on copies and check its `classes_`.

        Parameters
        ----------
        X : CSR array, shape (n, V), or array of str, shape (n,)
            Training points or texts.
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
        fitted = self.classifier.fit(self._handed(X), y.copy(), *copy.deepcopy(rankings))
        self.classifier = self.classifier if fitted is None else fitted
        attribute = getattr(self.classifier, "classes_", expected)
        classes = np.asarray(attribute)
        integers = classes.dtype.kind in "iu" and classes.ndim == 1 and not np.ma.isMaskedArray(attribute)
        if not integers or not np.array_equal(np.sort(classes), expected):
            problem = f"its classes_ are {classes.tolist()} of the type {classes.dtype}"
            raise ValueError(f"{self._place}: {problem}, but the training classes are {expected.tolist()}")
        self.classes_ = classes.astype(np.int32)
        return self

    def _handed(self, X: sp.csr_array) -> Any:
        """Return a copy of points that the classifier accepts; ValueError if a dense one takes too much memory."""
        if X.dtype == object:  # texts
            return list(X)
        if takes_sparse(self.classifier) or not sp.issparse(X):
            copy = X.copy()
            if sp.issparse(copy):
                copy.sort_indices()
            return copy
        needed, budget = 8 * X.shape[0] * X.shape[1], free_memory()
        if needed > budget:
            shape = f"{X.shape[0]:,} documents × {X.shape[1]:,} coordinates"
            problem = f"takes dense points only, and {shape} take {needed / 1e9:.1f} GB of {budget / 1e9:.1f} GB"
            raise ValueError(f"{self._place}: {problem}; select terms, or take a classifier of sparse points")
        return X.toarray()

    def predict(self, X: sp.csr_array) -> NDArray[np.int32]:
        """Return the predicted classes of points, shape (m,).

        Raises
        ------
        ValueError
            If the predictions have another shape or aren't training classes.
        """
        values = self.classifier.predict(self._handed(X))
        predicted = check_real_array(values, (X.shape[0],), f"{self._place}: its predict of {X.shape[0]} documents")
        unknown = np.setdiff1d(predicted, self.classes_)
        if len(unknown):
            problem = f"its predict gives {unknown[0]:g}, but the training classes are {self.classes_.tolist()}"
            raise ValueError(f"{self._place}: {problem}")
        return predicted.astype(np.int32)

    def scores(self, X: sp.csr_array) -> NDArray[np.float64] | None:
        """Return the score of each class, shape (m, k), or None if the classifier only predicts.

        Raises
        ------
        ValueError
            If the scores have another shape or aren't finite real numbers.
        """
        method, n, k = score_method(self.classifier), X.shape[0], len(self.classes_)
        if not method:
            return None
        values = getattr(self.classifier, method)(self._handed(X))
        what = f"{self._place}: its {method} of {n} documents and {k} classes"
        shape = (n,) if k == 2 and _array(values, what).ndim == 1 else (n, k)
        return score_of_each(check_real_array(values, shape, what))


def predicted_codes(
    classifier: Any, X: sp.csr_array
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.float64] | None]:
    """Return the predicted class of each point, whether its best score is also another class's, and the scores.

    Classes and ties have the shape (m,), the scores (m, k), with the classes ascending, or they are None.

    A plug-in's classifier has the last word on its classes: they need not be those of its best scores.

    Raises
    ------
    FloatingPointError
        If a score is not finite.
    """
    if isinstance(classifier, CheckedClassifier):
        codes, scores = classifier.predict(X), classifier.scores(X)
    else:
        scores = scores_of(classifier, X)
        codes = classifier.classes_[scores.argmax(axis=1)].astype(np.int32)
    if scores is None:
        return codes, np.zeros(len(codes), dtype=bool), None
    tied = np.asarray((scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1)
    return codes, tied, scores[:, classifier.classes_.argsort()]


def with_other_labels_told(found: list[SettingPredictions]) -> list[SettingPredictions]:
    """Return the predictions of splits, the first with a warning if labels are not those of the largest scores.

    A classifier or a file has the last word on its labels, but what ranks its scores then ranks other labels.
    """
    known = [each for each in found if each.values is not None and each.predicted.ndim == 1]
    n = sum(len(each.predicted) for each in known)
    other = sum(
        int(
            (
                np.take_along_axis(each.values, each.predicted[:, None].astype(np.intp), 1)[:, 0] < each.values.max(1)
            ).sum()
        )
        for each in known
        if each.values is not None
    )
    if not other:
        return found
    text = f"{other:,} of {n:,} labels are not the largest score"
    return [replace(found[0], warnings=(*found[0].warnings, text)), *found[1:]]


def scores_of(classifier: Any, X: sp.csr_array) -> NDArray[np.float64]:
    """Return the score of each of `classes_`, shape (m, k), so that the largest is that of the predicted class.

    Of a plug-in's classifier without scores, it is 1 for the predicted class and 0 for the others.

    Raises
    ------
    FloatingPointError
        If a score is not finite.
    """
    if not isinstance(classifier, CheckedClassifier):
        return check_finite_values(score_of_each(classifier.decision_function(X)))
    scores, predicted = classifier.scores(X), classifier.predict(X)[:, None] == classifier.classes_
    if scores is None:
        return np.asarray(predicted, dtype=np.float64)
    best = scores.max(axis=1, keepdims=True)
    other = (scores.argmax(axis=1) != predicted.argmax(axis=1))[:, None]
    return np.where(predicted & other, np.nextafter(best, np.inf), scores)


def value_of_class(classifier: Any, X: sp.csr_array) -> NDArray[np.float64]:
    """Return the decision values, shape (m,), of a classifier of class 1 against class 0: positive where it predicts 1.

    Raises
    ------
    FloatingPointError
        If a score is not finite.
    """
    scores: NDArray[np.float64] = scores_of(classifier, X)
    zero, one = (int(np.flatnonzero(classifier.classes_ == code)[0]) for code in (0, 1))
    values: NDArray[np.float64] = (scores[:, one] - scores[:, zero]) / 2
    if isinstance(classifier, CheckedClassifier):
        # `scores_of` has raised the predicted class's score above the other's, by 5e-324 where both are 0: half of that
        # is rounded to 0, which says the other class.
        values[(classifier.predict(X) == 1) & (values <= 0)] = np.finfo(np.float64).tiny
    return values


def checked_classifier(classifier: Any, classes: Sequence[str] = ()) -> Any:
    """Return a classifier of this package unchanged, and a plug-in's wrapped in `CheckedClassifier`.

    Its class weights by name are put by code, see `with_coded_weights`, where the labels are codes of `classes`.
    """
    if is_builtin(type(classifier)):
        return classifier
    return CheckedClassifier(with_coded_weights(classifier, classes) if classes else classifier)
