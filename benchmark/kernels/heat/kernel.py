"""Exact heat kernel of the sphere that contains the simplex; `Diffusion` is its first-order parametrix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from benchmark.kernels.heat.sphere import HypersphereHeatKernel
from benchmark.kernels.multinomial import _WithTime

if TYPE_CHECKING:
    from benchmark.kernels.base import Matrix
    from benchmark.system.tags import Tags

#: Range of times. At the shortest, only equal points have values above 0, and at the longest all values are 1. Far
#: outside the range the sums also lose accuracy.
MIN_HEAT_TIME, MAX_HEAT_TIME = 1e-9, 1e6
_NOTE = (
    "Heat kernels are used without their factor (4πt)^(-n/2), which overflows for n in the ten thousands: a "
    "constant factor of a kernel is the same as a factor of C."
)


def check_heat_time(t: float) -> None:
    """Raise ValueError for a time outside the range."""
    if not MIN_HEAT_TIME <= t <= MAX_HEAT_TIME:
        raise ValueError(f"t must lie between {MIN_HEAT_TIME:g} and {MAX_HEAT_TIME:g}, not {t}")


class Heat(_WithTime):
    """Heat kernel of the sphere S^n of radius 2, n = V - 1, divided by its diagonal: k(θ, θ') = K_t(s)/K_t(1).

    θ → 2√θ maps the simplex of V outcomes into that sphere. The kernel solves ∂_t K = ΔK on the whole sphere
    (Lafferty & Lebanon 2002, section 3; Zhao & Song 2018). For t → 0 it approaches `Diffusion` with the same t,
    K_t ≈ (4πt)^(-n/2) exp(-arccos²(s)/t). Unlike this parametrix it is positive definite at every t (Schoenberg 1942),
    and it depends on V, including terms that no document has.

    In high dimension the range of useful times is narrow. For t near 4 log(n)/n, the kernel is close to exp(-z(1-s)),
    z = n exp(-nt/4) (Zhao & Song 2018): t = 2, 3, 4, 5 log(n)/n give z = √n, n^¼, 1, n^(-¼). At n = 20,000 these are
    t = 0.0010, 0.0015, 0.0020, 0.0025 and z = 141, 12, 1, 0.08. At shorter times the values between different
    documents approach 0, and at longer times (such as the default t for such n) all values approach 1: finite, but
    without information. For small z the kernel is 1 - z + zs, which an SVM treats as `Bhattacharyya` with C times z.

    Parameters
    ----------
    t : float
        Diffusion time, 1e-9 ≤ t ≤ 1e6, in squared units of length of the sphere of radius 2.

    Attributes
    ----------
    heat_kernel_ : HypersphereHeatKernel
        Polynomial in s for the logarithm of the kernel; `error` estimates the largest relative error of the values.

    Examples
    --------
    >>> import numpy as np
    >>> Heat(t=1.0).fit(np.eye(3)).transform(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])).round(4)
    array([[1.    , 0.1068, 0.1068],
           [0.5693, 0.5693, 0.1068]])
    """

    tags: ClassVar[Tags] = replace(_WithTime.tags, note=_NOTE)

    def check(self) -> None:
        """Raise ValueError unless 1e-9 ≤ t ≤ 1e6."""
        check_heat_time(self.t)

    def learn(self, n_coordinates: int) -> Self:
        """Interpolate the kernel of the sphere S^n, n = n_coordinates - 1, in a few milliseconds.

        Parameters
        ----------
        n_coordinates : int
            V, the size of the vocabulary.

        Returns
        -------
        Heat
            This kernel.

        Raises
        ------
        ValueError
            If t is out of range, or there are fewer than two coordinates: the simplex is then a point.
        """
        self.check()
        if n_coordinates < 2:
            raise ValueError(f"{type(self).__name__} needs points of at least 2 coordinates, not {n_coordinates}")
        # Where the series cancels, its error overflows to infinity, and the integral is used instead.
        with np.errstate(over="ignore"):
            self.heat_kernel_ = HypersphereHeatKernel(n_coordinates - 1, self.t)
        return self

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:  # noqa: ARG002
        """Compute K_t(s)/K_t(1) by the interpolant, which threads can share, since it is not modified."""
        check_is_fitted(self, "heat_kernel_")
        np.clip(products, 0.0, 1.0, out=products)
        return self.heat_kernel_(products, out=products)
