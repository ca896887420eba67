"""What others' classifiers return is checked, and means what it says: classes, ties and scores."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import MultinomialNB

from benchmark.methods.plugin_outputs import (
    CheckedClassifier,
    check_real_array,
    checked_classifier,
    predicted_codes,
    scores_of,
    takes_sparse,
    value_of_class,
)

POINTS = sp.csr_array(np.arange(12, dtype=np.float64).reshape(4, 3))


class Theirs:
    """Says what it was given, and writes over what it gets."""

    def __init__(self, predicted: Any = (2, 0, 2, 0), scores: Any = None, classes: Any = (0, 2)) -> None:
        self.predicted, self.values, self.classes = predicted, scores, classes
        if scores is not None:
            self.decision_function = lambda X: self.values  # noqa: ARG005

    def fit(self, X: Any, y: Any, rankings: Any = None) -> Any:
        X.data[:] = 7
        y[:] = 7
        if rankings is not None:
            rankings[:] = 7
        if self.classes is not None:
            self.classes_ = np.asarray(self.classes)

    def predict(self, X: Any) -> Any:
        X.data[:] = 7
        return self.predicted


def trained(*given: Any, labels: Any = (2, 0, 2, 0), **named: Any) -> CheckedClassifier:
    points, codes, rankings = POINTS.copy(), np.array(labels, dtype=np.int32), np.array([[1, 2], [2, 1]])
    made = CheckedClassifier(Theirs(*given, **named)).fit(points, codes, rankings)
    assert (points != POINTS).nnz == 0, "it was given a copy"
    assert (codes.tolist(), rankings.tolist()) == (list(labels), [[1, 2], [2, 1]])
    return made


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, 2.0, 3.0], r"it gives values of the shape \(3,\), not \(2,\)"),
        (["a", "b"], r"it gives values of the type list \(<U1\), not real numbers"),
        (np.ma.masked_array([1.0, 2.0]), "it gives values of the type MaskedArray"),
        (np.array([1j, 2j]), "not real numbers"),
        (np.array([True, False]), "not real numbers"),
        ([1.0, np.nan], "it gives values that are not finite numbers"),
        ([1.0, -np.inf], "it gives values that are not finite numbers"),
        ([[1.0], [1.0, 2.0]], "it gives values that are no array: "),
    ],
)
def test_values_are_real_finite_and_of_their_shape(values: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_real_array(values, (2,), "it")
    found = check_real_array(np.array([1, 2], dtype=np.uint8), (2,), "it")
    assert (found.dtype, found.tolist()) == (np.float64, [1.0, 2.0])


@pytest.mark.parametrize("classes", [(0, 1), (0, 2, 2), (0,), (0, 2, 3), (0.0, 2.0), ((0, 2),), ("0", "2")])
def test_classes_that_are_not_those_of_training_are_refused(classes: Any) -> None:
    with pytest.raises(ValueError, match=r"its classes_ are .*, but the training classes are \[0, 2\]"):
        trained(classes=classes)
    assert trained(classes=None).classes_.tolist() == [0, 2]


def test_what_fit_returns_is_what_predicts() -> None:
    """Or the classifier itself, where it returns nothing."""

    class Maker:
        def fit(self, X: Any, y: Any) -> Any:
            self.made = Theirs((0, 0, 2, 2), np.arange(4.0))
            self.made.fit(X, y)
            return self.made

    made = CheckedClassifier(Maker()).fit(POINTS.copy(), np.array([2, 0, 2, 0], dtype=np.int32))
    assert made.predict(POINTS).tolist() == [0, 0, 2, 2]
    assert made.scores(POINTS)[:, 1].tolist() == [0.0, 1.0, 2.0, 3.0]  # type: ignore[index]


def test_predictions_are_training_classes() -> None:
    points = POINTS.copy()
    assert trained().predict(points).tolist() == [2, 0, 2, 0]
    assert (points != POINTS).nnz == 0
    for predicted, words in (
        ((2, 0, 2), r"its predict of 4 documents gives values of the shape \(3,\), not \(4,\)"),
        ((2, 0, 1, 0), r"its predict gives 1, but the training classes are \[0, 2\]"),
    ):
        with pytest.raises(ValueError, match=words):
            trained(predicted).predict(POINTS)


@pytest.mark.parametrize("classes", [(0, 2), (2, 0)])
def test_scores_are_by_class_and_the_prediction_has_the_last_word(classes: tuple[int, int]) -> None:
    """Whatever the order of the classifier's classes."""
    two = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    own = two if classes == (0, 2) else two[:, ::-1]
    codes, tied, scores = predicted_codes(trained(scores=own, classes=classes), POINTS)
    assert (codes.tolist(), tied.tolist()) == ([2, 0, 2, 0], [False, False, False, True])
    np.testing.assert_array_equal(scores, two)
    made = trained(scores=own, classes=classes)
    found = scores_of(made, POINTS)[:, made.classes_.argsort()]
    assert found.argmax(axis=1).tolist() == [1, 0, 1, 0], "the third is predicted though it has the lower score"
    assert found[2, 1] == np.nextafter(1.0, np.inf)
    np.testing.assert_array_equal(found[:2], two[:2])
    assert made.classes_[scores_of(made, POINTS).argmax(axis=1)].tolist() == [2, 0, 2, 0], "of the tie too"
    one = np.array([1.0, -1.0, -3.0, 0.0])
    values = trained(scores=one).scores(POINTS)
    np.testing.assert_array_equal(values[:, 1] - values[:, 0] > 0, one > 0)  # type: ignore[index]
    np.testing.assert_array_equal(scores_of(trained(), POINTS), [[0, 1], [1, 0], [0, 1], [1, 0]])
    codes, tied, scores = predicted_codes(trained(), POINTS)
    assert (codes.tolist(), tied.any(), scores) == ([2, 0, 2, 0], False, None)


@pytest.mark.parametrize(
    ("classes", "shape", "wanted"),
    [
        ((0, 1, 2), (4,), (4, 3)),
        ((0, 1, 2), (4, 1), (4, 3)),
        ((0, 1, 2), (3, 4), (4, 3)),
        ((0, 1, 2), (4, 3), None),
        ((0, 1), (4,), None),
        ((0, 1), (4, 2), None),
        ((0, 1), (4, 1), (4, 2)),
        ((0, 1), (3,), (4,)),
        ((0,), (4,), (4, 1)),
        ((0,), (4, 1), None),
    ],
)
def test_only_of_two_classes_a_score_may_be_of_both(classes: Any, shape: Any, wanted: Any) -> None:
    scores = np.arange(float(np.prod(shape))).reshape(shape)
    labels = tuple(np.resize(np.array(classes), 4).tolist())
    made = trained(labels, scores, classes, labels=labels)
    if wanted is None:
        assert made.scores(POINTS).shape == (4, len(classes))  # type: ignore[union-attr]
    else:
        what = f"its decision_function of 4 documents and {len(classes)} classes"
        with pytest.raises(ValueError, match=re.escape(f"{what} gives values of the shape {shape}, not {wanted}")):
            made.scores(POINTS)


@pytest.mark.parametrize("classes", [(0, 1), (1, 0)])
@pytest.mark.parametrize("best", [-1e300, -1.0, -5e-324, 0.0, 5e-324, 1e-308, 1.0, 1e300])
def test_a_binary_value_is_positive_where_one_is_predicted(best: float, classes: tuple[int, int]) -> None:
    """Though its scores tie or say otherwise; where they agree, it is half of their difference."""
    labels = (1, 0, 1, 0)
    tied = trained(labels, np.full((4, 2), best), classes, labels=labels)
    assert (value_of_class(tied, POINTS) > 0).tolist() == [True, False, True, False]
    own = np.array([[0.0, 3.0], [2.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    made = trained(labels, own if classes == (0, 1) else own[:, ::-1], classes, labels=labels)
    values = value_of_class(made, POINTS)
    assert values[:2].tolist() == [1.5, -1.0]
    assert 0 < values[2] < 1e-12
    assert -1e-12 < values[3] < 0


class Ours:
    """A classifier of this package, with a score that is no number."""

    classes_ = np.arange(3)

    def __init__(self, wrong: float) -> None:
        self.wrong = wrong

    def decision_function(self, _: Any) -> Any:
        return np.array([[1.0, 2.0, self.wrong]])


def test_scores_of_ours_that_are_not_finite_are_refused() -> None:
    for wrong in (np.nan, np.inf, -np.inf):
        for scored in (scores_of, predicted_codes, value_of_class):
            with pytest.raises(FloatingPointError, match="a decision value is not a finite number"):
                scored(Ours(wrong), POINTS[:1])


def test_a_library_says_which_points_it_takes_and_dense_ones_must_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    dense = checked_classifier(HistGradientBoostingClassifier())
    assert takes_sparse(MultinomialNB())
    assert takes_sparse(Theirs())
    assert not takes_sparse(dense.classifier)
    labels = np.array([1, 0, 1, 0], dtype=np.int32)
    monkeypatch.setattr("benchmark.methods.plugin_outputs.free_memory", lambda: 96)
    dense.fit(POINTS, labels)
    monkeypatch.setattr("benchmark.methods.plugin_outputs.free_memory", lambda: 95)
    with pytest.raises(ValueError, match=r"takes dense points only, and 4 documents × 3 coordinates take 0\.0 GB"):
        dense.fit(POINTS, labels)
