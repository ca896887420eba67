"""The hypersphere's heat kernel: closed forms, mass, semigroup, positive eigenvalues."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import logsumexp

from benchmark.kernels.sphere import HypersphereHeatKernel, _slope, log_saddle_heat_kernel, log_sphere_heat_ratio
from tests.kernels.heat.quadrature import polar_quadrature, radial_quadrature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LARGE = 20_000
#: Dimension and time on the sphere of radius 2, from the parametrix's range to the flat kernel.
TIMES = [(1, 0.3), (1, 5.0), (2, 0.01), (2, 1.0), (3, 0.1), (7, 0.4), (60, 0.1), (500, 0.02),
         (LARGE, 1e-5), (LARGE, 4e-4), (LARGE, 1e-3), (LARGE, 2e-3), (LARGE, 0.1), (50_000, 1e-3)]  # fmt: skip
S = np.linspace(0, 1, 1001)


def log_kernel(s: Array, n: int, t: float) -> Array:
    """Log K(angle, t) on the unit sphere."""
    values, _, log_diagonal = log_sphere_heat_ratio(np.asarray(s, dtype=float), n, t)
    return values + log_diagonal


@pytest.mark.parametrize("t", [1e-3, 0.05, 1.0, 8.0])
def test_circle_is_the_theta_function_in_both_forms(t: float) -> None:
    theta = np.linspace(0, math.pi, 40)
    turns = 2 * math.pi * np.arange(-20, 21)[:, None]
    images = np.exp(-((theta + turns) ** 2) / (4 * t)).sum(axis=0) / math.sqrt(4 * math.pi * t)
    modes = np.arange(1, 400)[:, None]
    waves = (1 + 2 * (np.exp(-(modes**2) * t) * np.cos(modes * theta)).sum(axis=0)) / (2 * math.pi)
    kernel = np.exp(log_kernel(np.cos(theta), 1, t))
    positive = images > 1e-290
    assert kernel[positive] == pytest.approx(images[positive], rel=1e-9)
    assert kernel == pytest.approx(waves, abs=1e-13 * kernel.max())


@pytest.mark.parametrize("t", [1e-5, 1e-2, 0.3, 2.0, 4.0])
def test_three_sphere_closed_form(t: float) -> None:
    theta = np.linspace(0.01, math.pi - 0.01, 50)
    shift = 2 * math.pi * np.arange(-30, 31)[:, None]
    images = ((theta + shift) * np.exp(-shift * (shift + 2 * theta) / (4 * t))).sum(axis=0) / np.sin(theta)
    expected = np.log(images) + t - theta**2 / (4 * t) - 1.5 * math.log(4 * math.pi * t)
    # cos θ in the argument loses digits of θ: eps/sin θ times the slope θ/2t.
    assert log_kernel(np.cos(theta), 3, t) == pytest.approx(expected, abs=1e-13 * (10 + 60 / t))


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_small_time_is_the_parametrix_with_van_vlecks_factor(n: int) -> None:
    theta = np.linspace(0.05, 2.0, 15)
    van_vleck = (n - 1) / 2 * np.log(theta / np.sin(theta))
    differences = []
    for t in (1e-3, 1e-4):
        parametrix = -n / 2 * math.log(4 * math.pi * t) - theta**2 / (4 * t) + van_vleck
        differences.append(np.abs(log_kernel(np.cos(theta), n, t) - parametrix).max())
    # The next term of the expansion is proportional to t.
    assert differences[0] < n * n * 1e-3
    assert differences[1] == pytest.approx(differences[0] / 10, rel=0.02)
    # On the diagonal it is t times a sixth of the scalar curvature n(n-1).
    t = 1e-4 / n**2
    diagonal = float(log_kernel(np.ones(1), n, t)[0]) + n / 2 * math.log(4 * math.pi * t)
    assert diagonal == pytest.approx(n * (n - 1) / 6 * t, rel=1e-3, abs=1e-11)


def test_time_agrees_with_the_papers_parametrix() -> None:
    n, t = 2, 1e-4
    kernel = HypersphereHeatKernel(n, t)
    assert kernel.log_diagonal == pytest.approx(-n / 2 * math.log(4 * math.pi * t), abs=1e-4)
    s = np.linspace(0.8, 1, 20)
    assert kernel.log(s) == pytest.approx(-(np.arccos(s) ** 2) / t, abs=0.1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, 25])
@pytest.mark.parametrize("t", [0.02, 0.4, 3.0])
def test_mass_is_one(n: int, t: float) -> None:
    theta, volume = radial_quadrature(n, math.pi, np.sin)
    assert np.exp(log_kernel(np.cos(theta), n, t)) @ volume == pytest.approx(1, abs=1e-11)


@pytest.mark.parametrize("t", [1e-4, 3e-4, 5e-4, 2e-3])
def test_mass_is_one_in_twenty_thousand_dimensions(t: float) -> None:
    # Almost all of the sphere lies within a few 1/√n of an equator; seen from x, mass lies near cos θ = e^{-nt}.
    theta = np.linspace(math.acos(min(1.0, math.exp(-LARGE * t) + 0.1)), math.pi / 2 + 0.1, 4001)
    log_area = math.log(2) + LARGE / 2 * math.log(math.pi) - math.lgamma(LARGE / 2)
    log_density = log_kernel(np.cos(theta), LARGE, t) + (LARGE - 1) * np.log(np.sin(theta)) + log_area
    assert np.exp(log_density).sum() * (theta[1] - theta[0]) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_semigroup(n: int) -> None:
    alpha, phi, volume = polar_quadrature(n, math.pi, np.sin, 60, 30)  # as near as with three times the radii
    first, second = 0.15, 0.25
    from_x = np.exp(log_kernel(np.cos(alpha).ravel(), n, first))[:, None]
    for theta in (0.0, 0.7, 2.5):
        cosine = np.cos(alpha) * math.cos(theta) + np.sin(alpha) * math.sin(theta) * np.cos(phi)
        to_y = np.exp(log_kernel(np.clip(cosine, -1, 1).ravel(), n, second)).reshape(cosine.shape)
        expected = math.exp(log_kernel(np.array([math.cos(theta)]), n, first + second)[0])
        assert (from_x * to_y * volume).sum() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("n", "t"), TIMES)
def test_table_follows_the_kernel_within_its_error(n: int, t: float) -> None:
    kernel = HypersphereHeatKernel(n, t)
    values, errors, _ = log_sphere_heat_ratio(S, n, t / 4)
    assert (np.abs(kernel.log(S) - values) <= kernel.error + errors).all()
    assert kernel.error <= 1e-9 * max(1.0, -values.min() / 1e3)


@pytest.mark.parametrize(("n", "t"), TIMES)
def test_falls_with_the_angle_from_one(n: int, t: float) -> None:
    kernel = HypersphereHeatKernel(n, t)
    log = kernel.log(S)
    assert np.isfinite(log).all()
    assert math.isfinite(kernel.log_diagonal)
    assert log[-1] == pytest.approx(0, abs=kernel.error)
    assert (log <= 0).all()
    assert (np.diff(log) >= -2 * kernel.error).all()
    assert kernel(S) == pytest.approx(np.exp(log))


@pytest.mark.parametrize(("n", "t"), TIMES)
def test_gram_matrices_have_no_negative_eigenvalues(n: int, t: float) -> None:
    rng = np.random.default_rng(n)
    # Like documents: at most a hundred of the coordinates aren't zero, and some are common to all.
    points = np.zeros((60, n + 1))
    for row in points:
        row[rng.integers(1 + n // (1 + np.arange(100) % 20))] += rng.exponential(size=100)
    points /= points.sum(axis=1, keepdims=True)
    points[10] = points[3]
    points[20] = 0.5 * points[20] + 0.5 * points[21]
    points[30:35] = 0
    points[np.arange(30, 35), np.arange(5) % (n + 1)] = 1
    roots = np.sqrt(points)
    gram = HypersphereHeatKernel(n, t)(roots @ roots.T)
    assert np.linalg.eigvalsh((gram + gram.T) / 2).min() >= -1e-10 * len(gram)


@pytest.mark.parametrize("factor", [3.0, 4.0, 5.0])
def test_parametrix_fails_in_high_dimension(factor: float) -> None:
    # For t near 4 log(n)/n, w_l P_l(s) ≈ (zs)^l / l! with z = n e^{-nt/4}: the heat kernel is e^{-z(1-s)}, while the
    # parametrix e^{-arccos²(s)/t} is below e^{-500} for all documents that share less than half.
    t = factor * math.log(LARGE) / LARGE
    z = LARGE * math.exp(-LARGE * t / 4)
    s = np.linspace(0, 0.5, 11)
    assert HypersphereHeatKernel(LARGE, t).log(s) == pytest.approx(-z * (1 - s), rel=0.03)
    assert (-(np.arccos(s) ** 2) / t < -400).all()


@pytest.mark.parametrize("n", [1, 2, 3, 50, LARGE])
@pytest.mark.parametrize("t", [1e-12, 1e-9, 1e3, 1e6])
def test_extreme_times(n: int, t: float) -> None:
    kernel = HypersphereHeatKernel(n, t)
    log = kernel.log(S)
    assert np.isfinite(log).all()
    if t > 1:
        assert kernel(S) == pytest.approx(1.0)
    else:
        # Relative to log K: the angle's own square carries it.
        assert log[:-100] == pytest.approx(-(np.arccos(S[:-100]) ** 2) / t, rel=1e-3)


def test_large_arrays_in_place_and_of_any_shape() -> None:
    kernel = HypersphereHeatKernel(500, 0.02)
    s = np.random.default_rng(0).random((300, 211))
    expected = np.exp([[kernel.log(np.array([value]))[0] for value in row] for row in s[:3]])
    assert kernel(s)[:3] == pytest.approx(expected, rel=1e-12)
    assert (kernel(s.T) == kernel(s).T).all()
    assert (kernel(s[::2, ::3]) == kernel(s)[::2, ::3]).all()
    assert kernel(np.array(0.25)).shape == ()
    assert kernel(np.empty((0, 4))).shape == (0, 4)
    before = kernel(s)
    view = s[:, ::2]
    assert kernel(view, out=view) is view
    assert (view == before[:, ::2]).all()


def test_rounding_beyond_one_is_allowed() -> None:
    kernel = HypersphereHeatKernel(3, 1.0)
    assert kernel(np.array([1 + 1e-12, -1e-12])) == pytest.approx(kernel(np.array([1.0, 0.0])))


@pytest.mark.parametrize("t", [5.0, 40.0, 300.0])
def test_long_times_on_the_circle_are_uniform(t: float) -> None:
    """Many turns of the line add up to the same value everywhere, 1/2π: 4 e^-t is the largest deviation."""
    theta = np.linspace(0, np.pi, 9)
    values, errors = log_saddle_heat_kernel(theta, 1, t)
    assert values == pytest.approx(np.zeros(9), abs=4 * math.exp(-t) + 1e-12)
    assert (errors < 1e-12).all()


@pytest.mark.parametrize("lam", [0.5, 1.0, 40.0])
@pytest.mark.parametrize("theta", [0.5, 1.5, 3.0])
def test_the_slope_is_continuous_where_the_root_is_zero(theta: float, lam: float) -> None:
    """-d log F/dp = λ sinh q / (2q (cosh q - cos θ)), p = q² = δ - θ²: λ / 2(1 - cos θ) at δ = θ²."""
    at = _slope(np.full(1, theta), lam, np.full(1, theta**2))
    assert at == pytest.approx(lam / (2 * (1 - math.cos(theta))), rel=1e-9)
    for delta in (theta**2 * 0.5, theta**2 * 1.5):
        q = np.sqrt(complex(delta - theta**2))
        expected = (lam * np.sinh(q) / (2 * q * (np.cosh(q) - math.cos(theta)))).real
        assert _slope(np.full(1, theta), lam, np.full(1, delta)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("t", [1e-3, 0.05, 0.7, 5.0, 60.0])
def test_the_circle_is_the_sum_of_the_lines_kernel_over_all_turns(t: float) -> None:
    """Half way round, the turn before counts as much as the one after."""
    theta = np.linspace(0, np.pi, 9)
    turns = 2 * np.pi * np.arange(-60, 61)[:, None]
    expected = (
        logsumexp(-((theta + turns) ** 2) / (4 * t), axis=0) + math.log(2 * np.pi) - 0.5 * math.log(4 * np.pi * t)
    )
    values, errors = log_saddle_heat_kernel(theta, 1, t)
    assert (np.abs(values - expected) <= errors + 1e-13).all()
