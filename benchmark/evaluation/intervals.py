"""From outcomes to estimates: a score with its 95% interval, and the interval of a difference between two cells.

Sampling model: the test documents are a sample. Where one split gives an accuracy, the interval is Wilson's, in closed
form. Everything else is a percentile bootstrap that resamples the documents within each fold and averages the folds as
the score itself does (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 6 and 13).

No document is resampled one by one. A metric depends on a fold only through how many documents are of each kind (say,
of class 2 and called class 5; or of classes 1 and 3, and called 1 alone), and n draws with replacement from n
documents, n_j of which are of kind j, hold kinds in numbers that are Multinomial(n, n_j / n): drawing that vector is
the same bootstrap.

A bootstrap sees no kind that the test set lacks: a mean over folds without an error has the interval [1, 1]. Wilson's
interval has no such blind spot.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from benchmark.evaluation.metrics import Tallies
from benchmark.evaluation.outcomes import check_same_documents, fold_scores
from benchmark.evaluation.significance import outcome_table, sign_z

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.outcomes import Outcome

LEVEL = 0.95
#: The p below which a difference is called shown, where no paper states a level of its own.
ALPHA = 0.05
Z_LEVEL = float(stats.norm.ppf((1 + LEVEL) / 2))
#: Where each document has one label, micro-F1 is the accuracy, and the error what is left of it.
ACCURACY_LIKE = ("accuracy", "micro-f1", "error")
DRAWS = 10_000  # where documents are of two to four kinds
DRAWS_MANY = 2_000  # where there may be thousands of kinds


@dataclass(frozen=True)
class Estimate:
    """A number computed from test documents, and its 95% interval.

    Parameters
    ----------
    value, low, high : float
        `value` is computed from all documents; the interval need not be symmetric about it.
    n : int
        Test documents; one tested in r folds counts r times.
    method : str
        "wilson", "bonett-price", "bootstrap", "t over draws", "fieller", "single draw" or "count".
    """

    value: float
    low: float
    high: float
    n: int
    method: str


def estimate(outcome: Outcome, metric: str = "accuracy", seed: int = 0, draws: int | None = None) -> Estimate:
    """Score of a cell, the mean over its folds, with its 95% interval.

    Wilson's interval for the accuracy on one split; a bootstrap for any other metric and for any mean over folds.

    Parameters
    ----------
    outcome : Outcome
    metric : str
        One that the outcome can be scored by.
    seed : int
        Of the bootstrap.
    draws : int, optional
        Bootstrap resamples; where left out 10,000, but 2,000 for an F1.
    """
    scores = fold_scores(outcome, metric)
    if _right_or_wrong(outcome, metric) and scores.size == 1:
        right = int(np.count_nonzero(outcome.correct))
        counted = outcome.truth.size - right if metric == "error" else right
        return Estimate(float(scores[0]), *wilson(counted, outcome.truth.size), outcome.truth.size, "wilson")
    return _bootstrap([outcome], metric, float(scores.mean()), seed, draws)


def difference(a: Outcome, b: Outcome, metric: str = "accuracy", seed: int = 0, draws: int | None = None) -> Estimate:
    """Score of `a` less the score of `b` on the same documents, with the 95% interval of paired data.

    Bonett and Price's interval for the accuracies on one split; otherwise a bootstrap that draws a document together
    with both of its predictions. Parameters as in `estimate`.
    """
    check_same_documents(a, b)
    gaps = fold_scores(a, metric) - fold_scores(b, metric)
    if _right_or_wrong(a, metric) and gaps.size == 1:
        _, only_a, only_b, _ = (int(count) for count in outcome_table(a, b)[0])
        if metric == "error":
            only_a, only_b = only_b, only_a
        low, high = bonett_price(only_a, only_b, a.truth.size)
        return Estimate((only_a - only_b) / a.truth.size, low, high, a.truth.size, "bonett-price")
    return _bootstrap([a, b], metric, float(gaps.mean()), seed, draws)


def sign_z_estimate(a: Outcome, b: Outcome, seed: int = 0, draws: int = DRAWS) -> Estimate:
    """Z of the micro sign test, pooled over the folds, with a bootstrap interval (documents drawn within folds).

    `n` counts the discordant documents.
    """
    _check_tested_once(a)
    if a.several:
        raise ValueError(f"{a.cell!r}: the decisions on one document aren't independent, and their Z has no interval")
    rng = np.random.default_rng(seed)
    table = outcome_table(a, b)
    totals = np.zeros((draws, 4), dtype=np.int64)
    for fold in table:
        totals += rng.multinomial(fold.sum(), fold / fold.sum(), size=draws)
    low, high = percentiles(sign_z(totals[:, 1], totals[:, 2]))
    only_a, only_b = (int(count) for count in table.sum(axis=0)[1:3])
    return Estimate(float(sign_z(only_a, only_b)), low, high, only_a + only_b, "bootstrap")


def wilson(right: int, n: int) -> tuple[float, float]:
    """Wilson's interval of a proportion (Journal of the American Statistical Association 22, 1927).

    Examples
    --------
    >>> [round(end, 4) for end in wilson(81, 100)]
    [0.7222, 0.8749]
    """
    found = stats.binomtest(right, n).proportion_ci(LEVEL, method="wilson")
    return float(found.low), float(found.high)


def bonett_price(only_a: int, only_b: int, n: int) -> tuple[float, float]:
    """Interval of the difference of two proportions on the same n documents.

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
    """The kind of each document, by number, and what a document of each kind adds to the counts.

    Parameters
    ----------
    kinds : int array, shape (n,)
    right, assigned, true : float64 arrays, shape (kinds, k)
    """

    kinds: NDArray[np.intp]
    right: NDArray[np.float64]
    assigned: NDArray[np.float64]
    true: NDArray[np.float64]

    def tallies(self, kinds: NDArray[np.intp], counts: NDArray[Any], of_class: int | None) -> Tallies:
        """Sums over so many documents of each of some kinds, shape (draws, k)."""
        numbers = counts.astype(np.float64)  # whole, far below 2⁵³: the sums are exact, in whatever order
        right, assigned, true = (numbers @ part[kinds] for part in (self.right, self.assigned, self.true))
        found = Tallies(right, assigned, true, np.asarray(numbers.sum(axis=-1)))
        return found if of_class is None else found.only(of_class)


def _right_or_wrong(outcome: Outcome, metric: str) -> bool:
    """Whether a score depends on no more than which documents are right."""
    return metric in ACCURACY_LIKE and not outcome.several and outcome.of_class is None


def _coded(outcome: Outcome, halves: bool) -> _Coded:
    if outcome.several:
        packed = [np.packbits(part, axis=1) for part in (outcome.truth, outcome.predicted)]
        _, first, kinds = np.unique(np.concatenate(packed, axis=1), axis=0, return_index=True, return_inverse=True)
        truth, given = outcome.truth[first].astype(np.float64), outcome.predicted[first].astype(np.float64)
        return _Coded(kinds.ravel(), truth * given, given, truth)
    if halves:  # right or wrong: a collection of one class, some of it called another
        once = np.ones((2, 1))
        return _Coded((~outcome.correct).astype(np.intp), np.array([[1.0], [0.0]]), once, once)
    k = outcome.n_classes
    truth, given = np.repeat(np.eye(k), k, axis=0), np.tile(np.eye(k), (k, 1))
    return _Coded(outcome.truth.astype(np.intp) * k + outcome.predicted, truth * given, given, truth)


def _bootstrap(outcomes: Sequence[Outcome], metric: str, value: float, seed: int, draws: int | None) -> Estimate:
    """Percentile interval of the score of one cell, or of the first's score less the second's."""
    first = outcomes[0]
    _check_tested_once(first)
    draws = draws or (DRAWS if _right_or_wrong(first, metric) else DRAWS_MANY)
    total, of = np.zeros(draws), first.known[metric].scores
    how = _right_or_wrong(first, metric), seed, draws
    for resampled in _of_one(first, *how) if len(outcomes) == 1 else _resampled(outcomes, *how):
        scores = [of(tallies) for tallies in resampled]
        total += 1 / len(first.rows) * (scores[0] - scores[1] if len(scores) == 2 else scores[0])
    return Estimate(value, *percentiles(total), len(first.documents), "bootstrap")


def _of_one(*how: Any) -> tuple[list[Tallies], ...]:
    """What `_resampled` gives of one outcome; kept until its thread asks for another, as metrics follow each other."""
    if getattr(_KEPT, "how", None) != how:
        _KEPT.how, _KEPT.resampled = None, None  # free the old before taking the new
        outcome, *rest = how
        _KEPT.resampled = tuple(_resampled([outcome], *rest))
        _KEPT.how = how
    found: tuple[list[Tallies], ...] = _KEPT.resampled
    return found


_KEPT = threading.local()


def _resampled(outcomes: Sequence[Outcome], halves: bool, seed: int, draws: int) -> Iterator[list[Tallies]]:
    """What the draws of each split count, outcome by outcome."""
    rng, coded = np.random.default_rng(seed), [_coded(outcome, halves) for outcome in outcomes]
    sizes = [len(each.true) for each in coded]
    together = np.ravel_multi_index([each.kinds for each in coded], sizes)  # of columns, `unique` takes twice as long
    for rows in outcomes[0].rows:
        found, counts = np.unique(together[rows], return_counts=True)
        kinds = np.unravel_index(found, sizes)
        numbers = rng.multinomial(rows.size, counts / rows.size, size=draws)
        of_class = outcomes[0].of_class
        yield [each.tallies(own, numbers, of_class) for each, own in zip(coded, kinds, strict=True)]


def _check_tested_once(outcome: Outcome) -> None:
    if outcome.repeats_documents:
        raise ValueError(f"{outcome.cell!r} tests documents more than once: their outcomes cannot be pooled")


def over_draws(values: NDArray[np.float64], n: int) -> Estimate:
    """Mean over the draws, with Student's interval; of a single draw, the value without an interval."""
    mean = float(values.mean())
    if values.size == 1:
        return Estimate(mean, math.nan, math.nan, n, "single draw")
    if np.ptp(values) == 0:
        return Estimate(mean, mean, mean, n, "t over draws")
    variance = np.square(values - mean).mean() * (values.size / (values.size - 1))
    tail = (1 - LEVEL) / 2
    low, high = mean + stats.t.ppf([tail, 1 - tail], values.size - 1) * np.sqrt(variance / values.size)
    return Estimate(mean, float(low), float(high), n, "t over draws")


def percentiles(values: NDArray[np.float64]) -> tuple[float, float]:
    """The ends of a percentile interval."""
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
