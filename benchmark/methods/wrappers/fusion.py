"""Fusion of methods: the sum of their standardized decision values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmark.methods.base import Method
from benchmark.methods.split_data import SplitData
from benchmark.methods.stopwatch import Stopwatch
from benchmark.methods.wrappers.out_of_fold import INNER_FOLDS, out_of_fold_values
from benchmark.system.user_classes import locate_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.splits import Split
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.problem import LearnedClasses, Problem

    Array = NDArray[np.float64]
    #: Scale of a method's out-of-fold values, class values of the test documents, and seconds by `TIMERS`, by a key.
    KnownValues = dict[str, tuple[float, Array, Array]]

#: Number of the inner folds whose documents are scored.
_N_FOLDS = {"out-of-fold": INNER_FOLDS, "hold-out": 1}
#: Standard deviations below it count as none: the values are equal, and are added as they are.
SMALLEST_SCALE = 1e-80


@dataclass(frozen=True, eq=False)
class StandardizedSum:
    """Sum of the decision values of methods, each centred, divided by its scale and multiplied by its weight.

    Parameters
    ----------
    weights, scales : tuple of float
        One for each method.
    learned : LearnedClasses
        Where a document may have several classes, its values are not centred, since 0 is the border.
    """

    weights: tuple[float, ...]
    scales: tuple[float, ...]
    learned: LearnedClasses

    def of(self, values: Sequence[Array]) -> Array:
        """Return the sum for each learned class, shape (m, n_learned), of class values of each method, shape (m, k)."""
        total = np.zeros((len(values[0]), len(self.learned.columns)))
        for each, weight, scale in zip(values, self.weights, self.scales, strict=True):
            total += weight * centred_values(each, self.learned) / scale
        return total


def centred_values(values: Array, learned: LearnedClasses) -> Array:
    """Return the values of the learned classes, of class values, shape (m, k), less each document's mean over them.

    Where a document may have several classes, they are returned as they are.
    """
    chosen = values[:, learned.columns]
    return chosen if learned.multilabel else chosen - chosen.mean(axis=1, keepdims=True)


def value_scale(values: Array) -> float:
    """Return the standard deviation of the values of documents that have a finite value of each class, or else 1."""
    known = values[np.isfinite(values).all(axis=1)]
    scale = float(np.std(known)) if known.size else 0.0
    return scale if scale > SMALLEST_SCALE else 1.0


@dataclass(frozen=True, eq=False)
class FittedFusion:
    """Methods that were trained on one split, and how their values are added.

    Parameters
    ----------
    members : tuple of FusionMember
    rule : StandardizedSum
    outside : float64 array, shape (n_train, k)
        Class values of the sum of out-of-fold values; NaN for training documents that no fold tests.
    """

    members: tuple[FusionMember, ...]
    rule: StandardizedSum
    outside: Array


class FusionMember(NamedTuple):
    """One of a fusion's methods, trained: the split as the method takes it, and its out-of-fold class values."""

    data: SplitData
    fitted: FittedMethod
    outside: Array


class FusedMethod(Method):
    """Method that adds the decision values of others.

    The values of each method are centred over the classes, where a document has one class, and divided by the standard
    deviation of its out-of-fold values: those of each training document by a method that was trained without it, on all
    folds of the training documents or on one, see `FUSION_SCALES`.

    Parameters
    ----------
    spec : MethodSpec
        Its `fused` has the weights.
    methods : tuple of Method
    problems : tuple of Problem
        The documents of each method, which differ in their terms alone.
    batched : bool
        True if the splits of a setting are stored as one entry.
    """

    def __init__(
        self, spec: MethodSpec, methods: tuple[Method, ...], problems: tuple[Problem, ...], *, batched: bool = False
    ) -> None:
        super().__init__(spec, methods[0].aggregate, batched=batched)
        if spec.fused is None:
            raise ValueError("this method is no fusion")
        self.fused, self.methods, self.problems = spec.fused, methods, problems

    @property
    def uses_seed(self) -> bool:
        """True: the folds of the training documents are random."""
        return True

    def joins(self, problem: Problem, terms: int | None) -> Any:  # noqa: ARG002
        """Return a value of all fusions, which may have methods in common."""
        return "fusions"

    @property
    def content(self) -> list[Any]:
        """What decides the predictions beside the splits, as results are keyed."""
        return [self.fused.scale, *map(list, zip(self._members, self.fused.weights, strict=True))]

    @property
    def _members(self) -> list[list[Any]]:
        """What decides the values of each method, beside the splits."""
        return [
            [problem.key, each.spec.representation.resolved, *(part.resolved for part in each.spec.components)]
            for each, problem in zip(self.methods, self.problems, strict=True)
        ]

    def solve_joined(
        self,
        methods: Sequence[FusedMethod],
        work: SplitData,
        *,
        once: bool,  # noqa: ARG002 - the signature of methods
    ) -> list[SettingPredictions | Exception]:
        """Predict by the sum of each fusion; a method that some have in common is trained once, see `solve_batch`."""
        known: KnownValues = {}
        results: list[SettingPredictions | Exception] = []
        for each in methods:
            try:
                results.append(each._solved(work, known))  # noqa: SLF001 - of this class
            except (ValueError, FloatingPointError) as error:
                results.append(error)
        return results

    def _solved(self, work: SplitData, known: KnownValues) -> SettingPredictions:
        """Predict the test documents of a split; `known` has the values of methods that other fusions trained."""
        members, learned = [], work.learned
        for number, member in enumerate(self._members):
            key = json.dumps([member, self.fused.scale], sort_keys=True)
            if key not in known:
                watch = Stopwatch()
                data, fitted, outside = self._trained(number, work)
                scale = value_scale(centred_values(outside, learned))
                watch.lap("training")
                tested = fitted.class_values(data.inputs(self.methods[number].spec)[work.split.test])
                watch.lap("testing")
                known[key] = scale, tested, watch.seconds()
            members.append(known[key])
        scales, values, seconds = zip(*members, strict=True)
        rule = StandardizedSum(self.fused.weights, scales, learned)
        return learned.decide(rule.of(values)).timed(np.sum(seconds, axis=0))

    def train(self, work: SplitData) -> FittedFusion:
        """Train the methods on the training documents of a split and on their folds, as `solve` does.

        Raises
        ------
        ValueError, FloatingPointError
            If one of its methods can't be used on these documents, or has no trained state; the message names it.
        """
        trained = tuple(self._trained(number, work) for number in range(len(self.methods)))
        outside = [each.outside for each in trained]
        scales = tuple(value_scale(centred_values(values, work.learned)) for values in outside)
        rule = StandardizedSum(self.fused.weights, scales, work.learned)
        return FittedFusion(trained, rule, rule.learned.class_values(rule.of(outside)))

    def _trained(self, number: int, work: SplitData) -> FusionMember:
        """Train one of the methods on the split and on folds of its training documents."""
        method, problem, n_folds = self.methods[number], self.problems[number], _N_FOLDS[self.fused.scale]

        def data_of(split: Split) -> SplitData:
            return SplitData.of(problem, split, work.terms, method.aggregate, work.matrices)

        def score(fold: Split) -> Array:
            return method.score(data_of(fold))

        data = data_of(work.split)
        try:
            return FusionMember(data, method.fit(data), out_of_fold_values(problem, work.split, score, n_folds))
        except (ValueError, FloatingPointError) as error:
            raise ValueError(f"{self.fused.names[number]}: {locate_error(error, short=True) or error}") from error
