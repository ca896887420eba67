"""Kernel values from stored inner products, a block of rows at a time, without building the whole Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.lib.stride_tricks import as_strided
from sklearn.base import clone

from benchmark.classifiers.libsvm import KernelTiles
from benchmark.kernels.products import StreamedProducts, inner_products, self_products
from benchmark.system.numba_jit import compile_lazily
from benchmark.system.row_blocks import largest_magnitude, submatrix
from benchmark.system.user_classes import is_builtin

if TYPE_CHECKING:
    from benchmark.kernels.base import Kernel
    from benchmark.system.arrays import Array, Indices


@dataclass(frozen=True)
class InnerProducts:
    """<x^p, x'^p> between weighted, unnormalized documents, with the divisors that normalize them.

    Parameters
    ----------
    matrix : float64 array or StreamedProducts, shape (n, n_columns)
        Rows are all documents of an experiment, columns all documents that any split trains on.
    columns : intp array, shape (n_columns,)
        Row numbers of the column documents, ascending.
    self_products : float64 array, shape (n,)
        <x^p, x^p>.
    norms : dict of normalization to float64 array, shape (n,)
        Divisors of the weighted documents (before the power p).
    exponent : float
        p.
    n_coordinates : int
        V, the number of coordinates, including those that are 0 in all documents.
    """

    matrix: Array | StreamedProducts
    columns: Indices
    self_products: Array
    norms: dict[str, Array]
    exponent: float
    n_coordinates: int


class LazyGram(KernelTiles):
    """Gram matrix of `rows` against `columns` (row numbers of documents), computed block by block on demand.

    Kernels with the same products, rows and columns can share the results of `both` and `source`.

    Parameters
    ----------
    kernel : Kernel
    products : InnerProducts
    normalization : {"none", "l1", "l2"}
        A key of ``products.norms``.
    rows, columns : intp arrays
        Row numbers of documents; all `columns` must be in ``products.columns``.
    """

    def __init__(
        self,
        kernel: Kernel,
        products: InnerProducts,
        normalization: str,
        rows: Indices,
        columns: Indices,
    ) -> None:
        scale = products.norms[normalization] ** -products.exponent
        self_products = products.self_products * scale * scale
        # `learn` changes a copy, so that the caller's kernel stays as it was fitted.
        copied: Kernel = clone(kernel)
        self._kernel, self._matrix = copied.learn(products.n_coordinates), products.matrix
        super().__init__(rows, columns)
        self.streamed = isinstance(products.matrix, StreamedProducts)
        self._row_scale, self._row_self = scale[rows], self_products[rows]
        self._positions = np.searchsorted(products.columns, columns)
        self._column_scale, self._column_self = scale[columns], self_products[columns]
        for array in () if is_builtin(type(kernel)) else (self._row_self, self._column_self):
            array.flags.writeable = False  # a plug-in kernel that writes to its inputs fails

    def source(self, rows: slice, columns: slice) -> Array:
        """Return the unnormalized inner products of a tile, possibly as a view of the stored matrix."""
        documents, positions = self.rows[rows], self._positions[columns]
        if isinstance(self._matrix, StreamedProducts):
            return self._matrix.tile(documents, positions)
        return submatrix(self._matrix, documents, positions)

    def values(self, source: Array, rows: slice, columns: slice) -> Array:
        """Return kernel values of a tile as a new float64 array, computed from its `source`.

        Raises
        ------
        ValueError
            If the kernel returns values of another shape or type.
        FloatingPointError
            If a value is not finite: LIBSVM would train on it without an error.
        """
        tile = np.empty(source.shape)
        _scale(tile, *_flat(source), self._row_scale[rows], self._column_scale[columns])
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._kernel.from_products(tile, self._row_self[rows], self._column_self[columns])
        if values.shape != source.shape or values.dtype != np.float64:
            difference = f"{values.dtype} values of the shape {values.shape}, not float64 of {source.shape}"
            raise ValueError(f"the kernel {self._kernel!r} gives {difference}")
        if not np.isfinite(largest_magnitude(values)):
            raise FloatingPointError(f"the kernel {self._kernel!r} gives values that are not finite numbers")
        return values


def _flat(source: Array) -> tuple[Array, int]:
    """Return a tile's memory as a flat view, and the row stride in values.

    Numba vectorizes loops over contiguous arrays only.
    """
    m, n = source.shape
    if source.strides[1] != source.itemsize or source.strides[0] < n * source.itemsize:
        source = np.ascontiguousarray(source)
    step = source.strides[0] // source.itemsize
    return as_strided(source, (max(0, (m - 1) * step + n),), (source.itemsize,)), step


@compile_lazily("void(f8[:, ::1], f8[::1], i8, f8[::1], f8[::1])")
def _scale(out: Array, source: Array, step: int, rows: Array, columns: Array) -> None:
    """Scale a tile by rows, then columns, in one pass: numpy's two passes take more than three times the time."""
    n = out.shape[1]
    for i in range(out.shape[0]):
        source_row, row_scale = source[i * step : i * step + n], rows[i]
        for j in range(n):
            out[i, j] = source_row[j] * row_scale * columns[j]


def kernel_diagonal(kernel: Kernel, products: InnerProducts, normalization: str) -> Array:
    """Compute k(x, x) of every document, shape (n,), equal bit by bit to the diagonal of `LazyGram`."""
    scale = products.norms[normalization] ** -products.exponent
    distinct, position = np.unique(products.self_products * scale * scale, return_inverse=True)
    learnt: Kernel = clone(kernel).learn(products.n_coordinates)
    values = [
        learnt.from_products(np.array([[square]]), np.array([square]), np.array([square]))[0, 0] for square in distinct
    ]
    return np.array(values)[position]


def dirichlet_products(
    weights: sp.csr_array, exponent: float, smoothing: float, out: Array | None = None
) -> InnerProducts:
    """Compute <(x + α)^p, (x' + α)^p> between all documents, with the divisors Σ_j (x_j + α) under "l1".

    Under a symmetric prior Dirichlet(α) the posterior mean of a multinomial's parameters, given the counts x, is
    θ_i = (x_i + α) / Σ_j (x_j + α). Lafferty & Lebanon 2002, equation 3, average the kernel over the posteriors of both
    documents. Here the kernel is evaluated at the posterior means.

    With (x + α)^p = α^p + u and u sparse, Σ (x + α)^p (x' + α)^p = <u, u'> + α^p (Σu + Σu') + V α^2p.

    Parameters
    ----------
    weights : CSR array of float64, shape (n, V)
        Counts.
    exponent : float
        p: 1, or ½ for the map onto the sphere.
    smoothing : float
        α > 0.
    out : float64 array, shape (n, n), C-contiguous, optional
        Memory for the products.
    """
    n, vocabulary = weights.shape
    if not smoothing > 0:
        raise ValueError(f"smoothing must be positive, not {smoothing}")
    offset = smoothing**exponent
    raised = np.power(weights.data + smoothing, exponent) - offset
    embedded = sp.csr_array((raised, weights.indices, weights.indptr), shape=weights.shape)
    divisor = np.asarray(weights.sum(axis=1)) + smoothing * vocabulary
    matrix = inner_products(embedded, embedded, out=out)
    sums = offset * np.asarray(embedded.sum(axis=1))
    constant = vocabulary * offset * offset
    matrix += sums[:, None] + (sums + constant)
    self_product = self_products(embedded) + 2 * sums + constant
    return InnerProducts(matrix, np.arange(n), self_product, {"l1": divisor}, exponent, vocabulary)
