"""What holds for every registered classifier that is given points."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import ComplementNB
from sklearn.svm import LinearSVC

from benchmark.classifiers import CLASSIFIERS, ComplementBayes, LinearSvm, LogisticClassifier, NbSvm
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


def test_sparse_and_dense_points_are_the_same_and_stay_as_they_are(name: str) -> None:
    X, y = draw(40, 3, 3)
    before, rows = X.copy(), sp.csr_array(X.astype(float))
    dense, sparse = (CLASSIFIERS[name]().fit(points, y) for points in (X, rows))
    np.testing.assert_allclose(sparse.decision_function(rows), dense.decision_function(X), rtol=1e-4)
    for points in (X, rows.toarray()):
        np.testing.assert_array_equal(points, before)


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
    parameter = next(each for each in ("C", "smoothing", "amplitude") if each in CLASSIFIERS[name]().get_params())
    for value in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"{parameter}|smoothing"):
            CLASSIFIERS[name](**{parameter: value}).check()
        with pytest.raises(ValueError, match=f"{parameter}|smoothing"):
            CLASSIFIERS[name](**{parameter: value}).fit(X, y)


def test_the_complement_is_scikit_learns() -> None:
    (X, y), (test, _) = draw(40, 3, 7), draw(30, 3, 8)
    theirs = ComplementNB(alpha=0.5, force_alpha=True).fit(X, y)
    np.testing.assert_array_equal(
        ComplementBayes(0.5).fit(X, y).decision_function(test), theirs.predict_joint_log_proba(test)
    )


def test_linear_models_are_trained_alike_every_time() -> None:
    X, y = draw(60, 3, 9)
    for make in (LinearSvm, lambda: LinearSvm(loss="squared-hinge"), LogisticClassifier, NbSvm):
        once, twice = (make().fit(X / 30, y).decision_function(X) for _ in range(2))
        np.testing.assert_array_equal(once, twice)


@pytest.mark.parametrize("cls", [LinearSvm, LogisticClassifier])
def test_the_more_an_error_costs_the_longer_are_the_weights(cls: type) -> None:
    X, y = draw(60, 3, 10)
    lengths = [np.linalg.norm(cls(C=C).fit(X / 30, y).coef_) for C in (0.01, 0.1, 1.0)]
    assert lengths[0] < lengths[1] / 2 < lengths[2] / 4


def test_an_unknown_loss_is_refused() -> None:
    with pytest.raises(ValueError, match="loss must be one of hinge, squared-hinge, not 'square'"):
        LinearSvm(loss="square").check()


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

    def test_without_interpolation_each_term_speaks_as_naive_bayes_has_it(self) -> None:
        X, y = draw(60, 2, 13)
        weights = NbSvm(interpolation=0.0).fit(X, y).coef_[0]
        r = ratios(X, y == 1)
        np.testing.assert_allclose(weights / weights[0], r / r[0], rtol=1e-9)

    def test_of_two_classes_either_may_be_called_the_first(self) -> None:
        (X, y), (test, _) = draw(60, 2, 14), draw(30, 2, 15)
        own, turned = (NbSvm().fit(X, labels).decision_function(test) for labels in (y, 1 - y))
        np.testing.assert_allclose(turned, -own, rtol=0, atol=1e-3 * np.abs(own).max())

    def test_what_has_no_logarithm_or_nothing_to_separate_is_refused(self) -> None:
        X, y = draw(40, 3, 16)
        with pytest.raises(ValueError, match="Negative values"):
            NbSvm().fit(X - 1, y)
        with pytest.raises(ValueError, match="class"):
            NbSvm().fit(X, np.zeros(40))
        for value in (-0.1, 1.1, float("nan")):
            with pytest.raises(ValueError, match="interpolation must be a number from 0 to 1"):
                NbSvm(interpolation=value).check()
        for value in (0.0, -1.0, float("nan"), float("inf")):
            with pytest.raises(ValueError, match="smoothing must be a positive number"):
                NbSvm(smoothing=value).fit(X, y)
