"""One-dimensional densities q(f|x) of a hyperplane's values, one for each category, and their derivatives.

Takamura et al. (2004) take Gaussians (equation 18), doubt their symmetry, and show that any density of f will do
(section 5.4). Each class here holds one density for each of k categories; its fields are the parameters that the TOP
kernel differentiates by, in which log q (Gaussian) or the standardized z = θ2 f - θ1 (the others) is linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from scipy.optimize.elementwise import find_root
from scipy.special import expit, polygamma

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Values of one category that differ by less than this, relative to their size, differ by rounding only.
_ROUNDING = 1e-12
#: The shapes α that a skew logistic may be given: its skewness then lies between -1.96 and 1.07.
_SHAPES = 1 / 16, 16.0


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean, variance and skewness of each category's values, of shape (k,) each; divided by n, not n - 1."""

    mean: Array
    variance: Array
    skewness: Array


class Density(Protocol):
    """k densities q(f|x); values f have the shape (n, k), column x for category x."""

    @classmethod
    def from_moments(cls, moments: Moments) -> Self:
        """The densities with these moments, as far as they have parameters for them."""

    def log_density(self, f: Array) -> Array:
        """Log q(f|x), shape (n, k)."""

    def slope(self, f: Array) -> Array:
        """∂ log q(f|x) / ∂f, shape (n, k)."""

    def scores(self, f: Array) -> tuple[Array, ...]:
        """∂ log q(f|x) / ∂parameter, shape (n, k), for each field in order."""


def sample_moments(values: Array, members: NDArray[np.bool_], categories: Sequence[str]) -> Moments:
    """The moments of each category's values over its own documents (Takamura et al. 2004, equations 19, 20).

    Parameters
    ----------
    values, members : float64 and bool arrays, shape (n, k)
    categories : sequence of str
        Names for the errors.

    Raises
    ------
    ValueError
        If a category has fewer than two documents, or the same value for all of them: its density would be a point.
    """
    columns = []
    for x, name in enumerate(categories):
        own = values[members[:, x], x]
        if len(own) < 2:
            raise ValueError(f"the category {name!r} has {len(own)} training documents; a variance needs at least two")
        mean = own.mean()
        deviation = own - mean
        variance = np.mean(deviation**2)
        if not np.sqrt(variance) > _ROUNDING * np.abs(own).max():
            msg = f"all {len(own)} training documents of the category {name!r} lie equally far from its hyperplane"
            raise ValueError(msg)
        columns.append((mean, variance, np.mean((deviation / np.sqrt(variance)) ** 3)))
    return Moments(*np.array(columns).T)


@dataclass(frozen=True, eq=False)
class Gaussian:
    """N(f; μ, σ²) by θ1 = μ/σ² and θ2 = -1/2σ² (Takamura et al. 2004, equation 18 and appendix B).

    log q = θ1 f + θ2 f² + θ1²/4θ2 - ½ log(-π/θ2)

    Parameters
    ----------
    theta1, theta2 : float64 arrays, shape (k,)
    """

    theta1: Array
    theta2: Array

    @classmethod
    def from_moments(cls, moments: Moments) -> Self:
        """μ and σ² are the mean and the variance."""
        return cls(moments.mean / moments.variance, -0.5 / moments.variance)

    @property
    def mean(self) -> Array:
        """μ."""
        return -0.5 * self.theta1 / self.theta2

    @property
    def variance(self) -> Array:
        """σ²."""
        return -0.5 / self.theta2

    def log_density(self, f: Array) -> Array:
        """-(f - μ)²/2σ² - ½ log 2πσ²; θ2 f² and θ1²/4θ2 would cancel."""
        return self.theta2 * (f - self.mean) ** 2 - 0.5 * np.log(2 * np.pi * self.variance)

    def slope(self, f: Array) -> Array:
        """(μ - f)/σ² (equation 38)."""
        return (self.mean - f) / self.variance

    def scores(self, f: Array) -> tuple[Array, Array]:
        """By θ1 f - μ, by θ2 f² - μ² - σ² (equations 34, 36)."""
        deviation = f - self.mean
        return deviation, deviation * (f + self.mean) - self.variance


@dataclass(frozen=True, eq=False)
class Logistic:
    """The logistic density: symmetric as the Gaussian, with heavier tails, log q ~ -|z|.

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
        """The mean is m, the variance π²s²/3."""
        scale = np.sqrt(3 * moments.variance) / np.pi
        return cls(moments.mean / scale, 1 / scale)

    def log_density(self, f: Array) -> Array:
        """The same from |z|: the density is even, and e^-|z| can't overflow."""
        distance = np.abs(self._standardized(f))
        return np.asarray(np.log(self.theta2) - distance - 2 * np.log1p(np.exp(-distance)))

    def slope(self, f: Array) -> Array:
        """-θ2 tanh(z/2)."""
        return np.asarray(-self.theta2 * np.tanh(self._standardized(f) / 2))

    def scores(self, f: Array) -> tuple[Array, ...]:
        """By θ1 tanh(z/2), by θ2 1/θ2 - f tanh(z/2)."""
        pull = np.tanh(self._standardized(f) / 2)
        return pull, 1 / self.theta2 - f * pull

    def _standardized(self, f: Array) -> Array:
        return self.theta2 * f - self.theta1


@dataclass(frozen=True, eq=False)
class SkewLogistic(Logistic):
    """The generalized logistic density of type I: a heavier left tail for α < 1, a heavier right one for α > 1.

    log q = log θ2 + log α - z - (α + 1) log(1 + e^-z),   z = θ2 f - θ1

    α = 1 is `Logistic`. Log q falls off as αz on the left and -z on the right (Johnson, Kotz and Balakrishnan,
    Continuous Univariate Distributions, volume 2, section 23.10).

    Parameters
    ----------
    theta1, theta2, alpha : float64 arrays, shape (k,)
    """

    alpha: Array

    @classmethod
    def from_moments(cls, moments: Moments) -> Self:
        """Match mean m + s(ψ(α) - ψ(1)), variance s²(ψ'(α) + ψ'(1)) and skewness (`shape_of_skewness`)."""
        alpha = shape_of_skewness(moments.skewness)
        scale = np.sqrt(moments.variance / (polygamma(1, alpha) + polygamma(1, 1)))
        location = moments.mean - scale * (polygamma(0, alpha) - polygamma(0, 1))
        return cls(location / scale, 1 / scale, alpha)

    def log_density(self, f: Array) -> Array:
        """The formula of the class, with log(1 + e^-z) from `logaddexp`.

        (scipy's `genlogistic.logpdf` is 2e-15 from it, and slower.)
        """
        z = self._standardized(f)
        return np.asarray(np.log(self.theta2 * self.alpha) - z - (self.alpha + 1) * np.logaddexp(0, -z))

    def slope(self, f: Array) -> Array:
        """θ2 ((α + 1)/(1 + e^z) - 1)."""
        return self.theta2 * self._push(self._standardized(f))

    def scores(self, f: Array) -> tuple[Array, ...]:
        """By θ1 -h', by θ2 1/θ2 + f h', by α 1/α - log(1 + e^-z), where h' = (α + 1)/(1 + e^z) - 1."""
        z = self._standardized(f)
        push = self._push(z)
        return -push, 1 / self.theta2 + f * push, 1 / self.alpha - np.logaddexp(0, -z)

    def _push(self, z: Array) -> Array:
        return np.asarray((self.alpha + 1) * expit(-z) - 1)


def shape_of_skewness(skewness: Array) -> Array:
    """The shape α whose skewness (ψ''(α) - ψ''(1)) / (ψ'(α) + ψ'(1))^(3/2) is the given one.

    The skewness rises with α from -2 to 1.14. Where the given one is out of reach, or beyond α in [1/16, 16], the
    nearer end is taken: the rest of a long tail is left to the variance.
    """
    ends = np.log(_SHAPES)
    reached = np.clip(skewness, *_skewness(np.exp(ends)))
    found = find_root(lambda x, wanted: _skewness(np.exp(x)) - wanted, tuple(ends), args=(reached,))
    return np.asarray(np.exp(found.x))


def _skewness(alpha: Array) -> Array:
    third = polygamma(2, alpha) - polygamma(2, 1)
    return np.asarray(third / (polygamma(1, alpha) + polygamma(1, 1)) ** 1.5)


DENSITIES: dict[str, type[Density]] = {
    "gaussian": Gaussian,
    "logistic": Logistic,
    "skew-logistic": SkewLogistic,
}
