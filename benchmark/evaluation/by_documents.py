"""Scores on given splits: the tested documents are the sample, and intervals and tests are over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation import intervals
from benchmark.evaluation.by_draws import mean_ratio, over_draws, wilcoxon_over_classes
from benchmark.evaluation.intervals import ACCURACY_LIKE, Estimate
from benchmark.evaluation.metrics import METRICS
from benchmark.evaluation.outcomes import check_same_documents
from benchmark.evaluation.significance import (
    TestResult,
    mcnemar_test,
    sign_test,
    signed_rank_test,
    untestable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.outcomes import Outcome
    from benchmark.evaluation.scores import CellScores


@dataclass(frozen=True)
class ByDocuments:
    """The tested documents as the sample.

    Parameters
    ----------
    seed : int
        Of the bootstrap.
    """

    seed: int

    @property
    def words(self) -> str:
        """What is the sample, and which intervals and tests follow from it."""
        return (
            "The tested documents are the sample: a score is the mean over the splits, its interval Wilson's for the "
            "accuracy on one split, else a bootstrap that draws documents within each split "
            f"(seed {self.seed}). The sign test and McNemar's, exact, are over the documents on which exactly one of "
            "two cells is right."
        )

    @property
    def bars(self) -> str:
        """What error bars of scores are."""
        return "95% interval over the tested documents"

    @property
    def bars_of_difference(self) -> str:
        """What error bars of differences are."""
        return "95% interval over the tested documents, paired"

    @property
    def bars_of_ratio(self) -> str:
        """What error bars of ratios are."""
        return "95% bootstrap interval over the splits"

    def estimate(self, scores: CellScores, metric: str) -> Estimate:
        """Mean over the splits, with the interval that the tested documents give."""
        if metric in scores.known:
            return scores.known[metric]
        if scores.outcome is None or metric not in METRICS:
            return over_draws(scores.values[metric], int(scores.n[0]))
        return _estimate(scores.outcome, _distinct(scores.outcome, metric), self.seed)

    def part(self, scores: CellScores, metric: str, fold: int) -> Estimate:
        """The score of one split; of the only one, that of the cell."""
        if len(scores.folds) == 1:
            return self.estimate(scores, metric)
        if scores.outcome is None or metric not in METRICS:
            return over_draws(scores.values[metric][fold : fold + 1], int(scores.n[fold]))
        own = scores.outcome.part(fold)
        return intervals.estimate(own, _distinct(own, metric), seed=self.seed)

    def difference(self, a: CellScores, b: CellScores, metric: str) -> Estimate:
        """Score of `a` less that of `b` on the same documents, with the interval of paired data."""
        if a.outcome is None or b.outcome is None or metric not in METRICS:
            return over_draws(_gaps(a, b, metric), int(a.n[0]))
        return _difference(a.outcome, b.outcome, metric, self.seed)

    def ratio(self, a: CellScores, b: CellScores, metric: str) -> Estimate:
        """Mean score of a over the mean score of b; of a single split, without an interval worth the name.

        Raises
        ------
        ValueError
            If b's mean is 0, or there are fewer than two splits to draw from.
        """
        if len(a.folds) < 2:
            raise ValueError(f"{a.cell!r} and {b.cell!r} have one split: their ratio has no interval")
        return mean_ratio(a, b, metric, self.seed)

    def sign_z(self, a: CellScores, b: CellScores) -> Estimate:
        """Z of the micro sign test, with a bootstrap interval.

        Raises
        ------
        ValueError
            If the documents can't be pooled.
        """
        return intervals.sign_z_estimate(*_outcomes(a, b), seed=self.seed)

    def test(self, name: str, a: CellScores, b: CellScores, metric: str) -> TestResult:
        """One test by its name."""
        if name == "wilcoxon":
            return signed_rank_test((a.cell, b.cell), *_values(a, b, metric), metric)
        if a.outcome is None or b.outcome is None:
            return untestable((a.cell, b.cell), name, "there are no decisions to count")
        if name == "mcnemar" and a.outcome.several:
            return untestable((a.cell, b.cell), name, "documents have several classes")
        return (sign_test if name == "sign" else mcnemar_test)(a.outcome, b.outcome)

    def tests(self, a: CellScores, b: CellScores, metrics: Sequence[str]) -> list[TestResult]:
        """Every test that is valid of two cells; the splits of a single one can't be ranked."""
        one, other = _outcomes(a, b)
        check_same_documents(one, other)
        names = ["sign"] if one.several else ["sign", "mcnemar"]
        found = [self.test(name, a, b, metrics[0]) for name in names]
        if one.several:
            found.append(wilcoxon_over_classes(one, other))
        if len(a.folds) > 1 and a.has(metrics[0]) and b.has(metrics[0]):
            found.append(self.test("wilcoxon", a, b, metrics[0]))
        return found


@lru_cache(maxsize=4096)
def _estimate(outcome: Outcome, metric: str, seed: int) -> Estimate:
    return intervals.estimate(outcome, metric, seed=seed)


@lru_cache(maxsize=4096)
def _difference(a: Outcome, b: Outcome, metric: str, seed: int) -> Estimate:
    return intervals.difference(a, b, metric, seed=seed)


def _distinct(outcome: Outcome, metric: str) -> str:
    """The metric under which an estimate is kept: micro-F1 is the accuracy where labels are single."""
    alike = metric in ACCURACY_LIKE and metric != "error" and not outcome.several and outcome.of_class is None
    return "accuracy" if alike else metric


def _outcomes(a: CellScores, b: CellScores) -> tuple[Outcome, Outcome]:
    if a.outcome is None or b.outcome is None:
        raise ValueError(f"{a.cell!r} and {b.cell!r} are no predictions: there are no documents to pair")
    return a.outcome, b.outcome


def _values(a: CellScores, b: CellScores, metric: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    one, other = a.values[metric], b.values[metric]
    if a.folds != b.folds:
        raise ValueError(f"{a.cell!r} and {b.cell!r} are of different splits: they can't be paired")
    return one, other


def _gaps(a: CellScores, b: CellScores, metric: str) -> NDArray[np.float64]:
    if metric in a.values and metric in b.values:
        one, other = _values(a, b, metric)
        return one - other
    return np.array([a.known[metric].value - b.known[metric].value])
