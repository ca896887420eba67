"""Kernels of both spaces against formulas, symmetries, the machine against scikit-learn's, round trips."""

from __future__ import annotations

import io
import math
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from benchmark.boundaries.machines import (
    KERNELS,
    Boundary,
    as_arrays,
    boundary,
    from_arrays,
    grid,
    hyperbolic_kernel,
    kernel_matrix,
)
from benchmark.boundaries.samples import Samples, draw, log_odds
from benchmark.kernels.heat.half_space import curvature_radius, hyperbolic_distance

PANELS = [("simplex", "gaussian"), ("simplex", "diffusion"), ("half-plane", "gaussian"), ("half-plane", "hyperbolic")]
CASES = [(space, kernel) for space, kernels in KERNELS.items() for kernel in kernels]
SAMPLES = {space: draw(space, n=60, n_test=200, seed=4) for space in KERNELS}


@pytest.mark.parametrize("t", [0.1, 2.0])
@pytest.mark.parametrize("space", KERNELS)
def test_gaussian_of_time_t_has_variance_2t(space: str, t: float) -> None:
    left, right = SAMPLES[space].test_points, SAMPLES[space].points
    expected = np.exp(-cdist(left, right, "sqeuclidean") / (2 * (2 * t)))
    assert kernel_matrix(space, "gaussian", left, right, t) == pytest.approx(expected, rel=1e-9)


def test_diffusion_kernel_formula() -> None:
    left, right = SAMPLES["simplex"].test_points, SAMPLES["simplex"].points
    geodesic = 2 * np.arccos(np.minimum(np.sqrt(left) @ np.sqrt(right).T, 1))
    expected = np.exp(-(geodesic**2) / (4 * 2.0))
    assert kernel_matrix("simplex", "diffusion", left, right, 2.0) == pytest.approx(expected, rel=1e-12)


def test_heat_kernel_of_the_sphere_by_its_legendre_series() -> None:
    left, right = SAMPLES["simplex"].test_points[:20], SAMPLES["simplex"].points[:20]
    s = np.minimum(np.sqrt(left) @ np.sqrt(right).T, 1)
    for t in (0.5, 2.0):
        # S² of radius 2: eigenvalues l(l+1)/4, (2l+1) P_l.
        weights = [(2 * degree + 1) * math.exp(-degree * (degree + 1) * t / 4) for degree in range(60)]
        expected = np.polynomial.legendre.legval(s, weights) / sum(weights)
        assert kernel_matrix("simplex", "heat", left, right, t) == pytest.approx(expected, rel=1e-10)


def test_diffusion_nears_the_heat_kernel_as_t_falls() -> None:
    left, right = SAMPLES["simplex"].test_points, SAMPLES["simplex"].points
    gaps = []
    for t in (2.0, 0.5, 0.1, 0.02):
        heat, parametrix = (kernel_matrix("simplex", kernel, left, right, t) for kernel in ("heat", "diffusion"))
        gaps.append(np.abs(heat - parametrix).max())
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.01


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

    left, right = SAMPLES["half-plane"].points[:4], SAMPLES["half-plane"].test_points[:4]
    x, y = left / [math.sqrt(2), 1], right / [math.sqrt(2), 1]
    r = np.arccosh(1 + cdist(x, y, "sqeuclidean") / (2 * np.outer(x[:, 1], y[:, 1])))
    expected = np.vectorize(integral)(r) / integral(0.0)
    assert hyperbolic_kernel(left, right, t) == pytest.approx(expected, rel=1e-8)


def test_fisher_metric_halves_the_time() -> None:
    points = SAMPLES["half-plane"].points
    fisher = kernel_matrix("half-plane", "hyperbolic", points, points, 2.0, "fisher")
    # Not the same bits: the squared curvature radius, √2·√2, is not 2.
    assert fisher == pytest.approx(kernel_matrix("half-plane", "hyperbolic", points, points, 1.0), rel=1e-13)


def test_only_with_the_fisher_metric_does_time_measure_fisher_distance() -> None:
    """For small t, log K ≈ -d²/4t, d the geodesic distance that t is measured in."""
    left, right, t = np.array([[0.5, 0.3]]), np.array([[0.56, 0.33]]), 1e-3
    d = curvature_radius(2) * hyperbolic_distance(left[:, :1], left[:, 1], right[:, :1], right[:, 1])[0]
    log_fisher = math.log(hyperbolic_kernel(left, right, t, "fisher")[0, 0])
    assert log_fisher == pytest.approx(-(d**2) / (4 * t), rel=1e-2)
    assert math.log(hyperbolic_kernel(left, right, t)[0, 0]) == pytest.approx(log_fisher / 2, rel=1e-2)


def test_isometries_of_the_half_plane_leave_only_the_hyperbolic_kernel_unchanged() -> None:
    points = SAMPLES["half-plane"].points
    x, y = points[:, 0] / math.sqrt(2), points[:, 1]
    inverted = np.column_stack([math.sqrt(2) * x, y]) / (x**2 + y**2)[:, None]
    for moved in (points + np.array([3.0, 0.0]), 0.1 * points, inverted):
        before, after = (hyperbolic_kernel(each, each, 2.0) for each in (points, moved))
        assert after == pytest.approx(before, rel=1e-9)
    gaussian = [kernel_matrix("half-plane", "gaussian", each, each, 2.0) for each in (points, 0.1 * points)]
    assert np.abs(gaussian[0] - gaussian[1]).max() > 0.05


@pytest.mark.parametrize(("space", "kernel"), CASES)
def test_kernel_is_symmetric_with_unit_diagonal(space: str, kernel: str) -> None:
    points = SAMPLES[space].points
    gram = kernel_matrix(space, kernel, points, points, 2.0)
    assert gram == pytest.approx(gram.T, abs=1e-12)
    assert np.diag(gram) == pytest.approx(1.0, abs=1e-12)
    assert (gram > 0).all()
    assert (gram <= 1 + 1e-12).all()
    if kernel != "diffusion":  # a parametrix needn't be positive definite
        assert np.linalg.eigvalsh(gram).min() > -1e-10


@pytest.mark.parametrize(("space", "kernel"), CASES)
def test_machine_decides_as_scikit_learns(space: str, kernel: str) -> None:
    samples = SAMPLES[space]
    result = boundary(samples, kernel, C=10.0, resolution=12)
    oracle = SVC(C=10.0, kernel="precomputed")
    oracle.fit(kernel_matrix(space, kernel, samples.points, samples.points, 2.0), samples.labels)

    def rows(points: Any) -> Any:
        return kernel_matrix(space, kernel, points, samples.points, 2.0)

    # Class 0 is positive here, class 1 there. Both stop at a gap of 1e-3, which bounds how far they may be apart.
    assert result.decisions == pytest.approx(-oracle.decision_function(rows(result.grid)), abs=5e-3)
    assert np.array_equal(result.predictions, oracle.predict(rows(samples.points)))
    assert np.array_equal(result.test_predictions, oracle.predict(rows(samples.test_points)))
    assert result.n_support == len(oracle.support_)
    assert result.accuracy == pytest.approx(oracle.score(rows(samples.test_points), samples.test_labels))
    assert np.array_equal(np.flatnonzero(result.errors), np.flatnonzero(result.predictions != samples.labels))


@pytest.mark.parametrize(("space", "kernel"), PANELS)
def test_order_of_the_training_points_does_not_matter(space: str, kernel: str) -> None:
    samples = SAMPLES[space]
    order = np.random.default_rng([7]).permutation(len(samples.points))
    shuffled = replace(samples, points=samples.points[order], labels=samples.labels[order])
    first, second = (boundary(each, kernel, resolution=12) for each in (samples, shuffled))
    assert second.decisions == pytest.approx(first.decisions, abs=5e-3)
    assert (second.predictions != first.predictions[order]).sum() <= 1


@pytest.mark.parametrize(("space", "kernel"), PANELS)
def test_exchanged_classes_change_the_sign(space: str, kernel: str) -> None:
    samples = SAMPLES[space]
    exchanged = Samples(space, samples.points, 1 - samples.labels, samples.test_points, 1 - samples.test_labels)
    first, second = (boundary(each, kernel, resolution=12) for each in (samples, exchanged))
    assert second.decisions == pytest.approx(-first.decisions, abs=5e-3)


def test_at_equal_time_the_curved_kernels_reach_what_the_gaussian_does_not() -> None:
    """What the figure is there to show, at every seed."""
    for seed in range(1, 6):
        for space, curved in (("simplex", "diffusion"), ("half-plane", "hyperbolic")):
            samples = draw(space, seed=seed)
            gaussian, information = (boundary(samples, each, resolution=2) for each in ("gaussian", curved))
            optimal = ((log_odds(space, samples.test_points) < 0) == samples.test_labels).mean()
            assert gaussian.accuracy + 0.1 < information.accuracy < optimal + 0.02
            narrow = boundary(samples, "gaussian", t=0.2**2 / 2, resolution=2)
            assert narrow.accuracy > information.accuracy - 0.02


def test_optimal_is_the_densities_log_odds_on_the_grid() -> None:
    result = boundary(SAMPLES["half-plane"], "gaussian", resolution=9)
    assert np.array_equal(result.optimal, log_odds("half-plane", result.grid))


@pytest.mark.parametrize("resolution", [1, 2, 30])
def test_grid_fills_the_space(resolution: int) -> None:
    simplex, plane = grid("simplex", resolution), grid("half-plane", resolution)
    assert len(simplex) == (resolution + 1) * (resolution + 2) // 2
    assert len(np.unique(simplex, axis=0)) == len(simplex)
    assert simplex.min() == 0.0
    assert simplex.sum(axis=1) == pytest.approx(1.0, abs=1e-15)
    assert {tuple(corner) for corner in np.eye(3)} <= {tuple(point) for point in simplex}
    assert len(np.unique(plane, axis=0)) == (resolution + 1) ** 2
    assert (plane.min(axis=0) > [-1e-12, 0]).all()
    assert plane.max(axis=0) == pytest.approx(1.0)


@pytest.mark.parametrize(("space", "kernel"), PANELS)
def test_arrays_survive_a_file_without_pickle(space: str, kernel: str) -> None:
    result = boundary(SAMPLES[space], kernel, resolution=6, C=3.0)
    file = io.BytesIO()
    np.savez_compressed(file, **as_arrays(result))  # type: ignore[arg-type]
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        again = from_arrays(arrays)
    for field in fields(Boundary):
        before, after = getattr(result, field.name), getattr(again, field.name)
        assert type(before) is type(after)
        assert np.array_equal(before, after)
        if isinstance(before, np.ndarray):
            assert before.dtype == after.dtype


def test_a_missing_array_is_named() -> None:
    arrays = as_arrays(boundary(SAMPLES["simplex"], "gaussian", resolution=2))
    del arrays["decisions"], arrays["grid"]
    with pytest.raises(ValueError, match="grid, decisions"):
        from_arrays(arrays)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "hyperbolic"}, "kernels of the simplex are gaussian, diffusion, heat"),
        ({"kernel": "rbf"}, "kernels of the simplex"),
        ({"kernel": "diffusion", "t": -1.0}, "t must be a positive finite number"),
        ({"kernel": "gaussian", "t": math.inf}, "t must be a positive finite number"),
        ({"kernel": "gaussian", "C": 0.0}, "C"),
        ({"kernel": "gaussian", "resolution": 0}, "resolution"),
    ],
)
def test_impossible_parameters_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        boundary(SAMPLES["simplex"], **options)


def test_unknown_geometry_is_refused_for_every_kernel() -> None:
    for space, kernel in PANELS:
        with pytest.raises(ValueError, match="curvature -1, fisher"):
            boundary(SAMPLES[space], kernel, geometry="flat", resolution=2)
    points = SAMPLES["half-plane"].points
    with pytest.raises(ValueError, match="curvature -1, fisher"):
        hyperbolic_kernel(points, points, 2.0, "flat")


def test_a_class_without_points_is_refused() -> None:
    samples = SAMPLES["simplex"]
    alone = replace(samples, labels=np.zeros_like(samples.labels))
    with pytest.raises(ValueError, match="two classes"):
        boundary(alone, "gaussian", resolution=2)
