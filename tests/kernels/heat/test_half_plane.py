"""The heat kernel of the normals' half plane against its integral, its symmetries, and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.spatial.distance import cdist

from benchmark.corpora.curved_points import draw_points
from benchmark.kernels import Hyperbolic
from benchmark.kernels.hyperbolic import curvature_radius, hyperbolic_distance

POINTS = draw_points("half-plane", n=60, n_test=200, seed=4)


@pytest.mark.parametrize("t", [0.5, 2.0])
def test_hyperbolic_kernel_by_equation_9(t: float) -> None:
    """K_t ∝ ∫_r^∞ s exp(-s²/4t) / √(cosh s - cosh r) ds; s = r + u² takes the singularity out."""

    def integral(r: float) -> float:
        def integrand(u: float) -> float:
            s = r + u * u
            # cosh s - cosh r = 2 sinh((s+r)/2) sinh((s-r)/2)
            gap = 2 * math.sinh((s + r) / 2) * math.sinh(u * u / 2)
            return s * math.exp(-s * s / (4 * t)) * 2 * u / math.sqrt(gap)

        return float(quad(integrand, 1e-12, 8.0, epsabs=0, epsrel=1e-11, limit=200)[0])

    left, right = POINTS.points[:4], POINTS.test_points[:4]
    x, y = left / [math.sqrt(2), 1], right / [math.sqrt(2), 1]
    r = np.arccosh(1 + cdist(x, y, "sqeuclidean") / (2 * np.outer(x[:, 1], y[:, 1])))
    expected = np.vectorize(integral)(r) / integral(0.0)
    assert Hyperbolic(t).fit(right).transform(left) == pytest.approx(expected, rel=1e-8)


def test_fisher_metric_halves_the_time() -> None:
    points = POINTS.points
    fisher, half = (Hyperbolic(*each).fit(points).transform(points) for each in ((2.0, "fisher"), (1.0,)))
    # Not the same bits: the squared curvature radius, √2·√2, is not 2.
    assert fisher == pytest.approx(half, rel=1e-13)


def test_only_with_the_fisher_metric_does_time_measure_fisher_distance() -> None:
    """For small t, log K ≈ -d²/4t, d the geodesic distance that t is measured in."""
    left, right, t = np.array([[0.5, 0.3]]), np.array([[0.56, 0.33]]), 1e-3
    d = curvature_radius(2) * hyperbolic_distance(left[:, :1], left[:, 1], right[:, :1], right[:, 1])[0]
    fisher, curved = (
        math.log(Hyperbolic(t, each).fit(right).transform(left)[0, 0]) for each in ("fisher", "curvature -1")
    )
    assert fisher == pytest.approx(-(d**2) / (4 * t), rel=1e-2)
    assert curved == pytest.approx(fisher / 2, rel=1e-2)


def test_isometries_of_the_half_plane_leave_it_unchanged() -> None:
    points = POINTS.points
    x, y = points[:, 0] / math.sqrt(2), points[:, 1]
    inverted = np.column_stack([math.sqrt(2) * x, y]) / (x**2 + y**2)[:, None]
    for moved in (points + np.array([3.0, 0.0]), 0.1 * points, inverted):
        before, after = (Hyperbolic().fit(each).transform(each) for each in (points, moved))
        assert after == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("t", [0.1, 2.0])
def test_is_symmetric_and_positive_definite_with_unit_diagonal(t: float) -> None:
    gram = Hyperbolic(t).fit(POINTS.points).transform(POINTS.points)
    assert gram == pytest.approx(gram.T, abs=1e-12)
    assert np.diag(gram) == pytest.approx(1.0, abs=1e-12)
    assert ((gram > 0) & (gram <= 1 + 1e-12)).all()
    assert np.linalg.eigvalsh(gram).min() > -1e-10


def test_sparse_points_are_the_same_points() -> None:
    kernel = Hyperbolic().fit(POINTS.points)
    sparse = Hyperbolic().fit(sp.csr_array(POINTS.points))
    np.testing.assert_array_equal(
        kernel.transform(POINTS.test_points), sparse.transform(sp.csr_array(POINTS.test_points))
    )


@pytest.mark.parametrize("points", [[[0.5, 0.0]], [[0.5, -1.0]], [[0.2, 0.3, 0.5]], [[0.5]]])
def test_what_is_no_point_of_the_half_plane_is_refused(points: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="two coordinates, a mean and a positive standard deviation"):
        Hyperbolic().fit(points)
    with pytest.raises(ValueError, match=r"two coordinates|expecting 2 features"):
        Hyperbolic().fit(POINTS.points).transform(points)


def test_points_that_are_all_the_same_have_the_kernel_1() -> None:
    kernel = Hyperbolic(t=0.5).fit([[2.0, 3.0]])
    assert kernel.transform([[2.0, 3.0], [2.0, 3.0]]).tolist() == [[1.0], [1.0]]
