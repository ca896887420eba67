"""Naive Bayes in KL form: its rule and centroids against their definitions, multinomial naive Bayes, other manners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import rel_entr
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize

from benchmark.classifiers.divergence_bayes import (
    CENTROID_KINDS,
    DivergenceBayes,
    class_statistics,
    skl_centroid,
    symmetric_kl,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def draw(n: int, *, seed: int, length: int | None = None, n_classes: int = 3) -> tuple[sp.csr_array, NDArray[Any]]:
    """Documents of classes of unequal sizes, over 30 words."""
    rng = np.random.default_rng([seed, n])
    topics = np.random.default_rng([1, 30]).dirichlet(np.full(30, 0.4), size=n_classes)
    shares = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    labels = np.concatenate([np.arange(n_classes), rng.choice(n_classes, size=n - n_classes, p=shares)])
    lengths = rng.integers(5, 60, size=n) if length is None else np.full(n, length)
    counts = np.array([rng.multinomial(m, topics[label]) for m, label in zip(lengths, labels, strict=True)])
    return sp.csr_array(counts), np.array(["crude", "ship", "trade", "sugar"])[labels]


def kullback_leibler(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(rel_entr(p, q).sum(axis=-1))


@pytest.fixture(scope="module")
def training() -> tuple[sp.csr_array, NDArray[Any]]:
    return draw(70, seed=2)


@pytest.fixture(scope="module")
def unseen() -> sp.csr_array:
    return draw(50, seed=3)[0]


@pytest.mark.parametrize("prior", ["empirical", "uniform"])
@pytest.mark.parametrize("centroid", CENTROID_KINDS)
def test_the_rule_is_the_papers(
    training: tuple[sp.csr_array, NDArray[Any]], unseen: sp.csr_array, centroid: str, prior: str
) -> None:
    X, y = training
    classifier = DivergenceBayes(centroid, smoothing=0.05, prior=prior).fit(X, y)
    d = unseen.toarray() / unseen.toarray().sum(axis=1, keepdims=True)
    shares = [np.mean(y == label) if prior == "empirical" else 1 / 3 for label in classifier.classes_]
    costs = np.array(
        [-np.log(share) + kullback_leibler(d, c) for share, c in zip(shares, classifier.centroids_, strict=True)]
    ).T
    assert classifier.decision_function(unseen) == pytest.approx(-costs, rel=1e-12)
    np.testing.assert_array_equal(classifier.predict(unseen), classifier.classes_[costs.argmin(axis=1)])


def test_the_order_of_documents_moves_classes_and_changes_no_value(
    training: tuple[sp.csr_array, NDArray[Any]], unseen: sp.csr_array
) -> None:
    X, y = training
    first, turned = DivergenceBayes().fit(X, y), DivergenceBayes().fit(X[::-1], y[::-1])
    assert turned.classes_.tolist() == list(dict.fromkeys(y[::-1])) != sorted(first.classes_)
    place = [turned.classes_.tolist().index(label) for label in first.classes_]
    np.testing.assert_allclose(turned.decision_function(unseen)[:, place], first.decision_function(unseen), rtol=1e-12)


def test_centroids_minimize_their_divergence(training: tuple[sp.csr_array, NDArray[Any]]) -> None:
    """The mean that of KL(p, c), the skl centroid that of SKL(p, c), summed over the class."""
    X, y = training
    mean, skl = (DivergenceBayes(centroid, 0.05).fit(X, y) for centroid in ("mean", "skl"))
    rng = np.random.default_rng([4, 30])
    for row, label in enumerate(mean.classes_):
        p = X[y == label].toarray() + 0.05
        p /= p.sum(axis=1, keepdims=True)
        assert mean.centroids_[row] == pytest.approx(p.mean(axis=0), rel=1e-12)
        assert skl.centroids_[row] == pytest.approx(skl_centroid(class_statistics(X[y == label], 0.05)))
        for step in rng.normal(0, 0.05, size=(5, 30)):
            for classifier, divergence in ((mean, kullback_leibler), (skl, symmetric_kl)):
                best = classifier.centroids_[row]
                other = best * np.exp(step)
                assert divergence(p, best).sum() < divergence(p, other / other.sum()).sum()


def test_pooled_centroids_are_multinomial_naive_bayes(
    training: tuple[sp.csr_array, NDArray[Any]], unseen: sp.csr_array
) -> None:
    X, y = training
    classifier = DivergenceBayes("pooled", smoothing=0.3).fit(X, y)
    oracle = MultinomialNB(alpha=0.3).fit(X, y)
    order = [list(oracle.classes_).index(label) for label in classifier.classes_]
    assert np.log(classifier.centroids_) == pytest.approx(oracle.feature_log_prob_[order], rel=1e-12)
    assert classifier.log_prior_ == pytest.approx(oracle.class_log_prior_[order], rel=1e-12)
    # The document's likelihood counts once, not as often as it has words.
    once = oracle.predict_joint_log_proba(normalize(unseen, "l1"))[:, order]
    ours = classifier.decision_function(unseen)
    assert ours - ours[:, :1] == pytest.approx(once - once[:, :1], abs=1e-12)


def test_with_the_length_counted_pooled_centroids_are_multinomial_naive_bayes(
    training: tuple[sp.csr_array, NDArray[Any]], unseen: sp.csr_array
) -> None:
    """Scores alike up to what all classes share; a document without words is left to the prior."""
    X, y = training
    tested = sp.csr_array(np.vstack([unseen.toarray(), np.zeros((1, 30))]))
    classifier = DivergenceBayes("pooled", smoothing=0.3, length="counted").fit(X, y)
    oracle = MultinomialNB(alpha=0.3).fit(X, y)
    order = [list(oracle.classes_).index(label) for label in classifier.classes_]
    ours, joint = classifier.decision_function(tested), oracle.predict_joint_log_proba(tested)[:, order]
    assert ours - ours[:, :1] == pytest.approx(joint - joint[:, :1], abs=1e-9)
    np.testing.assert_array_equal(ours[-1], classifier.log_prior_)


@pytest.mark.parametrize("centroid", CENTROID_KINDS)
def test_a_document_without_words_is_left_to_the_prior(
    training: tuple[sp.csr_array, NDArray[Any]], centroid: str
) -> None:
    X, y = training
    nothing = np.zeros((1, 30))
    plain = DivergenceBayes(centroid, 0.1).fit(X, y)
    assert plain.predict(nothing)[0] == "trade"
    np.testing.assert_array_equal(plain.decision_function(nothing)[0], plain.log_prior_)
    more = DivergenceBayes(centroid, 0.1).fit(np.vstack([X.toarray(), *[nothing] * 90]), [*y, *["crude"] * 90])
    np.testing.assert_array_equal(more.centroids_, plain.centroids_)
    assert more.predict(nothing)[0] == "crude"
    with pytest.raises(ValueError, match=r"no training document of the class 'ship' has a word"):
        DivergenceBayes(centroid).fit([[1, 2], [0, 0]], ["crude", "ship"])
