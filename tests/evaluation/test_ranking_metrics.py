"""Metrics of decision values against scikit-learn's, and the break-even point against a hand's and a search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

from benchmark.evaluation import intervals
from benchmark.evaluation.intervals import TOO_FEW_TESTED, estimate_difference, estimate_score
from benchmark.evaluation.metrics import METRICS
from benchmark.evaluation.outcomes import Outcome, fold_scores, outcome_scores, score_over_splits
from benchmark.evaluation.ranking_metrics import (
    DecisionRanking,
    macro_average_precision,
    macro_break_even,
    macro_roc_auc,
    micro_average_precision,
    micro_break_even,
    micro_roc_auc,
)

if TYPE_CHECKING:
    from collections.abc import Callable

RANKING = [name for name, metric in METRICS.items() if metric.ranking is not None]
SKLEARN: list[tuple[Callable[..., float], Callable[..., float], str]] = [
    (micro_average_precision, average_precision_score, "micro"),
    (macro_average_precision, average_precision_score, "macro"),
    (micro_roc_auc, roc_auc_score, "micro"),
    (macro_roc_auc, roc_auc_score, "macro"),
]


def drawn(seed: int, *, ties: bool) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    truth = rng.random((60, 4)) < [0.5, 0.3, 0.1, 0.05]
    truth[:4] |= np.eye(4, dtype=bool)
    values = rng.normal(size=truth.shape) + truth
    return truth, values.round(1) if ties else values


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("ours", "theirs", "average"), SKLEARN)
@pytest.mark.parametrize("seed", range(5))
def test_it_is_scikit_learns(ours: Any, theirs: Any, average: str, seed: int, *, ties: bool) -> None:
    truth, values = drawn(seed, ties=ties)
    assert ours(DecisionRanking(truth, values)) == pytest.approx(theirs(truth, values, average=average), rel=1e-12)
    weights = np.random.default_rng(seed).integers(0, 4, len(truth)).astype(float)
    weights[:4] = 1
    if average == "micro":
        expected = theirs(truth.ravel(), values.ravel(), sample_weight=np.repeat(weights, 4))
    else:
        expected = theirs(truth, values, average=average, sample_weight=weights)
    assert ours(DecisionRanking(truth, values), weights) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("ours", "theirs", "average"), SKLEARN)
def test_values_of_documents_with_one_class_are_centred(ours: Any, theirs: Any, average: str) -> None:
    rng = np.random.default_rng(1)
    truth = np.append(np.arange(3), rng.integers(0, 3, 50))
    values = rng.normal(size=(53, 3)) + np.eye(3)[truth]
    shifted = values + 100 * rng.normal(size=(53, 1))  # a constant of the document, as in a log-likelihood
    expected = theirs(np.eye(3)[truth], values - values.mean(axis=1, keepdims=True), average=average)
    assert ours(DecisionRanking.of_documents(truth, shifted)) == pytest.approx(expected, rel=1e-9)


def test_of_two_classes_it_is_that_of_the_decision_function() -> None:
    rng = np.random.default_rng(2)
    truth = np.append([0, 1], rng.integers(0, 2, 50))
    decision = rng.normal(size=52) + truth
    values = np.column_stack([np.zeros(52), decision]) + rng.normal(size=(52, 1))
    ranking = DecisionRanking.of_documents(truth, values, of_class=1)
    assert macro_average_precision(ranking) == pytest.approx(average_precision_score(truth, decision), rel=1e-9)
    assert macro_roc_auc(ranking) == pytest.approx(roc_auc_score(truth, decision), rel=1e-9)


@pytest.mark.parametrize("name", RANKING)
@pytest.mark.parametrize("all_of_it", [False, True])
def test_a_class_of_all_documents_or_of_none_is_no_part_of_a_mean_that_is_not_defined_for_it(
    name: str, *, all_of_it: bool
) -> None:
    """The area under the ROC curve needs both kinds of documents, the others a document of the class."""
    measure = METRICS[name].ranking
    assert measure is not None
    truth, values = drawn(8, ties=False)
    one = np.full((len(truth), 1), all_of_it)
    more = np.hstack([values, np.random.default_rng(8).normal(size=one.shape)])
    alone = DecisionRanking(one, more[:, -1:])
    defined = all_of_it and "roc" not in name
    assert measure(alone) == (1 if defined else 0)
    if name.startswith("macro"):
        before, after = measure(DecisionRanking(truth, values)), measure(DecisionRanking(np.hstack([truth, one]), more))
        assert after == pytest.approx((4 * before + 1) / 5 if defined else before)


BY_HAND = DecisionRanking(
    # Class 1: + - + - -, whose second of two is right at rank 2 or not: precision and recall are 1/2.
    # Class 2: two tied documents in second place, one of them right: the first is right, and half of the tied one.
    np.array([[1, 1], [0, 1], [1, 0], [0, 0], [0, 0]], dtype=bool),
    np.array([[5, 9], [4, 7], [3, 7], [2, 1], [1, 0]], dtype=float),
)


def test_break_even_is_that_by_hand() -> None:
    assert macro_break_even(BY_HAND) == pytest.approx((1 / 2 + (1 + 0.5) / 2) / 2)
    # All ten decisions, 9+ 7+ 7- 5+ 4- 3+ 2- 1- 1- 0-, four of them right: of the first four, three are.
    assert micro_break_even(BY_HAND) == pytest.approx(3 / 4)


@pytest.mark.parametrize("seed", range(20))
def test_at_break_even_precision_is_recall(seed: int) -> None:
    """Of values without ties, the curve of scikit-learn has the point; with ties, it lies between two of its points."""
    truth, values = drawn(seed, ties=False)
    precision, recall, _ = precision_recall_curve(truth.ravel(), values.ravel())
    assert micro_break_even(DecisionRanking(truth, values)) == pytest.approx(precision[precision == recall].max())
    truth, values = drawn(seed, ties=True)
    precision, recall, _ = precision_recall_curve(truth.ravel(), values.ravel())
    above, below = recall[(recall >= precision) & (recall > 0)].min(), recall[recall <= precision].max()
    found = micro_break_even(DecisionRanking(truth, values))
    assert below <= found <= above


@pytest.mark.parametrize("name", RANKING)
def test_a_tie_counts_as_random_order_does(name: str) -> None:
    """But for the average precision, which takes a tie as one threshold."""
    truth, values = drawn(3, ties=True)
    rng, measure = np.random.default_rng(0), METRICS[name].ranking
    assert measure is not None
    mean = np.mean([measure(DecisionRanking(truth, values + 1e-6 * rng.random(values.shape))) for _ in range(400)])
    assert mean == pytest.approx(measure(DecisionRanking(truth, values)), abs=0.01)


def outcome(seed: int = 0, *, splits: int = 1, shift: float = 0.0) -> Outcome:
    rng = np.random.default_rng(7)
    truth = rng.random((120, 3)) < 0.4
    values = np.random.default_rng(seed).normal(size=truth.shape) + truth * (1 + shift)
    folds = np.arange(120) % splits
    return Outcome("a", np.arange(120), folds, truth, values > 0.5, 3, values=values)


@pytest.mark.parametrize("name", RANKING)
def test_scores_are_means_over_splits_that_are_never_ranked_together(name: str) -> None:
    one = outcome(splits=2)
    other = replace(one, values=np.where((one.folds == 1)[:, None], 10 + 3 * one.values, one.values))
    np.testing.assert_array_equal(fold_scores(one, name), fold_scores(other, name))
    assert score_over_splits(one, name) == fold_scores(one, name).mean()
    assert set(RANKING) <= outcome_scores(one).keys()
    without = replace(one, values=None)
    assert not set(RANKING) & outcome_scores(without).keys()
    for refused in (lambda: estimate_score(without, name), lambda: estimate_difference(one, without, name)):
        with pytest.raises(ValueError, match=f"'a' has no decision values, which {name} needs"):
            refused()


@pytest.mark.parametrize("splits", [1, 2])
@pytest.mark.parametrize("name", RANKING)
def test_the_interval_is_the_bootstraps(name: str, splits: int) -> None:
    """Of a plain bootstrap of the rows of each split, drawn by another generator."""
    one = outcome(splits=splits)
    found = estimate_score(one, name, seed=1)
    assert found.method == "bootstrap"
    rng, measure, drawn_scores = np.random.default_rng(9), METRICS[name].ranking, []
    assert measure is not None
    assert one.values is not None
    for _ in range(intervals.RESAMPLES_OF_RANKINGS):
        drawn_rows = [rng.choice(rows, rows.size) for rows in one.rows]
        of_splits = [measure(DecisionRanking(one.truth[rows], one.values[rows])) for rows in drawn_rows]
        drawn_scores.append(np.mean(of_splits))
    low, high = np.quantile(drawn_scores, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)
    assert found.low < found.value < found.high


def test_a_difference_is_paired() -> None:
    one, better = outcome(), replace(outcome(shift=1.0), cell="b")
    gap = estimate_difference(better, one, "micro-roc-auc")
    alone = [estimate_score(each, "micro-roc-auc") for each in (better, one)]
    assert gap.value == pytest.approx(alone[0].value - alone[1].value)
    assert 0 < gap.low < gap.high
    assert gap.high - gap.low < sum(each.high - each.low for each in alone)
    assert np.isnan(estimate_difference(one, replace(one, cell="b"), "macro-break-even").high)


def test_a_mean_over_classes_has_no_interval_where_a_class_has_few_tested_documents() -> None:
    one = outcome()
    truth = one.truth.copy()
    truth[np.flatnonzero(truth[:, 0])[9:], 0] = False
    few = replace(one, truth=truth)
    assert estimate_score(few, "macro-break-even").method == TOO_FEW_TESTED
    assert estimate_score(few, "micro-break-even").method == "bootstrap"
