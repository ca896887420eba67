"""Growth of the covering numbers of SVMs with a heat kernel (Lafferty & Lebanon 2002, theorem 4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchmark.system.checks import check_dimension, check_positive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def log_orthant_volume(n: int) -> float:
    """Return the log volume of the n-simplex with the Fisher metric, the positive orthant of the sphere of radius 2.

    2^n ω_n / 2^(n+1) = ω_n / 2 = π^((n+1)/2) / Γ((n+1)/2): S^n has 2^(n+1) orthants.

    Examples
    --------
    >>> round(math.exp(log_orthant_volume(1)) / math.pi, 12), round(math.exp(log_orthant_volume(2)) / math.pi, 12)
    (1.0, 2.0)
    """
    check_dimension(n)
    return (n + 1) / 2 * math.log(math.pi) - math.lgamma((n + 1) / 2)


def log_covering_bound(epsilon: Array | float, n: int, t: float) -> Array:
    """Compute log B(ε), B(ε) = (vol / t^(n/2)) · log^((n+2)/2)(1/ε), where theorem 4 states log N(ε) = O(B(ε)).

    vol is the exponential of `log_orthant_volume`. The theorem leaves open a constant that depends on n (through Li &
    Yau's bounds of the eigenvalues), but not on ε, t or the volume. Here the constant is 1, so curves over ε and t at
    one n can be compared, but values at different n can't. B bounds the logarithm of a covering number; its logarithm
    is returned because for n in the ten thousands B itself overflows.

    Parameters
    ----------
    epsilon : float or float array
        Radius of the cover, 0 < ε < 1.
    n : int
        Dimension of the simplex, n ≥ 1.
    t : float
        Diffusion time, t > 0.

    Returns
    -------
    float array of the shape of `epsilon`

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    check_dimension(n)
    check_positive("t", t)
    epsilon = np.asarray(epsilon, dtype=np.float64)
    if not bool(((epsilon > 0) & (epsilon < 1)).all()):
        raise ValueError(f"epsilon must lie between 0 and 1, not {epsilon.min()} to {epsilon.max()}")
    return np.asarray(log_orthant_volume(n) - n / 2 * math.log(t) + (n + 2) / 2 * np.log(-np.log(epsilon)))
