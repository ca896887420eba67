"""PLSI: what it learns are probabilities, and nothing but the words of a document decides its classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
import pytest

from benchmark.kernels.plsi import (
    FOLD_TOLERANCE,
    PLSI,
    FittedPLSI,
    Mixtures,
    checked_counts,
    expectation_maximization,
    random_start,
)
from tests.kernels.models.drawn import draw_counts, objective

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

V = 30  # words of the counts that are drawn


def start_of(rows: sp.csr_array) -> Mixtures:
    """Return the random start of three classes at seed 0."""
    return random_start(rows, 3, np.random.default_rng([0, 3, 0]))


def test_what_is_learnt_are_probabilities(counts: NDArray[np.int64]) -> None:
    model = PLSI(n_classes=3).fit(counts)
    np.testing.assert_allclose(model.word_given_class.sum(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(model.class_given_document.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(
        model.classes, counts.sum(axis=1) / counts.sum() @ model.class_given_document, rtol=1e-12
    )
    assert min(model.word_given_class.min(), model.class_given_document.min()) >= 0


def test_folding_the_training_documents_in_costs_no_likelihood(fitted: FittedPLSI, counts: NDArray[np.int64]) -> None:
    """EM's own P(z|d) is no better than the optimum for its P(w|z), up to the gap."""
    rows = checked_counts(counts)
    _, trace = expectation_maximization(rows, start_of(rows), 1e-4, 2000)
    reached = objective(counts, fitted.class_given_document, fitted.word_given_class)
    assert reached >= trace[-1] - FOLD_TOLERANCE


def test_one_class_is_the_words_of_the_collection(counts: NDArray[np.int64]) -> None:
    model = PLSI(n_classes=1).fit(counts)
    frequency = counts.sum(axis=0) / counts.sum()
    np.testing.assert_allclose(model.word_given_class[:, 0], frequency, rtol=1e-12)
    np.testing.assert_array_equal(model.class_given_document, 1)


def test_a_class_for_each_document_can_fit_the_frequencies() -> None:
    """No model is likelier than P(w|d) = n(d,w)/n(d); as many classes as documents reach it."""
    counts = draw_counts(6, seed=9)[:5]
    frequency = counts / counts.sum(axis=1, keepdims=True)
    bound = (counts[counts > 0] * np.log(frequency[counts > 0])).sum() / counts.sum()
    model = PLSI(n_classes=12, tolerance=1e-9, max_iterations=20_000).fit(counts)
    assert bound - 1e-3 < objective(counts, model.class_given_document, model.word_given_class) <= bound + 1e-12


def test_training_documents_and_new_ones_are_treated_alike(fitted: FittedPLSI, counts: NDArray[np.int64]) -> None:
    np.testing.assert_array_equal(fitted.fold(counts), fitted.class_given_document)


def test_the_number_of_threads_changes_no_bit(counts: NDArray[np.int64], every_numba_thread: int) -> None:
    models = []
    for number in range(1, every_numba_thread + 1):
        numba.set_num_threads(number)
        models.append(PLSI(n_classes=5, max_iterations=30).fit(counts))
    for model in models[1:]:
        np.testing.assert_array_equal(model.class_given_document, models[0].class_given_document)
        np.testing.assert_array_equal(model.word_given_class, models[0].word_given_class)


def test_documents_in_another_order_have_the_same_classes(counts: NDArray[np.int64]) -> None:
    order = np.random.default_rng(6).permutation(len(counts))
    model, other = (PLSI(n_classes=3, max_iterations=100).fit(rows) for rows in (counts, counts[order]))
    np.testing.assert_allclose(other.word_given_class, model.word_given_class, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(other.class_given_document, model.class_given_document[order], rtol=1e-6, atol=1e-9)


def test_a_document_without_words_has_the_classes_of_the_collection(fitted: FittedPLSI) -> None:
    np.testing.assert_array_equal(fitted.class_given_document[5], fitted.classes)
    unknown = np.zeros((2, V))
    unknown[1, -1] = 3  # occurs in no training document
    np.testing.assert_array_equal(fitted.fold(unknown), np.tile(fitted.classes, (2, 1)))


def test_unknown_words_are_ignored(fitted: FittedPLSI) -> None:
    new = draw_counts(10, seed=4)
    more = new.copy()
    more[:, -1] = np.arange(10)
    np.testing.assert_array_equal(fitted.fold(more), fitted.fold(new))
    assert not fitted.word_given_class[-1].any()


def test_more_classes_than_words_give_no_infinities() -> None:
    counts = np.array([[1000, 1, 0], [0, 1, 0], [0, 0, 7]])
    model = PLSI(n_classes=20, tolerance=0.0, max_iterations=3000).fit(counts)
    for learnt in (model.word_given_class, model.class_given_document, model.classes):
        assert np.isfinite(learnt).all()
    np.testing.assert_allclose(model.word_given_class.sum(axis=0), 1)


def test_counts_beyond_floating_point_are_an_error() -> None:
    with pytest.raises(FloatingPointError, match="too different"):
        PLSI(n_classes=2, tolerance=0.0).fit(np.array([[1.0, 1e-250], [1.0, 0.0], [1.0, 1e-280]]))


def test_bad_counts_fail(fitted: FittedPLSI, counts: NDArray[np.int64]) -> None:
    with pytest.raises(ValueError, match="negative"):
        fitted.fold(-counts)
    with pytest.raises(ValueError, match="NaN"):
        PLSI().fit(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="no document has a word"):
        PLSI().fit(np.zeros((3, 4)))


def test_em_stops_after_the_first_step_that_gains_at_most_the_tolerance(counts: NDArray[np.int64]) -> None:
    rows = checked_counts(counts)
    _, whole = expectation_maximization(rows, start_of(rows), 0.0, 40)
    gains = np.diff(whole)
    for tolerance in (gains[3], np.nextafter(gains[3], 0), gains.max(), 1.0):
        _, trace = expectation_maximization(rows, start_of(rows), tolerance, 2000)
        assert len(trace) == int(np.flatnonzero(gains <= tolerance)[0]) + 2
