"""Counts to predictions by what the documents outside of each class are like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import ComplementNB
from sklearn.utils.validation import check_is_fitted

from benchmark.checks import check_positive_parameters
from benchmark.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ComplementBayes(ClassifierMixin, BaseEstimator):
    """Complement naive Bayes (Rennie et al. 2003): argmax_i -Σ_w x_w ln p_¬i,w, scikit-learn's `ComplementNB`.

    p_¬i,w = (n_¬i,w + smoothing) / Σ_w' (n_¬i,w' + smoothing), with n_¬i,w how often term w occurs in the documents
    of all other classes. A document without terms has no evidence for any class: all of them tie. Of classes that tie,
    the first of `classes_` is predicted.

    Parameters
    ----------
    smoothing : float
        Added to every n_¬i,w, > 0.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted.
    model_ : ComplementNB
    n_features_in_ : int

    Examples
    --------
    >>> ComplementBayes().fit([[3, 0], [2, 1], [0, 2]], ["a", "a", "b"]).predict([[1, 0], [0, 4]])
    array(['a', 'b'], dtype='<U1')
    """

    tags: ClassVar[Tags] = Tags(
        normalization="none", takes_features=False, sums_words=True, labels={"complement-nb": "Complement NB"}
    )
    kept: ClassVar[tuple[str, ...]] = ("classes_", "model_.classes_", "model_.feature_log_prob_")

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        check_positive_parameters(self, "smoothing")

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the counts X, shape (n, V), and the labels y, shape (n,)."""
        self.check()
        self.model_ = self.untrained().fit(X, y)
        self.classes_, self.n_features_in_ = self.model_.classes_, self.model_.n_features_in_
        return self

    def untrained(self) -> ComplementNB:
        """Scikit-learn's estimator."""
        return ComplementNB(alpha=self.smoothing, force_alpha=True)

    def class_scores(self, X: Any) -> NDArray[np.float64]:
        """-Σ_w x_w ln p_¬i,w, shape (m, n_classes), also for two classes."""
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.predict_joint_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels, shape (m,)."""
        best = self.class_scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])
