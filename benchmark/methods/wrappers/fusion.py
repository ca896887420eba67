"""Fusion of methods: the sum of their standardized decision values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.methods.multilabel import argmax_predictions, learned_classes, multilabel_predictions
from benchmark.methods.out_of_fold import out_of_fold_values
from benchmark.methods.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.base import Method
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FusedMethod:
    """Method that adds the decision values of others.

    The values of each method are centred over the classes, where a document has one class, and divided by the standard
    deviation of its out-of-fold values: those of each training document by a method that was trained without it.

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

    spec: MethodSpec
    methods: tuple[Method, ...]
    problems: tuple[Problem, ...]
    batched: bool = False
    #: The folds of the training documents are random.
    uses_seed: ClassVar[bool] = True

    @property
    def content(self) -> list[Any]:
        """What decides the predictions beside the splits, as results are keyed."""
        return [
            [
                problem.key,
                each.spec.representation.resolved,
                None if each.spec.kernel is None else each.spec.kernel.resolved,
                each.spec.classifier.resolved,
                each.spec.threshold,
                weight,
            ]
            for each, problem, weight in zip(self.methods, self.problems, self._weights, strict=True)
        ]

    @property
    def _weights(self) -> tuple[float, ...]:
        return () if self.spec.fused is None else self.spec.fused.weights

    def solve(
        self,
        problem: Problem,
        splits: Sequence[Split],
        terms: int | None,
        bench: MatrixCache,
    ) -> list[SettingPredictions]:
        """Train the methods on each split and on its folds, and predict by the sum, see `Method.solve`.

        Raises
        ------
        ValueError
            If a method has no trained state with decision values.
        FloatingPointError
            If a decision value is not finite.
        """
        return [self._of_split(problem, split, terms, bench) for split in splits]

    def fit(self, *_: object) -> FittedMethod:
        """Raise ValueError: a fusion can't be kept yet."""
        raise ValueError("a fusion of methods can't be kept as a model")

    def _of_split(self, problem: Problem, split: Split, terms: int | None, bench: MatrixCache) -> SettingPredictions:
        watch, members = Stopwatch(), problem.members[split.train]
        columns, _ = learned_classes(members, problem.documents.classes)
        if not problem.multilabel:
            columns = np.arange(members.shape[1])
        total = np.zeros((len(split.test), len(columns)))
        for method, own, weight in zip(self.methods, self.problems, self._weights, strict=True):

            def fit(part: Split, method: Method = method, own: Problem = own) -> FittedMethod:
                return method.fit(own, part, terms, bench)

            outside = self._centred(out_of_fold_values(own, split, fit)[:, columns], problem)
            scale = float(np.std(outside[np.isfinite(outside).all(axis=1)]))
            watch.lap("extraction")
            fitted = fit(split)
            watch.lap("training")
            kept, matrix = fitted.learned.terms, own.counts.matrix[split.test]
            values = fitted.class_values(fitted.values(matrix if kept is None else matrix[:, kept]))[:, columns]
            total += weight * self._centred(values, problem) / (scale if scale > 0 else 1.0)
            watch.lap("testing")
        if problem.multilabel:
            return multilabel_predictions(members, columns, total, watch.seconds())
        return argmax_predictions(members.shape[1], columns, total, watch.seconds())

    @staticmethod
    def _centred(values: Array, problem: Problem) -> Array:
        """Return the values less each document's mean over the classes; where it may have several, 0 is the border."""
        return values if problem.multilabel else values - values.mean(axis=1, keepdims=True)
