"""Counts to predictions by what the documents outside of each class are like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.naive_bayes import ComplementNB
from sklearn.utils.extmath import safe_sparse_dot

from benchmark.checks import check_positive_parameters
from benchmark.classifiers.sklearn_adapter import SklearnClassifier
from benchmark.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ComplementBayes(SklearnClassifier):
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
    feature_log_prob_ : float64 array, shape (n_classes, V)
        -ln p_¬i,w.
    n_features_in_ : int

    Examples
    --------
    >>> ComplementBayes().fit([[3, 0], [2, 1], [0, 2]], ["a", "a", "b"]).predict([[1, 0], [0, 4]])
    array(['a', 'b'], dtype='<U1')
    """

    tags: ClassVar[Tags] = Tags(
        normalization="none", takes_features=False, sums_words=True, labels={"complement-nb": "Complement NB"}
    )
    # As kept models have called them from the first.
    kept: ClassVar[tuple[str, ...]] = ("classes_", "model_.classes_", "model_.feature_log_prob_")
    non_negative: ClassVar[bool] = True

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        check_positive_parameters(self, "smoothing")

    def untrained(self, n: int) -> ComplementNB:  # noqa: ARG002
        """Return scikit-learn's estimator."""
        return ComplementNB(alpha=self.smoothing, force_alpha=True)

    def scores(self, points: Any) -> NDArray[np.float64]:
        """Return -Σ_w x_w ln p_¬i,w."""
        return np.asarray(safe_sparse_dot(points, self.feature_log_prob_.T))
