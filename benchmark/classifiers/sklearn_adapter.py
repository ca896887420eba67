"""Base class of classifiers that wrap a scikit-learn estimator and score every class, also of two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from benchmark.representation.estimator import MatrixEstimator
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array


class SklearnClassifier(ClassifierMixin, MatrixEstimator, ABC):
    """Classifier of points that scikit-learn trains.

    A subclass takes its parameters in its constructor and implements `learn` and `scores`.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted; of classes that tie, the first is predicted.
    n_features_in_ : int
    """

    tags: ClassVar[Tags] = Tags()
    #: Attributes of no use once the classifier is trained, which a kept model leaves out.
    training_only: ClassVar[tuple[str, ...]] = ("feature_count_",)

    @abstractmethod
    def scores(self, points: Any) -> Array:
        """Return the score of each class.

        Parameters
        ----------
        points : sparse or dense matrix, shape (m, V)
            Already validated.

        Returns
        -------
        float64 array, shape (m, n_classes), or (m, 1) for the second of two classes
            The largest score of a row is that of the predicted class; of two classes, the second if it is positive.
        """

    def fit(self, X: Any, y: Any) -> Self:
        """Train the classifier.

        Parameters
        ----------
        X : sparse or dense matrix, shape (n, V)
            Points of the training documents.
        y : array, shape (n,)
            Their labels.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, or a value is not finite, or negative though `non_negative`.
        """
        self.check()
        points, labels = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        if self.non_negative:
            check_non_negative(points, type(self).__name__)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        self.learn(points, labels)
        return self

    @abstractmethod
    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Train on points that are already validated.

        Parameters
        ----------
        points : sparse or dense matrix, shape (n, V)
        labels : array, shape (n,)
        """

    def decision_function(self, X: Any) -> Array:
        """Return the score of each class; of two classes, that of the second less that of the first.

        Parameters
        ----------
        X : sparse or dense matrix, shape (m, V)

        Returns
        -------
        float64 array, shape (m, n_classes), or (m,) for two classes

        Raises
        ------
        ValueError
            If X doesn't have the training points' number of columns, or has values that aren't allowed.
        """
        check_is_fitted(self)
        scores = self.scores(self.validated(X, fitting=False))
        if scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest score; of classes that tie, the first of `classes_`.

        Parameters
        ----------
        X : sparse or dense matrix, shape (m, V)

        Returns
        -------
        array, shape (m,)
            Labels.
        """
        values = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(values))
        return np.asarray(self.classes_[score_of_each(values).argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, with those of classifiers."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.non_negative  # on the data of scikit-learn's tests
        return tags


def score_of_each(values: Array) -> Array:
    """Return values of `decision_function` with a column for each class: of two classes, -value and value.

    Parameters
    ----------
    values : float64 array, shape (m, k), or (m,) for two classes

    Examples
    --------
    >>> score_of_each(np.array([0.5, -2.0]))
    array([[-0.5,  0.5],
           [ 2. , -2. ]])
    """
    return np.column_stack([-values, values]) if values.ndim == 1 else values
