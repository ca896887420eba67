"""The exact heat kernel of the sphere that carries the simplex, where `Diffusion` is its first-order parametrix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from benchmark.kernels.heat.sphere import HypersphereHeatKernel
from benchmark.kernels.multinomial import _WithTime

if TYPE_CHECKING:
    from benchmark.kernels.base import Matrix
    from benchmark.tags import Tags

#: Times that the heat kernel is computed at. Its sums lose their digits far outside, where no kernel is left: at
#: the shortest it tells equal points from all others only, at the longest it is 1.
SHORTEST, LONGEST = 1e-9, 1e6
_NOTE = (
    "Heat kernels are used without their factor (4πt)^(-n/2), which overflows for n in the ten thousands: a "
    "constant factor of a kernel is the same as a factor of C."
)


class Heat(_WithTime):
    """Heat kernel of the sphere S^n of radius 2, n = V - 1, divided by its diagonal: k(θ, θ') = K_t(s)/K_t(1).

    θ → 2√θ carries the simplex of V outcomes into that sphere; the kernel is the one of heat that spreads over the
    whole sphere, of ∂_t K = ΔK (Lafferty & Lebanon 2002, section 3; Zhao & Song 2018). For t → 0 it becomes
    `Diffusion`, whose t is the same: K_t ≈ (4πt)^(-n/2) exp(-arccos²(s)/t). Unlike its parametrix it is positive
    definite at every t (Schoenberg 1942), and it depends on V: on the terms, too, that no document has.

    In high dimension the useful times are few. Where t is near 4 log(n)/n, the kernel is close to exp(-z(1-s)),
    z = n exp(-nt/4) (Zhao & Song 2018): t = 2, 3, 4, 5 log(n)/n give z = √n, n^¼, 1, n^(-¼); at n = 20,000 these are
    t = 0.0010, 0.0015, 0.0020, 0.0025 and z = 141, 12, 1, 0.08. At shorter times the values between different
    documents fall to 0, at longer ones all become 1 (as they do at the default t for such n): finite, but without
    information. Where z is small the kernel is 1 - z + zs, to an SVM `Bhattacharyya` with z times its C.

    Parameters
    ----------
    t : float
        Time, 1e-9 ≤ t ≤ 1e6, in squared units of length of the sphere of radius 2.

    Attributes
    ----------
    heat_kernel_ : HypersphereHeatKernel
        Its logarithm as a polynomial in s; its `error` estimates the largest relative error of the values.

    Examples
    --------
    >>> import numpy as np
    >>> Heat(t=1.0).fit(np.eye(3)).transform(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])).round(4)
    array([[1.    , 0.1068, 0.1068],
           [0.5693, 0.5693, 0.1068]])
    """

    tags: ClassVar[Tags] = replace(_WithTime.tags, note=_NOTE)

    def check(self) -> None:
        """The time t lies where the kernel can be computed."""
        if not SHORTEST <= self.t <= LONGEST:
            raise ValueError(f"t must lie between {SHORTEST:g} and {LONGEST:g}, not {self.t}")

    def learn(self, n_coordinates: int) -> Self:
        """Tabulate the kernel of the sphere S^n, n = n_coordinates - 1: a few milliseconds.

        Raises
        ------
        ValueError
            If t is out of range, or there are fewer than two coordinates: the simplex is a point then.
        """
        self.check()
        if n_coordinates < 2:
            raise ValueError(f"{type(self).__name__} needs points of at least 2 coordinates, not {n_coordinates}")
        # Where the series cancels, its error overflows to infinity, and the integral's value is taken instead.
        with np.errstate(over="ignore"):
            self.heat_kernel_ = HypersphereHeatKernel(n_coordinates - 1, self.t)
        return self

    def link(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """K_t(s)/K_t(1) by the table, which is only read: blocks on many threads share it."""
        check_is_fitted(self, "heat_kernel_")
        np.clip(products, 0.0, 1.0, out=products)
        return self.heat_kernel_(products, out=products)
