"""Stored inner products to kernel values, a block of rows at a time: the Gram matrix itself never exists as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import as_strided
from sklearn.base import clone

from benchmark.blocks import largest_magnitude, picked
from benchmark.compiled import compiled
from benchmark.kernels.products import StreamedProducts
from benchmark.registries import shipped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.kernels.base import Kernel


@dataclass(frozen=True)
class InnerProducts:
    """<x^p, x'^p> between weighted, unnormalized documents, with what normalizing them needs.

    Parameters
    ----------
    matrix : float64 array or StreamedProducts, shape (n, n_columns)
        Rows are all documents of an experiment, columns those that are ever trained on.
    columns : intp array, shape (n_columns,)
        The column documents' row numbers, ascending.
    self_products : float64 array, shape (n,)
    norms : dict of normalization to float64 array, shape (n,)
        Divisors of the weighted documents (before the power p).
    exponent : float
        p.
    n_coordinates : int
        V: how many coordinates the documents have, of which some may be 0 in all of them.
    """

    matrix: NDArray[np.float64] | StreamedProducts
    columns: NDArray[np.intp]
    self_products: NDArray[np.float64]
    norms: dict[str, NDArray[np.float64]]
    exponent: float
    n_coordinates: int


class Gram:
    """Kernel values between `rows` and `columns` (row numbers of documents), computed where they are asked for.

    Kernels of the same products, rows and columns can share what `both` and `source` give.

    Parameters
    ----------
    kernel : Kernel
    products : InnerProducts
    normalization : str
    rows, columns : intp arrays
        Documents; every one of `columns` must be among ``products.columns``.
    """

    def __init__(
        self,
        kernel: Kernel,
        products: InnerProducts,
        normalization: str,
        rows: NDArray[np.intp],
        columns: NDArray[np.intp],
    ) -> None:
        scale = products.norms[normalization] ** -products.exponent
        self_products = products.self_products * scale * scale
        # A copy learns: what the caller's kernel was fitted on stays.
        own: Kernel = clone(kernel)
        self._kernel, self._matrix = own.learn(products.n_coordinates), products.matrix
        self._rows, self._row_scale, self._row_self = rows, scale[rows], self_products[rows]
        self._positions = np.searchsorted(products.columns, columns)
        self._column_scale, self._column_self = scale[columns], self_products[columns]
        self.shape = (len(rows), len(columns))
        for handed in () if shipped(type(kernel)) else (self._row_self, self._column_self):
            handed.flags.writeable = False  # a plug-in that writes into them fails

    def block(self, start: int, stop: int) -> NDArray[np.float64]:
        """Rows start:stop as a fresh float64 array, shape (stop - start, n_columns); see `values`."""
        rows, columns = slice(start, stop), slice(0, self.shape[1])
        return self.values(self.source(rows, columns), rows, columns)

    def source(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        """The inner products that a tile's values are made of: they may be a view of what is held."""
        own, positions = self._rows[rows], self._positions[columns]
        if isinstance(self._matrix, StreamedProducts):
            return self._matrix.tile(own, positions)
        return picked(self._matrix, own, positions)

    def both(self, first: slice, second: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The `source` of first × second and of second × first, where rows and columns are the same documents."""
        across = self.source(first, second)
        # Streamed, both are sums of the same products in the same order.
        return across, np.ascontiguousarray(across.T) if self.streamed else self.source(second, first)

    @property
    def streamed(self) -> bool:
        """Whether a `source` costs something."""
        return isinstance(self._matrix, StreamedProducts)

    def values(self, source: NDArray[np.float64], rows: slice, columns: slice) -> NDArray[np.float64]:
        """Kernel values of a tile as a fresh float64 array, given its `source`.

        Raises
        ------
        FloatingPointError
            If a value is not finite: LIBSVM would run on it without a word.
        """
        tile = np.empty(source.shape)
        _scale(tile, *_flat(source), self._row_scale[rows], self._column_scale[columns])
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._kernel.link(tile, self._row_self[rows], self._column_self[columns])
        if values.shape != source.shape or values.dtype != np.float64:
            told = f"{values.dtype} values of the shape {values.shape}, not float64 of {source.shape}"
            raise ValueError(f"the kernel {self._kernel!r} gives {told}")
        if not np.isfinite(largest_magnitude(values)):
            raise FloatingPointError(f"the kernel {self._kernel!r} gives values that are not finite numbers")
        return values


def _flat(source: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """The memory of a tile from its first value on, and how many values lie between the beginnings of two rows.

    Of an array whose values may lie apart numba doesn't take several at a time.
    """
    m, n = source.shape
    if source.strides[1] != source.itemsize or source.strides[0] < n * source.itemsize:
        source = np.ascontiguousarray(source)
    step = source.strides[0] // source.itemsize
    return as_strided(source, (max(0, (m - 1) * step + n),), (source.itemsize,)), step


@compiled("void(f8[:, ::1], f8[::1], i8, f8[::1], f8[::1])")
def _scale(
    out: NDArray[np.float64],
    source: NDArray[np.float64],
    step: int,
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
) -> None:
    """Rows are scaled before columns, in one pass: numpy's two take more than three times the time."""
    n = out.shape[1]
    for i in range(out.shape[0]):
        own, row = source[i * step : i * step + n], rows[i]
        for j in range(n):
            out[i, j] = own[j] * row * columns[j]


def self_values(kernel: Kernel, products: InnerProducts, normalization: str) -> NDArray[np.float64]:
    """k(x, x) of every document, shape (n,); the bits of `Gram`'s diagonal."""
    scale = products.norms[normalization] ** -products.exponent
    own, position = np.unique(products.self_products * scale * scale, return_inverse=True)
    learnt: Kernel = clone(kernel).learn(products.n_coordinates)
    values = [learnt.link(np.array([[each]]), np.array([each]), np.array([each]))[0, 0] for each in own]
    return np.array(values)[position]
