"""Counts of documents and fixed P(w|z) to each document's own P(z|d): folding in (Hofmann 1999, section 3.2).

It is EM on θ_d with φ fixed, a concave problem, for each document by itself. As in `benchmark.kernels.models.plsi_em`,
θ_dz = P(z|d), φ_wz = P(w|z), and β is the power of tempered EM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

from benchmark.compiled import compiled

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]

#: Smaller probabilities become 0. A word that occurs has s > 1/(K² n(d) N) after a step: no sum sees the difference.
#: It is compiled into `_fold_in` and stands in the same file, where numba notices a change.
NEGLIGIBLE = 1e-30


@compiled("f8(f8[::1], f8[::1], f8[::1], f8[:, ::1], i8[::1], i4[::1], f8[::1], i8, f8)")
def _slopes(
    slope: Array, powers: Array, theta: Array, phi: Array, start: I8, word: I4, count: Array, d: int, beta: float
) -> float:
    """Fill ``slope`` with ∂f/∂θ_z and ``powers`` with θ^β; the largest slope. ``phi`` holds φ^β."""
    length = 0.0
    for p in range(start[d], start[d + 1]):
        length += count[p]
    for z in range(theta.shape[0]):
        powers[z] = theta[z] if beta == 1.0 else theta[z] ** beta
        slope[z] = 0.0
    for p in range(start[d], start[d + 1]):
        w = word[p]
        s = 0.0
        for z in range(theta.shape[0]):
            s += powers[z] * phi[w, z]
        # Without the one class that knows a word the slope towards it is beyond measure.
        r = count[p] / (length * s) if s > 0.0 else 1e300
        for z in range(theta.shape[0]):
            slope[z] += r * phi[w, z]
    largest = 0.0
    for z in range(theta.shape[0]):
        if beta != 1.0:
            # The factor θ^(β-1). A class at 0 has a share too small for the sums, whatever its slope.
            slope[z] = slope[z] * powers[z] / theta[z] if theta[z] > 0.0 else 0.0
        largest = max(largest, slope[z])
    return largest


@compiled("void(f8[:, ::1], f8[::1], f8[:, ::1], i8[::1], i4[::1], f8[::1], f8, f8, i8)", parallel=True)
def _fold_in(
    theta: Array,
    gap: Array,
    phi: Array,
    start: I8,
    word: I4,
    count: Array,
    beta: float,
    tolerance: float,
    max_iterations: int,
) -> None:
    """EM on each row of ``theta`` by itself, from where it is; ``phi`` holds φ^β."""
    k = theta.shape[1]
    # With β < 1 no class is 0 at the optimum.
    dispensable = tolerance if beta == 1.0 else 0.0
    for d in numba.prange(theta.shape[0]):
        own, slope, powers, fewer = theta[d].copy(), np.empty(k), np.empty(k), np.empty(k)
        for step in range(max_iterations + 1):
            gap[d] = _slopes(slope, powers, own, phi, start, word, count, d, beta) - 1.0
            if gap[d] <= tolerance:
                # EM only nears 0. Classes on their way there are dropped at once, if the bound holds without them.
                fewer[:] = np.where((own < dispensable) & (slope < 1.0 - tolerance), 0.0, own)
                fewer /= fewer.sum()
                fewer_gap = _slopes(np.empty(k), powers, fewer, phi, start, word, count, d, beta) - 1.0
                if fewer_gap <= tolerance:
                    own[:] = fewer
                    gap[d] = fewer_gap
                    break
            if step < max_iterations:
                own *= slope
                own[:] = np.where(own < NEGLIGIBLE, 0.0, own)
                # The sum is 1 but for rounding.
                own /= own.sum()
        theta[d] = own


def fold_in(
    counts: sp.csr_array, phi: Array, otherwise: Array, tolerance: float, max_iterations: int, temper: float = 1.0
) -> tuple[Array, Array]:
    """P(z|d) of each document with P(w|z) fixed, shape (n, K), and its gap, shape (n,).

    EM from the uniform distribution (Hofmann 1999, section 3.2). The gap is a bound, in nats per word, on how far a
    document's objective lies below the optimum.

    The objective f(θ) is concave, so f(θ*) - f(θ) ≤ ∇f(θ)·(θ* - θ) ≤ max_z ∂f/∂θ_z - 1: θ·∇f = 1 everywhere. A
    document stops when this gap is at most `tolerance`; the documents don't know of each other.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
    phi : float64 array, shape (V, K)
        Words whose row is 0 are ignored.
    otherwise : float64 array, shape (K,)
        What a document without (known) words gets: P(z).
    tolerance : float
        Nats per word.
    max_iterations : int
    temper : float
        β in (0, 1].
    """
    known = known_words(counts, phi)
    n, k = counts.shape[0], phi.shape[1]
    theta, gap = np.full((n, k), 1 / k), np.zeros(n)
    _fold_in(theta, gap, tempered(phi, temper), *csr_parts(known), temper, tolerance, max_iterations)
    empty = np.diff(known.indptr) == 0
    theta[empty] = otherwise
    gap[empty] = 0.0
    return theta, gap


def known_words(counts: sp.csr_array, phi: Array) -> sp.csr_array:
    """The counts without the words that have no probability in any class."""
    known = np.asarray((phi > 0).any(axis=1))[counts.indices]
    if known.all():
        return counts
    rest = counts.copy()
    rest.data = rest.data * known
    rest.eliminate_zeros()
    return rest


def tempered(probabilities: Array, temper: float) -> Array:
    """The probabilities to the power β; themselves for β = 1."""
    return probabilities if temper == 1.0 else probabilities**temper


def csr_parts(counts: sp.csr_array) -> tuple[I8, I4, Array]:
    """Row starts, columns and values of a CSR array, of the types that compiled functions take."""
    return counts.indptr.astype(np.int64), counts.indices.astype(np.int32), np.ascontiguousarray(counts.data)
