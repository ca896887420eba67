"""Weightings against their formulas, by hand and by other routes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.stats import entropy
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer

from benchmark.representation import NORMALIZATIONS, WEIGHTINGS, TermWeighting, normalize_blocks, row_norms
from benchmark.representation.weightings import (
    FROM_DOCUMENTS,
    FROM_LABELS,
    Aitchison,
    Bm25,
    InverseClassFrequency,
    InverseClassSpaceDensity,
    LearnedAitchison,
    LogEntropy,
    RelevanceFrequency,
    Weighting,
)
from benchmark.representation.weightings.learnt import ClassLikelihood

COUNTS = np.array([[2, 1, 0, 1], [1, 3, 0, 1], [0, 0, 4, 1], [0, 1, 2, 1]])
LABELS_OF = np.array([0, 0, 1, 2])


def drawn(seed: int, n: int = 12, size: int = 9) -> tuple[sp.csr_array, np.ndarray]:
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.poisson(0.8, (n, size))), np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])


@pytest.mark.parametrize("name", WEIGHTINGS)
@pytest.mark.parametrize("seed", range(3))
class TestEvery:
    def test_weights_are_positive_numbers_where_terms_are_and_nowhere_else(self, name: str, seed: int) -> None:
        counts, labels = drawn(seed)
        weights = WEIGHTINGS[name]().fit(counts[:8], labels[:8]).transform(counts)
        assert np.isfinite(weights.data).all()
        assert (weights.data > 0).all()
        assert (weights.toarray()[counts.toarray() == 0] == 0).all()

    def test_a_document_is_weighted_alike_alone_and_with_others(self, name: str, seed: int) -> None:
        counts, labels = drawn(seed)
        fitted = WEIGHTINGS[name]().fit(counts, labels)
        together = fitted.transform(counts).toarray()
        np.testing.assert_array_equal(fitted.transform(counts[[3]]).toarray(), together[[3]])

    def test_terms_of_no_training_document_weigh_nothing_once_anything_is_learned(self, name: str, seed: int) -> None:
        counts, labels = drawn(seed)
        unseen = sp.csr_array(sp.hstack([counts, sp.csr_array((counts.shape[0], 1))], format="csr"))
        fitted = WEIGHTINGS[name]().fit(unseen, labels)
        weights = fitted.transform(np.ones((1, unseen.shape[1]))).toarray()[0]
        assert (weights[-1] == 0) == bool(fitted.learns)

    def test_labels_decide_only_where_it_says_so(self, name: str, seed: int) -> None:
        counts, labels = drawn(seed)
        weighting = WEIGHTINGS[name]()
        if weighting.learns == FROM_LABELS:
            with pytest.raises(ValueError, match="needs the classes of 12 documents"):
                clone(weighting).fit(counts)
            members = labels[:, None] == np.arange(3)
            one, other = (clone(weighting).fit(counts, y).factors_ for y in (labels, members))
            np.testing.assert_array_equal(one, other)
        else:
            one, other = (clone(weighting).fit(counts, y).transform(counts) for y in (labels, None))
            np.testing.assert_array_equal(one.toarray(), other.toarray())


def test_logarithmic_counts_by_scikit_learns_sublinear_ones() -> None:
    counts, _ = drawn(3)
    expected = TfidfTransformer(norm=None, smooth_idf=False, sublinear_tf=True).fit_transform(counts)  # 1 + log(n / df)
    both = (WEIGHTINGS[name]().fit(counts).transform(counts) for name in ("log-tf", "log-tfidf"))
    np.testing.assert_allclose(sum(both).toarray(), expected.toarray(), atol=1e-14)


def test_log_entropy_by_scipys_entropy() -> None:
    factors = LogEntropy().fit(COUNTS).factors_
    expected = [1 - entropy(column) / math.log(4) for column in COUNTS.T]
    np.testing.assert_allclose(factors, expected, atol=1e-15)
    weights = LogEntropy().fit(COUNTS).transform(COUNTS).toarray()
    np.testing.assert_allclose(weights, np.log1p(COUNTS) * expected, atol=1e-15)


def test_bm25_by_hand() -> None:
    weights = Bm25(k1=1.5, b=0.5).fit(COUNTS).transform(COUNTS).toarray()
    # Term 0 is in two of four documents; document 0 has 4 tokens, the mean is 18 / 4.
    idf, slow = math.log(1 + 2.5 / 2.5), 1.5 * (0.5 + 0.5 * 4 / 4.5)
    assert weights[0, 0] == pytest.approx(idf * 2 * 2.5 / (2 + slow), rel=1e-14)
    # Term 1 is in three of four: with df and n - df exchanged it would have the idf log(1 + 3.5 / 1.5).
    assert weights[0, 1] == pytest.approx(math.log(1 + 1.5 / 3.5) * 1 * 2.5 / (1 + slow), rel=1e-14)


def test_supervised_factors_by_hand() -> None:
    # Term 1 is in both documents of class 0 and in that of class 2.
    assert RelevanceFrequency().fit(COUNTS, LABELS_OF).factors_[1] == pytest.approx(math.log2(2 + 2 / 1))
    assert InverseClassFrequency().fit(COUNTS, LABELS_OF).factors_[1] == pytest.approx(1 + math.log(3 / 2))
    expected = (1 + math.log(4 / 3)) * (1 + math.log(3 / (1 + 0 + 1)))
    assert InverseClassSpaceDensity().fit(COUNTS, LABELS_OF).factors_[1] == pytest.approx(expected)


def test_concentration_is_the_divergence_of_a_terms_classes_from_all() -> None:
    fitted = Aitchison(power=0.5, idf=0, concentration=2, smoothing=0.5).fit(COUNTS, LABELS_OF)
    prior = np.array([0.5, 0.25, 0.25])
    classes = (np.array([2, 0, 1]) + 0.5 * prior) / 3.5
    assert fitted.factors_[1] == pytest.approx(entropy(classes, prior) ** 2, rel=1e-12)
    assert fitted.factors_[3] == pytest.approx(0, abs=1e-30)  # in all documents: nothing is learned of a class
    np.testing.assert_allclose(fitted.transform(COUNTS).toarray()[0, 0], math.sqrt(2) * fitted.factors_[0])


def test_aitchison_is_tfidf_where_it_says_no_more() -> None:
    counts, labels = drawn(5)
    for given_labels in (labels, None):
        ours = Aitchison().fit(counts, given_labels).transform(counts)
        np.testing.assert_array_equal(ours.toarray(), WEIGHTINGS["tfidf"]().fit_transform(counts).toarray())
        damped = Aitchison(log=True).fit(counts, given_labels).transform(counts)
        np.testing.assert_array_equal(damped.toarray(), WEIGHTINGS["log-tfidf"]().fit_transform(counts).toarray())
    learns = [Aitchison(idf=0).learns, Aitchison().learns, Aitchison(concentration=1).learns]
    assert learns == ["", FROM_DOCUMENTS, FROM_LABELS]


def test_tfidf_is_scikit_learns_but_for_their_one() -> None:
    counts, _ = drawn(6)
    theirs = TfidfTransformer(norm=None, smooth_idf=False).fit(counts).transform(counts).toarray() - counts.toarray()
    seen = counts.toarray().sum(axis=0) > 0
    np.testing.assert_allclose(TermWeighting("tfidf").fit_transform(counts).toarray()[:, seen], theirs[:, seen])


#: Smallest and largest values of the parameters.
RANGES: dict[type[Weighting], dict[str, tuple[float, float]]] = {
    Bm25: {"k1": (1e-3, 1e3), "b": (0, 1)},
    Aitchison: {"power": (1e-3, 10), "idf": (0, 10), "concentration": (0, 10), "smoothing": (1e-6, 1e6)},
}
RANGES[LearnedAitchison] = {**RANGES[Aitchison], "strength": (1e-6, 1e9), "iterations": (1, 100_000)}


class TestLearnt:
    @pytest.mark.parametrize("multilabel", [False, True])
    def test_the_gradient_is_that_of_differences(self, multilabel: bool) -> None:
        counts, labels = drawn(4, n=15)
        rng = np.random.default_rng(4)
        members = rng.random((15, 3)) < 0.5 if multilabel else labels[:, None] == np.arange(3)
        problem = ClassLikelihood(sp.csr_array(np.sqrt(counts)), members, rng.normal(size=9), 0.7)
        for seed in range(3):
            at = np.append(np.random.default_rng(seed).normal(size=9), 0.4)
            by_differences = approx_fprime(at, lambda x: problem.loss(x)[0], 1e-7)
            np.testing.assert_allclose(problem.loss(at)[1], by_differences, atol=2e-6)

    def test_the_likelihood_by_hand(self) -> None:
        """Two documents of one class and one of another, which has no other to be near to."""
        counts, members = np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 1]]), np.array([[1, 0], [1, 0], [0, 1]], dtype=bool)
        problem = ClassLikelihood(sp.csr_array(np.sqrt(counts)), members, np.zeros(3), 1.0)
        scores = 2.0 * np.array([[0.5, 0.5], [0.5, 0.5], [0.5, 0.0]])
        expected = -np.mean([scores[i, c] - np.log(np.exp(scores[i]).sum()) for i, c in ((0, 0), (1, 0), (2, 1))])
        assert problem.loss(np.array([0, 0, 0, math.log(2.0)]))[0] == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("smoothing", [0.25, 8.0])
    def test_a_strong_prior_is_aitchisons_with_every_parameter(self, smoothing: float) -> None:
        counts, labels = drawn(5, n=40)
        how = {"power": 0.5, "idf": 2.0, "concentration": 1.5, "smoothing": smoothing}
        plain = Aitchison(**how).fit(counts, labels)
        held = LearnedAitchison(**how, strength=1e8).fit(counts, labels)
        np.testing.assert_allclose(held.factors_, plain.factors_, rtol=1e-5)
        np.testing.assert_allclose(held.transform(counts).toarray(), plain.transform(counts).toarray(), rtol=1e-5)

    def test_more_iterations_are_more_likely_until_they_are_enough(self) -> None:
        counts, labels = drawn(5, n=40)
        roots = sp.csr_array(counts.astype(float))
        roots.data **= 0.5
        prior = Aitchison().fit(counts, labels).factors_
        problem = ClassLikelihood(roots, labels[:, None] == np.arange(3), np.log(prior), 1.0)
        found = []
        for iterations in (1, 3, 300):
            learnt = LearnedAitchison(strength=1.0, iterations=iterations).fit(counts, labels).factors_
            at = np.append(np.log(learnt), 0)
            found.append(min(problem.loss(np.append(at[:-1], s))[0] for s in np.linspace(0, 6, 121)))
        assert found[0] > found[1] > found[2]

    def test_terms_that_weigh_nothing_are_not_learned(self) -> None:
        counts, labels = drawn(5, n=40)
        dense = counts.toarray()
        dense[:, 0], dense[:, 1] = 1, 0  # in all documents, and in none
        factors = LearnedAitchison().fit(sp.csr_array(dense), labels).factors_
        assert factors is not None
        assert ((factors > 0) == (np.arange(9) > 1)).all()
        nothing = LearnedAitchison().fit(np.ones((3, 2), dtype=int), [0, 1, 1]).factors_
        np.testing.assert_array_equal(nothing, [0, 0])

    def test_a_strong_prior_is_aitchisons_and_a_weak_one_is_more_likely(self) -> None:
        counts, labels = drawn(5, n=40)
        plain = Aitchison(power=0.5, concentration=1).fit(counts, labels).factors_
        held = LearnedAitchison(power=0.5, concentration=1, strength=1e8).fit(counts, labels).factors_
        np.testing.assert_allclose(held, plain, rtol=1e-5)
        roots = sp.csr_array(counts.astype(float))
        roots.data **= 0.25
        problem = ClassLikelihood(roots, labels[:, None] == np.arange(3), np.log(plain), 1.0)
        free = LearnedAitchison(power=0.5, concentration=1, strength=1.0).fit(counts, labels).factors_
        best = [
            min(problem.loss(np.append(np.log(each), s))[0] for s in np.linspace(0, 6, 61)) for each in (free, plain)
        ]
        assert best[0] < best[1]


@pytest.mark.parametrize("name", ["log-tf", "log-tfidf"])
def test_a_count_below_one_over_e_weighs_nothing_rather_than_less(name: str) -> None:
    counts = sp.csr_array(np.array([[0.1, 1 / math.e, 0.5, 2.0], [0.0, 0.0, 0.0, 0.0]]))
    weights = WEIGHTINGS[name]().fit(counts).transform(counts).toarray()[0]
    factor = 1.0 if name == "log-tf" else math.log(2)
    np.testing.assert_allclose(weights, factor * np.array([0, 0, 1 - math.log(2), 1 + math.log(2)]), atol=1e-15)


def test_documents_without_any_class_teach_no_concentration() -> None:
    with pytest.raises(ValueError, match="no training document has a class: there is no concentration to learn"):
        Aitchison(concentration=1).fit(COUNTS, np.zeros((4, 2), dtype=bool))
    with pytest.raises(ValueError, match="RelevanceFrequency needs labels: it learns from the classes of the docum"):
        RelevanceFrequency().factors(sp.csr_array(COUNTS), None)


class TestBlocks:
    @settings(max_examples=40)
    @given(st.integers(0, 1000), st.sampled_from(NORMALIZATIONS))
    def test_each_block_has_its_weight_as_its_norm(self, seed: int, normalization: str) -> None:
        counts, _ = drawn(seed)
        block_of, weights = np.repeat([0, 1, 2], 3), np.array([1.0, 0.25, 0.0])
        points = normalize_blocks(counts.astype(float), block_of, weights, normalization)
        assert points.data.all(), "no zero is stored"
        for block, weight in enumerate(weights):
            own, given_counts = points[:, block_of == block], counts[:, block_of == block].astype(float)
            if normalization == "none":
                np.testing.assert_array_equal(own.toarray(), weight * given_counts.toarray())
                continue
            there = given_counts.sum(axis=1) > 0
            expected = np.where(there & (weight > 0), weight, 1.0)
            np.testing.assert_allclose(row_norms(own, normalization), expected, rtol=1e-14)

    def test_points_of_the_product_have_the_sum_of_the_blocks_affinities(self) -> None:
        counts, _ = drawn(1)
        counts = sp.csr_array(counts.toarray() + 1)  # no block is empty
        block_of, weights = np.array([0] * 5 + [1] * 4), np.array([0.8, 0.2])
        points = TermWeighting(normalization="l1")
        points.fit(counts).weighting_.of_blocks(block_of, weights, "l1")
        roots = np.sqrt(points.transform(counts).toarray())
        alone = TermWeighting(normalization="l1")
        each = [np.sqrt(alone.fit_transform(counts[:, block_of == block]).toarray()) for block in (0, 1)]
        expected = sum(weight * own @ own.T for weight, own in zip(weights, each, strict=True))
        np.testing.assert_allclose(roots @ roots.T, expected, rtol=1e-13)

    def test_exponents_by_block_are_those_of_the_blocks_alone(self) -> None:
        """A term's factor depends on its own documents, so each block has the factors that its exponents give."""
        counts, labels = drawn(2)
        block_of, names = np.array([0] * 5 + [1] * 4), ("all", "characters")
        both = Aitchison(power=0.5, idf={"all": 2.0, "characters": 0.5}, concentration={"characters": 1.0})
        both.of_blocks(block_of, np.array([1.0, 0.5]), "l1", names).fit(counts, labels)
        words = Aitchison(power=0.5, idf=2.0).fit(counts, labels).factors_
        characters = Aitchison(power=0.5, idf=0.5, concentration=1.0).fit(counts, labels).factors_
        np.testing.assert_allclose(both.factors_, np.where(block_of == 0, words, characters), rtol=1e-15)
        assert (both.learns, Aitchison(concentration={"all": 0.0}).learns) == ("labels", "documents")

    def test_a_block_without_an_exponent_has_the_plain_ones(self) -> None:
        counts, labels = drawn(2)
        some = Aitchison(idf={"characters": 0.5}, concentration={"characters": 1.0})
        some.of_blocks(np.array([0] * 5 + [1] * 4), np.ones(2), "l1", ("all", "characters")).fit(counts, labels)
        plain = Aitchison().fit(counts, labels).factors_
        assert some.factors_ is not None
        assert plain is not None
        np.testing.assert_allclose(some.factors_[:5], plain[:5], rtol=1e-15)
        assert not np.isclose(some.factors_[5:], plain[5:]).any()

    @pytest.mark.parametrize("concentration", [0.0, {"all": 0.0, "characters": 2.0}])
    def test_a_term_of_no_training_document_weighs_nothing_whatever_its_blocks_exponents(
        self, concentration: float | dict[str, float]
    ) -> None:
        counts, labels = drawn(2)
        dense = counts.toarray()
        dense[:, [0, 8]] = 0
        weighting = Aitchison(idf={"all": 0.0, "characters": 0.0}, concentration=concentration)
        weighting.of_blocks(np.array([0] * 5 + [1] * 4), np.ones(2), "none", ("all", "characters"))
        factors = weighting.fit(sp.csr_array(dense), labels).factors_
        assert factors is not None
        np.testing.assert_array_equal(factors[[0, 8]], 0)
        assert (factors[1:5] == 1).all()
