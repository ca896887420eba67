"""The two samples, documents and draws: closed forms, SciPy, and what must hold of any scores."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp
from statsmodels.stats.contingency_tables import mcnemar

from benchmark.evaluation.outcomes import CellScores, Estimate, Outcome
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.evaluation.sampling_model import SamplingModel, sampling_of
from benchmark.evaluation.significance import document_test, micro_sign_test, wilcoxon_over_classes
from benchmark.system.tags import tags_of
from tests.evaluation.outcomes import drawn, multilabel, of_outcome, scored

VALUES = st.binary(min_size=40, max_size=40).map(lambda drawn: (np.frombuffer(drawn, np.uint16) % 1000 + 1) / 1000)
DRAWS = SamplingModel(0, replicated=True)
N, K = 12, 4


def bits(*shape):
    """Arrays of booleans, eight a byte: bytes are drawn at once, the elements of arrays one by one."""
    size = int(np.prod(shape)) // 8
    return st.binary(min_size=size, max_size=size).map(
        lambda drawn: np.unpackbits(np.frombuffer(drawn, np.uint8)).astype(bool).reshape(shape)
    )


TRUTH, DECISIONS = bits(N, K), bits(3, N, K)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_draws_are_the_sample_where_training_documents_are_drawn(name):
    assert sampling_of(tags_of(PROTOCOLS[name]), 3) == (
        SamplingModel(3, replicated=True) if name in ("random-subsets", "hold-out") else SamplingModel(3)
    )


class TestDraws:
    @given(VALUES)
    def test_the_mean_has_students_interval(self, values):
        found = DRAWS.estimate(scored(values), "error")
        assert found.value == pytest.approx(values.mean())
        if values.std() > 1e-9:
            expected = ttest_1samp(values, 0.0).confidence_interval(0.95)
            assert (found.low, found.high) == pytest.approx((expected.low, expected.high))

    @given(VALUES, VALUES)
    def test_a_difference_is_that_of_the_pairs(self, a, b):
        found = DRAWS.difference(scored(a), scored(b, "b"), "error")
        turned = DRAWS.difference(scored(b, "b"), scored(a), "error")
        assert found.value == pytest.approx((a - b).mean())
        assert (found.n, turned.n) == (100, 100), "the documents of one draw"
        assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), nan_ok=True)


class TestRatio:
    @given(VALUES)
    def test_of_multiples_is_their_factor(self, values):
        values = 0.1 + values / 10
        found = DRAWS.ratio(scored(values / 2), scored(values, "b"), "error")
        assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))

    def test_of_exact_numbers_is_exact_and_of_others_without_splits_undefined(self):
        def number(cell, value, reach=0.0):
            known = {"growth": Estimate(value, value - reach, value + reach, 1, "count")}
            return CellScores(cell, (), {}, np.array([1]), np.array([0]), None, known=known)

        for sample in (DRAWS, SamplingModel(0)):
            found = sample.ratio(number("a", -5.5), number("b", -5.0), "growth")
            assert (found.value, found.low, found.high) == (1.1, 1.1, 1.1)
            for other in (number("b", 0.0), number("b", 5.0, reach=1.0)):
                with pytest.raises(ValueError, match="is not defined, or has no interval"):
                    sample.ratio(number("a", 1.0), other, "growth")

    def test_holds_the_ratios_that_a_test_would_not_refuse(self):
        rng = np.random.default_rng(3)
        below = rng.normal(0.1, 0.02, 20)
        above = 0.5 * below + rng.normal(0, 0.01, 20)
        found = DRAWS.ratio(scored(above), scored(below, "b"), "error")
        for end in (found.low, found.high):
            assert ttest_1samp(above - end * below, 0).pvalue == pytest.approx(0.05)
        assert ttest_1samp(above - found.value * below, 0).pvalue == pytest.approx(1)


class TestWilcoxon:
    @pytest.mark.parametrize(("metric", "better"), [("error", "a"), ("accuracy", "b"), ("macro-f1", "b")])
    def test_favours_the_better_scores_which_are_the_lower_ones_of_an_error(self, metric, better):
        low, high = np.linspace(0.1, 0.2, 20), np.linspace(0.3, 0.5, 20)
        for sample in (DRAWS, SamplingModel(0)):
            found = sample.test("wilcoxon", scored(low, "a", metric), scored(high, "b", metric), metric)
            assert (found.favours, found.p_value) == (better, pytest.approx(2 / 2**20))

    def test_too_few_draws_cannot_be_tested(self):
        found = DRAWS.test("wilcoxon", scored([0.1] * 5), scored([0.2] * 5, "b"), "error")
        assert (found.p_value, found.note) == (None, "not testable (smallest p 0.0625 with 5 cases)")

    def test_over_classes_is_scipys_over_draws_times_classes(self):
        rng = np.random.default_rng(5)
        truth = rng.random((200, 5)) < 0.4
        a, b = (
            multilabel(name, truth, truth ^ (rng.random((3, 200, 5)) < wrong))
            for name, wrong in (("a", 0.1), ("b", 0.3))
        )
        found = wilcoxon_over_classes(a, b)
        assert (found.test, found.n, found.favours) == ("wilcoxon, category × replicate", 15, "a")
        assert found.p_value == pytest.approx(2 / 2**15)


class TestByDocument:
    def draw(self, seed, draws=20, n=60):
        rng = np.random.default_rng([seed, n])
        return (rng.random((draws, n)) < share for share in (0.8, 0.7, 0.5))

    def mcnemar(self, a, b, tested, name="mcnemar"):
        return document_test(name, drawn("a", a, tested), drawn("b", b, tested))

    def test_of_one_draw_is_the_ordinary_test(self):
        a, b, _ = self.draw(0, draws=1, n=200)
        found = self.mcnemar(a, b, np.ones_like(a))
        table = [[np.sum(x & y) for y in (b, ~b)] for x in (a, ~a)]
        assert found.p_value == pytest.approx(mcnemar(table, exact=True).pvalue)
        assert found.statistic == pytest.approx(mcnemar(table, exact=False, correction=True).statistic)
        assert (found.n, found.favours) == (table[0][1] + table[1][0], "a")
        sign = self.mcnemar(a, b, np.ones_like(a), "sign")
        assert (sign.n, sign.p_value) == (found.n, found.p_value)
        assert sign.statistic == pytest.approx((table[0][1] - table[1][0]) / np.sqrt(found.n))

    def test_repeating_every_draw_changes_nothing(self):
        """Pooled decisions would count each document more often, and find anything significant."""
        given = [*self.draw(1)]
        once, often = (self.mcnemar(*(np.tile(x, (k, 1)) for x in given)) for k in (1, 9))
        assert once == often
        assert once.n <= 60

    def test_of_one_class_counts_its_documents_alone(self):
        a, b, tested = self.draw(5)
        draws, documents = np.nonzero(tested)
        truth = documents % 2
        one, two = (
            Outcome(name, documents, draws, truth, np.where(right[draws, documents], truth, 1 - truth), 2, 1)
            for name, right in (("a", a), ("b", b))
        )
        assert document_test("mcnemar", one, two) == self.mcnemar(a[:, 1::2], b[:, 1::2], tested[:, 1::2])


class TestMicroSign:
    @given(TRUTH, bits(1, N, K), bits(1, N, K))
    def test_of_one_draw_is_yang_and_lius(self, truth, a, b):
        found = micro_sign_test(multilabel("a", truth, a), multilabel("b", truth, b))
        only_a, only_b = int(((a[0] == truth) & (b[0] != truth)).sum()), int(((a[0] != truth) & (b[0] == truth)).sum())
        n = only_a + only_b
        assert found.n == n
        expected = (binomtest(only_a, n).pvalue, (only_a - n / 2) / (np.sqrt(n) / 2)) if n else (1.0, 0.0)
        assert (found.p_value, found.statistic) == pytest.approx(expected)

    @given(TRUTH, bits(1, N, K), bits(1, N, K), st.integers(1, 5))
    def test_a_draw_that_is_repeated_is_no_new_evidence(self, truth, a, b, times):
        once = micro_sign_test(multilabel("a", truth, a), multilabel("b", truth, b))
        a, b = (np.repeat(each, 2 * times, axis=0) for each in (a, b))
        found = micro_sign_test(multilabel("a", truth, a), multilabel("b", truth, b))
        assert (found.n, found.statistic, found.favours) == (once.n, once.statistic, once.favours)
        assert found.p_value == pytest.approx(min(1, 2 * once.p_value))

    @given(TRUTH, DECISIONS, DECISIONS)
    def test_draws_are_joined_by_their_second_smallest_of_three(self, truth, a, b):
        alone = sorted(
            micro_sign_test(multilabel("a", truth, a[[i]]), multilabel("b", truth, b[[i]])).p_value for i in range(3)
        )
        found = micro_sign_test(multilabel("a", truth, a), multilabel("b", truth, b))
        assert found.p_value == pytest.approx(min(1, 1.5 * alone[1]))


class TestEveryTest:
    """What a claim or a pair asks of either sample is answered, or said to be not testable: never an error."""

    TRUTH = np.random.default_rng(1).random((30, 3)) < 0.4

    def pair(self, *, draws, many):
        rng = np.random.default_rng(2)
        if many:
            given = (self.TRUTH ^ (rng.random((draws, 30, 3)) < 0.2) for _ in "ab")
            return [of_outcome(multilabel(name, self.TRUTH, each)) for name, each in zip("ab", given, strict=True)]
        tested = np.ones((draws, 30), dtype=bool)
        return [of_outcome(drawn(name, rng.random((draws, 30)) < 0.7, tested)) for name in "ab"]

    @pytest.mark.parametrize("many", [False, True])
    @pytest.mark.parametrize("draws", [1, 7])
    @pytest.mark.parametrize("sample", [DRAWS, SamplingModel(0)])
    def test_has_an_answer(self, sample, draws, many):
        a, b = self.pair(draws=draws, many=many)
        metric = "macro-f1" if many else "accuracy"
        for name in ("sign", "mcnemar", "wilcoxon"):
            found = sample.test(name, a, b, metric)
            assert (found.p_value is None) == found.note.startswith("not testable")
        tests = sample.tests(a, b, [metric, "macro-recall"])
        assert len({found.test for found in tests}) == len(tests)
        assert all((found.a, found.b) == ("a", "b") for found in tests)

    def test_over_documents_the_decisions_of_all_splits_are_one_sample(self):
        rng, folds = np.random.default_rng(6), np.repeat([0, 1, 2], [3, 7, 20])
        given = [self.TRUTH ^ (rng.random((30, 3)) < wrong) for wrong in (0.1, 0.4)]
        a, b = (
            of_outcome(Outcome(name, np.arange(30), folds, self.TRUTH, each, 3))
            for name, each in zip("ab", given, strict=True)
        )
        found = SamplingModel(0).test("sign", a, b, "macro-f1")
        right = [each == self.TRUTH for each in given]
        only_a, n = int((right[0] & ~right[1]).sum()), int((right[0] != right[1]).sum())
        assert (found.n, found.p_value) == (n, pytest.approx(binomtest(only_a, n).pvalue))

    @pytest.mark.parametrize("draws", [1, 2, 3])
    def test_over_documents_two_splits_are_ranked_already(self, draws):
        rng, folds = np.random.default_rng(2), np.arange(30) % draws
        a, b = (
            of_outcome(Outcome(name, np.arange(30), folds, folds * 0, (rng.random(30) < 0.3).astype(int), 2))
            for name in "ab"
        )
        names = [found.test for found in SamplingModel(0).tests(a, b, ["accuracy", "macro-f1"])]
        assert names == ["sign", "mcnemar", *(["wilcoxon"] if draws > 1 else [])]
        missing = replace(b, values={"macro-f1": b.values["macro-f1"]})  # of which b has no score, nothing is ranked
        for pair in ((a, missing), (missing, a)):
            assert [found.test for found in SamplingModel(0).tests(*pair, ["accuracy"])] == ["sign", "mcnemar"]
