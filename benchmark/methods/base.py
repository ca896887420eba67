"""Base class of methods: train on the splits of a task and predict its test documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.methods.split_data import SplitData, Stopwatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.splits import Split
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem
    from benchmark.system.arrays import Array


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
        if self.joins(problem, terms) is None:
            return [self.solve_split(self.data_of(problem, split, terms, matrices)) for split in splits]
        (predictions,) = solve_batch([(self, splits)], problem, terms, matrices)
        if isinstance(predictions, Exception):
            raise predictions
        return predictions

    def data_of(self, problem: Problem, split: Split, terms: int | None, matrices: MatrixCache) -> SplitData:
        """Return the data of a split, with terms selected as the configuration asks."""
        return SplitData(problem.pruned(split.train), split, terms, self.aggregate, matrices)

    def solve_split(self, work: SplitData) -> SettingPredictions:
        """Train on a split and predict its test documents."""
        watch = Stopwatch()
        fitted = self.fit(work)
        watch.lap("training")
        decisions = fitted.decide(work.inputs(self.spec)[work.split.test])
        watch.lap("testing")
        return decisions.timed(watch.seconds())

    def score(self, work: SplitData) -> Array:
        """Train on a split and return the class values of its test documents, shape (m, k)."""
        return self.fit(work).class_values(work.inputs(self.spec)[work.split.test])

    def fit(self, work: SplitData) -> FittedMethod:  # noqa: ARG002
        """Train on the training documents of a split, as `solve` does, and return the trained method.

        Raises
        ------
        ValueError, FloatingPointError
            If the method can't be used on these documents, or has no trained state that can be saved.
        """
        raise ValueError(f"a model with the kernel {self.spec.kernel and self.spec.kernel.name!r} can't be saved")


def solve_batch(
    asked: Sequence[tuple[Method, Sequence[Split]]],
    problem: Problem,
    terms: int | None,
    matrices: MatrixCache,
    *,
    once: bool = False,
) -> list[list[SettingPredictions] | Exception]:
    """Solve methods that share inner products or trained members, split by split.

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
    found: list[dict[int, SettingPredictions] | Exception] = [{} for _ in asked]
    for split in {id(each): each for _, splits in asked for each in splits}.values():
        pending = {
            i: own for i, (_, splits) in enumerate(asked) if split in splits and isinstance(own := found[i], dict)
        }
        if pending:
            data = first.data_of(problem, split, terms, matrices)
            results = first.solve_joined([asked[i][0] for i in pending], data, once=once)
            for (i, own), result in zip(pending.items(), results, strict=True):
                if isinstance(result, Exception):
                    found[i] = result
                else:
                    own[id(split)] = result
    ordered = zip(found, asked, strict=True)
    return [own if isinstance(own, Exception) else [own[id(split)] for split in splits] for own, (_, splits) in ordered]
