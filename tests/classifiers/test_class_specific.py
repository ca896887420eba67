"""PPT and EEF against their equations written out, and the identities between them and naive Bayes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import rel_entr

from benchmark.classifiers.class_specific import (
    EmbeddedFamily,
    MultinomialCells,
    ProjectedPdf,
    embedding_parameters,
    log_normalizer,
    project_term_probabilities,
)
from benchmark.classifiers.naive_bayes import MultinomialBayes
from benchmark.representation.selection import information_gain, rank_terms

CLASSIFIERS = [ProjectedPdf, EmbeddedFamily]


def corpus(seed, n_classes=4, n_terms=60, n=90):
    """Training counts and labels, test counts: multinomial documents of 3 to 40 words, classes of unequal size."""
    rng = np.random.default_rng([43, seed])
    terms = rng.dirichlet(np.full(n_terms, 0.15), size=n_classes)
    sizes = rng.dirichlet(np.full(n_classes, 2.0))
    labels = np.concatenate([np.arange(n_classes), rng.choice(n_classes, p=sizes, size=2 * n - n_classes)])
    counts = np.array([rng.multinomial(rng.integers(3, 40), terms[label]) for label in labels])
    return counts[:n], labels[:n], counts[n:]


class Written:
    """Equations 9 to 15 of Tang et al. (2016), word by word, for K < V."""

    def __init__(self, X, y, selected, smoothing):
        self.selected, self.classes = selected, np.unique(y)
        self.priors = np.array([np.mean(y == c) for c in self.classes])
        p = np.array([X[y == c].sum(axis=0) + smoothing for c in self.classes])
        p = p / p.sum(axis=1, keepdims=True)
        p0 = self.priors @ p
        self.own, self.zero, self.beta, self.theta = [], [], [], []
        for i, c in enumerate(self.classes):
            own, zero = p[i, selected[i]], p0[selected[i]]
            self.own.append(np.append(own, 1 - own.sum()))
            self.zero.append(np.append(zero, 1 - zero.sum()))
            ratio = np.log(self.own[i] / self.zero[i])
            self.beta.append(ratio[:-1] - ratio[-1])
            self.z_mean, self.l_mean = X[y == c][:, selected[i]].mean(axis=0), X[y == c].sum(axis=1).mean()
            self.theta.append(self.maximize(i))

    def normalizer(self, i, theta, length):
        """K_1 (equation 11)."""
        zero = self.zero[i][:-1]
        return length * np.log(np.sum(zero * np.exp(theta * self.beta[i])) + 1 - zero.sum())

    def objective(self, i, theta):
        return theta * (self.z_mean @ self.beta[i]) - self.normalizer(i, theta, self.l_mean)

    def maximize(self, i):
        return minimize_scalar(lambda t: -self.objective(i, t), bounds=(-30, 30), options={"xatol": 1e-9}).x

    def eef(self, x, theta=None):
        """Scores of one document, with given θ or θ*."""
        theta = self.theta if theta is None else theta
        return np.array(
            [
                theta[i] * (x[self.selected[i]] @ self.beta[i]) - self.normalizer(i, theta[i], x.sum()) + np.log(prior)
                for i, prior in enumerate(self.priors)
            ]
        )

    def ppt(self, x):
        scores = []
        for i, prior in enumerate(self.priors):
            z = np.append(x[self.selected[i]], x.sum() - x[self.selected[i]].sum())
            scores.append(z @ np.log(self.own[i] / self.zero[i]) + np.log(prior))
        return np.array(scores)


def differences(scores):
    """What decides: scores less that of the first class; a term that all classes share is gone."""
    scores = np.asarray(scores)
    return scores - scores[:, :1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_terms", [1, 7, 59])
@pytest.mark.parametrize("smoothing", [0.05, 1.0])
def test_they_are_the_equations_of_the_paper(seed, n_terms, smoothing):
    X, y, test = corpus(seed)
    ppt, eef = (make(n_terms, smoothing).fit(sp.csr_array(X), y) for make in CLASSIFIERS)
    written = Written(X, y, ppt.selected_, smoothing)
    expected = differences([written.ppt(x) for x in test])
    np.testing.assert_allclose(differences(ppt.decision_function(test)), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(ppt.predict(test), expected.argmax(axis=1))

    # θ* of a class may be infinite with few terms; the equations themselves hold for any θ.
    expected = differences([written.eef(x, eef.theta_) for x in test])
    np.testing.assert_allclose(differences(eef.decision_function(test)), expected, rtol=1e-9, atol=1e-9)
    # A flat maximum is found to the root of what a maximum can be told by.
    inside = ~at_end(eef.cells_, eef.theta_) & (np.abs(eef.theta_) < 25)
    assert inside.any()
    np.testing.assert_allclose(eef.theta_[inside], np.array(written.theta)[inside], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_terms", [1, 12, 60])
def test_an_embedding_parameter_of_one_is_ppt(n_terms):
    """K_0(1) = 0: the cells of a class sum to 1. The paper's K_1(1, l) is -l ln(p'_i,K+1 / p'_0,K+1) instead."""
    X, y, test = corpus(4)
    ppt = ProjectedPdf(n_terms).fit(X, y)
    np.testing.assert_allclose(log_normalizer(ppt.cells_, np.ones(4)), 0, atol=1e-14)
    eef = EmbeddedFamily(n_terms).fit(X, y)
    at_one = project_term_probabilities(
        eef.cells_, np.log(np.exp(eef.class_log_prior_) @ np.exp(smoothed(X, y))), np.ones(4)
    )
    np.testing.assert_allclose(at_one, ppt.feature_log_prob_, rtol=1e-12)
    if n_terms < 60:
        written = Written(X, y, ppt.selected_, 1.0)
        np.testing.assert_allclose([written.ppt(x) for x in test], [written.eef(x, np.ones(4)) for x in test])
        for i in range(4):
            assert written.normalizer(i, 1.0, 17) == pytest.approx(
                -17 * np.log(written.own[i][-1] / written.zero[i][-1])
            )


def smoothed(X, y):
    return MultinomialBayes().fit(X, y).feature_log_prob_


@pytest.mark.parametrize("smoothing", [1e-300, 1e-3, 1.0, 50.0])
def test_ppt_with_all_terms_is_naive_bayes(smoothing):
    X, y, test = corpus(5)
    ppt, naive = ProjectedPdf(smoothing=smoothing).fit(X, y), MultinomialBayes(smoothing).fit(X, y)
    np.testing.assert_allclose(ppt.feature_log_prob_, naive.feature_log_prob_, rtol=1e-12)
    np.testing.assert_array_equal(ppt.predict(test), naive.predict(test))


def test_where_each_class_has_the_same_terms_ppt_is_naive_bayes_on_them_and_the_rest():
    X, y, test = corpus(6)
    chosen = np.array([3, 8, 20, 21])
    ppt = ProjectedPdf(4).fit(X, y, np.tile(chosen, (4, 1)))
    log_prob = smoothed(X, y)
    rest = np.log(1 - np.exp(log_prob[:, chosen]).sum(axis=1))
    cells = np.column_stack([test[:, chosen], test.sum(axis=1) - test[:, chosen].sum(axis=1)])
    expected = cells @ np.column_stack([log_prob[:, chosen], rest]).T + ppt.class_log_prior_
    np.testing.assert_allclose(differences(ppt.decision_function(test)), differences(expected), atol=1e-10)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("n_terms", [1, 30, 59, 60])
@pytest.mark.parametrize("smoothing", [1e-200, 1.0, 1e6, 1e14])
def test_the_term_probabilities_of_each_class_sum_to_one(classifier, n_terms, smoothing):
    X, y, test = corpus(7)
    fitted = classifier(n_terms, smoothing).fit(X, y)
    np.testing.assert_allclose(np.exp(fitted.feature_log_prob_).sum(axis=1), 1, rtol=1e-10)
    assert np.isfinite(fitted.decision_function(test)).all()
    assert np.isfinite(fitted.theta_).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_terms", [2, 15, 60])
def test_the_embedding_parameter_matches_the_mean_and_maximizes_a_concave_objective(seed, n_terms):
    X, y, _ = corpus(seed)
    smoothing = [0.01, 0.3, 1.0, 20.0][seed % 4]
    fitted = EmbeddedFamily(n_terms, smoothing).fit(X, y)
    cells, theta = fitted.cells_, fitted.theta_
    shares = cells.counts / cells.counts.sum(axis=1, keepdims=True)

    def objective(at):
        return theta_mean * at - log_normalizer(cells, at)

    theta_mean = (shares * cells.log_ratio).sum(axis=1)
    tilted = np.exp(cells.log_reference + theta[:, None] * cells.log_ratio - log_normalizer(cells, theta)[:, None])
    spread = np.ptp(cells.log_ratio, axis=1)
    slope = (theta_mean - (tilted * cells.log_ratio).sum(axis=1)) / spread
    inside = ~at_end(cells, theta)
    assert inside.any()
    np.testing.assert_allclose(slope[inside], 0, atol=1e-11)
    # At an end the slope points outwards.
    assert (slope[~inside] * np.sign(theta[~inside]) >= 0).all()

    rng = np.random.default_rng([44, seed])
    for _ in range(50):
        a, b = rng.uniform(-5, 5, size=(2, 4)) * 10 / spread
        middle, chord = objective((a + b) / 2), (objective(a) + objective(b)) / 2
        assert (middle >= chord - 1e-12 * (1 + np.abs(chord))).all()
        assert (objective(theta) >= objective(a) - 1e-12 * (1 + np.abs(objective(a)))).all()


@pytest.mark.parametrize("seed", range(8))
def test_no_density_with_the_same_mean_is_nearer_to_the_reference(seed):
    """Theorem 1: Kullback's theorem of minimum divergence under a given mean of the statistic."""
    X, y, _ = corpus(seed)
    fitted = EmbeddedFamily(15).fit(X, y)
    cells, theta = fitted.cells_, fitted.theta_
    embedded = np.exp(cells.log_reference + theta[:, None] * cells.log_ratio - log_normalizer(cells, theta)[:, None])
    rng, compared = np.random.default_rng([45, seed]), 0
    for i in np.flatnonzero(~at_end(cells, theta)):
        reference, statistic = np.exp(cells.log_reference[i]), cells.log_ratio[i]
        mean = embedded[i] @ statistic
        around = np.concatenate([rng.dirichlet(np.ones(16), size=100), rng.dirichlet(30 * embedded[i] + 0.1, size=100)])
        above, below = (around[rows] for rows in (around @ statistic > mean, around @ statistic < mean))
        for high, low in zip(above, below, strict=False):  # mixed to have the mean
            share = (mean - low @ statistic) / ((high - low) @ statistic)
            density = share * high + (1 - share) * low
            nearest = rel_entr(embedded[i], reference).sum()
            assert rel_entr(density, reference).sum() >= nearest
            farther = rel_entr(density, embedded[i]).sum()
            assert rel_entr(density, reference).sum() == pytest.approx(nearest + farther, rel=1e-8)
            compared += 1
    assert compared > 100


def at_end(cells, theta):
    """Which parameters lie at an end of the interval searched, up to rounding."""
    return np.isclose(np.abs(theta) * np.ptp(cells.log_ratio, axis=1), 700, rtol=1e-9)


def one_class(log_reference, own, counts):
    reference, own = np.log([log_reference]), np.log([own])
    return MultinomialCells(
        np.arange(len(counts) - 1)[None], reference, own - reference, np.array([counts], dtype=float)
    )


def test_a_maximum_at_infinity_is_taken_at_the_end_of_the_interval():
    rising = one_class([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0, 0, 9])
    spread = np.ptp(rising.log_ratio)
    theta = embedding_parameters(rising)
    assert theta[0] == pytest.approx(700 / spread)
    falling = one_class([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [4, 0, 0])
    theta = embedding_parameters(falling)
    assert theta[0] == pytest.approx(-700 / spread)


def test_a_class_whose_one_term_it_never_has_is_decided_without_infinities():
    """Both classes choose the first term, by which they are told apart; the second class has it never."""
    X, y = np.array([[4, 1, 0], [3, 0, 2], [0, 2, 1], [0, 1, 5]]), np.array(["a", "a", "b", "b"])
    fitted = EmbeddedFamily(1).fit(X, y)
    np.testing.assert_array_equal(fitted.selected_, [[0], [0]])
    np.testing.assert_array_equal(at_end(fitted.cells_, fitted.theta_), [False, True])
    test = np.array([[1, 9, 9], [0, 1, 0], [50, 0, 0]])
    assert np.isfinite(fitted.decision_function(test)).all()
    assert fitted.predict(test).tolist() == ["a", "b", "a"]


def test_the_parameter_is_negative_where_the_words_of_a_class_are_rarer_in_it_than_in_the_reference():
    cells = one_class([0.6, 0.2, 0.2], [0.4, 0.3, 0.3], [8, 1, 1])
    theta = embedding_parameters(cells)
    assert theta[0] < 0


def test_a_class_without_words_or_like_the_reference_has_the_parameter_one():
    X = np.array([[2, 1, 0], [0, 1, 1], [0, 0, 0], [0, 0, 0]])
    fitted = EmbeddedFamily(2).fit(X, np.array([0, 0, 1, 1]))
    assert fitted.theta_[1] == 1
    # 7 classes, each a seventh of the reference: what is left of their ratios is rounding.
    alike = np.tile([[5, 1, 2], [3, 0, 0]], (7, 1))
    fitted = EmbeddedFamily(2).fit(alike, np.repeat(np.arange(7), 2))
    assert (fitted.cells_.log_ratio != 0).any()
    np.testing.assert_array_equal(fitted.theta_, 1)
    np.testing.assert_array_equal(fitted.predict(alike), 0)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_one_ranking_serves_every_size(classifier):
    X, y, test = corpus(10)
    rankings = rank_terms(information_gain(X, y))
    for size in (1, 10, 60):
        own, shared = classifier(size).fit(X, y), classifier(size).fit(X, y, rankings)
        np.testing.assert_array_equal(shared.selected_, rankings[:, :size])
        np.testing.assert_array_equal(own.decision_function(test), shared.decision_function(test))
