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


@compiled(f"void(f8[::1], i8, {_POSTINGS}, {_POSTINGS})")
def _fill_row(
    row: Array,
    i: int,
    row_start: I8,
    row_term: I4,
    row_value: Array,
    posting_start: I8,
    posting_column: I4,
    posting_value: Array,
) -> None:
    row[:] = 0.0
    for k in range(row_start[i], row_start[i + 1]):
        term, value = row_term[k], row_value[k]
        for q in range(posting_start[term], posting_start[term + 1]):
            row[posting_column[q]] += value * posting_value[q]


# Two functions, not one compiled twice: numba's cache on disk doesn't tell the two ways of compiling apart.
@compiled(f"void(f8[:, ::1], {_POSTINGS}, {_POSTINGS})", parallel=True)
def _fill_on_all_cores(
    out: Array,
    row_start: I8,
    row_term: I4,
    row_value: Array,
    posting_start: I8,
    posting_column: I4,
    posting_value: Array,
) -> None:
    for i in prange(out.shape[0]):
        _fill_row(out[i], i, row_start, row_term, row_value, posting_start, posting_column, posting_value)


@compiled(f"void(f8[:, ::1], i8[::1], {_POSTINGS}, {_POSTINGS})")
def _fill_on_this_core(
    out: Array,
    rows: I8,
    row_start: I8,
    row_term: I4,
    row_value: Array,
    posting_start: I8,
    posting_column: I4,
    posting_value: Array,
) -> None:
    for i in range(out.shape[0]):
        _fill_row(out[i], rows[i], row_start, row_term, row_value, posting_start, posting_column, posting_value)


def inner_products(left: sp.csr_array, right: sp.csr_array, out: Array | None = None) -> Array:
    """``left @ right.T`` as a dense float64 array, shape (m, n).

    Parameters
    ----------
    left : CSR array, shape (m, V)
    right : CSR array, shape (n, V)
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
    _fill_on_all_cores(out, *_parts(canonical(left)), *_parts(canonical(right).tocsc()))
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
        Columns that are asked for together, as positions in `columns`, ascending; each in one of them. One of all
        columns unless given.
    """

    def __init__(
        self, points: sp.csr_array, columns: NDArray[np.intp], groups: Sequence[NDArray[np.intp]] | None = None
    ) -> None:
        own = canonical(points)
        self.shape = (points.shape[0], len(columns))
        self.hold(own)
        self.groups = tuple(groups) if groups else (np.arange(len(columns)),)
        self._group_of = np.empty(len(columns), dtype=np.intp)
        for number, group in enumerate(self.groups):
            self._group_of[group] = number
        self._postings = [_parts(own[columns[group]].tocsc()) for group in self.groups]

    def of(self, points: sp.csr_array) -> StreamedProducts:
        """The products of other points with the same columns."""
        other = copy(self)
        other.hold(points)
        return other

    def hold(self, points: sp.csr_array) -> None:
        """Let these be the points whose rows are asked for."""
        self.shape, self._rows = (points.shape[0], self.shape[1]), _parts(canonical(points))

    def tile(self, rows: NDArray[np.intp], positions: NDArray[np.intp]) -> Array:
        """The products of these rows with these columns, a fresh array of shape (len(rows), len(positions)).

        Computed are those with all columns of the groups that have any of them.
        """
        which = np.unique(self._group_of[positions])
        if len(which) == 1:
            group = self.groups[which[0]]
            out = self._with(rows, which[0])
            return out if len(group) == len(positions) else out[:, np.searchsorted(group, positions)]
        out = np.empty((len(rows), self.shape[1]))
        for number in which:
            out[:, self.groups[number]] = self._with(rows, number)
        return out[:, positions]

    def __getitem__(self, rows: slice) -> Array:
        """The products of these rows with all columns, a fresh array."""
        return self.tile(np.arange(self.shape[0])[rows], np.arange(self.shape[1]))

    def _with(self, rows: NDArray[np.intp], number: np.intp | int) -> Array:
        out = np.empty((len(rows), len(self.groups[number])))
        _fill_on_this_core(out, rows.astype(np.int64), *self._rows, *self._postings[number])
        return out


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
