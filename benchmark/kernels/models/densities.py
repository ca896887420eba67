"""One-dimensional densities q(f|x) of a hyperplane's values for each category, and their derivatives.

Takamura et al. (2004) use Gaussians (equation 18), question their symmetry, and show that any density of f can be used
(section 5.4). An object of these classes represents one density for each of k categories. The fields are the
parameters that the TOP kernel differentiates by: log q (Gaussian) or the standardized z = θ2 f - θ1 (the others) is
linear in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from scipy.special import expit, polygamma

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Values of one category that differ by less than this, relative to their size, differ by rounding only.
_ROUNDING = 1e-12
#: Smallest and largest shape α of a skew logistic: its skewness then lies between -1.96 and 1.07.
_SHAPES = 1 / 16, 16.0


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean, variance (divided by n, not n - 1) and skewness of each category's values, shape (k,) each."""

    mean: Array
    variance: Array
    skewness: Array


class Density(Protocol):
    """Densities q(f|x) of k categories; values f have shape (n, k), with column x for category x."""

    @classmethod
    def from_moments(cls, moments: Moments) -> Self:
        """Return the densities that match the moments, as far as the family has parameters for them."""

    def log_density(self, f: Array) -> Array:
        """Compute log q(f|x), shape (n, k)."""

    def slope(self, f: Array) -> Array:
        """Compute ∂ log q(f|x) / ∂f, shape (n, k)."""

    def scores(self, f: Array) -> tuple[Array, ...]:
        """Compute ∂ log q(f|x) / ∂parameter, shape (n, k), for each field in order."""


def sample_moments(values: Array, members: NDArray[np.bool_], categories: Sequence[str]) -> Moments:
    """Compute the moments of each category's values over its members (Takamura et al. 2004, equations 19, 20).

    Parameters
    ----------
    values, members : float64 and bool arrays, shape (n, k)
        Values f, and whether each document is a member of each category.
    categories : sequence of str
        Names for error messages.

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
        deviation = inside - mean
        variance = np.mean(deviation**2)
        if not np.sqrt(variance) > _ROUNDING * np.abs(inside).max():
            msg = f"all {n} training documents of the category {name!r} lie equally far from its hyperplane"
            raise ValueError(msg)
        columns.append((mean, variance, np.mean((deviation / np.sqrt(variance)) ** 3)))
    return Moments(*np.array(columns).T)


@dataclass(frozen=True, eq=False)
class Gaussian:
    """Gaussian N(f; μ, σ²) with θ1 = μ/σ² and θ2 = -1/2σ² (Takamura et al. 2004, equation 18 and appendix B).

    log q = θ1 f + θ2 f² + θ1²/4θ2 - ½ log(-π/θ2)

    Parameters
    ----------
    theta1, theta2 : float64 arrays, shape (k,)
    """

    theta1: Array
    theta2: Array

    @classmethod
    def from_moments(cls, moments: Moments) -> Self:
        """Return the Gaussians whose μ and σ² are the mean and the variance."""
        return cls(moments.mean / moments.variance, -0.5 / moments.variance)

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


@dataclass(frozen=True, eq=False)
class Logistic:
    """Logistic density: symmetric like the Gaussian, with heavier tails, log q ~ -|z|.

    log q = log θ2 - z - 2 log(1 + e^-z),   z = θ2 f - θ1 = (f - m)/s

    Parameters
    ----------
    theta1, theta2 : float64 arrays, shape (k,)
        m/s and 1/s.
    """

    theta1: Array
    theta2: Array

    @classmethod
    def from_moments(cls, moments: Moments) -> Self:
        """Return the densities with mean m and variance π²s²/3."""
        scale = np.sqrt(3 * moments.variance) / np.pi
        return cls(moments.mean / scale, 1 / scale)

    def log_density(self, f: Array) -> Array:
        """Compute log q from |z|: the density is even in z, and e^-|z| can't overflow."""
        distance = np.abs(self._standardized(f))
        return np.asarray(np.log(self.theta2) - distance - 2 * np.log1p(np.exp(-distance)))

    def slope(self, f: Array) -> Array:
        """Compute -θ2 tanh(z/2)."""
        return np.asarray(-self.theta2 * np.tanh(self._standardized(f) / 2))

    def scores(self, f: Array) -> tuple[Array, ...]:
        """Compute the derivatives tanh(z/2) by θ1 and 1/θ2 - f tanh(z/2) by θ2."""
        pull = np.tanh(self._standardized(f) / 2)
        return pull, 1 / self.theta2 - f * pull

    def _standardized(self, f: Array) -> Array:
        return self.theta2 * f - self.theta1


@dataclass(frozen=True, eq=False)
class SkewLogistic(Logistic):
    """Generalized logistic density of type I, with a heavier left tail for α < 1 and a heavier right tail for α > 1.

    log q = log θ2 + log α - z - (α + 1) log(1 + e^-z),   z = θ2 f - θ1

    α = 1 gives `Logistic`. Log q falls off as αz on the left and -z on the right (Johnson, Kotz and Balakrishnan,
    Continuous Univariate Distributions, volume 2, section 23.10).

    Parameters
    ----------
    theta1, theta2, alpha : float64 arrays, shape (k,)
    """

    alpha: Array

    @classmethod
    def from_moments(cls, moments: Moments) -> Self:
        """Match the mean m + s(ψ(α) - ψ(1)), variance s²(ψ'(α) + ψ'(1)) and skewness (`shape_of_skewness`)."""
        alpha = shape_of_skewness(moments.skewness)
        scale = np.sqrt(moments.variance / (polygamma(1, alpha) + polygamma(1, 1)))
        location = moments.mean - scale * (polygamma(0, alpha) - polygamma(0, 1))
        return cls(location / scale, 1 / scale, alpha)

    def log_density(self, f: Array) -> Array:
        """Compute log q with log(1 + e^-z) from `logaddexp`.

        scipy's `genlogistic.logpdf` differs by 2e-15 and is slower.
        """
        z = self._standardized(f)
        return np.asarray(np.log(self.theta2 * self.alpha) - z - (self.alpha + 1) * np.logaddexp(0, -z))

    def slope(self, f: Array) -> Array:
        """Compute θ2 ((α + 1)/(1 + e^z) - 1)."""
        return self.theta2 * self._push(self._standardized(f))

    def scores(self, f: Array) -> tuple[Array, ...]:
        """Compute -h' by θ1, 1/θ2 + f h' by θ2, 1/α - log(1 + e^-z) by α, where h' = (α + 1)/(1 + e^z) - 1."""
        z = self._standardized(f)
        push = self._push(z)
        return -push, 1 / self.theta2 + f * push, 1 / self.alpha - np.logaddexp(0, -z)

    def _push(self, z: Array) -> Array:
        return np.asarray((self.alpha + 1) * expit(-z) - 1)


def shape_of_skewness(skewness: Array) -> Array:
    """Solve (ψ''(α) - ψ''(1)) / (ψ'(α) + ψ'(1))^(3/2) = skewness for the shape α in [1/16, 16].

    The skewness rises with α from -2 to 1.14. A skewness that no α in the interval has gives the nearer end of the
    interval; the variance then accounts for the rest of a long tail.
    """
    from scipy.optimize.elementwise import find_root  # noqa: PLC0415 - slow to import

    ends = np.log(_SHAPES)
    reached = np.clip(skewness, *_skewness(np.exp(ends)))
    root = find_root(lambda x, target: _skewness(np.exp(x)) - target, tuple(ends), args=(reached,))
    return np.asarray(np.exp(root.x))


def _skewness(alpha: Array) -> Array:
    third = polygamma(2, alpha) - polygamma(2, 1)
    return np.asarray(third / (polygamma(1, alpha) + polygamma(1, 1)) ** 1.5)


DENSITIES: dict[str, type[Density]] = {
    "gaussian": Gaussian,
    "logistic": Logistic,
    "skew-logistic": SkewLogistic,
}
