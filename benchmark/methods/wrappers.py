"""Methods that train other methods, and score training documents by methods that were trained without them.

A fusion adds the standardized decision values of methods; thresholds are learned for the decision values of one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from benchmark.evaluation.protocols import KFold
from benchmark.evaluation.splits import Split
from benchmark.methods.base import Method
from benchmark.methods.checked_classifiers import check_real_array
from benchmark.methods.fitted import FittedMethod
from benchmark.methods.split_data import Stopwatch
from benchmark.system.user_classes import locate_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmark.config.components import Component
    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.methods.problem import Decisions, LearnedClasses, Problem
    from benchmark.methods.split_data import SplitData
    from benchmark.system.arrays import Array

    #: Scale of a method's out-of-fold values, class values of the test documents, and seconds by `TIMERS`, by a key.
    KnownValues = dict[str, tuple[float, Array, Array]]

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
    score: Callable[[Split], Array],
    n_folds: int = INNER_FOLDS,
) -> Array:
    """Return out-of-fold class values of a split's training documents, shape (n_train, k).

    `score` trains on a fold and returns the values of its test documents. Documents that none of the first `n_folds`
    folds tests have NaN.
    """
    values = np.full(problem.members.shape, np.nan)
    for fold in inner_folds(problem, split)[:n_folds]:
        values[fold.test] = score(fold)
    return values[split.train]


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


class FittedFusion(NamedTuple):
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

    def scale(self, learned: LearnedClasses) -> float:
        """Return the standard deviation of the centred values of documents that have all values, or else 1."""
        values = centred_values(self.outside, learned)
        known = values[np.isfinite(values).all(axis=1)]
        scale = float(np.std(known)) if known.size else 0.0
        return scale if scale > SMALLEST_SCALE else 1.0


class FusedMethod(Method):
    """Method that adds the decision values of others.

    The values of each method are centred over the classes, where a document has one class, and divided by the standard
    deviation of its out-of-fold values: those of each training document by a method that was trained without it, on all
    folds of the training documents or on one, see `FusedMethods`.

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

    uses_seed: ClassVar[bool] = True  # the folds of the training documents are random

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
        keys = [json.dumps([member, self.fused.scale], sort_keys=True) for member in self._members]
        for number, key in enumerate(keys):
            if key not in known:
                watch, own = Stopwatch(), self._trained(number, work)
                scale = own.scale(work.learned)
                watch.lap("training")
                tested = own.fitted.class_values(own.data.inputs(self.methods[number].spec)[work.split.test])
                watch.lap("testing")
                known[key] = scale, tested, watch.seconds()
        scales, values, seconds = zip(*(known[key] for key in keys), strict=True)
        rule = StandardizedSum(self.fused.weights, scales, work.learned)
        return work.learned.decide(rule.of(values)).timed(np.sum(seconds, axis=0))

    def train(self, work: SplitData) -> FittedFusion:
        """Train the methods on the training documents of a split and on their folds, as `solve` does.

        Raises
        ------
        ValueError, FloatingPointError
            If one of its methods can't be used on these documents, or has no trained state; the message names it.
        """
        trained = tuple(self._trained(number, work) for number in range(len(self.methods)))
        scales = tuple(each.scale(work.learned) for each in trained)
        rule = StandardizedSum(self.fused.weights, scales, work.learned)
        return FittedFusion(trained, rule, rule.learned.class_values(rule.of([each.outside for each in trained])))

    def _trained(self, number: int, work: SplitData) -> FusionMember:
        """Train one of the methods on the split and on folds of its training documents."""
        method, problem, n_folds = self.methods[number], self.problems[number], _N_FOLDS[self.fused.scale]

        def data_of(split: Split) -> SplitData:
            return method.data_of(problem, split, work.terms, work.matrices)

        data = data_of(work.split)
        try:
            fitted = method.fit(data)
            outside = out_of_fold_values(problem, work.split, lambda fold: method.score(data_of(fold)), n_folds)
        except (ValueError, FloatingPointError) as error:
            raise ValueError(f"{self.fused.names[number]}: {locate_error(error, short=True) or error}") from error
        return FusionMember(data, fitted, outside)


class ThresholdedMethod(Method):
    """Method whose thresholds are learned from the training documents of each split.

    Parameters
    ----------
    method : Method
        The method whose decision values have thresholds.
    rule : Component
        The rule that learns them.
    """

    def __init__(self, method: Method, rule: Component) -> None:
        super().__init__(method.spec, method.aggregate, batched=method.batched)
        self.method, self.rule = method, rule

    @property
    def uses_seed(self) -> bool:
        """True if the wrapped method uses the seed or thresholds are learned by random folds."""
        return self.method.uses_seed or hasattr(self.rule.cls, "fit")

    def fit(self, work: SplitData) -> FittedThresholds:
        """Train on a split, and on folds of its training documents where the rule learns thresholds.

        Raises
        ------
        ValueError
            If a training document has no class and the rule gives each document one; or if a plug-in's rule has not
            one finite threshold for each class.
        """
        members, rule, whole = work.members, self.rule.build(), self.method.fit(work)
        columns, at_least_one = whole.learned.columns, getattr(rule, "at_least_one", False)
        if at_least_one and not members.any(axis=1).all():
            none = int(np.count_nonzero(~members.any(axis=1)))
            raise ValueError(f"threshold: {self.rule.name}, but {none:,} training documents have no class")
        thresholds = np.zeros(len(columns))
        if hasattr(rule, "fit"):
            values = out_of_fold_values(
                work.whole, work.split, lambda fold: self.method.score(replace(work, split=fold))
            )
            rule.fit(values[:, columns], members[:, columns])
            what = f"the threshold rule {type(rule).__name__}"
            thresholds = check_real_array(getattr(rule, "thresholds_", None), (len(columns),), what)
        return FittedThresholds(whole.view, whole.learned, whole, thresholds, at_least_one)


@dataclass(frozen=True, eq=False)
class FittedThresholds(FittedMethod):
    """Trained method with thresholds.

    Parameters
    ----------
    method : FittedMethod
    thresholds : float64 array, shape (n_learned,)
    at_least_one : bool
        True if at least one class is predicted for each document.
    """

    method: FittedMethod
    thresholds: Array
    at_least_one: bool

    def decide(self, inputs: Any) -> Decisions:
        """Return the decisions by the values less the threshold of each learned class, see `FittedMethod`.

        With `at_least_one`, a document without any class gets the one with the largest value (ties: the first).
        """
        values = self.method.class_values(inputs)[:, self.learned.columns] - self.thresholds
        decisions = self.learned.decide(values)
        if self.at_least_one and values.shape[1]:
            none = np.flatnonzero(~decisions.predicted.any(axis=1))
            decisions.predicted[none, self.learned.columns[values[none].argmax(axis=1)]] = True
        return decisions
