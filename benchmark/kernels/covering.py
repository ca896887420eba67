"""Growth of the covering numbers of SVMs with a heat kernel (Lafferty & Lebanon 2002, theorem 4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import special

from benchmark.system.checks import DIMENSION, POSITIVE, check_value

if TYPE_CHECKING:
    from benchmark.system.arrays import Array


#: The simplex with Dirichlet conditions at its boundary, or the flat torus of equal volume.
Space = Literal["simplex", "torus"]


def log_orthant_volume(n: int) -> float:
    """Return the log volume of the n-simplex with the Fisher metric, the positive orthant of the sphere of radius 2.

    2^n ω_n / 2^(n+1) = ω_n / 2 = π^((n+1)/2) / Γ((n+1)/2): S^n has 2^(n+1) orthants.

    Examples
    --------
    >>> round(math.exp(log_orthant_volume(1)) / math.pi, 12), round(math.exp(log_orthant_volume(2)) / math.pi, 12)
    (1.0, 2.0)
    """
    check_value("n", n, DIMENSION)
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
    check_value("n", n, DIMENSION)
    check_value("t", t, POSITIVE)
    epsilon = np.asarray(epsilon, dtype=np.float64)
    if not bool(((epsilon > 0) & (epsilon < 1)).all()):
        raise ValueError(f"epsilon must lie between 0 and 1, not {epsilon.min()} to {epsilon.max()}")
    return np.asarray(log_orthant_volume(n) - n / 2 * math.log(t) + (n + 2) / 2 * np.log(-np.log(epsilon)))


def log_covering_number(log_inverse: float, n: int, t: float, space: Space) -> float:
    """Return Σ_j max(0, log(1/ε) − t μ_j / 2) over the eigenvalues μ_j of the Laplacian, a lower bound on log N(ε).

    The functions of norm 1 in the heat kernel's space are an ellipsoid with the half axes exp(−t μ_j / 2). Along the
    axes longer than ε its volume is the sum's exponential times that of a ball of radius ε.

    Parameters
    ----------
    log_inverse : float
        log(1/ε), positive.
    n : int
        Dimension of the space, n ≥ 1.
    t : float
        Diffusion time, t > 0.
    space : {"simplex", "torus"}
    """
    eigenvalues, multiplicities = spectrum(n, 2 * log_inverse / t, space)
    return float(multiplicities @ (log_inverse - t / 2 * eigenvalues))


def spectrum(n: int, limit: float, space: Space) -> tuple[Array, Array]:
    """Return the distinct eigenvalues of the Laplacian up to a limit, and how often each occurs.

    Dirichlet's functions on the orthant of the sphere of radius 2 are the harmonics that are odd in each of the n + 1
    coordinates: x_0 … x_n times a polynomial in their squares, of the degrees l = n + 1 + 2k, with l (l + n − 1) / 4.
    """
    check_value("n", n, DIMENSION)
    if space == "simplex":
        k = np.arange(max(0, math.floor(math.sqrt(limit) - n / 2) + n + 1))
        degrees = n + 1 + 2 * k
        eigenvalues: Array = degrees * (degrees + n - 1) / 4
        multiplicities: Array = np.asarray(special.comb(k + n - 1, n - 1), dtype=np.float64)
    else:
        unit = (2 * math.pi) ** 2 * math.exp(-2 / n * log_orthant_volume(n))
        squares = np.arange(math.floor(limit / unit) + 1)
        multiplicities = (squares == 0).astype(np.float64)
        for _ in range(n):  # the sums of one more square of a whole number, of either sign
            fewer = multiplicities.copy()
            for m in range(1, math.isqrt(len(squares) - 1) + 1):
                multiplicities[m * m :] += 2 * fewer[: len(squares) - m * m]
        eigenvalues = np.asarray(unit * squares, dtype=np.float64)
    below = eigenvalues <= limit
    return eigenvalues[below], multiplicities[below]
