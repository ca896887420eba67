"""The gradient flow: its equation, its invariants, and that it ends where the closed form says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmark.classifiers.centroid_flow import FlowResult, energy_gap, flow_velocity, gradient_flow, solve_path
from benchmark.classifiers.divergence_bayes import (
    ClassStatistics,
    class_statistics,
    mean_skl,
    mean_skl_gradient,
    skl_centroid,
)
from tests.classifiers.centroids.drawn import draw_documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def as_the_paper_writes(statistics: ClassStatistics, rho: Array) -> list[float]:
    """-Σ_{j∈N(i)} g_ij (F_i - F_j), word by word."""
    f, v = mean_skl_gradient(statistics, rho), len(rho)
    neighbours = [[j for j in (i - 1, i + 1) if 0 <= j < v] for i in range(v)]
    return [-sum((rho[i] if f[i] > f[j] else rho[j]) * (f[i] - f[j]) for j in neighbours[i]) for i in range(v)]


def test_velocity_is_the_papers() -> None:
    statistics = class_statistics(draw_documents(5, 14), 0.1)
    rho = np.random.default_rng([3, 14]).dirichlet(np.ones(14))
    speed = flow_velocity(statistics, rho)
    assert speed == pytest.approx(as_the_paper_writes(statistics, rho), rel=1e-12, abs=1e-13)
    assert abs(speed.sum()) < 1e-12 * np.abs(speed).sum()
    assert speed @ mean_skl_gradient(statistics, rho) < 0
    assert np.abs(flow_velocity(statistics, skl_centroid(statistics))).max() < 1e-13


def test_steps_follow_the_differential_equation() -> None:
    """Against a method of order up to 12; ours is of order 1, and a local error of size ε comes of steps of size √ε."""
    statistics = class_statistics(draw_documents(5, 8, length=20), 0.3)
    start, end = statistics.mean, gradient_flow(statistics).times[-1]

    def speed(_: float, rho: Array) -> Array:
        return flow_velocity(statistics, rho)

    oracle = solve_ivp(speed, (0, end), start, method="LSODA", rtol=1e-8, atol=1e-11, dense_output=True)
    errors = []
    for accuracy in (1e-3, 1e-5):
        ours = gradient_flow(statistics, accuracy=accuracy, max_steps=20_000)
        inside = ours.times <= end
        energies = [mean_skl(statistics, oracle.sol(t)) for t in ours.times[inside]]
        errors.append(np.abs(ours.energies[inside] - energies).max())
    fall = mean_skl(statistics, start) - mean_skl(statistics, skl_centroid(statistics))
    assert errors[0] < 0.02 * fall
    assert 4 < errors[0] / errors[1] < 25


@pytest.mark.parametrize("smoothing", [1e-10, 3e-5, 0.1, 10.0])
@pytest.mark.parametrize("accuracy", [1e-3, 1e-2, 10.0])
def test_it_ends_at_the_exact_centroid(smoothing: float, accuracy: float) -> None:
    statistics = class_statistics(draw_documents(12, 40), smoothing)
    exact = skl_centroid(statistics)
    end = gradient_flow(statistics, 1e-11, accuracy=accuracy)
    assert_invariants(end)
    assert end.energies[-1] == pytest.approx(mean_skl(statistics, exact), abs=1e-13)
    assert end.centroid == pytest.approx(exact, abs=1e-10)


def assert_invariants(end: FlowResult) -> None:
    """Mass is conserved, and the energy falls but for rounding."""
    assert (end.centroid > 0).all()
    assert np.abs(end.masses - 1).max() < 1e-12
    assert (np.diff(end.energies) <= 1e-14 * max(1.0, end.energies[0])).all()
    assert (np.diff(end.times) > 0).all()


@pytest.mark.parametrize("smoothing", [1e-8, 3e-5, 1e-2])
def test_two_thousand_words(smoothing: float) -> None:
    """To 1e-9 nats of an energy of 2 to 5, by less than 300 steps."""
    statistics = class_statistics(draw_documents(60, 2000), smoothing)
    exact = skl_centroid(statistics)
    end = gradient_flow(statistics)
    assert_invariants(end)
    assert end.gap <= 1e-9
    assert end.energies[-1] - mean_skl(statistics, exact) < 1e-12
    assert np.abs(end.centroid - exact).sum() < 1e-8
    assert len(end.times) < 300


def test_the_gap_bounds_the_energy() -> None:
    statistics = class_statistics(draw_documents(10, 30), 0.01)
    lowest = mean_skl(statistics, skl_centroid(statistics))
    rng = np.random.default_rng([6, 30])
    for rho in rng.dirichlet(np.ones(30), size=20):
        assert energy_gap(statistics, rho) >= mean_skl(statistics, rho) - lowest > 0
    assert gradient_flow(statistics, tolerance=0.05).gap <= 0.05


def test_a_looser_tolerance_stops_earlier() -> None:
    statistics = class_statistics(draw_documents(10, 30), 0.01)
    loose, tight = gradient_flow(statistics, tolerance=1e-3), gradient_flow(statistics, tolerance=1e-9)
    steps = len(loose.times)
    assert 1 < steps < len(tight.times)
    np.testing.assert_array_equal(loose.energies, tight.energies[:steps])


def test_a_flow_that_starts_at_the_centroid_stays() -> None:
    end = gradient_flow(class_statistics([[9, 1], [1, 9]], 1e-300))
    assert len(end.times) == 1
    assert end.centroid == pytest.approx([0.5, 0.5])
    alone = gradient_flow(class_statistics([[3], [4]], 0.1))
    assert alone.centroid.tolist() == [1.0]


def test_a_flow_that_does_not_arrive_says_so() -> None:
    statistics = class_statistics(draw_documents(10, 30), 0.01)
    with pytest.raises(FloatingPointError, match=r"after 3 steps .* may still be"):
        gradient_flow(statistics, max_steps=3)
    with pytest.raises(FloatingPointError, match=r"steps|rounding"):
        gradient_flow(statistics, tolerance=1e-200)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e17])
def test_the_solver_is_that_of_a_dense_matrix(scale: float) -> None:
    """Weights up to 1e17 times the diagonal: the sum of all equations, which has no weight, still holds."""
    rng = np.random.default_rng([8, 20])
    diagonal, weights, rhs = rng.uniform(0.1, 1, 20), scale * rng.uniform(0.1, 1, 19), rng.standard_normal(20)
    found = solve_path(diagonal, weights, rhs)
    assert (diagonal * found).sum() == pytest.approx(rhs.sum(), rel=1e-12)
    if scale < 1e7:
        steps = np.diff(np.eye(20), axis=0)
        dense = np.diag(diagonal) + steps.T @ (weights[:, None] * steps)
        assert found == pytest.approx(np.linalg.solve(dense, rhs), rel=1e-7)
