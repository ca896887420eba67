"""Every classifier that scikit-learn trains scores as scikit-learn's own does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.svm import LinearSVC

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.sklearn_adapter import SklearnClassifier

NAMES = [name for name, cls in CLASSIFIERS.items() if issubclass(cls, SklearnClassifier)]
_DUAL = {"random_state": 0, "max_iter": 100_000}
#: What scikit-learn's own estimator is called and asked for, for 60 documents.
ESTIMATORS = [
    *(("mnb", {"smoothing": s}, MultinomialNB(alpha=s, force_alpha=True)) for s in (1.0, 1e-20)),
    *(("complement-nb", {"smoothing": s}, ComplementNB(alpha=s, force_alpha=True)) for s in (1.0, 0.5)),
    ("linear-svm", {}, LinearSVC(loss="hinge", **_DUAL)),
    ("linear-svm", {"C": 3.0, "epsilon": 0.02}, LinearSVC(C=3.0, tol=0.02, loss="hinge", **_DUAL)),
    ("linear-svm", {"loss": "squared-hinge"}, LinearSVC(dual=False, **_DUAL)),
    ("streamed-svm", {}, SGDClassifier(alpha=1 / 60, max_iter=10, tol=None, average=True, random_state=0)),
    (
        "streamed-svm",
        {"C": 4.0, "passes": 7, "seed": 9},
        SGDClassifier(alpha=1 / 240, max_iter=7, tol=None, average=True, random_state=9),
    ),
    *(("logistic", {"C": C}, LogisticRegression(C=C, tol=1e-6, max_iter=100_000)) for C in (1.0, 3.0)),
]


def counts(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    labels = np.arange(60) % n_classes
    terms = rng.dirichlet(np.full(20, 0.3), size=n_classes)
    return np.array([rng.multinomial(30, terms[label]) for label in labels]), labels


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(("name", "parameters", "estimator"), ESTIMATORS)
def test_scores_are_to_the_bit_those_of_scikit_learns_estimator(
    name: str, parameters: dict[str, Any], estimator: Any, n_classes: int
) -> None:
    X, y = counts(n_classes)
    X = sp.csr_array(X.astype(float))
    classifier = CLASSIFIERS[name](**parameters).fit(X, y)
    theirs = clone(estimator).fit(X, y)
    scores = classifier.decision_function(X)
    if hasattr(theirs, "decision_function"):
        np.testing.assert_array_equal(scores, theirs.decision_function(X))
    else:
        joint = theirs.predict_joint_log_proba(X)
        np.testing.assert_array_equal(scores, joint[:, 1] - joint[:, 0] if n_classes == 2 else joint)
    np.testing.assert_array_equal(classifier.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", NAMES)
def test_points_of_another_width_are_refused(name: str) -> None:
    X, y = counts(2)
    with pytest.raises(ValueError, match=r"X has 19 features, but .* is expecting 20 features"):
        CLASSIFIERS[name]().fit(X, y).decision_function(X[:, 1:])
