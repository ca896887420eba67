"""Symmetric-KL (Jeffreys) centroid of a class, in closed form up to one number, the root of a scalar equation.

F. Nielsen, "Jeffreys centroids: a closed-form expression for positive histograms and a guaranteed tight
approximation for frequency histograms", IEEE Signal Processing Letters 20(7), 2013.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, wrightomega

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.classifiers.centroids.divergence import ClassStatistics

    Array = NDArray[np.float64]


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
