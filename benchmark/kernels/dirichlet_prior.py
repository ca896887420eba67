"""Inner products of Dirichlet-smoothed documents, computed from sparse counts without dense documents.

Under a symmetric prior Dirichlet(α) the posterior mean of a multinomial's parameters, given the counts x, is
θ_i = (x_i + α) / Σ_j (x_j + α). Lafferty & Lebanon 2002, equation 3, average the kernel over the posteriors of both
documents. Here the kernel is evaluated at the posterior means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from benchmark.kernels.gram import InnerProducts
from benchmark.kernels.products import inner_products, self_products

if TYPE_CHECKING:
    from numpy.typing import NDArray


def dirichlet_products(
    weights: sp.csr_array, exponent: float, smoothing: float, out: NDArray[np.float64] | None = None
) -> InnerProducts:
    """Compute <(x + α)^p, (x' + α)^p> between all documents, with the divisors Σ_j (x_j + α) under "l1".

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
