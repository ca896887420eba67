"""Divergences and the statistics of a class against their definitions, document by document and word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import entropy

from benchmark.classifiers.divergence_bayes import (
    average_skl_to_others,
    class_statistics,
    mean_skl,
    mean_skl_gradient,
    symmetric_kl,
)
from tests.classifiers.centroids.drawn import draw_documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMOOTHING = [1e-12, 3e-5, 0.3, 20.0]


def distributions(counts: sp.csr_array, smoothing: float) -> NDArray[np.float64]:
    smoothed = counts.toarray() + smoothing
    return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("smoothing", SMOOTHING)
def test_statistics_of_sparse_counts_are_those_of_the_distributions(smoothing: float) -> None:
    counts = draw_documents(13, 60)
    assert (counts.sum(axis=0) == 0).any()
    p = distributions(counts, smoothing)
    for form in (counts, counts.toarray(), counts.tocsc(), sp.csr_matrix(counts)):
        statistics = class_statistics(form, smoothing)
        assert statistics.n_documents == 13
        assert statistics.mean == pytest.approx(p.mean(axis=0), rel=1e-12)
        assert statistics.mean_log == pytest.approx(np.log(p).mean(axis=0), rel=1e-12)
        assert statistics.mean_negentropy == pytest.approx((p * np.log(p)).sum(axis=1).mean(), rel=1e-12)


def test_a_document_without_words_is_smoothed_to_the_uniform_distribution() -> None:
    statistics = class_statistics(np.zeros((1, 4)), 0.01)
    assert statistics.mean == pytest.approx(np.full(4, 0.25))
    assert statistics.mean_negentropy == pytest.approx(-np.log(4))


def test_a_stored_zero_is_no_count() -> None:
    counts = draw_documents(5, 20)
    stored = sp.csr_array(counts.toarray() + 1.0)
    stored.data -= 1.0
    plain, other = class_statistics(counts, 0.1), class_statistics(stored, 0.1)
    assert other.mean_log == pytest.approx(plain.mean_log, rel=1e-13)
    assert other.mean_negentropy == pytest.approx(plain.mean_negentropy, rel=1e-13)


@pytest.mark.parametrize("smoothing", SMOOTHING)
def test_energy_is_the_mean_over_documents(smoothing: float) -> None:
    counts = draw_documents(11, 30)
    p, statistics = distributions(counts, smoothing), class_statistics(counts, smoothing)
    rng = np.random.default_rng([1, 30])
    for q in (*rng.dirichlet(np.ones(30), size=3), statistics.mean, p[0]):
        assert mean_skl(statistics, q) == pytest.approx(symmetric_kl(p, q).mean(), rel=1e-11)


def test_gradient_is_that_of_the_energy() -> None:
    """Central differences along the axes, and between pairs of words, as mass flows on the simplex."""
    statistics = class_statistics(draw_documents(6, 9), 0.05)
    q = np.random.default_rng([2, 9]).dirichlet(np.full(9, 3.0))
    gradient = mean_skl_gradient(statistics, q)
    h = 1e-6 * q.min()
    axes = h * np.eye(9)
    along = [(mean_skl(statistics, q + e) - mean_skl(statistics, q - e)) / (2 * h) for e in axes]
    # An energy of size 1 has an error of about eps, divided here by 2h.
    error = 50 * np.finfo(float).eps / h
    assert gradient == pytest.approx(along, abs=error)
    for i, j in ((0, 1), (3, 7), (8, 2)):
        e = axes[i] - axes[j]
        slope = (mean_skl(statistics, q + e) - mean_skl(statistics, q - e)) / (2 * h)
        assert gradient[i] - gradient[j] == pytest.approx(slope, abs=error)


def test_gradient_has_the_signs_of_the_paper() -> None:
    counts = draw_documents(7, 12)
    p, statistics = distributions(counts, 0.2), class_statistics(counts, 0.2)
    q = np.random.default_rng([3, 12]).dirichlet(np.ones(12))
    of_the_paper = (-p / q + np.log(q) + 1 - np.log(p)).sum(axis=0)
    assert 7 * mean_skl_gradient(statistics, q) == pytest.approx(of_the_paper, rel=1e-12)


def test_divergences_are_those_of_scipy() -> None:
    rng = np.random.default_rng([4, 15])
    p, q = rng.dirichlet(np.ones(15), size=6), rng.dirichlet(np.ones(15), size=6)
    assert symmetric_kl(p, q) == pytest.approx(entropy(p, q, axis=1) + entropy(q, p, axis=1), rel=1e-12)
    assert symmetric_kl(p, q) == pytest.approx(((p - q) * np.log(p / q)).sum(axis=1), rel=1e-12)


def test_symmetric_divergence_is_symmetric_and_zero_only_between_equals() -> None:
    rng = np.random.default_rng([5, 8])
    p, q = rng.dirichlet(np.ones(8), size=(2, 50))
    assert (symmetric_kl(p, q) == symmetric_kl(q, p)).all()
    assert (symmetric_kl(p, q) > 0).all()
    assert (symmetric_kl(p, p) == 0).all()


def test_the_papers_two_words() -> None:
    """Figure 1: p = (x, 1-x) against (0.01, 0.99)."""
    x = np.array([0.01, 0.5, 0.9])
    expected = (x - 0.01) * np.log(x / 0.01) + (0.01 - x) * np.log((1 - x) / 0.99)
    assert symmetric_kl(np.stack([x, 1 - x], axis=1), np.array([0.01, 0.99])) == pytest.approx(expected, rel=1e-12)


def test_average_to_others_leaves_out_the_centroid_itself() -> None:
    c = np.random.default_rng([6, 5]).dirichlet(np.ones(5), size=4)
    expected = [np.mean([symmetric_kl(c[i], c[j]) for j in range(4) if j != i]) for i in range(4)]
    assert average_skl_to_others(c) == pytest.approx(expected, rel=1e-13)
    order = [2, 0, 3, 1]
    assert average_skl_to_others(c[order]) == pytest.approx(average_skl_to_others(c)[order], rel=1e-13)
