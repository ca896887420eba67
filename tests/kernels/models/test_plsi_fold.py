"""Folding in ends at the optimum, and says how near, for each document by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from benchmark.kernels.plsi import PLSI, FittedPLSI, checked_counts, fold_in
from tests.kernels.models.drawn import draw_counts, objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def test_folding_in_ends_at_the_optimum(counts: NDArray[np.int64]) -> None:
    """No point of the simplex does better than the gap allows: not a solver's, not a random one."""
    model = PLSI(n_classes=4).fit(counts)
    phi = model.word_given_class
    new = draw_counts(12, seed=2)
    shares, gap = fold_in(checked_counts(new), phi, model.classes, 1e-6, 100_000)
    assert gap.max() <= 1e-6
    rng = np.random.default_rng(5)
    for d in np.flatnonzero(new.sum(axis=1)):
        row = new[d : d + 1].astype(float)
        row[:, ~phi.any(axis=1)] = 0
        reached = objective(row, shares[d : d + 1], phi)

        def loss(x: Array, row: Array = row) -> float:
            theta = np.exp(x - x.max())
            return -objective(row, theta[None] / theta.sum(), phi)

        rivals = [-minimize(loss, np.zeros(4), method="BFGS").fun]
        rivals += [objective(row, theta[None], phi) for theta in rng.dirichlet(np.full(4, 0.5), size=50)]
        assert reached >= max(rivals) - 1e-6
        # BFGS comes close: the bound isn't met by being loose.
        assert reached <= rivals[0] + 1e-4


@settings(max_examples=60)
@given(st.integers(1, 19), st.integers(1, 19), st.integers(0, 6))
def test_steps_are_those_of_em_whatever_the_number_of_classes_and_words(classes: int, words: int, steps: int) -> None:
    """P(z|d,w) ∝ P(z|d) P(w|z), and P(z|d) its mean over a document's words; sums go over eight rows at a time."""
    rng = np.random.default_rng([classes, words])
    phi = np.ascontiguousarray(rng.dirichlet(np.ones(words), size=classes).T)
    counts = rng.integers(1, 6, size=(4, words)) * (rng.random((4, words)) < 0.7)
    expected = np.full((4, classes), 1 / classes)
    for _ in range(steps):
        joint = expected[:, None, :] * phi
        posterior = joint / np.maximum(joint.sum(axis=2, keepdims=True), 1e-300)  # of a document without words
        expected = (counts[:, :, None] * posterior).sum(axis=1) / np.maximum(counts.sum(axis=1), 1)[:, None]
    otherwise = rng.dirichlet(np.ones(classes))
    expected[counts.sum(axis=1) == 0] = otherwise
    theta, _ = fold_in(checked_counts(counts), phi, otherwise, 0.0, steps)
    np.testing.assert_allclose(theta, expected, rtol=1e-10, atol=1e-14)


def test_the_gap_is_that_of_the_conditions_of_the_optimum(fitted: FittedPLSI, counts: NDArray[np.int64]) -> None:
    """max_z Σ_w P̂(w|d) P(w|z)/P(w|d) - 1."""
    theta, gap = fold_in(checked_counts(counts), fitted.word_given_class, fitted.classes, 1e-4, 10_000)
    for d in np.flatnonzero(counts.sum(axis=1)):
        occurs = counts[d] > 0
        phi, frequency = fitted.word_given_class[occurs], counts[d, occurs] / counts[d].sum()
        slope = (frequency / (phi @ theta[d])) @ phi
        assert gap[d] == pytest.approx(slope.max() - 1, abs=1e-12)
        assert slope.max() - 1 <= 1e-4


def test_classes_that_a_document_lacks_are_exactly_zero(fitted: FittedPLSI, counts: NDArray[np.int64]) -> None:
    """They are those that a far more exact folding in leaves below 1e-12, and hardly any of them is missed."""
    matrix = sp.csr_array(counts.astype(float))
    exact = fold_in(matrix, fitted.word_given_class, fitted.classes, 1e-11, 10_000_000)[0]
    lacking = exact < 1e-12
    dropped = fitted.class_given_document == 0
    assert lacking.mean() > 0.1
    assert (exact[dropped] < 1e-3).all()
    assert (dropped & lacking).sum() > 0.8 * lacking.sum()


def test_a_tight_fold_needs_the_only_class_that_knows_a_word() -> None:
    """Its share is far below the tolerance, but without it the word would be impossible."""
    phi = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    counts = sp.csr_array(np.array([[500_000.0, 500_000.0, 1.0]]))
    theta, gap = fold_in(counts, phi, np.ones(3) / 3, 1e-4, 1000)
    assert gap[0] <= 1e-4
    assert theta[0, 2] == pytest.approx(1 / 1_000_001, rel=1e-2)


def test_documents_are_folded_in_each_by_itself(fitted: FittedPLSI) -> None:
    new = draw_counts(15, seed=3)
    whole = fitted.fold(new)
    np.testing.assert_array_equal(fitted.fold(new[[7, 2, 5]]), whole[[7, 2, 5]])
    for d in range(len(new)):
        np.testing.assert_array_equal(fitted.fold(new[d : d + 1]), whole[d : d + 1])
