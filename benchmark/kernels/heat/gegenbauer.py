"""Heat kernel of the unit sphere S^n by its series of Gegenbauer polynomials, with a proven error bound.

    K(θ, t) = (1/ω_n) Σ_l w_l P_l(cos θ),   w_l = d_l exp(-l(l+n-1)t),   P_l(x) = C_l^λ(x) / C_l^λ(1),   λ = (n-1)/2,

where d_l is the multiplicity of the eigenvalue l(l+n-1) and ω_n the sphere's volume (Zhao & Song 2018).

Truncation. |P_l(x)| ≤ 1 on [-1, 1]. The ratio of successive weights is

    w_{l+1}/w_l = (1 + 2/(2l+n-1)) · (1 + (n-2)/(l+1)) · exp(-(2l+n)t),

three factors that don't increase with l if n ≥ 2 (if n = 1 the first two cancel for l ≥ 1). Hence, as soon as
ρ = w_{L+1}/w_L < 1 (and L ≥ 1), the terms after L are at most those of a geometric series:

    Σ_{l>L} w_l ≤ w_L ρ/(1-ρ).

Rounding. P_l follows from a_l P_{l+1} = x P_l - c_l P_{l-1} with a_l = (l+n-1)/(2l+n-1) ≥ ½, c_l = 1 - a_l. An error
made at step j spreads as the solution g with g_{j-1} = 0, g_j = 1. For x = cos φ put h_l = g_{l+1} - e^{iφ} g_l; the
recurrence turns into

    Re h_l = (c_l/a_l) Re(e^{-iφ} h_{l-1}),   Im h_l = Im(e^{-iφ} h_{l-1}),

so |h_l| ≤ |h_{l-1}| ≤ … ≤ |h_{j-1}| = 1, and |g_l| ≤ l-j+1. A step itself adds an error of at most
2 eps (|x P_l| + c_l |P_{l-1}|)/a_l to first order in eps. The bound is the sum of both errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchmark.system.arrays import Array


GEGENBAUER_EPS = float(np.finfo(np.float64).eps)
FLOAT_TINY = float(np.finfo(np.float64).tiny)
#: The weights of omitted terms sum to at most this share of the largest weight.
SERIES_TRUNCATION = 1e-20


@dataclass(frozen=True)
class SeriesSum:
    """K(θ, t)/K(0, t) with its error bound, and log K(0, t) without the volume.

    Parameters
    ----------
    ratio, error : float arrays of one shape
        Σ w_l P_l(x) / Σ w_l, and a bound of its absolute error from truncation and rounding.
    log_total : float
        log Σ w_l = log(ω_n K(0, t)).
    """

    ratio: Array
    error: Array
    log_total: float


def log_sphere_volume(n: int) -> float:
    """Return log ω_n of the volume of the unit sphere S^n, ω_n = 2 π^((n+1)/2) / Γ((n+1)/2)."""
    return math.log(2) + (n + 1) / 2 * math.log(math.pi) - math.lgamma((n + 1) / 2)


def weight_ratio(n: int, t: float, degree: Array) -> Array:
    """Compute w_{l+1}/w_l at the degrees l by the formula above (2 e^{-t} for n = 1 and l = 0)."""
    if n == 1:
        multiplicities = np.where(degree == 0, 2.0, 1.0)
    else:
        multiplicities = (2 * degree + n + 1) / (2 * degree + n - 1) * ((degree + n - 1) / (degree + 1))
    return np.asarray(multiplicities * np.exp(-(2 * degree + n) * t))


def terms_needed(n: int, t: float, limit: int) -> int | None:
    """Return the number of terms for a relative error of `SERIES_TRUNCATION`; None above `limit`."""
    degree = np.arange(1, limit + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        log_ratio = np.log(weight_ratio(n, t, degree))
        # log w_{l+1}, l ≥ 1, up to a constant, and the geometric bound of all later weights.
        log_weight = np.cumsum(log_ratio)
        tail = log_weight - np.log(-np.expm1(np.minimum(log_ratio, 0.0)))
    enough = tail <= max(log_weight.max(), 0.0) + math.log(SERIES_TRUNCATION)  # infinite while weights grow
    return int(degree[np.argmax(enough)]) + 1 if enough.any() else None


def scaled_weights(n: int, t: float, terms: int) -> tuple[Array, Array, float]:
    """Compute w_l/w_max for l < terms, their relative errors, and log w_max.

    Weights are multiplied outwards from the largest, so that the largest weights have the fewest rounding errors.
    Gamma functions of n = 20,000 would lose five digits.
    """
    ratio = weight_ratio(n, t, np.arange(terms - 1, dtype=np.float64))
    # Ratios decrease, except that for n = 1 the first may break the order; it is still the largest.
    peak = int(np.count_nonzero(ratio > 1))
    weights = np.ones(terms)
    weights[peak + 1 :] = np.cumprod(ratio[peak:])
    weights[:peak] = np.cumprod(1 / ratio[:peak][::-1])[::-1]
    # Errors of five operations, and of an exponential whose argument has the relative error eps/2.
    a_ratio = GEGENBAUER_EPS * (4 + (2 * np.arange(terms) + n) * t)
    errors = np.abs(np.arange(terms) - peak) * a_ratio
    return weights, errors, math.fsum(np.log(ratio[:peak]))


def gegenbauer_series(x: Array, n: int, t: float, terms: int) -> SeriesSum:
    """Compute the sum of the series at x = cos θ ∈ [-1, 1].

    Parameters
    ----------
    x : float array, shape (m,)
    n, t : int ≥ 1 and float > 0
        Dimension, and time on the unit sphere.
    terms : int
        From `terms_needed`.
    """
    weights, weight_errors, log_peak = scaled_weights(n, t, terms)
    total = math.fsum(weights)
    size = np.abs(x)
    before, now = np.zeros_like(x), np.ones_like(x)
    step_errors, value_error = np.zeros_like(x), np.zeros_like(x)
    value, error = np.zeros_like(x), np.zeros_like(x)
    for degree in range(terms):
        weight = weights[degree]
        value += weight * now
        # Each addition rounds by eps/2 of the partial sum, which is at most the sum of weights.
        error += weight * (
            value_error + np.abs(now) * (weight_errors[degree] + GEGENBAUER_EPS)
        ) + GEGENBAUER_EPS / 2 * np.abs(value)
        # For n = 1 the recurrence starts with 0/0, so P_1 = x is set directly for all n.
        a, c = (2 * degree + n - 1, degree) if degree else (1, 0)
        b = (degree + n - 1) if degree else 1
        magnitude = (a * size * np.abs(now) + c * np.abs(before)) / b
        before, now = now, (a * x * now - c * before) / b
        step_errors += 2 * GEGENBAUER_EPS * magnitude + FLOAT_TINY
        value_error += step_errors
    ratio = weight_ratio(n, t, np.array([terms - 1.0]))[0]
    truncation = weights[-1] * ratio / (1 - ratio)
    return SeriesSum(value / total, (error + truncation) / total + GEGENBAUER_EPS, log_peak + math.log(total))
