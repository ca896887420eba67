"""Protocol of a method: train on the splits of a task and predict its test documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem


class Method(Protocol):
    """Representation, optional kernel and classifier for the documents of one problem."""

    @property
    def batched(self) -> bool:
        """True if the splits of a setting are solved together and stored as one entry."""

    @property
    def uses_seed(self) -> bool:
        """True if predictions depend on the problem's seed."""

    @property
    def spec(self) -> MethodSpec:
        """Specification of the method, from the configuration."""

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on the training documents of each split and predict its test documents.

        Parameters
        ----------
        problem : Problem
        splits : sequence of Split
        terms : int or None
            Number of terms to select; None for all.
        bench : MatrixCache

        Returns
        -------
        list of SettingPredictions
            One for each split.

        Raises
        ------
        ValueError, FloatingPointError
            If the method can't be used on these documents.
        """

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: MatrixCache) -> FittedMethod:
        """Train on the training documents of a split, as `solve` does, and return the trained method.

        Raises
        ------
        ValueError, FloatingPointError
            If the method can't be used on these documents, or has no trained state that can be saved.
        """
