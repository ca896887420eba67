"""Scores over repeated draws of the training documents: means with their intervals, and paired comparisons.

Sampling model: the collection is fixed and the draws of training documents are the sample. A score is the mean over the
draws, and its interval says how far another set of draws would move it; it says nothing of other collections.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binomtest
from scipy.stats import t as student

from benchmark.evaluation.intervals import DRAWS, LEVEL, Estimate
from benchmark.evaluation.metrics import CLOCK, f1
from benchmark.evaluation.outcomes import check_same_documents
from benchmark.evaluation.significance import (
    TestResult,
    binomial_p,
    favoured,
    outcome_table,
    sign_z,
    signed_rank_test,
    untestable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.outcomes import Outcome
    from benchmark.evaluation.scores import CellScores


@dataclass(frozen=True)
class ByDraws:
    """The draws as the sample.

    Parameters
    ----------
    seed : int
        Of the bootstrap of a ratio.
    """

    seed: int

    @property
    def words(self) -> str:
        """What is the sample, and which intervals and tests follow from it."""
        return (
            "The draws of training documents are the sample: a score is the mean over them, its interval Student's. "
            "Draws share the collection: the interval, and Wilcoxon's test, which pairs the draws, speak of this "
            "collection only."
        )

    @property
    def bars(self) -> str:
        """What error bars of scores are."""
        return "95% interval of the mean (t over the draws)"

    @property
    def bars_of_difference(self) -> str:
        """What error bars of differences are."""
        return "95% interval of the mean difference (t over the draws)"

    @property
    def bars_of_ratio(self) -> str:
        """What error bars of ratios are."""
        return "95% bootstrap interval over the draws"

    def estimate(self, scores: CellScores, metric: str) -> Estimate:
        """Mean over the draws, with Student's interval; of a single draw, the value without an interval."""
        return scores.known.get(metric) or over_draws(scores.values[metric], _tested(scores))

    def part(self, scores: CellScores, metric: str, fold: int) -> Estimate:
        """The score of one draw; it has no interval."""
        return Estimate(float(scores.values[metric][fold]), math.nan, math.nan, int(scores.n[fold]), "single draw")

    def difference(self, a: CellScores, b: CellScores, metric: str) -> Estimate:
        """Mean over the draws of a's score less b's, with Student's interval of the paired differences."""
        return over_draws(_paired(a, b, metric), _tested(a))

    def ratio(self, a: CellScores, b: CellScores, metric: str) -> Estimate:
        """Mean score of a over the mean score of b, see `mean_ratio`."""
        return mean_ratio(a, b, metric, self.seed)

    def sign_z(self, a: CellScores, b: CellScores) -> Estimate:
        """Not defined: documents are tested more than once.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError(f"{a.cell!r} and {b.cell!r} test documents more than once: their outcomes can't be pooled")

    def test(self, name: str, a: CellScores, b: CellScores, metric: str) -> TestResult:
        """One test by its name: of the scores, by the draws; of right and wrong decisions, by the documents."""
        if name == "wilcoxon":
            return signed_rank_test((a.cell, b.cell), *_both(a, b, metric), metric)
        if a.outcome is None or b.outcome is None:
            return untestable((a.cell, b.cell), name, "there are no decisions to count")
        if a.outcome.several:
            if name == "sign":
                return micro_sign_test(a.outcome, b.outcome)
            return untestable((a.cell, b.cell), name, "documents have several classes")
        return by_document(name, a.outcome, b.outcome)

    def tests(self, a: CellScores, b: CellScores, metrics: Sequence[str]) -> list[TestResult]:
        """Every test that is valid of two cells."""
        shares = [metric for metric in metrics if metric not in CLOCK and a.has(metric) and b.has(metric)]
        found = []
        for metric in shares:
            own = self.test("wilcoxon", a, b, metric)
            found.append(own if metric == shares[0] else replace(own, test=f"wilcoxon, {metric}"))
        if a.outcome is None or b.outcome is None:
            return found
        if a.outcome.several:
            return [*found, wilcoxon_over_classes(a.outcome, b.outcome), micro_sign_test(a.outcome, b.outcome)]
        return [*found, by_document("mcnemar", a.outcome, b.outcome)]


def over_draws(values: NDArray[np.float64], n: int) -> Estimate:
    """Mean over the draws, with Student's interval; of a single draw, the value without an interval."""
    mean = float(values.mean())
    if values.size == 1:
        return Estimate(mean, math.nan, math.nan, n, "single draw")
    reach = float(student.ppf((1 + LEVEL) / 2, values.size - 1) * values.std(ddof=1) / math.sqrt(values.size))
    return Estimate(mean, mean - reach, mean + reach, n, "t over draws")


def mean_ratio(a: CellScores, b: CellScores, metric: str, seed: int = 0, draws: int = DRAWS) -> Estimate:
    """Mean score of a over the mean score of b, with a percentile bootstrap over the draws, taken in pairs.

    Raises
    ------
    ValueError
        If b's mean is 0 in the sample or a resample: the ratio is not defined.
    """
    above, below = _both(a, b, metric)
    chosen = np.random.default_rng(seed).integers(above.size, size=(draws, above.size))
    bottoms = below[chosen].mean(axis=1)
    if not below.mean() > 0 or not (bottoms > 0).all():
        raise ValueError(f"the mean {metric} of {b.cell!r} is 0: a ratio to it is not defined")
    ratios = above[chosen].mean(axis=1) / bottoms
    low, high = np.quantile(ratios, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(above.mean() / below.mean()), float(low), float(high), above.size, "bootstrap")


def by_document(name: str, a: Outcome, b: Outcome) -> TestResult:
    """McNemar's test or the sign test, exact, over documents that several draws tested: each document counts once.

    The decisions of different draws on one document aren't independent, so that pooling them would count a document as
    often as it was tested. Here a document stands on the side of the cell that was right on it in more of its draws,
    and is discordant unless both were right equally often. With one draw it is the ordinary test.

    Parameters
    ----------
    name : {"mcnemar", "sign"}
    a, b : Outcome
        Of one class each, on the same draws.
    """
    check_same_documents(a, b)
    own = a.counted()
    documents = np.unique(a.documents[own], return_inverse=True)[1].ravel()
    advantage = np.bincount(documents, a.correct[own].astype(np.float64) - b.correct[own])
    only_a, only_b = int((advantage > 0).sum()), int((advantage < 0).sum())
    n = only_a + only_b
    corrected = max(abs(only_a - only_b) - 1, 0) ** 2 / n if n else 0.0
    statistic = float(sign_z(only_a, only_b)) if name == "sign" else corrected
    names = (a.cell, b.cell)
    return TestResult(*names, name, n, statistic, binomial_p(only_a, only_b), favoured(names, only_a - only_b))


def micro_sign_test(a: Outcome, b: Outcome) -> TestResult:
    """Micro sign test over all decisions, one for each document and class (Yang and Liu 1999, section 4.1).

    Each draw is tested by itself: draws decide on the same documents, and pooled they would count each document as
    often as there are draws. The k-th smallest of r p-values, times r/k, is a p-value however they depend on each
    other (Rüger, Metrika 25, 1978); k = r/2, rounded up, makes it twice the median. The decisions of one draw on one
    document, for its classes, aren't independent either, as in Yang and Liu's own: p leans to small values.

    It counts right decisions, most of which are to give a class to no document: a method of higher F1 may lose.

    Returns
    -------
    TestResult
        `n`, the decisions on which one is right and the other wrong, and Z are medians over the draws.
    """
    _, only_a, only_b, _ = outcome_table(a, b).T
    z = float(np.median(sign_z(only_a, only_b)))
    p_values = sorted(
        binomtest(int(k), int(k + others)).pvalue if k + others else 1.0
        for k, others in zip(only_a, only_b, strict=True)
    )
    middle = (len(p_values) + 1) // 2
    p_value = min(1.0, float(p_values[middle - 1]) * len(p_values) / middle)
    names = (a.cell, b.cell)
    return TestResult(*names, "sign", int(np.median(only_a + only_b)), z, p_value, favoured(names, z))


def wilcoxon_over_classes(a: Outcome, b: Outcome) -> TestResult:
    """Wilcoxon's signed rank test of F1 with a pair for each draw and class, exact.

    A draw's classes share their training documents, and a class's draws share its test documents: there is less in k·r
    such pairs than in as many independent ones, and p leans to small values.
    """
    check_same_documents(a, b)
    found = signed_rank_test((a.cell, b.cell), f1(a.tallies), f1(b.tallies), "f1")
    return replace(found, test="wilcoxon, category × draw" if len(a.rows) > 1 else "wilcoxon, categories")


def _tested(scores: CellScores) -> int:
    """Documents tested in one draw; draws of one size test equally many, but for those of one class by itself."""
    return int(scores.n[0])


def _both(a: CellScores, b: CellScores, metric: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    one, other = a.values[metric], b.values[metric]
    if one.shape != other.shape:
        raise ValueError(f"{a.cell!r} and {b.cell!r} have {one.size} and {other.size} draws: they can't be paired")
    return one, other


def _paired(a: CellScores, b: CellScores, metric: str) -> NDArray[np.float64]:
    if metric not in a.values or metric not in b.values:  # numbers that are of no draw
        return np.array([a.known[metric].value - b.known[metric].value])
    one, other = _both(a, b, metric)
    return one - other
