"""What holds for every registered classifier that is given points."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.svm import LinearSVC

from benchmark.classifiers import CLASSIFIERS, MultinomialBayes, NbSvm
from benchmark.system.tags import tags_of

NAMES = [name for name, cls in CLASSIFIERS.items() if not tags_of(cls).needs_kernel]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Each registered classifier."""
    return str(request.param)


def draw(n: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    terms = np.random.default_rng(0).dirichlet(np.full(20, 0.3), size=n_classes)
    labels = np.arange(n) % n_classes
    return np.array([rng.multinomial(30, terms[label]) for label in labels]), labels


@pytest.mark.parametrize("n_classes", [2, 4])
def test_it_has_one_score_a_class_and_the_first_of_the_largest_wins(name: str, n_classes: int) -> None:
    (X, y), (test, truth) = draw(40, n_classes, 1), draw(30, n_classes, 2)
    classifier = CLASSIFIERS[name]()
    assert is_classifier(classifier)
    assert classifier.fit(X, y) is classifier
    scores = classifier.decision_function(test)
    assert scores.shape == ((30, 4) if n_classes == 4 else (30,))
    best = scores.argmax(axis=1) if n_classes == 4 else (scores > 0).astype(int)
    np.testing.assert_array_equal(classifier.predict(test), classifier.classes_[best])
    assert (classifier.predict(test) == truth).mean() > 0.8
    assert sorted(classifier.classes_) == list(range(n_classes))
    assert classifier.n_features_in_ == 20


def ratios(X: np.ndarray, inside: np.ndarray, smoothing: float = 1.0) -> np.ndarray:
    """Wang and Manning's r, term by term."""
    p, q = (smoothing + X[rows].sum(axis=0) for rows in (inside, ~inside))
    return np.log((p / p.sum()) / (q / q.sum()))


class TestNbSvm:
    """Wang and Manning's formulas, each class against the rest."""

    @pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
    @pytest.mark.parametrize("interpolation", [0.0, 0.25, 1.0])
    def test_decides_by_the_interpolated_weights_of_a_machine_on_scaled_points(
        self, interpolation: float, loss: str
    ) -> None:
        (X, y), (test, _) = draw(60, 3, 11), draw(30, 3, 12)
        X, test = (X > 0).astype(float), (test > 0).astype(float)
        found = NbSvm(0.5, 2.0, interpolation, loss).fit(X, y).decision_function(test)
        for label in range(3):
            r = ratios(X, y == label, smoothing=2.0)
            machine = LinearSVC(C=0.5, loss=loss.replace("-", "_"), dual=True, random_state=0).fit(X * r, y == label)
            w = machine.coef_[0]
            mixed = (1 - interpolation) * np.abs(w).sum() / len(w) + interpolation * w
            np.testing.assert_allclose(found[:, label], (test * r) @ mixed + machine.intercept_[0], rtol=1e-9)

    def test_of_two_classes_either_may_be_called_the_first(self) -> None:
        (X, y), (test, _) = draw(60, 2, 14), draw(30, 2, 15)
        own, turned = (NbSvm().fit(X, labels).decision_function(test) for labels in (y, 1 - y))
        np.testing.assert_allclose(turned, -own, rtol=0, atol=1e-3 * np.abs(own).max())


def test_scores_of_documents_without_a_common_word_add_up_where_words_are_summed(name: str) -> None:
    """Up to the score of no word at all; for the rule that divides by the length, of documents of one length."""
    rng = np.random.default_rng(3)
    terms = rng.dirichlet(np.full(12, 0.5), size=3)
    y = np.arange(45) % 3
    X = np.array([rng.multinomial(9, terms[label]) for label in y])
    model = CLASSIFIERS[name](**({"length": "counted"} if name == "divergence-bayes" else {})).fit(X, y)
    left, right = X[:9].copy(), X[9:18].copy()
    left[:, 6:] = right[:, :6] = 0
    whole, one, other, nothing = (
        model.scores(model.validated(points, fitting=False))
        for points in (left + right, left, right, np.zeros((9, 12)))
    )
    # Differences of classes: a document's own entropy, and its length, are the same for all.
    both, parts = (values - values[:, :1] for values in (whole + nothing, one + other))
    np.testing.assert_allclose(both, parts, rtol=1e-9, atol=1e-9)
    assert np.ptp(both) > 1e-3


def test_an_empty_document_is_decided_by_naive_bayes_prior_and_a_tie_by_the_order_of_classes() -> None:
    nothing = np.zeros((1, 2))
    assert MultinomialBayes().fit([[1, 0], [0, 1], [0, 1]], ["a", "b", "b"]).predict(nothing) == ["b"]
    assert MultinomialBayes().fit([[0, 1], [1, 0]], ["b", "a"]).predict(nothing) == ["a"]
    assert MultinomialBayes().fit([[0, 1], [1, 0]], ["b", "a"]).predict([[3, 3]]) == ["a"]
