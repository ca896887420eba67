"""Scores in scikit-learn's form and with a column for each class, and the method that they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.classifiers.class_scores import score_method, score_of_each, second_less_first

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.mark.parametrize(
    ("scores", "values", "each"),
    [
        ([[2.0], [-3.0]], [2.0, -3.0], [[-2.0, 2.0], [3.0, -3.0]]),  # of the second of two classes
        ([[1.0, 3.0], [4.0, -1.0]], [2.0, -5.0], [[-2.0, 2.0], [5.0, -5.0]]),
        ([[1.0, 3.0, 2.0]], [[1.0, 3.0, 2.0]], [[1.0, 3.0, 2.0]]),
    ],
)
def test_of_two_classes_there_is_one_value(scores: list[float], values: list[float], each: list[float]) -> None:
    found = second_less_first(np.array(scores))
    assert found.tolist() == values
    assert score_of_each(found).tolist() == each


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        (("decision_function", "predict_proba", "predict"), "decision_function"),
        (("predict_proba", "predict"), "predict_proba"),
        (("decision_function",), "decision_function"),
        (("predict", "predict_log_proba"), ""),
    ],
)
def test_decision_values_go_before_probabilities(methods: Sequence[str], expected: str) -> None:
    assert score_method(type("Classifier", (), dict.fromkeys(methods))()) == expected
