"""Build the method of a specification; methods on top of others, and on top of predictions that were made elsewhere.

A fusion adds the standardized decision values of methods; thresholds are learned for the decision values of one. Both
score training documents by methods that were trained without them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from benchmark.evaluation.predictions import TIMERS, SettingPredictions
from benchmark.evaluation.protocols import KFold
from benchmark.evaluation.splits import Split
from benchmark.kernels import is_elementwise_kernel
from benchmark.methods.base import FittedMethod, Method
from benchmark.methods.checked_classifiers import check_real_array, warned_of_other_labels
from benchmark.methods.learned_kernels import FisherMethod, TopMethod
from benchmark.methods.method_files import ID, SIZE, SPLIT, predictions_of, read_predictions
from benchmark.methods.point_classifiers import PointClassifierMethod
from benchmark.methods.split_data import SplitData, depends_on_split
from benchmark.methods.svm_method import HyperplaneMethod, SharedMatrixSvm, SvmMethod
from benchmark.system.tags import tags_of
from benchmark.system.user_classes import locate_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmark.config.components import Component
    from benchmark.config.model import MethodSpec, TermSelection
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Decisions, LearnedClasses, Problem
    from benchmark.system.arrays import Array, Indices

#: Folds of the cross-validation that fits thresholds and probabilities, and that chooses candidates where all documents
#: are training documents.
INNER_FOLDS = 5
#: Number of the inner folds whose documents are scored.
_N_FOLDS = {"out-of-fold": INNER_FOLDS, "hold-out": 1}


def build_method(spec: MethodSpec, problem: Problem, terms: TermSelection | None, *, replicated: bool) -> Method:
    """Return the method that solves a problem's splits.

    Parameters
    ----------
    spec : MethodSpec
    problem : Problem
    terms : TermSelection or None
        How terms are selected; None for all terms.
    replicated : bool
        True if the splits are many small random training sets from one collection.

    Returns
    -------
    Method
    """
    aggregate, kernel = "sum" if terms is None else terms.aggregate, spec.kernel
    two = not problem.multilabel and len(problem.documents.classes) == 2
    same = two and replicated and not (terms or problem.pruning or depends_on_split(spec.representation))
    kinds: dict[str, type[Method]] = {"targets": TopMethod, "scores": FisherMethod}
    if problem.multilabel and not spec.representation.dirichlet:
        kinds["points"] = HyperplaneMethod
    method: Method
    if spec.predictions is not None:
        method = GivenPredictionsMethod(spec, aggregate, batched=replicated)
    elif kernel is None:
        method = PointClassifierMethod(spec, aggregate, batched=replicated)
    elif (solved_by := tags_of(kernel.cls).solved_by) in kinds:
        method = kinds[solved_by](spec, aggregate)
    elif same and is_elementwise_kernel(kernel.cls) and spec.classifier.build().scheme == "one-vs-one":
        method = SharedMatrixSvm(spec, aggregate, batched=True)
    else:
        method = SvmMethod(spec, aggregate)
    return ThresholdedMethod(method, spec.threshold) if spec.threshold is not None and problem.multilabel else method


# --- Values of training documents ---


def inner_folds(problem: Problem, split: Split) -> list[Split]:
    """Return the folds of a split's training documents, as rows of the problem's documents.

    The only document of a class is in the training documents of every fold.
    """
    rows = split.train
    protocol = KFold(INNER_FOLDS, problem.seed, stratified=not problem.multilabel, keep_lone=True)
    folds = protocol.splits(problem.documents.take(rows))
    return [Split(fold.name, rows[fold.train], rows[fold.test], fold.number) for fold in folds]


def out_of_fold_values(
    problem: Problem, split: Split, score: Callable[[Split], Array], n_folds: int = INNER_FOLDS
) -> Array:
    """Return out-of-fold class values of a split's training documents, shape (n_train, k).

    `score` trains on a fold and returns the values of its test documents. Documents that none of the first `n_folds`
    folds tests have NaN.
    """
    values = np.full(problem.members.shape, np.nan)
    for fold in inner_folds(problem, split)[:n_folds]:
        values[fold.test] = score(fold)
    return values[split.train]


# --- Fusion ---


def centred_values(values: Array, learned: LearnedClasses) -> Array:
    """Return the values of the learned classes, of class values, shape (m, k), less each document's mean over them.

    Where a document may have several classes, they are returned as they are, since 0 is the border.
    """
    chosen = values[:, learned.columns]
    return chosen if learned.multilabel else chosen - chosen.mean(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class FittedFusion(FittedMethod):
    """Sum of the decision values of trained methods, each centred, divided by its scale and multiplied by its weight.

    Parameters
    ----------
    members : tuple of FittedMethod
    weights, scales : tuple of float
        One for each member.
    """

    members: tuple[FittedMethod, ...]
    weights: tuple[float, ...]
    scales: tuple[float, ...]

    def decide(self, inputs: Sequence[Any]) -> Decisions:
        """Return the decisions on documents, from the inputs of each member, see `FittedMethod`."""
        values = [member.class_values(each) for member, each in zip(self.members, inputs, strict=True)]
        return fuse(values, self.weights, self.scales, self.learned)


def fuse(
    values: Sequence[Array], weights: Sequence[float], scales: Sequence[float], learned: LearnedClasses
) -> Decisions:
    """Return the decisions by the weighted sum of class values of several methods, each of shape (m, k)."""
    total = np.zeros((len(values[0]), len(learned.columns)))
    for each, weight, scale in zip(values, weights, scales, strict=True):
        total += weight * centred_values(each, learned) / scale
    return learned.decide(total)


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

    @property
    def content(self) -> list[Any]:
        """What decides the predictions beside the splits, as results are keyed."""
        return [self.fused.scale, *map(list, zip(self._contents, self.fused.weights, strict=True))]

    @property
    def _contents(self) -> list[list[Any]]:
        """What decides the values of each method, beside the splits."""
        return [
            [problem.key, each.spec.representation.resolved, *(part.resolved for part in each.spec.components)]
            for each, problem in zip(self.methods, self.problems, strict=True)
        ]

    def data_of(self, problem: Problem, split: Split, terms: int | None, matrices: MatrixCache) -> SplitData:
        """Return the data of a split over all terms: each method selects its own."""
        return SplitData(problem, split, terms, self.aggregate, matrices)

    def members(self, work: SplitData) -> list[tuple[Method, SplitData]]:
        """Return the methods, each with the split's data as it takes them."""
        pairs = zip(self.methods, self.problems, strict=True)
        return [(each, each.data_of(problem, work.split, work.terms, work.matrices)) for each, problem in pairs]

    def inputs(self, work: SplitData, rows: Indices) -> list[Any]:
        """Return the inputs of documents for each method."""
        return [method.inputs(data, rows) for method, data in self.members(work)]

    def solve_split(self, work: SplitData) -> SettingPredictions:
        """Train on a split and predict its test documents; a method that several fusions have is trained once."""
        found = []
        for number, (content, (_, data)) in enumerate(zip(self._contents, self.members(work), strict=True)):
            key, score = (work.split, work.terms, self.fused.scale, repr(content)), partial(self._scored, number, data)
            found.append(work.matrices.remembered("fused methods", work.whole.key, key, score))
        scales, values, seconds = zip(*found, strict=True)
        return fuse(values, self.fused.weights, scales, work.learned).timed(np.sum(seconds, axis=0))

    def fit(self, work: SplitData) -> FittedFusion:
        """Train the methods on a split and on folds of its training documents, see `Method.fit`.

        Raises
        ------
        ValueError
            If one of the methods can't be used on these documents, or has no trained state; the message names it.
        """
        trained = [self._trained(number, data) for number, (_, data) in enumerate(self.members(work))]
        members, scales = zip(*trained, strict=True)
        return FittedFusion(work.learned, members, self.fused.weights, scales)

    def _scored(self, number: int, data: SplitData) -> tuple[float, Array, Array]:
        """Train one of the methods; return its scale, the class values of the test documents, and its seconds."""
        fitted, scale = self._trained(number, data)
        data.watch.lap("training")
        values = fitted.class_values(self.methods[number].inputs(data, data.split.test))
        data.watch.lap("testing")
        return scale, values, data.watch.seconds()

    def _trained(self, number: int, data: SplitData) -> tuple[FittedMethod, float]:
        """Train one of the methods; return it with the standard deviation of its out-of-fold values, or else 1."""
        method, problem, n_folds = self.methods[number], self.problems[number], _N_FOLDS[self.fused.scale]

        def score(fold: Split) -> Array:
            return method.score(method.data_of(problem, fold, data.terms, data.matrices))

        try:
            fitted = method.fit(data)
            outside = out_of_fold_values(problem, data.split, score, n_folds)
        except (ValueError, FloatingPointError) as error:
            raise ValueError(f"{self.fused.names[number]}: {locate_error(error, short=True) or error}") from error
        values = centred_values(outside, data.learned)
        known = values[np.isfinite(values).all(axis=1)]
        return fitted, float(np.std(known)) or 1.0 if known.size else 1.0


# --- Thresholds ---


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
            If a plug-in's rule has not one finite threshold for each class.
        """
        members, rule, whole = work.members, self.rule.build(), self.method.fit(work)
        columns, at_least_one = whole.learned.columns, getattr(rule, "at_least_one", False)
        thresholds = np.zeros(len(columns))
        if hasattr(rule, "fit"):
            score = self.method.score
            values = out_of_fold_values(work.whole, work.split, lambda fold: score(replace(work, split=fold)))
            rule.fit(values[:, columns], members[:, columns])
            what = f"the threshold rule {type(rule).__name__}"
            thresholds = check_real_array(getattr(rule, "thresholds_", None), (len(columns),), what)
        return FittedThresholds(whole.learned, whole, thresholds, at_least_one)


# --- Predictions of a file ---


class GivenPredictionsMethod(Method):
    """Method whose predictions stand in the file that its specification names."""

    def solve(
        self,
        problem: Problem,
        splits: Sequence[Split],
        terms: int | None,
        matrices: MatrixCache,  # noqa: ARG002 - the signature of methods
    ) -> list[SettingPredictions]:
        """Return the predictions of the file for the test documents of each split, see `Method.solve`.

        Raises
        ------
        ValueError
            If a test document has no prediction, or an unknown label; or if the file doesn't say which of several
            predictions of a document is of which split.
        """
        if terms is not None:
            raise ValueError("predictions of a file have no numbers of terms")
        file: Any = self.spec.predictions
        frame, tested = read_predictions(file), np.concatenate([split.test for split in splits])
        if len(splits) > 1 and SPLIT not in frame and len(np.unique(tested)) < len(tested):
            raise ValueError(f"{file.name}: documents are tested more than once: add a column 'split' (and 'size')")
        try:
            return warned_of_other_labels([_of_split(problem, split, frame) for split in splits])
        except ValueError as error:
            raise ValueError(f"{file.name}: {error}") from None


def _of_split(problem: Problem, split: Split, frame: pd.DataFrame) -> SettingPredictions:
    documents = problem.documents
    ids = [documents.ids[row] for row in split.test]
    wanted = pd.DataFrame({ID: ids, SPLIT: split.name, SIZE: str(len(split.train))})
    rows, predicted = predictions_of(wanted, frame, documents.classes, multilabel=problem.multilabel)
    scores = [f"score {name}" for name in documents.classes]
    values = rows[scores].to_numpy(dtype=np.float64) if set(scores) <= set(rows) else None
    return SettingPredictions.of_split(predicted, np.zeros(predicted.shape, dtype=bool), np.zeros(len(TIMERS)), values)
