"""Kullback–Leibler divergences, and the energy Σ_p SKL(p, q) of a class of documents from three class statistics.

The sum over the documents' distributions p depends only on the means of p_i and of log p_i, and on a constant. With
a_i and l_i for the two means,

    1/N Σ_p SKL(p, q) = Σ_i (q_i - a_i)(log q_i - l_i) + constant,    constant = 1/N Σ_p Σ_i p_i log p_i - Σ_i a_i l_i,

so that no dense matrix of documents by words is needed, and the cost of a centroid is independent of the class size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import rel_entr, xlogy

from benchmark.representation.weighting import canonical_csr

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

#: Largest deviation of the sum of a distribution from 1.
_SUM_TOLERANCE = 1e-9


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

    def __post_init__(self) -> None:
        """Raise ValueError for statistics that no documents can have."""
        shape = self.mean.shape
        if len(shape) != 1 or not shape[0] or self.mean_log.shape != shape:
            msg = f"the means of p and log p must be vectors of one length, not {shape} and {self.mean_log.shape}"
            raise ValueError(msg)
        finite = np.isfinite(self.mean_log).all() and np.isfinite(self.mean_negentropy)
        if not (finite and (self.mean > 0).all() and abs(self.mean.sum() - 1) <= _SUM_TOLERANCE):
            msg = "the documents' probabilities must be positive and large enough not to be rounded to 0"
            raise ValueError(msg)


def class_statistics(counts: Any, smoothing: float) -> ClassStatistics:
    """Compute the statistics of documents with the distributions p_i = (x_i + s)/(Σx + sV), where s is the smoothing.

    Only nonzero counts are read one by one: log p_i is the same number for all zeros of a document.

    Parameters
    ----------
    counts : CSR array or array, shape (N, V)
        Term counts x, or other non-negative weights, of the documents of one class.
    smoothing : float
        s, added to every count. It must be positive unless no count is 0, because SKL is infinite where one
        distribution is 0 and the other is not.

    Raises
    ------
    ValueError
        If there is no document or no word, a count is negative or not finite, or a probability would be 0.

    Examples
    --------
    >>> class_statistics([[1, 0], [0, 3]], smoothing=1.0).mean.round(3)
    array([0.433, 0.567])
    """
    matrix = canonical_csr(counts)
    n, v = matrix.shape
    if not (n and v):
        raise ValueError(f"a class needs at least one document and one word, not counts of shape {(n, v)}")
    if not (np.isfinite(matrix.data).all() and (matrix.data >= 0).all()):
        raise ValueError("counts must be finite numbers that aren't negative")
    check_smoothing(smoothing, allow_zero=np.count_nonzero(matrix.data) == n * v)
    words = np.diff(matrix.indptr)
    totals = np.asarray(matrix.sum(axis=1)) + smoothing * v
    row = np.repeat(np.arange(n), words)
    p = (matrix.data + smoothing) / totals[row]
    unseen = smoothing / totals
    if smoothing and not unseen.all():
        raise ValueError(f"a smoothing of {smoothing} is rounded to probabilities of 0")
    log_unseen = np.log(unseen) if smoothing else np.zeros(n)
    mean = np.bincount(matrix.indices, p - unseen[row], minlength=v) + unseen.sum()
    mean_log = np.bincount(matrix.indices, np.log(p) - log_unseen[row], minlength=v) + log_unseen.sum()
    negentropy = xlogy(p, p).sum() + ((v - words) * xlogy(unseen, unseen)).sum()
    return ClassStatistics(n, mean / mean.sum(), mean_log / n, float(negentropy / n))


def check_smoothing(smoothing: float, *, allow_zero: bool = False) -> None:
    """Raise ValueError unless the smoothing is a positive finite number, or 0 with `allow_zero`."""
    if not (0 < smoothing < np.inf or (allow_zero and smoothing == 0)):
        msg = f"smoothing must be a positive finite number, not {smoothing}: a probability of 0 makes SKL infinite"
        raise ValueError(msg)


def mean_skl(statistics: ClassStatistics, q: ArrayLike) -> float:
    """Compute 1/N Σ_p SKL(p, q) in nats: the paper's energy F(q), divided by the number of documents.

    Parameters
    ----------
    statistics : ClassStatistics
    q : float64 array, shape (V,)
        Positive numbers, which need not sum to 1.
    """
    q = _positive(statistics, q)
    a, log_g = statistics.mean, statistics.mean_log
    # Not BLAS products: the last bits of those over many words depend on the number of threads.
    constant = statistics.mean_negentropy - (a * log_g).sum()
    return float(((q - a) * (np.log(q) - log_g)).sum() + constant)


def mean_skl_gradient(statistics: ClassStatistics, q: ArrayLike) -> Array:
    """Compute F_i/N = -a_i/q_i + log q_i + 1 - l_i, the partial derivatives of `mean_skl`, shape (V,).

    Chen et al. (2018), section II: F_i = Σ_p (-p_i/q_i + log q_i + 1 - log p_i). F_i increases with q_i.
    """
    q = _positive(statistics, q)
    return np.asarray(np.log(q) - statistics.mean_log + 1.0 - statistics.mean / q)


def kullback_leibler(p: ArrayLike, q: ArrayLike) -> Array:
    """Compute KL(p, q) = Σ_i p_i log(p_i/q_i) in nats, where 0 log 0 = 0.

    Parameters
    ----------
    p, q : arrays, shapes (…, V) that broadcast
        Distributions along the last axis.

    Returns
    -------
    float64 array, shape (…)

    Raises
    ------
    ValueError
        If an argument is not a distribution, or q is 0 where p is not, so that KL is infinite.

    Examples
    --------
    >>> float(kullback_leibler([0.5, 0.5], [0.25, 0.75]).round(4))
    0.1438
    """
    p, q = _distribution("p", p), _distribution("q", q)
    if ((p > 0) & (q == 0)).any():
        raise ValueError("KL(p, q) is infinite: q is 0 where p is not")
    return np.asarray(rel_entr(p, q).sum(axis=-1))


def symmetric_kl(p: ArrayLike, q: ArrayLike) -> Array:
    """Compute SKL(p, q) = Σ_i (p_i - q_i) log(p_i/q_i) = KL(p, q) + KL(q, p) in nats, Jeffreys' divergence.

    Parameters and errors are those of `kullback_leibler`.

    Examples
    --------
    >>> float(symmetric_kl([0.5, 0.5], [0.25, 0.75]).round(4))
    0.2747
    """
    return np.asarray(kullback_leibler(p, q) + kullback_leibler(q, p))


def average_skl_to_others(centroids: ArrayLike) -> Array:
    """Compute the mean SKL of each centroid to all others, in nats, shape (k,): Table I of Chen et al. (2018).

    Parameters
    ----------
    centroids : array, shape (k, V), k at least 2
        Positive distributions.
    """
    rows = np.asarray(centroids, dtype=np.float64)
    if rows.ndim != 2 or len(rows) < 2:
        msg = f"an average over the other centroids needs at least two rows, not an array of shape {rows.shape}"
        raise ValueError(msg)
    return np.array([symmetric_kl(row, rows).sum() / (len(rows) - 1) for row in rows])


def _positive(statistics: ClassStatistics, q: ArrayLike) -> Array:
    array = np.asarray(q, dtype=np.float64)
    if array.shape != statistics.mean.shape or not (array.min() > 0 and array.max() < np.inf):
        raise ValueError(f"q must hold {len(statistics.mean)} positive numbers, as the energy is infinite elsewhere")
    return array


def _distribution(name: str, values: ArrayLike) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or not (np.isfinite(array).all() and (array >= 0).all()):
        raise ValueError(f"{name} must hold probabilities: finite numbers that aren't negative")
    sums = array.sum(axis=-1)
    if not (np.abs(sums - 1) <= _SUM_TOLERANCE).all():
        raise ValueError(f"{name} must sum to 1, not {np.ravel(sums)[np.abs(np.ravel(sums) - 1).argmax()]:.9g}")
    return array
