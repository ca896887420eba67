"""Trained methods: compute decision values and classes of new documents from their counts.

Support vector machines keep only the counts of their support vectors. Weights, kernel values, decision values and votes
are computed by the functions that a run uses. Only a decision value that is 0 up to rounding may differ in sign: its
sum has fewer rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from benchmark.classifiers.hyperplanes import Hyperplanes
from benchmark.classifiers.libsvm import BinarySvm
from benchmark.classifiers.svm import MulticlassSvm, predict_class_codes, svm_class_scores, svm_decision_values
from benchmark.kernels.dirichlet_prior import dirichlet_products
from benchmark.kernels.gram import InnerProducts, LazyGram
from benchmark.kernels.products import StreamedProducts, self_products
from benchmark.methods.multilabel import learned_classes, positive_classes, values_of_all_classes
from benchmark.methods.plugin_outputs import scores_of, value_of_class
from benchmark.methods.weighted_counts import weighted_points
from benchmark.representation import canonical_csr, power_transform, row_norms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.kernels.base import Kernel
    from benchmark.methods.split_data import SplitData
    from benchmark.representation import Weighting

    Array = NDArray[np.float64]
    Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class TrainedState:
    """Trained state that all methods have in common.

    Parameters
    ----------
    spec : MethodSpec
    terms : intp array, shape (V,), or None
        Columns of the terms selected for all classes, the best first; None for all terms.
    weighting : Weighting
        Fitted weighting.
    multilabel : bool
        True if a document may have several classes, or none.
    columns : intp array, shape (n_learned,)
        Positions of the learned classes, see `learned_classes`; all classes where each document has exactly one.
    everywhere : bool array, shape (k,)
        True for classes that every training document has; always False where each document has exactly one class.
    """

    spec: MethodSpec
    terms: NDArray[np.intp] | None
    weighting: Weighting
    multilabel: bool
    columns: NDArray[np.intp]
    everywhere: NDArray[np.bool_]


def trained_state(work: SplitData, spec: MethodSpec) -> TrainedState:
    """Return the trained state that every method has for a split."""
    multilabel, classes = work.problem.multilabel, work.problem.documents.classes
    columns, _ = learned_classes(work.members, classes) if multilabel else (np.arange(len(classes)), classes)
    everywhere = np.asarray(work.members.all(axis=0) & multilabel)
    if spec.classifier.tags.reads_texts or spec.vectors is not None:  # no weighting of counts is fitted
        return TrainedState(spec, None, spec.representation.weighting.build(), multilabel, columns, everywhere)
    weighting = work.weighting(work.selected_counts(), spec.representation)
    return TrainedState(spec, work.selected_terms(), weighting, multilabel, columns, everywhere)


@dataclass(frozen=True, eq=False)
class FittedMethod(ABC):
    """Trained method; its methods take the counts of new documents over its V terms, shape (m, V)."""

    learned: TrainedState

    @abstractmethod
    def values(self, counts: sp.csr_array) -> Array:
        """Return the decision values of each machine, hyperplane or class, shape (m, n_values).

        Everything is computed on the calling thread.

        Raises
        ------
        FloatingPointError
            If a decision value is not finite.
        """

    def given(self, values: Array) -> NDArray[Any]:
        """Return the predicted class of each document, shape (m,), or its class indicators, shape (m, k)."""
        if self.learned.multilabel:
            return positive_classes(self.learned.everywhere, self.learned.columns, values)
        return self._best(values)

    def class_values(self, values: Array) -> Array:
        """Return a decision value for each class, shape (m, k).

        Where documents may have several classes, a class that could not be learned has -inf, or inf if it is predicted
        for every document.
        """
        if not self.learned.multilabel:
            return self._of_classes(values)
        return values_of_all_classes(self.learned.everywhere, self.learned.columns, values)

    def values_of_rows(self, matrix: sp.csr_array) -> Array:
        """Return `class_values` of counts over all terms of its problem, of which it takes its own, shape (m, k)."""
        terms = self.learned.terms
        return self.class_values(self.values(matrix if terms is None else matrix[:, terms]))

    @abstractmethod
    def _best(self, values: Array) -> NDArray[np.int32]:
        """Return the predicted class of each document, shape (m,)."""

    @abstractmethod
    def _of_classes(self, values: Array) -> Array:
        """Return a decision value for each class, shape (m, k)."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the learned arrays by name, without those of `learned`."""

    @classmethod
    @abstractmethod
    def restored(cls, learned: TrainedState, arrays: Arrays) -> Self:
        """Return the trained method that `arrays` describes."""


@dataclass(frozen=True, eq=False)
class FittedMachines(FittedMethod):
    """Support vector machines on a kernel that is an elementwise function of inner products.

    Parameters
    ----------
    counts : CSR array, shape (s, V)
        Term counts of the support vectors, sorted by class where each document has exactly one.
    machines : MulticlassSvm
        Machines whose support indexes the rows of `counts`.
    """

    counts: sp.csr_array
    machines: MulticlassSvm

    @classmethod
    def of(cls, learned: TrainedState, counts: sp.csr_array, machines: MulticlassSvm) -> Self:
        """Return the machines with the counts of their support vectors; `counts` has all training rows."""
        used = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *(m.support for m in machines.machines)]))
        bounds = np.searchsorted(used, machines.class_bounds)
        renumbered = (replace(m, support=np.searchsorted(used, m.support), seconds=0.0) for m in machines.machines)
        return cls(learned, counts[used], MulticlassSvm(machines.scheme, bounds, tuple(renumbered)))

    def values(self, counts: sp.csr_array) -> Array:
        """Return the decision values of each machine, shape (m, n_machines)."""
        m, s = counts.shape[0], self.counts.shape[0]
        if not self.machines.machines:
            return np.empty((m, 0))
        products, normalization = self._products(counts), self.learned.spec.representation.normalization
        return svm_decision_values(
            self.machines, LazyGram(self._kernel, products, normalization, np.arange(m), np.arange(m, m + s))
        )

    def _best(self, values: Array) -> NDArray[np.int32]:
        return predict_class_codes(self.machines, values)[0]

    def _of_classes(self, values: Array) -> Array:
        return svm_class_scores(self.machines, values)

    def _products(self, counts: sp.csr_array) -> InnerProducts:
        """Return the inner products of the m documents in `counts` and the s support vectors.

        Rows 0 to m - 1 are the documents, rows m to m + s - 1 the support vectors.
        """
        support, m, s = self._support, counts.shape[0], self.counts.shape[0]
        representation, exponent = self.learned.spec.representation, self._kernel.exponent
        if representation.dirichlet:
            weights = sp.vstack([self.learned.weighting.transform(counts), support.points], format="csr")
            return dirichlet_products(weights, exponent, representation.dirichlet, n_rows=m)
        new = self._embedded(counts)
        divisors = {representation.normalization: np.concatenate([new.divisors, support.divisors])}
        products = np.concatenate([self_products(new.points), self_products(support.points)])
        rows = self._streamed.of(new.points)
        return InnerProducts(rows, np.arange(m, m + s), products, divisors, exponent, counts.shape[1])

    def _embedded(self, counts: sp.csr_array) -> _Embedded:
        """Return points and divisors as in `SplitData.products`: `LazyGram` normalizes only with all terms."""
        representation, exponent = self.learned.spec.representation, self._kernel.exponent
        if representation.dirichlet:
            weights = self.learned.weighting.transform(counts)
            return _Embedded(weights, np.ones(len(weights.indptr) - 1))
        if self.learned.terms is not None:
            points = weighted_points(counts, representation, self.learned.weighting)
            return _Embedded(power_transform(points, exponent), np.ones(counts.shape[0]))
        weights = self.learned.weighting.transform(counts)
        return _Embedded(power_transform(weights, exponent), row_norms(weights, representation.normalization))

    @cached_property
    def _kernel(self) -> Kernel:
        kernel = self.learned.spec.kernel
        if kernel is None:
            raise ValueError("machines need a kernel")
        built: Kernel = kernel.build()
        return built

    @cached_property
    def _support(self) -> _Embedded:
        return self._embedded(self.counts)

    @cached_property
    def _streamed(self) -> StreamedProducts:
        return StreamedProducts(self._support.points, np.arange(self.counts.shape[0]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the support vectors' counts, and the rows, coefficients and offset of each machine."""
        machines = self.machines.machines
        return {
            "bounds": self.machines.class_bounds,
            "n_support": np.array([len(machine.support) for machine in machines], dtype=np.int64),
            "support": np.concatenate([np.empty(0, dtype=np.intp), *(m.support for m in machines)]).astype(np.int32),
            "coefficients": np.concatenate([np.empty(0), *(machine.coefficients for machine in machines)]),
            "rho": np.array([machine.rho for machine in machines]),
            "counts.data": self.counts.data,
            "counts.indices": self.counts.indices,
            "counts.indptr": self.counts.indptr,
            "counts.shape": np.array(self.counts.shape, dtype=np.int64),
        }

    @classmethod
    def restored(cls, learned: TrainedState, arrays: Arrays) -> Self:
        """Return the machines that `arrays` describes."""
        ends = np.cumsum(arrays["n_support"])[:-1]
        support = np.split(arrays["support"].astype(np.intp), ends)
        coefficients = np.split(arrays["coefficients"], ends)
        parts = zip(support, coefficients, arrays["rho"].tolist(), strict=True) if len(arrays["rho"]) else ()
        scheme = "one-vs-rest" if learned.multilabel else learned.spec.classifier.build().scheme
        machines = MulticlassSvm(scheme, arrays["bounds"], tuple(BinarySvm(*part, seconds=0.0) for part in parts))
        counts = sp.csr_array(
            tuple(arrays[f"counts.{name}"] for name in ("data", "indices", "indptr")),
            shape=tuple(arrays["counts.shape"].tolist()),
        )
        return cls(learned, counts, machines)


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
        points = weighted_points(counts, self.learned.spec.representation, self.learned.weighting)
        return self.hyperplanes.values(canonical_csr(points))

    def _best(self, values: Array) -> NDArray[np.int32]:
        raise NotImplementedError

    def _of_classes(self, values: Array) -> Array:
        raise NotImplementedError

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the weights and offsets of the hyperplanes."""
        return asdict(self.hyperplanes)

    @classmethod
    def restored(cls, learned: TrainedState, arrays: Arrays) -> Self:
        """Return the hyperplanes that `arrays` describes."""
        return cls(learned, Hyperplanes(arrays["weights"], arrays["offsets"]))


@dataclass(frozen=True, eq=False)
class FittedPoints(FittedMethod):
    """Classifier of points, or one binary classifier for each learned class where documents may have several."""

    models: tuple[Any, ...]

    def values(self, counts: sp.csr_array) -> Array:
        """Return the class scores in the order of ``classes_``, shape (m, k).

        Where documents may have several classes, return for each learned class its decision value against the rest,
        shape (m, n_learned).
        """
        points = self._points(counts)
        if not self.learned.multilabel:
            return scores_of(self.models[0], points)
        values = np.empty((counts.shape[0], len(self.models)))
        for column, model in enumerate(self.models):
            values[:, column] = value_of_class(model, points)
        return values

    def _points(self, counts: Any) -> Any:
        return weighted_points(counts, self.learned.spec.representation, self.learned.weighting)

    def _best(self, values: Array) -> NDArray[np.int32]:
        return np.asarray(self.models[0].classes_[values.argmax(axis=1)], dtype=np.int32)

    def _of_classes(self, values: Array) -> Array:
        full = np.empty(values.shape)
        full[:, self.models[0].classes_] = values
        return full

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that `kept` of each classifier names."""
        arrays = {}
        for number, model in enumerate(self.models):
            for name in model.kept:
                arrays[f"{number}.{name}"] = np.asarray(getattr(model, _attribute(name)))
        return arrays

    @classmethod
    def restored(cls, learned: TrainedState, arrays: Arrays) -> Self:
        """Return the classifiers that `arrays` describes."""
        n = len(learned.columns) if learned.multilabel else 1
        models = [learned.spec.classifier.build() for _ in range(n)]
        for number, model in enumerate(models):
            for name in model.kept:
                array = arrays[f"{number}.{name}"]
                setattr(model, _attribute(name), array if array.ndim else array.item())
        return cls(learned, tuple(models))


def _attribute(kept: str) -> str:
    """Return the classifier's attribute for an array that a saved model stores: the name after the last dot."""
    return kept.rpartition(".")[2]


FITTED_KINDS: dict[str, type[FittedMethod]] = {
    "machines": FittedMachines,
    "hyperplanes": FittedHyperplanes,
    "points": FittedPoints,
}
