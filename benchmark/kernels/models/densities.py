"""One-dimensional Gaussians q(f|x) of a hyperplane's values for each category (Takamura et al. 2004), with derivatives.

The fields are the parameters that the TOP kernel differentiates by: log q is linear in them, and in f and f².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Values of one category that differ by less than this, relative to their size, differ by rounding only.
_ROUNDING = 1e-12


def sample_moments(values: Array, members: NDArray[np.bool_], categories: Sequence[str]) -> tuple[Array, Array]:
    """Compute mean and variance of each category's values over its members (Takamura et al. 2004, equations 19, 20).

    Parameters
    ----------
    values, members : float64 and bool arrays, shape (n, k)
        Values f, and whether each document is a member of each category.
    categories : sequence of str
        Names for error messages.

    Returns
    -------
    mean, variance : float64 arrays, shape (k,)
        The variance is divided by n, not n - 1.

    Raises
    ------
    ValueError
        If a category has fewer than two documents, or all its values are equal: its density would be a point mass.
    """
    columns = []
    for x, name in enumerate(categories):
        inside = values[members[:, x], x]
        n = len(inside)
        if n < 2:
            raise ValueError(f"the category {name!r} has {n} training documents; a variance needs at least two")
        mean = inside.mean()
        variance = np.mean((inside - mean) ** 2)
        if not np.sqrt(variance) > _ROUNDING * np.abs(inside).max():
            msg = f"all {n} training documents of the category {name!r} lie equally far from its hyperplane"
            raise ValueError(msg)
        columns.append((mean, variance))
    means, variances = np.array(columns).T
    return means, variances


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Gaussian N(f; μ, σ²) of k categories, θ1 = μ/σ², θ2 = -1/2σ² (Takamura et al. 2004, equation 18, appendix B).

    log q = θ1 f + θ2 f² + θ1²/4θ2 - ½ log(-π/θ2)

    Parameters
    ----------
    theta1, theta2 : float64 arrays, shape (k,)
    """

    theta1: Array
    theta2: Array

    @classmethod
    def from_moments(cls, mean: Array, variance: Array) -> Self:
        """Return the Gaussians with these μ and σ²."""
        return cls(mean / variance, -0.5 / variance)

    @property
    def mean(self) -> Array:
        """Mean μ."""
        return -0.5 * self.theta1 / self.theta2

    @property
    def variance(self) -> Array:
        """Variance σ²."""
        return -0.5 / self.theta2

    def log_density(self, f: Array) -> Array:
        """Compute -(f - μ)²/2σ² - ½ log 2πσ², since θ2 f² and θ1²/4θ2 would cancel."""
        return self.theta2 * (f - self.mean) ** 2 - 0.5 * np.log(2 * np.pi * self.variance)

    def slope(self, f: Array) -> Array:
        """Compute (μ - f)/σ² (equation 38)."""
        return (self.mean - f) / self.variance

    def scores(self, f: Array) -> tuple[Array, Array]:
        """Compute the derivatives f - μ by θ1 and f² - μ² - σ² by θ2 (equations 34, 36)."""
        deviation = f - self.mean
        return deviation, deviation * (f + self.mean) - self.variance
