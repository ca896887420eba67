"""TWCNB: the steps of its paper's table, one by one."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import ComplementNB

from benchmark.classifiers import ComplementBayes, TransformedComplementBayes


def draw(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    terms = rng.dirichlet(np.full(15, 0.3), size=n_classes)
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 30)])
    return np.array([rng.multinomial(12, terms[label]) for label in labels]), labels


def by_hand(X, y, test, alpha):
    """Follow table 4 of Rennie et al. (2003) with loops; return the sums of which the smallest is the class's."""
    n, size = X.shape
    d = [[np.log(X[j, i] + 1) for i in range(size)] for j in range(n)]
    d = [[d[j][i] * np.log(n / max(1, sum(X[k, i] > 0 for k in range(n)))) for i in range(size)] for j in range(n)]
    d = [[value / max(np.sqrt(sum(each**2 for each in row)), 1e-300) for value in row] for row in d]
    sums = []
    for c in sorted(set(y.tolist())):
        outside = [j for j in range(n) if y[j] != c]
        total = sum(d[j][k] for j in outside for k in range(size)) + size * alpha
        w = [np.log((sum(d[j][i] for j in outside) + alpha) / total) for i in range(size)]
        w = [value / sum(abs(each) for each in w) for value in w]
        sums.append([sum(t[i] * w[i] for i in range(size)) for t in test])
    return np.array(sums).T


@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_steps_are_the_papers(kind, n_classes, alpha):
    X, y = draw(n_classes)
    test, _ = draw(n_classes, seed=1)
    model = TransformedComplementBayes(alpha).fit(kind(X), y)
    expected = by_hand(X, y, test, alpha)
    np.testing.assert_allclose(model.checked_scores(kind(test)), -expected, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(kind(test)), expected.argmin(axis=1))


def test_without_transformations_the_weights_are_those_of_scikit_learn():
    """Equal counts of one term a document, each term in one document: the transformation is the same factor for all."""
    X, y = np.eye(12, dtype=int), np.arange(12) % 3
    own = TransformedComplementBayes(1.0).fit(X, y)
    theirs = ComplementNB(alpha=1.0, norm=True).fit(np.eye(12), y)
    np.testing.assert_allclose(own.weights_, theirs.feature_log_prob_)
    assert not np.allclose(own.weights_, ComplementBayes().fit(X, y).feature_log_prob_)


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match="Negative values"):
        TransformedComplementBayes().fit([[1, -1], [1, 0]], [0, 1])
