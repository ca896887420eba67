"""Points to inner products: a dense matrix of <x, x'> from two sparse ones, on all cores.

For each row, the postings of its terms are added up in one dense output row, which stays in the core's
second-level cache. Terms are taken in ascending order, so the sum of each entry has one fixed order,
whatever the number of threads.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from benchmark.compiled import compiled, prange
from benchmark.representation.weighting import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]


_POSTINGS = "i8[::1], i4[::1], f8[::1]"


# Of a number that may be negative numba asks each time whether it counts from the end: as long as the sum itself takes.


@compiled(f"void(f8[::1], i8, i8, {_POSTINGS}, i8[::1], {_POSTINGS})")
def _fill_row(
    row: Array,
    i: int,
    first: int,
    row_start: I8,
    row_term: I4,
    row_value: Array,
    posting_start: I8,
    posting_stop: I8,
    posting_column: I4,
    posting_value: Array,
) -> None:
    """Sum the products with the columns from `first` on, whose postings stand between a term's start and stop."""
    row[:] = 0.0
    for k in range(row_start[i], row_start[i + 1]):
        term, value = row_term[k], row_value[k]
        for q in range(np.uint64(posting_start[term]), np.uint64(posting_stop[term])):
            row[np.uint64(posting_column[q] - first)] += value * posting_value[q]


# Two functions, not one compiled twice: numba's cache on disk doesn't tell the two ways of compiling apart.
@compiled(f"void(f8[:, ::1], {_POSTINGS}, i8[::1], {_POSTINGS})", parallel=True)
def _fill_on_all_cores(
    out: Array,
    row_start: I8,
    row_term: I4,
    row_value: Array,
    posting_start: I8,
    posting_stop: I8,
    posting_column: I4,
    posting_value: Array,
) -> None:
    for i in prange(out.shape[0]):
        _fill_row(
            out[i], i, 0, row_start, row_term, row_value, posting_start, posting_stop, posting_column, posting_value
        )


@compiled(f"void(f8[::1], i8, {_POSTINGS}, i8[::1], {_POSTINGS})")
def _fill_row_from_itself(
    row: Array,
    i: int,
    row_start: I8,
    row_term: I4,
    row_value: Array,
    place: I8,
    posting_start: I8,
    posting_column: I4,
    posting_value: Array,
) -> None:
    """Sum what stands on the diagonal and to its right; `place` is where an entry stands among its term's postings."""
    row[i:] = 0.0
    for k in range(row_start[i], row_start[i + 1]):
        value = row_value[k]
        for q in range(np.uint64(place[k]), np.uint64(posting_start[row_term[k] + 1])):
            row[np.uint64(posting_column[q])] += value * posting_value[q]


@compiled("void(i8[::1], i4[::1], i8[::1])")
def _fill_places(place: I8, row_term: I4, following: I8) -> None:
    """Find where each entry stands among its term's postings; `following` is where those of each term begin."""
    for k in range(len(row_term)):
        term = np.uint64(row_term[k])
        place[k] = following[term]
        following[term] += 1


@compiled(f"void(f8[:, ::1], {_POSTINGS}, i8[::1], {_POSTINGS})", parallel=True)
def _fill_square(
    out: Array,
    row_start: I8,
    row_term: I4,
    row_value: Array,
    place: I8,
    posting_start: I8,
    posting_column: I4,
    posting_value: Array,
) -> None:
    n = out.shape[0]
    for p in prange((n + 1) // 2):  # a long row with a short one: threads have as much to do
        _fill_row_from_itself(
            out[p], p, row_start, row_term, row_value, place, posting_start, posting_column, posting_value
        )
        last = n - 1 - p
        _fill_row_from_itself(
            out[last], last, row_start, row_term, row_value, place, posting_start, posting_column, posting_value
        )


@compiled("void(f8[:, ::1])", parallel=True)
def _mirror(square: Array) -> None:
    """Copy what stands above the diagonal to below it."""
    n = square.shape[0]
    for block in prange((n + 15) // 16):
        top = block * 16
        for left in range(0, top + 1, 16):
            for i in range(top, min(top + 16, n)):
                for j in range(left, min(left + 16, i)):
                    square[i, j] = square[j, i]


@compiled(f"void(f8[:, ::1], i8, i8, i8[::1], i8, {_POSTINGS}, i8[::1], {_POSTINGS})")
def _fill_tile(
    out: Array,
    left: int,
    right: int,
    rows: I8,
    first: int,
    row_start: I8,
    row_term: I4,
    row_value: Array,
    posting_start: I8,
    posting_stop: I8,
    posting_column: I4,
    posting_value: Array,
) -> None:
    for i in range(out.shape[0]):
        at = rows[i]
        _fill_row(
            out[i, left:right],
            at,
            first,
            row_start,
            row_term,
            row_value,
            posting_start,
            posting_stop,
            posting_column,
            posting_value,
        )


@compiled("void(i8[::1], i8[::1], i8[::1], i4[::1], i8, i8)")
def _cut(start: I8, stop: I8, bounds: I8, column: I4, first: int, last: int) -> None:
    """Find where each term's postings of the columns first:last begin and end."""
    for term in range(len(bounds) - 1):
        own = column[bounds[term] : bounds[term + 1]]
        start[term] = bounds[term] + np.searchsorted(own, first)
        stop[term] = bounds[term] + np.searchsorted(own, last)


def inner_products(left: sp.csr_array, right: sp.csr_array, out: Array | None = None) -> Array:
    """``left @ right.T`` as a dense float64 array, shape (m, n).

    Parameters
    ----------
    left : CSR array, shape (m, V)
    right : CSR array, shape (n, V)
        Where it is `left` itself, half of the sums are done: <x, x'> and <x', x> have the same bits.
    out : float64 array, shape (m, n), C-contiguous, optional
        Written over and returned: fresh memory for a large result costs more time than the sums.

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
    rows = canonical(left)
    if left is right:
        own, postings = _parts(rows), _parts(rows.tocsc())
        place = np.empty(rows.nnz, dtype=np.int64)
        _fill_places(place, own[1], postings[0][:-1].copy())
        _fill_square(out, *own, place, *postings)
        _mirror(out)
    else:
        bounds, column, value = _parts(canonical(right).tocsc())
        _fill_on_all_cores(out, *_parts(rows), bounds[:-1], bounds[1:], column, value)
    return out


class StreamedProducts:
    """Tiles of inner products that are computed whenever they are asked for, of a matrix that is never held.

    The same sums in the same order as `inner_products`, hence the same bits; on the calling thread alone, since the
    threads that ask work side by side.

    Parameters
    ----------
    points : CSR array, shape (n, V)
    columns : intp array, shape (n_columns,)
        The points that rows are multiplied with.
    groups : sequence of intp arrays, optional
        Columns in the order in which they are asked for, as positions in `columns`, cut to what is asked for together
        at most: each tile costs a look at every term of its rows for every group it has columns of. One of all columns
        unless given.
    """

    def __init__(
        self, points: sp.csr_array, columns: NDArray[np.intp], groups: Sequence[NDArray[np.intp]] | None = None
    ) -> None:
        own, groups = canonical(points), groups or [np.arange(len(columns))]
        self.shape = (points.shape[0], len(columns))
        self.hold(own)
        self._starts = np.cumsum([0, *map(len, groups)])
        self._place = np.empty(len(columns), dtype=np.intp)
        self._place[np.concatenate(groups)] = np.arange(len(columns))
        self._postings = [_parts(own[columns[group]].tocsc()) for group in groups]

    def of(self, points: sp.csr_array) -> StreamedProducts:
        """The products of other points with the same columns."""
        other = copy(self)
        other.hold(points)
        return other

    def hold(self, points: sp.csr_array) -> None:
        """Let these be the points whose rows are asked for."""
        self.shape, self._rows = (points.shape[0], self.shape[1]), _parts(canonical(points))

    def tile(self, rows: NDArray[np.intp], positions: NDArray[np.intp]) -> Array:
        """The products of these rows with these columns, shape (len(rows), len(positions))."""
        places = self._place[positions]
        if not len(places):
            return np.empty((len(rows), 0))
        first, last = int(places.min()), int(places.max()) + 1
        groups = range(*(np.searchsorted(self._starts, (first, last - 1), side="right") - [1, 0]).tolist())
        out, left, numbers = np.empty((len(rows), last - first)), 0, rows.astype(np.int64)
        for group in groups:
            left = self._fill(out, left, numbers, group, first, last)
        in_order = last - first == len(places) and bool((np.diff(places) == 1).all())
        return out if in_order else np.take(out, places - first, axis=1)  # row by row, unlike an index

    def __getitem__(self, rows: slice) -> Array:
        """The products of these rows with all columns."""
        return self.tile(np.arange(self.shape[0])[rows], np.arange(self.shape[1]))

    def _fill(self, out: Array, left: int, rows: I8, group: int, first: int, last: int) -> int:
        """Write the products with a group's columns among those that stand at first:last of all, and say up to where.

        They are written from the column `left` of `out` on.
        """
        start, stop = self._starts[group : group + 2].tolist()
        first, last = max(first, start) - start, min(last, stop) - start
        bounds, column, value = self._postings[group]
        if (first, last) == (0, stop - start):
            begin, end = bounds[:-1], bounds[1:]
        else:
            begin, end = np.empty((2, len(bounds) - 1), dtype=np.int64)
            _cut(begin, end, bounds, column, first, last)
        right = left + last - first
        _fill_tile(out, left, right, rows, first, *self._rows, begin, end, column, value)
        return right


def self_products(points: sp.csr_array) -> Array:
    """<x, x> of every row, shape (n,), summed in the same order as `inner_products` sums its diagonal."""
    rows = canonical(points)
    result = np.zeros(points.shape[0])
    np.add.at(result, np.repeat(np.arange(points.shape[0]), np.diff(rows.indptr)), rows.data * rows.data)
    return result


def _parts(matrix: sp.csr_array) -> tuple[I8, I4, Array]:
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        np.ascontiguousarray(matrix.data, dtype=np.float64),
    )
