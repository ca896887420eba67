"""Naive Bayes in its Kullback–Leibler form: the class whose centroid is nearest to a document, prior included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array, check_is_fitted

from benchmark.checks import check_one_of
from benchmark.classifiers.centroids.divergence import check_smoothing, class_statistics
from benchmark.classifiers.centroids.exact import skl_centroid
from benchmark.representation.weighting import canonical
from benchmark.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

CENTROIDS = ("mean", "skl", "pooled")
PRIORS = ("empirical", "uniform")
LENGTHS = ("ignored", "counted")


class DivergenceBayes(ClassifierMixin, BaseEstimator):
    """label(d) = argmin_j -log P(C_j) + KL(d, c_j), for d = x/Σx the distribution of a document's words.

    The documents p of a class, of which its centroid c_j is made, are smoothed: p_i = (x_i + s)/(Σx + sV). The
    document d that is classified isn't: its entropy is the same for all classes.

    How it relates to multinomial naive Bayes (scikit-learn's `MultinomialNB`). That decides by
    log P(C_j) + Σx · Σ_i d_i log c_ji: the likelihood counts as often as the document has words. Here, as in the
    paper (equation II.1, "Σ_i d_i = 1"), it counts once, so the prior weighs Σx times as much; with uniform priors the
    two rules agree; `length` chooses between them. Its centroid pools the counts, so that long documents weigh more:
    that is "pooled". The paper's "original average estimated centroid" is the "mean" of the documents' distributions,
    the minimizer of Σ_p KL(p, c). Where all documents are of one length, the mean is the pooled centroid smoothed by s
    times the number of documents.

    Parameters
    ----------
    centroid : {"mean", "skl", "pooled"}
        "mean": of the p's. "skl": argmin_q Σ_p SKL(p, q), the paper's proposal, by `skl_centroid`. "pooled":
        (Σ_d x_di + s)/(Σ_d Σx + sV).
    smoothing : float
        s, positive; the paper doesn't name its own.
    prior : {"empirical", "uniform"}
    length : {"ignored", "counted"}
        "ignored": the paper's rule. "counted": KL(d, c_j) is multiplied by Σx, as in multinomial naive Bayes; with the
        "pooled" centroid it is that classifier.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        In order of first appearance in `y`: equal scores go to the first.
    centroids_ : float64 array, shape (n_classes, V)
    log_prior_ : float64 array, shape (n_classes,)
        A training document without words counts for the prior and for no centroid.
    n_features_in_ : int

    References
    ----------
    chen2018, equations II.1 and II.2.

    Examples
    --------
    >>> X = np.array([[4, 1, 0], [2, 0, 1], [0, 1, 3]])
    >>> DivergenceBayes(centroid="skl", smoothing=0.1).fit(X, ["tea", "tea", "rum"]).predict([[0, 1, 1], [2, 0, 0]])
    array(['rum', 'tea'], dtype='<U3')
    """

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False, sums_words=True, first_trained_wins=True)
    kept: ClassVar[tuple[str, ...]] = ("classes_", "centroids_", "log_prior_", "n_features_in_")

    def __init__(
        self,
        centroid: str = "mean",
        smoothing: float = 1e-3,
        prior: str = "empirical",
        length: str = "ignored",
    ) -> None:
        self.centroid = centroid
        self.smoothing = smoothing
        self.prior = prior
        self.length = length

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        check_smoothing(self.smoothing)
        for name, allowed in (("centroid", CENTROIDS), ("prior", PRIORS), ("length", LENGTHS)):
            check_one_of(name, getattr(self, name), allowed)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the centroids from term counts X, dense or sparse, shape (n, V), and labels y, shape (n,)."""
        self.check()
        counts = _counts(X)
        labels = np.asarray(y)
        if labels.shape != (counts.shape[0],):
            raise ValueError(f"{counts.shape[0]} documents and labels of shape {labels.shape} don't belong together")
        values, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(first)
        self.classes_ = values[order]
        self.n_features_in_ = counts.shape[1]
        sizes = np.bincount(codes)[order]
        shares = sizes / sizes.sum() if self.prior == "empirical" else np.full(len(sizes), 1 / len(sizes))
        self.log_prior_ = np.log(shares)
        with_words = np.asarray(counts.sum(axis=1)) > 0
        self.centroids_ = np.array(
            [self._centroid(counts[with_words & (codes == code)], values[code]) for code in order]
        )
        return self

    def divergences(self, X: Any) -> Array:
        """KL(d, c_j) in nats, shape (n, n_classes); 0 for a document without words, which says nothing."""
        check_is_fitted(self, "centroids_")
        counts = _counts(X)
        if counts.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {counts.shape[1]} words, but the centroids have {self.n_features_in_}")
        n = counts.shape[0]
        lengths = np.asarray(counts.sum(axis=1))
        row = np.repeat(np.arange(n), np.diff(counts.indptr))
        d = counts.data / lengths[row]
        documents = sp.csr_array((d, counts.indices, counts.indptr), shape=counts.shape)
        negentropy = np.bincount(row, xlogy(d, d), minlength=n)
        return np.asarray(negentropy[:, None] - documents @ np.log(self.centroids_).T)

    def class_scores(self, X: Any) -> Array:
        """Scores log P(C_j) - KL(d, c_j), or log P(C_j) - Σx KL(d, c_j); shape (n, n_classes), also for two classes."""
        divergences = self.divergences(X)
        if self.length == "counted":
            divergences *= np.asarray(_counts(X).sum(axis=1))[:, None]
        return np.asarray(self.log_prior_ - divergences)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels, shape (n,), for term counts X, shape (n, V)."""
        best = self.class_scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _centroid(self, counts: sp.csr_array, label: Any) -> Array:
        if not counts.shape[0]:
            raise ValueError(f"no training document of the class {str(label)!r} has a word: it has no centroid")
        if self.centroid == "pooled":
            smoothed = np.asarray(counts.sum(axis=0)) + self.smoothing
            return np.asarray(smoothed / smoothed.sum())
        statistics = class_statistics(counts, self.smoothing)
        return statistics.mean if self.centroid == "mean" else skl_centroid(statistics)


def _counts(X: Any) -> sp.csr_array:
    counts = canonical(check_array(X, accept_sparse="csr", dtype=np.float64))
    if counts.nnz and counts.data.min() < 0:
        raise ValueError(f"term counts can't be negative, as {counts.data.min()} is")
    return counts
