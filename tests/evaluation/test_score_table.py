"""Samples and tables of scores: seeds, splits, groups, refusals, and the order of two cells."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.metrics import f1_score, precision_score, recall_score

from benchmark.evaluation import intervals
from benchmark.evaluation.cell_scores import CellScores
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.metrics import Metric
from benchmark.evaluation.outcomes import outcome_scores
from benchmark.evaluation.sampling_model import DocumentSampling, ReplicateSampling
from benchmark.evaluation.score_table import ScoreTable
from benchmark.evaluation.significance import document_test
from tests.evaluation.outcomes import drawn, multilabel, of_outcome, random_outcome, scored

DRAWS = ReplicateSampling(0)
TRUTH = np.random.default_rng(1).random((30, 3)) < 0.4


def made_pair(*, draws, many):
    """Two cells of 30 documents, of one class each or of several, draw by draw."""
    rng = np.random.default_rng(2)
    if many:
        given = (TRUTH ^ (rng.random((draws, 30, 3)) < 0.2) for _ in "ab")
        return [of_outcome(multilabel(name, TRUTH, each)) for name, each in zip("ab", given, strict=True)]
    tested = np.ones((draws, 30), dtype=bool)
    return [of_outcome(drawn(name, rng.random((draws, 30)) < 0.7, tested)) for name in "ab"]


class TestRefusals:
    """What can't be paired says why, in one sentence."""

    ONE, TWO, OTHER = scored([0.1]), scored([0.1, 0.2]), scored([0.2, 0.3], "b")

    @pytest.mark.parametrize("sample", [DRAWS, DocumentSampling(0)])
    def test_tests_of_documents_need_predictions_of_both(self, sample):
        (_, b) = made_pair(draws=1, many=False)
        for pair in ((self.ONE, replace(b, cell="b")), (replace(b, cell="b"), self.ONE)):
            for name in ("sign", "mcnemar"):
                found = sample.test(name, *pair, "accuracy")
                assert (found.a, found.b, found.test) == (*(each.cell for each in pair), name)
                assert (found.n, found.p_value) == (0, None)
                assert found.note == "not testable (there are no predictions to count)"

    def test_documents_of_several_classes_have_no_mcnemar(self):
        found = DRAWS.test("mcnemar", *made_pair(draws=1, many=True), "micro-f1")
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


class TestScoreTable:
    """A table asks the sample of its cells, in the order in which they are named."""

    def table(self):
        a, b, c = several_splits(), several_splits("b", 2), replace(several_splits("c", 3), outcome=None)
        samples = {"a": DocumentSampling(3), "b": DocumentSampling(3), "c": ReplicateSampling(3)}
        return ScoreTable({each.cell: each for each in (a, b, c)}, samples, {}, lambda: ("frame", "drawn")), a, b

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


@pytest.mark.parametrize(("more", "better"), [(True, "b"), (False, "a")])
def test_a_plugins_metric_says_which_scores_are_better(more, better):
    outcome = random_outcome("a", [60, 90], 3, 0.7, 1)
    outcome = replace(outcome, known=outcome.known | {"own": Metric(more_is_better=more)})
    low, high = (scored(np.linspace(*ends, 20), name, "own", outcome) for name, ends in (("a", (0, 1)), ("b", (2, 3))))
    assert DRAWS.test("wilcoxon", low, high, "own").favours == better


@pytest.mark.parametrize("name", ["sign", "mcnemar"])
def test_documents_of_one_class_each_are_tested_one_by_one(name):
    a, b = made_pair(draws=7, many=False)
    for sample in (DRAWS, DocumentSampling(0)):
        assert sample.test(name, a, b, "accuracy") == document_test(name, a.outcome, b.outcome)


def test_a_metric_that_an_outcome_alone_knows_is_scored_and_kept_for_one_class():
    own = Metric(lambda tallies: tallies.right.sum(axis=-1) / 1000)
    outcome = random_outcome("a", [60, 90], 3, 0.7, 1)
    found = outcome_scores(replace(outcome, known={"own": own}))
    assert list(found) == ["own"]
    assert found["own"].tolist() == [outcome.correct[:60].sum() / 1000, outcome.correct[60:].sum() / 1000]
