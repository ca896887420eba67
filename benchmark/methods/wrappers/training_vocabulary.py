"""Methods whose vocabulary is counted anew in the training documents of each split."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchmark.methods.base import WrappedMethod

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.splits import Split
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem
    from benchmark.methods.split_data import SplitData


class TrainingVocabularyMethod(WrappedMethod):
    """Method that sees, on each split, only the terms that pruning keeps in the split's training documents.

    The folds that choose among candidates are splits, too: each has the vocabulary of its own training documents.
    """

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, matrices: MatrixCache
    ) -> list[SettingPredictions]:
        """Solve each split over its own vocabulary, see `Method.solve`."""
        return [
            predictions
            for split in splits
            for predictions in self.method.solve(problem.over_terms_of(split.train), [split], terms, matrices)
        ]

    def fit_split(self, work: SplitData) -> FittedMethod:
        """Train over the split's own vocabulary; the trained method has its terms' columns in the problem."""
        train = work.split.train
        kept = work.problem.training_terms(train)
        fitted = self.method.fit_split(replace(work, problem=work.problem.over_terms_of(train)))
        own = fitted.view.terms
        return replace(fitted, view=replace(fitted.view, terms=kept if own is None else kept[own]))
