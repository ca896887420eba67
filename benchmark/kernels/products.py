"""Inner products of points: a dense matrix of <x, x'> from two sparse ones, on all cores.

For each row, the postings of its terms are summed in one dense output row, which stays in the core's
second-level cache. Terms are taken in ascending order, so each entry is summed in one fixed order,
whatever the number of threads.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from benchmark.representation.weighting import canonical_csr
from benchmark.system.numba_jit import compile_lazily, prange

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array, Indices

    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]
    Rows = tuple[I8, I4, Array]
    Postings = tuple[I8, I8, I4, Array]


#: Rows: starts, terms and values. Postings of each term: starts, stops, columns and values.
_ROWS = "Tuple((i8[::1], i4[::1], f8[::1]))"
_POSTINGS = "Tuple((i8[::1], i8[::1], i4[::1], f8[::1]))"


# Numba checks whether signed indices are negative, which takes as long as the sums: inner loops use uint64 indices.


@compile_lazily(f"void(f8[::1], i8, i8, {_ROWS}, {_POSTINGS})")
def _fill_row(row: Array, i: int, first: int, rows: Rows, postings: Postings) -> None:
    """Sum row i's products with the columns from `first` on."""
    row_start, row_term, row_value = rows
    start, stop, column, posting_value = postings
    row[:] = 0.0
    for k in range(row_start[i], row_start[i + 1]):
        term, value = row_term[k], row_value[k]
        for q in range(np.uint64(start[term]), np.uint64(stop[term])):
            row[np.uint64(column[q] - first)] += value * posting_value[q]


# Two functions instead of one compiled twice: numba's disk cache doesn't distinguish parallel from serial compilation.
@compile_lazily(f"void(f8[:, ::1], {_ROWS}, {_POSTINGS})", parallel=True)
def _fill_on_all_cores(out: Array, rows: Rows, postings: Postings) -> None:
    for i in prange(out.shape[0]):
        _fill_row(out[i], i, 0, rows, postings)


@compile_lazily(f"void(f8[:, ::1], i8, i8, i8[::1], i8, {_ROWS}, {_POSTINGS})")
def _fill_tile(out: Array, left: int, right: int, numbers: I8, first: int, rows: Rows, postings: Postings) -> None:
    for i in range(out.shape[0]):
        _fill_row(out[i, left:right], numbers[i], first, rows, postings)


@compile_lazily("void(i8[::1], i8[::1], i8[::1], i4[::1], i8, i8)")
def _cut(start: I8, stop: I8, bounds: I8, column: I4, first: int, last: int) -> None:
    """Find where each term's postings of the columns first:last begin and end."""
    for term in range(len(bounds) - 1):
        term_columns = column[bounds[term] : bounds[term + 1]]
        start[term] = bounds[term] + np.searchsorted(term_columns, first)
        stop[term] = bounds[term] + np.searchsorted(term_columns, last)


def inner_products(left: sp.csr_array, right: sp.csr_array, out: Array | None = None) -> Array:
    """Return ``left @ right.T`` as a dense float64 array, shape (m, n).

    Parameters
    ----------
    left : CSR array, shape (m, V)
    right : CSR array, shape (n, V)
    out : float64 array, shape (m, n), C-contiguous, optional
        Overwritten and returned: allocating memory for a large result takes longer than the sums.

    Raises
    ------
    ValueError
        If the two have different numbers of columns, or `out` the wrong shape.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> a = sp.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> inner_products(a, a)
    array([[5., 6.],
           [6., 9.]])
    """
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"points of {left.shape[1]} and {right.shape[1]} coordinates have no inner product")
    shape = (left.shape[0], right.shape[0])
    if out is None:
        out = np.empty(shape)
    elif out.shape != shape:
        raise ValueError(f"out has shape {out.shape}, the product {shape}")
    bounds, column, value = csr_parts(canonical_csr(right).tocsc())
    _fill_on_all_cores(out, csr_parts(canonical_csr(left)), (bounds[:-1], bounds[1:], column, value))
    return out


class StreamedProducts:
    """Matrix of inner products that computes tiles on demand and stores none.

    Sums have the same order as in `inner_products`, hence the same bits. A tile is computed on the calling thread
    only, since several threads request tiles at the same time.

    Parameters
    ----------
    points : CSR array, shape (n, V)
    columns : intp array, shape (n_columns,)
        Row numbers in `points` of the points that are the matrix's columns.
    groups : sequence of intp arrays, optional
        Positions in `columns`, in the order in which tiles request them, divided into groups of at most the columns
        that are requested together. A tile visits every term of its rows once for each group that it has columns of.
        By default, one group of all columns.
    """

    def __init__(self, points: sp.csr_array, columns: Indices, groups: Sequence[Indices] | None = None) -> None:
        rows, groups = canonical_csr(points), groups or [np.arange(len(columns))]
        self._rows = csr_parts(rows)
        self._starts = np.cumsum([0, *map(len, groups)])
        self._place = np.empty(len(columns), dtype=np.intp)
        self._place[np.concatenate(groups)] = np.arange(len(columns))
        self._postings = [csr_parts(rows[columns[group]].tocsc()) for group in groups]

    def of(self, points: sp.csr_array) -> StreamedProducts:
        """Return the inner products of other points with the same columns."""
        other = copy(self)
        other._rows = csr_parts(canonical_csr(points))  # noqa: SLF001 - of this class
        return other

    def tile(self, rows: Indices, positions: Indices) -> Array:
        """Compute the inner products of some rows and columns, shape (len(rows), len(positions))."""
        places = self._place[positions]
        if not len(places):
            return np.empty((len(rows), 0))
        first, last = int(places.min()), int(places.max()) + 1
        groups = range(*(np.searchsorted(self._starts, (first, last - 1), side="right") - [1, 0]).tolist())
        out, left, numbers = np.empty((len(rows), last - first)), 0, rows.astype(np.int64)
        for group in groups:
            left = self._fill(out, left, numbers, group, first, last)
        in_order = last - first == len(places) and bool((np.diff(places) == 1).all())
        return out if in_order else np.take(out, places - first, axis=1)  # C order, unlike fancy indexing

    def _fill(self, out: Array, left: int, rows: I8, group: int, first: int, last: int) -> int:
        """Write the products with a group's columns within first:last to `out` from column `left`; return the end."""
        start, stop = self._starts[group : group + 2].tolist()
        first, last = max(first, start) - start, min(last, stop) - start
        bounds, column, value = self._postings[group]
        if (first, last) == (0, stop - start):
            begin, end = bounds[:-1], bounds[1:]
        else:
            begin, end = np.empty((2, len(bounds) - 1), dtype=np.int64)
            _cut(begin, end, bounds, column, first, last)
        right = left + last - first
        _fill_tile(out, left, right, rows, first, self._rows, (begin, end, column, value))
        return right


def self_products(points: sp.csr_array) -> Array:
    """Compute <x, x> of every row, shape (n,), summed in the same order as the diagonal of `inner_products`."""
    rows = canonical_csr(points)
    result = np.zeros(points.shape[0])
    np.add.at(result, np.repeat(np.arange(points.shape[0]), np.diff(rows.indptr)), rows.data * rows.data)
    return result


def csr_parts(matrix: sp.csr_array) -> Rows:
    """Return row starts, columns and values; read-only arrays, which compiled functions don't take, are copied."""
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        np.require(matrix.data, np.float64, ["C", "W"]),
    )
