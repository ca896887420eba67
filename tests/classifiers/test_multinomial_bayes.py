"""`MultinomialBayes` is scikit-learn's `MultinomialNB` with a smoothing that must be there."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import MultinomialNB

from benchmark.classifiers.multinomial_bayes import MultinomialBayes


@pytest.fixture(params=[2, 5])
def corpus(request):
    rng = np.random.default_rng([42, request.param])
    terms = rng.dirichlet(np.full(40, 0.2), size=request.param)
    labels = np.concatenate([np.arange(request.param), rng.integers(0, request.param, size=60)])
    counts = np.array([rng.multinomial(15, terms[label]) for label in labels])
    return sp.csr_array(counts[:40]), labels[:40], sp.csr_array(counts[40:])


@pytest.mark.parametrize("smoothing", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("dense", [False, True])
def test_it_is_scikit_learns(corpus, smoothing, dense):
    train, labels, test = (part.toarray() if dense and sp.issparse(part) else part for part in corpus)
    ours, theirs = MultinomialBayes(smoothing).fit(train, labels), MultinomialNB(alpha=smoothing).fit(train, labels)
    joint = theirs.predict_joint_log_proba(test)
    expected = joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint
    np.testing.assert_allclose(ours.decision_function(test), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(test), theirs.predict(test))
    np.testing.assert_allclose(np.exp(ours.feature_log_prob_).sum(axis=1), 1.0, rtol=1e-12)


def test_an_empty_document_is_decided_by_the_prior_and_a_tie_by_the_order_of_classes():
    nothing = np.zeros((1, 2))
    assert MultinomialBayes().fit([[1, 0], [0, 1], [0, 1]], ["a", "b", "b"]).predict(nothing) == ["b"]
    assert MultinomialBayes().fit([[0, 1], [1, 0]], ["b", "a"]).predict(nothing) == ["a"]
    assert MultinomialBayes().fit([[0, 1], [1, 0]], ["b", "a"]).predict([[3, 3]]) == ["a"]
