"""Methods ranked on several problems: mean ranks, Friedman's test, and the critical difference (Demšar 2006)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from benchmark.evaluation.intervals import ALPHA
from benchmark.evaluation.significance import doubled_ranks

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
        Iman and Davenport's F of Friedman's test, and its p: of the hypothesis that all methods are alike. NaN where
        there are fewer than two problems or methods; ∞ and 0 where all problems rank all methods alike.
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
    means = np.stack([doubled_ranks(row) / 2 for row in np.round(-scores, 12)]).mean(axis=0)
    order = np.argsort(means, kind="stable")
    statistic = p_value = math.nan
    critical = math.inf
    if n > 1 and k > 1:
        chi2 = 12 * n / (k * (k + 1)) * (float((means**2).sum()) - k * (k + 1) ** 2 / 4)
        rest = n * (k - 1) - chi2
        statistic = (n - 1) * chi2 / rest if rest > 1e-9 else math.inf
        p_value = float(special.fdtrc(k - 1, (k - 1) * (n - 1), max(0.0, statistic)))
        critical = critical_difference(k, n)
    ranks = tuple(float(means[i]) for i in order)
    return Ranking(tuple(methods[i] for i in order), ranks, n, float(statistic), p_value, critical)


def critical_difference(methods: int, problems: int) -> float:
    """Nemenyi's critical difference of mean ranks at 5%, by the studentized range (Demšar 2006, section 3.2.2).

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # his example
    1.25
    """
    return _quantile(methods) / math.sqrt(2) * math.sqrt(methods * (methods + 1) / (6 * problems))


@cache
def _quantile(methods: int) -> float:
    """The 95% quantile of the range of so many standard normals: by scipy, which takes a third of a second to load."""
    table = Path(__file__).with_name("studentized_range.txt").read_text(encoding="ascii").split()
    if methods < len(table) + 2:
        return float(table[methods - 2])
    from scipy import stats  # noqa: PLC0415 - see above

    return float(stats.studentized_range.ppf(1 - ALPHA, methods, np.inf))
