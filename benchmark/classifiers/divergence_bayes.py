"""Naive Bayes in Kullback–Leibler form: predicts the class whose centroid is nearest, with the prior as an offset.

Centroids minimize the symmetric KL divergence (Jeffreys) to a class's documents. They need three statistics of a class.
The sum over the documents' distributions p depends only on the means of p_i and of log p_i, and on a constant. With
a_i and l_i for the two means,

    1/N Σ_p SKL(p, q) = Σ_i (q_i - a_i)(log q_i - l_i) + constant,    constant = 1/N Σ_p Σ_i p_i log p_i - Σ_i a_i l_i,

so that no dense matrix of documents by words is needed, and the cost of a centroid is independent of the class size.

The centroid is in closed form up to one number, the root of a scalar equation: F. Nielsen, "Jeffreys centroids: a
closed-form expression for positive histograms and a guaranteed tight approximation for frequency histograms", IEEE
Signal Processing Letters 20(7), 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import logsumexp, rel_entr, wrightomega, xlogy

from benchmark.classifiers.sklearn_adapter import SklearnClassifier
from benchmark.representation.weighting import canonical_csr
from benchmark.system.checks import POSITIVE
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """Sufficient statistics of a class of N documents for the sum of symmetric KL divergences.

    Parameters
    ----------
    n_documents : int
        N.
    mean : float64 array, shape (V,)
        a_i, the arithmetic mean of p_i; sums to 1.
    mean_log : float64 array, shape (V,)
        l_i, the mean of log p_i; exp(l_i) is the geometric mean of p_i, before normalization.
    mean_negentropy : float
        Mean of Σ_i p_i log p_i, in nats.
    """

    n_documents: int
    mean: Array
    mean_log: Array
    mean_negentropy: float


def class_statistics(counts: Any, smoothing: float) -> ClassStatistics:
    """Compute the statistics of documents with the distributions p_i = (x_i + s)/(Σx + sV), where s is the smoothing.

    Only nonzero counts are read one by one: log p_i is the same number for all zeros of a document.

    Parameters
    ----------
    counts : CSR array or array, shape (N, V)
        Term counts x, or other non-negative weights, of the documents of one class.
    smoothing : float
        s, added to every count, positive: SKL is infinite where one distribution is 0 and the other is not.

    Examples
    --------
    >>> class_statistics([[1, 0], [0, 3]], smoothing=1.0).mean.round(3)
    array([0.433, 0.567])
    """
    matrix = canonical_csr(counts)
    n, v = matrix.shape
    words = np.diff(matrix.indptr)
    totals = np.asarray(matrix.sum(axis=1)) + smoothing * v
    row = np.repeat(np.arange(n), words)
    p = (matrix.data + smoothing) / totals[row]
    unseen = smoothing / totals
    log_unseen = np.log(unseen)
    mean = np.bincount(matrix.indices, p - unseen[row], minlength=v) + unseen.sum()
    mean_log = np.bincount(matrix.indices, np.log(p) - log_unseen[row], minlength=v) + log_unseen.sum()
    negentropy = xlogy(p, p).sum() + ((v - words) * xlogy(unseen, unseen)).sum()
    return ClassStatistics(n, mean / mean.sum(), mean_log / n, float(negentropy / n))


def mean_skl(statistics: ClassStatistics, q: Array) -> float:
    """Compute 1/N Σ_p SKL(p, q) in nats: the paper's energy F(q), divided by the number of documents.

    Parameters
    ----------
    statistics : ClassStatistics
    q : float64 array, shape (V,)
        Positive numbers, which need not sum to 1.
    """
    a, log_g = statistics.mean, statistics.mean_log
    # Not BLAS products: the last bits of those over many words depend on the number of threads.
    constant = statistics.mean_negentropy - (a * log_g).sum()
    return float(((q - a) * (np.log(q) - log_g)).sum() + constant)


def mean_skl_gradient(statistics: ClassStatistics, q: Array) -> Array:
    """Compute F_i/N = -a_i/q_i + log q_i + 1 - l_i, the partial derivatives of `mean_skl`, shape (V,).

    Chen et al. (2018), section II: F_i = Σ_p (-p_i/q_i + log q_i + 1 - log p_i). F_i increases with q_i.
    """
    return np.asarray(np.log(q) - statistics.mean_log + 1.0 - statistics.mean / q)


def symmetric_kl(p: Array, q: Array) -> Array:
    """Compute SKL(p, q) = Σ_i (p_i - q_i) log(p_i/q_i) = KL(p, q) + KL(q, p) in nats, Jeffreys' divergence.

    Parameters
    ----------
    p, q : float64 arrays, shapes (…, V) that broadcast
        Distributions along the last axis.

    Returns
    -------
    float64 array, shape (…)

    Examples
    --------
    >>> float(symmetric_kl(np.array([0.5, 0.5]), np.array([0.25, 0.75])).round(4))
    0.2747
    """
    return np.asarray(rel_entr(p, q).sum(axis=-1) + rel_entr(q, p).sum(axis=-1))


def average_skl_to_others(centroids: Array) -> Array:
    """Compute the mean SKL of each centroid to all others, in nats, shape (k,): Table I of Chen et al. (2018).

    Parameters
    ----------
    centroids : float64 array, shape (k, V), k at least 2
        Positive distributions.
    """
    return np.array([symmetric_kl(row, centroids).sum() / (len(centroids) - 1) for row in centroids])


def skl_centroid(statistics: ClassStatistics) -> Array:
    """Compute argmin_q Σ_p SKL(p, q) over the simplex: q_i = a_i / W(a_i e^(1+λ) / g_i).

    a is the arithmetic and g the normalized geometric mean of the p's, W Lambert's function, λ the multiplier of the
    constraint Σq = 1. Only the logarithm of W's argument is used, because the argument overflows where a word's counts
    are very uneven.

    Parameters
    ----------
    statistics : ClassStatistics

    Returns
    -------
    float64 array, shape (V,)
        Positive, sums to 1.

    References
    ----------
    Nielsen (2013); chen2018, equation II.2.
    """
    log_q = _log_centroid(statistics.mean, _log_ratio(statistics), lagrange_multiplier(statistics))
    return np.asarray(np.exp(log_q - logsumexp(log_q)))


def lagrange_multiplier(statistics: ClassStatistics) -> float:
    """Solve Σ_i a_i / W(a_i e^(1+λ) / g_i) = 1 for λ.

    At the centroid q, λ = -KL(q, g), and F_i/N = -λ - log Z for all words, where Z is the sum of the geometric means
    before normalization.
    """
    a, log_ratio = statistics.mean, _log_ratio(statistics)

    def log_sum(multiplier: float) -> float:
        return float(logsumexp(_log_centroid(a, log_ratio, multiplier)))

    # With y = 1 + λ + log_ratio, W(e^y) ≤ 1 for all i if all y ≤ 1, hence Σq ≥ 1, and Σq ≤ 1 if all y ≥ 1.
    lower, upper = -float(log_ratio.max()), -float(log_ratio.min())
    if log_sum(lower) <= 0.0:
        return lower
    if log_sum(upper) >= 0.0:
        return upper
    return float(brentq(log_sum, lower, upper, xtol=1e-14, rtol=4 * np.finfo(np.float64).eps))


def _log_ratio(statistics: ClassStatistics) -> Array:
    """Compute log a_i/g_i, shape (V,)."""
    log_g = statistics.mean_log - logsumexp(statistics.mean_log)
    return np.asarray(np.log(statistics.mean) - log_g)


def _log_centroid(a: Array, log_ratio: Array, multiplier: float) -> Array:
    """Compute log q_i with Wright's ω(y), the solution of ω + log ω = y: W(e^y) without the exponential."""
    return np.asarray(np.log(a) - np.log(wrightomega(1.0 + multiplier + log_ratio)))


CENTROID_KINDS = ("mean", "skl", "pooled")


@dataclass(eq=False, repr=False)
class DivergenceBayes(SklearnClassifier):
    """label(d) = argmin_j -log P(C_j) + KL(d, c_j), for d = x/Σx the distribution of a document's words.

    The class centroid c_j is computed from smoothed training documents, p_i = (x_i + s)/(Σx + sV). The document d to be
    classified is not smoothed: its entropy is the same for all classes.

    Multinomial naive Bayes (scikit-learn's `MultinomialNB`) scores a class by log P(C_j) + Σx · Σ_i d_i log c_ji: the
    likelihood counts once for each word of the document. Here, as in the paper (equation II.1, "Σ_i d_i = 1"), the
    likelihood counts once, so the prior weighs Σx times as much. With uniform priors the two rules agree; `length`
    chooses between them. The centroid of multinomial naive Bayes pools the counts, so that long documents weigh more:
    that is "pooled". The paper's "original average estimated centroid" is the "mean" of the documents' distributions,
    the minimizer of Σ_p KL(p, c). Where all documents have the same length, the mean is the pooled centroid with a
    smoothing of s times the number of documents.

    Parameters
    ----------
    centroid : {"mean", "skl", "pooled"}
        "mean": the mean of the p's. "skl": argmin_q Σ_p SKL(p, q), the paper's proposal, by `skl_centroid`. "pooled":
        (Σ_d x_di + s)/(Σ_d Σx + sV).
    smoothing : float
        s, positive; the paper doesn't state its value.
    prior : {"empirical", "uniform"}
        P(C_j): the class's share of the training documents, or 1 / n_classes.
    length : {"ignored", "counted"}
        "ignored": the paper's rule. "counted": KL(d, c_j) is multiplied by Σx, as in multinomial naive Bayes; with the
        "pooled" centroid the rule is that classifier.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        In order of first appearance in `y`; of classes that tie, the first is predicted.
    centroids_ : float64 array, shape (n_classes, V)
    log_prior_ : float64 array, shape (n_classes,)
        Training documents without words count in the prior, not in the centroids.
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

    tags: ClassVar[Tags] = Tags(normalization="none", takes_features=False, first_trained_wins=True)
    non_negative: ClassVar[bool] = True
    allowed: ClassVar = {
        "smoothing": POSITIVE,
        "centroid": CENTROID_KINDS,
        "prior": ("empirical", "uniform"),
        "length": ("ignored", "counted"),
    }

    centroid: str = "mean"
    smoothing: float = 1e-3
    prior: str = "empirical"
    length: str = "ignored"

    def learn(self, points: Any, labels: NDArray[Any]) -> None:
        """Compute the class centroids and priors.

        Parameters
        ----------
        points : sparse or dense matrix, shape (n, V)
            Term counts of the training documents, already validated.
        labels : array, shape (n,)

        Raises
        ------
        ValueError
            If no document of a class has a word.
        """
        counts = canonical_csr(points)
        values, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(first)
        self.classes_ = values[order]
        sizes = np.bincount(codes)[order]
        shares = sizes / sizes.sum() if self.prior == "empirical" else np.full(len(sizes), 1 / len(sizes))
        self.log_prior_ = np.log(shares)
        with_words = np.asarray(counts.sum(axis=1)) > 0
        self.centroids_ = np.array(
            [self._centroid(counts[with_words & (codes == code)], values[code]) for code in order]
        )

    def scores(self, points: Any) -> Array:
        """Return log P(C_j) - KL(d, c_j), or log P(C_j) - Σx KL(d, c_j) where `length` is "counted".

        Parameters
        ----------
        points : sparse or dense matrix, shape (m, V)
            Term counts, already validated.

        Returns
        -------
        float64 array, shape (m, n_classes)
        """
        counts = canonical_csr(points)
        lengths = np.asarray(counts.sum(axis=1))
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        d = counts.data / lengths[row]
        documents = sp.csr_array((d, counts.indices, counts.indptr), shape=counts.shape)
        negentropy = np.bincount(row, xlogy(d, d), minlength=counts.shape[0])
        divergences = np.asarray(negentropy[:, None] - documents @ np.log(self.centroids_).T)
        if self.length == "counted":
            divergences *= lengths[:, None]
        return np.asarray(self.log_prior_ - divergences)

    def _centroid(self, counts: sp.csr_array, label: Any) -> Array:
        if not counts.shape[0]:
            raise ValueError(f"no training document of the class {str(label)!r} has a word: the class has no centroid")
        if self.centroid == "pooled":
            smoothed = np.asarray(counts.sum(axis=0)) + self.smoothing
            return np.asarray(smoothed / smoothed.sum())
        statistics = class_statistics(counts, self.smoothing)
        return statistics.mean if self.centroid == "mean" else skl_centroid(statistics)
