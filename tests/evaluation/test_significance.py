import gc
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from benchmark.analysis.comparisons import holm_family_rows
from benchmark.evaluation.outcomes import Outcome, fold_scores
from benchmark.evaluation.significance import (
    TestResult as Result,
)
from benchmark.evaluation.significance import (
    document_test,
    exact_signed_rank,
    holm_correction,
    outcome_table,
    sign_z,
    signed_rank_test,
    wilcoxon_over_classes,
)
from tests.evaluation.outcomes import judged, paired, random_outcome


def wilcoxon_test(a, b, **alpha):
    scores = (fold_scores(each, "accuracy") for each in (a, b))
    return signed_rank_test((a.cell, b.cell), *scores, "accuracy", **alpha)


tables = st.tuples(*[st.integers(0, 40)] * 4).filter(lambda table: sum(table) > 0)


def test_outcome_table_counts_fold_by_fold():
    a = judged("a", [1, 1, 0, 0], [1, 1])
    b = judged("b", [1, 0, 1, 0], [0, 0])
    np.testing.assert_array_equal(outcome_table(a, b), [[1, 1, 1, 1], [0, 2, 0, 0]])


def test_only_the_same_documents_are_paired():
    with pytest.raises(ValueError, match="'a' and 'b' differ in folds"):
        outcome_table(judged("a", [1, 0], [1]), judged("b", [1], [0, 1]))


class TestSign:
    @pytest.mark.parametrize(
        ("only_a", "only_b", "printed"),
        [(41, 15, 3.4744), (49, 15, 4.2500), (38, 18, 2.6726), (51, 15, 4.4313),
         (323, 158, 7.5234), (350, 178, 7.4853), (318, 153, 7.6028), (356, 163, 8.4718)],
    )  # fmt: skip
    def test_gives_the_prints_of_zhang2005(self, only_a, only_b, printed):
        """Whole numbers of documents, about as many more as its tables 1 and 2 say, give every Z of its table 3."""
        assert round(float(sign_z(only_a, only_b)), 4) == printed

    @given(table=tables)
    def test_swapping_the_cells_turns_z_and_keeps_p(self, table):
        a, b = paired(*table)
        there, back = document_test("sign", a, b), document_test("sign", b, a)
        assert there.statistic == -back.statistic
        assert there.p_value == back.p_value
        assert there.favours == back.favours
        assert there.n == table[1] + table[2]

    @pytest.mark.parametrize("n", range(1, 9))
    def test_p_counts_the_sign_patterns(self, n):
        for k in range(n + 1):
            extreme = [abs(2 * sum(signs) - n) >= abs(2 * k - n) for signs in itertools.product([0, 1], repeat=n)]
            assert document_test("sign", *paired(3, k, n - k, 2)).p_value == pytest.approx(np.mean(extreme))

    @given(data=st.data())
    def test_does_not_care_for_the_order_of_documents(self, data):
        a, b = paired(5, 4, 2, 3)
        order = np.array(data.draw(st.permutations(range(14))))
        shuffled = [Outcome(o.cell, o.documents[order], o.folds, o.truth, o.predicted[order], 2) for o in (a, b)]
        assert document_test("sign", *shuffled) == document_test("sign", a, b)


class TestMcNemar:
    @given(table=tables)
    def test_its_p_is_the_exact_sign_tests(self, table):
        a, b = paired(*table)
        assert document_test("mcnemar", a, b).p_value == pytest.approx(document_test("sign", a, b).p_value, rel=1e-9)

    @given(table=tables.filter(lambda table: table[1] != table[2]))
    def test_statistic_agrees_with_statsmodels(self, table):
        both, only_a, only_b, neither = table
        expected = mcnemar([[both, only_a], [only_b, neither]], exact=False, correction=True).statistic
        assert document_test("mcnemar", *paired(*table)).statistic == pytest.approx(expected)

    def test_identical_classifiers_do_not_differ(self):
        """statsmodels' asymptotic test says p = 0 here, or warns and says nan; its exact one says 1."""
        result = document_test("mcnemar", *paired(7, 0, 0, 3))
        assert (result.n, result.statistic, result.p_value) == (0, 0.0, 1.0)


class TestWilcoxon:
    @pytest.mark.parametrize("n", [6, 12, 30])
    def test_agrees_with_scipy_where_there_are_no_ties(self, n):
        differences = np.random.default_rng(n).normal(0.3, 1, size=n)
        above, below, p_value = exact_signed_rank(differences)
        expected = stats.wilcoxon(differences, method="exact")
        assert min(above, below) == expected.statistic
        assert p_value == pytest.approx(expected.pvalue, rel=1e-12)

    @pytest.mark.parametrize("differences", [[1, 1, -1, 2, 2, 3], [1, -1, 1, -1], [2, 2, 2, 2, -2, 5, 0, 0]])
    def test_ties_are_exact(self, differences):
        kept = np.array([d for d in differences if d], dtype=float)
        ranks = stats.rankdata(np.abs(kept))
        smaller = min(ranks[kept > 0].sum(), ranks[kept < 0].sum())
        sums = [(ranks * signs).sum() for signs in itertools.product([0, 1], repeat=kept.size)]
        expected = min(1.0, 2 * np.mean(np.array(sums) <= smaller))
        assert exact_signed_rank(np.array(differences, dtype=float))[2] == pytest.approx(expected)

    @given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
    def test_turning_the_signs_keeps_p(self, differences):
        d = np.array(differences, dtype=float)
        above, below, p_value = exact_signed_rank(d)
        assert exact_signed_rank(-d) == (below, above, p_value)
        assert 0 < p_value <= 1

    def test_four_folds_cannot_be_tested(self):
        better, worse = judged("a", *[[1, 1]] * 4), judged("b", *[[1, 0]] * 4)
        result = wilcoxon_test(better, worse)
        assert result.p_value is None
        assert result.note == "not testable (smallest p 0.125 with 4 cases)"
        assert wilcoxon_test(better, worse, alpha=0.2).p_value == pytest.approx(0.125)

    def test_a_smallest_p_of_alpha_itself_can_be_tested(self):
        better, worse = judged("a", *[[1, 1]] * 4), judged("b", *[[1, 0]] * 4)
        assert wilcoxon_test(better, worse, alpha=0.125).p_value == 0.125
        assert wilcoxon_test(better, worse, alpha=0.124).p_value is None

    def test_folds_without_a_difference_are_dropped(self):
        folds_a = [[1, 1, 1]] * 7 + [[1, 0, 0]]
        folds_b = [[1, 1, 0]] * 7 + [[0, 1, 0]]
        result = wilcoxon_test(judged("a", *folds_a), judged("b", *folds_b))
        assert result.n == 7
        assert result.p_value == pytest.approx(2 / 2**7)
        assert result.favours == "a"

    def test_its_smallest_p_is_that_of_the_folds_with_a_difference(self):
        folds_a, folds_b = [[1, 1]] * 8, [[1, 0]] * 3 + [[1, 1]] * 5
        result = wilcoxon_test(judged("a", *folds_a), judged("b", *folds_b))
        assert (result.n, result.p_value, result.least_p) == (3, 0.25, 0.25)
        assert not result.is_testable()
        (corrected,) = holm_correction([result])
        assert corrected.note == "not testable (smallest p 0.25 after Holm's correction, with 3 cases that differ)"

    def test_equal_counts_tie_whatever_floating_point_makes_of_them(self):
        # In floating point 9/10 - 8/10 is not 5/10 - 4/10, yet both are one document.
        a = judged("a", *[[1] * k + [0] * (10 - k) for k in (9, 5, 3, 8, 6, 4)])
        b = judged("b", *[[1] * k + [0] * (10 - k) for k in (8, 4, 2, 7, 5, 5)])
        assert wilcoxon_test(a, b).statistic == 3.5


class TestHolm:
    @pytest.fixture(autouse=True, scope="class")
    @staticmethod
    def frozen():
        """Leave objects of other tests to no garbage collection: statsmodels collects at each call."""
        gc.freeze()
        yield
        gc.unfreeze()

    @given(st.lists(st.sampled_from([0.001, 0.01, 0.02]) | st.floats(0, 1), min_size=1, max_size=9))
    def test_is_that_of_statsmodels_to_the_bit(self, p_values):
        results = holm_correction([Result("a", "b", "sign", 1, 0.0, p) for p in p_values])
        assert [result.p_holm for result in results] == multipletests(p_values, method="holm")[1].tolist()


class TestSmallestP:
    @pytest.mark.parametrize("n", range(1, 9))
    def test_is_the_smallest_of_all_outcomes(self, n):
        """Every way to distribute n discordant documents, and every sign of n differences."""
        signs = [document_test("sign", *paired(1, k, n - k, 1)) for k in range(n + 1)]
        assert {test.least_p for test in signs} == {min(test.p_value for test in signs)}
        ranked = [
            exact_signed_rank(np.array(sign) * np.arange(1, n + 1)) for sign in itertools.product((-1, 1), repeat=n)
        ]
        assert signs[0].least_p == pytest.approx(min(p_value for _, _, p_value in ranked))

    @given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), min_size=1, max_size=8), st.integers(0, 7))
    @example([(9, 0.0262), (6, 0.5)], 1)  # a smaller p, twice which is more than the smallest of the other
    def test_after_holm_it_is_the_correction_of_the_smallest(self, pairs, which):
        """Put the smallest p in the place of one test's own, and correct the family again."""
        family = []
        for n, share in pairs:
            least = min(1.0, 2.0 ** (1 - n))
            family.append(Result("a", "b", "sign", n, 0.0, least + share * (1 - least), least_p=least))
        own = which % len(family)
        extreme = [replace(r, p_value=r.least_p) if i == own else r for i, r in enumerate(family)]
        told, reached = holm_correction(family)[own], holm_correction(extreme)[own].p_holm
        assert told.least_p == pytest.approx(reached)
        assert told.note.startswith("not testable") == (told.least_p > 0.05)

    def test_a_family_has_as_many_tests_as_have_a_p_value(self):
        """Corrected over two, not three: four folds can't be tested."""
        tested = [document_test("sign", *paired(5, 12, n, 5)) for n in (1, 3)]
        untestable = wilcoxon_test(judged("a", *[[1, 1]] * 4), judged("b", *[[1, 0]] * 4))
        rows = list(holm_family_rows([tested[0], untestable, tested[1]]))
        assert [row[-2] for row in rows] == [2, 2, 2]
        assert min(row[6] for row in rows) == pytest.approx(2 * min(test.p_value for test in tested))

    def test_two_that_never_differ_have_no_test(self):
        (test,) = holm_correction([document_test("mcnemar", *paired(5, 0, 0, 0))])
        assert (test.p_value, test.note) == (1.0, "not testable (the two never differ)")


class TestOverClasses:
    """Wilcoxon's test of F1 has a pair for each class, or for each class and replicate."""

    @pytest.mark.parametrize(
        ("sizes", "name"), [([300], "wilcoxon, categories"), ([150, 150], "wilcoxon, category × replicate")]
    )
    def test_pairs_are_scikit_learns_f1(self, sizes, name):
        a, b = random_outcome("a", sizes, 8, 0.9, 1), random_outcome("b", sizes, 8, 0.6, 2)
        pairs = [
            f1_score(a.truth[rows], one.predicted[rows], labels=range(8), average=None)
            for one in (a, b)
            for rows in a.rows
        ]
        f1_a, f1_b = (np.concatenate(pairs[part]) for part in (slice(len(sizes)), slice(len(sizes), None)))
        found = wilcoxon_over_classes(a, b)
        above, below, p_value = exact_signed_rank(np.round(f1_a - f1_b, 12))
        assert (found.test, found.n) == (name, 8 * len(sizes))
        assert (found.statistic, found.p_value) == (min(above, below), pytest.approx(p_value))
        assert (found.a, found.b, found.favours) == ("a", "b", "a")
        with pytest.raises(ValueError, match="differ in folds"):
            wilcoxon_over_classes(a, replace(b, folds=1 - np.minimum(b.folds, 1)))


def test_a_single_class_is_counted_alone():
    truth = np.array([0, 0, 0, 1, 1])
    a, b = (
        Outcome(name, np.arange(5), np.zeros(5, int), truth, np.array(given), 2, 0)
        for name, given in (("a", [0, 0, 1, 1, 1]), ("b", [0, 1, 0, 0, 0]))
    )
    assert outcome_table(a, b).tolist() == [[1, 1, 1, 0]]
    several = [replace(each, truth=np.eye(2, dtype=bool)[each.truth], predicted=np.eye(2, dtype=bool)[each.predicted])
               for each in (a, b)]  # fmt: skip
    assert outcome_table(*several).tolist() == [[1, 3, 1, 0]]
    assert outcome_table(*(replace(each, of_class=None) for each in several)).tolist() == [[2, 6, 2, 0]]
