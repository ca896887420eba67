"""Generated points: their densities against scipy's, the best boundary, stability, refusals; and as a corpus."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import dirichlet, kstest, truncnorm

from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.curved_points import (
    DEVIATIONS,
    DIRICHLET,
    MEANS,
    MIN_GRID_SIGMA,
    SPACES,
    SPREAD,
    CurvedPoints,
    draw_points,
    grid_points,
    log_odds,
)

MANY = 40_000


@pytest.mark.parametrize("space", SPACES)
def test_first_points_do_not_depend_on_how_many_are_drawn(space: str) -> None:
    few, many = draw_points(space, n=20, n_test=30), draw_points(space, n=200, n_test=2)
    assert np.array_equal(few.points, many.points[:20])
    assert np.array_equal(few.test_points[:2], many.test_points)


def test_moments_of_the_simplex() -> None:
    samples = draw_points("simplex", n_test=MANY)
    for label, components in enumerate(DIRICHLET):
        points = samples.test_points[samples.test_labels == label]
        expected = np.mean([np.array(alpha) / sum(alpha) for alpha in components], axis=0)
        assert points.mean(axis=0) == pytest.approx(expected, abs=4 * points.std(axis=0).max() / len(points) ** 0.5)
        second = np.mean([dirichlet(alpha).var() + dirichlet(alpha).mean() ** 2 for alpha in components], axis=0)
        assert (points**2).mean(axis=0) == pytest.approx(second, abs=0.01)


def test_distributions_of_the_half_plane() -> None:
    samples = draw_points("half-plane", n_test=MANY)
    mu, sigma = samples.test_points.T
    assert (mu >= 0).all()
    assert (mu <= 1).all()
    low, high = np.log(DEVIATIONS)
    assert kstest((np.log(sigma) - low) / (high - low), "uniform").pvalue > 1e-3
    # The components of each class take turns.
    for row, mean in zip(range(4), (MEANS[0][0], MEANS[1][0], MEANS[0][1], MEANS[1][1]), strict=True):
        m, scale = mu[row::4], SPREAD * sigma[row::4]
        ranks = truncnorm.cdf(m, -mean / scale, (1 - mean) / scale, loc=mean, scale=scale)
        assert kstest(ranks, "uniform").pvalue > 1e-3


def test_log_odds_against_scipy() -> None:
    theta = draw_points("simplex").test_points[:50]
    theta = theta[theta.min(axis=1) > 1e-9]
    densities = [sum(dirichlet.pdf(theta.T, alpha) for alpha in components) for components in DIRICHLET]
    assert log_odds("simplex", theta) == pytest.approx(np.log(densities[0] / densities[1]), rel=1e-9, abs=1e-9)
    mu, sigma = draw_points("half-plane").test_points[:50].T
    densities = [
        sum(truncnorm.pdf(mu, -m / s, (1 - m) / s, loc=m, scale=s) for m in means)
        for s in [SPREAD * sigma]
        for means in MEANS
    ]
    expected = np.log(densities[0]) - np.log(densities[1])
    assert log_odds("half-plane", np.column_stack([mu, sigma])) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("space", SPACES)
def test_log_odds_are_calibrated_on_the_drawn_points(space: str) -> None:
    samples = draw_points(space, n_test=MANY)
    probability = expit(log_odds(space, samples.test_points))
    for low in np.arange(0.0, 1.0, 0.2):
        inside = (probability >= low) & (probability < low + 0.2)
        share = (samples.test_labels[inside] == 0).mean()
        assert share == pytest.approx(probability[inside].mean(), abs=4 * 0.5 / inside.sum() ** 0.5)


@pytest.mark.parametrize(
    ("space", "points", "tested", "odds"),
    [
        (
            "simplex",
            [[0.265207, 0.734747, 4.5e-05], [0.597773, 0.218299, 0.183928], [0.261569, 0.125931, 0.6125]],
            [0.653194, 0.24151, 0.105296],
            [20.09751, -1.960193, 2.046137],
        ),
        (
            "half-plane",
            [[0.172236, 0.256428], [0.400248, 0.051897], [0.65686, 0.032052]],
            [0.24452, 0.221792],
            [6.21858, -119.107168, 290.127747],
        ),
    ],
)
def test_a_seed_draws_the_points_that_it_always_drew(
    space: str, points: list[list[float]], tested: list[float], odds: list[float]
) -> None:
    """Figures of earlier versions have the same points, and log odds with the same parameters of both classes."""
    drawn = draw_points(space, 3, 2, seed=1)
    np.testing.assert_allclose(drawn.points, points, atol=6e-7)
    np.testing.assert_allclose(drawn.test_points[0], tested, atol=6e-7)
    np.testing.assert_allclose(log_odds(space, drawn.points), odds, atol=6e-7)


@pytest.mark.parametrize("resolution", [1, 2, 7])
def test_a_grid_covers_its_space_evenly(resolution: int) -> None:
    triangle, plane = (grid_points(space, resolution) for space in SPACES)
    assert len(triangle) == (resolution + 1) * (resolution + 2) // 2
    assert len(plane) == (resolution + 1) ** 2
    for points in (triangle, plane):
        assert len(np.unique(points.round(12), axis=0)) == len(points)
    np.testing.assert_allclose(triangle.sum(axis=1), 1.0)
    assert (triangle.min(), triangle.max()) == (0.0, 1.0)
    np.testing.assert_allclose([plane.min(axis=0), plane.max(axis=0)], [[0.0, MIN_GRID_SIGMA], [1.0, 1.0]])


@pytest.mark.parametrize("space", SPACES)
def test_the_documents_of_the_corpus_are_the_points(space: str) -> None:
    corpus = CurvedPoints(space, train=20, test=30, resolution=10, seed=5).load(CorpusSource(None))
    samples, grid = draw_points(space, 20, 30, 5), grid_points(space, 10)
    labels = samples.labels, samples.test_labels, log_odds(space, grid) < 0
    np.testing.assert_array_equal(corpus.matrix.toarray(), np.vstack([samples.points, samples.test_points, grid]))
    np.testing.assert_array_equal(corpus.documents.labels, np.concatenate(labels))
    assert corpus.documents.part_names == ("train", "test", "grid")
    assert corpus.documents.parts.tolist() == [0] * 20 + [1] * 30 + [2] * len(grid)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"space": "sphere"}, "one of simplex, half-plane"), ({"train": 3}, "train must be at least 4")],
)
def test_parameters_without_points_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        CurvedPoints(**change).check()
