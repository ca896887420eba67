"""Large matrices a block of rows at a time, on all cores; and whose the cores are meanwhile."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from benchmark.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

A = TypeVar("A")
B = TypeVar("B")

#: Values computed at a time: half a megabyte, so that a link's passes over them stay in a core's own cache.
BLOCK_VALUES = 1 << 16


def rows_per_block(n_columns: int) -> int:
    """How many rows of `n_columns` values make a block; even, because LIBSVM's rows are stored in pairs."""
    return max(2, BLOCK_VALUES // max(n_columns, 1) // 2 * 2)


def run_blocks(work: Callable[[int, int], None], n: int, size: int, jobs: int) -> None:
    """Call ``work(start, stop)`` for consecutive blocks of 0..n on `jobs` threads; the first exception is raised."""
    bounds = [(start, min(start + size, n)) for start in range(0, n, size)]
    if jobs == 1 or len(bounds) == 1:
        for start, stop in bounds:
            work(start, stop)
        return
    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(lambda bound: work(*bound), bounds):
            pass


def in_turn(work: Callable[[A], B], items: Iterable[A], jobs: int) -> Iterator[B]:
    """Give ``work(item)`` for each item, in their order, from `jobs` threads; `jobs` + 1 items are held at most."""
    if jobs == 1:
        yield from map(work, items)
        return
    waiting = deque[Future[B]]()
    with ThreadPoolExecutor(jobs) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def blas_threads(jobs: int) -> AbstractContextManager[object]:
    """Let BLAS use so many threads."""
    limits: AbstractContextManager[object] = _libraries().limit(limits=jobs, user_api="blas")
    return limits


@cache
def _libraries() -> ThreadpoolController:
    """Those that have threads of their own: to look for them takes 3 ms each time."""
    return ThreadpoolController()


def picked(matrix: Array, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
    """Some rows and columns of a matrix: a view of those that follow each other, or else a copy."""
    own, among = _slice_if_consecutive(rows), _slice_if_consecutive(columns)
    if isinstance(own, slice) or isinstance(among, slice):
        return matrix[own, among]
    return matrix[np.ix_(own, among)]


def _slice_if_consecutive(indices: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    if len(indices) and indices[-1] - indices[0] == len(indices) - 1 and bool((np.diff(indices) == 1).all()):
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def largest_magnitude(values: Array) -> float:
    """The largest of their absolute values, and no finite number unless all of them are; 0 of none.

    Without the sign, the bits of two numbers stand in the order of the numbers, infinity comes after them, and what is
    no number last; and whole numbers are compared several at a time, which takes a third of what summing them does.
    """
    flat = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
    return float(np.int64(_largest_bits(flat.view(np.int64))).view(np.float64))


@compiled("i8(i8[::1])")
def _largest_bits(bits: NDArray[np.int64]) -> int:
    largest = np.int64(0)
    for i in range(len(bits)):
        largest = max(largest, bits[i] & np.int64(0x7FFFFFFFFFFFFFFF))
    return int(largest)


def transposed(matrix: Array) -> Array:
    """A C-contiguous copy of a matrix's transpose, made a square at a time: numpy goes row by row."""
    out = np.empty(matrix.shape[::-1])
    _transpose(out, np.ascontiguousarray(matrix))
    return out


@compiled("void(f8[:, ::1], f8[:, ::1])")
def _transpose(out: Array, matrix: Array) -> None:
    m, n = matrix.shape
    for top in range(0, m, 8):
        for left in range(0, n, 8):
            if top + 8 <= m and left + 8 <= n:  # of a length that the compiler knows, and without asking for signs
                for j in range(left, left + 8):
                    for i in range(top, top + 8):
                        out[np.uint64(j), np.uint64(i)] = matrix[np.uint64(i), np.uint64(j)]
            else:
                for j in range(left, min(left + 8, n)):
                    for i in range(top, min(top + 8, m)):
                        out[j, i] = matrix[i, j]
