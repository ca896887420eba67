"""Passes over the counts of words that aren't zero: what EM and folding in do at each step, compiled.

As in `benchmark.kernels.models.plsi_em`, θ_dz = P(z|d), φ_wz = P(w|z) and s_dw = Σ_z (θ_dz φ_wz)^β. Every sum has one
fixed order, whatever the number of threads. Counts come as parts of a CSR array: starts of documents, words, counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.compiled import compiled, prange

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    I8 = NDArray[np.int64]
    I4 = NDArray[np.int32]
    U8 = np.uint64

#: Smaller probabilities become 0. A word that occurs has s > 1/(K² n(d) N) after a step: no sum sees the difference.
#: It is compiled into functions and stands in their file, where numba notices a change.
NEGLIGIBLE = 1e-30

_COUNTS = "i8[::1], i4[::1], f8[::1]"


# Rows are never taken as arrays of their own in inner loops: counting references to them costs more than the sums.
# Of each place whose type has a sign numba asks whether it counts from the end.
@compiled("f8(f8[:, ::1], u8, f8[:, ::1], u8)")
def _row_product(a: Array, i: U8, b: Array, j: U8) -> float:
    s = 0.0
    for z in range(a.shape[1]):
        s += a[i, z] * b[j, z]
    return s


@compiled("UniTuple(f8, 4)(f8[:, ::1], u8, f8[:, ::1], u8, u8, u8, u8)")
def _row_products(a: Array, i: U8, b: Array, j: U8, k: U8, m: U8, n: U8) -> tuple[float, float, float, float]:
    """The products with four rows: the additions to one sum wait for each other, those to four sums don't."""
    s, t, u, v = 0.0, 0.0, 0.0, 0.0
    for z in range(a.shape[1]):
        s += a[i, z] * b[j, z]
        t += a[i, z] * b[k, z]
        u += a[i, z] * b[m, z]
        v += a[i, z] * b[n, z]
    return s, t, u, v


@compiled("f8(f8, f8, f8, f8)")
def _ratio(count: float, length: float, s: float, beyond: float) -> float:
    return count / (length * s) if s > 0.0 else beyond


@compiled(f"void(f8[::1], f8[:, ::1], f8[:, ::1], u8, f8[:, ::1], {_COUNTS}, u8, f8, f8)")
def _pass_over_document(
    ratio: Array,
    gradient: Array,
    theta: Array,
    row: U8,
    phi: Array,
    start: I8,
    word: I4,
    count: Array,
    d: U8,
    length: float,
    beyond: float,
) -> None:
    """Fill ``ratio`` with r = n/(length s) and ``gradient[row, z]`` with Σ_w φ_wz r; θ_d is ``theta[row]``.

    A ratio is `beyond` where s is 0.
    """
    for z in range(theta.shape[1]):
        gradient[row, z] = 0.0
    first, stop = start[d], start[d + np.uint64(1)]
    rest = stop - (stop - first) % 4
    for p in range(first, rest, 4):
        i, j, k, m = np.uint64(p), np.uint64(p + 1), np.uint64(p + 2), np.uint64(p + 3)
        w, x, y, v = np.uint64(word[i]), np.uint64(word[j]), np.uint64(word[k]), np.uint64(word[m])
        a, b, c, e = _row_products(theta, row, phi, w, x, y, v)
        a, b = _ratio(count[i], length, a, beyond), _ratio(count[j], length, b, beyond)
        c, e = _ratio(count[k], length, c, beyond), _ratio(count[m], length, e, beyond)
        ratio[i], ratio[j], ratio[k], ratio[m] = a, b, c, e
        for z in range(theta.shape[1]):
            gradient[row, z] = gradient[row, z] + a * phi[w, z] + b * phi[x, z] + c * phi[y, z] + e * phi[v, z]
    for p in range(rest, stop):
        i = np.uint64(p)
        w = np.uint64(word[i])
        a = _ratio(count[i], length, _row_product(theta, row, phi, w), beyond)
        ratio[i] = a
        for z in range(theta.shape[1]):
            gradient[row, z] += a * phi[w, z]


@compiled(f"void(f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], {_COUNTS})", parallel=True)
def pass_over_documents(
    ratio: Array, gradient: Array, theta: Array, phi: Array, start: I8, word: I4, count: Array
) -> None:
    """Fill ``ratio`` with n/s and ``gradient[d, z]`` with Σ_w φ_wz n/s."""
    for d in prange(theta.shape[0]):
        i = np.uint64(d)
        _pass_over_document(ratio, gradient, theta, i, phi, start, word, count, i, 1.0, np.inf)


@compiled("void(f8[:, ::1], f8[:, ::1], i8[::1], i8[:, ::1], i4[::1], f8[::1], i8)")
def _pass_over_block(gradient: Array, theta: Array, cuts: I8, bounds: I8, word: I4, ratio: Array, b: int) -> None:
    for w in range(cuts[b], cuts[b + 1]):
        for z in range(gradient.shape[1]):
            gradient[w, z] = 0.0
    for d in range(theta.shape[0]):
        for p in range(bounds[b, d], bounds[b + 1, d]):
            i, r = np.uint64(word[p]), ratio[p]
            for z in range(gradient.shape[1]):
                gradient[i, z] += r * theta[d, z]


@compiled("void(f8[:, ::1], f8[:, ::1], i8[::1], i8[:, ::1], i4[::1], f8[::1])", parallel=True)
def pass_over_words(gradient: Array, theta: Array, cuts: I8, bounds: I8, word: I4, ratio: Array) -> None:
    """Fill ``gradient[w, z]`` with Σ_d θ_dz ratio, blocks of words side by side.

    Block b holds the words cuts[b] to cuts[b + 1] and of document d the postings bounds[b, d] to bounds[b + 1, d].
    """
    for b in prange(len(cuts) - 1):
        _pass_over_block(gradient, theta, cuts, bounds, word, ratio, b)


@compiled("void(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1])", parallel=True)
def step_of_documents(theta: Array, powers: Array, gradient: Array, length: Array) -> None:
    """θ to the next step's, where `powers` is θ^β; that of a document without words stays."""
    for d in prange(theta.shape[0]):
        if length[d] > 0.0:
            for z in range(theta.shape[1]):
                value = gradient[d, z] * powers[d, z] / length[d]
                theta[d, z] = value if value >= NEGLIGIBLE else 0.0


@compiled("void(f8[:, ::1], f8[:, ::1], f8[::1])", parallel=True)
def step_of_words(phi: Array, share: Array, mass: Array) -> None:
    """φ to the next step's, the shares divided by their sums; that of a class without documents stays."""
    for w in prange(phi.shape[0]):
        for z in range(phi.shape[1]):
            if mass[z] > 0.0:
                value = share[w, z] / mass[z]
                phi[w, z] = value if value >= NEGLIGIBLE else 0.0


@compiled("void(f8[::1], f8[:, ::1], f8[:, ::1], i8[::1], i4[::1])", parallel=True)
def fill_products(s: Array, theta: Array, phi: Array, start: I8, word: I4) -> None:
    """Fill ``s`` with Σ_z θ_dz φ_wz of the words that occur."""
    for d in prange(theta.shape[0]):
        for p in range(start[d], start[d + 1]):
            s[p] = _row_product(theta, np.uint64(d), phi, np.uint64(word[p]))


@compiled(f"f8(f8[::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1], {_COUNTS}, u8, f8)")
def _slopes(
    ratio: Array,
    slope: Array,
    powers: Array,
    theta: Array,
    phi: Array,
    start: I8,
    word: I4,
    count: Array,
    d: U8,
    beta: float,
) -> float:
    """Fill ``slope`` with ∂f/∂θ_z and ``powers`` with θ^β, rows of their own; the largest slope. ``phi`` holds φ^β."""
    length = 0.0
    for p in range(start[d], start[d + np.uint64(1)]):
        length += count[p]
    for z in range(theta.shape[0]):
        powers[0, z] = theta[z] if beta == 1.0 else theta[z] ** beta
    # Without the one class that knows a word the slope towards it is beyond measure.
    _pass_over_document(ratio, slope, powers, np.uint64(0), phi, start, word, count, d, length, 1e300)
    largest = 0.0
    for z in range(theta.shape[0]):
        if beta != 1.0:
            # The factor θ^(β-1). A class at 0 has a share too small for the sums, whatever its slope.
            slope[0, z] = slope[0, z] * powers[0, z] / theta[z] if theta[z] > 0.0 else 0.0
        largest = max(largest, slope[0, z])
    return largest


@compiled(f"void(f8[:, ::1], f8[::1], f8[::1], f8[:, ::1], {_COUNTS}, f8, f8, i8)", parallel=True)
def fold(
    theta: Array,
    gap: Array,
    ratio: Array,
    phi: Array,
    start: I8,
    word: I4,
    count: Array,
    beta: float,
    tolerance: float,
    max_iterations: int,
) -> None:
    """EM on each row of ``theta`` by itself, from where it is; ``phi`` holds φ^β, ``ratio`` is room for numbers."""
    k = theta.shape[1]
    # With β < 1 no class is 0 at the optimum.
    dispensable = tolerance if beta == 1.0 else 0.0
    for d in prange(theta.shape[0]):
        i = np.uint64(d)
        own, fewer = theta[d].copy(), np.empty(k)
        slope, powers, other = np.empty((1, k)), np.empty((1, k)), np.empty((1, k))
        for step in range(max_iterations + 1):
            gap[d] = _slopes(ratio, slope, powers, own, phi, start, word, count, i, beta) - 1.0
            if gap[d] <= tolerance:
                # EM only nears 0. Classes on their way there are dropped at once, if the bound holds without them.
                fewer[:] = np.where((own < dispensable) & (slope[0] < 1.0 - tolerance), 0.0, own)
                fewer /= fewer.sum()
                fewer_gap = _slopes(ratio, other, powers, fewer, phi, start, word, count, i, beta) - 1.0
                if fewer_gap <= tolerance:
                    own[:] = fewer
                    gap[d] = fewer_gap
                    break
            if step < max_iterations:
                total = 0.0
                for z in range(k):
                    value = own[z] * slope[0, z]
                    own[z] = 0.0 if value < NEGLIGIBLE else value
                    total += own[z]
                # The sum is 1 but for rounding.
                for z in range(k):
                    own[z] /= total
        theta[d] = own
