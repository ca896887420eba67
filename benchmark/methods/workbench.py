"""The large arrays of a run, one of each kind at a time, and what methods that follow each other share of them.

There are two: a matrix of inner products, and a kernel matrix in LIBSVM's layout (`nodes`), or tiles of it. Their
memory is kept from one method to the next, since fresh memory costs more time than computing their values.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np

from benchmark.classifiers.libsvm import NodeMatrix
from benchmark.classifiers.one_vs_one import runs
from benchmark.compiled import numba_threads
from benchmark.environment import gigabytes
from benchmark.kernels.gram import InnerProducts
from benchmark.kernels.products import StreamedProducts, inner_products, self_products
from benchmark.kernels.smoothing import frequency_products
from benchmark.methods.rankings import Rankings
from benchmark.methods.weights import fitted_weighting
from benchmark.representation import NORMALIZATIONS, embed, norms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import Representation
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.base import Problem

    Array = NDArray[np.float64]
    Arrays = dict[str, NDArray[Any]]

#: The share of the memory that products may take which are asked for but once: to compute them by tiles takes no longer
#: than fresh memory for them.
ONCE = 8

T = TypeVar("T")


def memory_budget() -> int:
    """Read ``$BENCH_MEMORY_GB``: bytes that inner products may take, or tiles of kernels; 4 GB unless given.

    A larger one is not held: its tiles are computed again for whoever asks for them.
    """
    return gigabytes("BENCH_MEMORY_GB", 4.0)


@dataclass(frozen=True, eq=False)
class Timed:
    """Inner products, and the seconds it took to compute them: those who use them later book them, too."""

    products: InnerProducts
    seconds: float


class ArrayCache(Protocol):
    """Keeps arrays that took long to compute from one run to the next."""

    def __call__(
        self, about: str, components: Sequence[type], content: Mapping[str, Any], make: Callable[[], Arrays]
    ) -> Arrays:
        """Return the arrays that are kept of this content and code, or else those that `make` makes."""


def _made(about: str, components: Sequence[type], content: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:  # noqa: ARG001
    """Make the arrays: nothing is kept."""
    return make()


class Workbench:
    """What methods compute with, and the only owner of large matrices.

    Parameters
    ----------
    jobs : int
        Threads.
    budget : int, optional
        Bytes that a matrix of inner products may take, and tiles of kernels; `memory_budget` unless given.
    cached : ArrayCache, optional
        Keeps what kernels took long to compute; nothing is kept unless given.

    Attributes
    ----------
    nodes : NodeMatrix
        Memory that every kernel matrix is written to.
    """

    def __init__(self, jobs: int = 1, budget: int | None = None, cached: ArrayCache = _made) -> None:
        self.jobs, self.nodes, self.cached = jobs, NodeMatrix(), cached
        self.budget = memory_budget() if budget is None else budget
        self._rankings: dict[tuple[str, bytes], Rankings] = {}
        self._memory = np.empty(0)
        self._products: tuple[tuple[object, ...], Timed] | None = None
        self._shared: tuple[tuple[object, ...], object] | None = None

    def products(
        self,
        problem: Problem,
        representation: Representation,
        exponent: float,
        columns: NDArray[np.intp],
        learned: NDArray[np.intp] | None,
        *,
        by_class: bool = False,
        once: bool = False,
    ) -> Timed:
        """<x^p, x'^p> between all documents and `columns`: those asked for last, or computed.

        Parameters
        ----------
        problem : Problem
        representation : Representation
            Its weighting; a normalization is left to `Gram`. With a Dirichlet prior, all documents are columns.
        exponent : float
            p.
        columns : intp array
            Rows of documents, ascending.
        learned : intp array or None
            Documents that the weighting learns from; None for those that learn nothing.
        by_class : bool
            Whether they are asked for by classes of columns.
        once : bool
            Whether they are asked for but once: what is large is then never held.
        """
        fields = (representation.normalization, *representation.fields) if representation.fields else None
        points = str((representation.weighting.plain, representation.dirichlet, fields))
        rows = [None if each is None else each.tobytes() for each in (learned, columns)]
        key = problem.key, points, exponent, *rows, once
        if self._products is not None and self._products[0] == key:
            return self._products[1]
        self._forget()
        started = time.perf_counter()
        weights = fitted_weighting(problem, problem.counts.matrix, representation, learned).transform(
            problem.counts.matrix
        )
        if representation.dirichlet:
            products = self.smoothed(weights, exponent, representation.dirichlet)
        else:
            divisors = {name: norms(weights, name) for name in NORMALIZATIONS}
            groups = _groups(problem.documents.labels[columns]) if by_class else None
            limit = self.budget // ONCE if once else self.budget
            embedded = embed(weights, exponent)
            if embedded.shape[0] * len(columns) * 8 > limit:
                held: Any = StreamedProducts(embedded, columns, groups)
            else:
                everything = len(columns) == embedded.shape[0]
                held = self._inner(embedded, embedded if everything else embedded[columns])
            products = InnerProducts(held, columns, self_products(embedded), divisors, exponent, embedded.shape[1])
        timed = Timed(products, time.perf_counter() - started)
        self._products = key, timed
        return timed

    def smoothed(self, weights: sp.csr_array, exponent: float, dirichlet: float) -> InnerProducts:
        """<θ^p, θ'^p> between all documents under a Dirichlet prior, see `frequency_products`."""
        self._forget()
        n = weights.shape[0]
        with numba_threads(self.jobs):
            return frequency_products(weights, exponent, dirichlet, out=self._take((n, n)))

    def of_points(
        self,
        points: sp.csr_array,
        normalization: str,
        exponent: float,
        columns: NDArray[np.intp],
        labels: NDArray[np.int32] | None,
    ) -> InnerProducts:
        """<x^p, x'^p> between normalized points and `columns` of them, for one method: never held as a whole.

        With `labels` of the columns they will be asked for class after class.
        """
        embedded, divisors = embed(points, exponent), {normalization: np.ones(points.shape[0])}
        held = StreamedProducts(embedded, columns, None if labels is None else _groups(labels))
        return InnerProducts(held, columns, self_products(embedded), divisors, exponent, embedded.shape[1])

    def square(self, points: sp.csr_array, width: int | None = None) -> Array:
        """<x, x'> between all points, shape (n, n): until the next inner products are written over them.

        Coordinates may come in blocks of a `width`, see `inner_products`.
        """
        self._forget()
        return self._inner(points, points, width)

    def shared(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """What `make` makes of inner products, made once while the same is asked for and they aren't written over."""
        if self._shared is None or self._shared[0] != key:
            self._shared = None  # let the old go before making the new
            self._shared = key, make()
        return cast("T", self._shared[1])

    def rankings(self, problem: Problem, split: Split) -> Rankings:
        """The terms by what they tell about the classes of a split's training documents."""
        if any(key != problem.key for key, _ in self._rankings):
            self._rankings.clear()
        key = problem.key, split.train.tobytes()
        if key not in self._rankings:
            self._rankings[key] = Rankings.learn(problem, split.train)
        return self._rankings[key]

    def release_matrices(self) -> None:
        """Let the memory of all large matrices go."""
        self._forget()
        self._memory, self.nodes = np.empty(0), NodeMatrix()

    def release(self) -> None:
        """Let all memory go."""
        self.release_matrices()
        self._rankings.clear()

    def _inner(self, left: sp.csr_array, right: sp.csr_array, width: int | None = None) -> Array:
        out = self._take((left.shape[0], right.shape[0]))
        with numba_threads(self.jobs):
            return inner_products(left, right, out=out, width=width)

    def _take(self, shape: tuple[int, int]) -> Array:
        if self._memory.size < shape[0] * shape[1]:
            self._memory = np.empty(0)  # free the old before taking the new
            self._memory = np.empty(shape[0] * shape[1])
        return self._memory[: shape[0] * shape[1]].reshape(shape)

    def _forget(self) -> None:
        """The memory is written over now: nothing that lies in it may be used any more."""
        self._products = self._shared = None


def _groups(labels: NDArray[np.int32]) -> list[NDArray[np.intp]]:
    """Columns, class after class, cut as one-vs-one machines ask for them."""
    of_class = [np.flatnonzero(labels == code) for code in np.unique(labels)]
    return [np.concatenate([of_class[code] for code in run]) for run in runs(np.array([*map(len, of_class)]))]
