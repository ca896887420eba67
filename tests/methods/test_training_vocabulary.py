"""Terms of a method: those of a split's training documents, and the blocks that fields weigh."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.methods.problem import Problem
from benchmark.methods.split_data import FittedView
from benchmark.methods.wrappers import build_method
from benchmark.text.counts import Counts
from benchmark.text.lexer import TRAINING, Pruning
from tests.methods.conftest import SELECTED, represented, solved, spec_of, trained
from tests.toy_data import toy_group_splits, toy_problem

if TYPE_CHECKING:
    from benchmark.methods.matrix_cache import MatrixCache

PRUNING = Pruning(min_occurrences=16, min_documents=9, group=TRAINING)
NAMES = ["ngd", "linear", "diffusion", "ppt", "mnb", "eef", "linear-svm", "divergence-bayes"]


def by_hand(problem: Problem, train: np.ndarray) -> Problem:
    """The problem with the terms that are frequent in the training documents."""
    table = problem.counts.matrix.toarray()
    occurrences, documents = table[train].sum(axis=0), (table[train] > 0).sum(axis=0)
    kept = np.flatnonzero((occurrences >= PRUNING.min_occurrences) & (documents >= PRUNING.min_documents))
    words = tuple(problem.counts.vocabulary[term] for term in kept)
    return Problem(Counts(problem.documents, sp.csr_array(table[:, kept]), words), f"by hand {train!r}", problem.seed)


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
@pytest.mark.parametrize("name", NAMES)
def test_each_split_has_the_terms_of_its_training_documents(name: str, multilabel: bool, bench: MatrixCache) -> None:
    whole = toy_problem(multilabel=multilabel)
    splits = toy_group_splits(whole)
    words = {by_hand(whole, split.train).counts.vocabulary for split in splits}
    assert len(words) == 2
    assert max(map(len, words)) < len(whole.counts.vocabulary)
    spec = spec_of(name, represented("tfidf" if name == "ngd" else "tf", "l1", "training"))
    pruned = replace(whole, pruning=PRUNING)
    for terms in (None, 9):
        method = build_method(spec, pruned, terms and SELECTED, replicated=False)
        for split, ours in zip(splits, method.solve(pruned, splits, terms, bench), strict=True):
            alone = by_hand(whole, split.train)
            (expected,) = solved(spec, alone, bench, split, terms=terms)
            np.testing.assert_array_equal(ours.predicted, expected.predicted)
            fitted, inputs = trained(method, pruned, split, terms, bench)
            assert inputs.shape[1] == (terms if terms and name not in ("ppt", "eef") else len(alone.counts.vocabulary))
            np.testing.assert_array_equal(fitted.decide(inputs[split.test]).predicted, ours.predicted)


def test_blocks_follow_the_terms_that_are_selected_or_kept() -> None:
    """Terms in another order than that of the columns, and those of a split's own vocabulary."""
    found = toy_problem(multilabel=False)
    block_of = (np.arange(40) % 3 == 0).astype(np.intp)
    given = replace(found, counts=replace(found.counts, blocks=("all", "title"), block_of=block_of), pruning=PRUNING)
    points, terms = replace(represented("tf", "l1", "training"), fields=(("title", 2.0),)), np.array([3, 1, 39, 0, 7])
    chosen = given.over_terms(terms)
    titles = FittedView(chosen.weighting(points, None), "l1").points(chosen.counts.matrix).toarray()
    own = given.counts.matrix[:, terms].toarray() * (block_of[terms] == 1)
    np.testing.assert_allclose(titles, own / np.maximum(own.sum(axis=1, keepdims=True), 1), rtol=1e-12)
    train = np.arange(0, 60, 2)
    kept = [given.counts.vocabulary.index(word) for word in given.pruned(train).counts.vocabulary]
    assert 0 < len(kept) < 40
    np.testing.assert_array_equal(given.pruned(train).counts.block_of, block_of[kept])
