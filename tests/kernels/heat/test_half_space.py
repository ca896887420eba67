"""Distances between spherical normals: the metric they integrate, closed forms, geomstats, and bad arguments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from benchmark.kernels.hyperbolic import curvature_radius, hyperbolic_distance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def fisher_distance(mu: Array, sigma: Array, mu_other: Array, sigma_other: Array) -> Array:
    """ρ r, the geodesic distance of the Fisher metric."""
    return curvature_radius(mu.shape[-1] + 1) * hyperbolic_distance(mu, sigma, mu_other, sigma_other)


@pytest.fixture
def normals() -> tuple[Array, Array]:
    """Means, shape (12, 3), and standard deviations of spherical normals."""
    rng = np.random.default_rng(8)
    return rng.normal(size=(12, 3)), np.exp(rng.normal(size=12))


def pairwise(mu: Array, sigma: Array) -> Array:
    return fisher_distance(mu[:, None], sigma[:, None], mu[None], sigma[None])


def test_cosine_of_the_papers_formula(normals: tuple[Array, Array]) -> None:
    mu, sigma = normals
    r = hyperbolic_distance(mu[:, None], sigma[:, None], mu[None], sigma[None])
    x = mu / math.sqrt(6)
    squares = ((x[:, None] - x) ** 2).sum(axis=-1) + (sigma[:, None] - sigma) ** 2
    expected = np.arccosh(1 + squares / (2 * np.outer(sigma, sigma)))
    assert r == pytest.approx(expected, abs=1e-7)
    assert pairwise(mu, sigma) == pytest.approx(math.sqrt(6) * r)


def test_is_a_metric(normals: tuple[Array, Array]) -> None:
    d = pairwise(*normals)
    assert (np.diag(d) == 0).all()
    assert d == pytest.approx(d.T)
    assert (d[:, :, None] <= d[:, None, :] + d.T[None] + 1e-12).all()


@pytest.mark.parametrize("n", [2, 3, 6])
def test_nearby_points_lie_as_far_apart_as_the_fisher_metric_says(n: int) -> None:
    rng = np.random.default_rng(n)
    mu, sigma = rng.normal(size=n - 1), 1.7
    d_mu, d_sigma = 1e-7 * rng.normal(size=n - 1), 1e-7 * rng.normal()
    length = math.sqrt((d_mu @ d_mu + 2 * (n - 1) * d_sigma**2) / sigma**2)
    near = fisher_distance(mu, np.array(sigma), mu + d_mu, np.array(sigma + d_sigma))
    assert float(near) == pytest.approx(length, rel=1e-6)


@pytest.mark.parametrize("sigma", [0.6, 1.7])
@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (-0.6, 0.8)])
def test_the_metric_is_the_fisher_information(sigma: float, direction: tuple[float, float]) -> None:
    """A short distance, squared, is the mean square of the directional derivative of the normal's log density."""
    d_mu, d_sigma = direction

    def score(x: float) -> float:
        return d_mu * x / sigma**2 + d_sigma * (x**2 / sigma**3 - 1 / sigma)

    information = quad(lambda x: score(x) ** 2 * norm.pdf(x, 0, sigma), -40 * sigma, 40 * sigma, points=[0.0])[0]
    step = 1e-6
    zero, end = np.zeros(1), np.array([step * d_mu])
    length = float(fisher_distance(zero, np.array(sigma), end, np.array(sigma + step * d_sigma)))
    assert (length / step) ** 2 == pytest.approx(information, rel=1e-5)


def test_vertical_lines_are_geodesics() -> None:
    # √(2(n-1)) |log σ'/σ|
    for n in (2, 5):
        mu = np.zeros(n - 1)
        d = fisher_distance(mu, np.array(0.25), mu, np.array(8.0))
        assert float(d) == pytest.approx(math.sqrt(2 * (n - 1)) * math.log(32))
    assert curvature_radius(2) == pytest.approx(math.sqrt(2))


def test_isometries(normals: tuple[Array, Array]) -> None:
    mu, sigma = normals
    assert pairwise(mu + np.array([3.0, -1.0, 0.5]), sigma) == pytest.approx(pairwise(mu, sigma))
    assert pairwise(100 * mu, 100 * sigma) == pytest.approx(pairwise(mu, sigma))


def test_close_and_far_points_keep_their_digits() -> None:
    zero, one = np.zeros(1), np.array(1.0)
    assert float(fisher_distance(zero, one, np.array([1e-12]), one)) == pytest.approx(1e-12, rel=1e-12)
    far = float(hyperbolic_distance(zero, np.array(1e-100), zero, np.array(1e100)))
    assert far == pytest.approx(200 * math.log(10))


@pytest.fixture
def univariate_normals(monkeypatch: pytest.MonkeyPatch) -> Any:
    """geomstats' manifold of normal distributions (mean, standard deviation)."""
    if not hasattr(np, "trapz"):
        # geomstats 2.8 imports it from numpy, which has called it trapezoid since 2.0 and dropped the old name in 2.4.
        monkeypatch.setattr(np, "trapz", np.trapezoid, raising=False)
    normal = pytest.importorskip("geomstats.information_geometry.normal", exc_type=ImportError)
    return normal.UnivariateNormalDistributions()


def test_fisher_rao_distance_of_geomstats(univariate_normals: Any) -> None:
    rng = np.random.default_rng(4)
    left, right = (np.column_stack([rng.normal(size=20), np.exp(rng.normal(size=20))]) for _ in range(2))
    expected = univariate_normals.metric.dist(left, right)
    ours = fisher_distance(left[:, :1], left[:, 1], right[:, :1], right[:, 1])
    assert ours == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_the_radius_of_curvature(n: int) -> None:
    assert curvature_radius(n) ** 2 == pytest.approx(2 * (n - 1))
    with pytest.raises(ValueError, match=r"at least 2, not 2\.5"):
        curvature_radius(2.5)  # type: ignore[arg-type]
