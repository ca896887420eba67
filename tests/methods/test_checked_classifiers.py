"""What others' classifiers return is checked, and means what it says: classes, ties, scores and warnings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning

from benchmark.methods.checked_classifiers import (
    CheckedClassifier,
    checked_classifier,
    collect_warnings,
    predicted_codes,
    value_of_class,
)

POINTS = sp.csr_array(np.arange(12, dtype=np.float64).reshape(4, 3))
TRAINING = (2, 0, 2, 0)


class Theirs:
    """Says what it was given, and writes over what it gets."""

    def __init__(self, predicted: Any = TRAINING, scores: Any = None, classes: Any = (0, 2)) -> None:
        self.predicted, self.values, self.classes_ = predicted, scores, np.asarray(classes)
        if scores is not None:
            self.decision_function = lambda X: self.values  # noqa: ARG005

    def fit(self, X: Any, y: Any) -> None:
        X.data[:] = 7
        y[:] = 7

    def predict(self, X: Any) -> Any:
        X.data[:] = 7
        return self.predicted


def trained(*given: Any, labels: Any = TRAINING, **named: Any) -> CheckedClassifier:
    points, codes = POINTS.copy(), np.array(labels, dtype=np.int32)
    made = CheckedClassifier(Theirs(*given, **named)).fit(points, codes)
    assert (points != POINTS).nnz == 0, "it was given a copy"
    assert codes.tolist() == list(labels)
    return made


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"classes": (0, 2, 2)}, r"its classes_ are .*, but the training classes are \[0, 2\]"),
        ({"classes": (0.0, 2.0)}, r"its classes_ are .*, but the training classes are \[0, 2\]"),
        ({"predicted": (2, 0, 2)}, r"its predict of 4 documents gives values of the shape \(3,\), not \(4,\)"),
        ({"predicted": (2, 0, 1, 0)}, r"its predict of 4 documents gives 1, but the training classes are \[0, 2\]"),
        ({"predicted": list("abcd")}, r"its predict of 4 documents gives values of the type list .*, not real numbers"),
        ({"scores": np.ones((4, 3))}, r"its decision_function of 4 documents and 2 classes gives .* not \(4, 2\)"),
        ({"scores": np.ones(3)}, r"gives values of the shape \(3,\), not \(4,\)"),
        ({"scores": np.full(4, np.nan)}, "gives values that are not finite numbers"),
        ({"scores": np.array([True] * 4)}, "not real numbers"),
    ],
)
def test_what_is_no_class_or_score_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        predicted_codes(trained(**wrong), POINTS)


@pytest.mark.parametrize("classes", [(0, 2), (2, 0)])
def test_scores_are_by_class_and_the_prediction_has_the_last_word(classes: tuple[int, int]) -> None:
    """Whatever the order of the classifier's classes; one score of two classes is that of the second."""
    two = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    made = trained(scores=two if classes == (0, 2) else two[:, ::-1], classes=classes)
    codes, tied, scores = predicted_codes(made, POINTS)
    assert (codes.tolist(), tied.tolist()) == ([2, 0, 2, 0], [False, False, False, True])
    np.testing.assert_array_equal(scores, two)
    scores = predicted_codes(trained(scores=np.array([1.0, -1.0, -3.0, 0.0])), POINTS)[2]
    assert (scores[:, 1] - scores[:, 0] > 0).tolist() == [True, False, False, False]  # type: ignore[index]
    codes, tied, scores = predicted_codes(trained(), POINTS)
    assert (codes.tolist(), tied.any(), scores) == ([2, 0, 2, 0], False, None)


@pytest.mark.parametrize("classes", [(0, 1), (1, 0)])
def test_a_binary_value_is_positive_where_one_is_predicted(classes: tuple[int, int]) -> None:
    """Though its scores tie or say otherwise; where they agree, it is half of their difference."""
    labels, order = (1, 0, 1, 0), list(classes)
    for best in (-1e300, -5e-324, 0.0, 1e-308, 1e300):
        tied = trained(labels, np.full((4, 2), best), classes, labels=labels)
        assert (value_of_class(tied, POINTS) > 0).tolist() == [True, False, True, False]
    own = np.array([[0.0, 3.0], [2.0, 0.0], [2.0, 0.0], [0.0, 3.0]])[:, order]
    values = value_of_class(trained(labels, own, classes, labels=labels), POINTS)
    assert values[:2].tolist() == [1.5, -1.0]
    assert (values[2:] > 0).tolist() == [True, False]


def test_dense_points_must_fit_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    dense, labels = checked_classifier(HistGradientBoostingClassifier()), np.array([1, 0, 1, 0], dtype=np.int32)
    monkeypatch.setattr("benchmark.methods.checked_classifiers.free_memory", lambda: 96)
    dense.fit(POINTS, labels)
    monkeypatch.setattr("benchmark.methods.checked_classifiers.free_memory", lambda: 95)
    with pytest.raises(ValueError, match=r"takes dense points only, and 4 documents × 3 coordinates take 0\.0 GB"):
        dense.fit(POINTS, labels)


def test_warnings_are_collected_but_for_those_of_the_future() -> None:
    """Each once, in at most 200 characters."""
    with collect_warnings() as texts:
        for _ in range(2):
            warnings.warn("not\nyet", ConvergenceWarning, stacklevel=1)
        warnings.warn("word " * 99, UserWarning, stacklevel=1)
        warnings.warn("soon", FutureWarning, stacklevel=1)
    assert texts == ["ConvergenceWarning: not\\nyet", f"UserWarning: {'word ' * 37}…"]
