"""Information gain is the mutual information of two yes-or-no questions; rankings are total orders with prefixes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import mutual_info_score

from benchmark.representation.selection import (
    GAIN_AGGREGATES,
    information_gain,
    rank_terms,
)


def collection(seed, n=80, n_terms=25, n_classes=4):
    """Sparse counts whose rates differ by class, and labels that use every class."""
    rng = np.random.default_rng([41, seed])
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, size=n - n_classes)])
    rates = rng.gamma(0.4, 1.0, size=(n_classes, n_terms))
    counts = rng.poisson(rates[labels])
    counts[:, 0], counts[:, 1], counts[:, 2] = 0, 1, labels == 1
    return counts, labels


def entropy(share):
    return -sum(p * np.log(p) for p in (share, 1 - share) if p > 0)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_mutual_information_of_the_contingency_table(seed):
    counts, labels = collection(seed)
    gains = information_gain(sp.csr_array(counts), labels)
    assert gains.shape == (4, 25)
    expected = [[mutual_info_score(labels == c, column > 0) for column in counts.T] for c in range(4)]
    # scikit-learn subtracts logarithms of numbers up to n² = 6400: 4 cells, each rounded at the size of ln n².
    error = 4 * np.log(6400) * np.finfo(float).eps
    np.testing.assert_allclose(gains, expected, rtol=1e-14, atol=error)


def test_it_is_the_sum_of_equation_14_written_out():
    counts, labels = collection(7)
    for c, row in enumerate(information_gain(counts, labels)):
        for t, gain in enumerate(row):
            total = 0.0
            for of_class in (labels == c, labels != c):
                for with_term in (counts[:, t] > 0, counts[:, t] == 0):
                    joint = np.mean(of_class & with_term)
                    if joint:
                        total += joint * np.log(joint / (with_term.mean() * of_class.mean()))
            assert gain == pytest.approx(total, abs=1e-14)


@settings(max_examples=80)
@given(arrays(np.int64, (12, 6), elements=st.integers(0, 2)), st.permutations([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2]))
def test_it_lies_between_zero_and_the_entropy_of_the_class_and_of_the_term(counts, labels):
    labels = np.array(labels)
    gains = information_gain(counts, labels)
    assert (gains >= 0).all()
    for c, row in enumerate(gains):
        assert (row <= entropy(np.mean(labels == c)) + 1e-14).all()
        assert (row <= [entropy(np.mean(column > 0)) + 1e-14 for column in counts.T]).all()


def test_a_term_that_is_everywhere_or_nowhere_tells_nothing_and_one_that_is_the_class_tells_all():
    counts, labels = collection(1)
    gains = information_gain(counts, labels)
    np.testing.assert_array_equal(gains[:, :2], 0)
    assert gains[1, 2] == pytest.approx(entropy(np.mean(labels == 1)), rel=1e-14)


def test_counts_tell_no_more_than_presence_however_they_are_stored():
    counts, labels = collection(2)
    expected = information_gain(counts, labels)
    np.testing.assert_array_equal(information_gain(counts > 0, labels), expected)
    rows, columns = np.nonzero(np.ones_like(counts))
    stored = sp.csr_array((counts.ravel(), (rows, columns)), shape=counts.shape)  # zeros and all
    np.testing.assert_array_equal(information_gain(stored, labels), expected)
    halves = sp.csr_array(sp.vstack([sp.csr_array(counts)] * 2))
    twice = sp.csr_array((np.r_[counts, counts].ravel(), (np.tile(rows, 2), np.tile(columns, 2))), shape=counts.shape)
    np.testing.assert_array_equal(information_gain(twice, labels), expected)  # each coordinate stored twice
    np.testing.assert_allclose(information_gain(halves, np.tile(labels, 2)), expected, rtol=1e-12, atol=1e-15)


def test_aggregates_are_the_sum_the_average_by_prior_and_the_maximum():
    gains, priors = np.array([[1.0, 4.0], [3.0, 0.0]]), np.array([0.25, 0.75])
    found = {how: GAIN_AGGREGATES[how](gains, priors).tolist() for how in GAIN_AGGREGATES}
    assert found == {"sum": [4.0, 4.0], "average": [2.5, 1.0], "maximum": [3.0, 4.0]}


@settings(max_examples=60)
@given(arrays(np.float64, (3, 9), elements=st.sampled_from([0.0, 0.1, 0.25, 0.7])))
def test_a_ranking_falls_and_breaks_ties_by_index(gains):
    for row, ranking in zip(gains, rank_terms(gains), strict=True):
        assert ranking.tolist() == sorted(range(9), key=lambda term: (-row[term], term))
        np.testing.assert_array_equal(rank_terms(row), ranking)


def test_rounding_breaks_no_tie():
    """A term and its opposite tell the same; the sums of their four cells differ in the last bits."""
    counts, labels = collection(5)
    both = np.hstack([counts == 0, counts > 0])
    rankings = rank_terms(information_gain(both, labels))
    place = np.argsort(rankings, axis=1)
    assert (place[:, :25] < place[:, 25:]).all()


def test_memberships_are_what_binary_labels_say_class_by_class():
    rng = np.random.default_rng(7)
    counts, members = rng.poisson(0.5, size=(40, 12)), rng.random((40, 4)) < 0.3
    members[:, 3] = False
    gains = information_gain(counts, members)
    for column in range(3):
        expected = information_gain(counts, members[:, column].astype(int))
        np.testing.assert_allclose(gains[column], expected[1], rtol=0, atol=1e-14)
    np.testing.assert_array_equal(gains[3], 0.0)
    np.testing.assert_array_equal(information_gain(counts, members, list("abcd")), gains)
