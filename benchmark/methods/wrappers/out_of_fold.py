"""Out-of-fold decision values: each training document is scored by a method that was trained without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.protocols import KFold
from benchmark.evaluation.splits import Split

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmark.methods.problem import Problem

#: Folds of the cross-validation that fits thresholds and probabilities, and that chooses candidates where all documents
#: are training documents.
INNER_FOLDS = 5


def inner_folds(problem: Problem, split: Split) -> list[Split]:
    """Return the folds of a split's training documents, as rows of the problem's documents.

    The only document of a class is in the training documents of every fold.
    """
    rows = split.train
    protocol = KFold(INNER_FOLDS, problem.seed, stratified=not problem.multilabel, keep_lone=True)
    folds = protocol.splits(problem.documents.take(rows))
    return [Split(fold.name, rows[fold.train], rows[fold.test], fold.number) for fold in folds]


def out_of_fold_values(
    problem: Problem,
    split: Split,
    score: Callable[[Split], NDArray[np.float64]],
    n_folds: int = INNER_FOLDS,
) -> NDArray[np.float64]:
    """Return out-of-fold class values of a split's training documents, shape (n_train, k).

    `score` trains on a fold and returns the values of its test documents. Documents that none of the first `n_folds`
    folds tests have NaN.
    """
    values = np.full(problem.members.shape, np.nan)
    for fold in inner_folds(problem, split)[:n_folds]:
        values[fold.test] = score(fold)
    return values[split.train]
