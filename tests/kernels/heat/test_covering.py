"""Theorem 4's growth: its scaling laws in ε, t and the volume, and the volume of the simplex."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest

from benchmark.kernels.covering import log_covering_bound, log_covering_number, log_orthant_volume, spectrum
from benchmark.kernels.sphere import log_sphere_volume

EPSILON = np.logspace(-12, -0.1, 60)


@pytest.mark.parametrize("n", [1, 2, 5, 100, 20_000])
def test_orthant_is_one_of_all(n: int) -> None:
    # Radius 2 gives 2^n, and there are 2^(n+1) orthants.
    assert log_orthant_volume(n) == pytest.approx(log_sphere_volume(n) + n * math.log(2) - (n + 1) * math.log(2))


def test_orthant_of_the_trinomials_by_quadrature() -> None:
    # √det of the Fisher metric of trinomials, (θ_1 θ_2 θ_3)^(-½), is Dirichlet(½,½,½)'s density without its constant.
    assert math.exp(log_orthant_volume(2)) == pytest.approx(math.gamma(0.5) ** 3 / math.gamma(1.5))


@pytest.mark.parametrize("n", [1, 2, 10, 20_000])
def test_falls_with_epsilon_and_time(n: int) -> None:
    assert (np.diff(log_covering_bound(EPSILON, n, 0.5)) < 0).all()
    values = [float(log_covering_bound(0.01, n, t)) for t in (0.01, 0.1, 1.0, 10.0)]
    assert np.diff(values) == pytest.approx(-n / 2 * math.log(10))
    assert np.isfinite(log_covering_bound(EPSILON, n, 1e-3)).all()


@pytest.mark.parametrize("n", [1, 2, 10])
def test_slope_in_log_log(n: int) -> None:
    values = log_covering_bound(EPSILON, n, 0.5)
    slope = np.diff(values) / np.diff(np.log(np.log(1 / EPSILON)))
    assert slope == pytest.approx((n + 2) / 2)


def test_formula_at_a_point() -> None:
    n, t, epsilon = 3, 0.2, 0.05
    expected = math.exp(log_orthant_volume(n)) / t ** (n / 2) * math.log(1 / epsilon) ** ((n + 2) / 2)
    assert math.exp(log_covering_bound(epsilon, n, t)) == pytest.approx(expected)


def test_a_quarter_of_a_circle_has_the_modes_of_a_string() -> None:
    eigenvalues, multiplicities = spectrum(1, 50.0, "simplex")  # of length π, fixed at both ends
    assert eigenvalues == pytest.approx([m * m for m in range(1, 8)])
    assert (multiplicities == 1).all()


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_harmonics_odd_in_each_coordinate_are_counted(n: int) -> None:
    """All even polynomials of degree 2k, less those of degree 2k − 2 times the squared radius."""
    eigenvalues, multiplicities = spectrum(n, 200.0, "simplex")
    for k, (value, times) in enumerate(zip(eigenvalues, multiplicities, strict=True)):
        degree = n + 1 + 2 * k
        assert value == degree * (degree + n - 1) / 4
        assert times == math.comb(k + n, n) - (math.comb(k - 1 + n, n) if k else 0)
    following = n + 1 + 2 * len(eigenvalues)
    assert following * (following + n - 1) / 4 > 200


def test_a_torus_has_the_modes_of_whole_numbers() -> None:
    eigenvalues, multiplicities = spectrum(3, 300.0, "torus")
    side = math.exp(log_orthant_volume(3) / 3)
    expected = Counter(sum(m * m for m in modes) for modes in product(range(-12, 13), repeat=3))
    of_side = (side / 2 / math.pi) ** 2
    found = {round(value * of_side): times for value, times in zip(eigenvalues, multiplicities, strict=True)}
    assert found == {square: expected[square] for square in found}
    assert max(found) < 12**2


@pytest.mark.parametrize("space", ["simplex", "torus"])
def test_only_axes_longer_than_the_radius_count(space: str) -> None:
    half_axes = {"simplex": [1, 4, 9, 16], "torus": [0, 4, 4, 16, 16]}[space]  # a circle of length π
    expected = sum(max(0.0, 5.0 - 0.25 * value) for value in half_axes)
    assert log_covering_number(5.0, 1, 0.5, space) == pytest.approx(expected)
