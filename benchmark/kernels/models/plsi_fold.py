"""Folding in: P(z|d) of new documents with P(w|z) fixed (Hofmann 1999, section 3.2).

Each document is an independent concave problem, solved by EM on θ_d with φ fixed. As in
`benchmark.kernels.models.plsi_em`, θ_dz = P(z|d) and φ_wz = P(w|z).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.kernels.models.plsi_passes import fold_rows
from benchmark.kernels.products import csr_parts

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]


def fold_in(
    counts: sp.csr_array, phi: Array, otherwise: Array, tolerance: float, max_iterations: int
) -> tuple[Array, Array]:
    """Fold in documents with P(w|z) fixed and return P(z|d), shape (n, K), and gaps, shape (n,).

    EM starts from the uniform distribution (Hofmann 1999, section 3.2). The gap bounds, in nats per word, how far a
    document's objective lies below the optimum.

    The objective f(θ) is concave and θ·∇f = 1 everywhere, so f(θ*) - f(θ) ≤ ∇f(θ)·(θ* - θ) ≤ max_z ∂f/∂θ_z - 1. EM on a
    document stops when this gap is at most `tolerance`, independently of other documents.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
    phi : float64 array, shape (V, K)
        Words whose row is 0 are ignored.
    otherwise : float64 array, shape (K,)
        P(z|d) of documents without (known) words: P(z).
    tolerance : float
        Nats per word.
    max_iterations : int
    """
    known, phi = known_words(counts, phi), np.require(phi, requirements=["C", "W"])
    n, k = counts.shape[0], phi.shape[1]
    theta, gap = np.full((n, k), 1 / k), np.zeros(n)
    fold_rows(theta, gap, phi, csr_parts(known), tolerance, max_iterations)
    empty = np.diff(known.indptr) == 0
    theta[empty] = otherwise
    gap[empty] = 0.0
    return theta, gap


def known_words(counts: sp.csr_array, phi: Array) -> sp.csr_array:
    """Return the counts without words whose probability is 0 in every class."""
    known = np.asarray((phi > 0).any(axis=1))[counts.indices]
    if known.all():
        return counts
    rest = counts.copy()
    rest.data = rest.data * known
    rest.eliminate_zeros()
    return rest
