"""What becomes of a class that no training document has, or one, or all; and what a method may see of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.methods.problem import Problem
from benchmark.methods.registry import build_method
from benchmark.text.counts import Counts
from tests.toy_data import toy_group_splits, toy_problem

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.methods.matrix_cache import MatrixCache

NAMES = ["linear", "ngd", "hp-top", "plsi-fisher", "mnb", "eef"]


def decided(name: str, n_members: int, bench: MatrixCache, **counts: Any) -> SettingPredictions:
    """Decisions on the first held-out group, where the last class has so many training documents."""
    problem = toy_problem(multilabel=True)
    split = toy_group_splits(problem)[0]
    topics = problem.members.copy()
    topics[~topics.any(axis=1), 0] = True
    topics[split.train, 2] = np.arange(len(split.train)) < n_members
    documents = replace(problem.documents, topics=topics)
    given = Problem(Counts(documents, problem.counts.matrix, problem.counts.vocabulary), f"{n_members}", 7)
    spec = spec_of(name, represented("tf", "none" if name in ("plsi-fisher", "eef") else "l1", "collection"))
    (found,) = build_method(spec, given, None, replicated=False).solve(given, [split], None, bench)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_without_training_documents_it_is_given_to_none(name: str, bench: MatrixCache) -> None:
    given = decided(name, 0, bench).predicted
    assert not given[:, 2].any()
    assert given[:, :2].any()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "hp-top"])
def test_of_all_training_documents_it_is_given_to_all(name: str, bench: MatrixCache) -> None:
    assert decided(name, 60, bench).predicted[:, 2].all()


def test_of_one_training_document_hp_top_has_no_density_and_says_so(bench: MatrixCache) -> None:
    with pytest.raises(ValueError, match="'class-2' has 1 training documents; a variance needs at least two"):
        decided("hp-top", 1, bench)
    for name in NAMES:
        if name != "hp-top":
            assert decided(name, 1, bench).predicted.shape[1] == 3


@pytest.mark.parametrize("name", ["linear", "ngd", "mnb", "hp-top", "plsi-fisher"])
@pytest.mark.parametrize("weighting", ["tf", "tfidf"])
def test_what_is_learned_is_learned_from_the_training_documents_alone(
    name: str, weighting: str, bench: MatrixCache
) -> None:
    """Other tested documents in the place of half of them leave the decisions on the others as they were."""
    problem = toy_problem(multilabel=False)
    split = toy_group_splits(problem)[0]
    kept, turned = split.test[: len(split.test) // 2], split.test[len(split.test) // 2 :]
    matrix = problem.counts.matrix.copy().tolil()
    matrix[turned] = problem.counts.matrix[turned[::-1]].toarray() * 3
    other = Problem(Counts(problem.documents, matrix.tocsr(), problem.counts.vocabulary), "other", problem.seed)
    normalization = "none" if name == "plsi-fisher" else "l1"
    spec = spec_of(name, represented("tf" if name == "plsi-fisher" else weighting, normalization, "training"))
    (one,), (two,) = (
        build_method(spec, each, None, replicated=False).solve(each, [split], None, bench) for each in (problem, other)
    )
    np.testing.assert_array_equal(one.predicted[: len(kept)], two.predicted[: len(kept)])
