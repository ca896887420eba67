"""Fisher metric of the spherical normals N(μ, σ²I): geodesic distances from means and standard deviations.

For μ ∈ R^(n-1), σ > 0 the metric is g_ij = δ_ij/σ² (i, j < n), g_nn = 2(n-1)/σ² (Lafferty & Lebanon 2002, before their
equation 8). With x = μ/√(2(n-1)),

    ds² = (|dμ|² + 2(n-1) dσ²)/σ² = 2(n-1) · (|dx|² + dσ²)/σ²,

which is 2(n-1) times the metric of the upper half space of curvature -1. With ρ = √(2(n-1)) (n = 2: √2) the
curvature is -1/ρ² (n = 2: -½), and with r the distance at curvature -1,

    d_Fisher = ρ r,   K_Fisher(d, t) = ρ^(-n) K_{H^n}(d/ρ, t/ρ²).

The papers use distances in the kernel of curvature -1 without scaling, so time is in units of ρ².
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchmark.system.checks import check_dimension

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


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
