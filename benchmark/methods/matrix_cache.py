"""Buffers for the large arrays of a run, and a cache of the arrays that consecutive methods share.

There are two buffers: one for a matrix of inner products, one for a kernel matrix in LIBSVM's layout (`nodes`) or tiles
of it. Consecutive methods reuse their memory, because allocating memory takes longer than computing the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from benchmark.classifiers.libsvm import NodeMatrix
from benchmark.kernels.gram import InnerProducts, dirichlet_products
from benchmark.kernels.products import StreamedProducts, inner_products, self_products
from benchmark.representation.weighting import power_transform, row_norms
from benchmark.system.memory import read_gigabytes
from benchmark.system.numba_jit import numba_threads
from benchmark.system.tags import NORMALIZATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array, Indices

    Arrays = dict[str, NDArray[Any]]

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
        self._memory = np.empty(0)
        self._last: dict[str, tuple[object, Any]] = {}
        self._remembered: dict[str, tuple[str, dict[Any, Any]]] = {}

    def products(
        self,
        weights: sp.csr_array,
        exponent: float,
        columns: Indices,
        *,
        dirichlet: float = 0.0,
        groups: Sequence[Indices] | None = None,
        budget: int | None = None,
    ) -> InnerProducts:
        """Return <x^p, x'^p> between all documents and `columns`, valid until the buffer is overwritten.

        Parameters
        ----------
        weights : CSR array, shape (n, V)
            Weighted documents; `LazyGram` applies the normalization.
        exponent : float
            The power p.
        columns : intp array
            Rows of documents, ascending.
        dirichlet : float
            α of a Dirichlet prior; all documents are columns then.
        groups : sequence of intp arrays, optional
            As in `StreamedProducts`.
        budget : int, optional
            Bytes that the matrix may take, by default the cache's; a larger one isn't stored.
        """
        if dirichlet:
            out = self._take((weights.shape[0],) * 2)
            with numba_threads(self.jobs):
                return dirichlet_products(weights, exponent, dirichlet, out=out)
        divisors = {name: row_norms(weights, name) for name in NORMALIZATIONS}
        embedded = power_transform(weights, exponent)
        if embedded.shape[0] * len(columns) * 8 > (self.budget if budget is None else budget):
            values: Any = StreamedProducts(embedded, columns, groups)
        else:
            values = self._inner(embedded, embedded[columns])
        return InnerProducts(values, columns, self_products(embedded), divisors, exponent, embedded.shape[1])

    def square(self, points: sp.csr_array) -> Array:
        """Return <x, x'> between all points, shape (n, n), valid until the next inner products overwrite the buffer."""
        return self._inner(points, points)

    def shared(self, what: str, key: object, make: Callable[[], _T]) -> _T:
        """Return the result of `make`; the last result if its key is equal and its products weren't overwritten."""
        if self._last.get(what, (None,))[0] != key:
            self._last.pop(what, None)  # free the old before computing the new
            self._last[what] = key, make()
        return cast("_T", self._last[what][1])

    def remembered(self, what: str, problem: str, key: object, make: Callable[[], _T]) -> _T:
        """Return a small result of `make`, computed once for each key; those of another problem are dropped."""
        if self._remembered.get(what, ("",))[0] != problem:
            self._remembered[what] = problem, {}
        _, known = self._remembered[what]
        if key not in known:
            known[key] = make()
        return cast("_T", known[key])

    def release(self) -> None:
        """Free the memory of all large matrices."""
        self._last.clear()
        self._memory, self.nodes = np.empty(0), NodeMatrix()

    def _inner(self, left: sp.csr_array, right: sp.csr_array) -> Array:
        out = self._take((left.shape[0], right.shape[0]))
        with numba_threads(self.jobs):
            return inner_products(left, right, out=out)

    def _take(self, shape: tuple[int, int]) -> Array:
        """Return the buffer as an array of this shape; what was made of its old content is forgotten."""
        self._last.clear()
        if self._memory.size < shape[0] * shape[1]:
            self._memory = np.empty(0)  # free the old before allocating the new
            self._memory = np.empty(shape[0] * shape[1])
        return self._memory[: shape[0] * shape[1]].reshape(shape)
