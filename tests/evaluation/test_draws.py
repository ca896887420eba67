"""Scores over draws: closed forms, SciPy, and what must hold of any scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ttest_1samp, wilcoxon
from statsmodels.stats.contingency_tables import mcnemar

from benchmark.evaluation.draws import (
    DrawScores,
    mcnemar_by_document,
    mean_difference,
    mean_estimate,
    mean_ratio,
    wilcoxon_over_draws,
)
from benchmark.evaluation.intervals import Estimate

VALUES = arrays(np.float64, 20, elements=st.integers(1, 1000).map(lambda k: k / 1000))


def scored(values, cell="a", metric="error"):
    values = np.asarray(values, dtype=np.float64)
    return DrawScores(cell, {metric: values}, 100, np.zeros(len(values), dtype=np.int64))


@given(VALUES)
def test_the_mean_has_students_interval(values):
    found = mean_estimate(scored(values), "error")
    assert found.value == pytest.approx(values.mean())
    if values.std() > 1e-9:
        expected = ttest_1samp(values, 0.0).confidence_interval(0.95)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    else:
        assert found.low == pytest.approx(found.high)


def test_a_single_draw_has_no_interval():
    found = mean_estimate(scored([0.25]), "error")
    assert found.value == 0.25
    assert np.isnan([found.low, found.high]).all()


@given(VALUES, VALUES)
def test_a_difference_is_that_of_the_pairs(a, b):
    found = mean_difference(scored(a), scored(b, "b"), "error")
    paired = mean_estimate(scored(a - b + 2), "error")
    assert found.value == pytest.approx(paired.value - 2)
    assert found.high - found.low == pytest.approx(paired.high - paired.low, abs=1e-12)
    turned = mean_difference(scored(b, "b"), scored(a), "error")
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


class TestWilcoxon:
    def test_agrees_with_scipy_where_neither_zeros_nor_ties_are(self):
        a, b = np.random.default_rng(3).random((2, 20))
        found = wilcoxon_over_draws(scored(a), scored(b, "b"), "error")
        expected = wilcoxon(a, b, mode="exact")
        assert found.p_value == pytest.approx(expected.pvalue)
        assert found.statistic == expected.statistic

    @pytest.mark.parametrize(("metric", "better"), [("error", "a"), ("accuracy", "b"), ("macro-f1", "b")])
    def test_favours_the_better_scores_which_are_the_lower_ones_of_an_error(self, metric, better):
        low, high = np.linspace(0.1, 0.2, 20), np.linspace(0.3, 0.5, 20)
        found = wilcoxon_over_draws(scored(low, "a", metric), scored(high, "b", metric), metric)
        assert found.favours == better
        assert found.p_value == pytest.approx(2 / 2**20)

    def test_equal_scores_favour_nobody(self):
        found = wilcoxon_over_draws(scored([0.1] * 20), scored([0.1] * 20, "b"), "error")
        assert (found.p_value, found.favours, found.n) == (1.0, None, 0)

    def test_too_few_draws_cannot_be_tested(self):
        found = wilcoxon_over_draws(scored([0.1] * 5), scored([0.2] * 5, "b"), "error")
        assert found.p_value is None
        assert found.note == "not testable (smallest p 0.0625)"


class TestRatio:
    @given(VALUES)
    def test_of_multiples_is_their_factor_in_every_resample(self, values):
        found = mean_ratio(scored(values / 2), scored(values, "b"), "error", draws=50)
        assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))

    def test_interval_is_near_that_of_the_delta_method(self):
        rng = np.random.default_rng(1)
        below = rng.normal(0.2, 0.01, 2000)
        above = 0.5 * below + rng.normal(0, 0.004, 2000)
        found = mean_ratio(scored(above), scored(below, "b"), "error")
        ratio = above.mean() / below.mean()
        spread = np.std(above - ratio * below, ddof=1) / below.mean() / np.sqrt(2000)
        assert found.high - found.low == pytest.approx(2 * 1.96 * spread, rel=0.05)

    def test_to_nothing_is_refused(self):
        with pytest.raises(ValueError, match="the mean error of 'b' is 0"):
            mean_ratio(scored([0.1, 0.2]), scored([0.0, 0.0], "b"), "error")


def test_draws_that_cannot_be_paired_are_refused():
    with pytest.raises(ValueError, match="3 and 2 draws"):
        mean_difference(scored([0.1, 0.2, 0.3]), scored([0.1, 0.2], "b"), "error")


@pytest.mark.parametrize("values", [[], [np.nan], [[0.1]]])
def test_scores_that_are_none_are_refused(values):
    with pytest.raises(ValueError, match="'a'"):
        DrawScores("a", {"error": np.array(values, dtype=np.float64)}, 1, np.zeros(1, dtype=np.int64))


def test_what_is_known_of_a_score_stands_in_place_of_the_draws_interval():
    known = Estimate(0.2, 0.1, 0.4, 7, "bootstrap")
    one = DrawScores("a", {"average-skl": np.array([0.2])}, 7, np.zeros(1, dtype=np.int64), {"average-skl": known})
    assert mean_estimate(one, "average-skl") is known
    assert np.isnan(mean_estimate(scored([0.2], metric="average-skl"), "average-skl").low)


class TestMcNemarByDocument:
    def draw(self, seed, draws=20, n=60):
        rng = np.random.default_rng([seed, n])
        return (rng.random((draws, n)) < share for share in (0.8, 0.7, 0.5))

    def test_of_one_draw_is_the_ordinary_test(self):
        right_a, right_b, _ = self.draw(0, draws=1, n=200)
        found = mcnemar_by_document("a", "b", right_a, right_b, np.ones_like(right_a))
        table = [[np.sum(x & y) for y in (right_b, ~right_b)] for x in (right_a, ~right_a)]
        assert found.p_value == pytest.approx(mcnemar(table, exact=True).pvalue)
        assert found.statistic == pytest.approx(mcnemar(table, exact=False, correction=True).statistic)
        assert (found.n, found.favours) == (table[0][1] + table[1][0], "a")

    def test_repeating_every_draw_changes_nothing(self):
        """Pooled decisions would count each document more often, and find anything significant."""
        given = [*self.draw(1)]
        once, often = (mcnemar_by_document("a", "b", *(np.tile(x, (k, 1)) for x in given)) for k in (1, 9))
        assert once == often
        assert once.n <= 60

    def test_what_was_not_tested_does_not_matter(self):
        right_a, right_b, tested = self.draw(2)
        found = mcnemar_by_document("a", "b", right_a, right_b, tested)
        assert found == mcnemar_by_document("a", "b", right_a & tested, right_b | ~tested, tested)
        assert found != mcnemar_by_document("a", "b", right_a, right_b | ~tested, np.ones_like(tested))

    def test_exchanging_the_cells_exchanges_the_favoured(self):
        right_a, right_b, tested = self.draw(3)
        one, other = (
            mcnemar_by_document(*given, tested)
            for given in (("a", "b", right_a, right_b), ("a", "b", right_b, right_a))
        )
        assert one.p_value == other.p_value
        assert {one.favours, other.favours} == {"a", "b"}

    def test_cells_that_are_right_equally_often_have_p_1(self):
        right, _, tested = self.draw(4)
        found = mcnemar_by_document("a", "b", right, right, tested)
        assert (found.n, found.statistic, found.p_value, found.favours) == (0, 0.0, 1.0, None)
