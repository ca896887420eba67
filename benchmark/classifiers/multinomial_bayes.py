"""Counts to predictions by Bayes' rule, each class being one multinomial distribution of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.naive_bayes import MultinomialNB
from sklearn.utils.validation import check_is_fitted, validate_data

from benchmark.checks import check_positive_parameters
from benchmark.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class MultinomialBayes(MultinomialNB):
    """Multinomial naive Bayes: argmax_i ln P(c_i) + Σ_w x_w ln p_iw.

    p_iw = (n_iw + smoothing) / Σ_w' (n_iw' + smoothing), with n_iw how often term w occurs in the documents of class
    i, and P(c_i) is the share of documents (scikit-learn's `MultinomialNB` learns both; unlike it, this one refuses
    to be without smoothing, by which a term unseen in a class makes every posterior of a document -inf or NaN).

    A document without terms is decided by P(c_i). Of classes that tie, the first of `classes_` is predicted.

    Parameters
    ----------
    smoothing : float
        Added to every n_iw, > 0.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted.
    class_log_prior_ : float64 array, shape (n_classes,)
        ln P(c_i).
    feature_count_ : float64 array, shape (n_classes, V)
        n_iw.
    feature_log_prob_ : float64 array, shape (n_classes, V)
        ln p_iw.
    n_features_in_ : int

    Examples
    --------
    >>> MultinomialBayes().fit([[3, 0], [2, 1], [0, 2]], ["a", "a", "b"]).predict([[1, 0], [0, 4], [0, 0]])
    array(['a', 'b', 'a'], dtype='<U1')
    """

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False, sums_words=True, labels={"mnb": "MNB"})
    kept: ClassVar[tuple[str, ...]] = ("classes_", "class_log_prior_", "feature_log_prob_", "n_features_in_")
    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    fit_prior: ClassVar[bool] = True
    class_prior: ClassVar[None] = None
    force_alpha: ClassVar[bool] = True

    def __init__(self, smoothing: float = 1.0) -> None:
        self.smoothing = smoothing

    @property
    def alpha(self) -> float:
        """What scikit-learn calls the smoothing."""
        return self.smoothing

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        check_positive_parameters(self, "smoothing")

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the counts X, shape (n, V), and the labels y, shape (n,).

        Raises
        ------
        ValueError
            The smoothing isn't positive, or a count is negative or not finite.
        """
        self.check()
        super().fit(X, y)
        return self

    def class_scores(self, X: Any) -> Array:
        """Joint log densities of the counts X, shape (m, V): ln P(c_i) + ln p(x|c_i) less the multinomial coefficient.

        Of shape (m, n_classes), also for two classes.
        """
        check_is_fitted(self, "feature_log_prob_")
        counts = validate_data(self, X, accept_sparse="csr", ensure_non_negative=True, reset=False)
        return np.asarray(self.predict_joint_log_proba(counts))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels, shape (m,)."""
        best = self.class_scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])
