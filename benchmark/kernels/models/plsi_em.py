"""Counts of words and a start to the PLSI mixtures that EM climbs to from there, tempered or not (Hofmann 1999).

With θ_dz = P(z|d) and φ_wz = P(w|z), EM raises the log-likelihood of the words given their documents,
Σ_dw n(d,w) log Σ_z θ_dz φ_wz; log P(d) would add a constant.

Tempered EM (Hofmann 1999) takes posteriors to a power β ≤ 1, P(z|d,w) ∝ (θ_dz φ_wz)^β, which makes classes softer.
Its objective, raised by every step, is 1/β Σ_dw n(d,w) log Σ_z (θ_dz φ_wz)^β: the log-likelihood for β = 1.

The posteriors never exist. With s_dw = Σ_z (θ_dz φ_wz)^β, a step multiplies θ_dz^β by Σ_w φ_wz^β n(d,w)/s_dw and
φ_wz^β by Σ_d θ_dz^β n(d,w)/s_dw, and normalizes: two passes over the counts that aren't zero, one by documents, one
by words. Every sum has one fixed order, whatever the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numba
import numpy as np
import scipy.sparse as sp

from benchmark.compiled import compiled
from benchmark.kernels.models.plsi_fold import NEGLIGIBLE, csr_parts, tempered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]


# Rows are never taken as arrays of their own in inner loops: counting references to them costs more than the sums.
@compiled("f8(f8[:, ::1], i8, f8[:, ::1], i8)")
def _row_product(a: Array, i: int, b: Array, j: int) -> float:
    s = 0.0
    for z in range(a.shape[1]):
        s += a[i, z] * b[j, z]
    return s


@compiled("void(f8[::1], f8[:, ::1], f8[:, ::1], i8[::1], i4[::1], f8[::1], f8[:, ::1])", parallel=True)
def _pass_over_documents(
    ratio: Array, theta: Array, phi: Array, start: I8, word: I4, count: Array, gradient: Array
) -> None:
    """Fill ``ratio`` with n/s and ``gradient[d, z]`` with Σ_w φ_wz n/s."""
    for d in numba.prange(theta.shape[0]):
        for z in range(theta.shape[1]):
            gradient[d, z] = 0.0
        for p in range(start[d], start[d + 1]):
            w = word[p]
            s = _row_product(theta, d, phi, w)
            r = count[p] / s if s > 0.0 else np.inf
            ratio[p] = r
            for z in range(theta.shape[1]):
                gradient[d, z] += r * phi[w, z]


@compiled("void(f8[:, ::1], f8[:, ::1], i8[::1], i4[::1], i8[::1], f8[::1])", parallel=True)
def _pass_over_words(gradient: Array, theta: Array, start: I8, document: I4, place: I8, ratio: Array) -> None:
    """Fill ``gradient[w, z]`` with Σ_d θ_dz n/s; ``place`` is where a posting stands in the documents' order."""
    for w in numba.prange(gradient.shape[0]):
        for z in range(gradient.shape[1]):
            gradient[w, z] = 0.0
        for q in range(start[w], start[w + 1]):
            d, r = document[q], ratio[place[q]]
            for z in range(gradient.shape[1]):
                gradient[w, z] += r * theta[d, z]


@compiled("void(f8[::1], f8[:, ::1], f8[:, ::1], i8[::1], i4[::1])", parallel=True)
def _fill_products(s: Array, theta: Array, phi: Array, start: I8, word: I4) -> None:
    for d in numba.prange(theta.shape[0]):
        for p in range(start[d], start[d + 1]):
            s[p] = _row_product(theta, d, phi, word[p])


@dataclass(frozen=True, eq=False)
class Mixtures:
    """The parameters that EM learns.

    Parameters
    ----------
    theta : float64 array, shape (n, K)
        P(z|d), rows sum to 1.
    phi : float64 array, shape (V, K)
        P(w|z), columns sum to 1; a word that never occurred has zeros.
    """

    theta: Array
    phi: Array


def random_start(counts: sp.csr_array, n_classes: int, rng: np.random.Generator) -> Mixtures:
    """θ uniform; φ the words' frequencies times exponential noise, so that documents in another order start alike."""
    frequency = np.asarray(counts.sum(axis=0), dtype=np.float64)
    phi = frequency[:, None] * (rng.standard_exponential((counts.shape[1], n_classes)) + NEGLIGIBLE)
    return Mixtures(np.full((counts.shape[0], n_classes), 1 / n_classes), phi / phi.sum(axis=0))


def expectation_maximization(
    counts: sp.csr_array, start: Mixtures, tolerance: float, max_iterations: int, temper: float = 1.0
) -> tuple[Mixtures, Array]:
    """EM on the parameters from a given start, until a step gains at most `tolerance` nats per word.

    The objective per word, in nats, before the first step and after each, comes beside them, shape (steps + 1,).

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
        No zeros or negative numbers stored; at least one word.
    start : Mixtures
        A probability that is 0 stays 0.
    tolerance : float
    max_iterations : int
    temper : float
        β in (0, 1].
    """
    rows = csr_parts(counts)
    # A matrix of places, turned round, tells where each posting stands in the rows' order.
    places = sp.csr_array((np.arange(counts.nnz), counts.indices, counts.indptr), shape=counts.shape).tocsc()
    postings = places.indptr.astype(np.int64), places.indices.astype(np.int32), places.data.astype(np.int64)
    length = np.asarray(counts.sum(axis=1))
    divisor = np.where(length > 0, length, 1.0)[:, None]
    total = length.sum()

    theta, phi = start.theta.copy(), start.phi.copy()
    upwards, sideways, ratio = np.empty_like(theta), np.empty_like(phi), np.empty(counts.nnz)
    entropy = (counts.data * np.log(counts.data)).sum()
    trace: list[float] = []
    while True:
        tempered_theta, tempered_phi = tempered(theta, temper), tempered(phi, temper)
        _pass_over_documents(ratio, tempered_theta, tempered_phi, *rows, upwards)
        # Σ n log s: numpy's logarithm of an array takes a tenth of the time of one by one.
        objective = float((entropy - (counts.data * np.log(ratio)).sum()) / (total * temper))
        if not np.isfinite(objective):
            raise FloatingPointError("a word has lost its probability: the counts are too different for floating point")
        trace.append(objective)
        if len(trace) > max_iterations or (len(trace) > 1 and trace[-1] - trace[-2] <= tolerance):
            return Mixtures(theta, phi), np.array(trace)
        _pass_over_words(sideways, tempered_theta, *postings, ratio)
        upwards *= tempered_theta
        upwards /= divisor
        sideways *= tempered_phi
        mass = sideways.sum(axis=0)
        sideways /= np.where(mass > 0, mass, 1.0)
        # A document without words keeps its θ, a class without documents its φ: any value is as likely.
        theta = np.where(length[:, None] > 0, _without_negligible(upwards), theta)
        phi = np.where(mass > 0, _without_negligible(sideways), phi)


def word_probabilities(counts: sp.csr_array, theta: Array, phi: Array) -> Array:
    """P(w|d) = Σ_z θ_dz φ_wz of the words that occur, shape (nnz,), in the order of the counts.

    Raises
    ------
    FloatingPointError
        If one is 0.
    """
    s = np.empty(counts.nnz)
    _fill_products(s, theta, phi, *csr_parts(counts)[:2])
    if not (s > 0).all():
        raise FloatingPointError("a word that occurs has the probability 0")
    return s


def _without_negligible(probabilities: Array) -> Array:
    return np.where(probabilities >= NEGLIGIBLE, probabilities, 0.0)
