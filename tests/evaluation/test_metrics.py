import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from benchmark.evaluation.metrics import METRICS, Outcome, confusion_matrix, fold_scores

N_CLASSES = 4
ORACLES = {
    "accuracy": oracle.accuracy_score,
    "macro-f1": lambda t, p: oracle.f1_score(t, p, labels=range(N_CLASSES), average="macro", zero_division=0),
    "micro-f1": lambda t, p: oracle.f1_score(t, p, labels=range(N_CLASSES), average="micro", zero_division=0),
    "macro-f1-of-means": lambda t, p: _harmonic_mean(
        *oracle.precision_recall_fscore_support(t, p, labels=range(N_CLASSES), average="macro", zero_division=0)[:2]
    ),
}
predictions = st.lists(st.tuples(st.integers(0, N_CLASSES - 1), st.integers(0, N_CLASSES - 1)), min_size=1)


def _harmonic_mean(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@pytest.mark.parametrize("name", METRICS)
class TestEveryMetric:
    @given(pairs=predictions)
    def test_agrees_with_scikit_learn(self, name, pairs):
        truth, predicted = np.array(pairs).T
        ours = METRICS[name](confusion_matrix(truth, predicted, N_CLASSES))
        assert ours == pytest.approx(ORACLES[name](truth, predicted), abs=1e-12)

    def test_scores_a_stack_as_it_scores_each(self, name):
        stack = np.random.default_rng(0).integers(0, 9, size=(5, 3, 3))
        np.testing.assert_array_equal(METRICS[name](stack), [METRICS[name](matrix) for matrix in stack])

    @given(pairs=predictions, order=st.permutations(range(N_CLASSES)))
    def test_does_not_care_for_the_order_of_classes(self, name, pairs, order):
        truth, predicted = np.array(pairs).T
        matrix = confusion_matrix(truth, predicted, N_CLASSES)
        assert METRICS[name](matrix) == pytest.approx(METRICS[name](matrix[np.ix_(order, order)]), abs=1e-12)

    def test_is_one_where_all_is_right_and_zero_where_nothing_is(self, name):
        assert METRICS[name](np.diag([3, 1, 2])) == pytest.approx(1)
        assert METRICS[name](np.array([[0, 2], [3, 0]])) == 0
        assert METRICS[name](np.zeros((2, 2), dtype=int)) == 0


def test_confusion_matrix_agrees_with_scikit_learn(random_outcome):
    o = random_outcome("a", [50], 4, 0.5, 0)
    ours = confusion_matrix(o.truth, o.predicted, 4)
    np.testing.assert_array_equal(ours, oracle.confusion_matrix(o.truth, o.predicted, labels=range(4)))


def test_a_class_nobody_saw_counts_as_zero():
    seen_twice = np.array([[2, 0, 0], [0, 2, 0], [0, 0, 0]])
    assert METRICS["macro-f1"](seen_twice) == pytest.approx(2 / 3)


@given(pairs=predictions)
def test_f1_of_means_is_never_below_mean_of_f1(pairs):
    matrix = confusion_matrix(*np.array(pairs).T, N_CLASSES)
    assert METRICS["macro-f1-of-means"](matrix) >= METRICS["macro-f1"](matrix) - 1e-12


def test_the_two_macro_f1_differ():
    matrix = np.array([[1, 0], [9, 0]])  # precision 0.1 and 0, recall 1 and 0
    assert METRICS["macro-f1"](matrix) == pytest.approx((2 * 0.1 / 1.1) / 2)
    assert METRICS["macro-f1-of-means"](matrix) == pytest.approx(2 * 0.05 * 0.5 / 0.55)


def test_fold_scores_are_of_each_fold(judged):
    np.testing.assert_array_equal(fold_scores(judged("a", [1, 1, 0, 0], [1, 1, 1, 0]), "accuracy"), [0.5, 0.75])


class TestOutcome:
    def test_joins_folds(self):
        labels = np.array([0, 1, 2, 0])
        tests, predictions = [np.array([3]), np.array([0, 2])], [np.array([1]), np.array([0, 2])]
        outcome = Outcome.from_folds("a", tests, labels, predictions, 3)
        assert outcome.documents.tolist() == [3, 0, 2]
        assert outcome.folds.tolist() == [0, 1, 1]
        assert outcome.truth.tolist() == [0, 0, 2]
        assert outcome.correct.tolist() == [False, True, True]
        assert not outcome.repeats_documents

    def test_knows_repeated_documents(self):
        rows = [np.array([0, 1]), np.array([1, 2])]
        assert Outcome.from_folds("a", rows, np.zeros(3, dtype=int), [np.zeros(2, dtype=int)] * 2, 1).repeats_documents

    @pytest.mark.parametrize("predicted", [[0], [0, 2], [-1, 0]])
    def test_refuses_what_cannot_be(self, predicted):
        two = np.array([0, 1])
        with pytest.raises(ValueError, match="'a'"):
            Outcome("a", two, two, two, np.array(predicted), 2)
