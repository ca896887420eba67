"""Scores over repeated draws of the training documents: means with their intervals, and paired comparisons.

Sampling model: the collection is fixed and the draws of training documents are the sample. A score is the mean over the
draws, and its interval says how far another set of draws would move it; it says nothing of other collections.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binomtest
from scipy.stats import t as student

from benchmark.evaluation.intervals import DRAWS, LEVEL, Estimate
from benchmark.evaluation.significance import TestResult, signed_rank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

#: Scores of draws, and whether more is better. All are shares but "average-skl", which is in nats and no draw's, and
#: "seconds".
DRAW_METRICS = {
    "error": False,
    "accuracy": True,
    "macro-f1": True,
    "macro-f1-of-means": True,
    "micro-f1": True,
    "average-skl": True,
    "seconds": False,
}


@dataclass(frozen=True, eq=False)
class DrawScores:
    """What one cell scored on every draw.

    Parameters
    ----------
    cell : str
    scores : mapping of str to float array, shape (draws,)
        By metric, a key of `DRAW_METRICS`; fractions.
    n : int
        Documents tested in one draw.
    ties : int array, shape (draws,)
        Decisions of each draw that fell on the boundary.
    known : mapping of str to Estimate
        By metric, what something else than the draws says of it, in place of Student's interval: a bootstrap of the
        documents, where a score is of all of them.
    """

    cell: str
    scores: Mapping[str, NDArray[np.float64]]
    n: int
    ties: NDArray[np.int64]
    known: Mapping[str, Estimate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for metric, values in self.scores.items():
            if metric not in DRAW_METRICS or values.ndim != 1 or not values.size or not np.isfinite(values).all():
                raise ValueError(f"{self.cell!r}: {metric} must be a known metric, finite on every draw")


def mean_estimate(scored: DrawScores, metric: str) -> Estimate:
    """Mean over the draws, with Student's interval; of a single draw, the value without an interval, unless known."""
    return scored.known.get(metric) or _student(scored.scores[metric], scored.n)


def mean_difference(a: DrawScores, b: DrawScores, metric: str) -> Estimate:
    """Mean over the draws of a's score less b's, with Student's interval of the paired differences."""
    return _student(_paired(a, b, metric), a.n)


def mean_ratio(a: DrawScores, b: DrawScores, metric: str, seed: int = 0, draws: int = DRAWS) -> Estimate:
    """Mean score of a over the mean score of b, with a percentile bootstrap over the draws, taken in pairs.

    Raises
    ------
    ValueError
        If b's mean is 0 in the sample or a resample: the ratio is not defined.
    """
    _paired(a, b, metric)
    above, below = a.scores[metric], b.scores[metric]
    chosen = np.random.default_rng(seed).integers(above.size, size=(draws, above.size))
    bottoms = below[chosen].mean(axis=1)
    if not below.mean() > 0 or not (bottoms > 0).all():
        raise ValueError(f"the mean {metric} of {b.cell!r} is 0: a ratio to it is not defined")
    ratios = above[chosen].mean(axis=1) / bottoms
    low, high = np.quantile(ratios, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(above.mean() / below.mean()), float(low), float(high), above.size, "bootstrap")


def wilcoxon_over_draws(a: DrawScores, b: DrawScores, metric: str, alpha: float = 0.05) -> TestResult:
    """Wilcoxon's signed rank test over the draws, exact (see `significance.signed_rank`).

    `favours` is the cell with the better scores: the lower ones where the metric is an error. Draws share the
    collection's documents, so the test leans to small p-values (Dietterich, Neural Computation 10, 1998).
    """
    differences = np.round(_paired(a, b, metric), 12)
    n = int(np.count_nonzero(differences))
    smallest = min(1.0, 2.0 ** (1 - differences.size))
    if smallest > alpha:
        note = f"not testable (smallest p {smallest:g})"
        return TestResult(a.cell, b.cell, "wilcoxon", n, math.nan, None, note=note)
    above, below, p_value = signed_rank(differences)
    advantage = above - below if DRAW_METRICS[metric] else below - above
    favours = None if advantage == 0 else (a.cell if advantage > 0 else b.cell)
    return TestResult(a.cell, b.cell, "wilcoxon", n, min(above, below), p_value, favours)


def mcnemar_by_document(
    a: str, b: str, right_a: NDArray[np.bool_], right_b: NDArray[np.bool_], tested: NDArray[np.bool_]
) -> TestResult:
    """McNemar's test, exact, over documents that several draws tested: each document counts once.

    The decisions of different draws on one document aren't independent, so that pooling them would count a document as
    often as it was tested. Here a document stands on the side of the cell that was right on it in more of its draws,
    and is discordant unless both were right equally often. With one draw it is the ordinary test.

    Parameters
    ----------
    a, b : str
        Names of the cells.
    right_a, right_b, tested : bool arrays, shape (draws, n_documents)
        Whether the cells were right; where a document wasn't tested, this is not looked at.
    """
    advantage = ((right_a & tested).astype(np.int64) - (right_b & tested)).sum(axis=0)
    only_a, only_b = int((advantage > 0).sum()), int((advantage < 0).sum())
    n = only_a + only_b
    statistic = max(abs(only_a - only_b) - 1, 0) ** 2 / n if n else 0.0
    p_value = float(binomtest(only_a, n).pvalue) if n else 1.0
    favours = None if only_a == only_b else a if only_a > only_b else b
    return TestResult(a, b, "mcnemar", n, statistic, p_value, favours)


def _paired(a: DrawScores, b: DrawScores, metric: str) -> NDArray[np.float64]:
    one, other = a.scores[metric], b.scores[metric]
    if one.shape != other.shape:
        raise ValueError(f"{a.cell!r} and {b.cell!r} have {one.size} and {other.size} draws: they can't be paired")
    return one - other


def _student(values: NDArray[np.float64], n: int) -> Estimate:
    mean = float(values.mean())
    if values.size == 1:
        return Estimate(mean, math.nan, math.nan, n, "single draw")
    reach = float(student.ppf((1 + LEVEL) / 2, values.size - 1) * values.std(ddof=1) / math.sqrt(values.size))
    return Estimate(mean, mean - reach, mean + reach, n, "t over draws")
