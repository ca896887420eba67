"""Trained methods: a view of documents and what was trained on it, for new documents.

Support vector machines keep only the counts of their support vectors. Kernel values, decision values and votes are
computed by the functions that a run uses. Only a decision value that is 0 up to rounding may differ in sign: its sum
has fewer rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from benchmark.classifiers.svm import MulticlassSvm, predict_class_codes, svm_class_scores, svm_decision_values
from benchmark.kernels.gram import InnerProducts, LazyGram
from benchmark.kernels.products import StreamedProducts, self_products
from benchmark.methods.checked_classifiers import predicted_codes, value_of_class
from benchmark.methods.problem import Decisions
from benchmark.representation.weighting import canonical_csr, power_transform

if TYPE_CHECKING:
    import scipy.sparse as sp

    from benchmark.classifiers.matrix_svm import Hyperplanes
    from benchmark.config.model import MethodSpec
    from benchmark.kernels.base import Kernel
    from benchmark.methods.problem import LearnedClasses
    from benchmark.methods.split_data import FittedView, SplitData
    from benchmark.system.arrays import Array, Indices


@dataclass(frozen=True, eq=False)
class FittedMethod(ABC):
    """Trained method; it takes the inputs of new documents: counts of its terms, texts or vectors.

    Parameters
    ----------
    view : FittedView
    learned : LearnedClasses
    """

    view: FittedView
    learned: LearnedClasses

    @abstractmethod
    def decide(self, inputs: Any) -> Decisions:
        """Return the decisions on documents with decision values, computed on the calling thread.

        Raises
        ------
        FloatingPointError
            If a decision value is not finite.
        """

    def class_values(self, inputs: Any) -> Array:
        """Return the decision value of each class, shape (m, k)."""
        return np.asarray(self.decide(inputs).values)


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
    def of(cls, work: SplitData, spec: MethodSpec, rows: Indices, machines: MulticlassSvm) -> Self:
        """Return the machines of a split with the counts of their support vectors; `rows` are its training rows."""
        used = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *(m.support for m in machines.machines)]))
        bounds = np.searchsorted(used, machines.class_bounds)
        renumbered = (replace(m, support=np.searchsorted(used, m.support), seconds=0.0) for m in machines.machines)
        machines = MulticlassSvm(machines.scheme, bounds, tuple(renumbered))
        counts = work.problem.counts.matrix[rows[used]]
        return cls(work.view(spec), work.learned, counts, machines, spec.build_kernel())

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone, without what was computed from them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def decide(self, inputs: sp.csr_array) -> Decisions:
        """Return the decisions on documents, see `FittedMethod`."""
        m, s = inputs.shape[0], self.counts.shape[0]
        if not self.machines.machines:
            return svm_decisions(self.learned, self.machines, np.empty((m, 0)))
        # Rows 0 to m - 1 are the documents, m to m + s - 1 the support vectors.
        points, exponent, columns = self.view.points(inputs), self.kernel.exponent, np.arange(m, m + s)
        points = power_transform(points, exponent)
        squares = np.concatenate([self_products(points), self_products(self._support)])
        norms, streamed = {"none": np.ones(m + s)}, self._streamed.of(points)
        products = InnerProducts(streamed, columns, squares, norms, exponent, inputs.shape[1])
        gram = LazyGram(self.kernel, products, "none", np.arange(m), columns)
        return svm_decisions(self.learned, self.machines, svm_decision_values(self.machines, gram))

    @cached_property
    def _support(self) -> sp.csr_array:
        return power_transform(self.view.points(self.counts), self.kernel.exponent)

    @cached_property
    def _streamed(self) -> StreamedProducts:
        return StreamedProducts(self._support, np.arange(self.counts.shape[0]))


def svm_decisions(learned: LearnedClasses, machines: MulticlassSvm, values: Array) -> Decisions:
    """Return decisions from the values of machines: by votes of pairs, or by the largest or the positive values.

    Class values of pairs are added as by `svm_class_scores`.
    """
    if learned.multilabel:
        return learned.decide(values)
    codes, tied = predict_class_codes(machines, values)
    scores = learned.class_values(svm_class_scores(machines, values))
    return Decisions(learned.columns[codes].astype(np.int32), tied, scores)


@dataclass(frozen=True, eq=False)
class FittedHyperplanes(FittedMethod):
    """One hyperplane for each learned class, for documents with several classes."""

    hyperplanes: Hyperplanes

    def decide(self, inputs: sp.csr_array) -> Decisions:
        """Return the decisions on documents, see `FittedMethod`."""
        points = canonical_csr(self.view.points(inputs))
        return self.learned.decide(self.hyperplanes.values(points))


@dataclass(frozen=True, eq=False)
class FittedPoints(FittedMethod):
    """Classifier of points, or one binary classifier for each learned class where documents may have several."""

    models: tuple[Any, ...]

    def decide(self, inputs: Any) -> Decisions:
        """Return the decisions on documents; values are 1 or 0 of a classifier that only predicts."""
        decisions = self.decide_points(self.view.points(inputs))
        if decisions.values is None:
            return decisions._replace(values=np.eye(len(self.learned.everywhere))[decisions.predicted])
        return decisions

    def decide_points(self, points: Any) -> Decisions:
        """Return the decisions on points, or on texts or vectors.

        A user's classifier has the last word on the class; of ties, one of this package predicts the first of
        `classes_`. Of several classes, each against the rest, those with positive values are predicted.
        """
        if self.learned.multilabel:
            values = [value_of_class(model, points) for model in self.models]
            return self.learned.decide(np.array(values).reshape(-1, points.shape[0]).T)
        codes, tied, scores = predicted_codes(self.models[0], points)
        return Decisions(codes, tied, None if scores is None else self.learned.class_values(scores))
