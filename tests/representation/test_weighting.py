"""Weights, norms and powers of counts: by hand, and against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from benchmark.representation import inverse_document_frequency
from benchmark.representation.weighting import canonical_csr, power_transform, weight_terms
from benchmark.system.tags import NORMALIZATIONS
from tests.points import points_pipeline

EPS = np.finfo(np.float64).eps
Counts = NDArray[np.int64]

matrices = arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(0, 50))

COUNTS = sp.csr_array(np.array([[2, 0, 1, 0], [1, 3, 1, 0], [0, 0, 5, 0], [0, 1, 1, 0]]))


@settings(max_examples=50)
@given(matrices)
def test_idf_counts_documents_and_not_occurrences(counts: Counts) -> None:
    idf = inverse_document_frequency(sp.csr_array(counts))
    np.testing.assert_array_equal(idf, inverse_document_frequency(sp.csr_array((counts > 0) * 7)))
    for term, column in enumerate(counts.T):
        df = sum(count > 0 for count in column)
        assert idf[term] == (math.log(len(counts) / df) if df else 0.0)


def test_stored_zeros_are_no_documents_with_the_term() -> None:
    stored = sp.csr_array((np.array([1, 0, 4]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_array_equal(inverse_document_frequency(stored), [math.log(2), math.log(2)])


@settings(max_examples=50)
@given(matrices, st.sampled_from(["l1", "l2"]))
def test_normalization_is_scikit_learns(counts: Counts, normalization: str) -> None:
    ours = points_pipeline(normalization=normalization).fit_transform(counts)
    np.testing.assert_allclose(ours.toarray(), normalize(counts.astype(float), normalization), rtol=8 * EPS)


@settings(max_examples=50)
@given(matrices, st.sampled_from(NORMALIZATIONS))
def test_a_documents_length_does_not_matter_once_normalized(counts: Counts, normalization: str) -> None:
    """And without normalization it is a factor: exactly so for a power of two."""
    one, four = (points_pipeline(normalization=normalization).fit_transform(counts * factor) for factor in (1, 4))
    expected = 4 * one if normalization == "none" else one
    np.testing.assert_array_equal(four.toarray(), expected.toarray())


def test_idf_is_learnt_from_the_training_documents_alone() -> None:
    weighting = points_pipeline("tfidf").fit(COUNTS)
    new = np.array([[1, 1, 1, 9]])
    np.testing.assert_array_equal(weighting.transform(new).toarray(), [[math.log(2), math.log(2), 0, 0]])
    many = np.vstack([new] * 5)
    np.testing.assert_array_equal(weighting.transform(many).toarray()[:1], weighting.transform(new).toarray())
    assert points_pipeline("tf").fit(COUNTS)[0].factors_ is None


def test_the_form_of_the_counts_does_not_matter_and_is_left_as_it_is() -> None:
    expected = points_pipeline("tfidf", "l2").fit_transform(COUNTS.toarray()).toarray()
    entries = COUNTS.tocoo()
    backwards = np.lexsort((-entries.col, entries.row))
    ones = sp.csr_array(
        (np.ones(COUNTS.sum(), dtype=np.int64), np.repeat(COUNTS.indices, COUNTS.data), np.array([0, 3, 8, 13, 15])),
        shape=COUNTS.shape,
    )
    forms = {
        "csr": COUNTS,
        "matrix": sp.csr_matrix(COUNTS),
        "csc": COUNTS.tocsc(),
        "list": COUNTS.toarray().tolist(),
        "float32": COUNTS.astype(np.float32),
        "unsorted": sp.csr_array((entries.data[backwards], entries.col[backwards], COUNTS.indptr), shape=COUNTS.shape),
        "one entry an occurrence": ones,
    }
    for name, form in forms.items():
        before = form.data.copy() if sp.issparse(form) else None
        np.testing.assert_array_equal(
            points_pipeline("tfidf", "l2").fit_transform(form).toarray(), expected, err_msg=name
        )
        if before is not None:
            np.testing.assert_array_equal(form.data, before, err_msg=name)


def test_canonical_adds_up_and_sorts_a_copy() -> None:
    given_ = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    result = canonical_csr(given_)
    np.testing.assert_array_equal(result.indices, [0, 1])
    np.testing.assert_array_equal(result.data, [2.0, 5.0])
    np.testing.assert_array_equal(given_.indices, [1, 0, 1])
    np.testing.assert_array_equal(given_.data, [1.0, 2.0, 4.0])
    assert np.shares_memory(canonical_csr(result).data, result.data), "a matrix in order needs no copy"


@pytest.mark.parametrize("exponent", [0.3, 0.5, 2.0])
def test_embedding_raises_every_stored_entry(exponent: float) -> None:
    weights = weight_terms(COUNTS, None)
    embedded = power_transform(weights, exponent)
    # C's pow may be an eps off.
    expected = [[float(count) ** exponent for count in row] for row in COUNTS.toarray()]
    np.testing.assert_allclose(embedded.toarray(), expected, rtol=2 * EPS)
    np.testing.assert_array_equal(weights.toarray(), COUNTS.toarray())
