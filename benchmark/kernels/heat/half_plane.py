"""Exact heat kernel of the half plane of normal distributions, as a kernel of points (μ, σ).

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

from benchmark.kernels.heat.hyperbolic import HyperbolicHeatKernel
from benchmark.kernels.heat.sphere import HEAT_TIMES
from benchmark.representation.estimator import MatrixEstimator
from benchmark.system.checks import check_dimension
from benchmark.system.tags import DEFAULT_TAGS, Tags

if TYPE_CHECKING:
    from benchmark.system.arrays import Array


def curvature_radius(n: int) -> float:
    """Return ρ = √(2(n-1)), where -1/ρ² is the curvature of the Fisher metric of N(μ, σ²I), μ ∈ R^(n-1)."""
    check_dimension(n, smallest=2)
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

    Raises
    ------
    ValueError
        If means have different numbers of coordinates, or a deviation is not positive.
    """
    mu, mu_other = np.asarray(mu, dtype=np.float64), np.asarray(mu_other, dtype=np.float64)
    sigma, sigma_other = np.asarray(sigma, dtype=np.float64), np.asarray(sigma_other, dtype=np.float64)
    if mu.shape[-1:] != mu_other.shape[-1:] or mu.ndim == 0 or mu.shape[-1] == 0:
        raise ValueError(
            f"means must have the same number of coordinates on the last axis, not shapes {mu.shape}, {mu_other.shape}"
        )
    if not (bool((sigma > 0).all()) and bool((sigma_other > 0).all())):
        raise ValueError("standard deviations must be positive")
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
