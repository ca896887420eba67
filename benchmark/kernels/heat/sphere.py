"""Exact heat kernel of a hypersphere of any dimension, as a function of cosines of angles.

The simplex of V outcomes with the Fisher metric is the positive orthant of the sphere S^n of radius 2, n = V-1
(θ → 2√θ), so its heat kernel on the full sphere is a function of s = Σ √(θ_i θ'_i) = cos(angle), d_G = 2 arccos s. On a
sphere of radius R, lengths are R times and times R² times those of the unit sphere:

    K_R(angle, t) = R^(-n) K_1(angle, t/R²),

so that for R = 2 and small t, K ≈ (4πt)^(-n/2) exp(-d_G²/4t) = (4πt)^(-n/2) exp(-arccos²(s)/t), the papers' parametrix.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from benchmark.kernels.heat.gegenbauer import gegenbauer_series, log_sphere_volume, terms_needed
from benchmark.kernels.heat.interpolation import ChebyshevInterpolant
from benchmark.kernels.heat.saddle import log_saddle_heat_kernel
from benchmark.kernels.multinomial import _WithTime
from benchmark.system.checks import Range, check_dimension, check_positive, check_within

if TYPE_CHECKING:
    from benchmark.kernels.base import Matrix
    from benchmark.system.arrays import Array
    from benchmark.system.tags import Tags


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
        check_dimension(n)
        check_positive("t", t)
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
