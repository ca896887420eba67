"""Every classifier that scikit-learn trains scores as scikit-learn's own does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.classifiers import CLASSIFIERS
from benchmark.classifiers.sklearn_adapter import SklearnClassifier

NAMES = [name for name, cls in CLASSIFIERS.items() if issubclass(cls, SklearnClassifier)]
#: Those that scikit-learn has no estimator of, or none by itself.
OF_OUR_OWN = ("ppt", "eef", "nb-svm", "born", "twcnb", "divergence-bayes")


def counts(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    labels = np.arange(60) % n_classes
    terms = rng.dirichlet(np.full(20, 0.3), size=n_classes)
    return np.array([rng.multinomial(30, terms[label]) for label in labels]), labels


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_OUR_OWN])
def test_scores_are_to_the_bit_those_of_scikit_learns_estimator(name: str, n_classes: int) -> None:
    X, y = counts(n_classes)
    X = sp.csr_array(X.astype(float))
    classifier = CLASSIFIERS[name]().fit(X, y)
    theirs = classifier.untrained(60).fit(X, y)
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


@pytest.mark.parametrize("name", NAMES)
def test_column_numbers_may_be_of_64_bits(name: str) -> None:
    X, y = counts(4)
    narrow = sp.csr_array(X.astype(float))
    wide = narrow.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    one, other = (CLASSIFIERS[name]().fit(points, y).decision_function(points) for points in (narrow, wide))
    np.testing.assert_array_equal(one, other)
