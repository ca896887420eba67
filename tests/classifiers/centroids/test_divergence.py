"""Divergences and the statistics of a class against their definitions, document by document and word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import entropy

from benchmark.classifiers.centroids.divergence import (
    ClassStatistics,
    average_skl_to_others,
    check_smoothing,
    class_statistics,
    kullback_leibler,
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
    with pytest.raises(ValueError, match="smoothing must be"):
        class_statistics(stored, 0.0)


def test_no_smoothing_is_needed_where_every_word_occurs() -> None:
    counts = np.array([[1.0, 2.0, 5.0], [4.0, 4.0, 1.0]])
    p = counts / counts.sum(axis=1, keepdims=True)
    statistics = class_statistics(counts, 0.0)
    assert statistics.mean == pytest.approx(p.mean(axis=0))
    assert statistics.mean_log == pytest.approx(np.log(p).mean(axis=0))


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
    p[0, :3] = 0
    p[0] /= p[0].sum()
    assert kullback_leibler(p, q) == pytest.approx(entropy(p, q, axis=1), rel=1e-12)
    p, q = p[1:], q[1:]
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
    assert symmetric_kl(np.stack([x, 1 - x], axis=1), [0.01, 0.99]) == pytest.approx(expected, rel=1e-12)


def test_average_to_others_leaves_out_the_centroid_itself() -> None:
    c = np.random.default_rng([6, 5]).dirichlet(np.ones(5), size=4)
    expected = [np.mean([symmetric_kl(c[i], c[j]) for j in range(4) if j != i]) for i in range(4)]
    assert average_skl_to_others(c) == pytest.approx(expected, rel=1e-13)
    order = [2, 0, 3, 1]
    assert average_skl_to_others(c[order]) == pytest.approx(average_skl_to_others(c)[order], rel=1e-13)
    with pytest.raises(ValueError, match="at least two"):
        average_skl_to_others(c[:1])
    with pytest.raises(ValueError, match="at least two"):
        average_skl_to_others(c[0])


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([0.5, 0.5], [1.0, 0.0], "infinite"),
        ([0.5, 0.6], [0.5, 0.5], "p must sum to 1, not 1.1"),
        ([0.5, 0.5], [0.5, 0.4], "q must sum to 1, not 0.9$"),
        ([[0.5, 0.5], [0.5, 0.75], [0.5, 0.6]], [0.5, 0.5], "p must sum to 1, not 1.25$"),
        ([0.5, 0.5], [[0.5, 0.5], [0.5, 0.3]], "q must sum to 1, not 0.8$"),
        ([0.5, 0.5 + 2e-9], [0.5, 0.5], "p must sum to 1, not 1$"),
        ([[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [1.0, 0.0]], "infinite"),
        ([1.5, -0.5], [0.5, 0.5], "p must hold probabilities"),
        ([0.5, 0.5], [np.nan, 0.5], "q must hold probabilities"),
        (1.0, [0.5, 0.5], "p must hold probabilities"),
    ],
)
def test_what_is_no_distribution_is_refused(p: Any, q: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kullback_leibler(p, q)
    with pytest.raises(ValueError, match=message):
        symmetric_kl(p, q)


@pytest.mark.parametrize("smoothing", [0.0, -1.0, np.nan, np.inf])
def test_smoothing_must_be_positive_where_a_count_is_zero(smoothing: float) -> None:
    with pytest.raises(ValueError, match="smoothing must be a positive finite number"):
        class_statistics([[1, 0]], smoothing)


@pytest.mark.parametrize(
    ("counts", "smoothing", "message"),
    [
        (np.empty((0, 3)), 1.0, "at least one document"),
        (np.empty((3, 0)), 1.0, "at least one document"),
        ([[1.0, -1.0]], 1.0, "aren't negative"),
        ([[1.0, np.inf]], 1.0, "finite"),
        ([[1e10, 0.0]], 1e-320, "rounded to"),
        ([[1e10, 0.0], [1.0, 0.0]], 1e-320, "a smoothing of 1e-320 is rounded to"),
        ([[1.0, 2.0], [1.0, 0.0]], 0.0, "smoothing must be a positive"),
    ],
)
def test_counts_that_give_no_distribution_are_refused(counts: Any, smoothing: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        class_statistics(counts, smoothing)


def test_statistics_that_no_documents_have_are_refused() -> None:
    half = np.array([0.5, 0.5])
    for mean, mean_log, negentropy, message in (
        (half, np.log(half[:1]), -0.7, "vectors of one length"),
        (np.array([1.0, 0.0]), np.log(half), -0.7, "positive"),
        (half, np.array([-0.7, -np.inf]), -0.7, "positive"),
        (half, np.log(half), np.nan, "positive"),
    ):
        with pytest.raises(ValueError, match=message):
            ClassStatistics(1, mean, mean_log, negentropy)


@pytest.mark.parametrize("q", [[0.5, 0.5], [1.0, 0.0, 0.0], [0.5, 0.5, np.nan], [0.5, 0.5, np.inf]])
def test_energy_refuses_what_it_is_infinite_for(q: list[float]) -> None:
    statistics = class_statistics([[1, 2, 3]], 0.1)
    with pytest.raises(ValueError, match="q must hold 3 positive numbers"):
        mean_skl(statistics, q)
    with pytest.raises(ValueError, match="q must hold 3 positive numbers"):
        mean_skl_gradient(statistics, q)


def test_sums_may_be_off_by_rounding() -> None:
    assert kullback_leibler([0.5, 0.5 + 9e-10], [0.5 - 9e-10, 0.5]) == pytest.approx(0, abs=1e-8)
    assert ClassStatistics(1, np.array([0.5, 0.5 + 9e-10]), np.log([0.5, 0.5]), -0.7).n_documents == 1
    with pytest.raises(ValueError, match="positive"):
        ClassStatistics(1, np.array([0.5, 0.5 + 2e-9]), np.log([0.5, 0.5]), -0.7)
    assert kullback_leibler([0.0, 1.0], [0.0, 1.0]) == 0


@pytest.mark.parametrize("allow_zero", [True, False])
@pytest.mark.parametrize("smoothing", [1e-300, 1.0, 1e300, 0.0, -0.0, -1.0, np.nan, np.inf])
def test_smoothing_is_positive_or_zero_where_that_is_allowed(smoothing: float, allow_zero: bool) -> None:
    if 0 < smoothing < np.inf or (allow_zero and smoothing == 0):
        check_smoothing(smoothing, allow_zero=allow_zero)
    else:
        with pytest.raises(ValueError, match=f"^smoothing must be a positive finite number, not {smoothing}"):
            check_smoothing(smoothing, allow_zero=allow_zero)
