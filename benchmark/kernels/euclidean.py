"""Kernels of term vectors in Euclidean space (Zhang et al. 2005, section 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.kernels.base import Kernel
from benchmark.system.checks import NOT_NEGATIVE, POSITIVE, Range
from benchmark.system.numba_jit import compile_lazily
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from benchmark.kernels.base import Matrix


def squared_distances(products: Matrix, left: Matrix, right: Matrix) -> Matrix:
    """Compute ||x - x'||² = <x,x> + <x',x'> - 2<x,x'>, written over `products` and clipped at 0 against rounding."""
    distances = np.ascontiguousarray(products)
    _square_distances(distances, *(np.require(each, requirements=["C", "W"]) for each in (left, right)))
    return distances


@compile_lazily("void(f8[:, ::1], f8[::1], f8[::1])")
def _square_distances(products: Matrix, left: Matrix, right: Matrix) -> None:
    """Compute `squared_distances` in one pass: numpy's four passes take ten times the time."""
    for i in range(products.shape[0]):
        self_product = left[i]
        for j in range(products.shape[1]):
            distance = products[i, j] * -2.0 + self_product + right[j]
            products[i, j] = max(distance, 0.0)


@compile_lazily("void(f8[:, ::1])")
def _negate_roots(values: Matrix) -> None:
    """Replace values by their negative square roots, vectorized: numpy takes six times the time."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] = -np.sqrt(values[i, j])


class Linear(Kernel):
    """LIN: k(x, x') = <x, x'>."""

    tags: ClassVar[Tags] = Tags(solved_by="points")

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """Return the inner products unchanged."""
        return products


class Polynomial(Kernel):
    """POL: k(x, x') = (<x, x'> + c)^d.

    Parameters
    ----------
    degree : int
        d ≥ 1.
    c : float
        c ≥ 0, which keeps the kernel positive definite.
    """

    allowed: ClassVar = {"degree": Range(1, whole=True), "c": NOT_NEGATIVE}

    def __init__(self, degree: int = 2, c: float = 1.0) -> None:
        self.degree = degree
        self.c = c

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """Compute (g + c)^d of the inner products g."""
        products += self.c
        return np.power(products, self.degree, out=products)


class RadialBasisFunction(Kernel):
    """RBF: k(x, x') = exp(-||x - x'||² / 2σ²).

    Parameters
    ----------
    sigma : float
        σ > 0, in the units of the points.
    """

    allowed: ClassVar = {"sigma": POSITIVE}

    def __init__(self, sigma: float = 1.0) -> None:
        self.sigma = sigma

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """Compute exp(-(g_xx + g_x'x' - 2g) / 2σ²) of the inner products g."""
        distances = squared_distances(products, left, right)
        distances *= -0.5 / self.sigma**2
        return np.exp(distances, out=distances)


class Sigmoid(Kernel):
    """SIG: k(x, x') = tanh(κ<x, x'> + ϑ); not positive definite in general.

    Parameters
    ----------
    kappa, theta : float
        κ > 0 and the offset ϑ.
    """

    allowed: ClassVar = {"kappa": POSITIVE}

    def __init__(self, kappa: float = 1.0, theta: float = 0.0) -> None:
        self.kappa = kappa
        self.theta = theta

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """Compute tanh(κg + ϑ) of the inner products g."""
        products *= self.kappa
        products += self.theta
        return np.tanh(products, out=products)


class NegativeEuclideanDistance(Kernel):
    """NED: k(x, x') = -||x - x'||; conditionally positive definite (Zhang et al. 2005, section 3.2)."""

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """Compute -(g_xx + g_x'x' - 2g)^½ of the inner products g."""
        distances = squared_distances(products, left, right)
        _negate_roots(distances)
        return distances
