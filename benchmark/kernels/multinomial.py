"""Kernels of the multinomial manifold: functions of the Bhattacharyya affinity s(θ,θ') = Σ (θ_i θ'_i)^½.

The map θ → 2√θ carries the simplex with the Fisher metric onto the positive part of a sphere of radius 2,
so the geodesic distance is 2 arccos s. Rounding can push s a little above 1: it is clipped before arccos.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.kernels.base import Kernel
from benchmark.tags import Tags

if TYPE_CHECKING:
    from benchmark.kernels.base import Matrix


#: An affinity that is nearer to 1 than this is that of a document with itself, or with its double.
_ROUNDING = 1e-9


def angles(affinities: Matrix) -> Matrix:
    """Arccos s with s clipped to [0, 1], written over `affinities`; radians in [0, π/2]."""
    np.clip(affinities, 0.0, 1.0, out=affinities)
    return np.arccos(affinities, out=affinities)


class _OnSimplex(Kernel):
    """A kernel of the affinity of points on the simplex, hence of square roots and L1 only."""

    tags: ClassVar[Tags] = Tags(normalization="l1", normalizations=("l1",))

    @property
    def exponent(self) -> float:
        """½: coordinates are square roots of probabilities."""
        return 0.5


class NegativeGeodesicDistance(_OnSimplex):
    """NGD: k(θ, θ') = -2 arccos s; conditionally positive definite (Zhang et al. 2005, equation 21, Proposition 1).

    Parameters
    ----------
    shift : float
        A constant added to every value. An SVM is unchanged by it (Propositions 2, 3); with π the kernel is
        2 arcsin s, positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> NegativeGeodesicDistance().fit(np.eye(2)).transform(np.array([[1.0, 0.0], [0.5, 0.5]])).round(4)
    array([[-0.    , -3.1416],
           [-1.5708, -1.5708]])
    """

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def link(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """-2 arccos s + shift."""
        angle = angles(products)
        angle *= -2.0
        if self.shift:
            angle += self.shift
        return angle


class _WithTime(_OnSimplex):
    """A kernel with a diffusion time.

    The factor (4πt)^(-n/2) of the papers is left out: with n = V - 1 in the ten thousands it is 0 or infinite in
    floating point, and a constant factor of a kernel is absorbed by the SVM's C.
    """

    def __init__(self, t: float = 0.5) -> None:
        self.t = t

    def check(self) -> None:
        """The time t is positive."""
        if not self.t > 0:
            raise ValueError(f"t must be positive, not {self.t}")


class ExponentialGeodesicDistance(_WithTime):
    """NGD-E: k(θ, θ') = exp(-arccos(s) / t), up to (4πt)^(-n/2); positive definite (Zhang et al. 2005, Proposition 4).

    Parameters
    ----------
    t : float
        Diffusion time, t > 0.
    """

    def link(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """exp(-arccos(s) / t)."""
        angle = angles(products)
        angle /= -self.t
        return np.exp(angle, out=angle)


class Diffusion(_WithTime):
    """First-order parametrix of the heat kernel, k(θ, θ') = exp(-arccos²(s) / t), up to (4πt)^(-n/2).

    (Lafferty & Lebanon 2002, section 3.1; Zhang et al. 2005, equation 44.) The heat kernel itself is positive
    definite; its first-order approximation is not at every t.

    Parameters
    ----------
    t : float
        Diffusion time, t > 0.
    """

    def link(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """exp(-arccos²(s) / t)."""
        angle = angles(products)
        np.square(angle, out=angle)
        angle /= -self.t
        return np.exp(angle, out=angle)


class Bhattacharyya(_OnSimplex):
    """k(θ, θ') = s = cos(-NGD / 2) (Zhang et al. 2005, equations 42, 43).

    Parameters
    ----------
    ridge : float
        Added where s is 1, that is, to the diagonal. -2 arccos s = -π + 2 (s + s³/6 + …) is 0 there: off the diagonal,
        where s is small, NGD is twice this kernel with the ridge (π - 2)/2, and a constant.
    """

    def __init__(self, ridge: float = 0.0) -> None:
        self.ridge = ridge

    def link(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """S, and the ridge where it is 1 but for rounding."""
        if self.ridge:
            products[products > 1 - _ROUNDING] += self.ridge
        return products


class ProbabilityProduct(Kernel):
    """k(θ, θ') = Σ θ_i^ρ θ'_i^ρ (Jebara et al. 2004; Zhang et al. 2005, section 5).

    ρ = ½ is Bhattacharyya's kernel, ρ = 1 the linear one.

    Parameters
    ----------
    rho : float
        ρ > 0.
    """

    tags: ClassVar[Tags] = Tags(normalization="l1", normalizations=("l1",))

    def __init__(self, rho: float = 0.5) -> None:
        self.rho = rho

    @property
    def exponent(self) -> float:
        """ρ."""
        return float(self.rho)

    def check(self) -> None:
        """ρ > 0."""
        if not self.rho > 0:
            raise ValueError(f"rho must be positive, not {self.rho}")

    def link(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """The inner products of the ρ-th powers themselves."""
        return products
