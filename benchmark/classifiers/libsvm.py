"""LIBSVM's solver on kernel values in numpy's memory: the only module that knows LIBSVM's C structures.

A precomputed problem is an array of rows of ``struct svm_node {int index; double value;}``, and training reads only
``x[i][(int)x[j][0].value].value``: the value of node 0 is the row's serial number, the value of node j is the row's
kernel value with row j, and `index` is never read. Half of each 16-byte node is therefore free, and two rows share
the same memory: the even row's values lie in the second halves of the nodes; the odd row's pointer is 8 bytes further
on, and its values lie in the first halves.
"""

from __future__ import annotations

import ctypes
import time
import weakref
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import ThreadpoolController

from benchmark.system.numba_jit import compile_lazily
from benchmark.system.row_blocks import largest_magnitude, rows_per_block, run_blocks, submatrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmark.system.arrays import Array, Indices


def _official() -> Any:
    """Import libsvm-official's module on first use, as it imports numba, which is slow."""
    from libsvm import svm  # noqa: PLC0415

    return svm


@cache
def _libraries() -> ThreadpoolController:
    """Return a controller of the thread pools of all loaded libraries, LIBSVM's OpenMP among them."""
    _official()
    return ThreadpoolController()


#: LIBSVM's -m: the most megabytes of kernel rows that it caches for each SVM being trained.
CACHE_MB = 200.0
#: Rows and columns of a tile of a symmetric matrix: half a megabyte of values, large enough for BLAS to be efficient.
SYMMETRIC_TILE_ROWS = 256


class KernelTiles(ABC):
    """Kernel values by tiles, computed from a `source` that several kernels may share, as by `LazyGram`.

    Parameters
    ----------
    rows, columns : intp arrays
        Rows and columns of a matrix that `source` reads.
    """

    #: Whether sources have to be computed, so that one wide source costs less than many narrow ones.
    streamed = False

    def __init__(self, rows: Indices, columns: Indices) -> None:
        self.rows, self.columns = rows, columns

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.rows), len(self.columns)

    def block(self, start: int, stop: int) -> Array:
        """Return the rows start:stop, shape (stop - start, n_columns)."""
        rows, columns = slice(start, stop), slice(0, len(self.columns))
        return self.values(self.source(rows, columns), rows, columns)

    @abstractmethod
    def source(self, rows: slice, columns: slice) -> Array:
        """Return the array that a tile's values are computed from, of the tile's shape; it must not be modified."""

    def both(self, first: slice, second: slice) -> tuple[Array, Array]:
        """Return the `source` of first × second and of second × first, if rows and columns are the same documents."""
        across = self.source(first, second)
        # Streamed products of both tiles are sums of the same terms in the same order, hence equal bit by bit.
        return across, np.ascontiguousarray(across.T) if self.streamed else self.source(second, first)

    @abstractmethod
    def values(self, source: Array, rows: slice, columns: slice) -> Array:
        """Return a tile's values as a new array; FloatingPointError if one is not finite."""


class DenseRows(KernelTiles):
    """Rows and columns of a kernel matrix in memory."""

    def __init__(self, matrix: Array, rows: Indices | None = None, columns: Indices | None = None) -> None:
        self.matrix, (n, m) = matrix, matrix.shape
        super().__init__(np.arange(n) if rows is None else rows, np.arange(m) if columns is None else columns)

    def source(self, rows: slice, columns: slice) -> Array:
        """Return the values of the rows and columns."""
        return submatrix(self.matrix, self.rows[rows], self.columns[columns])

    def values(self, source: Array, rows: slice, columns: slice) -> Array:  # noqa: ARG002
        """Return the `source` itself; FloatingPointError if a value is not finite."""
        if not np.isfinite(largest_magnitude(source)):
            raise FloatingPointError("the kernel matrix holds values that are not finite numbers")
        return source


@dataclass(frozen=True)
class BinarySvm:
    """Trained binary SVM: decision(x) = Σ coefficients · k(support, x) - rho, positive for the first class.

    Parameters
    ----------
    support : intp array, shape (n_support,)
        Rows of the kernel matrix, in LIBSVM's order of summation.
    coefficients : float64 array, shape (n_support,)
        y_i α_i.
    rho : float
    seconds : float
        Wall-clock time of training.
    """

    support: Indices
    coefficients: Array
    rho: float
    seconds: float


class NodeMatrix:
    """Square kernel matrix in LIBSVM's layout, whose memory is reused for the next matrix.

    New memory costs a page fault per 4 kB, which for a large matrix takes longer than computing its values.
    """

    def __init__(self) -> None:
        self._memory = np.empty(0)
        self._nodes = np.empty((0, 2, 2))
        self._square: Callable[[], Array | None] = lambda: None
        self._buffers: list[NodeMatrix] = []
        self.n = 0

    def desks(self, jobs: int) -> list[NodeMatrix]:
        """Return one buffer for each of `jobs` threads, this one first; all are reused in later calls."""
        self._buffers += [NodeMatrix() for _ in range(jobs - 1 - len(self._buffers))]
        return [self, *self._buffers[: jobs - 1]]

    def fill_square(self, matrix: Array, jobs: int) -> None:
        """Write a square matrix, unless this buffer holds it already; its values must not change meanwhile."""
        if self._square() is not matrix:
            self.fill(DenseRows(matrix), jobs)
            self._square = weakref.ref(matrix)

    def fill(self, kernel: KernelTiles, jobs: int, ridge: float = 0.0) -> None:
        """Write the values of the square `kernel` on `jobs` threads, with `ridge` added to the diagonal."""
        n = kernel.shape[0]
        self.resize(n)
        run_blocks(lambda i, j: self.write(i, 0, kernel.block(i, j)), n, rows_per_block(n), jobs)
        self.add_to_diagonal(ridge, 0, n)

    def fill_symmetric(self, tile: Callable[[slice, slice], Array], n: int, jobs: int) -> None:
        """Write a symmetric matrix of n rows on `jobs` threads; `tile` is called on and above the diagonal only."""
        self.resize(n)

        def strip(top: int, bottom: int) -> None:
            for left in range(top, n, SYMMETRIC_TILE_ROWS):
                right = min(left + SYMMETRIC_TILE_ROWS, n)
                values = tile(slice(top, bottom), slice(left, right))
                self.write(top, left, values)
                if left > top:
                    self.write(left, top, np.ascontiguousarray(values.T))

        run_blocks(strip, n, SYMMETRIC_TILE_ROWS, jobs)

    def resize(self, n: int) -> None:
        """Allocate memory for n rows; their values are undefined until written."""
        self._square, self.n = lambda: None, n
        pairs, width = (n + 1) // 2, n + 2
        if self._memory.size < pairs * width * 2:
            self._memory = np.empty(0)  # free the old memory before allocating the new
            self._memory = np.empty(pairs * width * 2)
        self._nodes = self._memory[: pairs * width * 2].reshape(pairs, width, 2)

    def write(self, row: int, column: int, values: Array) -> None:
        """Write a tile whose first value is that of `row` and `column`."""
        _interleave(self._nodes, row, column + 1, np.ascontiguousarray(values))

    def add_to_diagonal(self, ridge: float, start: int, stop: int) -> None:
        """Add `ridge` to the diagonal entries of the rows start:stop."""
        if ridge:
            rows = np.arange(start, stop)
            even, odd = rows[rows % 2 == 0], rows[rows % 2 == 1]
            self._nodes[even // 2, even + 1, 1] += ridge
            self._nodes[odd // 2, odd + 2, 0] += ridge

    def pointers(self) -> NDArray[np.uintp]:
        """Write the rows' serial numbers and return the addresses of their node 0, shape (n,).

        The serial numbers are written after the values, because the first write to new memory waits for page faults,
        and several threads write the values.
        """
        serial = np.arange(1, self.n + 1)
        self._nodes[:, 0, 1] = serial[0::2]
        self._nodes[: self.n // 2, 1, 0] = serial[1::2]
        stride = self._nodes.strides[0]
        row = np.arange(self.n, dtype=np.uintp)
        return np.uintp(self._nodes.ctypes.data) + (row // 2) * np.uintp(stride) + (row % 2) * np.uintp(8)


@compile_lazily("void(f8[:, :, ::1], i8, i8, f8[:, ::1])")
def _interleave(nodes: Array, row: int, column: int, values: Array) -> None:
    """Write a tile two rows at a time, so that the memory that they share is traversed once."""
    m, n = values.shape
    if n == 0:
        return
    i = 0
    while i < m:
        odd = (row + i) % 2
        shared = nodes[(row + i) // 2, column : column + n + 1]  # indexed from 0, so numba needn't check for negatives
        if odd == 0 and i + 1 < m:
            even_row, odd_row = values[i], values[i + 1]
            shared[0, 1] = even_row[0]
            for j in range(1, n):
                shared[j, 0] = odd_row[j - 1]
                shared[j, 1] = even_row[j]
            shared[n, 0] = odd_row[n - 1]
            i += 2
        else:
            for j in range(n):
                shared[j + odd, 1 - odd] = values[i, j]
            i += 1


def binary_svm_trainer(
    nodes: NodeMatrix, *, C: float, epsilon: float
) -> Callable[[tuple[Indices, Indices]], BinarySvm]:
    """Return a function for threads of `training_pool` that trains on the rows of a first and of a second class.

    Rows are passed class after class, first class first, as `svm_train` orders them after grouping: the solver gets the
    same numbers in the same order as on the multi-class problem, and returns the same α.
    """
    pointers, parameter = nodes.pointers(), svm_parameter(C, epsilon)

    def trained(problem: tuple[Indices, Indices]) -> BinarySvm:
        rows = np.concatenate(problem)
        return train_binary_svm(pointers[rows], rows, len(problem[0]), parameter)

    return trained


def training_pool(jobs: int) -> ThreadPoolExecutor:
    """Return a thread pool whose workers run LIBSVM with one OpenMP thread (the limit is per thread)."""
    return ThreadPoolExecutor(jobs, initializer=lambda: _libraries().limit(limits=1, user_api="openmp"))


def svm_parameter(C: float, epsilon: float) -> Any:
    """Return LIBSVM's ``struct svm_parameter`` for C-SVC on a precomputed kernel."""
    official = _official()
    # The constructor would make the process print to standard output, also from SVMs that other threads are training.
    parameter = official.svm_parameter.__new__(official.svm_parameter)
    parameter.set_to_default_values()
    parameter.svm_type, parameter.kernel_type = official.svm_forms.C_SVC, official.kernel_names.PRECOMPUTED
    parameter.C, parameter.eps, parameter.cache_size = C, epsilon, CACHE_MB
    parameter.shrinking, parameter.probability, parameter.nr_weight = 1, 0, 0
    # LIBSVM prints through a callback. A Python function would take the interpreter's lock for every dot, in threads
    # that run without the lock. The C library's strlen reads the text and has no effect.
    silent = ctypes.cast(ctypes.CDLL(None).strlen, official.PRINT_STRING_FUN)
    official.libsvm.svm_set_print_string_function(silent)  # other code may have set another callback
    return parameter


def train_binary_svm(pointers: NDArray[np.uintp], rows: Indices, n_first: int, parameter: Any) -> BinarySvm:
    """Train a binary SVM on the rows at some addresses, those of the first class before those of the second.

    Parameters
    ----------
    pointers : uintp array, shape (m,)
        Addresses of the rows, from `NodeMatrix.pointers`.
    rows : intp array, shape (m,)
        Row numbers, from which `BinarySvm.support` is taken.
    n_first : int
        Number of rows of the first class.
    parameter : ctypes structure
        From `svm_parameter`.

    Raises
    ------
    ValueError
        If LIBSVM rejects the parameter.
    """
    official = _official()
    row_pointers = np.ascontiguousarray(pointers)
    labels = np.where(np.arange(len(rows)) < n_first, 1.0, -1.0)
    # The constructor of libsvm-official's class copies element by element; the C code reads only the fields.
    problem = official.svm_problem.__new__(official.svm_problem)
    problem.l = len(rows)
    problem.y = labels.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    problem.x = ctypes.cast(row_pointers.ctypes.data, ctypes.POINTER(ctypes.POINTER(official.svm_node)))
    complaint = official.libsvm.svm_check_parameter(ctypes.byref(problem), ctypes.byref(parameter))
    if complaint:
        raise ValueError(f"LIBSVM refuses the parameters: {complaint.decode()}")
    started = time.perf_counter()
    handle = official.libsvm.svm_train(ctypes.byref(problem), ctypes.byref(parameter))
    seconds = time.perf_counter() - started
    try:
        return _machine(handle.contents, rows, seconds)
    finally:
        official.libsvm.svm_free_and_destroy_model(ctypes.byref(handle))


def _machine(model: Any, rows: Indices, seconds: float) -> BinarySvm:
    n_support = model.l
    if n_support == 0:
        return BinarySvm(np.empty(0, dtype=np.intp), np.empty(0), float(model.rho[0]), seconds)
    indices = np.ctypeslib.as_array(model.sv_indices, (n_support,))
    coefficients = np.ctypeslib.as_array(model.sv_coef[0], (n_support,)).copy()
    return BinarySvm(rows[indices - 1], coefficients, float(model.rho[0]), seconds)
