import gc
import itertools
import math
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
    def test_z_by_hand(self):
        assert sign_z(20, 5) == (20 - 12.5) / (math.sqrt(25) / 2) == 3.0
        assert (sign_z(1, 0), sign_z(0, 1), sign_z(0, 0)) == (1.0, -1.0, 0.0)

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

    def test_no_discordant_pair_is_no_difference(self):
        result = document_test("sign", *paired(5, 0, 0, 5))
        assert (result.n, result.statistic, result.p_value, result.favours) == (0, 0.0, 1.0, None)

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

    def test_even_discordance_has_no_negative_excess(self):
        assert document_test("mcnemar", *paired(7, 4, 4, 3)).statistic == 0.0


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
        assert result.note == "not testable (smallest p 0.125)"
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
        assert corrected.note == "not testable (smallest p 0.25 after Holm's correction)"

    def test_the_same_classifier_twice(self):
        same = [judged(name, *[[1, 0]] * 8) for name in "ab"]
        result = wilcoxon_test(*same)
        assert (result.n, result.p_value, result.favours) == (0, 1.0, None)

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

    @given(st.lists(st.one_of(st.none(), st.floats(1e-12, 1)), max_size=9))
    def test_is_monotone_never_below_raw_and_skips_the_untestable(self, p_values):
        results = holm_correction([Result("a", "b", "sign", 1, 0.0, p) for p in p_values])
        assert [result.p_value for result in results] == p_values
        tested = sorted((r.p_value, r.p_holm) for r in results if r.p_value is not None)
        corrected = [p_holm for _, p_holm in tested]
        assert corrected == sorted(corrected)
        assert all(raw <= p_holm <= 1 for raw, p_holm in tested)
        assert all(r.p_holm is None for r in results if r.p_value is None)

    @given(st.lists(st.sampled_from([0.001, 0.01, 0.02]) | st.floats(0, 1), min_size=1, max_size=9))
    def test_is_that_of_statsmodels_to_the_bit(self, p_values):
        results = holm_correction([Result("a", "b", "sign", 1, 0.0, p) for p in p_values])
        assert [result.p_holm for result in results] == multipletests(p_values, method="holm")[1].tolist()

    @given(st.lists(st.floats(1e-12, 1), min_size=1, max_size=9))
    def test_rejects_what_the_sequence_of_tests_rejects(self, p_values):
        """Holm (1979): from the smallest on, as long as the k-th of m is at most alpha / (m - k + 1)."""
        results = holm_correction([Result("a", "b", "sign", 1, 0.0, p) for p in p_values])
        for alpha in (0.01, 0.05, 0.3):
            rejected, m = 0, len(p_values)
            for k, p in enumerate(sorted(p_values), 1):
                if p > alpha / (m - k + 1):
                    break
                rejected = k
            if all(abs(p * (m - k + 1) - alpha) > 1e-12 for k, p in enumerate(sorted(p_values), 1)):
                assert sum(result.p_holm <= alpha for result in results) == rejected

    def test_by_hand(self):
        results = holm_correction([Result("a", "b", "sign", 1, 0.0, p) for p in (0.01, 0.04, 0.03)])
        assert [r.p_holm for r in results] == pytest.approx([0.03, 0.06, 0.06])


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

    def test_eight_replicates_in_a_family_of_sixteen_decide_nothing(self):
        """The smallest p is 2 / 256, and sixteen times that is 0.125."""
        better, worse = np.linspace(0.9, 0.95, 8), np.linspace(0.8, 0.85, 8)
        tests = holm_correction([signed_rank_test(("a", "b"), better, worse, "accuracy")] * 16)
        assert {test.p_holm for test in tests} == {0.125}
        assert {test.note for test in tests} == {"not testable (smallest p 0.125 after Holm's correction)"}
        assert not any(test.is_testable() for test in tests)
        assert holm_correction(tests[:1])[0].is_testable()

    def test_a_family_has_as_many_tests_as_have_a_p_value(self):
        """Corrected over two, not three: four folds can't be tested."""
        tested = [document_test("sign", *paired(5, 12, n, 5)) for n in (1, 3)]
        untestable = wilcoxon_test(judged("a", *[[1, 1]] * 4), judged("b", *[[1, 0]] * 4))
        rows = list(holm_family_rows([tested[0], untestable, tested[1]]))
        assert [row[-2] for row in rows] == [2, 2, 2]
        assert min(row[6] for row in rows) == pytest.approx(2 * min(test.p_value for test in tested))

    def test_another_level_decides_what_can_be_tested(self):
        family = [document_test("sign", *paired(5, n, 0, 5)) for n in (4, 6)]
        for alpha, notes in (
            (0.3, ["", ""]),
            (0.1, ["not testable (smallest p 0.125 after Holm's correction)", ""]),
            (
                0.05,
                ["not testable (smallest p 0.125 after Holm's correction)", "not testable (smallest p 0.0625 after "],
            ),
        ):
            found = [test.note for test in holm_correction(family, alpha)]
            assert [note[: len(said)] if said else note for note, said in zip(found, notes, strict=True)] == notes
        assert holm_correction(family) == holm_correction(family, 0.05)

    def test_two_that_never_differ_have_no_test(self):
        (test,) = holm_correction([document_test("mcnemar", *paired(5, 0, 0, 0))])
        assert (test.p_value, test.note) == (1.0, "not testable (the two never differ)")

    @pytest.mark.parametrize(("each", "least"), [(1, "0.5"), (2, "0.125")])
    def test_two_that_differ_equally_often_have_a_smallest_p(self, each, least):
        (test,) = holm_correction([document_test("mcnemar", *paired(5, each, each, 0))])
        assert (test.p_value, test.n, test.favours) == (1.0, 2 * each, None)
        assert test.note == f"not testable (smallest p {least} after Holm's correction)"


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
