"""Kernels of the multinomial manifold: functions of the Bhattacharyya affinity s(θ,θ') = Σ (θ_i θ'_i)^½.

The map θ → 2√θ sends the simplex with the Fisher metric to the positive part of a sphere of radius 2,
so the geodesic distance is 2 arccos s. Rounding can make s slightly greater than 1, so s is clipped before arccos.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.kernels.base import Kernel
from benchmark.kernels.euclidean import NegativeEuclideanDistance
from benchmark.system.checks import POSITIVE, Range
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from benchmark.kernels.base import Matrix


#: An affinity closer to 1 than this belongs to a document and itself, or an exact duplicate.
_ROUNDING = 1e-9


def arccos_clipped(affinities: Matrix) -> Matrix:
    """Compute arccos s with s clipped to [0, 1], written over `affinities`, in radians in [0, π/2]."""
    np.clip(affinities, 0.0, 1.0, out=affinities)
    return np.arccos(affinities, out=affinities)


class _OnSimplex(Kernel):
    """Kernel of the affinity of points on the simplex: needs square roots of L1-normalized points."""

    tags: ClassVar[Tags] = Tags(normalization="l1", normalizations=("l1",))

    exponent: ClassVar[float] = 0.5  # coordinates are square roots of probabilities


class NegativeGeodesicDistance(_OnSimplex):
    """NGD: k(θ, θ') = -2 arccos s; conditionally positive definite (Zhang et al. 2005, equation 21, Proposition 1).

    Parameters
    ----------
    shift : float
        A constant added to every value. It does not change an SVM (Propositions 2, 3). With shift π the kernel is
        2 arcsin s, which is positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> NegativeGeodesicDistance().fit(np.eye(2)).transform(np.array([[1.0, 0.0], [0.5, 0.5]])).round(4)
    array([[-0.    , -3.1416],
           [-1.5708, -1.5708]])
    """

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """Compute -2 arccos s + shift."""
        angle = arccos_clipped(products)
        angle *= -2.0
        if self.shift:
            angle += self.shift
        return angle


class _WithTime(_OnSimplex):
    """Kernel with a diffusion time t.

    The papers' factor (4πt)^(-n/2) is left out. With n = V - 1 in the ten thousands it underflows or overflows, and
    the SVM's C absorbs a constant factor of a kernel.
    """

    allowed: ClassVar = {"t": POSITIVE}

    def __init__(self, t: float = 0.5) -> None:
        self.t = t


class ExponentialGeodesicDistance(_WithTime):
    """NGD-E: k(θ, θ') = exp(-arccos(s) / t), up to (4πt)^(-n/2); positive definite (Zhang et al. 2005, Proposition 4).

    Parameters
    ----------
    t : float
        Diffusion time, t > 0.
    """

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """Compute exp(-arccos(s) / t)."""
        angle = arccos_clipped(products)
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

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """Compute exp(-arccos²(s) / t)."""
        angle = arccos_clipped(products)
        np.square(angle, out=angle)
        angle /= -self.t
        return np.exp(angle, out=angle)


class Bhattacharyya(_OnSimplex):
    """k(θ, θ') = s = cos(-NGD / 2) (Zhang et al. 2005, equations 42, 43).

    Parameters
    ----------
    ridge : float
        Constant added where s is 1, that is, to the diagonal. NGD is -2 arccos s = -π + 2 (s + s³/6 + …), and 0 on the
        diagonal: where s is small off the diagonal, NGD is twice this kernel with ridge (π - 2)/2, plus a constant.
    """

    def __init__(self, ridge: float = 0.0) -> None:
        self.ridge = ridge

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """Return s, plus the ridge where s is 1 up to rounding."""
        if self.ridge:
            products[products > 1 - _ROUNDING] += self.ridge
        return products


class ProbabilityProduct(Kernel):
    """k(θ, θ') = Σ θ_i^ρ θ'_i^ρ (Jebara et al. 2004; Zhang et al. 2005, section 5).

    ρ = ½ gives Bhattacharyya's kernel, ρ = 1 the linear kernel.

    Parameters
    ----------
    rho : float
        Power of the probabilities, ρ > 0.
    """

    tags: ClassVar[Tags] = Tags(normalization="l1", normalizations=("l1",))
    allowed: ClassVar = {"rho": POSITIVE}

    def __init__(self, rho: float = 0.5) -> None:
        self.rho = rho

    @property
    def exponent(self) -> float:
        """Power ρ."""
        return float(self.rho)

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """Return the inner products of the ρ-th powers unchanged."""
        return products


CPD_KERNELS: dict[str, type[Kernel]] = {"ned": NegativeEuclideanDistance, "ngd": NegativeGeodesicDistance}


class CpdLogarithm(Kernel):
    """-ln(1 - k) of a kernel k ≤ 0; both are conditionally positive definite, cpd (Zhang et al. 2005, Lemma 4).

    Parameters
    ----------
    base : {"ned", "ngd"}
        The kernel k.
    """

    #: Both kernels are defined for this normalization.
    tags: ClassVar[Tags] = Tags(normalization="l1", normalizations=("l1",))
    allowed: ClassVar = {"base": CPD_KERNELS}

    def __init__(self, base: str = "ngd") -> None:
        self.base = base

    @property
    def exponent(self) -> float:
        """Exponent of the base kernel."""
        return CPD_KERNELS[self.base]().exponent

    def distances(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """Compute -k ≥ 0 of the base kernel, written over `products`; see `from_products` for parameters."""
        values = CPD_KERNELS[self.base]().from_products(products, left, right)
        return np.negative(values, out=values)

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """Compute -ln(1 - k)."""
        values = self.distances(products, left, right)
        np.log1p(values, out=values)
        return np.negative(values, out=values)


class CpdPower(CpdLogarithm):
    """-(-k)^β of a cpd kernel k ≤ 0, which is cpd, too (Zhang et al. 2005, Lemma 4).

    Parameters
    ----------
    base : {"ned", "ngd"}
        The kernel k.
    beta : float
        0 < β < 1.
    """

    allowed: ClassVar = {**CpdLogarithm.allowed, "beta": Range(0, 1, ends=False)}

    def __init__(self, base: str = "ngd", beta: float = 0.5) -> None:
        super().__init__(base)
        self.beta = beta

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """Compute -(-k)^β."""
        values = self.distances(products, left, right)
        np.power(values, self.beta, out=values)
        return np.negative(values, out=values)
