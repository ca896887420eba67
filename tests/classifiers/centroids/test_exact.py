"""The closed form of the symmetric-KL centroid: first-order condition, brute force, symmetries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import lambertw
from scipy.stats import entropy

from benchmark.classifiers.centroid_flow import energy_gap
from benchmark.classifiers.divergence_bayes import (
    class_statistics,
    lagrange_multiplier,
    mean_skl,
    mean_skl_gradient,
    skl_centroid,
    symmetric_kl,
)
from tests.classifiers.centroids.drawn import draw_documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZES = [(1, 5), (2, 2), (7, 40), (150, 3000)]
SMOOTHING = [1e-300, 1e-8, 3e-5, 0.1, 50.0]


@pytest.mark.parametrize(("n", "v"), SIZES)
@pytest.mark.parametrize("smoothing", SMOOTHING)
def test_first_order_condition(n: int, v: int, smoothing: float) -> None:
    """F is the same for all words, at the value that λ tells; E is convex, so that no q is better."""
    statistics = class_statistics(draw_documents(n, v), smoothing)
    q = skl_centroid(statistics)
    assert (q > 0).all()
    assert q.sum() == pytest.approx(1, abs=1e-13)
    log_z = np.logaddexp.reduce(statistics.mean_log)
    expected = np.full(v, -lagrange_multiplier(statistics) - log_z)
    assert mean_skl_gradient(statistics, q) == pytest.approx(expected, rel=1e-11, abs=1e-10)
    assert energy_gap(statistics, q) < 1e-10


@pytest.mark.parametrize("smoothing", [0.01, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_brute_force_finds_nothing_better(seed: int, smoothing: float) -> None:
    statistics = class_statistics(draw_documents(4, 5, seed=seed, length=10), smoothing)
    q = skl_centroid(statistics)

    # Powell's method on q ∝ e^u knows neither the gradient nor that the problem is convex.
    def energy(u: NDArray[np.float64]) -> float:
        weights = np.exp(u - u.max())
        return mean_skl(statistics, weights / weights.sum())

    found = minimize(energy, np.zeros(5), method="Powell", options={"xtol": 1e-10, "ftol": 1e-15, "maxiter": 2000})
    assert mean_skl(statistics, q) <= found.fun + 1e-14
    assert found.fun == pytest.approx(mean_skl(statistics, q), abs=1e-9)
    weights = np.exp(found.x - found.x.max())
    assert weights / weights.sum() == pytest.approx(q, abs=1e-4)


def test_nielsens_formula_with_lamberts_function() -> None:
    statistics = class_statistics(draw_documents(9, 25), 0.05)
    g = np.exp(statistics.mean_log)
    g /= g.sum()
    multiplier = lagrange_multiplier(statistics)
    q = statistics.mean / lambertw(statistics.mean * np.exp(1 + multiplier) / g).real
    assert skl_centroid(statistics) == pytest.approx(q, rel=1e-12)
    assert multiplier == pytest.approx(-entropy(q / q.sum(), g), rel=1e-10)


def test_the_centroid_of_one_document_is_the_document() -> None:
    p = np.array([0.1, 0.25, 0.65])
    statistics = class_statistics([[0.5, 2.0, 6.0]], 0.5)
    assert skl_centroid(statistics) == pytest.approx(p, rel=1e-14)
    assert mean_skl(statistics, p) == pytest.approx(0, abs=1e-15)


def test_the_centroid_of_mirrored_documents_is_their_middle() -> None:
    """p and its mirror image: by symmetry and convexity the centroid is its own mirror image."""
    assert skl_centroid(class_statistics([[9, 1], [1, 9]], 1e-300)) == pytest.approx([0.5, 0.5], rel=1e-14)
    q = skl_centroid(class_statistics([[6, 3, 1], [1, 3, 6]], 1e-300))
    assert q[0] == pytest.approx(q[2], rel=1e-14)
    # Words whose probability is the same in all documents still move: the others' normalization moves them.
    assert q[1] > 0.3


def test_words_are_interchangeable() -> None:
    counts = draw_documents(8, 50)
    order = np.random.default_rng([1, 50]).permutation(50)
    q = skl_centroid(class_statistics(counts, 0.02))
    assert skl_centroid(class_statistics(counts[:, order], 0.02)) == pytest.approx(q[order], rel=1e-11)


def test_documents_repeated_change_nothing() -> None:
    counts = draw_documents(8, 50)
    once, thrice = (class_statistics(sp.vstack([counts] * times), 0.02) for times in (1, 3))
    assert thrice.n_documents == 24
    assert skl_centroid(thrice) == pytest.approx(skl_centroid(once), rel=1e-11)


@pytest.mark.parametrize("smoothing", SMOOTHING)
def test_up_to_a_factor_the_centroid_lies_between_the_two_means(smoothing: float) -> None:
    """With κ = F_i/N ≥ 0, u = a/q solves u + log u = 1 - κ + log(a/g) and a ≥ g: so g ≤ q ≤ a e^κ."""
    statistics = class_statistics(draw_documents(20, 60), smoothing)
    log_q = np.log(skl_centroid(statistics))
    kappa = mean_skl_gradient(statistics, np.exp(log_q)).mean()
    assert kappa >= 0
    assert (log_q >= statistics.mean_log - 1e-11).all()
    assert (log_q <= np.log(statistics.mean) + kappa + 1e-11).all()


def test_it_is_closer_to_the_documents_than_their_means_are() -> None:
    counts = draw_documents(15, 40)
    smoothed = counts.toarray() + 0.03
    p = smoothed / smoothed.sum(axis=1, keepdims=True)
    statistics = class_statistics(counts, 0.03)
    g = np.exp(statistics.mean_log)
    best = symmetric_kl(p, skl_centroid(statistics)).sum()
    for other in (statistics.mean, g / g.sum(), 0.5 * (statistics.mean + g / g.sum())):
        assert best < symmetric_kl(p, other).sum()
