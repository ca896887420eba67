"""What holds for every method on every kind of problem: decisions of the right shape, or one ValueError in words."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.classifiers import CLASSIFIERS
from benchmark.config.model import Representation, TermSelection
from benchmark.corpora.corpus import Documents
from benchmark.evaluation.protocols import FixedSplit
from benchmark.kernels import KERNELS, Kernel
from benchmark.methods.problem import Problem
from benchmark.methods.registry import build_method
from benchmark.methods.split_data import training_rows_of
from benchmark.representation import NORMALIZATIONS, WEIGHTINGS
from benchmark.system.tags import tags_of
from benchmark.text.counts import Counts
from tests.toy_data import check_decisions, toy_group_splits, toy_problem, toy_replicates

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from benchmark.methods.matrix_cache import MatrixCache

#: Those of documents: the half plane's takes points of two coordinates, see `tests/experiment/test_points.py`.
OF_TEXT = {name: cls for name, cls in KERNELS.items() if name != "hyperbolic"}
NAMES = [*OF_TEXT, *(name for name, cls in CLASSIFIERS.items() if not tags_of(cls).needs_kernel)]
#: They learn a model of the documents, which isn't kept.
MODELS = {name for name, cls in OF_TEXT.items() if not issubclass(cls, Kernel)}
SELECTED = TermSelection((20,), "information-gain", "sum")
#: Learned by EM: what weighting and normalization don't concern is tried with one of each.
SEES_COUNTS = {name for name in KERNELS if tags_of(KERNELS[name]).sees_counts}


def representations(name: str) -> list[Representation]:
    pairs = [*itertools.product(("tf", "tfidf"), NORMALIZATIONS)]
    if name in ("ngd", "linear-svm"):  # how points are weighted is all one to what takes them
        pairs += [(weighting, "l1") for weighting in WEIGHTINGS]
    chosen = [("tf", "none")] if name in SEES_COUNTS else pairs
    return [represented(weighting, normalization, "training") for weighting, normalization in chosen]


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_it_decides_every_tested_document(name: str, multilabel: bool, bench: MatrixCache) -> None:
    """Of methods that are kept, `test_fitted` states it."""
    problem = toy_problem(multilabel=multilabel)
    for representation, terms, replicated in itertools.product(representations(name), (None, SELECTED), (False, True)):
        splits = toy_replicates(problem) if replicated else toy_group_splits(problem)
        spec = spec_of(name, representation)
        if representation.normalization not in tags_of(spec.kernel.build()).normalizations:  # type: ignore[union-attr]
            continue
        method = build_method(spec, problem, terms, replicated=replicated)
        decided = method.solve(problem, splits, None if terms is None else 20, bench)
        assert len(decided) == len(splits)
        for split, decisions in zip(splits, decided, strict=True):
            check_decisions(problem, len(split.test), decisions)


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
@pytest.mark.parametrize("name", NAMES)
def test_it_learns(name: str, multilabel: bool, bench: MatrixCache) -> None:
    """Better than always the largest class, or none, with what it has where a configuration says nothing else."""
    problem = toy_problem(multilabel=multilabel)
    cls = KERNELS.get(name) or CLASSIFIERS[name]
    # At its default time the heat of the sphere has spread evenly.
    spec = spec_of(
        name, represented("tf", tags_of(cls).normalization, "collection"), **({"C": 1e4} if name == "heat" else {})
    )
    splits = toy_group_splits(problem)
    decided = build_method(spec, problem, None, replicated=False).solve(problem, splits, None, bench)
    truth = problem.members if multilabel else problem.documents.labels
    right = np.mean([(each.predicted == truth[split.test]).mean() for split, each in zip(splits, decided, strict=True)])
    base = max(1 - problem.members.mean(), 0.5) if multilabel else np.bincount(problem.documents.labels).max() / 60
    assert right > base


@pytest.mark.parametrize("name", NAMES)
def test_a_split_is_decided_alike_alone_and_in_company(name: str, bench: MatrixCache) -> None:
    """Whatever the workbench remembers, and whether the other splits are known."""
    problem = toy_problem(multilabel=False, n_classes=2)
    cls = KERNELS.get(name) or CLASSIFIERS[name]
    spec = spec_of(name, represented("tf", tags_of(cls).normalization, "collection"))
    splits = toy_replicates(problem)
    method = build_method(spec, problem, None, replicated=True)
    together = method.solve(problem, splits, None, bench)
    for known in (problem, replace(problem, trained=training_rows_of(splits))):
        for split, decisions in zip(splits, together, strict=True):
            (alone,) = method.solve(known, [split], None, bench)
            np.testing.assert_array_equal(alone.predicted, decisions.predicted)
            np.testing.assert_array_equal(alone.tied, decisions.tied)


@pytest.mark.parametrize("replicated", [False, True], ids=["each split", "many splits"])
def test_a_document_half_way_between_two_classes_is_of_the_second(replicated: bool, bench: MatrixCache) -> None:
    """LIBSVM's rule: only a positive decision is for the first."""
    groups = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    documents = Documents(
        tuple("abcde"), np.array([0, 1, 0, 1, 0], dtype=np.int32), groups, ("x", "y"), ("train", "test")
    )
    counts = sp.csr_array(np.array([[2, 0], [0, 2], [1, 1], [0, 3], [3, 0]], dtype=np.int32))
    problem = Problem(Counts(documents, counts, ("t", "u")), "half way", 0)
    method = build_method(spec_of("linear", represented("tf", "l2", "training")), problem, None, replicated=replicated)
    (decisions,) = method.solve(problem, FixedSplit().splits(documents), None, bench)
    assert decisions.predicted.tolist() == [1, 1, 0]


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
def test_more_terms_than_there_are_can_not_be_selected(multilabel: bool, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=multilabel)
    for name in ("linear", "ngd", "mnb", "ppt", "plsi-fisher"):
        cls = KERNELS.get(name) or CLASSIFIERS[name]
        spec = spec_of(name, represented("tf", tags_of(cls).normalization, "training"))
        method = build_method(spec, problem, TermSelection((41,), "information-gain", "sum"), replicated=False)
        with pytest.raises(ValueError, match="41 terms can't be selected from 40"):
            method.solve(problem, toy_group_splits(problem), 41, bench)
