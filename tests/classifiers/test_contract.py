"""What holds for every registered classifier that is given a Gram matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from benchmark.classifiers import CLASSIFIERS
from benchmark.kernels import NegativeGeodesicDistance
from benchmark.representation import TermWeighting
from benchmark.system.tags import tags_of
from tests.classifiers.oracle import draw_problem

if TYPE_CHECKING:
    from tests.classifiers.oracle import Problem


@pytest.fixture(params=[name for name, cls in CLASSIFIERS.items() if tags_of(cls).needs_kernel])
def name(request: pytest.FixtureRequest) -> str:
    """Each registered classifier."""
    return str(request.param)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return draw_problem("ngd", n=60, n_classes=3, seed=20)


def test_fit_returns_the_classifier(name: str, problem: Problem) -> None:
    classifier = CLASSIFIERS[name]()
    assert is_classifier(classifier)
    assert classifier.fit(problem.gram, problem.labels) is classifier


def test_predictions_are_labels_that_were_trained_on(name: str, problem: Problem) -> None:
    for labels in (problem.labels, problem.labels.astype(str), problem.labels * 2.0):
        classifier = CLASSIFIERS[name]().fit(problem.gram, labels)
        predicted = classifier.predict(problem.test)
        assert predicted.shape == (len(problem.test),)
        assert predicted.dtype == labels.dtype
        assert set(predicted) <= set(labels)
        assert classifier.n_features_in_ == len(problem.gram)


def test_the_names_of_the_classes_do_not_matter(name: str, problem: Problem) -> None:
    """Nor does their alphabet: what counts is the order in which they appear."""
    names = dict(zip(np.unique(problem.labels), ["zeta", "alpha", "mu"], strict=True))
    renamed = np.array([names[label] for label in problem.labels])
    plain = CLASSIFIERS[name]().fit(problem.gram, problem.labels).predict(problem.test)
    other = CLASSIFIERS[name]().fit(problem.gram, renamed).predict(problem.test)
    np.testing.assert_array_equal(other, [names[label] for label in plain])


def test_classes_stand_in_order_of_appearance(name: str, problem: Problem) -> None:
    classifier = CLASSIFIERS[name]().fit(problem.gram, problem.labels)
    assert list(classifier.classes_) == list(dict.fromkeys(problem.labels.tolist()))


def test_fitting_twice_is_fitting_once(name: str, problem: Problem) -> None:
    once = CLASSIFIERS[name]().fit(problem.gram, problem.labels)
    twice = CLASSIFIERS[name]().fit(problem.gram[:30, :30], problem.labels[:30]).fit(problem.gram, problem.labels)
    np.testing.assert_array_equal(once.decision_function(problem.test), twice.decision_function(problem.test))


def test_arguments_are_left_as_they_are(name: str, problem: Problem) -> None:
    gram, labels, test = problem.gram.copy(), problem.labels.copy(), problem.test.copy()
    for part in (gram, labels, test):
        part.flags.writeable = False
    CLASSIFIERS[name]().fit(gram, labels).predict(test)


def test_a_prediction_depends_on_no_other_row(name: str, problem: Problem) -> None:
    classifier = CLASSIFIERS[name]().fit(problem.gram, problem.labels)
    whole = classifier.predict(problem.test)
    single = [classifier.predict(problem.test[row : row + 1])[0] for row in range(len(problem.test))]
    np.testing.assert_array_equal(single, whole)


def test_shapes_that_do_not_belong_together_fail(name: str, problem: Problem) -> None:
    classifier = CLASSIFIERS[name]()
    with pytest.raises(ValueError, match=r"shape \(60, 59\) and 60 labels"):
        classifier.fit(problem.gram[:, :-1], problem.labels)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier.fit(problem.gram, problem.labels[:-1])
    classifier.fit(problem.gram, problem.labels)
    with pytest.raises(ValueError, match="X has 59 features, but SupportVectorClassifier is expecting 60"):
        classifier.predict(problem.test[:, :-1])


def test_one_class_fails(name: str, problem: Problem) -> None:
    with pytest.raises(ValueError, match="at least two classes"):
        CLASSIFIERS[name]().fit(problem.gram, np.zeros(60))


def test_works_at_the_end_of_a_pipeline_and_in_a_grid_search(name: str) -> None:
    rng = np.random.default_rng(21)
    labels = np.tile(["a", "b", "c"], 20)
    terms = dict(zip("abc", rng.dirichlet(np.full(20, 0.3), size=3), strict=True))
    counts = np.array([rng.multinomial(40, terms[label]) for label in labels])
    pipeline = make_pipeline(TermWeighting(normalization="l1"), NegativeGeodesicDistance(), CLASSIFIERS[name]())
    step = pipeline.steps[-1][0]
    search = GridSearchCV(pipeline, {f"{step}__C": [0.01, 1.0]}, cv=3).fit(counts, labels)
    assert search.best_score_ > 0.95
    assert search.score(counts, labels) > 0.95
