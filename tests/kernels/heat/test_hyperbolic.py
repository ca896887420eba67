"""The heat kernel of hyperbolic space: closed forms, recursions, small time, mass, semigroup, the equation itself."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import solve_banded

from benchmark.kernels.heat.half_space import hyperbolic_distance
from benchmark.kernels.heat.hyperbolic import HyperbolicHeatKernel, log_heat_kernel, scaled_derivatives

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TIMES = [1e-3, 0.1, 1.0, 10.0]
R = np.array([1e-9, 1e-4, 0.01, 0.3, 1.0, 2.0, 3.2, 5.0, 12.0, 60.0])


def log_sinh(r: Array) -> Array:
    return np.asarray(r + np.log(-np.expm1(-2 * r)) - math.log(2))


@pytest.mark.parametrize("t", TIMES)
def test_one_dimension_is_the_line(t: float) -> None:
    assert log_heat_kernel(R, 1, t) == pytest.approx(-0.5 * math.log(4 * math.pi * t) - R**2 / (4 * t), rel=1e-14)


@pytest.mark.parametrize("t", TIMES)
def test_three_dimensions_closed_form(t: float) -> None:
    expected = -1.5 * math.log(4 * math.pi * t) + np.log(R) - log_sinh(R) - t - R**2 / (4 * t)
    assert log_heat_kernel(R, 3, t) == pytest.approx(expected, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("t", TIMES)
def test_five_dimensions_closed_form(t: float) -> None:
    r = R[R > 0.1]
    # (1/sinh ∂)² e^{-r²/4t} by hand; its second term cancels as r → 0.
    slope = r / np.sinh(r)
    twice = (slope / (2 * t)) ** 2 + (r * np.cosh(r) - np.sinh(r)) / np.sinh(r) ** 3 / (2 * t)
    expected = -2 * math.log(2 * math.pi) - 0.5 * math.log(4 * math.pi * t) - 4 * t - r**2 / (4 * t) + np.log(twice)
    assert log_heat_kernel(r, 5, t) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("t", TIMES)
def test_two_dimensions_is_mckeans_integral(t: float) -> None:
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
        assert log_heat_kernel(np.array(r), 2, t) == pytest.approx(log_front + math.log(integral), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("n", range(1, 13))
@pytest.mark.parametrize("t", TIMES)
def test_millsons_recursion(n: int, t: float) -> None:
    """K_{n+2} = -e^{-nt}/(2π sinh r) ∂_r K_n."""
    r = np.array([0.2, 0.9, 2.1, 4.0, 9.0])
    h = 1e-3 * r
    around = [log_heat_kernel(r + k * h, n, t) for k in (-3, -2, -1, 1, 2, 3)]
    # Sixth-order differences of log K.
    slope = (around[5] - 9 * around[4] + 45 * around[3] - 45 * around[2] + 9 * around[1] - around[0]) / (60 * h)
    expected = log_heat_kernel(r, n, t) + np.log(-slope) - log_sinh(r) - n * t - math.log(2 * math.pi)
    assert log_heat_kernel(r, n + 2, t) == pytest.approx(expected, rel=1e-9, abs=2e-9)


@pytest.mark.parametrize("n", range(2, 13))
def test_small_time_is_the_gaussian_with_van_vlecks_factor(n: int) -> None:
    r = np.array([0.0, 0.1, 1.0, 4.0])
    van_vleck = (n - 1) / 2 * np.array([0, *(np.log(r[1:]) - log_sinh(r[1:]))])
    differences = []
    for t in (1e-4, 1e-5):
        gaussian = -n / 2 * math.log(4 * math.pi * t) - r**2 / (4 * t)
        differences.append(log_heat_kernel(r, n, t) - gaussian - van_vleck)
    assert np.abs(differences[0]).max() < n * n * 1e-4
    assert differences[1] == pytest.approx(differences[0] / 10, rel=0.02, abs=1e-9)
    # At r = 0 the next term is t times a sixth of the scalar curvature -n(n-1).
    assert differences[0][0] == pytest.approx(-n * (n - 1) / 6 * 1e-4, rel=0.01)


@pytest.mark.parametrize("n", range(2, 13))
@pytest.mark.parametrize("t", [0.02, 0.5, 3.0])
def test_mass_is_one(n: int, t: float, radial_quadrature: Callable[..., tuple[Array, Array]]) -> None:
    # Mass drifts outwards at the speed n-1 and spreads like √2t.
    reach = (n - 1) * t + 9 * math.sqrt(2 * t) + 1
    r, volume = radial_quadrature(n, reach, np.sinh)
    assert np.exp(log_heat_kernel(r, n, t)) @ volume == pytest.approx(1, abs=1e-11)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_semigroup(n: int, polar_quadrature: Callable[..., tuple[Array, Array, Array]]) -> None:
    first, second = 0.3, 0.5
    alpha, phi, volume = polar_quadrature(n, (n - 1) * 0.8 + 10, np.sinh)
    from_x = np.exp(log_heat_kernel(alpha, n, first))
    for r in (0.0, 0.8, 2.5):
        # The hyperbolic law of cosines.
        cosine = np.cosh(alpha) * math.cosh(r) - np.sinh(alpha) * math.sinh(r) * np.cos(phi)
        to_y = HyperbolicHeatKernel(n, second, 20.0)
        values = to_y(np.minimum(np.arccosh(np.maximum(cosine, 1.0)), 20.0)) * math.exp(to_y.log_diagonal)
        expected = math.exp(log_heat_kernel(np.array(r), n, first + second))
        assert (from_x * values * volume).sum() == pytest.approx(expected, rel=1e-6)


def radial_heat_equation(n: int, t: float, reach: float, cells: int, steps: int) -> tuple[Array, Array]:
    """u_t = sinh^{1-n} (sinh^{n-1} u_r)_r from a point source by finite volumes: cell centres and u."""
    edges = np.linspace(0, reach, cells + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    area = np.sinh(edges) ** (n - 1)
    # Simpson's rule: exact enough in the first cell too, which holds the source.
    volume = (edges[1] - edges[0]) / 6 * (area[:-1] + 4 * np.sinh(centres) ** (n - 1) + area[1:])
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
    sphere = 2 * math.pi ** (n / 2) / math.gamma(n / 2)
    return centres, u / sphere


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("t", [0.2, 1.0])
def test_heat_equation_solved_numerically(n: int, t: float) -> None:
    errors = []
    for cells, steps in ((1000, 500), (2000, 1000)):
        r, u = radial_heat_equation(n, t, 14.0, cells, steps)
        near = (r > 0.1) & (r < 5 * math.sqrt(t))
        errors.append(np.abs(u[near] / np.exp(log_heat_kernel(r[near], n, t)) - 1).max())
    # The scheme's error falls by four with half the step: what is left is its own.
    assert errors[1] < 1e-3
    assert errors[1] == pytest.approx(errors[0] / 4, rel=0.2)


def test_derivatives_of_the_squared_distance_at_the_origin() -> None:
    # (c²-1)y'' + cy' = 2 at c = 1: Y_1 = 2 and Y_{k+1} = Y_k k²/(2k+1), exactly.
    derivative = Fraction(2)
    for k, scaled in enumerate(scaled_derivatives(np.zeros(1), 10), start=1):
        assert scaled[0] == pytest.approx(float(derivative * 2**k), rel=1e-14)
        derivative *= Fraction(k * k, 2 * k + 1)


@pytest.mark.parametrize("r", [0.05, 1.0, 3.0, 3.3, 8.0])
def test_derivatives_of_the_squared_distance_by_quadrature(r: float) -> None:
    # r/sinh r = ∫ dv/(v² + 2cv + 1) over v > 0, differentiated under the integral sign.
    c = math.cosh(r)
    for k, scaled in enumerate(scaled_derivatives(np.array([r]), 7), start=1):

        def integrand(x: float, k: int = k) -> float:
            # v = e^x; both factors by c+1 to keep them near 1.
            v = math.exp(x)
            return math.factorial(k - 1) * (2 * v * (c + 1) / (v * v + 2 * c * v + 1)) ** k

        integral = quad(integrand, -60, 60, limit=500, epsabs=0, epsrel=1e-12, points=[-r, 0, r])[0]
        assert scaled[0] == pytest.approx(integral, rel=1e-10)


@pytest.mark.parametrize("n", [2, 3, 4, 7, 12])
@pytest.mark.parametrize("t", [1e-3, 0.5, 20.0, 1000.0])
def test_finite_and_falling_from_the_origin_to_far_away(n: int, t: float) -> None:
    r = np.concatenate([[0.0], np.logspace(-12, 3, 200)])
    values = log_heat_kernel(r, n, t)
    assert np.isfinite(values).all()
    scale = 1e-13 * (1 + np.abs(values[1:]))
    assert (np.diff(values) <= scale).all()
    # Smooth at the origin: log K(r) - log K(0) is proportional to r².
    assert values[1] == pytest.approx(values[0], rel=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize(("t", "reach"), [(1e-3, 5.0), (0.5, 2.0), (2.0, 30.0), (10.0, 100.0)])
def test_table_follows_the_kernel_within_its_error(n: int, t: float, reach: float) -> None:
    kernel = HyperbolicHeatKernel(n, t, reach)
    r = np.linspace(0, reach, 777).reshape(21, 37)
    expected = log_heat_kernel(r, n, t) - kernel.log_diagonal
    assert kernel.error < 1e-9
    assert np.abs(kernel.log(r) - expected).max() <= kernel.error
    assert kernel.log_diagonal == pytest.approx(float(log_heat_kernel(np.array(0.0), n, t)))
    assert kernel(r) == pytest.approx(np.exp(expected), rel=1e-8)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("t", [0.05, 2.0])
def test_gram_matrices_have_no_negative_eigenvalues(n: int, t: float) -> None:
    rng = np.random.default_rng(n)
    mu, sigma = rng.normal(size=(60, n - 1)), np.exp(rng.normal(size=60))
    r = hyperbolic_distance(mu[:, None], sigma[:, None], mu[None], sigma[None])
    gram = HyperbolicHeatKernel(n, t, float(r.max()))(r)
    assert np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -1e-10


def test_impossible_arguments_are_refused() -> None:
    for n, t in ((0, 1.0), (2.5, 1.0), (2, 0.0), (2, -1.0), (2, math.nan)):
        with pytest.raises(ValueError, match="must be"):
            log_heat_kernel(R, n, t)  # type: ignore[arg-type]
    for r in (-0.1, math.nan, 1001.0):
        with pytest.raises(ValueError, match="r must lie in"):
            log_heat_kernel(np.array([r]), 2, 1.0)
    with pytest.raises(ValueError, match="r must lie in"):
        HyperbolicHeatKernel(2, 1.0, 3.0)(np.array([3.1]))
    for reach in (0.0, math.inf, 101.0):
        with pytest.raises(ValueError, match="reach must"):
            HyperbolicHeatKernel(2, 1.0, reach)
