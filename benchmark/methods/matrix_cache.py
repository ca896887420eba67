"""Buffers for the large arrays of a run, and a cache of the arrays that consecutive methods share.

There are two buffers: one for a matrix of inner products, one for a kernel matrix in LIBSVM's layout (`nodes`) or tiles
of it. Consecutive methods reuse their memory, because allocating memory takes longer than computing the values.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from benchmark.classifiers.libsvm import NodeMatrix
from benchmark.classifiers.one_vs_one import class_blocks
from benchmark.kernels.gram import InnerProducts, dirichlet_products
from benchmark.kernels.products import StreamedProducts, inner_products, self_products
from benchmark.methods.problem import term_gains
from benchmark.representation.weighting import power_transform, row_norms
from benchmark.system.memory import read_gigabytes
from benchmark.system.numba_jit import numba_threads
from benchmark.system.tags import NORMALIZATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import Representation
    from benchmark.methods.problem import Problem
    from benchmark.system.arrays import Array, Indices

    Arrays = dict[str, NDArray[Any]]

#: Inner products that are used only once may take this fraction of the budget: computing them by tiles takes no longer
#: than allocating memory for all of them.
SINGLE_USE_FRACTION = 8

_T = TypeVar("_T")


def memory_budget() -> int:
    """Return the bytes that inner products, or tiles of kernels, may take: ``$BENCH_MEMORY_GB``, by default 4 GB.

    A larger matrix isn't stored: its tiles are computed each time they are needed.
    """
    return read_gigabytes("BENCH_MEMORY_GB", 4.0)


class MatrixCache:
    """Owner of the large matrices and the threads that methods compute with.

    Parameters
    ----------
    jobs : int
        Number of threads.
    budget : int, optional
        Bytes that a matrix of inner products may take, and tiles of kernels; by default `memory_budget`.
    cached : callable, optional
        Returns arrays that took long to compute, by name, components, content and a function that computes them, as
        `Store.cached_arrays` does; by default they are computed.

    Attributes
    ----------
    nodes : NodeMatrix
        Buffer of the kernel matrix, in LIBSVM's layout.
    """

    def __init__(
        self, jobs: int = 1, budget: int | None = None, cached: Callable[..., Arrays] = lambda *content: content[-1]()
    ) -> None:
        self.jobs, self.nodes, self.cached = jobs, NodeMatrix(), cached
        self.budget = memory_budget() if budget is None else budget
        self._gains: dict[tuple[str, bytes], tuple[Array, Array]] = {}
        self._memory = np.empty(0)
        self._products: tuple[tuple[object, ...], tuple[InnerProducts, float]] | None = None
        self._shared: tuple[tuple[object, ...], object] | None = None

    def products(
        self,
        problem: Problem,
        representation: Representation,
        exponent: float,
        columns: Indices,
        learned: Indices | None,
        *,
        by_class: bool = False,
        budget: int | None = None,
    ) -> tuple[InnerProducts, float]:
        """Return <x^p, x'^p> between all documents and `columns`, and the seconds that every method adds to its own.

        The last result is reused for equal arguments.

        Parameters
        ----------
        problem : Problem
        representation : Representation
            Its weighting is applied; `LazyGram` applies the normalization. With a Dirichlet prior, all documents are
            columns.
        exponent : float
            The power p.
        columns : intp array
            Rows of documents, ascending.
        learned : intp array or None
            Documents that the weighting learns from; None for a weighting that learns nothing.
        by_class : bool
            True if the columns will be read class by class.
        budget : int, optional
            Bytes that the matrix may take, by default the cache's; a larger one isn't stored.
        """
        rows = [None if part is None else part.tobytes() for part in (learned, columns)]
        key = problem.key, weights_key(representation), exponent, *rows, budget
        if self._products is not None and self._products[0] == key:
            return self._products[1]
        self._forget()
        started = time.perf_counter()
        weights = problem.weighting(representation, learned).transform(problem.counts.matrix)
        if representation.dirichlet:
            out = self._take((weights.shape[0],) * 2)
            with numba_threads(self.jobs):
                products = dirichlet_products(weights, exponent, representation.dirichlet, out=out)
        else:
            divisors = {name: row_norms(weights, name) for name in NORMALIZATIONS}
            groups = _groups(problem.documents.labels[columns]) if by_class else None
            embedded = power_transform(weights, exponent)
            if embedded.shape[0] * len(columns) * 8 > (self.budget if budget is None else budget):
                values: Any = StreamedProducts(embedded, columns, groups)
            else:
                values = self._inner(embedded, embedded[columns])
            products = InnerProducts(values, columns, self_products(embedded), divisors, exponent, embedded.shape[1])
        timed = products, time.perf_counter() - started
        self._products = key, timed
        return timed

    def square(self, points: sp.csr_array) -> Array:
        """Return <x, x'> between all points, shape (n, n), valid until the next inner products overwrite the buffer."""
        self._forget()
        return self._inner(points, points)

    def shared(self, key: tuple[object, ...], make: Callable[[], _T]) -> _T:
        """Return the result of `make`; the last result if its key is equal and its products weren't overwritten."""
        if self._shared is None or self._shared[0] != key:
            self._shared = None  # free the old before computing the new
            self._shared = key, make()
        return cast("_T", self._shared[1])

    def gains(self, problem: Problem, train: Indices) -> tuple[Array, Array]:
        """Return `term_gains` of training documents, computed once."""
        if any(key != problem.key for key, _ in self._gains):
            self._gains.clear()
        key = problem.key, train.tobytes()
        if key not in self._gains:
            self._gains[key] = term_gains(problem, train)
        return self._gains[key]

    def release(self) -> None:
        """Free the memory of all large matrices."""
        self._forget()
        self._memory, self.nodes = np.empty(0), NodeMatrix()

    def _inner(self, left: sp.csr_array, right: sp.csr_array) -> Array:
        out = self._take((left.shape[0], right.shape[0]))
        with numba_threads(self.jobs):
            return inner_products(left, right, out=out)

    def _take(self, shape: tuple[int, int]) -> Array:
        if self._memory.size < shape[0] * shape[1]:
            self._memory = np.empty(0)  # free the old before allocating the new
            self._memory = np.empty(shape[0] * shape[1])
        return self._memory[: shape[0] * shape[1]].reshape(shape)

    def _forget(self) -> None:
        """Drop references to arrays in the buffer, which is about to be overwritten."""
        self._products = self._shared = None


def weights_key(representation: Representation) -> tuple[Any, ...]:
    """Return what decides weights, of which inner products are made: blocks of terms are normalized in them."""
    blocks = (representation.normalization, *representation.fields) if representation.fields else ()
    return str(representation.weighting.plain), representation.dirichlet, blocks


def _groups(labels: NDArray[np.int32]) -> list[Indices]:
    """Return the columns sorted by class, in the groups that one-vs-one machines read."""
    by_class = [np.flatnonzero(labels == code) for code in np.unique(labels)]
    return [np.concatenate([by_class[code] for code in run]) for run in class_blocks(np.array([*map(len, by_class)]))]
