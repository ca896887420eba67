"""Every parameter of every classifier: it reaches the solver, changes what is learned, and has the stated limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import get_tags

from benchmark.classifiers import CLASSIFIERS
from benchmark.system.tags import tags_of

POINTS = [name for name, cls in CLASSIFIERS.items() if not tags_of(cls).needs_kernel]
NAN, INF = float("nan"), float("inf")


def draw(n: int, seed: int, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    terms = np.random.default_rng(0).dirichlet(np.full(15, 0.5), size=n_classes)
    labels = rng.integers(n_classes, size=n)
    labels[:n_classes] = range(n_classes)
    return np.array([rng.multinomial(rng.integers(5, 40), terms[label]) for label in labels]), labels


#: Another value of each parameter than its default, which changes the decision values of noisy documents.
OTHERWISE: dict[str, dict[str, Any]] = {
    "svm": {"C": 0.01, "epsilon": 0.5, "scheme": "one-vs-rest", "ridge": 3.0, "scale_C": "mean-self-product"},
    "mnb": {"smoothing": 0.1},
    "complement-nb": {"smoothing": 0.1},
    "twcnb": {"smoothing": 0.1},
    "ppt": {"n_terms": 4, "smoothing": 0.1},
    "eef": {"n_terms": 4, "smoothing": 0.1},
    "divergence-bayes": {"centroid": "skl", "smoothing": 1.0, "prior": "uniform", "length": "counted"},
    "born": {"amplitude": 0.9, "balance": 0.3, "entropy": 0.2},
    "linear-svm": {"C": 0.01, "loss": "squared-hinge", "scheme": "one-vs-one", "ridge": 3.0, "epsilon": 0.9},
    "streamed-svm": {"C": 0.01, "passes": 3, "seed": 1},
    "logistic": {"C": 0.01},
    "nb-svm": {"C": 0.01, "smoothing": 0.1, "interpolation": 0.9, "loss": "hinge", "epsilon": 0.9},
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_each_parameter_changes_what_is_learned(name: str) -> None:
    (X, y), (test, _) = draw(60, 1), draw(20, 2)
    X, test = X / 10, test / 10
    if tags_of(CLASSIFIERS[name]).needs_kernel:
        X, test = X @ X.T, test @ X.T
    assert set(OTHERWISE[name]) == set(CLASSIFIERS[name]().get_params()) - {"jobs"}
    plain = CLASSIFIERS[name]().fit(X, y).decision_function(test)
    for parameter, value in OTHERWISE[name].items():
        other = CLASSIFIERS[name](**{parameter: value}).fit(X, y).decision_function(test)
        assert other.shape == plain.shape
        assert np.abs(other - plain).max() > 1e-9, parameter


@pytest.mark.parametrize("name", ["mnb", "complement-nb", "twcnb", "ppt", "eef", "divergence-bayes", "born"])
def test_where_there_is_one_class_every_document_has_it(name: str) -> None:
    X, _ = draw(30, 5)
    predicted = CLASSIFIERS[name]().fit(X, np.full(30, "only")).predict(X[:7])
    assert predicted.tolist() == ["only"] * 7


@pytest.mark.parametrize("name", POINTS)
def test_one_negative_value_is_refused_where_none_is_allowed(name: str) -> None:
    X, y = draw(30, 9)
    wrong, cls = X.copy(), CLASSIFIERS[name]
    wrong[3, 4] = -1
    assert get_tags(cls()).classifier_tags.poor_score == cls().non_negative
    assert get_tags(cls()).input_tags.positive_only == cls().non_negative
    for points in (wrong, sp.csr_array(wrong)):
        if cls().non_negative:
            with pytest.raises(ValueError, match="Negative values"):
                cls().fit(points, y)
            with pytest.raises(ValueError, match="Negative values"):
                cls().fit(X, y).predict(points)
        else:
            assert cls().fit(points, y).predict(points).shape == (30,)


@pytest.mark.parametrize("name", ["twcnb", "born", "mnb", "complement-nb"])
def test_a_training_document_without_terms_leaves_finite_scores(name: str) -> None:
    X, y = draw(30, 10)
    X[[2, 11]] = 0
    for points in (X, sp.csr_array(X)):
        assert np.isfinite(CLASSIFIERS[name]().fit(points, y).decision_function(points)).all()
    if name == "born":
        kept = np.delete(np.arange(30), [2, 11])
        one, other = (CLASSIFIERS[name]().fit(X[rows], y[rows]).weights_ for rows in (np.arange(30), kept))
        np.testing.assert_allclose(one, other, rtol=1e-12)
