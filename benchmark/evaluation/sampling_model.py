"""Sampling units of scores: the tested documents or the replicates of training documents, as the protocol decides.

Fixed splits test a sample of documents, and intervals and tests are over these documents. Where training documents are
drawn repeatedly, the collection is fixed and the replicates are the sample: a score is the mean over them, and its
interval says how far another set of replicates would move it. It says nothing about other collections.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from benchmark.evaluation import intervals
from benchmark.evaluation.intervals import ALL_ALIKE, CONFIDENCE_LEVEL, replicate_mean
from benchmark.evaluation.metrics import METRICS, TIME_METRICS
from benchmark.evaluation.outcomes import ALL_SPLITS, Estimate, check_same_documents
from benchmark.evaluation.significance import (
    TestResult,
    document_test,
    micro_sign_test,
    not_testable,
    signed_rank_test,
    wilcoxon_over_classes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmark.evaluation.outcomes import CellScores, Outcome
    from benchmark.system.arrays import Array
    from benchmark.system.tags import Tags


@dataclass(frozen=True)
class SampleTexts:
    """Note on a sample, its intervals and its tests; captions of the error bars of scores, differences and ratios."""

    words: str
    bars: str
    bars_of_difference: str
    bars_of_ratio: str


OF_DOCUMENTS = SampleTexts(
    "The tested documents are the sample. A score is the mean over the splits; macro-F1 and other means over "
    "classes are computed from the counts of all splits together. The interval is Wilson's for the accuracy on "
    "one split, and otherwise a bootstrap interval that resamples documents within each split (seed {seed}); where "
    "no document or every document is right, it is Wilson's of all documents. The "
    "exact sign test and McNemar's exact test use the documents on which exactly one of two cells is right.",
    "95% interval over the tested documents",
    "95% interval over the tested documents, paired",
    "95% interval over the splits (Fieller)",
)
OF_REPLICATES = SampleTexts(
    "The replicates (random draws of training documents) are the sample. A score is the mean over the "
    "replicates, with Student's interval. Replicates share the collection, so the interval and Wilcoxon's test, "
    "which pairs the replicates, hold for this collection only.",
    "95% interval of the mean (t over the replicates)",
    "95% interval of the mean difference (t over the replicates)",
    "95% interval over the replicates (Fieller)",
)


@dataclass(frozen=True)
class SamplingModel:
    """Estimates and comparisons of cells' scores; a ValueError says why two cells can't be paired.

    Parameters
    ----------
    seed : int
        Seed of the bootstrap.
    replicated : bool
        Whether the sample is the replicates of training documents; else it is the tested documents.
    groups : bool
        Whether the splits are groups, each left out in turn, and themselves a sample of groups.
    """

    seed: int
    replicated: bool = False
    groups: bool = field(default=False, compare=False)
    #: Cached bootstrap estimates by their arguments, since several tables use them.
    _known: dict[tuple[Any, ...], Estimate] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def texts(self) -> SampleTexts:
        """What tables and figures state of the sample."""
        return OF_REPLICATES if self.replicated else OF_DOCUMENTS

    def estimate(self, scores: CellScores, metric: str) -> Estimate:
        """Return the mean score of a cell over its splits, with its 95% interval.

        Replicates that are all alike have the interval of the counted documents.
        """
        known = scores.recorded.get((metric, ALL_SPLITS, "")) or scores.known.get(metric)
        if known is not None:
            return known
        if self._resamples(scores, metric):
            return self._once(intervals.estimate_score, scores.outcome, metric)
        return self._over_replicates(scores.values[metric], [scores], metric)

    def between(self, scores: CellScores, metric: str) -> Estimate | None:
        """Return the score with Student's interval over groups as a random sample; None where splits are not groups."""
        if not self.groups or metric not in scores.values or len(scores.folds) < 2:
            return None
        if scores.outcome is not None and metric in scores.outcome.known and scores.outcome.known[metric].pooled:
            return None  # the mean over the groups is another number
        return replicate_mean(scores.values[metric], int(scores.n.sum()))

    def counted(self, scores: CellScores, ours: Estimate) -> str:
        """Describe the sample of an interval: "1,041 documents in 4 splits", "20 replicates"."""
        k = len(scores.folds)
        if self.replicated and k:
            return f"{k} replicates"
        n = int(scores.n.sum()) if k else ours.n
        return f"{n:,} documents" + (f" in {k} {'groups' if self.groups else 'splits'}" if k > 1 else "")

    def part(self, scores: CellScores, metric: str, fold: int) -> Estimate:
        """Return the score of the split at position `fold`, with its interval."""
        if (known := scores.recorded.get((metric, scores.folds[fold], ""))) is not None:
            return known
        if not self._resamples(scores, metric):
            return replicate_mean(scores.values[metric][fold : fold + 1], int(scores.n[fold]))
        if len(scores.folds) == 1 or scores.outcome is None:
            return self.estimate(scores, metric)
        return intervals.estimate_score(scores.outcome.parts[fold], metric, self.seed)

    def difference(self, a: CellScores, b: CellScores, metric: str) -> Estimate:
        """Return the score of a minus that of b, with the 95% interval of paired data."""
        if (metric, ALL_SPLITS, b.cell) in a.recorded:
            return a.recorded[metric, ALL_SPLITS, b.cell]
        if not self.replicated and a.outcome is not None and b.outcome is not None and metric in a.outcome.known:
            if not a.can_score(metric):
                raise ValueError(f"the run recorded no difference in {metric} of {a.cell!r} and {b.cell!r}")
            return self._once(intervals.estimate_difference, a.outcome, b.outcome, metric)
        if metric not in a.values or metric not in b.values:  # numbers without splits
            return replicate_mean(np.array([a.known[metric].value - b.known[metric].value]), int(a.n[0]))
        return self._over_replicates(np.subtract(*_paired(a, b, metric)), [a, b], metric)

    def ratio(self, a: CellScores, b: CellScores, metric: str) -> Estimate:
        """Return the mean score of a divided by that of b, with Fieller's 95% interval over the paired splits.

        The interval is the set of ratios R for which Student's test of a - R b = 0 is not significant (Journal of the
        Royal Statistical Society B 16, 1954). With twenty replicates it covers 95%, the bootstrap's percentile and BCa
        intervals 93% each. The ratio of two numbers that are counted or computed exactly is exact, too.

        Raises
        ------
        ValueError
            If b's mean is 0, or not significantly different from 0: the ratio is not defined, or has no interval; or if
            the only split is no replicate.
        """
        if not self.replicated and metric in a.values and len(a.folds) < 2:
            raise ValueError(f"{a.cell!r} and {b.cell!r} have one split: their ratio has no interval")
        if metric not in a.values or metric not in b.values:  # numbers without splits
            one, other = a.known[metric], b.known[metric]
            if not other.value or one.low != one.high or other.low != other.high:
                raise ValueError(f"{metric} of {a.cell!r} and {b.cell!r}: the ratio is not defined, or has no interval")
            value = one.value / other.value
            return Estimate(value, value, value, one.n, "count")
        above, below = _paired(a, b, metric)
        if not below.mean() > 0:
            raise ValueError(f"the mean {metric} of {b.cell!r} is 0: a ratio to it is not defined")
        n, value = above.size, float(above.mean() / below.mean())
        if n == 1:
            return Estimate(value, math.nan, math.nan, n, "single replicate")
        t2 = float(stats.t.ppf((1 + CONFIDENCE_LEVEL) / 2, n - 1)) ** 2 / n
        (aa, ab), (_, bb) = np.cov(above, below)
        square = below.mean() ** 2 - t2 * bb
        if not square > 0:
            raise ValueError(f"the mean {metric} of {b.cell!r} may be 0: a ratio to it has no interval")
        middle = above.mean() * below.mean() - t2 * ab
        reach = math.sqrt(max(0.0, middle**2 - square * (above.mean() ** 2 - t2 * aa)))
        return Estimate(value, (middle - reach) / square, (middle + reach) / square, n, "fieller")

    def sign_z(self, a: CellScores, b: CellScores) -> Estimate:
        """Return Z of the micro sign test, with a bootstrap interval; ValueError if documents are tested repeatedly."""
        return intervals.sign_z_estimate(*_outcomes(a, b), seed=self.seed)

    def test(self, name: str, a: CellScores, b: CellScores, metric: str) -> TestResult:
        """Run the test "sign", "mcnemar" or "wilcoxon"; return "not testable" where the sample doesn't allow it."""
        if name == "wilcoxon":
            known = METRICS if a.outcome is None else a.outcome.known
            return signed_rank_test((a.cell, b.cell), *_paired(a, b, metric), metric, known=known)
        if a.outcome is None or b.outcome is None:
            return not_testable((a.cell, b.cell), name, "there are no predictions to count")
        if not a.outcome.multilabel:
            return document_test(name, a.outcome, b.outcome)
        if name == "sign":
            return micro_sign_test(a.outcome, b.outcome)
        return not_testable((a.cell, b.cell), name, "documents have several classes")

    def tests(self, a: CellScores, b: CellScores, metrics: Sequence[str]) -> list[TestResult]:
        """Run every valid test, uncorrected for multiplicity; the first metric is the main one.

        Over replicates, that is Wilcoxon's test on each metric, and tests of decisions; over documents, Wilcoxon's test
        of several splits on the main metric, and tests of documents.
        """

        def ranked(metric: str) -> TestResult:
            return self.test("wilcoxon", a, b, metric)

        had = [metric for metric in metrics if metric not in TIME_METRICS and a.has(metric) and b.has(metric)]
        if not self.replicated:
            one, other = _outcomes(a, b)
            check_same_documents(one, other)
            second = wilcoxon_over_classes(one, other) if one.multilabel else document_test("mcnemar", one, other)
            found = [self.test("sign", a, b, metrics[0]), second]
            return [*found, ranked(metrics[0])] if len(a.folds) > 1 and metrics[0] in had else found
        found = [ranked(metric) for metric in had[:1]]
        found += [replace(ranked(metric), test=f"wilcoxon, {metric}") for metric in had[1:]]
        if a.outcome is None or b.outcome is None:
            return found
        if a.outcome.multilabel:
            return [*found, wilcoxon_over_classes(a.outcome, b.outcome), micro_sign_test(a.outcome, b.outcome)]
        return [*found, document_test("mcnemar", a.outcome, b.outcome)]

    def _resamples(self, scores: CellScores, metric: str) -> bool:
        """Return whether an interval is over the tested documents, whose predictions are known."""
        return not self.replicated and scores.can_score(metric)

    def _once(self, estimate: Callable[..., Estimate], *of: Any) -> Estimate:
        """Return an estimate of outcomes by a metric, computed once."""
        if of not in self._known:
            self._known[of] = estimate(*of, self.seed)
        return self._known[of]

    def _over_replicates(self, values: Array, cells: Sequence[CellScores], metric: str) -> Estimate:
        """Return the mean over splits; of replicates that are all alike, with the interval of the counted documents."""
        ours = replicate_mean(values, int(cells[0].n[0]))
        outcomes = [scores.outcome for scores in cells if scores.outcome is not None and scores.can_score(metric)]
        if not self.replicated or ours.method != ALL_ALIKE or len(outcomes) < len(cells):
            return ours
        return replace(intervals.estimate_by_counts(outcomes, metric, ours.value), n=ours.n)


def sampling_of(tags: Tags, seed: int) -> SamplingModel:
    """Return the sample that a protocol's tags imply: replicates where it draws training documents, else documents."""
    return SamplingModel(seed, tags.replicated, tags.leaves_groups_out)


def _outcomes(a: CellScores, b: CellScores) -> tuple[Outcome, Outcome]:
    if a.outcome is None or b.outcome is None:
        raise ValueError(f"{a.cell!r} or {b.cell!r} has no predictions: there are no documents to pair")
    return a.outcome, b.outcome


def _paired(a: CellScores, b: CellScores, metric: str) -> tuple[Array, Array]:
    """Return the scores of both cells, split by split."""
    one, other = a.values[metric], b.values[metric]
    if one.shape != other.shape:
        raise ValueError(f"{a.cell!r} and {b.cell!r} have {one.size} and {other.size} replicates: they can't be paired")
    if a.folds != b.folds:
        raise ValueError(f"{a.cell!r} and {b.cell!r} have different splits: they can't be paired")
    return one, other
