"""Inner products of Dirichlet-smoothed documents, without ever writing their zeros as numbers.

Under a symmetric prior Dirichlet(α) the posterior mean of a multinomial's parameters, given the counts x, is
θ_i = (x_i + α) / Σ_j (x_j + α). Lafferty & Lebanon 2002, equation 3, average the kernel over the posteriors of both
documents; here the kernel is taken at the posteriors' means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from benchmark.kernels.gram import InnerProducts
from benchmark.kernels.products import StreamedProducts, inner_products, self_products

if TYPE_CHECKING:
    from numpy.typing import NDArray


def frequency_products(
    weights: sp.csr_array,
    exponent: float,
    smoothing: float,
    out: NDArray[np.float64] | None = None,
    n_rows: int | None = None,
) -> InnerProducts:
    """<θ^p, θ'^p> between all documents, to be divided by the sums Σ(x + α)^p of "l1".

    Where (x + α)^p is written as α^p + u with u sparse, Σ (x + α)^p (x' + α)^p = <u, u'> + α^p (Σu + Σu') + V α^2p.

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
    n_rows : int, optional
        Where given, only products of the first `n_rows` documents with the others are made, on the calling thread.
    """
    n, vocabulary = weights.shape
    columns: NDArray[np.intp] = np.arange(n_rows or 0, n)
    if not smoothing > 0:
        raise ValueError(f"smoothing must be positive, not {smoothing}")
    offset = smoothing**exponent
    raised = np.power(weights.data + smoothing, exponent) - offset
    embedded = sp.csr_array((raised, weights.indices, weights.indptr), shape=weights.shape)
    divisor = np.asarray(weights.sum(axis=1)) + smoothing * vocabulary
    if n_rows is None:
        matrix = inner_products(embedded, embedded, out=out)
    else:
        matrix = StreamedProducts(embedded, columns)[:n_rows]
    sums = offset * np.asarray(embedded.sum(axis=1))
    constant = vocabulary * offset * offset
    matrix += sums[:n_rows, None] + (sums[columns] + constant)
    own = self_products(embedded) + 2 * sums + constant
    return InnerProducts(matrix, columns, own, {"l1": divisor}, exponent, vocabulary)
