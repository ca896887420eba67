"""Samples and tables of scores: seeds, splits, groups, refusals, and the order of two cells."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.metrics import f1_score, precision_score, recall_score

from benchmark.evaluation.outcomes import CellScores, Estimate
from benchmark.evaluation.sampling_model import SamplingModel
from benchmark.evaluation.score_table import ScoreTable
from tests.evaluation.outcomes import drawn, multilabel, of_outcome, random_outcome, scored

DRAWS = SamplingModel(0, replicated=True)
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

    @pytest.mark.parametrize("sample", [DRAWS, SamplingModel(0)])
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


class TestBetweenGroups:
    """The groups of leave-one-group-out are themselves a sample."""

    def test_the_mean_over_groups_has_students_interval(self):
        a = several_splits()
        values = a.values["accuracy"]
        expected = ttest_1samp(values, 0.0).confidence_interval(0.95)
        found = SamplingModel(0, groups=True).between(a, "accuracy")
        assert (found.value, found.low, found.high) == pytest.approx((values.mean(), expected.low, expected.high))
        assert (found.n, found.method) == (270, "t over replicates")
        alone = replace(a, outcome=None)
        assert SamplingModel(0, groups=True).between(alone, "macro-f1").value == a.values["macro-f1"].mean()

    def test_is_none_where_splits_are_no_groups_or_are_pooled_or_one(self):
        a = several_splits()
        assert SamplingModel(0).between(a, "accuracy") is None
        assert DRAWS.between(a, "accuracy") is None
        of_groups = SamplingModel(0, groups=True)
        assert of_groups.between(a, "macro-f1") is None
        assert of_groups.between(a, "seconds") is None
        assert of_groups.between(scored([0.5]), "error") is None
        assert of_groups.between(scored([0.5, 0.6]), "error") is not None


@pytest.mark.parametrize(
    ("sample", "values", "said"),
    [
        (DRAWS, [0.1] * 12, "12 replicates"),
        (DRAWS, None, "1,234 documents"),
        (SamplingModel(0), [0.1] * 12, "1,200 documents in 12 splits"),
        (SamplingModel(0, groups=True), [0.1] * 12, "1,200 documents in 12 groups"),
        (SamplingModel(0), [0.1], "100 documents"),
        (SamplingModel(0), None, "1,234 documents"),
    ],
)
def test_a_sample_is_counted_in_its_own_units(sample, values, said):
    scores = CellScores("a", (), {}, np.zeros(0), np.zeros(0)) if values is None else scored(values)
    assert sample.counted(scores, Estimate(0.5, 0.4, 0.6, 1234, "count")) == said


class TestScoreTable:
    """A table asks the sample of its cells, in the order in which they are named."""

    def table(self):
        a, b, c = several_splits(), several_splits("b", 2), replace(several_splits("c", 3), outcome=None)
        samples = {"a": SamplingModel(3), "b": SamplingModel(3), "c": SamplingModel(3, replicated=True)}
        return ScoreTable({each.cell: each for each in (a, b, c)}, samples, {}, lambda: ("frame", "drawn")), a, b

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
