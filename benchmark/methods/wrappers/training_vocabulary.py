"""Methods whose vocabulary is counted anew in the training documents of each split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.base import Method
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem


@dataclass(frozen=True)
class TrainingVocabularyMethod:
    """Method that sees, on each split, only the terms that pruning keeps in the split's training documents.

    The folds that choose among candidates are splits, too: each has the vocabulary of its own training documents.

    Parameters
    ----------
    method : Method
        The method to run.
    """

    method: Method

    @property
    def batched(self) -> bool:
        """`batched` of the wrapped method."""
        return self.method.batched

    @property
    def uses_seed(self) -> bool:
        """`uses_seed` of the wrapped method."""
        return self.method.uses_seed

    @property
    def spec(self) -> MethodSpec:
        """`spec` of the wrapped method."""
        return self.method.spec

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Solve each split over its own vocabulary, see `Method.solve`."""
        return [
            predictions
            for split in splits
            for predictions in self.method.solve(problem.over_terms_of(split.train), [split], terms, bench)
        ]

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: MatrixCache) -> FittedMethod:
        """Train over the split's own vocabulary, see `Method.fit`; the result names its terms in all of the problem's.

        Returns
        -------
        FittedMethod
        """
        kept = problem.training_terms(split.train)
        fitted = self.method.fit(problem.over_terms_of(split.train), split, terms, bench)
        view = fitted.learned.view
        view = replace(view, terms=kept if view.terms is None else kept[view.terms])
        return replace(fitted, learned=replace(fitted.learned, view=view))
