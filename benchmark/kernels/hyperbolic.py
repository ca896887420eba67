"""Heat kernel of the hyperbolic plane H², exact, and as a kernel of normal distributions with points (μ, σ).

The kernel of curvature -1, as a function of geodesic distance and time
-----------------------------------------------------------------------
Grigor'yan & Noguchi 1998 (Lafferty & Lebanon 2002, equation 9 with n = 2), written in c = cosh r:

    K = √2 (4πt)^(-3/2) e^{-t/4} · ∫_r^∞ s e^{-s²/4t} / √(cosh s - c) ds.

With f(c) = exp(-y(c)/4t), y(c) = arcosh² c = r², s e^{-s²/4t} ds is -2t df, and the substitution b = c + w² removes the
root from the denominator:

    ∫ … = 4t ∫_0^∞ f(b) y'(b)/4t dw  at  b = c + w²,   (c+1) y'(c) = 2r coth(r/2).

All terms are computed relative to c+1 = 2 cosh²(r/2), so that distances in the hundreds don't overflow.

The half plane of normal distributions
--------------------------------------
The spherical normals N(μ, σ²I), μ ∈ R^(n-1), σ > 0, have the Fisher metric g_ij = δ_ij/σ² (i, j < n), g_nn = 2(n-1)/σ²
(Lafferty & Lebanon 2002, before their equation 8). With x = μ/√(2(n-1)),

    ds² = (|dμ|² + 2(n-1) dσ²)/σ² = 2(n-1) · (|dx|² + dσ²)/σ²,

which is 2(n-1) times the metric of the upper half space of curvature -1. With ρ = √(2(n-1)) (n = 2: √2) the
curvature is -1/ρ² (n = 2: -½), and with r the distance at curvature -1,

    d_Fisher = ρ r,   K_Fisher(d, t) = ρ^(-n) K_{H^n}(d/ρ, t/ρ²).

The papers use distances in the kernel of curvature -1 without scaling, so time is in units of ρ².
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from benchmark.kernels.interpolation import ChebyshevInterpolant
from benchmark.kernels.sphere import HEAT_TIMES
from benchmark.representation.estimator import MatrixEstimator
from benchmark.system.checks import POSITIVE, Range, check_value, check_within
from benchmark.system.tags import DEFAULT_TAGS, Tags

if TYPE_CHECKING:
    from benchmark.system.arrays import Array


_EPS = float(np.finfo(np.float64).eps)
#: cosh(r/2) overflows beyond 1400; the quadrature needs room above r.
MAX_HYPERBOLIC_DISTANCE = 1000.0
#: Points of the trapezoidal rule, and its range: until f, or the rest of the integrand, has fallen by e^-45.
HYPERBOLIC_POINTS, INTEGRAND_DROP = 320, 45.0
#: Number of integrals computed at a time, to bound memory.
INTEGRALS_PER_BLOCK = 512


def log_hyperbolic_heat_kernel(r: Array, t: float) -> Array:
    """Compute log K(r, t) on H² with an error of about 1e-13 (1 + r²/4t + t).

    Parameters
    ----------
    r : float array, any shape
        Geodesic distances at curvature -1, 0 ≤ r ≤ 1000.
    t : float
        Time, t > 0.

    Returns
    -------
    float array of the shape of `r`
    """
    check_value("t", t, POSITIVE)
    r = np.asarray(r, dtype=np.float64)
    check_within("r", r, 0.0, MAX_HYPERBOLIC_DISTANCE)
    flat = r.reshape(-1)
    blocks = [_log_integral(flat[i : i + INTEGRALS_PER_BLOCK], t) for i in range(0, flat.size, INTEGRALS_PER_BLOCK)]
    constant = 0.5 * math.log(2) - 1.5 * math.log(4 * math.pi * t) - t / 4 + math.log(4 * t)
    return np.asarray((constant + np.concatenate([np.empty(0), *blocks])).reshape(r.shape))


def _log_cosh(x: Array) -> Array:
    return np.asarray(x + np.log1p(np.exp(-2 * x)) - math.log(2))


def _slope(r: Array) -> Array:
    """Compute (c+1) y'(c) = 2r coth(r/2) at c = cosh r, which is 4 at r = 0."""
    half = np.tanh(r / 2)
    slope = np.full_like(r, 4.0)
    np.divide(2 * r, half, out=slope, where=half > 0)
    return slope


def _log_integral(r: Array, t: float) -> Array:
    """Compute log ∫_0^∞ f(b) y'(b)/4t dw, b = c + w², c = cosh r, by the trapezoidal rule in v, w = α √(c+1) sinh v.

    The integrand is even and analytic in |Im v| < π/2 for α ≤ 1. Near v = 0 it is exp(-y' w²/4t), which has unit width
    in v for α² = 4t/((c+1) y').
    """
    alpha = np.sqrt(np.minimum(1.0, 4 * t / _slope(r)))
    # S is where f has fallen by e^-DROP: (c+1) α² sinh² v = cosh S - cosh r = 2 sinh((S+r)/2) sinh((S-r)/2).
    S = np.sqrt(r**2 + 4 * t * INTEGRAND_DROP)
    beyond = 4 * t * INTEGRAND_DROP / (S + r)
    log_rise = 0.5 * (beyond + np.log(-np.expm1(-beyond)))
    last = np.minimum(np.arcsinh(np.exp(np.minimum(log_rise, 300.0)) / alpha), INTEGRAND_DROP)
    step = last / HYPERBOLIC_POINTS
    v = step[:, None] * np.arange(HYPERBOLIC_POINTS + 1)
    half = (r / 2)[:, None]
    # sinh²(s/2) = sinh²(r/2) + (α cosh(r/2) sinh v)²
    s = 2 * np.arcsinh(np.hypot(np.sinh(half), alpha[:, None] * np.cosh(half) * np.sinh(v)))
    log_derivative = np.log(1 / (4 * t) * _slope(s)) - (math.log(2) + 2 * _log_cosh(s / 2))
    exponent = -(s**2) / (4 * t) + log_derivative + np.log(np.cosh(v))
    exponent[:, 0] -= math.log(2)
    peak = exponent.max(axis=1)
    integral = np.log(np.exp(exponent - peak[:, None]).sum(axis=1) * step) + peak
    return np.asarray(integral + np.log(alpha) + 0.5 * math.log(2) + _log_cosh(r / 2))


class HyperbolicHeatKernel:
    """K(r, t)/K(0, t) on H² for distances up to `reach`: interpolated once, then evaluated elementwise.

    Parameters
    ----------
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
    >>> kernel = HyperbolicHeatKernel(t=0.5, reach=5.0)
    >>> kernel(np.array([0.0, 1.0])).round(4)
    array([1.    , 0.5607])
    """

    def __init__(self, t: float, reach: float) -> None:
        check_value("reach", reach, POSITIVE)
        check_within("reach", np.array([reach]), 0.0, 100.0)
        self.t, self.reach = t, reach
        self.log_diagonal = float(log_hyperbolic_heat_kernel(np.zeros(1), t)[0])
        table = ChebyshevInterpolant.fit(self._slow_part, 0.0, reach**2)
        self._table = table.shifted(-float(table(np.zeros(1))[0]))
        self.error = 2 * table.error + _EPS * reach**2 / (4 * t)

    def _slow_part(self, squared: Array) -> tuple[Array, Array]:
        """Compute log K(r, t)/K(0, t) + r²/4t as a function of r², analytic above -π², and its errors."""
        values = log_hyperbolic_heat_kernel(np.sqrt(squared), self.t) - self.log_diagonal
        flat = squared / (4 * self.t)
        return values + flat, 16 * _EPS * (2 + flat + abs(self.log_diagonal) + np.sqrt(squared))

    def log(self, r: Array) -> Array:
        """Compute log K(r, t) - log K(0, t) of distances r of any shape.

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
        """Compute K(r, t)/K(0, t) of distances r of any shape; see `log` for errors."""
        result = self.log(r)
        return np.exp(result, out=result)


def curvature_radius(n: int) -> float:
    """Return ρ = √(2(n-1)), where -1/ρ² is the curvature of the Fisher metric of N(μ, σ²I), μ ∈ R^(n-1)."""
    check_value("n", n, Range(2, whole=True))
    return math.sqrt(2 * (n - 1))


def hyperbolic_distance(mu: Array, sigma: Array, mu_other: Array, sigma_other: Array) -> Array:
    """Compute the distance r at curvature -1, cosh r = 1 + (|μ-μ'|²/2(n-1) + (σ-σ')²) / 2σσ'.

    The computed form is r = 2 arsinh √((…)/4σσ'), which is accurate for close points.

    Parameters
    ----------
    mu, mu_other : float arrays, shapes (…, n-1)
    sigma, sigma_other : float arrays, shapes (…), positive
        Shapes broadcast.

    Returns
    -------
    float array, shape (…)
    """
    rho = curvature_radius(mu.shape[-1] + 1)
    along = np.sqrt(np.square((mu - mu_other) / rho).sum(axis=-1))
    return np.asarray(
        2 * np.arcsinh(np.hypot(along, sigma - sigma_other) / (2 * np.sqrt(sigma) * np.sqrt(sigma_other)))
    )


HALF_PLANE_GEOMETRIES = ("curvature -1", "fisher")


class Hyperbolic(TransformerMixin, MatrixEstimator):
    """Heat kernel K(r, t)/K(0, t) of the hyperbolic plane of normals N(μ, σ²), as points of two coordinates (μ, σ).

    The Fisher metric of (μ, σ), (dμ² + 2dσ²)/σ², has curvature -½ (Lafferty & Lebanon 2002, section 2.2). Its heat
    kernel is the kernel of curvature -1 at time t/2 ("fisher"). The paper's equation 9 is the kernel of curvature -1,
    and its figure seems to use the distance at curvature -1 with t unscaled ("curvature -1").

    Parameters
    ----------
    t : float
        Time, 1e-9 ≤ t ≤ 1e6.
    geometry : {"curvature -1", "fisher"}
        Metric of the half plane, which sets the unit of length.

    Attributes
    ----------
    points_ : float64 array, shape (n, 2)
        The training points.

    Examples
    --------
    >>> Hyperbolic(t=2.0).fit([[0.0, 1.0], [1.0, 1.0]]).transform([[0.0, 1.0], [1.0, 0.5]]).round(4)
    array([[1.    , 0.9081],
           [0.7656, 0.9081]])
    """

    tags: ClassVar[Tags] = replace(DEFAULT_TAGS, normalization="none", normalizations=("none",))
    allowed: ClassVar = {"t": HEAT_TIMES, "geometry": HALF_PLANE_GEOMETRIES}

    def __init__(self, t: float = 2.0, geometry: str = HALF_PLANE_GEOMETRIES[0]) -> None:
        self.t = t
        self.geometry = geometry

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Store the training points.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, 2)
            A mean μ and a standard deviation σ > 0 in each row.
        y : ignored

        Returns
        -------
        Hyperbolic
            This kernel.

        Raises
        ------
        ValueError
            If a parameter is out of range, or a row is not a point of the half plane.
        """
        self.check()
        self.points_ = self._points(X, fitting=True)
        return self

    def transform(self, X: Any) -> Array:
        """Return the Gram rows of `X` against the training points.

        Parameters
        ----------
        X : dense or sparse matrix, shape (m, 2)

        Returns
        -------
        float64 array, shape (m, n)

        Raises
        ------
        ValueError
            If a row is not a point of the half plane, or is farther than 100 from a training point at curvature -1.
        NotFittedError
            If the kernel has not been fitted.
        """
        check_is_fitted(self, "points_")
        left, right = self._points(X, fitting=False), self.points_
        r = hyperbolic_distance(left[:, None, :1], left[:, None, 1], right[None, :, :1], right[None, :, 1])
        time = self.t / curvature_radius(2) ** 2 if self.geometry == "fisher" else self.t
        return HyperbolicHeatKernel(t=time, reach=max(1.0, float(r.max(initial=0.0))))(r)

    def _points(self, X: Any, *, fitting: bool) -> Array:
        points = self.validated(X, fitting=fitting)
        points = np.asarray(points.toarray() if hasattr(points, "toarray") else points)
        if points.shape[1] != 2 or not (points[:, 1] > 0).all():
            raise ValueError("Hyperbolic needs points of two coordinates, a mean and a positive standard deviation")
        return points
