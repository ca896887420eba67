"""Weightings against their formulas, by hand and by other routes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy
from sklearn.base import clone

from benchmark.representation import WEIGHTINGS
from benchmark.representation.learnt_weighting import ClassLikelihood, LearnedAitchison
from benchmark.representation.weighting import normalize_blocks, row_norms
from benchmark.representation.weightings import FROM_DOCUMENTS, FROM_LABELS, Aitchison, Bm25
from benchmark.system.tags import NORMALIZATIONS
from tests.points import points_pipeline

COUNTS = np.array([[2, 1, 0, 1], [1, 3, 0, 1], [0, 0, 4, 1], [0, 1, 2, 1]])
LABELS_OF = np.array([0, 0, 1, 2])


def drawn(seed: int, n: int = 12, size: int = 9) -> tuple[sp.csr_array, np.ndarray]:
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.poisson(0.8, (n, size))), np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])


@pytest.mark.parametrize("name", WEIGHTINGS)
@pytest.mark.parametrize("seed", range(3))
class TestEvery:
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


def test_bm25_by_hand() -> None:
    weights = Bm25(k1=1.5, b=0.5).fit(COUNTS).transform(COUNTS).toarray()
    # Term 0 is in two of four documents; document 0 has 4 tokens, the mean is 18 / 4.
    idf, slow = math.log(1 + 2.5 / 2.5), 1.5 * (0.5 + 0.5 * 4 / 4.5)
    assert weights[0, 0] == pytest.approx(idf * 2 * 2.5 / (2 + slow), rel=1e-14)
    # Term 1 is in three of four: with df and n - df exchanged it would have the idf log(1 + 3.5 / 1.5).
    assert weights[0, 1] == pytest.approx(math.log(1 + 1.5 / 3.5) * 1 * 2.5 / (1 + slow), rel=1e-14)


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


class TestLearnt:
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
        points = points_pipeline(normalization="l1")
        points.fit(counts)[0].of_blocks(block_of, weights, "l1")
        roots = np.sqrt(points.transform(counts).toarray())
        alone = points_pipeline(normalization="l1")
        each = [np.sqrt(alone.fit_transform(counts[:, block_of == block]).toarray()) for block in (0, 1)]
        expected = sum(weight * own @ own.T for weight, own in zip(weights, each, strict=True))
        np.testing.assert_allclose(roots @ roots.T, expected, rtol=1e-13)
