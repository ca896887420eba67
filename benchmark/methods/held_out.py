"""Decision values of training documents, each from machines that were trained without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.protocols import KFold
from benchmark.evaluation.splits import Split

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmark.methods.base import Problem
    from benchmark.methods.fitted import FittedMethod

#: Of the cross-validation that thresholds and probabilities are made by, and candidates chosen by where all documents
#: train.
FOLDS = 5


def folds_of(problem: Problem, split: Split) -> list[Split]:
    """Folds of a split's training documents."""
    rows = split.train
    made = KFold(FOLDS, problem.seed, stratified=not problem.several).splits(problem.documents.take(rows))
    return [Split(each.name, rows[each.train], rows[each.test], each.number) for each in made]


def held_out_values(problem: Problem, split: Split, fit: Callable[[Split], FittedMethod]) -> NDArray[np.float64]:
    """Class values of a split's training documents, shape (n_train, k), each by what `fit` makes of the other folds."""
    matrix, values = problem.counts.matrix, np.empty(problem.members.shape)
    for fold in folds_of(problem, split):
        fitted = fit(fold)
        terms = fitted.learned.terms
        counts = matrix[fold.test] if terms is None else matrix[fold.test][:, terms]
        values[fold.test] = fitted.class_values(fitted.values(counts))
    return values[split.train]
