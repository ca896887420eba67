"""Outcomes: what a cell decided, split by split, of one class a document or of several."""

from dataclasses import replace

import numpy as np
import pytest

from benchmark.evaluation.metrics import Metric
from benchmark.evaluation.outcomes import (
    Outcome,
    check_same_documents,
    outcome_scores,
    score_over_splits,
)
from tests.evaluation.outcomes import judged

TWO = np.array([0, 1])


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
