"""Base class of classifiers that wrap a scikit-learn estimator and score every class, also of two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from benchmark.classifiers.class_scores import score_of_each, second_less_first
from benchmark.representation.estimator import MatrixEstimator
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class SklearnClassifier(ClassifierMixin, MatrixEstimator, ABC):
    """Classifier of points that scikit-learn trains.

    A subclass takes its parameters in its constructor and implements `check`, `scores`, and `untrained` or `learn`.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted; of classes that tie, the first is predicted.
    n_features_in_ : int
    """

    tags: ClassVar[Tags] = Tags()
    #: Attributes of no use once the classifier is trained, which a kept model leaves out.
    training_only: ClassVar[tuple[str, ...]] = ("class_count_", "feature_count_", "feature_all_")

    @abstractmethod
    def check(self) -> None:
        """Raise ValueError if a parameter is outside its range."""

    def untrained(self) -> Any:
        """Return the unfitted scikit-learn estimator; a class that has none defines `learn`."""
        raise NotImplementedError

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
        points = _with_narrow_indices(points)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        self.learn(points, labels)
        return self

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Fit the estimator of `untrained` and copy its fitted attributes to this object.

        Parameters
        ----------
        points : sparse or dense matrix, shape (n, V)
            Already validated.
        labels : array, shape (n,)
        """
        model = self.untrained().fit(points, labels)
        for name, value in vars(model).items():
            if name.endswith("_"):
                setattr(self, name, value)

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
        return second_less_first(self.checked_scores(X))

    def checked_scores(self, X: Any) -> Array:
        """Return `scores` of points that are checked first, see `decision_function`."""
        check_is_fitted(self)
        return self.scores(self.validated(X, fitting=False))

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


def _with_narrow_indices(points: Any) -> Any:
    """Return a sparse matrix with 32-bit indices, the only ones that LIBLINEAR accepts, where they suffice."""
    if not sp.issparse(points) or points.indices.dtype == points.indptr.dtype == np.int32:
        return points
    kind = sp.get_index_dtype(maxval=max(points.nnz, *points.shape))
    parts = points.data, points.indices.astype(kind, copy=False), points.indptr.astype(kind, copy=False)
    return type(points)(parts, shape=points.shape)
