"""Compiled passes over the nonzero word counts, for the steps of EM and of folding in.

As in `benchmark.kernels.plsi`, θ_dz = P(z|d), φ_wz = P(w|z) and s_dw = Σ_z θ_dz φ_wz. Every sum has one
fixed order, whatever the number of threads. Counts are passed as parts of a CSR array: row starts, words, counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.system.numba_jit import compile_lazily, prange

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array

    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]
    U8 = np.uint64
    Counts = tuple[I8, I4, Array]

#: Smaller probabilities become 0, which changes no sum: a word that occurs has s > 1/(K² n(d) N) after a step.
#: The constant is compiled into functions; it must be in their file, where numba detects changes.
NEGLIGIBLE = 1e-30

_COUNTS = "Tuple((i8[::1], i4[::1], f8[::1]))"


# Inner loops index matrices and don't slice rows, since reference counting of row views costs more than the sums.
# Indices are unsigned, since numba checks whether signed indices are negative.
@compile_lazily("f8(f8[:, ::1], u8, f8[:, ::1], u8)")
def _row_product(a: Array, i: U8, b: Array, j: U8) -> float:
    s = 0.0
    for z in range(a.shape[1]):
        s += a[i, z] * b[j, z]
    return s


@compile_lazily(f"void(f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], {_COUNTS}, u8)")
def _pass_over_document(ratio: Array, gradient: Array, theta: Array, phi: Array, counts: Counts, d: U8) -> None:
    start, word, count = counts
    for z in range(theta.shape[1]):
        gradient[d, z] = 0.0
    for p in range(start[d], start[d + np.uint64(1)]):
        i = np.uint64(p)
        w = np.uint64(word[i])
        a = count[i] / _row_product(theta, d, phi, w)
        ratio[i] = a
        for z in range(theta.shape[1]):
            gradient[d, z] += a * phi[w, z]


@compile_lazily(f"void(f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], {_COUNTS})", parallel=True)
def pass_over_documents(ratio: Array, gradient: Array, theta: Array, phi: Array, counts: Counts) -> None:
    """Fill ``ratio`` with n/s, infinite where s is 0, and ``gradient[d, z]`` with Σ_w φ_wz n/s."""
    for d in prange(theta.shape[0]):
        _pass_over_document(ratio, gradient, theta, phi, counts, np.uint64(d))


@compile_lazily("void(f8[:, ::1], f8[:, ::1], i8[::1], i8[:, ::1], i4[::1], f8[::1], i8)")
def _pass_over_block(gradient: Array, theta: Array, cuts: I8, bounds: I8, word: I4, ratio: Array, b: int) -> None:
    for w in range(cuts[b], cuts[b + 1]):
        for z in range(gradient.shape[1]):
            gradient[w, z] = 0.0
    for d in range(theta.shape[0]):
        for p in range(bounds[b, d], bounds[b + 1, d]):
            i, r = np.uint64(word[p]), ratio[p]
            for z in range(gradient.shape[1]):
                gradient[i, z] += r * theta[d, z]


@compile_lazily("void(f8[:, ::1], f8[:, ::1], i8[::1], i8[:, ::1], i4[::1], f8[::1])", parallel=True)
def pass_over_words(gradient: Array, theta: Array, cuts: I8, bounds: I8, word: I4, ratio: Array) -> None:
    """Fill ``gradient[w, z]`` with Σ_d θ_dz ratio, with blocks of words in parallel.

    Block b has the words cuts[b] to cuts[b + 1], and the postings bounds[b, d] to bounds[b + 1, d] of document d.
    """
    for b in prange(len(cuts) - 1):
        _pass_over_block(gradient, theta, cuts, bounds, word, ratio, b)


@compile_lazily(f"void(f8[::1], f8[:, ::1], f8[:, ::1], {_COUNTS})", parallel=True)
def fill_products(s: Array, theta: Array, phi: Array, counts: Counts) -> None:
    """Fill ``s`` with Σ_z θ_dz φ_wz of the words that occur."""
    start, word, _ = counts
    for d in prange(theta.shape[0]):
        for p in range(start[d], start[d + 1]):
            s[p] = _row_product(theta, np.uint64(d), phi, np.uint64(word[p]))


@compile_lazily("void(f8[::1], f8[::1], f8[:, ::1])")
def _combine(out: Array, weight: Array, rows: Array) -> None:
    """Fill ``out`` with Σ_i weight_i rows_i, added in order."""
    out[:] = 0.0
    for i in range(len(weight)):
        row, weight_of_row = np.uint64(i), weight[i]
        for column in range(len(out)):
            out[column] += weight_of_row * rows[row, np.uint64(column)]


@compile_lazily("f8(f8[::1], f8[::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[::1], f8)")
def _slopes(slope: Array, ratio: Array, theta: Array, phi: Array, turned: Array, count: Array, length: float) -> float:
    """Fill ``slope`` with ∂f/∂θ_z and return the largest; ``turned`` is the transpose of ``phi``."""
    _combine(ratio, theta, turned)
    for posting in range(len(ratio)):
        p = np.uint64(posting)
        # If θ is 0 for every class that has the word, the slope towards these classes is infinite.
        ratio[p] = count[p] / (length * ratio[p]) if ratio[p] > 0.0 else 1e300
    _combine(slope, ratio, phi)
    largest = 0.0
    for z in range(len(theta)):
        largest = max(largest, slope[z])
    return largest


@compile_lazily(f"void(f8[:, ::1], f8[::1], f8[:, ::1], {_COUNTS}, f8, i8)", parallel=True)
def fold_rows(theta: Array, gap: Array, phi: Array, counts: Counts, tolerance: float, max_iterations: int) -> None:
    """Run EM on each row of ``theta`` independently, from its current value.

    The φ of a document's words is copied to contiguous matrices, one by words and one by classes. Both sums of a step
    then run over whole rows, vectorized, in a fixed order.
    """
    start, word, count = counts
    k = theta.shape[1]
    for d in prange(theta.shape[0]):
        first, words = start[d], start[d + 1] - start[d]
        phi_d, turned = np.empty((words, k)), np.empty((k, words))
        count_d, ratio = np.empty(words), np.empty(words)
        length = 0.0
        for p in range(words):
            count_d[p] = count[first + p]
            length += count_d[p]
            for z in range(k):
                phi_d[p, z] = turned[z, p] = phi[word[first + p], z]
        theta_d, fewer, slope, other = theta[d].copy(), np.empty(k), np.empty(k), np.empty(k)
        for step in range(max_iterations + 1):
            gap[d] = _slopes(slope, ratio, theta_d, phi_d, turned, count_d, length) - 1.0
            if gap[d] <= tolerance:
                # EM approaches 0 without reaching it. Classes on the way to 0 are dropped, if the bound still holds.
                fewer[:] = np.where((theta_d < tolerance) & (slope < 1.0 - tolerance), 0.0, theta_d)
                fewer /= fewer.sum()
                fewer_gap = _slopes(other, ratio, fewer, phi_d, turned, count_d, length) - 1.0
                if fewer_gap <= tolerance:
                    theta_d[:] = fewer
                    gap[d] = fewer_gap
                    break
            if step < max_iterations:
                total = 0.0
                for z in range(k):
                    value = theta_d[z] * slope[z]
                    theta_d[z] = 0.0 if value < NEGLIGIBLE else value
                    total += theta_d[z]
                # The sum is 1 up to rounding.
                for z in range(k):
                    theta_d[z] /= total
        theta[d] = theta_d
