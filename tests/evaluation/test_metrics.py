"""Metrics of single labels and of several against scikit-learn, and what must hold of them whatever the counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from benchmark.evaluation.metrics import (
    METRICS,
    Tallies,
    stack_tallies,
    tally_predictions,
)

K = 4
ZERO = {"zero_division": 0}
# A byte has a class in two bits and another in two: bytes are drawn at once, the elements of lists one by one.
SINGLE = st.binary(min_size=1, max_size=30).map(lambda drawn: [divmod(byte % K**2, K) for byte in drawn])
DECISIONS = st.binary(min_size=6, max_size=6).map(
    lambda drawn: np.unpackbits(np.frombuffer(drawn, np.uint8)).astype(bool).reshape(12, K)
)


def of_several(truth, given):
    """scikit-learn's scores: each call gives precision, recall and F1 at once."""
    precision, recall, macro_f1, _ = oracle.precision_recall_fscore_support(truth, given, average="macro", **ZERO)
    *_, micro_f1, _ = oracle.precision_recall_fscore_support(truth, given, average="micro", **ZERO)
    return {
        "macro-f1": macro_f1,
        "micro-f1": micro_f1,
        "macro-recall": recall,
        "macro-precision": precision,
        "macro-f1-of-means": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
    }


def of_single(truth, given):
    accuracy = oracle.accuracy_score(truth, given)
    return of_several(truth, given) | {"accuracy": accuracy, "error": 1 - accuracy}


NAMES = [*of_single([0], [0])]


def counted(confusion):
    """Tallies of a confusion matrix, rows true."""
    confusion = np.asarray(confusion)
    return Tallies(np.diagonal(confusion), confusion.sum(axis=0), confusion.sum(axis=1), confusion.sum())


def score(name, tallies):
    return METRICS[name].of(tallies)


def scores(names, tallies):
    return {name: float(score(name, tallies)) for name in names}


class TestEveryMetric:
    @given(pairs=SINGLE)
    def test_agrees_with_scikit_learn(self, pairs):
        truth, predicted = np.array(pairs).T
        assert scores(NAMES, tally_predictions(truth, predicted, K)) == pytest.approx(
            of_single(truth, predicted), abs=1e-12
        )

    @pytest.mark.parametrize("name", NAMES)
    def test_scores_a_stack_as_it_scores_each(self, name):
        rng = np.random.default_rng(0)
        each = [tally_predictions(*rng.integers(0, K, size=(2, 9)), K) for _ in range(5)]
        np.testing.assert_array_equal(score(name, stack_tallies(each)), [score(name, one) for one in each])

    @pytest.mark.parametrize("name", NAMES)
    def test_is_best_where_all_is_right_and_worst_where_nothing_is(self, name):
        best = 1 if METRICS[name].more_is_better else 0
        assert score(name, counted(np.diag([3, 1, 2]))) == pytest.approx(best)
        assert score(name, counted([[0, 2], [3, 0]])) == 1 - best


@given(truth=DECISIONS, assigned=DECISIONS)
def test_several_classes_agree_with_scikit_learn(truth, assigned):
    expected = of_several(truth, assigned)
    assert expected.keys() == {name for name in NAMES if METRICS[name].multilabel}
    assert scores(expected, tally_predictions(truth, assigned, K)) == pytest.approx(expected, abs=1e-12)


@given(truth=DECISIONS, assigned=DECISIONS)
def test_of_one_class_a_mean_over_the_classes_is_its_own_number(truth, assigned):
    own = tally_predictions(truth, assigned, K).only(2)
    precision, recall, f1, _ = oracle.precision_recall_fscore_support(
        truth[:, 2], assigned[:, 2], average="binary", zero_division=0
    )
    expected = {"f1": f1, "precision": precision, "recall": recall}
    assert scores(expected, own) == pytest.approx(expected)
    assert scores(["macro-f1", "macro-precision", "macro-recall"], own) == pytest.approx(
        {f"macro-{name}": value for name, value in expected.items()}
    )
    assert own.documents == truth[:, 2].sum()


@pytest.mark.parametrize("name", ["macro-f1", "macro-recall", "macro-precision", "macro-f1-of-means"])
def test_a_class_that_is_neither_tested_nor_predicted_is_left_out_of_a_mean(name):
    """As by scikit-learn, whose labels are those of the truth and the predictions; a predicted one counts as 0."""
    truth = np.array([0, 0, 1, 1])
    assert score(name, tally_predictions(truth, truth, 3)) == 1
    assert score(name, tally_predictions(truth, np.array([0, 0, 1, 2]), 3)) < 1
    several = np.array([[True, False, False], [False, True, False]])
    assert score(name, tally_predictions(several, several, 3)) == pytest.approx(2 / 3), "its column is a label"
