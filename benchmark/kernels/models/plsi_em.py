"""Expectation maximization (EM) for PLSI mixtures from word counts (Hofmann 1999).

With θ_dz = P(z|d) and φ_wz = P(w|z), EM raises the log-likelihood of the words given their documents,
Σ_dw n(d,w) log Σ_z θ_dz φ_wz; log P(d) would add a constant.

The posteriors are never stored. With s_dw = Σ_z θ_dz φ_wz, a step multiplies θ_dz by Σ_w φ_wz n(d,w)/s_dw and φ_wz by
Σ_d θ_dz n(d,w)/s_dw, and normalizes: two passes over the nonzero counts, one by documents and one by words.
Every sum has one fixed order, whatever the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmark.kernels.models.plsi_passes import (
    NEGLIGIBLE,
    fill_products,
    pass_over_documents,
    pass_over_words,
)
from benchmark.kernels.products import csr_parts
from benchmark.system.numba_jit import numba_thread_count

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Parameters that EM learns.

    Parameters
    ----------
    theta : float64 array, shape (n, K)
        P(z|d), rows sum to 1.
    phi : float64 array, shape (V, K)
        P(w|z), columns sum to 1; zeros for words that don't occur.
    """

    theta: Array
    phi: Array


def random_start(counts: sp.csr_array, n_classes: int, rng: np.random.Generator) -> Mixtures:
    """Return uniform θ, and word frequencies times exponential noise as φ, independent of the order of documents."""
    frequency = np.asarray(counts.sum(axis=0), dtype=np.float64)
    phi = frequency[:, None] * (rng.standard_exponential((counts.shape[1], n_classes)) + NEGLIGIBLE)
    return Mixtures(np.full((counts.shape[0], n_classes), 1 / n_classes), phi / phi.sum(axis=0))


def expectation_maximization(
    counts: sp.csr_array, start: Mixtures, tolerance: float, max_iterations: int
) -> tuple[Mixtures, Array]:
    """Run EM from `start` until a step gains at most `tolerance` nats per word.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
        No zeros or negative numbers stored; at least one word.
    start : Mixtures
        A probability that is 0 stays 0.
    tolerance : float
    max_iterations : int

    Returns
    -------
    mixtures : Mixtures
    objectives : float64 array, shape (steps + 1,)
        Objective per word, in nats, before the first step and after each.

    Raises
    ------
    FloatingPointError
        If the probability of a word that occurs underflows to 0.
    """
    rows = csr_parts(counts)
    cuts, bounds = _blocks_of_words(counts, numba_thread_count())
    length = np.asarray(counts.sum(axis=1), dtype=np.float64)
    total = length.sum()

    theta, phi = start.theta.copy(), start.phi.copy()
    upwards, sideways = np.empty_like(theta), np.empty_like(phi)
    ratio, logarithms = np.empty((2, counts.nnz))
    entropy = (counts.data * np.log(counts.data)).sum()
    trace: list[float] = []
    while True:
        pass_over_documents(ratio, upwards, theta, phi, rows)
        # Σ n log s: numpy's logarithm of an array takes a tenth of the time of a loop.
        np.log(ratio, out=logarithms)
        logarithms *= counts.data
        objective = float((entropy - logarithms.sum()) / total)
        if not np.isfinite(objective):
            raise FloatingPointError("a word's probability underflowed to 0: the sizes of the counts are too different")
        trace.append(objective)
        if len(trace) > max_iterations or (len(trace) > 1 and trace[-1] - trace[-2] <= tolerance):
            return Mixtures(theta, phi), np.array(trace)
        pass_over_words(sideways, theta, cuts, bounds, rows[1], ratio)
        upwards *= theta
        sideways *= phi
        _step(theta, upwards, length[:, None])
        _step(phi, sideways, sideways.sum(axis=0))


def _step(probabilities: Array, shares: Array, sums: Array) -> None:
    """Divide shares by their sums, in place of the probabilities; those with the sum 0 don't change."""
    np.divide(shares, sums, out=probabilities, where=sums > 0)
    probabilities[probabilities < NEGLIGIBLE] = 0.0


def _blocks_of_words(counts: sp.csr_array, blocks: int) -> tuple[I8, I8]:
    """Divide words into blocks with about equally many postings, and find where each begins in every document.

    A block's words are processed document by document, which reads θ and the ratios sequentially. Going word by word
    would read them in random order. The sums have the same order, and bits, for any blocks.

    Parameters
    ----------
    counts : canonical CSR array, shape (n, V)
        The words of a document ascend.
    blocks : int
        Number of blocks, at least 1. If there are more blocks than words, some are empty.

    Returns
    -------
    cuts : int64 array, shape (blocks + 1,)
        Block b has the words cuts[b] to cuts[b + 1].
    bounds : int64 array, shape (blocks + 1, n)
        Block b has the postings bounds[b, d] to bounds[b + 1, d] of document d.
    """
    n, V = counts.shape
    before = np.cumsum(np.bincount(counts.indices, minlength=V))
    within = np.searchsorted(before, np.arange(1, blocks) * (counts.nnz / blocks)) + 1
    cuts = np.array([0, *within.clip(max=V), V], dtype=np.int64)
    block = np.searchsorted(cuts, counts.indices, side="right") - 1
    document = np.repeat(np.arange(n), np.diff(counts.indptr))
    sizes = np.bincount(block * n + document, minlength=blocks * n).reshape(blocks, n)
    return cuts, np.vstack([counts.indptr[:-1], counts.indptr[:-1] + np.cumsum(sizes, axis=0)]).astype(np.int64)


def word_probabilities(counts: sp.csr_array, theta: Array, phi: Array) -> Array:
    """Compute P(w|d) = Σ_z θ_dz φ_wz of the words that occur, shape (nnz,), in the order of the counts.

    Raises
    ------
    FloatingPointError
        If a probability is 0.
    """
    s = np.empty(counts.nnz)
    fill_products(s, theta, np.require(phi, requirements=["C", "W"]), csr_parts(counts))
    if not (s > 0).all():
        raise FloatingPointError("a word that occurs has the probability 0")
    return s
