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
from benchmark.system.numba_jit import compile_lazily, numba_thread_count, prange

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]


_POSTINGS = "i8[::1], i4[::1], f8[::1]"
_BLOCKS = "i4[:, ::1], i8[::1], i8[:, ::1], i4[::1], f8[::1], f8[::1], i8[:, ::1], i4[::1], i8[::1]"
#: Number of rows that a thread fills at a time.
_ROWS = 64


# Numba checks whether signed indices are negative, which takes as long as the sums: inner loops use uint64 indices.


@compile_lazily(f"void(f8[::1], i8, i8, {_POSTINGS}, i8[::1], {_POSTINGS})")
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
    """Sum row i's products with the columns from `first` on, from each term's postings between start and stop."""
    row[:] = 0.0
    for k in range(row_start[i], row_start[i + 1]):
        term, value = row_term[k], row_value[k]
        for q in range(np.uint64(posting_start[term]), np.uint64(posting_stop[term])):
            row[np.uint64(posting_column[q] - first)] += value * posting_value[q]


# Two functions instead of one compiled twice: numba's disk cache doesn't distinguish parallel from serial compilation.
@compile_lazily(f"void(f8[:, ::1], {_POSTINGS}, i8[::1], {_POSTINGS})", parallel=True)
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


@compile_lazily("void(i8[:, ::1], i8[::1], i4[::1], i8)", parallel=True)
def _find_blocks(cut: I8, row_start: I8, row_term: I4, width: int) -> None:
    """Find where the entries of each block of `width` terms begin in each row, and where the row ends."""
    for i in prange(cut.shape[0]):
        block = 0
        for p in range(row_start[i], row_start[i + 1]):
            while block <= row_term[p] // width:
                cut[i, block] = p
                block += 1
        cut[i, block:] = row_start[i + 1]


@compile_lazily(f"void({_BLOCKS})", parallel=True)
def _find_postings(
    member: I4,
    size: I8,
    cut: I8,
    row_term: I4,
    row_value: Array,
    posting_value: Array,
    posting_start: I8,
    posting_member: I4,
    place: I8,
) -> None:
    """Find each block's members, the rows that have a term of the block, and each term's postings among the members.

    The postings of a block begin at ``posting_start[block, 0]``, and `place` maps each entry to its posting.
    """
    n, width = cut.shape[0], posting_start.shape[1] - 1
    for block in prange(member.shape[0]):
        start, first, m = posting_start[block], block * width, 0
        for i in range(n):
            if cut[i, block] < cut[i, block + 1]:
                member[block, m] = i
                m += 1
            for p in range(cut[i, block], cut[i, block + 1]):
                start[row_term[p] - first + 1] += 1
        size[block] = m
        for term in range(width):
            start[term + 1] += start[term]
        following = start[:-1].copy()
        for a in range(m):
            i = int(member[block, a])
            for p in range(cut[i, block], cut[i, block + 1]):
                q = np.uint64(following[row_term[p] - first])
                posting_member[q], posting_value[q], place[p] = a, row_value[p], q
                following[row_term[p] - first] += 1


@compile_lazily(f"void(f8[:, ::1], i8, i8, {_BLOCKS})")
def _fill_rows_from_themselves(
    out: Array,
    first: int,
    last: int,
    member: I4,
    size: I8,
    cut: I8,
    row_term: I4,
    row_value: Array,
    posting_value: Array,
    posting_start: I8,
    posting_member: I4,
    place: I8,
) -> None:
    """Sum the entries on and right of the diagonal in the rows first:last, block after block of terms.

    A block's sums are gathered into a contiguous array, so that the sums and the block's postings stay in the core's
    cache.
    """
    sums, width = np.empty(out.shape[0]), posting_start.shape[1] - 1
    for i in range(first, last):
        out[i, i:] = 0.0
    for block in range(member.shape[0]):
        m, block_rows = size[block], member[block]
        for a in range(np.searchsorted(block_rows[:m], first), np.searchsorted(block_rows[:m], last)):
            i = int(block_rows[a])
            for b in range(a, m):
                sums[b] = out[i, np.uint64(block_rows[b])]
            for p in range(cut[i, block], cut[i, block + 1]):
                value, stop = row_value[p], posting_start[block, row_term[p] - block * width + 1]
                for q in range(np.uint64(place[p]), np.uint64(stop)):
                    sums[np.uint64(posting_member[q])] += value * posting_value[q]
            for b in range(a, m):
                out[i, np.uint64(block_rows[b])] = sums[b]


@compile_lazily(f"void(f8[:, ::1], i8, {_BLOCKS})", parallel=True)
def _fill_square(
    out: Array,
    step: int,
    member: I4,
    size: I8,
    cut: I8,
    row_term: I4,
    row_value: Array,
    posting_value: Array,
    posting_start: I8,
    posting_member: I4,
    place: I8,
) -> None:
    n = out.shape[0]
    count = (n + step - 1) // step
    for number in prange((count + 1) // 2):  # pair long rows with short ones to balance threads
        for side in range(2 if 2 * number < count - 1 else 1):
            top = step * (count - 1 - number if side else number)
            _fill_rows_from_themselves(
                out,
                top,
                min(top + step, n),
                member,
                size,
                cut,
                row_term,
                row_value,
                posting_value,
                posting_start,
                posting_member,
                place,
            )


@compile_lazily("void(f8[:, ::1])", parallel=True)
def _mirror(square: Array) -> None:
    """Copy the entries above the diagonal to below it."""
    n = square.shape[0]
    for number in prange((n + 7) // 8):
        top = number * 8
        bottom = min(top + 8, n)
        for left in range(0, top if bottom == top + 8 else 0, 8):  # 8 × 8 tiles: a size known to the compiler
            for i in range(top, top + 8):
                for j in range(left, left + 8):
                    square[np.uint64(i), np.uint64(j)] = square[np.uint64(j), np.uint64(i)]
        for i in range(top, bottom):
            for j in range(top if bottom == top + 8 else 0, i):
                square[i, j] = square[j, i]


@compile_lazily(f"void(f8[:, ::1], i8, i8, i8[::1], i8, {_POSTINGS}, i8[::1], {_POSTINGS})")
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


@compile_lazily("void(i8[::1], i8[::1], i8[::1], i4[::1], i8, i8)")
def _cut(start: I8, stop: I8, bounds: I8, column: I4, first: int, last: int) -> None:
    """Find where each term's postings of the columns first:last begin and end."""
    for term in range(len(bounds) - 1):
        term_columns = column[bounds[term] : bounds[term + 1]]
        start[term] = bounds[term] + np.searchsorted(term_columns, first)
        stop[term] = bounds[term] + np.searchsorted(term_columns, last)


def inner_products(
    left: sp.csr_array, right: sp.csr_array, out: Array | None = None, width: int | None = None
) -> Array:
    """Return ``left @ right.T`` as a dense float64 array, shape (m, n).

    Parameters
    ----------
    left : CSR array, shape (m, V)
    right : CSR array, shape (n, V)
        If it is `left` itself, only half of the sums are computed: <x, x'> and <x', x> are equal bit by bit.
    out : float64 array, shape (m, n), C-contiguous, optional
        Overwritten and returned: allocating memory for a large result takes longer than the sums.
    width : int, optional
        Number of terms in a block. If `right` is `left`, sums are computed block by block, with the same bits; a point
        has few terms of each block.

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
    rows = canonical_csr(left)
    if left is right:
        _square(out, *_parts(rows), max(1, rows.shape[1]), width)
        _mirror(out)
    else:
        bounds, column, value = _parts(canonical_csr(right).tocsc())
        _fill_on_all_cores(out, *_parts(rows), bounds[:-1], bounds[1:], column, value)
    return out


def _square(out: Array, row_start: I8, row_term: I4, row_value: Array, n_terms: int, width: int | None) -> None:
    """Write the inner products of rows with each other, on and right of the diagonal."""
    n, width = len(out), width or n_terms
    blocks = -(-n_terms // width)
    cut = np.empty((n, blocks + 1), dtype=np.int64)
    _find_blocks(cut, row_start, row_term, width)
    member, size = np.empty((blocks, n), dtype=np.int32), np.empty(blocks, dtype=np.int64)
    start = np.zeros((blocks, width + 1), dtype=np.int64)
    start[1:, 0] = np.cumsum(np.diff(cut, axis=1).sum(axis=0))[:-1]
    value, posting = np.empty(len(row_value)), np.empty(len(row_term), np.int32)
    place = np.empty(len(row_term), np.int64)
    block_arrays = member, size, cut, row_term, row_value, value, start, posting, place
    _find_postings(*block_arrays)
    # With blocks, a thread takes as many rows as possible at a time, to reuse the block that is in the cache.
    step = _ROWS if blocks == 1 else max(1, -(-n // (2 * numba_thread_count())))
    _fill_square(out, step, *block_arrays)


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

    def __init__(
        self, points: sp.csr_array, columns: NDArray[np.intp], groups: Sequence[NDArray[np.intp]] | None = None
    ) -> None:
        rows, groups = canonical_csr(points), groups or [np.arange(len(columns))]
        self.shape = (points.shape[0], len(columns))
        self.hold(rows)
        self._starts = np.cumsum([0, *map(len, groups)])
        self._place = np.empty(len(columns), dtype=np.intp)
        self._place[np.concatenate(groups)] = np.arange(len(columns))
        self._postings = [_parts(rows[columns[group]].tocsc()) for group in groups]

    def of(self, points: sp.csr_array) -> StreamedProducts:
        """Return the inner products of other points with the same columns."""
        other = copy(self)
        other.hold(points)
        return other

    def hold(self, points: sp.csr_array) -> None:
        """Replace the points of the rows by other points, shape (m, V)."""
        self.shape, self._rows = (points.shape[0], self.shape[1]), _parts(canonical_csr(points))

    def tile(self, rows: NDArray[np.intp], positions: NDArray[np.intp]) -> Array:
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

    def __getitem__(self, rows: slice) -> Array:
        """Compute the inner products of a slice of rows with all columns."""
        return self.tile(np.arange(self.shape[0])[rows], np.arange(self.shape[1]))

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
        _fill_tile(out, left, right, rows, first, *self._rows, begin, end, column, value)
        return right


def self_products(points: sp.csr_array) -> Array:
    """Compute <x, x> of every row, shape (n,), summed in the same order as the diagonal of `inner_products`."""
    rows = canonical_csr(points)
    result = np.zeros(points.shape[0])
    np.add.at(result, np.repeat(np.arange(points.shape[0]), np.diff(rows.indptr)), rows.data * rows.data)
    return result


def _parts(matrix: sp.csr_array) -> tuple[I8, I4, Array]:
    # Compiled functions take no read-only array, such as joblib maps into memory: it is copied.
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        np.require(matrix.data, np.float64, ["C", "W"]),
    )
