"""Base class of methods: train on the splits of a task and predict its test documents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmark.methods.stopwatch import Stopwatch
from benchmark.methods.vectors import surplus_warnings
from benchmark.methods.views import inputs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem


class Method(ABC):
    """View of documents, optional kernel and classifier for the documents of one problem.

    Parameters
    ----------
    spec : MethodSpec
        Specification of the method, from the configuration.
    aggregate : str
        How the information gains of a term are aggregated over the classes, where terms are selected.
    batched : bool
        True if the splits of a setting are solved together and stored as one entry.
    """

    def __init__(self, spec: MethodSpec, aggregate: str = "sum", *, batched: bool = False) -> None:
        self.spec, self.aggregate, self.batched = spec, aggregate, batched

    @property
    def uses_seed(self) -> bool:
        """True if predictions depend on the problem's seed."""
        return False

    def inputs(self, problem: Problem) -> Any:
        """Return what the method takes of all documents: counts, texts or vectors, see `inputs_of`."""
        return inputs_of(self.spec, problem)

    def joins(self, problem: Problem, terms: int | None) -> Any:  # noqa: ARG002
        """Return a value that is equal for methods that can be solved together on a split; None for one that can't."""
        return None

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, matrices: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on the training documents of each split and predict its test documents.

        Parameters
        ----------
        problem : Problem
        splits : sequence of Split
        terms : int or None
            Number of terms to select; None for all.
        matrices : MatrixCache

        Returns
        -------
        list of SettingPredictions
            One for each split.

        Raises
        ------
        ValueError, FloatingPointError
            If the method can't be used on these documents.
        """
        vectors, inputs, found = self.spec.vectors, self.inputs(problem), []
        warnings = () if vectors is None else surplus_warnings(vectors, problem.documents)
        for split in splits:
            watch = Stopwatch()
            fitted = self.fit(problem, split, terms, matrices)
            watch.lap("training")
            decisions = fitted.decide(fitted.view.own_terms(inputs[split.test]))
            watch.lap("testing")
            found.append(replace(decisions.timed(watch.seconds()), warnings=warnings))
        return found

    @abstractmethod
    def fit(self, problem: Problem, split: Split, terms: int | None, matrices: MatrixCache) -> FittedMethod:
        """Train on the training documents of a split, as `solve` does, and return the trained method.

        Raises
        ------
        ValueError, FloatingPointError
            If the method can't be used on these documents, or has no trained state that can be saved.
        """


class WrappedMethod(Method):
    """Base class of methods that train another one.

    Parameters
    ----------
    method : Method
    """

    def __init__(self, method: Method) -> None:
        super().__init__(method.spec, method.aggregate, batched=method.batched)
        self.method = method

    @property
    def uses_seed(self) -> bool:
        """`uses_seed` of the wrapped method."""
        return self.method.uses_seed

    def inputs(self, problem: Problem) -> Any:
        """Return `inputs` of the wrapped method."""
        return self.method.inputs(problem)
