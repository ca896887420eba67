"""Trained methods: compute decision values and classes of new documents from their counts.

Support vector machines keep only the counts of their support vectors. Weights, kernel values, decision values and votes
are computed by the functions that a run uses. Only a decision value that is 0 up to rounding may differ in sign: its
sum has fewer rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from benchmark.classifiers.svm import MulticlassSvm, predict_class_codes, svm_class_scores, svm_decision_values
from benchmark.kernels.dirichlet_prior import dirichlet_products
from benchmark.kernels.gram import InnerProducts, LazyGram
from benchmark.kernels.products import StreamedProducts, self_products
from benchmark.methods.plugin_outputs import scores_of, value_of_class
from benchmark.representation import canonical_csr, power_transform, row_norms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.classifiers.hyperplanes import Hyperplanes
    from benchmark.config.model import MethodSpec
    from benchmark.kernels.base import Kernel
    from benchmark.methods.learned_classes import LearnedClasses
    from benchmark.methods.split_data import SplitData
    from benchmark.methods.views import FittedView

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedMethod(ABC):
    """Trained method; its methods take the inputs of new documents: counts over its V terms, shape (m, V), say.

    Parameters
    ----------
    view : FittedView
    learned : LearnedClasses
    """

    view: FittedView
    learned: LearnedClasses

    @abstractmethod
    def values(self, counts: sp.csr_array) -> Array:
        """Return the decision values of each machine, hyperplane or class, shape (m, n_values).

        Everything is computed on the calling thread.

        Raises
        ------
        FloatingPointError
            If a decision value is not finite.
        """

    def predict_from(self, values: Array) -> NDArray[Any]:
        """Return the predicted class of each document, shape (m,), or its class indicators, shape (m, k)."""
        return self.learned.predict_from(values)

    def class_values(self, values: Array) -> Array:
        """Return a decision value for each class, shape (m, k), see `LearnedClasses.class_values`."""
        return self.learned.class_values(values)

    def values_of_rows(self, matrix: sp.csr_array) -> Array:
        """Return `class_values` of counts over all terms of its problem, of which it takes its own, shape (m, k)."""
        return self.class_values(self.values(self.view.own_terms(matrix)))

    def over_own_terms(self) -> Self:
        """Return the method for counts of its own terms alone, without their columns in its problem."""
        return replace(self, view=replace(self.view, terms=None))


@dataclass(frozen=True, eq=False)
class FittedMachines(FittedMethod):
    """Support vector machines on a kernel that is an elementwise function of inner products.

    Parameters
    ----------
    counts : CSR array, shape (s, V)
        Term counts of the support vectors, sorted by class where each document has exactly one.
    machines : MulticlassSvm
        Machines whose support indexes the rows of `counts`.
    kernel : Kernel
    """

    counts: sp.csr_array
    machines: MulticlassSvm
    kernel: Kernel

    @classmethod
    def of(cls, work: SplitData, spec: MethodSpec, rows: NDArray[np.intp], machines: MulticlassSvm) -> Self:
        """Return the machines of a split with the counts of their support vectors; `rows` are its training rows."""
        used = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *(m.support for m in machines.machines)]))
        bounds = np.searchsorted(used, machines.class_bounds)
        renumbered = (replace(m, support=np.searchsorted(used, m.support), seconds=0.0) for m in machines.machines)
        kernel = spec.build_kernel()
        machines = MulticlassSvm(machines.scheme, bounds, tuple(renumbered))
        return cls(work.view(spec), work.learned, work.selected_counts[rows[used]], machines, kernel)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone, without what was computed from them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def values(self, counts: sp.csr_array) -> Array:
        """Return the decision values of each machine, shape (m, n_machines)."""
        m, s = counts.shape[0], self.counts.shape[0]
        if not self.machines.machines:
            return np.empty((m, 0))
        products, normalization = self._products(counts), self.view.normalization
        return svm_decision_values(
            self.machines, LazyGram(self.kernel, products, normalization, np.arange(m), np.arange(m, m + s))
        )

    def predict_from(self, values: Array) -> NDArray[Any]:
        """Return the predicted class of each document, by votes of pairs or the largest value, see `FittedMethod`."""
        if self.learned.multilabel:
            return super().predict_from(values)
        return self.learned.columns[predict_class_codes(self.machines, values)[0]].astype(np.int32)

    def class_values(self, values: Array) -> Array:
        """Return a decision value for each class, shape (m, k), of pairs as `svm_class_scores` adds them."""
        return super().class_values(values if self.learned.multilabel else svm_class_scores(self.machines, values))

    def _products(self, counts: sp.csr_array) -> InnerProducts:
        """Return the inner products of the m documents in `counts` and the s support vectors.

        Rows 0 to m - 1 are the documents, rows m to m + s - 1 the support vectors.
        """
        support, m, s = self._support, counts.shape[0], self.counts.shape[0]
        view, exponent = self.view, self.kernel.exponent
        new = self._embedded(counts)
        if view.dirichlet:
            weights = sp.vstack([new.points, support.points], format="csr")
            return dirichlet_products(weights, exponent, view.dirichlet, n_rows=m)
        divisors = {view.normalization: np.concatenate([new.divisors, support.divisors])}
        products = np.concatenate([self_products(new.points), self_products(support.points)])
        rows = self._streamed.of(new.points)
        return InnerProducts(rows, np.arange(m, m + s), products, divisors, exponent, counts.shape[1])

    def _embedded(self, counts: sp.csr_array) -> _Embedded:
        """Return points and divisors as in `SplitData.products`: `LazyGram` normalizes only with all terms."""
        view, exponent, n = self.view, self.kernel.exponent, counts.shape[0]
        if view.selected and not view.dirichlet:
            return _Embedded(power_transform(view.points(counts), exponent), np.ones(n))
        weights = view.weights(counts)
        if view.dirichlet:
            return _Embedded(weights, np.ones(n))
        return _Embedded(power_transform(weights, exponent), row_norms(weights, view.normalization))

    @cached_property
    def _support(self) -> _Embedded:
        return self._embedded(self.counts)

    @cached_property
    def _streamed(self) -> StreamedProducts:
        return StreamedProducts(self._support.points, np.arange(self.counts.shape[0]))


@dataclass(frozen=True, eq=False)
class _Embedded:
    """Points, shape (n, V), and the divisors of their inner products, shape (n,)."""

    points: sp.csr_array
    divisors: Array


@dataclass(frozen=True, eq=False)
class FittedHyperplanes(FittedMethod):
    """One hyperplane for each learned class, for documents with several classes."""

    hyperplanes: Hyperplanes

    def values(self, counts: sp.csr_array) -> Array:
        """Return the decision values of each learned class, shape (m, n_learned)."""
        return self.hyperplanes.values(canonical_csr(self.view.points(counts)))


@dataclass(frozen=True, eq=False)
class FittedPoints(FittedMethod):
    """Classifier of points, or one binary classifier for each learned class where documents may have several."""

    models: tuple[Any, ...]

    def over_own_terms(self) -> Self:
        """Return the method for counts of its own terms alone, without what was needed for training only."""
        models = tuple(map(copy, self.models))
        for model in models:
            for name in getattr(model, "training_only", ()):
                vars(model).pop(name, None)
        return replace(super().over_own_terms(), models=models)

    def values(self, counts: sp.csr_array) -> Array:
        """Return the scores of the classes in the order of the classifier's `classes_`, shape (m, n_learned).

        Where documents may have several classes, return for each learned class its decision value against the rest,
        shape (m, n_learned).
        """
        points = self.view.points(counts)
        if not self.learned.multilabel:
            return scores_of(self.models[0], points)
        values = np.empty((points.shape[0], len(self.models)))
        for column, model in enumerate(self.models):
            values[:, column] = value_of_class(model, points)
        return values

    def predict_from(self, values: Array) -> NDArray[Any]:
        """Return the predicted class of each document, of ties the first of `classes_`, see `FittedMethod`."""
        if self.learned.multilabel:
            return super().predict_from(values)
        return np.asarray(self.models[0].classes_[values.argmax(axis=1)], dtype=np.int32)

    def class_values(self, values: Array) -> Array:
        """Return a decision value for each class, shape (m, k), see `LearnedClasses.class_values`."""
        by_code = values if self.learned.multilabel else values[:, self.models[0].classes_.argsort()]
        return super().class_values(by_code)
