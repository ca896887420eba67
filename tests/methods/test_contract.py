"""What holds for every method, beside `tests/experiment/test_contract.py`: company, and the border."""

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
from tests.toy_data import toy_problem, toy_replicates

from .conftest import NAMES, default_spec, solved

if TYPE_CHECKING:
    from benchmark.methods.matrix_cache import MatrixCache


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
