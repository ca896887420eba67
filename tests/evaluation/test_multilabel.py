"""F-measures of binary decisions against scikit-learn, and the two tests against what they must come to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest, wilcoxon
from sklearn.metrics import f1_score, precision_recall_fscore_support

from benchmark.evaluation.multilabel import (
    CategoryCounts,
    category_counts,
    f1,
    macro_f1,
    macro_f1_of_means,
    micro_f1,
    micro_sign_test,
    precision,
    recall,
    wilcoxon_over_categories,
)

DRAWS, N, K = 3, 12, 4
TRUTH = arrays(np.bool_, (N, K))
DECISIONS = arrays(np.bool_, (DRAWS, N, K))
NAMES = ("a", "b")


@given(TRUTH, DECISIONS)
def test_agrees_with_scikit_learn_on_every_draw(truth, assigned):
    counts = category_counts(truth, assigned)
    for draw in range(DRAWS):
        p, r, f, support = precision_recall_fscore_support(truth, assigned[draw], zero_division=0)
        assert precision(counts)[draw] == pytest.approx(p)
        assert recall(counts)[draw] == pytest.approx(r)
        assert f1(counts)[draw] == pytest.approx(f)
        assert np.array_equal(counts.true[draw], support)
        assert macro_f1(counts)[draw] == pytest.approx(
            f1_score(truth, assigned[draw], average="macro", zero_division=0)
        )
        assert micro_f1(counts)[draw] == pytest.approx(
            f1_score(truth, assigned[draw], average="micro", zero_division=0)
        )


@given(TRUTH, DECISIONS)
def test_the_f1_of_means_is_never_below_the_mean_of_f1(truth, assigned):
    counts = category_counts(truth, assigned)
    p, r = precision(counts).mean(axis=-1), recall(counts).mean(axis=-1)
    expected = [2 * a * b / (a + b) if a + b else 0.0 for a, b in zip(p, r, strict=True)]
    assert macro_f1_of_means(counts) == pytest.approx(expected)
    assert (macro_f1_of_means(counts) >= macro_f1(counts) - 1e-12).all()


def test_a_ratio_of_nothing_is_0():
    truth = np.array([[True, False, False], [True, False, True]])
    assigned = np.array([[True, False, True], [True, False, False]])
    counts = category_counts(truth, assigned)
    assert f1(counts).tolist() == [1.0, 0.0, 0.0]  # the second has neither positives nor predictions
    assert precision(counts).tolist() == [1.0, 0.0, 0.0]
    assert macro_f1(counts) == pytest.approx(1 / 3)
    assert micro_f1(counts) == pytest.approx(4 / 6)
    nothing = CategoryCounts(*np.zeros((3, 2, 4), dtype=np.int64))
    for score in (macro_f1, macro_f1_of_means, micro_f1):
        assert np.array_equal(score(nothing), [0.0, 0.0])


@given(TRUTH, DECISIONS, st.permutations(range(N)), st.permutations(range(K)))
def test_the_order_of_documents_and_categories_does_not_matter(truth, assigned, rows, columns):
    one = category_counts(truth, assigned)
    other = category_counts(truth[rows][:, columns], assigned[:, rows][:, :, columns])
    assert np.array_equal(f1(other), f1(one)[:, columns])
    assert micro_f1(other) == pytest.approx(micro_f1(one))
    assert macro_f1(other) == pytest.approx(macro_f1(one))


@pytest.mark.parametrize(
    ("truth", "assigned"),
    [
        (np.zeros((2, 3), dtype=np.int64), np.zeros((2, 3), dtype=np.bool_)),
        (np.zeros((2, 3), dtype=np.bool_), np.zeros((2, 3))),
        (np.zeros((2, 3), dtype=np.bool_), np.zeros((3, 2), dtype=np.bool_)),
        (np.zeros((0, 3), dtype=np.bool_), np.zeros((0, 3), dtype=np.bool_)),
        (np.zeros(3, dtype=np.bool_), np.zeros(3, dtype=np.bool_)),
    ],
)
def test_what_are_no_decisions_on_the_same_documents_is_refused(truth, assigned):
    with pytest.raises(ValueError, match="decisions"):
        category_counts(truth, assigned)


class TestMicroSign:
    @given(TRUTH, arrays(np.bool_, (1, N, K)), arrays(np.bool_, (1, N, K)))
    def test_of_one_draw_is_yang_and_lius(self, truth, a, b):
        found = micro_sign_test(NAMES, truth, a, b)
        only_a = int(((a[0] == truth) & (b[0] != truth)).sum())
        only_b = int(((a[0] != truth) & (b[0] == truth)).sum())
        n = only_a + only_b
        assert found.n == n
        if n:
            assert found.statistic == pytest.approx((only_a - n / 2) / (np.sqrt(n) / 2))
            assert found.p_value == pytest.approx(binomtest(only_a, n).pvalue)
        else:
            assert (found.p_value, found.favours) == (1.0, None)

    @given(TRUTH, arrays(np.bool_, (1, N, K)), arrays(np.bool_, (1, N, K)), st.integers(1, 5))
    def test_a_draw_that_is_repeated_is_no_new_evidence(self, truth, a, b, times):
        once = micro_sign_test(NAMES, truth, a, b)
        found = micro_sign_test(NAMES, truth, *(np.repeat(each, 2 * times, axis=0) for each in (a, b)))
        assert (found.n, found.statistic, found.favours) == (once.n, once.statistic, once.favours)
        assert found.p_value == pytest.approx(min(1, 2 * once.p_value))

    @given(TRUTH, DECISIONS, DECISIONS)
    def test_the_other_way_round_favours_the_same(self, truth, a, b):
        one, other = micro_sign_test(NAMES, truth, a, b), micro_sign_test(NAMES[::-1], truth, b, a)
        assert (one.favours, one.p_value) == (other.favours, pytest.approx(other.p_value))
        assert one.statistic == -other.statistic

    @given(TRUTH, DECISIONS, DECISIONS)
    def test_draws_are_joined_by_their_second_smallest_of_three(self, truth, a, b):
        alone = sorted(micro_sign_test(NAMES, truth, a[[i]], b[[i]]).p_value for i in range(DRAWS))
        assert micro_sign_test(NAMES, truth, a, b).p_value == pytest.approx(min(1, 1.5 * alone[1]))

    def test_rejects_a_true_hypothesis_no_more_often_than_it_says(self):
        rng, rejected = np.random.default_rng(8), 0
        for _ in range(400):
            truth = rng.random((40, 3)) < 0.3
            shared = rng.random((1, 40, 3))  # what makes the draws alike
            a, b = (truth ^ (0.7 * shared + 0.3 * rng.random((6, 40, 3)) < 0.25) for _ in range(2))
            rejected += micro_sign_test(NAMES, truth, a, b).p_value <= 0.05
        assert rejected <= 400 * 0.05

    def test_decisions_of_different_draws_are_refused(self):
        truth = np.zeros((N, K), dtype=np.bool_)
        with pytest.raises(ValueError, match="paired"):
            micro_sign_test(NAMES, truth, np.zeros((3, N, K), dtype=np.bool_), np.zeros((2, N, K), dtype=np.bool_))


class TestWilcoxon:
    def test_is_scipys_over_draws_times_categories(self):
        a, b = np.random.default_rng(5).random((2, 3, 5))
        found = wilcoxon_over_categories(NAMES, a, b)
        expected = wilcoxon((a - b).ravel(), mode="exact")
        assert (found.n, found.statistic) == (15, expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)
        assert found.favours == ("a" if (a - b).mean() > 0 else "b")

    def test_a_hundred_pairs_that_all_favour_one_are_the_smallest_p(self):
        a = np.random.default_rng(6).random((10, 10))
        found = wilcoxon_over_categories(NAMES, a + 0.1, a)
        assert (found.favours, found.n) == ("a", 100)
        assert found.p_value == pytest.approx(2 / 2**100)

    def test_too_few_pairs_are_not_tested(self):
        found = wilcoxon_over_categories(NAMES, np.ones((2, 2)), np.zeros((2, 2)))
        assert (found.p_value, found.note) == (None, "not testable (smallest p 0.125)")

    def test_scores_that_cannot_be_paired_are_refused(self):
        with pytest.raises(ValueError, match="paired"):
            wilcoxon_over_categories(NAMES, np.ones((2, 3)), np.ones((3, 2)))
        with pytest.raises(ValueError, match="paired"):
            wilcoxon_over_categories(NAMES, np.full((2, 3), np.nan), np.ones((2, 3)))
