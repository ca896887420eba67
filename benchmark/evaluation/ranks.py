"""Methods ranked on several problems: mean ranks, Friedman's test, and the critical difference (Demšar 2006)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchmark.evaluation.intervals import ALPHA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Ranking:
    """Methods from the best to the worst over several problems.

    Parameters
    ----------
    methods : tuple of str
    ranks : tuple of float
        The mean rank of each; 1 is the best.
    problems : int
    statistic, p_value : float
        Iman and Davenport's F of Friedman's test, corrected for ties, and its p: of the hypothesis that all methods are
        alike. NaN where there are fewer than two problems or methods; ∞ and 0 where all problems rank all alike.
    critical : float
        Nemenyi's critical difference at 5%: mean ranks closer than that are not told apart. ∞ of fewer than two.
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    problems: int
    statistic: float
    p_value: float
    critical: float

    @property
    def alike(self) -> tuple[tuple[int, int], ...]:
        """The longest runs of methods whose mean ranks are closer than the critical difference: first, last."""
        found: list[tuple[int, int]] = []
        for first in range(len(self.ranks)):
            last = max(i for i, rank in enumerate(self.ranks) if rank - self.ranks[first] < self.critical)
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return tuple(found)


def ranked(methods: Sequence[str], scores: NDArray[np.float64]) -> Ranking:
    """Rank methods by their scores on each problem, larger ones first, and equals by the mean of their ranks.

    Parameters
    ----------
    methods : sequence of str
    scores : array, shape (problems, methods)
        Only ranks within a problem count: problems may be scored by different metrics.

    Raises
    ------
    ValueError
        If a score is missing: a rank would mean something else on each problem.
    """
    scores = np.asarray(scores, dtype=np.float64)
    n, k = scores.shape
    if k != len(methods) or not n or not k:
        raise ValueError(f"{n} × {k} scores of {len(methods)} methods")
    if not np.isfinite(scores).all():
        raise ValueError("a method without a score on some problem has no mean rank")
    # Means of the same counts differ in their last digits: rounding restores ties.
    rounded = np.round(-scores, 12)
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
    return Ranking(tuple(methods[i] for i in order), ranks, n, float(statistic), p_value, critical)


def _friedman(scores: NDArray[np.float64]) -> float:
    """Compute Friedman's χ² of scores of shape (problems, methods), corrected for ties; 0 where all are equal."""
    if not np.ptp(scores, axis=1).any():
        return 0.0
    if scores.shape[1] > 2:
        return float(stats.friedmanchisquare(*scores.T).statistic)
    # scipy asks for three methods; of two, χ² is the square of the sign test's Z.
    ahead = np.sign(scores[:, 0] - scores[:, 1])
    return float(ahead.sum() ** 2 / np.count_nonzero(ahead))


def critical_difference(methods: int, problems: int) -> float:
    """Nemenyi's critical difference of mean ranks at 5%, by the studentized range (Demšar 2006, section 3.2.2).

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # his example
    1.25
    """
    quantile = float(stats.studentized_range.ppf(1 - ALPHA, methods, np.inf))
    return quantile / math.sqrt(2) * math.sqrt(methods * (methods + 1) / (6 * problems))
