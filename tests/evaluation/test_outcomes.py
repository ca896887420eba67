"""Outcomes: what a cell decided, split by split, of one class a document or of several."""

from dataclasses import replace

import numpy as np
import pytest

from benchmark.evaluation.metrics import Metric
from benchmark.evaluation.outcomes import (
    Outcome,
    check_same_documents,
    fold_scores,
    outcome_scores,
    score_over_splits,
)
from tests.evaluation.outcomes import judged

TWO = np.array([0, 1])


def test_fold_scores_are_of_each_fold():
    np.testing.assert_array_equal(fold_scores(judged("a", [1, 1, 0, 0], [1, 1, 1, 0]), "accuracy"), [0.5, 0.75])


def test_a_part_is_one_fold():
    whole = judged("a", [1, 1, 0, 0], [1, 1, 1, 0])
    part = whole.parts[1]
    assert part.documents.tolist() == [4, 5, 6, 7]
    assert fold_scores(part, "accuracy").tolist() == [0.75]


def test_knows_repeated_documents():
    assert Outcome("a", np.array([0, 1, 1]), np.array([0, 0, 1]), *np.zeros((2, 3), dtype=int), 1).repeats_documents
    assert not Outcome("a", np.arange(3), np.array([0, 0, 1]), *np.zeros((2, 3), dtype=int), 1).repeats_documents


class TestTies:
    def test_of_single_labels_are_those_of_a_classs_documents(self):
        truth, tied = np.array([0, 1, 1, 0]), np.array([True, True, False, True])
        outcome = Outcome("a", np.arange(4), np.array([0, 0, 1, 1]), truth, truth, 2, tied=tied)
        assert outcome.ties(None).tolist() == [2, 1]
        assert outcome.ties(0).tolist() == [1, 1]

    def test_of_several_are_those_of_its_decisions(self):
        truth, tied = np.zeros((3, 2), dtype=bool), np.array([[True, False], [True, True], [False, True]])
        outcome = Outcome("a", np.arange(3), np.array([0, 0, 1]), truth, truth, 2, tied=tied)
        assert outcome.ties(None).tolist() == [3, 1]
        assert outcome.ties(1).tolist() == [1, 1]

    def test_are_none_where_they_are_not_known(self):
        assert Outcome("a", TWO, TWO, TWO, TWO, 2).ties(None).tolist() == [0, 0]


@pytest.mark.parametrize(("name", "other"), [("documents", TWO + 1), ("folds", TWO * 0), ("truth", TWO[::-1])])
def test_outcomes_of_other_documents_are_not_paired(name, other):
    fields = {"documents": TWO, "folds": TWO, "truth": TWO}
    one, two = (
        Outcome(cell, **each, predicted=TWO, n_classes=2)
        for cell, each in (("a", fields), ("b", fields | {name: other}))
    )
    with pytest.raises(ValueError, match=f"'a' and 'b' differ in {name}"):
        check_same_documents(one, two)


def test_scores_of_different_classes_are_not_paired():
    one, two = (Outcome(cell, TWO, TWO, TWO, TWO, 2, position) for cell, position in (("a", 0), ("b", 1)))
    with pytest.raises(ValueError, match="different classes"):
        check_same_documents(one, two)


@pytest.mark.parametrize("pooled", [False, True])
def test_a_metric_of_a_plugin_is_pooled_if_it_says_so(pooled):
    """Also one that has the name of another metric."""
    own = Metric(lambda tallies: tallies.right.sum(axis=-1) ** 2 / tallies.documents, pooled=pooled)
    for name in ("own", "macro-f1", "accuracy"):
        outcome = replace(judged("a", [1, 0, 1], [1]), known={name: own})
        assert score_over_splits(outcome, name) == pytest.approx(3**2 / 4 if pooled else (2**2 / 3 + 1) / 2)
        twice = replace(outcome, documents=outcome.documents * 0)
        if pooled:
            with pytest.raises(ValueError, match="cannot be pooled"):
                score_over_splits(twice, name)
        else:
            assert score_over_splits(twice, name) == score_over_splits(outcome, name)
        assert list(outcome_scores(outcome)) == [name]


def test_a_part_has_its_own_ties_and_values():
    truth, tied, values = np.array([0, 1, 1, 0]), np.array([True, False, True, False]), np.arange(8.0).reshape(4, 2)
    outcome = Outcome("a", np.arange(4), np.array([1, 0, 1, 0]), truth, truth, 2, tied=tied, values=values)
    first, second = outcome.parts
    assert (first.documents.tolist(), second.documents.tolist()) == ([1, 3], [0, 2])
    assert (first.tied.tolist(), second.tied.tolist()) == ([False, False], [True, True])
    assert second.values.tolist() == [[0, 1], [4, 5]]


def test_the_documents_of_a_class_are_counted():
    truth, several = np.array([0, 1, 1]), np.array([[True, False], [True, True], [False, False]])
    for of_class, single, many in [(None, [1, 1, 1], [1, 1, 1]), (0, [1, 0, 0], [1, 1, 0]), (1, [0, 1, 1], [0, 1, 0])]:
        for own, expected in ((truth, single), (several, many)):
            outcome = Outcome("a", np.arange(3), np.zeros(3, int), own, own, 2, of_class)
            assert outcome.counted().tolist() == [bool(each) for each in expected]
