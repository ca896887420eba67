"""Mean ranks: Demšar's own example, and what holds of all ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from benchmark.evaluation.significance import critical_difference, rank_methods

# Demšar (2006), Table 6: AUC of C4.5 with and without two parameters on 14 data sets.
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.97501, 0.975],  # printed alike, and ranked 2 and 3
        [0.957, 0.978, 0.946, 0.970],
    ]
)
NAMES = ("plain", "m", "cf", "m and cf")


def test_the_numbers_of_the_published_example():
    found = rank_methods(NAMES, AUC)
    assert dict(zip(found.methods, np.round(found.ranks, 3), strict=True)) == {
        "m and cf": 1.964,
        "m": 2.0,
        "cf": 2.893,
        "plain": 3.143,
    }
    assert found.critical == pytest.approx(1.25, abs=0.005)
    # His χ² of 9.28 isn't corrected for ties: 78 of at most 14 (4³ - 4).
    chi2 = 9.28 / (1 - 78 / (14 * 60))
    assert found.statistic == pytest.approx(13 * chi2 / (14 * 3 - chi2), rel=2e-3)  # Iman and Davenport's


@given(hnp.arrays(np.float64, (9, 5), elements=st.integers(0, 3).map(float)))
def test_the_test_is_friedmans_corrected_for_ties(scores):
    """By its definition: the spread of the rank sums, beside that of the ranks within problems."""
    ranks = np.array([stats.rankdata(-row) for row in scores])
    within = np.square(ranks - 3).sum()
    between = np.square(ranks.sum(axis=0) - 9 * 3).sum() / 9
    chi2 = between / within * 9 * 4 if within else 0.0
    found = rank_methods("abcde", scores)
    if chi2 < 9 * 4 - 1e-6:
        assert found.statistic == pytest.approx(8 * chi2 / (9 * 4 - chi2), abs=1e-9)
        assert found.p_value == pytest.approx(stats.f.sf(found.statistic, 4, 32))
    else:
        assert found.p_value == 0


@pytest.mark.parametrize(("ahead", "behind", "ties"), [(7, 2, 0), (7, 2, 4), (3, 3, 1)])
def test_of_two_methods_it_is_the_sign_tests(ahead, behind, ties):
    scores = np.array([[1.0, 0.0]] * ahead + [[0.0, 1.0]] * behind + [[1.0, 1.0]] * ties)
    chi2, n = (ahead - behind) ** 2 / (ahead + behind), len(scores)
    assert rank_methods("ab", scores).statistic == pytest.approx((n - 1) * chi2 / (n - chi2))


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_the_quantiles_are_the_printed_ones(k, q):
    """Demšar's Table 5."""
    assert critical_difference(k, 10) == pytest.approx(q * np.sqrt(k * (k + 1) / 60), abs=1e-3)


@given(hnp.arrays(np.float64, (4, 5), elements=st.integers(0, 6).map(float)))
def test_ranks_are_of_the_order_alone(scores):
    found = rank_methods("abcde", scores)
    again = rank_methods("abcde", np.exp(scores) * np.arange(1, 5)[:, None])
    assert found.ranks == pytest.approx(again.ranks)
    assert sum(found.ranks) == pytest.approx(15)
    assert list(found.ranks) == sorted(found.ranks)
    assert 0 <= found.p_value <= 1


def test_one_problem_shows_nothing():
    found = rank_methods("ab", np.array([[0.1, 0.9]]))
    assert found.methods == ("b", "a")
    assert np.isnan(found.p_value)


@pytest.mark.parametrize("k", range(2, 8))
@pytest.mark.parametrize("n", [2, 5, 7, 13])
def test_where_all_problems_agree_nothing_is_left_to_chance(n, k):
    """Whatever rounding leaves of the difference of Friedman's χ² from its largest value."""
    found = rank_methods("abcdefg"[:k], np.tile(np.arange(k, 0.0, -1), (n, 1)))
    assert found.p_value == 0
    assert found.statistic == np.inf


def test_a_missing_score_is_no_rank():
    with pytest.raises(ValueError, match="without a score"):
        rank_methods("ab", np.array([[0.1, np.nan]]))


def test_scores_that_differ_by_rounding_are_equal():
    found = rank_methods("abc", np.array([[0.1 + 0.2, 0.3, 0.3], [0.3, 0.3, 0.1 + 0.2]]))
    assert found.ranks == (2.0, 2.0, 2.0)
    assert found.p_value == 1


def test_problems_of_one_group_count_as_one() -> None:
    """Two problems of a corpus agree; a third, of another, doesn't: each corpus has one vote."""
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    found = rank_methods("abc", scores, ["reuters", "reuters", "webkb"])
    # By corpus: a 1, b and c 2.5 each; a 3, b 2, c 1.
    assert dict(zip(found.methods, found.ranks, strict=True)) == {"c": 1.75, "a": 2.0, "b": 2.25}
    assert found.problems == 2
    assert found.critical == critical_difference(3, 2)
    alone = rank_methods("abc", scores, ["one", "one", "one"])
    assert (alone.problems, alone.critical) == (1, np.inf)
    assert np.isnan(alone.p_value)
    every = rank_methods("abc", scores, ["x", "y", "z"])
    assert every == rank_methods("abc", scores)


def test_equal_methods_stay_in_order_and_one_alone_has_no_test():
    found = rank_methods("abc", np.ones((4, 3)))
    assert (found.methods, found.ranks, found.statistic, found.p_value) == (("a", "b", "c"), (2.0,) * 3, 0.0, 1.0)
    alone = rank_methods("a", np.ones((4, 1)))
    assert (alone.ranks, alone.problems, alone.critical) == ((1.0,), 4, np.inf)
    assert np.isnan([alone.statistic, alone.p_value]).all()
