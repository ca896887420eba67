"""Complement naive Bayes: one multinomial distribution of terms for the documents outside each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.naive_bayes import ComplementNB
from sklearn.utils.extmath import safe_sparse_dot

from benchmark.classifiers.sklearn_adapter import SklearnClassifier
from benchmark.system.checks import check_positive_parameters
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ComplementBayes(SklearnClassifier):
    """Complement naive Bayes (Rennie et al. 2003): argmax_i -Σ_w x_w ln p_¬i,w, scikit-learn's `ComplementNB`.

    p_¬i,w = (n_¬i,w + smoothing) / Σ_w' (n_¬i,w' + smoothing), where n_¬i,w is the count of term w in the documents of
    all other classes. For a document without terms all classes tie. Of classes that tie, the first of `classes_` is
    predicted.

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
    # The names that saved models have always used.
    kept: ClassVar[tuple[str, ...]] = ("classes_", "model_.classes_", "model_.feature_log_prob_")
    non_negative: ClassVar[bool] = True

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    def check(self) -> None:
        """Raise ValueError if a parameter is outside its range."""
        check_positive_parameters(self, "smoothing")

    def untrained(self, n: int) -> ComplementNB:  # noqa: ARG002
        """Return the unfitted `ComplementNB`; n, the number of training documents, has no effect."""
        return ComplementNB(alpha=self.smoothing, force_alpha=True)

    def scores(self, points: Any) -> NDArray[np.float64]:
        """Return the scores -Σ_w x_w ln p_¬i,w.

        Parameters
        ----------
        points : sparse or dense matrix, shape (m, V)
            Term counts, already validated.

        Returns
        -------
        float64 array, shape (m, n_classes)
        """
        return np.asarray(safe_sparse_dot(points, self.feature_log_prob_.T))
