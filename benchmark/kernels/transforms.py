"""Transforms of conditionally positive definite (cpd) kernels k ≤ 0 that are cpd, too (Zhang et al. 2005, Lemma 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.kernels.base import Kernel
from benchmark.kernels.euclidean import NegativeEuclideanDistance
from benchmark.kernels.multinomial import NegativeGeodesicDistance
from benchmark.system.checks import check_one_of
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from benchmark.kernels.base import Matrix

CPD_KERNELS: dict[str, type[Kernel]] = {"ned": NegativeEuclideanDistance, "ngd": NegativeGeodesicDistance}


class CpdLogarithm(Kernel):
    """-ln(1 - k) of a cpd kernel k ≤ 0.

    Parameters
    ----------
    base : {"ned", "ngd"}
        The kernel k.
    """

    #: Both kernels are defined for this normalization.
    tags: ClassVar[Tags] = Tags(normalization="l1", normalizations=("l1",))

    def __init__(self, base: str = "ngd") -> None:
        self.base = base

    @property
    def exponent(self) -> float:
        """Exponent of the base kernel."""
        return CPD_KERNELS[self.base]().exponent

    def check(self) -> None:
        """Raise ValueError unless `base` is one of `CPD_KERNELS`."""
        check_one_of("base", self.base, CPD_KERNELS)

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
    """-(-k)^β of a cpd kernel k ≤ 0.

    Parameters
    ----------
    base : {"ned", "ngd"}
        The kernel k.
    beta : float
        0 < β < 1.
    """

    def __init__(self, base: str = "ngd", beta: float = 0.5) -> None:
        super().__init__(base)
        self.beta = beta

    def check(self) -> None:
        """Raise ValueError unless `base` is one of `CPD_KERNELS` and 0 < β < 1."""
        super().check()
        if not 0 < self.beta < 1:
            raise ValueError(f"beta must lie between 0 and 1, not {self.beta}")

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """Compute -(-k)^β."""
        values = self.distances(products, left, right)
        np.power(values, self.beta, out=values)
        return np.negative(values, out=values)
