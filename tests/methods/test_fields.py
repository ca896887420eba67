"""Blocks of terms and their weights, as a representation's fields name them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.methods.problem import Problem
from benchmark.methods.split_data import FittedView
from benchmark.text.pruning import TRAINING, Pruning
from tests.toy_data import toy_problem

from .conftest import represented

if TYPE_CHECKING:
    from benchmark.config.model import Representation

WEIGHTS = {"all": 1.0, "title": 0.5}


def problem(*, multilabel: bool) -> Problem:
    """Every third term is one of a title, and every document has terms of either block."""
    found = toy_problem(multilabel=multilabel)
    block_of = (np.arange(found.counts.matrix.shape[1]) % 3 == 0).astype(np.intp)
    matrix = sp.csr_array(found.counts.matrix.toarray() + (np.arange(len(block_of)) < 2))
    return Problem(replace(found.counts, matrix=matrix, blocks=tuple(WEIGHTS), block_of=block_of), "blocks", 7)


def points_of(given: Problem, points: Representation, terms: Any = None) -> np.ndarray:
    counts = given.counts.matrix if terms is None else given.counts.matrix[:, terms]
    weighting = given.weighting(counts, points, None, terms)
    return np.asarray(FittedView(weighting, points.normalization).points(counts).toarray())


def test_blocks_follow_the_terms_that_are_selected_or_kept() -> None:
    """Terms in another order than that of the columns, and those of a split's own vocabulary."""
    given = problem(multilabel=False)
    points = replace(represented("tf", "l1", "training"), fields=(("title", 2.0),))
    terms = np.array([3, 1, 39, 0, 7])
    counts = given.counts.matrix[:, terms]
    found = points_of(given, points, terms)
    titles = given.counts.block_of[terms] == 1
    own = counts.toarray() * titles
    lengths = np.maximum(own.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(found, own / lengths, rtol=1e-12)
    train = np.arange(0, 60, 2)
    pruned = replace(given, pruning=Pruning(min_occurrences=20, min_documents=5, group=TRAINING))
    kept = pruned.training_terms(train)
    assert 0 < len(kept) < 40
    np.testing.assert_array_equal(pruned.over_terms_of(train).counts.block_of, given.counts.block_of[kept])
    assert pruned.over_terms_of(train).counts.blocks == given.counts.blocks
