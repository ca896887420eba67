"""Volumes and quadrature that the checks of mass and semigroup share."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gamma

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def sphere_volume(n: int) -> float:
    """Of the unit sphere in n+1 dimensions."""
    return 2 * math.pi ** ((n + 1) / 2) / float(gamma((n + 1) / 2))


_legendre = functools.cache(np.polynomial.legendre.leggauss)


def gauss(lower: float, upper: float, points: int = 400) -> tuple[Array, Array]:
    """Gauss–Legendre nodes and weights."""
    x, w = _legendre(points)
    return (upper - lower) / 2 * (x + 1) + lower, (upper - lower) / 2 * w


def polar_quadrature(
    n: int, reach: float, area: Callable[[Array], Array], radii: int = 150, angles: int = 60
) -> tuple[Array, Array, Array]:
    """Nodes and weights around a pole: radii r, the angle φ to a fixed direction, and dvol with area sin or sinh."""
    r, wr = gauss(0.0, reach, radii)
    phi, wp = gauss(0.0, math.pi, angles)
    weights = sphere_volume(n - 2) * np.outer(wr * area(r) ** (n - 1), wp * np.sin(phi) ** (n - 2))
    return r[:, None], phi[None, :], weights


def radial_quadrature(n: int, reach: float, area: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Radii around a pole and dvol, directions integrated out."""
    r, w = gauss(0.0, reach)
    return r, sphere_volume(n - 1) * w * area(r) ** (n - 1)
