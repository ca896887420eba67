"""Born's classifier: the paper's formulas term by term, and what they say of simple documents."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.classifiers import BornClassifier
from benchmark.kernels import KERNELS


def draw(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    terms = rng.dirichlet(np.full(12, 0.4), size=n_classes)
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 30)])
    return np.array([rng.multinomial(20, terms[label]) for label in labels]), labels


def by_hand(X, y, test, a, b, h):
    """Return the scores by loops over classes and terms (Guidotti and Ferrara 2022, section 3)."""
    classes = sorted(set(y.tolist()))
    P = [[sum(x[w] / x.sum() for x, label in zip(X, y, strict=True) if label == k) for w in range(12)] for k in classes]
    total = [sum(P[k][w] for k in range(len(P))) for w in range(12)]
    p = [
        [P[k][w] / (sum(P[k]) ** b * total[w] ** (1 - b)) if total[w] else 0.0 for w in range(12)]
        for k in range(len(P))
    ]
    weight = []
    for w in range(12):
        shares = [p[k][w] / sum(p[j][w] for j in range(len(P))) if total[w] else 0.0 for k in range(len(P))]
        weight.append(1 + sum(q * np.log(q) for q in shares if q > 0) / np.log(len(P)) if total[w] else 0.0)
    scores = [[sum(weight[w] ** h * (p[k][w] * x[w]) ** a for w in range(12)) for k in range(len(P))] for x in test]
    return np.array(scores)


@pytest.mark.parametrize(("a", "b", "h"), [(0.5, 1.0, 1.0), (0.5, 0.0, 1.0), (0.8, 0.4, 2.0), (1.0, 1.0, 0.5)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_scores_are_the_papers(kind, a, b, h):
    X, y = draw(4)
    test, _ = draw(4, seed=1)
    found = BornClassifier(a, b, h).fit(kind(X), y).decision_function(kind(test))
    np.testing.assert_allclose(found, by_hand(X, y, test, a, b, h), rtol=1e-9, atol=1e-12)


def test_without_entropy_the_score_is_the_affinity_of_document_and_class():
    X, y = draw(3)
    points = sp.csr_array(X / X.sum(axis=1, keepdims=True))
    classes = np.stack([points[y == k].toarray().mean(axis=0) for k in range(3)])
    affinity = KERNELS["bhattacharyya"]().fit(classes).transform(points)
    np.testing.assert_allclose(BornClassifier(entropy=0).fit(X, y).decision_function(points), affinity, rtol=1e-9)


def test_a_term_that_all_classes_share_evenly_says_nothing_and_one_of_a_single_class_all():
    X, y = np.array([[1, 1, 0], [1, 0, 1]]), np.array([0, 1])
    weights = BornClassifier().fit(X, y).weights_
    np.testing.assert_allclose(weights, [[0, np.sqrt(0.5), 0], [0, 0, np.sqrt(0.5)]], atol=1e-9)


def test_a_document_without_known_terms_ties():
    X, y = draw(3)
    X[:, 5] = 0
    scores = BornClassifier().fit(X, y).decision_function(np.eye(12)[[5]])
    assert (scores == 0).all()
