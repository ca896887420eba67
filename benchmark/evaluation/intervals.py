"""95% confidence intervals of scores, and of the difference of two cells' scores.

Sampling model: the test documents are a sample. The accuracy on a single split has Wilson's interval, in closed form.
All other intervals are percentile bootstraps that resample the documents within each fold and average or pool the folds
as the score itself does (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 6 and 13).

Documents aren't resampled one by one. A metric depends on a fold only through the number of documents of each kind
(say, of class 2 and predicted as class 5; or of classes 1 and 3, and predicted as 1 only). In n draws with replacement
from n documents, n_j of which are of kind j, the numbers of each kind are Multinomial(n, n_j / n). Drawing that vector
is the same bootstrap.

A bootstrap never draws a kind that the test set lacks: in folds without an error, every resample has the score 1. There
a share of right documents has Wilson's interval, the difference of two has Bonett and Price's, and any other score has
none. Nor does a bootstrap reach the mean over classes of which some have few tested documents: a resample without a
document of a class has the F1 0 for it. With R52's class sizes, the interval of macro-F1 covered the expected score in
57% of simulated test sets. So a score in which each class counts alike has no interval where a class has fewer than ten
tested documents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from benchmark.evaluation.metrics import Tallies, stack_tallies
from benchmark.evaluation.outcomes import Estimate, check_same_documents, score_over_splits
from benchmark.evaluation.significance import outcome_table, sign_z

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.outcomes import Outcome
    from benchmark.system.arrays import Array, Indices

CONFIDENCE_LEVEL = 0.95
Z_LEVEL = float(stats.norm.ppf((1 + CONFIDENCE_LEVEL) / 2))
#: Where each document has exactly one label, micro-F1 is the accuracy, and the error is 1 less the accuracy.
ACCURACY_LIKE = ("accuracy", "micro-f1", "error")
#: Tested documents that each class must have for an interval of a mean over classes.
LEAST_TESTED = 10
#: Kind of an estimate without interval because a class has fewer tested documents.
TOO_FEW_TESTED = "none: a class has too few tested documents"
#: Kind of an estimate without interval because all resamples, or all replicates, have the same score.
ALL_ALIKE = "none: nothing varies"
RESAMPLES = 10_000  # bootstrap resamples where documents are of two to four kinds
RESAMPLES_OF_RANKINGS = 1_000  # bootstrap resamples of decision values, each of which is ranked again
RESAMPLES_MANY_KINDS = 2_000  # bootstrap resamples where there may be thousands of kinds


def estimate_score(outcome: Outcome, metric: str = "accuracy", seed: int = 0, resamples: int | None = None) -> Estimate:
    """Return the score of a cell over all its folds, with its 95% interval.

    The interval is Wilson's for the accuracy on one split, and a bootstrap for any other metric and for several folds.
    Where all resamples are alike, as in folds without an error, see `estimate_by_counts`. A metric that counts each
    class alike has no interval if a class has fewer than ten tested documents.

    Parameters
    ----------
    outcome : Outcome
    metric : str
        A metric that is defined for the outcome.
    seed : int
        Seed of the bootstrap.
    resamples : int, optional
        Number of bootstrap resamples; by default 10,000, but 2,000 for an F1.

    Returns
    -------
    Estimate
    """
    return _estimate([outcome], metric, score_over_splits(outcome, metric), seed, resamples)


def estimate_difference(
    a: Outcome, b: Outcome, metric: str = "accuracy", seed: int = 0, resamples: int | None = None
) -> Estimate:
    """Return the score of `a` less the score of `b` on the same documents, with the 95% interval for paired data.

    The interval is Bonett and Price's for accuracies on one split, and otherwise a bootstrap that draws a document
    together with both of its predictions. Parameters as in `estimate_score`.
    """
    check_same_documents(a, b)
    value = score_over_splits(a, metric) - score_over_splits(b, metric)
    return _estimate([a, b], metric, value, seed, resamples)


def estimate_by_counts(outcomes: Sequence[Outcome], metric: str, value: float) -> Estimate:
    """Return a score, or the difference of two cells' scores, with a closed-form interval of counted documents.

    The interval of a share of right documents is Wilson's, and that of the difference of two shares Bonett and Price's.
    A document that several splits test counts once: by its mean over them. Any other metric has no interval.
    """
    first = outcomes[0]
    tested, n = len(first.documents), int(np.unique(first.documents).size)
    if not is_right_or_wrong(first, metric):
        return Estimate(value, math.nan, math.nan, tested, ALL_ALIKE)
    if len(outcomes) == 1:
        return Estimate(value, *wilson(round(value * n), n), tested, "wilson")
    _, only_a, only_b, _ = (round(count * n / tested) for count in outcome_table(*outcomes).sum(axis=0))
    if metric == "error":
        only_a, only_b = only_b, only_a
    if len(first.rows) == 1:
        value = (only_a - only_b) / n  # without the rounding of two scores
    return Estimate(value, *bonett_price(only_a, only_b, n), tested, "bonett-price")


def sign_z_estimate(a: Outcome, b: Outcome, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """Return Z of the micro sign test, pooled over the folds, with a bootstrap interval (documents drawn within folds).

    `n` is the number of discordant documents.
    """
    _check_tested_once(a)
    if a.multilabel:
        raise ValueError(f"{a.cell!r}: Z has no interval, because the decisions on one document aren't independent")
    rng = np.random.default_rng(seed)
    table = outcome_table(a, b)
    totals = np.zeros((resamples, 4), dtype=np.int64)
    for fold in table:
        totals += rng.multinomial(fold.sum(), fold / fold.sum(), size=resamples)
    only_a, only_b = (int(count) for count in table.sum(axis=0)[1:3])
    if not only_a + only_b:
        return Estimate(0.0, math.nan, math.nan, 0, ALL_ALIKE)
    low, high = percentiles(sign_z(totals[:, 1], totals[:, 2]))
    return Estimate(float(sign_z(only_a, only_b)), low, high, only_a + only_b, "bootstrap")


def wilson(right: int, n: int) -> tuple[float, float]:
    """Return Wilson's interval of a proportion (Journal of the American Statistical Association 22, 1927).

    Examples
    --------
    >>> [round(end, 4) for end in wilson(81, 100)]
    [0.7222, 0.8749]
    """
    interval = stats.binomtest(right, n).proportion_ci(CONFIDENCE_LEVEL, method="wilson")
    return float(interval.low), float(interval.high)


def bonett_price(only_a: int, only_b: int, n: int) -> tuple[float, float]:
    """Return the interval of the difference of two proportions on the same n documents.

    Bonett and Price (Journal of Educational and Behavioral Statistics 37, 2012): Wald's interval after one document is
    added to each discordant cell, p₁ = (only_a + 1) / (n + 2), p₂ = (only_b + 1) / (n + 2):
    ``p₁ - p₂ ± z sqrt((p₁ + p₂ - (p₁ - p₂)²) / (n + 2))``. Fagerland, Lydersen and Laake (Statistics in Medicine 33,
    2014) recommend it as the simple interval that covers well, also where few documents are discordant.
    """
    p1, p2 = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    reach = Z_LEVEL * math.sqrt((p1 + p2 - (p1 - p2) ** 2) / (n + 2))
    return max(-1.0, p1 - p2 - reach), min(1.0, p1 - p2 + reach)


@dataclass(frozen=True, eq=False)
class _Coded:
    """Kind of each document, and what a document of each kind adds to the counts.

    Parameters
    ----------
    kinds : int array, shape (n,)
        Number of the kind of each document.
    right, assigned, true : float64 arrays, shape (kinds, k)
        Contribution of a document of each kind to the fields of `Tallies`.
    """

    kinds: Indices
    right: Array
    assigned: Array
    true: Array

    def tallies(self, kinds: Indices, counts: NDArray[Any], outcome: Outcome, split: int) -> Tallies:
        """Return the tallies of resamples, shape (resamples, k), from their `counts` of documents of each kind.

        The classes that count in a mean over classes are those of the sample, in every resample.
        """
        numbers = counts.astype(np.float64)  # integers far below 2⁵³: the sums are exact in any order
        right, assigned, true = (numbers @ part[kinds] for part in (self.right, self.assigned, self.true))
        in_means = outcome.tallies.in_means
        tallied = None if in_means is None else in_means[split]
        tallies = Tallies(right, assigned, true, np.asarray(numbers.sum(axis=-1)), tallied)
        return tallies if outcome.of_class is None else tallies.only(outcome.of_class)


def is_right_or_wrong(outcome: Outcome, metric: str) -> bool:
    """Return whether a score depends only on which documents are right."""
    return metric in ACCURACY_LIKE and not outcome.multilabel and outcome.of_class is None


def _coded(outcome: Outcome, halves: bool) -> _Coded:
    """Return the kinds of the documents; with `halves`, only right and wrong are distinguished."""
    if outcome.multilabel:
        packed = [np.packbits(part, axis=1) for part in (outcome.truth, outcome.predicted)]
        _, first, kinds = np.unique(np.concatenate(packed, axis=1), axis=0, return_index=True, return_inverse=True)
        truth, predicted = outcome.truth[first].astype(np.float64), outcome.predicted[first].astype(np.float64)
        return _Coded(kinds.ravel(), truth * predicted, predicted, truth)
    if halves:  # right or wrong: as if there were one class, and some documents were not recognized
        once = np.ones((2, 1))
        return _Coded((~outcome.correct).astype(np.intp), np.array([[1.0], [0.0]]), once, once)
    k = outcome.n_classes
    truth, predicted = np.repeat(np.eye(k), k, axis=0), np.tile(np.eye(k), (k, 1))
    return _Coded(outcome.truth.astype(np.intp) * k + outcome.predicted, truth * predicted, predicted, truth)


def _estimate(outcomes: Sequence[Outcome], metric: str, value: float, seed: int, resamples: int | None) -> Estimate:
    """Return one cell's score, or the first cell's score less the second's, with the interval of `estimate_score`."""
    first = outcomes[0]
    if is_right_or_wrong(first, metric) and len(first.rows) == 1:
        return estimate_by_counts(outcomes, metric, value)
    _check_tested_once(first)
    if has_too_few_tested(first, metric):
        return Estimate(value, math.nan, math.nan, len(first.documents), TOO_FEW_TESTED)
    if (ranking := first.known[metric].ranking) is not None:
        total = _resampled_rankings(outcomes, ranking, seed, resamples or RESAMPLES_OF_RANKINGS)
        return _by_percentiles(outcomes, metric, value, total)
    resamples = resamples or (RESAMPLES if is_right_or_wrong(first, metric) else RESAMPLES_MANY_KINDS)
    total, of = np.zeros(resamples), first.known[metric].scores
    of_splits = tuple(_resampled(outcomes, is_right_or_wrong(first, metric), seed, resamples))
    if first.known[metric].pooled and len(of_splits) > 1:
        of_splits = ([stack_tallies(each).summed() for each in zip(*of_splits, strict=True)],)
    for resampled in of_splits:
        scores = [of(tallies) for tallies in resampled]
        total += 1 / len(of_splits) * (scores[0] - scores[1] if len(scores) == 2 else scores[0])
    return _by_percentiles(outcomes, metric, value, total)


def _by_percentiles(outcomes: Sequence[Outcome], metric: str, value: float, resampled: Array) -> Estimate:
    """Return the estimate with the percentile interval of its resamples, or see `estimate_by_counts` if none differ."""
    if np.ptp(resampled) == 0:
        return estimate_by_counts(outcomes, metric, value)
    return Estimate(value, *percentiles(resampled), len(outcomes[0].documents), "bootstrap")


def _resampled_rankings(outcomes: Sequence[Outcome], ranking: Callable[..., float], seed: int, resamples: int) -> Array:
    """Return the mean over the splits of a score of decision values, or of the difference of two, shape (resamples,).

    Each document is of a kind of its own here. Both outcomes of a difference get the same documents.
    """
    rng, total = np.random.default_rng(seed), np.zeros(resamples)
    for split, rows in enumerate(outcomes[0].rows):
        for number in range(resamples):
            weights = np.bincount(rng.integers(rows.size, size=rows.size), minlength=rows.size).astype(np.float64)
            one, *other = (ranking(each.rankings[split], weights) for each in outcomes)
            total[number] += (one - sum(other)) / len(outcomes[0].rows)
    return total


def has_too_few_tested(outcome: Outcome, metric: str) -> bool:
    """Return whether a score has no interval: each class counts alike, and one has fewer than `LEAST_TESTED` documents.

    Where the metric is the mean over splits, each split must have as many.
    """
    spec = outcome.known[metric]
    counts = outcome.tallies.summed() if spec.pooled else outcome.tallies
    tested = counts.true if counts.in_means is None else counts.true[counts.in_means]
    return spec.classes_alike and bool(tested.min() < LEAST_TESTED)


def _resampled(outcomes: Sequence[Outcome], halves: bool, seed: int, resamples: int) -> Iterator[list[Tallies]]:
    """Yield for each split the tallies of the resamples, one for each outcome."""
    rng, coded = np.random.default_rng(seed), [_coded(outcome, halves) for outcome in outcomes]
    sizes = [len(c.true) for c in coded]
    together = np.ravel_multi_index([c.kinds for c in coded], sizes)  # `unique` of columns takes twice as long
    for split, rows in enumerate(outcomes[0].rows):
        present, counts = np.unique(together[rows], return_counts=True)
        kinds = np.unravel_index(present, sizes)
        numbers = rng.multinomial(rows.size, counts / rows.size, size=resamples)
        yield [c.tallies(of, numbers, outcome, split) for c, of, outcome in zip(coded, kinds, outcomes, strict=True)]


def _check_tested_once(outcome: Outcome) -> None:
    """Raise ValueError if a document is tested by more than one split."""
    if outcome.repeats_documents:
        raise ValueError(f"{outcome.cell!r} tests documents more than once: their outcomes cannot be pooled")


def replicate_mean(values: Array, n: int) -> Estimate:
    """Return the mean over replicates with Student's interval; none for a single replicate, or if none differ."""
    mean = float(values.mean())
    if values.size == 1:
        return Estimate(mean, math.nan, math.nan, n, "single replicate")
    if np.ptp(values) == 0:
        return Estimate(mean, math.nan, math.nan, n, ALL_ALIKE)
    variance = np.square(values - mean).mean() * (values.size / (values.size - 1))
    tail = (1 - CONFIDENCE_LEVEL) / 2
    low, high = mean + stats.t.ppf([tail, 1 - tail], values.size - 1) * np.sqrt(variance / values.size)
    return Estimate(mean, float(low), float(high), n, "t over replicates")


def percentiles(values: Array) -> tuple[float, float]:
    """Return the ends of the 95% percentile interval of some values."""
    low, high = np.quantile(values, [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2])
    return float(low), float(high)
