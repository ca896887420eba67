"""Base classes of methods, which are trained on the splits of a task, and of trained methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.methods.split_data import SplitData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.splits import Split
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Decisions, LearnedClasses, Problem
    from benchmark.system.arrays import Array, Indices


@dataclass(frozen=True, eq=False)
class FittedMethod(ABC):
    """Trained method; it takes the inputs of new documents: counts of its terms, texts or vectors.

    Parameters
    ----------
    learned : LearnedClasses
    """

    learned: LearnedClasses

    @abstractmethod
    def decide(self, inputs: Any) -> Decisions:
        """Return the decisions on documents, computed on the calling thread.

        Raises
        ------
        FloatingPointError
            If a decision value is not finite.
        """

    def class_values(self, inputs: Any) -> Array:
        """Return the decision value of each class, shape (m, k); 1 or 0 of a method that only predicts."""
        return self.learned.values_of(self.decide(inputs))


class Method:
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
        return [self.solve_split(self.data_of(problem, split, terms, matrices)) for split in splits]

    def data_of(self, problem: Problem, split: Split, terms: int | None, matrices: MatrixCache) -> SplitData:
        """Return the data of a split, with terms selected as the configuration asks."""
        return SplitData(problem.pruned(split.train), split, terms, self.aggregate, matrices)

    def solve_split(self, work: SplitData) -> SettingPredictions:
        """Train on a split and predict its test documents."""
        fitted = self.fit(work)
        work.watch.lap("training")
        decisions = fitted.decide(self.inputs(work, work.split.test))
        work.watch.lap("testing")
        return decisions.timed(work.watch.seconds())

    def score(self, work: SplitData) -> Array:
        """Train on a split and return the class values of its test documents, shape (m, k)."""
        return self.fit(work).class_values(self.inputs(work, work.split.test))

    def members(self, work: SplitData) -> list[tuple[Method, SplitData]]:
        """Return the methods that are trained on a split, each with the split's data as it takes them."""
        return [(self, work)]

    def inputs(self, work: SplitData, rows: Indices) -> Any:
        """Return the inputs of documents, as the trained method takes them."""
        return work.inputs(self.spec, rows)

    def fit(self, work: SplitData) -> FittedMethod:  # noqa: ARG002
        """Train on the training documents of a split, as `solve` does, and return the trained method.

        Raises
        ------
        ValueError, FloatingPointError
            If the method can't be used on these documents, or has no trained state that can be saved.
        """
        made: Any = self.spec.predictions or self.spec.kernel
        raise ValueError(f"a model of {made.name!r} can't be saved")


def solve_batch(
    asked: Sequence[tuple[Method, Sequence[Split]]],
    problem: Problem,
    terms: int | None,
    matrices: MatrixCache,
    *,
    once: bool = False,
) -> list[list[SettingPredictions] | Exception]:
    """Solve methods that share inner products, split by split.

    Parameters
    ----------
    asked : sequence of (Method, sequence of Split)
        Methods with equal values of `joins`, each with the splits to solve.
    problem, terms, matrices
        As in `Method.solve`.
    once : bool
        True if nothing else needs what they share.

    Returns
    -------
    list of (list of SettingPredictions or Exception)
        For each method its predictions, split by split, or the error that prevents its training on one of them.
    """
    first: Any = asked[0][0]
    if first.joins(problem, terms) is None:
        return [method.solve(problem, splits, terms, matrices) for method, splits in asked]
    solved: dict[tuple[int, Split], Any] = {}
    failed: dict[int, Exception] = {}
    for split in dict.fromkeys(split for _, splits in asked for split in splits):
        pending = [i for i, (_, splits) in enumerate(asked) if split in splits and i not in failed]
        if pending:
            data = first.data_of(problem, split, terms, matrices)
            results = first.solve_joined([asked[i][0] for i in pending], data, once=once)
            solved |= {(i, split): result for i, result in zip(pending, results, strict=True)}
            failed |= {i: result for (i, _), result in solved.items() if isinstance(result, Exception)}
    return [failed[i] if i in failed else [solved[i, split] for split in splits] for i, (_, splits) in enumerate(asked)]
