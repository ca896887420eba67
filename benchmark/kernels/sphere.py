"""Exact heat kernel of a hypersphere of any dimension, as a function of cosines of angles.

The simplex of V outcomes with the Fisher metric is the positive orthant of the sphere S^n of radius 2, n = V-1
(θ → 2√θ). The kernel K solves ∂_t K = ΔK (Lafferty & Lebanon 2002). On the full sphere it is a function of
s = Σ √(θ_i θ'_i) = cos(angle), d_G = 2 arccos s. On a sphere of radius R, lengths are R times and times R² times those
of the unit sphere:

    K_R(angle, t) = R^(-n) K_1(angle, t/R²),

so that for R = 2 and small t, K ≈ (4πt)^(-n/2) exp(-d_G²/4t) = (4πt)^(-n/2) exp(-arccos²(s)/t), the papers' parametrix.

Two ways lead to the kernel of the unit sphere: a series with a proven error bound, and where it cancels an integral.

The series of Gegenbauer polynomials
------------------------------------
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

The saddle-point integral
-------------------------
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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from benchmark.kernels.interpolation import ChebyshevInterpolant
from benchmark.kernels.multinomial import _WithTime
from benchmark.system.checks import DIMENSION, POSITIVE, Range, check_value, check_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.kernels.base import Matrix
    from benchmark.system.arrays import Array
    from benchmark.system.tags import Tags

    ComplexArray = NDArray[np.complex128]

_EPS = float(np.finfo(np.float64).eps)
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
    a_ratio = _EPS * (4 + (2 * np.arange(terms) + n) * t)
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
        error += weight * (value_error + np.abs(now) * (weight_errors[degree] + _EPS)) + _EPS / 2 * np.abs(value)
        # For n = 1 the recurrence starts with 0/0, so P_1 = x is set directly for all n.
        a, c = (2 * degree + n - 1, degree) if degree else (1, 0)
        b = (degree + n - 1) if degree else 1
        magnitude = (a * size * np.abs(now) + c * np.abs(before)) / b
        before, now = now, (a * x * now - c * before) / b
        step_errors += 2 * _EPS * magnitude + FLOAT_TINY
        value_error += step_errors
    ratio = weight_ratio(n, t, np.array([terms - 1.0]))[0]
    truncation = weights[-1] * ratio / (1 - ratio)
    return SeriesSum(value / total, (error + truncation) / total + _EPS, log_peak + math.log(total))


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
    return values, 4 * _EPS * (leading + 1)


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
    return values, 2 * _EPS * (scale + 8)


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


#: Radius of the sphere that the simplex with the Fisher metric is part of.
SPHERE_RADIUS = 2.0
#: Longest series. Where more terms are needed, the integral is used, whose time doesn't depend on n and t.
MAX_SERIES_TERMS = 1500
#: Rounding may move inner products of unit vectors outside [0, 1] by up to this; larger deviations raise an error.
COSINE_SLACK = 1e-9


def log_sphere_heat_ratio(s: Array, n: int, t: float) -> tuple[Array, Array, float]:
    """Compute log K(angle, t) - log K(0, t) on the unit sphere S^n, its errors, and log K(0, t).

    Each value is the more accurate of two: the Gegenbauer series with its proven bound, and the integral of `saddle`,
    which is accurate where the series cancels.

    Parameters
    ----------
    s : float array, shape (m,)
        Cosines in [-1, 1].
    n, t : int ≥ 1 and float > 0
        Dimension, and time on the unit sphere.

    Returns
    -------
    values : float array, shape (m,)
        0 at s = 1, negative elsewhere.
    errors : float array, shape (m,)
        Bounds or estimates of the absolute errors of the values, hence of the relative errors of the kernel.
    log_diagonal : float
        log K(0, t).
    """
    # arccos s would lose half the digits near s = 1.
    theta = 2 * np.arcsin(np.sqrt((1 - s) / 2))
    integral, errors = log_saddle_heat_kernel(np.append(theta, 0.0), n, t)
    values, diagonal = integral[:-1] - integral[-1], float(integral[-1])
    errors = errors[:-1] + errors[-1]
    terms = terms_needed(n, t, MAX_SERIES_TERMS)
    if terms is not None:
        series = gegenbauer_series(s, n, t, terms)
        diagonal = series.log_total
        # log(v ± e) = log v ± e/(v - e). Where no digit is correct, the error is infinite.
        with np.errstate(divide="ignore", invalid="ignore"):
            series_errors = np.where(series.ratio > 2 * series.error, 2 * series.error / series.ratio, np.inf)
            better = series_errors < errors
            values = np.where(better, np.log(series.ratio), values)
        errors = np.minimum(series_errors, errors)
    return values, errors, diagonal - log_sphere_volume(n)


class HypersphereHeatKernel:
    """K(s, t)/K(1, t) on the sphere S^n of radius 2, for cosines s ∈ [0, 1].

    The logarithm is interpolated once by a polynomial in s and evaluated elementwise. It is analytic in s up to the
    antipode s = -1, so some thirty coefficients are enough. The kernel is positive definite, since all Gegenbauer
    coefficients are positive (Schoenberg 1942).

    In high dimension the kernel distinguishes points only for t around 4 log(n)/n (Zhao & Song 2018), where it is near
    exp(-z(1-s)), z = n exp(-nt/4). At much shorter times it is 0 except for equal points, at much longer times 1.

    Parameters
    ----------
    n : int
        Dimension of the sphere, n ≥ 1; V - 1 for a vocabulary of V terms.
    t : float
        Time, t > 0, in squared units of length on that sphere.

    Attributes
    ----------
    log_diagonal : float
        log K(x, x), the constant that the normalized kernel omits: up to ±10⁵ for n in the ten thousands.
    error : float
        Estimated largest absolute error of `log`, hence of the kernel's relative error.

    Examples
    --------
    >>> kernel = HypersphereHeatKernel(n=20_000, t=0.002)
    >>> kernel(np.array([0.0, 0.5, 1.0])).round(4)
    array([0.4035, 0.6352, 1.    ])
    >>> abs(kernel.log_diagonal) > 1e4
    True
    """

    def __init__(self, n: int, t: float) -> None:
        check_value("n", n, DIMENSION)
        check_value("t", t, POSITIVE)
        *_, log_diagonal = log_sphere_heat_ratio(np.ones(1), n, t / SPHERE_RADIUS**2)
        self.log_diagonal = log_diagonal - n * math.log(SPHERE_RADIUS)
        table = ChebyshevInterpolant.fit(lambda s: log_sphere_heat_ratio(s, n, t / SPHERE_RADIUS**2)[:2], 0.0, 1.0)
        # Exactly 0 at s = 1, where every T_k is 1.
        self._table = table.shifted(-math.fsum(table.coefficients))
        self.error = 2 * table.error

    def log(self, s: Array, out: Array | None = None) -> Array:
        """Compute log K(s, t) - log K(1, t) of cosines s of any shape; `out` may be `s` itself.

        Raises
        ------
        ValueError
            If a cosine lies outside [0, 1] by more than rounding.
        """
        s = np.asarray(s, dtype=np.float64)
        check_within("s", s, 0.0, 1.0, COSINE_SLACK)
        result = self._table(s, out)
        return np.minimum(result, 0.0, out=result)

    def __call__(self, s: Array, out: Array | None = None) -> Array:
        """Compute K(s, t)/K(1, t) of cosines s of any shape; `out` may be `s` itself; see `log` for errors."""
        result = self.log(s, out)
        return np.exp(result, out=result)


#: Range of times. At the shortest, only equal points have values above 0, and at the longest all values are 1. Far
#: outside the range the sums also lose accuracy.
HEAT_TIMES = Range(1e-9, 1e6)
_NOTE = (
    "Heat kernels are used without their factor (4πt)^(-n/2), which overflows for n in the ten thousands: a "
    "constant factor of a kernel is the same as a factor of C."
)


class Heat(_WithTime):
    """Heat kernel of the sphere S^n of radius 2, n = V - 1, divided by its diagonal: k(θ, θ') = K_t(s)/K_t(1).

    θ → 2√θ maps the simplex of V outcomes into that sphere. The kernel solves ∂_t K = ΔK on the whole sphere
    (Lafferty & Lebanon 2002, section 3; Zhao & Song 2018). For t → 0 it approaches `Diffusion` with the same t,
    K_t ≈ (4πt)^(-n/2) exp(-arccos²(s)/t). Unlike this parametrix it is positive definite at every t (Schoenberg 1942),
    and it depends on V, including terms that no document has.

    In high dimension the range of useful times is narrow. For t near 4 log(n)/n, the kernel is close to exp(-z(1-s)),
    z = n exp(-nt/4) (Zhao & Song 2018): t = 2, 3, 4, 5 log(n)/n give z = √n, n^¼, 1, n^(-¼). At n = 20,000 these are
    t = 0.0010, 0.0015, 0.0020, 0.0025 and z = 141, 12, 1, 0.08. At shorter times the values between different
    documents approach 0, and at longer times (such as the default t for such n) all values approach 1: finite, but
    without information. For small z the kernel is 1 - z + zs, which an SVM treats as `Bhattacharyya` with C times z.

    Parameters
    ----------
    t : float
        Diffusion time, 1e-9 ≤ t ≤ 1e6, in squared units of length of the sphere of radius 2.

    Attributes
    ----------
    heat_kernel_ : HypersphereHeatKernel
        Polynomial in s for the logarithm of the kernel; `error` estimates the largest relative error of the values.

    Examples
    --------
    >>> import numpy as np
    >>> Heat(t=1.0).fit(np.eye(3)).transform(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])).round(4)
    array([[1.    , 0.1068, 0.1068],
           [0.5693, 0.5693, 0.1068]])
    """

    tags: ClassVar[Tags] = replace(_WithTime.tags, note=_NOTE)
    allowed: ClassVar = {"t": HEAT_TIMES}

    def learn(self, n_coordinates: int) -> Self:
        """Interpolate the kernel of the sphere S^n, n = n_coordinates - 1, in a few milliseconds.

        Parameters
        ----------
        n_coordinates : int
            V, the size of the vocabulary.

        Returns
        -------
        Heat
            This kernel.

        Raises
        ------
        ValueError
            If t is out of range, or there are fewer than two coordinates: the simplex is then a point.
        """
        self.check()
        if n_coordinates < 2:
            raise ValueError(f"{type(self).__name__} needs points of at least 2 coordinates, not {n_coordinates}")
        # Where the series cancels, its error overflows to infinity, and the integral is used instead.
        with np.errstate(over="ignore"):
            self.heat_kernel_ = HypersphereHeatKernel(n_coordinates - 1, self.t)
        return self

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """Compute K_t(s)/K_t(1) by the interpolant, which threads can share, since it is not modified."""
        check_is_fitted(self, "heat_kernel_")
        np.clip(products, 0.0, 1.0, out=products)
        return self.heat_kernel_(products, out=products)
