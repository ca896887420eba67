"""The Fisher kernel of PLSI against its double sum, and against derivatives of the log-likelihood."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from benchmark.kernels import plsi
from benchmark.kernels.fisher import PLSIFisher, fisher_scores
from benchmark.kernels.plsi import PLSI, FittedPLSI

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

V, TOPICS = 25, 4


def documents(n: int, seed: int) -> Array:
    """Counts of documents with few topics; row 3 is empty, the last word occurs nowhere."""
    rng = np.random.default_rng([2000, seed])
    topics = np.random.default_rng(1).dirichlet(np.full(V, 0.2), size=TOPICS)
    counts = np.array(
        [rng.multinomial(rng.integers(4, 40), rng.dirichlet(np.full(TOPICS, 0.3)) @ topics) for _ in range(n)]
    )
    counts[3] = 0
    counts[:, -1] = 0
    return counts.astype(float)


@pytest.fixture(scope="module")
def counts() -> Array:
    return documents(30, seed=1)


@pytest.fixture(scope="module")
def kernel(counts: Array) -> PLSIFisher:
    return PLSIFisher(n_classes=(2, 3, 5)).fit(counts)


def frequencies(model: FittedPLSI, counts: Array) -> Array:
    """P̂(w|d) over the words that the model knows; zeros for a document without."""
    known = counts * model.word_given_class.any(axis=1)
    return np.asarray(known / np.maximum(known.sum(axis=1, keepdims=True), 1))


def double_sum(model: FittedPLSI, left: Array, right: Array) -> Array:
    """The kernel as appendix A prints it, one term after another; terms with P(w_j|z_k) = 0 are left out."""
    phi, prior = model.word_given_class, model.classes
    gram = np.zeros((len(left), len(right)))
    sides = [(model.fold(counts), frequencies(model, counts)) for counts in (left, right)]
    (theta, p), (theta2, p2) = sides
    for d in range(len(left)):
        for e in range(len(right)):
            gram[d, e] = (theta[d] * theta2[e] / prior).sum()
            for j in np.flatnonzero(p[d] * p2[e]):
                q = theta[d] * phi[j] / (theta[d] * phi[j]).sum()
                q2 = theta2[e] * phi[j] / (theta2[e] * phi[j]).sum()
                some = phi[j] > 0
                gram[d, e] += p[d, j] * p2[e, j] * (q[some] * q2[some] / phi[j, some]).sum()
    return gram


def test_values_are_the_double_sum(kernel: PLSIFisher, counts: Array) -> None:
    new = documents(11, seed=2)
    new[4, -1] = 2  # unknown
    for rows, gram in ((counts, kernel.fit_transform(counts)), (new, kernel.transform(new))):
        expected = sum(double_sum(model, rows, counts) for model in kernel.models_)
        np.testing.assert_allclose(gram, expected, rtol=1e-10)


@pytest.mark.parametrize("k", [1, 3])
def test_coordinates_are_derivatives_of_the_log_likelihood(
    counts: Array, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By ρ_jk = 2 P(w_j|z_k)^½ everywhere; by ρ_k = 2 P(z_k)^½ at a fixed point of EM, with P(d|z) held.

    The joint log-likelihood Σ_j P̂(w_j|d) log Σ_k P(w_j|z_k) P(z_k) P(d|z_k) is meant: a model is only a point of the
    positive orthant, as if its probabilities needn't sum to 1.
    """
    monkeypatch.setattr(plsi, "FOLD_TOLERANCE", 1e-9)
    monkeypatch.setattr(plsi, "FOLD_ITERATIONS", 1_000_000)
    model = PLSI(n_classes=k).fit(counts)
    phi, prior, theta = model.word_given_class, model.classes, model.class_given_document
    # P(d|z) but for P(d), which no parameter changes
    given_class = theta / prior
    p = frequencies(model, counts)
    scores = fisher_scores(sp.csr_array(counts), (theta, phi, prior)).toarray().reshape(len(counts), k, V + 1)

    def likelihood(word_root: Array, class_root: Array) -> Array:
        inside = (given_class * (class_root / 2) ** 2) @ ((word_root / 2) ** 2).T
        return np.asarray((p * np.log(np.where(p > 0, inside, 1))).sum(axis=1))

    def derivative(which: int, index: tuple[int, ...]) -> Array:
        def at(h: float) -> Array:
            roots = [2 * np.sqrt(phi), 2 * np.sqrt(prior)]
            h *= roots[which][index]
            ends = []
            for sign in (1, -1):
                moved = [root.copy() for root in roots]
                moved[which][index] += sign * h
                ends.append(likelihood(moved[0], moved[1]))
            return (ends[0] - ends[1]) / (2 * h)

        return (4 * at(1e-3) - at(2e-3)) / 3

    words = np.flatnonzero(counts.any(axis=0))
    for z in range(k):
        for j in words[phi[words, z] > 1e-8]:
            np.testing.assert_allclose(scores[:, z, j], derivative(0, (j, z)), rtol=1e-7, atol=1e-8)
        full = counts.any(axis=1)
        np.testing.assert_allclose(scores[full, z, V], derivative(1, (z,))[full], rtol=1e-6, atol=1e-6)
        # Without words the likelihood doesn't depend on anything, but P(z|d) = P(z).
        np.testing.assert_allclose(scores[~full, z, V], np.sqrt(prior[z]), rtol=1e-12)


def test_a_word_that_a_class_lacks_adds_nothing() -> None:
    """P(z|d,w)²/P(w|z) = P(z|d)² P(w|z)/P(w|d)² falls to 0 with P(w|z), and is 0 there; no 0/0."""
    counts, theta, classes = sp.csr_array(np.array([[2.0, 1.0]])), np.array([[0.5, 0.5]]), np.array([0.5, 0.5])

    def scores(tiny: float) -> Array:
        phi = np.array([[tiny, 0.5], [1 - tiny, 0.5]])
        return np.asarray(fisher_scores(counts, (theta, phi, classes)).toarray())

    limit = scores(0.0)
    assert np.isfinite(limit).all()
    assert limit[0, 0] == 0
    distances = [np.abs(scores(tiny) - limit).max() for tiny in (1e-4, 1e-8, 1e-12, 1e-30)]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-14


def test_a_class_of_no_document_adds_nothing() -> None:
    counts, phi = sp.csr_array(np.eye(2)), np.array([[1.0, 0.3], [0.0, 0.7]])
    scores = fisher_scores(counts[:1], (np.array([[0.4, 0.6]]), phi, np.array([1.0, 0.0]))).toarray()
    assert np.isfinite(scores).all()
    assert scores[0, 5] == 0
    assert scores[0, 2] == pytest.approx(0.4)


def test_hard_models_have_finite_kernels() -> None:
    """EM run far: many probabilities are 0, some words belong to one document."""
    counts = np.array([[1000, 1, 0, 0], [0, 1, 0, 0], [0, 0, 7, 0], [1, 0, 0, 1]])
    kernel = PLSIFisher(n_classes=(1, 4, 20), tolerance=0.0, max_iterations=3000)
    assert np.isfinite(kernel.fit_transform(counts)).all()
    assert np.isfinite(kernel.transform([[0, 5, 5, 0], [1, 1, 1, 1], [0, 0, 0, 0]])).all()


def test_the_gram_matrix_is_symmetric_and_positive(kernel: PLSIFisher, counts: Array) -> None:
    gram = kernel.transform(counts)
    np.testing.assert_array_equal(gram, gram.T)
    eigenvalues = np.linalg.eigvalsh(gram)
    assert eigenvalues[0] >= -len(gram) * np.finfo(float).eps * eigenvalues[-1]
    assert (gram >= 0).all()


def test_training_documents_have_the_same_values_as_new_ones(kernel: PLSIFisher, counts: Array) -> None:
    np.testing.assert_array_equal(clone(kernel).fit_transform(counts), kernel.transform(counts))


def test_documents_in_another_order_have_the_same_values(counts: Array) -> None:
    order = np.random.default_rng(4).permutation(len(counts))
    kernel = PLSIFisher(n_classes=(2, 3), max_iterations=100)
    gram = kernel.fit_transform(counts)
    np.testing.assert_allclose(kernel.fit_transform(counts[order]), gram[np.ix_(order, order)], rtol=1e-6)


def test_kernels_of_several_numbers_of_classes_are_added(kernel: PLSIFisher, counts: Array) -> None:
    new = documents(10, seed=5)
    alone = [PLSIFisher(n_classes=(k,)).fit(counts).transform(new) for k in kernel.n_classes]
    np.testing.assert_allclose(kernel.transform(new), sum(alone), rtol=1e-12)


def test_a_document_without_words_has_one_value_for_each_model(kernel: PLSIFisher, counts: Array) -> None:
    """Σ_k P(z_k) P(z_k|d) / P(z_k) = 1."""
    unknown = np.zeros((2, V))
    unknown[1, -1] = 4
    np.testing.assert_allclose(kernel.transform(unknown), len(kernel.n_classes), rtol=1e-12)
    np.testing.assert_allclose(kernel.transform(counts)[3], len(kernel.n_classes), rtol=1e-12)


def test_bad_input_fails(kernel: PLSIFisher, counts: Array) -> None:
    with pytest.raises(ValueError, match="n_classes must have at least one number"):
        PLSIFisher(n_classes=()).fit(counts)
    with pytest.raises(ValueError, match="n_classes must be a whole number of at least 1, not 0"):
        PLSIFisher(n_classes=(10, 0)).check()
    with pytest.raises(ValueError, match="tolerance"):
        PLSIFisher(tolerance=-1.0).check()
    with pytest.raises(ValueError, match="Negative values"):
        PLSIFisher().fit(-counts)
    with pytest.raises(ValueError, match="X has 24 features, but PLSIFisher is expecting 25"):
        kernel.transform(counts[:, 1:])
    with pytest.raises(NotFittedError):
        clone(kernel).transform(counts)
    phi = np.lib.stride_tricks.as_strided(np.zeros(1), (10**9, 3), (0, 0))
    with pytest.raises(ValueError, match="too many coordinates"):
        fisher_scores(sp.csr_array((1, 10**9)), (np.ones((1, 3)), phi, np.ones(3)))
