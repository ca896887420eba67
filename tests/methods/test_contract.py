"""What holds for every method on every kind of problem: decisions of the right shape, or one ValueError in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.corpora.corpus import Documents
from benchmark.evaluation.protocols import FixedSplit
from benchmark.methods.problem import Problem
from benchmark.methods.split_data import training_rows_of
from benchmark.text.counts import Counts
from tests.toy_data import check_decisions, toy_group_splits, toy_problem, toy_replicates

from .conftest import NAMES, default_spec, solved

if TYPE_CHECKING:
    from benchmark.methods.matrix_cache import MatrixCache


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
@pytest.mark.parametrize("name", NAMES)
def test_it_decides_every_tested_document_and_learns(name: str, multilabel: bool, bench: MatrixCache) -> None:
    """Better than always the largest class, or none, with what it has where a configuration says nothing else."""
    problem = toy_problem(multilabel=multilabel)
    # At its default time the heat of the sphere has spread evenly.
    spec, splits = default_spec(name, **({"C": 1e4} if name == "heat" else {})), toy_group_splits(problem)
    truth = problem.members if multilabel else problem.documents.labels
    base = max(1 - problem.members.mean(), 0.5) if multilabel else np.bincount(problem.documents.labels).max() / 60
    for terms in (None, 30):
        found = solved(spec, problem, bench, *splits, terms=terms)
        for split, each in zip(splits, found, strict=True):
            check_decisions(problem, len(split.test), each)
            if multilabel:
                np.testing.assert_array_equal(each.predicted, each.values > 0)
                np.testing.assert_array_equal(each.tied, each.values == 0)
        right = [(each.predicted == truth[split.test]).mean() for split, each in zip(splits, found, strict=True)]
        assert np.mean(right) > base


@pytest.mark.parametrize("name", NAMES)
def test_a_split_is_decided_alike_alone_and_in_company(name: str, bench: MatrixCache) -> None:
    """Whatever the workbench remembers, and whether the other splits are known."""
    problem, spec = toy_problem(multilabel=False, n_classes=2), default_spec(name)
    splits = toy_replicates(problem)
    together = solved(spec, problem, bench, *splits, replicated=True)
    for known in (problem, replace(problem, trained=training_rows_of(splits))):
        for split, decisions in zip(splits, together, strict=True):
            (alone,) = solved(spec, known, bench, split, replicated=True)
            np.testing.assert_array_equal(alone.predicted, decisions.predicted)
            np.testing.assert_array_equal(alone.tied, decisions.tied)


@pytest.mark.parametrize("replicated", [False, True], ids=["each split", "many splits"])
def test_a_document_half_way_between_two_classes_is_of_the_second(replicated: bool, bench: MatrixCache) -> None:
    """LIBSVM's rule: only a positive decision is for the first."""
    labels, parts = (np.array(each, dtype=np.int32) for each in ([0, 1, 0, 1, 0], [0, 0, 1, 1, 1]))
    documents = Documents(tuple("abcde"), labels, parts, ("x", "y"), ("train", "test"))
    counts = sp.csr_array(np.array([[2, 0], [0, 2], [1, 1], [0, 3], [3, 0]], dtype=np.int32))
    problem = Problem(Counts(documents, counts, ("t", "u")), "half way", 0)
    splits = FixedSplit().splits(documents)
    (decisions,) = solved(default_spec("linear"), problem, bench, *splits, replicated=replicated)
    assert decisions.predicted.tolist() == [1, 1, 0]


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
@pytest.mark.parametrize("name", ["linear", "ngd", "mnb", "ppt", "plsi-fisher", "gram-rows"])
def test_more_terms_than_there_are_can_not_be_selected(name: str, multilabel: bool, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=multilabel)
    with pytest.raises(ValueError, match="41 terms can't be selected from 40"):
        solved(default_spec(name), problem, bench, *toy_group_splits(problem), terms=41)
