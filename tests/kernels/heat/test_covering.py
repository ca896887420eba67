"""Theorem 4's growth: its scaling laws in ε, t and the volume, and the volume of the simplex."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmark.kernels.heat.covering import log_covering_bound, log_orthant_volume
from benchmark.kernels.heat.gegenbauer import log_sphere_volume

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
