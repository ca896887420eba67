"""Mean ranks of methods over several problems, Friedman's test, and Nemenyi's critical difference (Demšar 2006)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class MeanRanks:
    """Methods from the best to the worst over several problems.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods, the best first.
    ranks : tuple of float
        Mean rank of each method; 1 is the best.
    problems : int
        Number of problems, or of their groups.
    statistic, p_value : float
        Iman and Davenport's F of Friedman's test, corrected for ties, and its p-value under the hypothesis that all
        methods are equal. NaN for fewer than two problems or methods; ∞ and 0 if all problems give the same ranking.
    critical : float
        Nemenyi's critical difference at 5%: mean ranks that are closer don't differ significantly. ∞ for fewer than
        two problems or methods.
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    problems: int
    statistic: float
    p_value: float
    critical: float


def rank_methods(methods: Sequence[str], scores: NDArray[np.float64], groups: Sequence[str] | None = None) -> MeanRanks:
    """Rank methods by their scores on each problem, the largest first; ties get the mean of their ranks.

    Friedman's and Nemenyi's tests need independent problems. Those of one group (the problems of one corpus, which
    share documents) count as one: methods are ranked by the mean of their ranks on them.

    Parameters
    ----------
    methods : sequence of str
    scores : array, shape (problems, methods)
        Larger is better. Only ranks within a problem count, so problems may be scored by different metrics.
    groups : sequence of str, length problems, optional
        Group of each problem; by default each is one of its own.

    Returns
    -------
    MeanRanks

    Raises
    ------
    ValueError
        If a score is missing: ranks on different problems wouldn't be comparable.
    """
    scores = np.asarray(scores, dtype=np.float64)
    n, k = scores.shape
    if k != len(methods) or not n or not k:
        raise ValueError(f"{n} × {k} scores of {len(methods)} methods")
    if not np.isfinite(scores).all():
        raise ValueError("a method without a score on some problem has no mean rank")
    # Means of the same counts may differ in the last digits; rounding restores ties.
    rounded = np.round(-scores, 12)
    if groups is not None:
        each, names = stats.rankdata(rounded, axis=1), np.asarray(groups)
        rounded = np.array([each[names == name].mean(axis=0) for name in dict.fromkeys(groups)]).round(12)
        n = len(rounded)
    means = stats.rankdata(rounded, axis=1).mean(axis=0)
    order = np.argsort(means, kind="stable")
    statistic = p_value = math.nan
    critical = math.inf
    if n > 1 and k > 1:
        chi2 = _friedman(rounded)
        rest = n * (k - 1) - chi2
        statistic = (n - 1) * chi2 / rest if rest > 1e-9 else math.inf
        p_value = float(stats.f.sf(statistic, k - 1, (k - 1) * (n - 1)))
        critical = critical_difference(k, n)
    ranks = tuple(float(means[i]) for i in order)
    return MeanRanks(tuple(methods[i] for i in order), ranks, n, float(statistic), p_value, critical)


def _friedman(scores: NDArray[np.float64]) -> float:
    """Compute Friedman's χ² of scores of shape (problems, methods), corrected for ties; 0 where all are equal."""
    if not np.ptp(scores, axis=1).any():
        return 0.0
    if scores.shape[1] > 2:
        return float(stats.friedmanchisquare(*scores.T).statistic)
    # scipy needs three methods; for two, χ² is the square of the sign test's Z.
    ahead = np.sign(scores[:, 0] - scores[:, 1])
    return float(ahead.sum() ** 2 / np.count_nonzero(ahead))


def critical_difference(methods: int, problems: int) -> float:
    """Compute Nemenyi's critical difference of mean ranks at 5% (Demšar 2006, section 3.2.2).

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demšar's example
    1.25
    """
    quantile = float(stats.studentized_range.ppf(1 - SIGNIFICANCE_LEVEL, methods, np.inf))
    return quantile / math.sqrt(2) * math.sqrt(methods * (methods + 1) / (6 * problems))
