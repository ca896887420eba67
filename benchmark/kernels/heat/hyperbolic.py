"""The heat kernel of hyperbolic space H^n of curvature -1: geodesic distance and time to log K.

Grigor'yan & Noguchi 1998 (Lafferty & Lebanon 2002, equations 8, 9), written in c = cosh r, (1/sinh r) ∂_r = d/dc:

    n = 2m+1:  K = (2π)^(-m) (4πt)^(-½) e^{-m²t} · (-d/dc)^m f(c),   f(c) = exp(-y(c)/4t),   y(c) = arcosh² c = r²;
    n = 2m+2:  K = (2π)^(-m) √2 (4πt)^(-3/2) e^{-(2m+1)²t/4} · (-d/dc)^m ∫_r^∞ s e^{-s²/4t} / √(cosh s - c) ds.

y is a Bernstein function (y > 0, y' > 0, y'' < 0, y''' > 0, …), so with Y_k = |y^(k)| every term of

    (-d/dc)^m f = f b_m,   b_0 = 1,   b_{m+1} = Σ_j binom(m, j) Y_{j+1}/4t · b_{m-j}

is positive: nothing cancels. In the even case s e^{-s²/4t} ds = -2t df, and b = c + w² takes the root out of the
denominator and lets the derivatives act inside:

    (-d/dc)^m ∫ … = 4t ∫_0^∞ f(b) b_{m+1}(b) dw  at  b = c + w².

Everything is kept relative to (c+1)^k = (2 cosh²(r/2))^k, so that distances in the hundreds don't overflow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchmark.checks import check_dimension, check_positive, check_within
from benchmark.kernels.heat.interpolation import ChebyshevInterpolant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
#: cosh(r/2) overflows beyond 1400; the quadrature needs room above r.
FARTHEST = 1000.0
#: Above this tanh²(r/2), Y_k is recurred upwards (an error grows by 1/0.85 a step), below it downwards from order
#: SEED + k (0.85^220 = 3e-16 of the seed's error is left).
SWITCH, SEED = 0.85, 220
#: The rule's points, and where it stops: f falls by e^-45, or the rest of the integrand does.
POINTS, DROP = 320, 45.0
#: Quadratures done at a time, to bound memory.
BLOCK = 512


def log_heat_kernel(r: Array, n: int, t: float) -> Array:
    """Log K(r, t) on H^n.

    Parameters
    ----------
    r : float array, any shape
        Geodesic distances at curvature -1, 0 ≤ r ≤ 1000.
    n, t : int ≥ 1 and float > 0
        Dimension (n = 1 is the line) and time.

    Returns
    -------
    float array of the shape of `r`
        Within about 1e-13 (1 + r²/4t + n²t).

    Examples
    --------
    >>> r, t = np.array([0.0, 1.0]), 0.5
    >>> closed_form = -1.5 * np.log(4 * np.pi * t) - t - r**2 / (4 * t) + [0, np.log(1 / np.sinh(1))]
    >>> np.allclose(log_heat_kernel(r, 3, t), closed_form, rtol=1e-14)
    True
    """
    check_dimension(n)
    check_positive("t", t)
    r = np.asarray(r, dtype=np.float64)
    check_within("r", r, 0.0, FARTHEST)
    flat = r.reshape(-1)
    m = (n - 1) // 2
    if n % 2:
        values = -0.5 * math.log(4 * math.pi * t) - m**2 * t - flat**2 / (4 * t) + _log_derivative(flat, m, t)
    else:
        blocks = [_log_integral(flat[i : i + BLOCK], m, t) for i in range(0, flat.size, BLOCK)]
        constant = 0.5 * math.log(2) - 1.5 * math.log(4 * math.pi * t) - (2 * m + 1) ** 2 * t / 4 + math.log(4 * t)
        values = constant + np.concatenate([np.empty(0), *blocks])
    return np.asarray((values - m * math.log(2 * math.pi)).reshape(r.shape))


def _log_cosh(x: Array) -> Array:
    return np.asarray(x + np.log1p(np.exp(-2 * x)) - math.log(2))


def scaled_derivatives(r: Array, order: int) -> list[Array]:
    """Y_k (c+1)^k for k = 1..order, Y_k = |d^k/dc^k arcosh² c| at c = cosh r.

    (c²-1)y'' + c y' = 2 gives, differentiated k times, (c²-1) Y_{k+2} = (2k+1) c Y_{k+1} - k² Y_k; scaled, with
    T = tanh²(r/2),

        T Ŷ_{k+2} = (2k+1)(1+T)/2 Ŷ_{k+1} - k² Ŷ_k,   Ŷ_1 = 2r coth(r/2).

    The recurrence's other solutions grow by 1/T a step against this one. So unless T is near 1, it is run downwards:
    the ratios Ŷ_{k+1}/Ŷ_k from their limit k for large k, as a continued fraction (Miller's algorithm).
    """
    half = np.tanh(r / 2)
    T = half * half
    first = np.full_like(r, 4.0)
    np.divide(2 * r, half, out=first, where=half > 0)
    upwards = T > SWITCH
    safe = np.where(upwards, 0.5, T)
    ratios: list[Array] = []
    ratio = np.full_like(r, float(SEED + order))
    for k in range(SEED + order - 1, 0, -1):
        ratio = k * k / ((2 * k + 1) * (1 + safe) / 2 - safe * ratio)
        if k < order:
            ratios.append(ratio)
    derivatives = [first]
    for ratio in reversed(ratios):
        derivatives.append(derivatives[-1] * ratio)
    if upwards.any():
        for values, recurred in zip(derivatives, _recur_upwards(first[upwards], T[upwards], order), strict=True):
            values[upwards] = recurred
    return derivatives


def _recur_upwards(first: Array, T: Array, order: int) -> list[Array]:
    """Ŷ_1, …, Ŷ_order from Ŷ_1; the equation for y itself gives T Ŷ_2 = (1+T)/2 Ŷ_1 - 2."""
    derivatives = [first, ((1 + T) / 2 * first - 2) / T]
    for k in range(1, order - 1):
        derivatives.append(((2 * k + 1) * (1 + T) / 2 * derivatives[k] - k * k * derivatives[k - 1]) / T)
    return derivatives[:order]


def _log_derivative(r: Array, m: int, t: float) -> Array:
    """Log b_m at c = cosh r."""
    if m == 0:
        return np.zeros_like(r)
    derivatives = scaled_derivatives(r, m)
    b = [np.ones_like(r)]
    for k in range(m):
        b.append(sum((math.comb(k, j) / (4 * t) * derivatives[j] * b[k - j] for j in range(k + 1)), np.zeros_like(r)))
    return np.asarray(np.log(b[m]) - m * (math.log(2) + 2 * _log_cosh(r / 2)))


def _log_integral(r: Array, m: int, t: float) -> Array:
    """Log ∫_0^∞ f(b) b_{m+1}(b) dw, b = c + w², c = cosh r, by the trapezoidal rule in v, w = α √(c+1) sinh v.

    The integrand is even and analytic in |Im v| < π/2 as long as α ≤ 1; near v = 0 it is exp(-Y_1 w²/4t), of unit
    width in v for α² = 4t/Ŷ_1.
    """
    alpha = np.sqrt(np.minimum(1.0, 4 * t / scaled_derivatives(r, 1)[0]))
    # Up to the S where f has fallen by e^-DROP: (c+1) α² sinh² v = cosh S - cosh r = 2 sinh((S+r)/2) sinh((S-r)/2).
    S = np.sqrt(r**2 + 4 * t * DROP)
    beyond = 4 * t * DROP / (S + r)
    log_rise = 0.5 * (beyond + np.log(-np.expm1(-beyond)))
    last = np.minimum(np.arcsinh(np.exp(np.minimum(log_rise, 300.0)) / alpha), DROP)
    step = last / POINTS
    v = step[:, None] * np.arange(POINTS + 1)
    half = (r / 2)[:, None]
    # sinh²(s/2) = sinh²(r/2) + (α cosh(r/2) sinh v)²
    s = 2 * np.arcsinh(np.hypot(np.sinh(half), alpha[:, None] * np.cosh(half) * np.sinh(v)))
    exponent = -(s**2) / (4 * t) + _log_derivative(s.reshape(-1), m + 1, t).reshape(s.shape) + np.log(np.cosh(v))
    exponent[:, 0] -= math.log(2)
    peak = exponent.max(axis=1)
    integral = np.log(np.exp(exponent - peak[:, None]).sum(axis=1) * step) + peak
    return np.asarray(integral + np.log(alpha) + 0.5 * math.log(2) + _log_cosh(r / 2))


class HyperbolicHeatKernel:
    """K(r, t)/K(0, t) on H^n for many distances up to `reach`: tabulated once, evaluated elementwise.

    Parameters
    ----------
    n : int
        Dimension, n ≥ 1.
    t : float
        Time, t > 0, at curvature -1.
    reach : float
        The largest distance, 0 < reach ≤ 100, at curvature -1.

    Attributes
    ----------
    log_diagonal : float
        log K(0, t).
    error : float
        Estimated largest absolute error of `log`.

    Examples
    --------
    >>> kernel = HyperbolicHeatKernel(n=2, t=0.5, reach=5.0)
    >>> kernel(np.array([0.0, 1.0])).round(4)
    array([1.    , 0.5607])
    """

    def __init__(self, n: int, t: float, reach: float) -> None:
        check_positive("reach", reach)
        check_within("reach", np.array([reach]), 0.0, 100.0)
        self.n, self.t, self.reach = n, t, reach
        self.log_diagonal = float(log_heat_kernel(np.zeros(1), n, t)[0])
        table = ChebyshevInterpolant.fit(self._slow_part, 0.0, reach**2)
        self._table = table.shifted(-float(table(np.zeros(1))[0]))
        self.error = 2 * table.error + EPS * reach**2 / (4 * t)

    def _slow_part(self, squared: Array) -> tuple[Array, Array]:
        """Log K + r²/4t as a function of r², analytic above -π², and its errors."""
        values = log_heat_kernel(np.sqrt(squared), self.n, self.t) - self.log_diagonal
        flat = squared / (4 * self.t)
        return values + flat, 16 * EPS * (self.n + flat + abs(self.log_diagonal) + np.sqrt(squared))

    def log(self, r: Array) -> Array:
        """Log K(r, t) - log K(0, t), any shape.

        Raises
        ------
        ValueError
            If a distance lies outside [0, reach].
        """
        r = np.asarray(r, dtype=np.float64)
        check_within("r", r, 0.0, self.reach, 1e-9 * self.reach)
        squared = r * r
        result = self._table(squared)
        squared /= 4 * self.t
        result -= squared
        return np.minimum(result, 0.0, out=result)

    def __call__(self, r: Array) -> Array:
        """K(r, t)/K(0, t), any shape."""
        result = self.log(r)
        return np.exp(result, out=result)
