"""Small collections on which components are checked, with one class per document or with several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from benchmark.corpora.corpus import Documents
from benchmark.evaluation.protocols import LeaveOneGroupOut, RandomSubsets
from benchmark.methods.problem import Problem
from benchmark.text.counts import Counts

if TYPE_CHECKING:
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.splits import Split

TOY_DOCUMENTS, TOY_TERMS, TOY_CLASSES = 60, 40, 3


def toy_problem(*, multilabel: bool, n_classes: int = TOY_CLASSES, key: str = "problem") -> Problem:
    """Draw documents from one multinomial per class, in two groups; if they have several classes, some have none."""
    rng = np.random.default_rng([2005, n_classes])
    topics = rng.dirichlet(np.full(TOY_TERMS, 0.3), size=n_classes)
    labels = (np.arange(TOY_DOCUMENTS) % n_classes).astype(np.int32)
    members = labels[:, None] == np.arange(n_classes)
    if multilabel:
        members = members & (rng.random(TOY_DOCUMENTS) > 0.1)[:, None] | (rng.random(members.shape) < 0.1)
    shares = np.full(TOY_TERMS, 1 / TOY_TERMS)
    rows = [rng.multinomial(25, topics[own].mean(axis=0) if own.any() else shares) for own in members]
    matrix = sp.csr_array(np.array(rows, dtype=np.int32))
    documents = Documents(
        tuple(f"document-{i}" for i in range(TOY_DOCUMENTS)),
        np.full(TOY_DOCUMENTS, -1, dtype=np.int32) if multilabel else labels,
        (np.arange(TOY_DOCUMENTS) // 3 % 2).astype(np.int32),
        tuple(f"class-{i}" for i in range(n_classes)),
        ("left", "right"),
        members if multilabel else None,
    )
    return Problem(Counts(documents, matrix, tuple(f"term-{i}" for i in range(TOY_TERMS))), key, 7)


def toy_replicates(problem: Problem) -> list[Split]:
    """Return the splits of two random draws."""
    return RandomSubsets(train_size=30, replicates=2, stratified=not problem.multilabel).splits(problem.documents)


def toy_group_splits(problem: Problem) -> list[Split]:
    """Return the splits that hold out each group in turn."""
    return LeaveOneGroupOut().splits(problem.documents)


def check_decisions(problem: Problem, n_tested: int, decisions: SettingPredictions) -> None:
    """Check that predictions are one per test document, or, with several classes, one per document and class."""
    given, tied, k = decisions.predicted, decisions.tied, len(problem.documents.classes)
    shape = (n_tested, k) if problem.multilabel else (n_tested,)
    assert given.shape == tied.shape == shape
    assert tied.dtype == np.bool_
    assert given.dtype == (np.bool_ if problem.multilabel else np.int16)
    if not problem.multilabel:
        assert 0 <= given.min() <= given.max() < k
    seconds = decisions.seconds
    assert seconds.shape == (1, 6)
    assert np.isfinite(seconds).all()
    assert (seconds >= 0).all()
