"""What a method has learned of its training documents: counts of any others to decision values and classes.

Machines keep the counts of their support vectors alone. Weights, kernel values, decisions and votes are those of the
functions that a run calls; only where a decision is 0 but for rounding may a sum over fewer rows end otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from benchmark.classifiers.hyperplanes import Hyperplanes
from benchmark.classifiers.libsvm import Machine
from benchmark.classifiers.svm import Machines, class_values, decide, predict
from benchmark.kernels.gram import Gram, InnerProducts
from benchmark.kernels.products import StreamedProducts, self_products
from benchmark.kernels.smoothing import frequency_products
from benchmark.methods.learned import check_finite, given_by_class, learned_classes
from benchmark.methods.weights import points_of
from benchmark.representation import canonical, embed, norms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.kernels.base import Kernel
    from benchmark.methods.weights import Work
    from benchmark.representation import Weighting

    Array = NDArray[np.float64]
    Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Learned:
    """What is alike in all that methods learn.

    Parameters
    ----------
    spec : MethodSpec
    terms : intp array, shape (V,), or None
        Columns of the training documents' counts that were selected for all classes, the best first; None for all.
    weighting : Weighting
        That has learned.
    several : bool
        Whether a document may have several classes, or none.
    columns : intp array, shape (n_learned,)
        The classes that were learned, see `learned_classes`; all of them where each document has one.
    everywhere : bool array, shape (k,)
        The classes that every training document has, where they may have several.
    """

    spec: MethodSpec
    terms: NDArray[np.intp] | None
    weighting: Weighting
    several: bool
    columns: NDArray[np.intp]
    everywhere: NDArray[np.bool_]


def learned_of(work: Work, spec: MethodSpec) -> Learned:
    """What every method learns of a split."""
    several, classes = work.problem.several, work.problem.documents.classes
    columns, _ = learned_classes(work.members, classes) if several else (np.arange(len(classes)), classes)
    everywhere = np.asarray(work.members.all(axis=0) & several)
    weighting = work.weighting(work.selected_counts(), spec.representation)
    return Learned(spec, work.selected_terms(), weighting, several, columns, everywhere)


@dataclass(frozen=True, eq=False)
class FittedMethod(ABC):
    """A trained method; the documents that it is asked about are rows of counts over its V terms, shape (m, V)."""

    learned: Learned

    @abstractmethod
    def values(self, counts: sp.csr_array) -> Array:
        """Decision values, shape (m, n_values): of each machine, hyperplane or class; on the calling thread.

        Raises
        ------
        FloatingPointError
            If one is not finite.
        """

    def given(self, values: Array) -> NDArray[Any]:
        """The class of each document by its decision values, shape (m,); or which classes it is given, (m, k)."""
        if self.learned.several:
            return given_by_class(self.learned.everywhere, self.learned.columns, values)
        return self._best(values)

    def class_values(self, values: Array) -> Array:
        """A decision value for each class, shape (m, k).

        Where documents may have several classes, a class that could not be learned has -inf, or inf if it is given to
        every document.
        """
        if not self.learned.several:
            return self._of_classes(values)
        full = np.tile(np.where(self.learned.everywhere, np.inf, -np.inf), (len(values), 1))
        full[:, self.learned.columns] = values
        return full

    @abstractmethod
    def _best(self, values: Array) -> NDArray[np.int32]: ...

    @abstractmethod
    def _of_classes(self, values: Array) -> Array: ...

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All numbers that were learned, by name, but for those of `learned`."""

    @classmethod
    @abstractmethod
    def restored(cls, learned: Learned, arrays: Arrays) -> Self:
        """A trained method back from its numbers."""


@dataclass(frozen=True, eq=False)
class FittedMachines(FittedMethod):
    """Support vector machines on a kernel that is elementwise in inner products.

    Parameters
    ----------
    counts : CSR array, shape (s, V)
        Of the support vectors, sorted by class where each has one.
    machines : Machines
        Over these rows.
    """

    counts: sp.csr_array
    machines: Machines

    @classmethod
    def of(cls, learned: Learned, counts: sp.csr_array, machines: Machines) -> Self:
        """From machines over training rows that have `counts`: rows that support none are left out."""
        used = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *(each.support for each in machines.machines)]))
        bounds = np.searchsorted(used, machines.class_bounds)
        kept = (replace(each, support=np.searchsorted(used, each.support), seconds=0.0) for each in machines.machines)
        return cls(learned, counts[used], Machines(machines.scheme, bounds, tuple(kept)))

    def values(self, counts: sp.csr_array) -> Array:
        """Of each machine."""
        m, s = counts.shape[0], self.counts.shape[0]
        if not self.machines.machines:
            return np.empty((m, 0))
        products, normalization = self._products(counts), self.learned.spec.representation.normalization
        return decide(self.machines, Gram(self._kernel, products, normalization, np.arange(m), np.arange(m, m + s)))

    def _best(self, values: Array) -> NDArray[np.int32]:
        return predict(self.machines, values)[0]

    def _of_classes(self, values: Array) -> Array:
        return class_values(self.machines, values)

    def _products(self, counts: sp.csr_array) -> InnerProducts:
        """Between these documents and the support vectors; rows of both have numbers, those of these come first."""
        own, m, s = self._own, counts.shape[0], self.counts.shape[0]
        representation, exponent = self.learned.spec.representation, self._kernel.exponent
        if representation.dirichlet:
            weights = sp.vstack([self.learned.weighting.transform(counts), own.points], format="csr")
            return frequency_products(weights, exponent, representation.dirichlet, n_rows=m)
        new = self._embedded(counts)
        divisors = {representation.normalization: np.concatenate([new.divisors, own.divisors])}
        products = np.concatenate([self_products(new.points), self_products(own.points)])
        rows = self._streamed.of(new.points)
        return InnerProducts(rows, np.arange(m, m + s), products, divisors, exponent, counts.shape[1])

    def _embedded(self, counts: sp.csr_array) -> _Embedded:
        """As `Work.products` has them: selected terms are normalized before, all terms in `Gram`."""
        representation, exponent = self.learned.spec.representation, self._kernel.exponent
        if representation.dirichlet:
            weights = self.learned.weighting.transform(counts)
            return _Embedded(weights, np.ones(len(weights.indptr) - 1))
        if self.learned.terms is not None:
            points = points_of(counts, representation, self.learned.weighting)
            return _Embedded(embed(points, exponent), np.ones(counts.shape[0]))
        weights = self.learned.weighting.transform(counts)
        return _Embedded(embed(weights, exponent), norms(weights, representation.normalization))

    @cached_property
    def _kernel(self) -> Kernel:
        kernel = self.learned.spec.kernel
        if kernel is None:
            raise ValueError("machines need a kernel")
        built: Kernel = kernel.build()
        return built

    @cached_property
    def _own(self) -> _Embedded:
        return self._embedded(self.counts)

    @cached_property
    def _streamed(self) -> StreamedProducts:
        return StreamedProducts(self._own.points, np.arange(self.counts.shape[0]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The support vectors' counts, and each machine's rows, coefficients and offset."""
        each = self.machines.machines
        return {
            "bounds": self.machines.class_bounds,
            "n_support": np.array([len(machine.support) for machine in each], dtype=np.int64),
            "support": np.concatenate([np.empty(0, dtype=np.intp), *(m.support for m in each)]).astype(np.int32),
            "coefficients": np.concatenate([np.empty(0), *(machine.coefficients for machine in each)]),
            "rho": np.array([machine.rho for machine in each]),
            "counts.data": self.counts.data,
            "counts.indices": self.counts.indices,
            "counts.indptr": self.counts.indptr,
            "counts.shape": np.array(self.counts.shape, dtype=np.int64),
        }

    @classmethod
    def restored(cls, learned: Learned, arrays: Arrays) -> Self:
        """The machines back from `arrays`."""
        ends = np.cumsum(arrays["n_support"])[:-1]
        support = np.split(arrays["support"].astype(np.intp), ends)
        coefficients = np.split(arrays["coefficients"], ends)
        parts = zip(support, coefficients, arrays["rho"].tolist(), strict=True) if len(arrays["rho"]) else ()
        scheme = "one-vs-rest" if learned.several else learned.spec.classifier.build().scheme
        machines = Machines(scheme, arrays["bounds"], tuple(Machine(*part, seconds=0.0) for part in parts))
        counts = sp.csr_array(
            tuple(arrays[f"counts.{name}"] for name in ("data", "indices", "indptr")),
            shape=tuple(arrays["counts.shape"].tolist()),
        )
        return cls(learned, counts, machines)


@dataclass(frozen=True, eq=False)
class _Embedded:
    """Points to be multiplied, shape (n, V), and what their products are divided by, shape (n,)."""

    points: sp.csr_array
    divisors: Array


@dataclass(frozen=True, eq=False)
class FittedHyperplanes(FittedMethod):
    """A hyperplane for each learned class, of documents with several."""

    hyperplanes: Hyperplanes

    def values(self, counts: sp.csr_array) -> Array:
        """Of each learned class."""
        points = points_of(counts, self.learned.spec.representation, self.learned.weighting)
        return self.hyperplanes.values(canonical(points))

    def _best(self, values: Array) -> NDArray[np.int32]:
        raise NotImplementedError

    def _of_classes(self, values: Array) -> Array:
        raise NotImplementedError

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights and offsets."""
        return asdict(self.hyperplanes)

    @classmethod
    def restored(cls, learned: Learned, arrays: Arrays) -> Self:
        """The hyperplanes back from `arrays`."""
        return cls(learned, Hyperplanes(arrays["weights"], arrays["offsets"]))


@dataclass(frozen=True, eq=False)
class FittedPoints(FittedMethod):
    """A classifier of points; where documents may have several classes, one for each learned class."""

    models: tuple[Any, ...]

    def values(self, counts: sp.csr_array) -> Array:
        """Class scores, in the order of ``classes_``; or by how much the score inside a class is above that outside."""
        points = points_of(counts, self.learned.spec.representation, self.learned.weighting)
        if not self.learned.several:
            return check_finite(self.models[0].class_scores(points))
        values = np.empty((counts.shape[0], len(self.models)))
        for column, model in enumerate(self.models):
            inside, outside = inside_and_outside(model, points)
            values[:, column] = inside - outside
        return values

    def _best(self, values: Array) -> NDArray[np.int32]:
        return np.asarray(self.models[0].classes_[values.argmax(axis=1)], dtype=np.int32)

    def _of_classes(self, values: Array) -> Array:
        full = np.empty(values.shape)
        full[:, self.models[0].classes_] = values
        return full

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What each classifier's `kept` names."""
        found = {}
        for number, model in enumerate(self.models):
            for name in model.kept:
                found[f"{number}.{name}"] = np.asarray(getattr(model, _attribute(name)))
        return found

    @classmethod
    def restored(cls, learned: Learned, arrays: Arrays) -> Self:
        """The classifiers back from `arrays`."""
        n = len(learned.columns) if learned.several else 1
        models = [learned.spec.classifier.build() for _ in range(n)]
        for number, model in enumerate(models):
            for name in model.kept:
                array = arrays[f"{number}.{name}"]
                setattr(model, _attribute(name), array if array.ndim else array.item())
        return cls(learned, tuple(models))


def _attribute(kept: str) -> str:
    """Return what a classifier calls an array that a kept model stores: what follows the last dot of its name."""
    return kept.rpartition(".")[2]


def inside_and_outside(model: Any, points: sp.csr_array) -> tuple[Array, Array]:
    """Scores of being in a class and of being outside, shape (m,) each, by a classifier of 1 against 0."""
    scores = check_finite(model.class_scores(points))
    inside, outside = (scores[:, int(np.flatnonzero(model.classes_ == code)[0])] for code in (1, 0))
    return inside, outside


KINDS: dict[str, type[FittedMethod]] = {
    "machines": FittedMachines,
    "hyperplanes": FittedHyperplanes,
    "points": FittedPoints,
}
