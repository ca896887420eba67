"""The two samples, documents and draws: closed forms, SciPy, and what must hold of any scores."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp, wilcoxon
from sklearn.metrics import f1_score, precision_score, recall_score
from statsmodels.stats.contingency_tables import mcnemar

from benchmark.analysis.model_selection import best_by_inner_loss, best_on_test
from benchmark.evaluation import intervals
from benchmark.evaluation.cell_scores import CellScores
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.metrics import Metric, metric_values
from benchmark.evaluation.outcomes import Outcome, outcome_scores
from benchmark.evaluation.protocols import PROTOCOLS
from benchmark.evaluation.sampling_model import DocumentSampling, ReplicateSampling, sampling_of
from benchmark.evaluation.score_table import ScoreTable
from benchmark.evaluation.significance import document_test, micro_sign_test, wilcoxon_over_classes
from benchmark.system.tags import tags_of
from tests.evaluation.outcomes import random_outcome

VALUES = st.binary(min_size=40, max_size=40).map(lambda drawn: (np.frombuffer(drawn, np.uint16) % 1000 + 1) / 1000)
DRAWS = ReplicateSampling(0)
N, K = 12, 4


def bits(*shape):
    """Arrays of booleans, eight a byte: bytes are drawn at once, the elements of arrays one by one."""
    size = int(np.prod(shape)) // 8
    return st.binary(min_size=size, max_size=size).map(
        lambda drawn: np.unpackbits(np.frombuffer(drawn, np.uint8)).astype(bool).reshape(shape)
    )


TRUTH, DECISIONS = bits(N, K), bits(3, N, K)


def scored(values, cell="a", metric="error", outcome=None):
    values = np.asarray(values, dtype=np.float64)
    folds, many = tuple(map(str, range(len(values)))), np.full(len(values), 100)
    return CellScores(cell, folds, {metric: values}, many, many * 0, outcome)


def of_outcome(outcome):
    tallies, n = outcome.tallies, len(outcome.rows)
    values = metric_values(tallies, multilabel=outcome.multilabel, of_class=outcome.of_class is not None)
    return CellScores(outcome.cell, tuple(map(str, range(n))), values, tallies.documents, outcome.ties(None), outcome)


def drawn(cell, right, tested):
    """Documents of one class each, of two, right and wrong as given, draw by draw; shapes (draws, n)."""
    draws, documents = np.nonzero(tested)
    return Outcome(cell, documents, draws, draws * 0, 1 - right[draws, documents].astype(int), 2)


def multilabel(cell, truth, given):
    """Decisions of several classes, draw by draw on the same documents; shape (draws, n, k)."""
    draws = np.repeat(np.arange(len(given)), len(truth))
    documents = np.tile(np.arange(len(truth)), len(given))
    return Outcome(cell, documents, draws, np.tile(truth, (len(given), 1)), np.concatenate(given), truth.shape[1])


@pytest.mark.parametrize("name", PROTOCOLS)
def test_draws_are_the_sample_where_training_documents_are_drawn(name):
    assert sampling_of(tags_of(PROTOCOLS[name]), 3) == (
        ReplicateSampling(3) if name in ("random-subsets", "hold-out") else DocumentSampling(3)
    )


class TestDraws:
    @given(VALUES)
    def test_the_mean_has_students_interval(self, values):
        found = DRAWS.estimate(scored(values), "error")
        assert found.value == pytest.approx(values.mean())
        if values.std() > 1e-9:
            expected = ttest_1samp(values, 0.0).confidence_interval(0.95)
            assert (found.low, found.high) == pytest.approx((expected.low, expected.high))

    def test_a_single_draw_has_no_interval(self):
        found = DRAWS.estimate(scored([0.25]), "error")
        assert found.value == 0.25
        assert np.isnan([found.low, found.high]).all()

    @given(VALUES, VALUES)
    def test_a_difference_is_that_of_the_pairs(self, a, b):
        found = DRAWS.difference(scored(a), scored(b, "b"), "error")
        turned = DRAWS.difference(scored(b, "b"), scored(a), "error")
        assert found.value == pytest.approx((a - b).mean())
        assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))

    def test_draws_that_cannot_be_paired_are_refused(self):
        with pytest.raises(ValueError, match="3 and 2 replicates"):
            DRAWS.difference(scored([0.1, 0.2, 0.3]), scored([0.1, 0.2], "b"), "error")

    @pytest.mark.parametrize("folds", [("0", "1", "3"), ("2", "1", "0")])
    def test_draws_of_other_names_are_other_draws(self, folds):
        one, other = scored([0.1, 0.2, 0.4]), scored([0.1, 0.3, 0.3], "b")
        other = replace(other, folds=folds)
        for compare in (DRAWS.difference, DRAWS.ratio, lambda *cells: DRAWS.test("wilcoxon", *cells)):
            with pytest.raises(ValueError, match="have different splits: they can't be paired"):
                compare(one, other, "error")

    def test_what_is_known_of_a_score_stands_in_place_of_the_draws_interval(self):
        known = Estimate(0.2, 0.1, 0.4, 7, "bootstrap")
        one = CellScores("a", (), {}, np.array([7]), np.zeros(1), known={"average-skl": known})
        for sample in (DRAWS, DocumentSampling(0)):
            assert sample.estimate(one, "average-skl") is known
            assert sample.difference(one, one, "average-skl").value == 0


class TestRatio:
    @given(VALUES)
    def test_of_multiples_is_their_factor(self, values):
        values = 0.1 + values / 10
        found = DRAWS.ratio(scored(values / 2), scored(values, "b"), "error")
        assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))

    def test_to_nothing_is_refused(self):
        with pytest.raises(ValueError, match="the mean error of 'b' is 0"):
            DRAWS.ratio(scored([0.1, 0.2]), scored([0.0, 0.0], "b"), "error")

    def test_to_what_may_be_nothing_has_no_interval(self):
        with pytest.raises(ValueError, match="may be 0"):
            DRAWS.ratio(scored([0.1, 0.2, 0.3]), scored([0.0, 0.0, 0.3], "b"), "error")

    def test_holds_the_ratios_that_a_test_would_not_refuse(self):
        rng = np.random.default_rng(3)
        below = rng.normal(0.1, 0.02, 20)
        above = 0.5 * below + rng.normal(0, 0.01, 20)
        found = DRAWS.ratio(scored(above), scored(below, "b"), "error")
        for end in (found.low, found.high):
            assert ttest_1samp(above - end * below, 0).pvalue == pytest.approx(0.05)
        assert ttest_1samp(above - found.value * below, 0).pvalue == pytest.approx(1)


class TestWilcoxon:
    def test_agrees_with_scipy_where_neither_zeros_nor_ties_are(self):
        a, b = np.random.default_rng(3).random((2, 20))
        found = DRAWS.test("wilcoxon", scored(a), scored(b, "b"), "error")
        expected = wilcoxon(a, b, mode="exact")
        assert (found.statistic, found.p_value) == (expected.statistic, pytest.approx(expected.pvalue))

    @pytest.mark.parametrize(("metric", "better"), [("error", "a"), ("accuracy", "b"), ("macro-f1", "b")])
    def test_favours_the_better_scores_which_are_the_lower_ones_of_an_error(self, metric, better):
        low, high = np.linspace(0.1, 0.2, 20), np.linspace(0.3, 0.5, 20)
        for sample in (DRAWS, DocumentSampling(0)):
            found = sample.test("wilcoxon", scored(low, "a", metric), scored(high, "b", metric), metric)
            assert (found.favours, found.p_value) == (better, pytest.approx(2 / 2**20))

    def test_too_few_draws_cannot_be_tested(self):
        found = DRAWS.test("wilcoxon", scored([0.1] * 5), scored([0.2] * 5, "b"), "error")
        assert (found.p_value, found.note) == (None, "not testable (smallest p 0.0625)")

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

    def test_cells_that_are_right_equally_often_have_p_1(self):
        right, _, tested = self.draw(4)
        found = self.mcnemar(right, right, tested)
        assert (found.n, found.statistic, found.p_value, found.favours) == (0, 0.0, 1.0, None)

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
    @pytest.mark.parametrize("sample", [DRAWS, DocumentSampling(0)])
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
        found = DocumentSampling(0).test("sign", a, b, "macro-f1")
        right = [each == self.TRUTH for each in given]
        only_a, n = int((right[0] & ~right[1]).sum()), int((right[0] != right[1]).sum())
        assert (found.n, found.p_value) == (n, pytest.approx(binomtest(only_a, n).pvalue))

    def test_folds_of_one_split_are_not_ranked(self):
        a, b = self.pair(draws=1, many=False)
        assert [found.test for found in DocumentSampling(0).tests(a, b, ["accuracy"])] == ["sign", "mcnemar"]

    def test_names_of_tests_say_which_metric_and_which_pairs(self):
        a, b = self.pair(draws=7, many=True)
        names = [found.test for found in DRAWS.tests(a, b, ["macro-f1", "micro-f1", "seconds"])]
        assert names == ["wilcoxon", "wilcoxon, micro-f1", "wilcoxon, category × replicate", "sign"]


class TestChoice:
    def test_by_test_is_the_lowest_average_over_the_curve(self):
        losses = [[np.array([0.1, 0.3]), np.array([0.5])], [np.array([0.3]), np.array([0.3])]]
        assert best_on_test(losses) == 1

    def test_by_inner_takes_the_middle_of_equals(self):
        errors = np.array([[0.2, 0.1], [0.2, 0.3], [0.2, 0.1], [0.2, 0.1]])
        assert best_by_inner_loss(errors).tolist() == [1, 2]


class TestRefusals:
    """What can't be paired says why, in one sentence."""

    ONE, TWO, OTHER = scored([0.1]), scored([0.1, 0.2]), scored([0.2, 0.3], "b")

    @pytest.mark.parametrize(
        ("ask", "said"),
        [
            (
                lambda: DRAWS.difference(scored([0.1] * 3), TestRefusals.OTHER, "error"),
                "'a' and 'b' have 3 and 2 replicates: they can't be paired",
            ),
            (
                lambda: DRAWS.ratio(TestRefusals.TWO, scored([0.0, 0.0], "b"), "error"),
                "the mean error of 'b' is 0: a ratio to it is not defined",
            ),
            (
                lambda: DRAWS.ratio(scored([0.1, 0.2, 0.3]), scored([0.0, 0.0, 0.3], "b"), "error"),
                "the mean error of 'b' may be 0: a ratio to it has no interval",
            ),
            (
                lambda: DocumentSampling(0).ratio(TestRefusals.ONE, scored([0.2], "b"), "error"),
                "'a' and 'b' have one split: their ratio has no interval",
            ),
            (
                lambda: DocumentSampling(0).sign_z(TestRefusals.TWO, TestRefusals.OTHER),
                "'a' or 'b' has no predictions: there are no documents to pair",
            ),
            (
                lambda: DRAWS.sign_z(TestRefusals.TWO, TestRefusals.OTHER),
                "'a' and 'b' test documents more than once: their outcomes can't be pooled",
            ),
            (lambda: TestRefusals.ONE.of_class(0), "'a' has no predictions, so its classes can't be scored one by one"),
            (lambda: scored([]), "'a': error must be finite on each of 0 splits"),
            (lambda: scored([0.1, np.nan]), "'a': error must be finite on each of 2 splits"),
            (lambda: replace(TestRefusals.TWO, folds=("0",)), "'a': error must be finite on each of 1 splits"),
        ],
    )
    def test_is_said(self, ask, said):
        with pytest.raises(ValueError, match=r".") as refused:
            ask()
        assert str(refused.value) == said

    @pytest.mark.parametrize("sample", [DRAWS, DocumentSampling(0)])
    def test_tests_of_documents_need_predictions_of_both(self, sample):
        (_, b) = TestEveryTest().pair(draws=1, many=False)
        for pair in ((self.ONE, replace(b, cell="b")), (replace(b, cell="b"), self.ONE)):
            for name in ("sign", "mcnemar"):
                found = sample.test(name, *pair, "accuracy")
                assert (found.a, found.b, found.test) == (*(each.cell for each in pair), name)
                assert (found.n, found.p_value) == (0, None)
                assert found.note == "not testable (there are no predictions to count)"

    def test_documents_of_several_classes_have_no_mcnemar(self):
        found = DRAWS.test("mcnemar", *TestEveryTest().pair(draws=1, many=True), "micro-f1")
        assert (found.n, found.note) == (0, "not testable (documents have several classes)")


def several_splits(cell="a", seed=1):
    return of_outcome(random_outcome(cell, [60, 90, 120], 3, 0.7, seed))


class TestSeeds:
    """Every bootstrap is that of the sample's own seed, computed once."""

    def test_of_a_score_a_split_a_difference_and_z(self):
        a, b = several_splits(), several_splits("b", 2)
        for seed in (0, 5):
            sample = DocumentSampling(seed)
            for metric in ("accuracy", "error", "macro-f1"):
                assert sample.estimate(a, metric) == intervals.estimate_score(a.outcome, metric, seed)
                expected = intervals.estimate_difference(a.outcome, b.outcome, metric, seed)
                assert sample.difference(a, b, metric) == expected
                part = intervals.estimate_score(a.outcome.parts[1], metric, seed)
                assert sample.part(a, metric, 1) == part
            assert sample.estimate(a, "micro-f1") is sample.estimate(a, "accuracy")
            assert sample.estimate(a, "error") is sample.estimate(a, "error")
            assert sample.difference(a, b, "error") is sample.difference(a, b, "error")
            assert sample.sign_z(a, b) == intervals.sign_z_estimate(a.outcome, b.outcome, seed)
        assert DocumentSampling(0).estimate(a, "macro-f1") != DocumentSampling(5).estimate(a, "macro-f1")


class TestParts:
    def test_a_part_has_the_score_of_its_split_without_an_interval_where_there_are_no_documents(self):
        scores = replace(scored([0.1, 0.2, 0.4]), n=np.array([7, 8, 9]))
        for sample in (DRAWS, DocumentSampling(0)):
            found = [sample.part(scores, "error", fold) for fold in range(3)]
            assert [(each.value, each.n, each.method) for each in found] == [
                (value, n, "single replicate") for value, n in ((0.1, 7), (0.2, 8), (0.4, 9))
            ]

    def test_the_only_split_of_documents_has_the_score_of_the_cell(self):
        one = of_outcome(random_outcome("a", [80], 3, 0.7, 1))
        sample = DocumentSampling(0)
        assert sample.part(one, "macro-f1", 0) is sample.estimate(one, "macro-f1")

    def test_what_a_run_recorded_comes_first(self):
        whole, part, difference = (Estimate(value, 0.1, 0.4, 7, "recorded") for value in (0.2, 0.3, 0.05))
        recorded = {("own", "all", ""): whole, ("own", "1", ""): part, ("own", "all", "b"): difference}
        outcome = random_outcome("a", [60, 90], 3, 0.7, 1)
        outcome = replace(outcome, known=outcome.known | {"own": Metric()})
        a, b = (
            CellScores(cell, ("0", "1"), {"own": np.array([0.1, 0.3])}, np.array([60, 90]), np.zeros(2), outcome)
            for cell in "ab"
        )
        for sample in (DRAWS, DocumentSampling(0)):
            own = replace(a, recorded=recorded)
            assert sample.estimate(own, "own") is whole
            assert sample.part(own, "own", 1) is part
            assert sample.part(own, "own", 0) == Estimate(
                0.1, pytest.approx(np.nan, nan_ok=True), pytest.approx(np.nan, nan_ok=True), 60, "single replicate"
            )
            assert sample.difference(own, b, "own") is difference
        with pytest.raises(ValueError, match=r"^the run recorded no difference in own of 'b' and 'a'$"):
            DocumentSampling(0).difference(b, a, "own")


class TestBetweenGroups:
    """The groups of leave-one-group-out are themselves a sample."""

    def test_the_mean_over_groups_has_students_interval(self):
        a = several_splits()
        values = a.values["accuracy"]
        expected = ttest_1samp(values, 0.0).confidence_interval(0.95)
        found = DocumentSampling(0, groups=True).between(a, "accuracy")
        assert (found.value, found.low, found.high) == pytest.approx((values.mean(), expected.low, expected.high))
        assert (found.n, found.method) == (270, "t over replicates")
        alone = replace(a, outcome=None)
        assert DocumentSampling(0, groups=True).between(alone, "macro-f1").value == a.values["macro-f1"].mean()

    def test_is_none_where_splits_are_no_groups_or_are_pooled_or_one(self):
        a = several_splits()
        assert DocumentSampling(0).between(a, "accuracy") is None
        assert DRAWS.between(a, "accuracy") is None
        of_groups = DocumentSampling(0, groups=True)
        assert of_groups.between(a, "macro-f1") is None
        assert of_groups.between(a, "seconds") is None
        assert of_groups.between(scored([0.5]), "error") is None
        assert of_groups.between(scored([0.5, 0.6]), "error") is not None

    @pytest.mark.parametrize("name", PROTOCOLS)
    def test_only_leaving_groups_out_makes_them(self, name):
        assert sampling_of(tags_of(PROTOCOLS[name]), 3).groups == (name == "leave-one-group-out")


@pytest.mark.parametrize(
    ("sample", "values", "said"),
    [
        (DRAWS, [0.1] * 12, "12 replicates"),
        (DRAWS, None, "1,234 documents"),
        (DocumentSampling(0), [0.1] * 12, "1,200 documents in 12 splits"),
        (DocumentSampling(0, groups=True), [0.1] * 12, "1,200 documents in 12 groups"),
        (DocumentSampling(0), [0.1], "100 documents"),
        (DocumentSampling(0), None, "1,234 documents"),
    ],
)
def test_a_sample_is_counted_in_its_own_units(sample, values, said):
    scores = CellScores("a", (), {}, np.zeros(0), np.zeros(0)) if values is None else scored(values)
    assert sample.counted(scores, Estimate(0.5, 0.4, 0.6, 1234, "count")) == said


def test_error_bars_say_what_they_are():
    assert [(each.bars, each.bars_of_difference, each.bars_of_ratio) for each in (DocumentSampling, DRAWS)] == [
        (
            "95% interval over the tested documents",
            "95% interval over the tested documents, paired",
            "95% interval over the splits (Fieller)",
        ),
        (
            "95% interval of the mean (t over the replicates)",
            "95% interval of the mean difference (t over the replicates)",
            "95% interval over the replicates (Fieller)",
        ),
    ]


class TestScoreTable:
    """A table asks the sample of its cells, in the order in which they are named."""

    def table(self):
        a, b, c = several_splits(), several_splits("b", 2), replace(several_splits("c", 3), outcome=None)
        samples = {"a": DocumentSampling(3), "b": DocumentSampling(3), "c": ReplicateSampling(3)}
        return ScoreTable({each.cell: each for each in (a, b, c)}, samples, {}, lambda: ("frame", "drawn")), a, b

    def test_gives_the_samples_own_answers(self):
        table, a, b = self.table()
        sample = DocumentSampling(3)
        assert table.estimate("a", "macro-f1") == sample.estimate(a, "macro-f1")
        assert table.difference("a", "b", "macro-f1") == sample.difference(a, b, "macro-f1")
        assert table.ratio("a", "b", "accuracy") == sample.ratio(a, b, "accuracy")
        assert table.sign_z("a", "b") == sample.sign_z(a, b)
        assert table.test("sign", "a", "b", "accuracy") == sample.test("sign", a, b, "accuracy")
        assert [str(each) for each in table.tests("a", "b", ["accuracy"])] == [
            str(each) for each in sample.tests(a, b, ["accuracy"])
        ]
        assert (table.frame, table.drawn) == ("frame", "drawn")

    def test_knows_which_cells_have_a_metric(self):
        table, *_ = self.table()
        assert table.has("accuracy", "a", "b", "c")
        assert not table.has("accuracy", "a", "z")
        assert not table.has("seconds", "a")

    def test_pairs_only_cells_of_one_sample(self):
        table, *_ = self.table()
        for ask in (
            lambda *pair: table.difference(*pair, "accuracy"),
            lambda *pair: table.ratio(*pair, "accuracy"),
            table.sign_z,
            lambda *pair: table.test("sign", *pair, "accuracy"),
            lambda *pair: table.tests(*pair, ["accuracy"]),
        ):
            with pytest.raises(ValueError, match=r".") as refused:
                ask("a", "c")
            assert str(refused.value) == (
                "'a' and 'c' are tested under protocols with different samples: they can't be paired"
            )


def test_scores_of_one_class_are_those_of_its_outcome():
    a = several_splits()
    tied = a.outcome.predicted == 2
    own = replace(a, outcome=replace(a.outcome, tied=tied)).of_class(1)
    assert (own.cell, own.folds, own.outcome.of_class) == ("a", a.folds, 1)
    for number, rows in enumerate(a.outcome.rows):
        truth, given = a.outcome.truth[rows], a.outcome.predicted[rows]
        for metric, expected in (("f1", f1_score), ("recall", recall_score), ("precision", precision_score)):
            value = expected(truth, given, labels=[1], average="macro")
            assert own.values[metric][number] == pytest.approx(value)
        assert own.ties[number] == ((truth == 1) & (given == 2)).sum()
        assert own.n[number] == (truth == 1).sum()
    named = a.named("other")
    assert (named.cell, named.outcome.cell, named.values) == ("other", "other", a.values)
    assert replace(a, outcome=None).named("other").outcome is None


def test_the_first_of_two_cells_stays_the_first():
    """Of several classes a document, whichever the sample; and two replicates are enough for a ratio."""
    rng = np.random.default_rng(4)
    truth = rng.random((40, 3)) < 0.4
    a, b = (
        of_outcome(multilabel(name, truth, truth ^ (rng.random((3, 40, 3)) < wrong)))
        for name, wrong in (("a", 0.1), ("b", 0.4))
    )
    found = DRAWS.test("sign", a, b, "macro-f1")
    assert found == micro_sign_test(a.outcome, b.outcome)
    assert (found.a, found.b, found.favours) == ("a", "b", "a")
    assert found.statistic > 0
    two = DRAWS.ratio(scored([0.2, 0.22]), scored([0.1, 0.11], "b"), "error")
    assert (two.value, two.n, two.method) == (pytest.approx(2), 2, "fieller")
    one = DRAWS.ratio(scored([0.2]), scored([0.1], "b"), "error")
    assert (one.value, one.n, one.method) == (2, 1, "single replicate")
    assert not scored([0.2]).can_score("error")
    assert scored([0.2]).has("error")
    assert not scored([0.2]).has("accuracy")


@pytest.mark.parametrize(("more", "better"), [(True, "b"), (False, "a")])
def test_a_plugins_metric_says_which_scores_are_better(more, better):
    outcome = random_outcome("a", [60, 90], 3, 0.7, 1)
    outcome = replace(outcome, known=outcome.known | {"own": Metric(more_is_better=more)})
    low, high = (scored(np.linspace(*ends, 20), name, "own", outcome) for name, ends in (("a", (0, 1)), ("b", (2, 3))))
    assert DRAWS.test("wilcoxon", low, high, "own").favours == better


@pytest.mark.parametrize("name", ["sign", "mcnemar"])
def test_documents_of_one_class_each_are_tested_one_by_one(name):
    a, b = TestEveryTest().pair(draws=7, many=False)
    for sample in (DRAWS, DocumentSampling(0)):
        assert sample.test(name, a, b, "accuracy") == document_test(name, a.outcome, b.outcome)


def test_a_metric_that_an_outcome_alone_knows_is_scored_and_kept_for_one_class():
    own = Metric(lambda tallies: tallies.right.sum(axis=-1) / 1000)
    outcome = random_outcome("a", [60, 90], 3, 0.7, 1)
    found = outcome_scores(replace(outcome, known={"own": own}))
    assert list(found) == ["own"]
    assert found["own"].tolist() == [outcome.correct[:60].sum() / 1000, outcome.correct[60:].sum() / 1000]
