"""Work on large matrices in blocks of rows on several threads, and limit the threads of BLAS."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from benchmark.system.arrays import Array, Indices

A = TypeVar("A")
B = TypeVar("B")

#: Number of values in a block: half a megabyte, so that repeated passes over them stay in one core's cache.
BLOCK_VALUES = 1 << 16


def n_processors() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def rows_per_block(n_columns: int) -> int:
    """Return the number of rows of `n_columns` values in a block; even, because LIBSVM's rows are stored in pairs."""
    return max(2, BLOCK_VALUES // max(n_columns, 1) // 2 * 2)


def run_blocks(work: Callable[[int, int], None], n: int, size: int, jobs: int) -> None:
    """Call ``work(start, stop)`` for consecutive blocks of 0..n on `jobs` threads; the first exception is raised."""
    for _ in map_in_order(lambda start: work(start, min(start + size, n)), range(0, n, size), jobs if n > size else 1):
        pass


def map_in_order(work: Callable[[A], B], items: Iterable[A], jobs: int) -> Iterator[B]:
    """Yield ``work(item)`` for each item, in order, from `jobs` threads; at most `jobs` + 1 items are in memory."""
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
    """Limit BLAS to `jobs` threads."""
    limits: AbstractContextManager[object] = _libraries().limit(limits=jobs, user_api="blas")
    return limits


@cache
def _libraries() -> ThreadpoolController:
    """Find the libraries with thread pools; cached, because the search takes 3 ms."""
    return ThreadpoolController()


def submatrix(matrix: Array, rows: Indices, columns: Indices) -> Array:
    """Return some rows and columns of a matrix; a view if both are consecutive, otherwise a copy."""
    row_index, column_index = _slice_if_consecutive(rows), _slice_if_consecutive(columns)
    if isinstance(row_index, slice) or isinstance(column_index, slice):
        return matrix[row_index, column_index]
    return matrix[np.ix_(row_index, column_index)]


def _slice_if_consecutive(indices: Indices) -> slice | Indices:
    if len(indices) and indices[-1] - indices[0] == len(indices) - 1 and bool((np.diff(indices) == 1).all()):
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def largest_magnitude(values: Array) -> float:
    """Return the largest absolute value: infinite or NaN unless all are finite, 0 if there are none."""
    return float(np.maximum(-values.min(initial=0.0), values.max(initial=0.0)))
