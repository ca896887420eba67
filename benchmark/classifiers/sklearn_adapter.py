"""Estimators of scikit-learn's as classifiers of points, which score every class, also of two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from benchmark.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class SklearnClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier that scikit-learn trains.

    A subclass has its parameters in its constructor and gives `check`, `untrained` and `scores`.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted; of classes that tie, the first is predicted.
    n_features_in_ : int
    """

    tags: ClassVar[Tags] = Tags()
    #: Names of the learnt arrays that a kept model stores; an attribute is called by what follows the last dot.
    kept: ClassVar[tuple[str, ...]] = ("classes_",)
    #: Whether points with a negative value are refused.
    non_negative: ClassVar[bool] = False

    @abstractmethod
    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""

    @abstractmethod
    def untrained(self, n: int) -> Any:
        """Return scikit-learn's estimator, for n documents."""

    @abstractmethod
    def scores(self, points: Any) -> Array:
        """Return a value for each class of points that have been checked, shape (m, n_classes)."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the points X, dense or sparse, shape (n, V), and the labels y, shape (n,).

        Raises
        ------
        ValueError
            If a parameter is out of range, a value is not finite, or scikit-learn's estimator refuses the points.
        """
        self.check()
        points, labels = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        self.learn(points, labels)
        return self

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Train `untrained` on points that have been checked, and take over all that it learnt."""
        model = self.untrained(points.shape[0]).fit(points, labels)
        for name, value in vars(model).items():
            if name.endswith("_"):
                setattr(self, name, value)

    def class_scores(self, X: Any) -> Array:
        """Return `scores` of the points X, dense or sparse, shape (m, V): shape (m, n_classes), also for two classes.

        Raises
        ------
        ValueError
            If X has another number of columns than there were in training, or values that aren't allowed.
        """
        check_is_fitted(self)
        how = {"accept_sparse": "csr", "dtype": np.float64, "ensure_non_negative": self.non_negative, "reset": False}
        return self.scores(validate_data(self, X, **how))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of the largest score of each point, shape (m,)."""
        best = self.class_scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn which points it takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.non_negative
        tags.classifier_tags.poor_score = self.non_negative  # on the data that scikit-learn tests by
        return tags
