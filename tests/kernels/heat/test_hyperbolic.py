"""The heat kernel of the hyperbolic plane: McKean's integral, small time, mass, semigroup, the equation itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import solve_banded

from benchmark.kernels.hyperbolic import HyperbolicHeatKernel, hyperbolic_distance, log_hyperbolic_heat_kernel
from tests.kernels.heat.quadrature import polar_quadrature, radial_quadrature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TIMES = [1e-3, 0.1, 1.0, 10.0]


def log_sinh(r: Array) -> Array:
    return np.asarray(r + np.log(-np.expm1(-2 * r)) - math.log(2))


@pytest.mark.parametrize("t", TIMES)
def test_values_are_mckeans_integral(t: float) -> None:
    for r in (0.0, 0.01, 0.5, 2.0, 6.0):

        def integrand(u: float, r: float = r) -> float:
            # s = r + u² takes the root's singularity away.
            s = r + u * u
            gap = 2 * math.sinh((s + r) / 2) * math.sinh((s - r) / 2)
            if gap <= 0:
                return 0.0 if r == 0 else 2 * r / math.sqrt(math.sinh(r))
            return 2 * u * s * math.exp((r * r - s * s) / (4 * t)) / math.sqrt(gap)

        # Where the integrand is e^-80 against its start.
        reach = math.sqrt(math.sqrt(r * r + 320 * t) - r)
        integral = quad(integrand, 0, reach, limit=400, epsabs=0, epsrel=1e-11)[0]
        log_front = 0.5 * math.log(2) - 1.5 * math.log(4 * math.pi * t) - t / 4 - r * r / (4 * t)
        assert log_hyperbolic_heat_kernel(np.array(r), t) == pytest.approx(
            log_front + math.log(integral), rel=1e-10, abs=1e-10
        )


def test_small_time_is_the_gaussian_with_van_vlecks_factor() -> None:
    r = np.array([0.0, 0.1, 1.0, 4.0])
    van_vleck = 0.5 * np.array([0, *(np.log(r[1:]) - log_sinh(r[1:]))])
    differences = []
    for t in (1e-4, 1e-5):
        gaussian = -math.log(4 * math.pi * t) - r**2 / (4 * t)
        differences.append(log_hyperbolic_heat_kernel(r, t) - gaussian - van_vleck)
    assert np.abs(differences[0]).max() < 4e-4
    assert differences[1] == pytest.approx(differences[0] / 10, rel=0.02, abs=1e-9)
    # At r = 0 the next term is t times a sixth of the scalar curvature -2.
    assert differences[0][0] == pytest.approx(-1e-4 / 3, rel=0.01)


@pytest.mark.parametrize("t", [0.02, 0.5, 3.0])
def test_mass_is_one(t: float) -> None:
    # Mass drifts outwards at the speed 1 and spreads like √2t.
    reach = t + 9 * math.sqrt(2 * t) + 1
    r, volume = radial_quadrature(2, reach, np.sinh)
    assert np.exp(log_hyperbolic_heat_kernel(r, t)) @ volume == pytest.approx(1, abs=1e-11)


def test_semigroup() -> None:
    first, second = 0.3, 0.5
    alpha, phi, volume = polar_quadrature(2, 10.8, np.sinh)
    from_x = np.exp(log_hyperbolic_heat_kernel(alpha, first))
    for r in (0.0, 0.8, 2.5):
        # The hyperbolic law of cosines.
        cosine = np.cosh(alpha) * math.cosh(r) - np.sinh(alpha) * math.sinh(r) * np.cos(phi)
        to_y = HyperbolicHeatKernel(second, 20.0)
        values = to_y(np.minimum(np.arccosh(np.maximum(cosine, 1.0)), 20.0)) * math.exp(to_y.log_diagonal)
        expected = math.exp(log_hyperbolic_heat_kernel(np.array(r), first + second))
        assert (from_x * values * volume).sum() == pytest.approx(expected, rel=1e-6)


def radial_heat_equation(t: float, reach: float, cells: int, steps: int) -> tuple[Array, Array]:
    """u_t = (sinh r u_r)_r / sinh r from a point source by finite volumes: cell centres and u."""
    edges = np.linspace(0, reach, cells + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    area = np.sinh(edges)
    # Simpson's rule: exact enough in the first cell too, which holds the source.
    volume = (edges[1] - edges[0]) / 6 * (area[:-1] + 4 * np.sinh(centres) + area[1:])
    flux = area[1:-1] / (edges[1] - edges[0])
    lower, upper = flux / volume[1:], flux / volume[:-1]
    diagonal = np.zeros(cells)
    diagonal[:-1] -= upper
    diagonal[1:] -= lower
    u = np.zeros(cells)
    u[0] = 1 / volume[0]
    dt = t / steps
    # Four quarter steps, implicit, smooth the source; Crank–Nicolson is of second order from there.
    schedule = [(dt / 2, 1.0)] * 4 + [(dt, 0.5)] * (steps - 2)
    for length, implicit in schedule:
        right = u.copy()
        explicit = (1 - implicit) * length
        right += explicit * diagonal * u
        right[:-1] += explicit * upper * u[1:]
        right[1:] += explicit * lower * u[:-1]
        bands = np.zeros((3, cells))
        bands[0, 1:] = -implicit * length * upper
        bands[1] = 1 - implicit * length * diagonal
        bands[2, :-1] = -implicit * length * lower
        u = solve_banded((1, 1), bands, right)
    return centres, u / (2 * math.pi)


@pytest.mark.parametrize("t", [0.2, 1.0])
def test_heat_equation_solved_numerically(t: float) -> None:
    errors = []
    for cells, steps in ((1000, 500), (2000, 1000)):
        r, u = radial_heat_equation(t, 14.0, cells, steps)
        near = (r > 0.1) & (r < 5 * math.sqrt(t))
        errors.append(np.abs(u[near] / np.exp(log_hyperbolic_heat_kernel(r[near], t)) - 1).max())
    # The scheme's error falls by four with half the step: what is left is its own.
    assert errors[1] < 1e-3
    assert errors[1] == pytest.approx(errors[0] / 4, rel=0.2)


@pytest.mark.parametrize("t", [1e-3, 0.5, 20.0, 1000.0])
def test_finite_and_falling_from_the_origin_to_far_away(t: float) -> None:
    r = np.concatenate([[0.0], np.logspace(-12, 3, 200)])
    values = log_hyperbolic_heat_kernel(r, t)
    assert np.isfinite(values).all()
    scale = 1e-13 * (1 + np.abs(values[1:]))
    assert (np.diff(values) <= scale).all()
    # Smooth at the origin: log K(r) - log K(0) is proportional to r².
    assert values[1] == pytest.approx(values[0], rel=1e-14)


@pytest.mark.parametrize(("t", "reach"), [(1e-3, 5.0), (0.5, 2.0), (2.0, 30.0), (10.0, 100.0)])
def test_table_follows_the_kernel_within_its_error(t: float, reach: float) -> None:
    kernel = HyperbolicHeatKernel(t, reach)
    r = np.linspace(0, reach, 777).reshape(21, 37)
    expected = log_hyperbolic_heat_kernel(r, t) - kernel.log_diagonal
    assert kernel.error < 1e-9
    assert np.abs(kernel.log(r) - expected).max() <= kernel.error
    assert kernel.log_diagonal == pytest.approx(float(log_hyperbolic_heat_kernel(np.array(0.0), t)))
    assert kernel(r) == pytest.approx(np.exp(expected), rel=1e-8)


@pytest.mark.parametrize("t", [0.05, 2.0])
def test_gram_matrices_have_no_negative_eigenvalues(t: float) -> None:
    rng = np.random.default_rng(2)
    mu, sigma = rng.normal(size=(60, 1)), np.exp(rng.normal(size=60))
    r = hyperbolic_distance(mu[:, None], sigma[:, None], mu[None], sigma[None])
    gram = HyperbolicHeatKernel(t, float(r.max()))(r)
    assert np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -1e-10


@pytest.mark.parametrize("t", [1e-3, 1.0, 1e3])
def test_the_farthest_distance(t: float) -> None:
    assert np.isfinite(log_hyperbolic_heat_kernel(np.array([1000.0]), t)).all()
    for r in (1000.1, -1e-9):
        with pytest.raises(ValueError, match=r"r must lie in \[0, 1000\]"):
            log_hyperbolic_heat_kernel(np.array([1.0, r]), t)
