"""Heat kernel of the unit sphere by a saddle-point integral without cancellation, for use where the series cancels.

With ν = l+λ, exp(-ν²t) = (4πt)^(-½) ∫ exp(-u²/4t + iuν) du and the generating function Σ_l C_l^λ(x) z^l =
(1-2zx+z²)^(-λ) sum the Gegenbauer series under the integral sign along Im u = c > 0; by parts, and with p = -u²,

    K(θ, t) = exp(λ²t)/(λ ω_n) · (4πt)^(-½) · π/(2t) · (1/2πi) ∫ e^{pT} F(p) dp,   T = 1/4t,
    F(p) = (2 cosh √p - 2 cos θ)^(-λ) = (2 - 2 cos θ)^(-λ) Π_{k∈Z} (1 + p/(θ+2πk)²)^(-λ).

Each factor is the Laplace transform of a gamma density, hence the inverse transform is a probability density: positive,
whatever n, θ and t. On the real axis e^{pT} F(p) is convex with one minimum p = δ - θ², δ > 0, which on the path

    p = -θ² + δ(1 + iy)²,   y real,

is a peak; the path bends around the singularities -(θ+2πk)². The trapezoidal rule then converges geometrically.
For n = 1, λ = 0 and there is no such integral: images of the line's kernel are summed instead, also positive terms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array

    ComplexArray = NDArray[np.complex128]

SADDLE_EPS = float(np.finfo(np.float64).eps)
#: Step of the trapezoidal rule in standard deviations of the peak, and its number of points. Halving the step or
#: doubling the range changes nothing at 1e-15.
SADDLE_STEP, SADDLE_POINTS = 1 / 8, 112
#: Bisection steps in log δ: the path needs its peak to a few digits only.
SADDLE_BISECTIONS = 40


def log_saddle_heat_kernel(theta: Array, n: int, t: float) -> tuple[Array, Array]:
    """Compute log(ω_n K(θ, t)) on the unit sphere, and its expected absolute rounding error.

    Parameters
    ----------
    theta : float array, shape (m,)
        Angles in [0, π].
    n, t : int ≥ 1 and float > 0

    Returns
    -------
    values, errors : float arrays, shape (m,)
    """
    return _images(theta, t) if n == 1 else _saddle_integral(theta, (n - 1) / 2, t)


def _images(theta: Array, t: float) -> tuple[Array, Array]:
    """Compute log(ω_1 K) and its error on the circle, K = Σ_k (4πt)^(-½) exp(-(θ+2πk)²/4t) and ω_1 = 2π."""
    # Beyond these turns, images add less than exp(-40) of the nearest one.
    turns = np.arange(1, 2 + math.ceil(math.sqrt(40 * 4 * t) / (2 * math.pi)))
    shift = 2 * math.pi * np.concatenate([-turns, turns])[:, None]
    # (θ+s)² - θ² = s(s + 2θ)
    others = np.exp(-shift * (shift + 2 * theta) / (4 * t)).sum(axis=0)
    leading = theta**2 / (4 * t)
    values = math.log(2 * math.pi) - 0.5 * math.log(4 * math.pi * t) - leading + np.log1p(others)
    return values, 4 * SADDLE_EPS * (leading + 1)


def _saddle_integral(theta: Array, lam: float, t: float) -> tuple[Array, Array]:
    """Compute the integral that the module derives, with λ = lam ≥ ½."""
    T = 1 / (4 * t)
    delta = _saddle(theta, lam, T)
    # The second derivative of the exponent in y is (2δ)² times that in p.
    nudge = 1e-4
    curvature = (_slope(theta, lam, delta * (1 - nudge)) - _slope(theta, lam, delta * (1 + nudge))) / (
        2 * nudge * delta
    )
    step = SADDLE_STEP / (2 * delta * np.sqrt(curvature))
    bend = 1 + 1j * step[:, None] * np.arange(SADDLE_POINTS)
    shifted = delta[:, None] * bend**2
    root, log_f = _log_transform(theta[:, None], lam, shifted)
    exponent = shifted * T + log_f
    peak = exponent[:, :1].real
    # dp/(2πi) = (δ/π)(1+iy) dy, and the two halves of the path are complex conjugates.
    integrand = (bend * np.exp(exponent - peak)).real
    integrand[:, 0] /= 2
    integral = 2 * delta / math.pi * step * integrand.sum(axis=1)
    leading = theta**2 * T
    constant = lam**2 * t - math.log(lam) - 0.5 * math.log(4 * math.pi * t) + math.log(math.pi / (2 * t))
    values = constant + peak[:, 0] - leading + np.log(integral)
    scale = leading + delta * T + lam * (np.abs(root[:, 0]) + 4) + lam**2 * t
    return values, 2 * SADDLE_EPS * (scale + 8)


def _log_transform(theta: Array, lam: float, shifted: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
    """Compute √p and log F(p) at p = shifted - θ², continued from the real axis.

    2 cosh q - 2 cos θ = e^q (1 - e^{-(q+iθ)}) (1 - e^{-(q-iθ)}). For Re q ≥ 0 both brackets have positive real parts,
    so the principal logarithms are continuous. Near the singularity q = iθ the difference is computed without
    cancellation as q - iθ = shifted/(q+iθ).
    """
    root = np.sqrt(shifted - theta**2)
    plus = root + 1j * theta
    minus = shifted / plus
    return root, -lam * (root + np.log(-np.expm1(-plus)) + np.log(-np.expm1(-minus)))


def _slope(theta: Array, lam: float, delta: Array) -> Array:
    """Compute -d log F/dp = λ sinh q / (2q (cosh q - cos θ)), p = δ - θ², q = √p, which falls from ∞ to 0 on δ > 0."""
    root = np.sqrt((delta - theta**2).astype(np.complex128))
    root[root == 0] = 1e-12  # removable: sinh q/q = 1
    plus = root + 1j * theta
    minus = delta / plus
    ratio = -np.expm1(-2 * root) / (2 * root * np.expm1(-plus) * np.expm1(-minus))
    return np.asarray(lam * ratio.real)


def _saddle(theta: Array, lam: float, T: float) -> Array:
    """Solve `_slope` = T for δ to about 1e-9 relative, where e^{pT} F(p) is smallest on the real axis."""
    # The factor k = 0 alone has slope λ/δ; and for q ≥ max(2, λ/T) the slope is at most λ coth(q/2)/2q ≤ λ/q ≤ T.
    low = np.full(theta.shape, math.log(lam / T) - 1e-9)
    high = np.log(theta**2 + max(2.0, lam / T) ** 2 + lam / T)
    for _ in range(SADDLE_BISECTIONS):
        middle = (low + high) / 2
        below_saddle = _slope(theta, lam, np.exp(middle)) > T
        low = np.where(below_saddle, middle, low)
        high = np.where(below_saddle, high, middle)
    return np.asarray(np.exp((low + high) / 2))
