"""What holds for every registered classifier that is given points."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import ComplementNB

from benchmark.classifiers import CLASSIFIERS, ComplementBayes, LinearSvm, LogisticClassifier

NAMES = [name for name, cls in CLASSIFIERS.items() if not cls.needs_kernel]


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
    scores = classifier.class_scores(test)
    assert scores.shape == (30, n_classes)
    np.testing.assert_array_equal(classifier.predict(test), classifier.classes_[scores.argmax(axis=1)])
    assert (classifier.predict(test) == truth).mean() > 0.8
    assert sorted(classifier.classes_) == list(range(n_classes))
    assert classifier.n_features_in_ == 20


def test_sparse_and_dense_points_are_the_same_and_stay_as_they_are(name: str) -> None:
    X, y = draw(40, 3, 3)
    before = X.copy()
    dense, sparse = (CLASSIFIERS[name]().fit(points, y) for points in (X, sp.csr_array(X.astype(float))))
    np.testing.assert_allclose(sparse.class_scores(sp.csr_array(X)), dense.class_scores(X), rtol=1e-4)
    np.testing.assert_array_equal(X, before)


def test_names_of_classes_may_be_words(name: str) -> None:
    X, y = draw(40, 3, 4)
    words = np.array(["acq", "corn", "earn"])[y]
    assert set(CLASSIFIERS[name]().fit(X, words).predict(X)) <= {"acq", "corn", "earn"}


def test_a_copy_has_learnt_nothing(name: str) -> None:
    X, y = draw(40, 3, 5)
    copy = clone(CLASSIFIERS[name]().fit(X, y))
    with pytest.raises(NotFittedError):
        copy.predict(X)


def test_parameters_out_of_range_are_refused(name: str) -> None:
    X, y = draw(40, 3, 6)
    parameter = "C" if "C" in CLASSIFIERS[name]().get_params() else "smoothing"
    for value in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"{parameter}|smoothing"):
            CLASSIFIERS[name](**{parameter: value}).check()
        with pytest.raises(ValueError, match=f"{parameter}|smoothing"):
            CLASSIFIERS[name](**{parameter: value}).fit(X, y)


def test_the_complement_is_scikit_learns() -> None:
    (X, y), (test, _) = draw(40, 3, 7), draw(30, 3, 8)
    theirs = ComplementNB(alpha=0.5, force_alpha=True).fit(X, y)
    np.testing.assert_array_equal(
        ComplementBayes(0.5).fit(X, y).class_scores(test), theirs.predict_joint_log_proba(test)
    )


def test_linear_models_are_trained_alike_every_time() -> None:
    X, y = draw(60, 3, 9)
    for make in (LinearSvm, lambda: LinearSvm(loss="squared-hinge"), LogisticClassifier):
        once, twice = (make().fit(X / 30, y).class_scores(X) for _ in range(2))
        np.testing.assert_array_equal(once, twice)


@pytest.mark.parametrize("cls", [LinearSvm, LogisticClassifier])
def test_the_more_an_error_costs_the_longer_are_the_weights(cls: type) -> None:
    X, y = draw(60, 3, 10)
    lengths = [np.linalg.norm(cls(C=C).fit(X / 30, y).coef_) for C in (0.01, 0.1, 1.0)]
    assert lengths[0] < lengths[1] / 2 < lengths[2] / 4


def test_an_unknown_loss_is_refused() -> None:
    with pytest.raises(ValueError, match="loss must be one of hinge, squared-hinge, not 'square'"):
        LinearSvm(loss="square").check()
