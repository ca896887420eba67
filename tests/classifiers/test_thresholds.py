"""The thresholds of classes against brute force and scikit-learn, and where there is little to learn them from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score
from sklearn.model_selection import TunedThresholdClassifierCV

from benchmark.classifiers.thresholds import (
    MIN_THRESHOLD_F1,
    class_thresholds,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def columns(values: list[float], inside: list[bool]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    return np.array(values)[:, None], np.array(inside)[:, None]


def f1(members: NDArray[np.bool_], given: NDArray[np.bool_]) -> float:
    """Twice the documents that are right, of those that are in the class and those that are given it."""
    multilabel = members.sum() + given.sum()
    return float(2 * (members & given).sum() / multilabel) if multilabel else 0.0


@given(st.lists(st.tuples(st.integers(-6, 6), st.booleans()), min_size=2, max_size=25))
def test_no_other_threshold_has_a_larger_f1(documents: list[tuple[int, bool]]) -> None:
    """Of all that give the class to some documents and not to all, unless even the largest F1 is small."""
    values, members = columns([value / 4 for value, _ in documents], [inside for _, inside in documents])
    (threshold,) = class_thresholds(values, members)
    cuts = np.unique(values)
    best = max((f1(members, values > cut) for cut in cuts[:-1]), default=0.0)
    if best < MIN_THRESHOLD_F1:
        assert threshold == cuts[-1]
    else:
        assert f1(members, values > threshold) == pytest.approx(best)
        assert not np.isin(threshold, cuts)


class Given(ClassifierMixin, BaseEstimator):
    """Its decision values are what it is given."""

    classes_ = np.array([False, True])

    def fit(self, X: object, y: object) -> Given:
        return self

    def decision_function(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return X[:, 0]


def test_f1_is_that_of_the_threshold_which_scikit_learn_tunes() -> None:
    rng = np.random.default_rng(3)
    inside = rng.random(60) < 0.3
    values = (rng.normal(size=60) + 1.2 * inside).round(2)
    grid = np.unique(values)
    tuned = TunedThresholdClassifierCV(
        FrozenEstimator(Given()), scoring="f1", cv="prefit", refit=False, thresholds=grid
    ).fit(values[:, None], inside)
    (threshold,) = class_thresholds(*columns(values.tolist(), inside.tolist()))
    assert f1_score(inside, values > threshold) == pytest.approx(tuned.best_score_)


def test_a_class_of_which_nothing_is_known_is_given_above_the_highest_value_alone() -> None:
    values = np.array([[-1.0, -np.inf, -np.inf], [-3.0, -1.5, -np.inf], [-2.0, -2.0, -np.inf]])
    members = np.array([[False, True, True], [False, False, False], [False, False, False]])
    np.testing.assert_array_equal(class_thresholds(values, members), [-1.0, -1.5, 0.0])


def test_each_class_has_its_own() -> None:
    rng = np.random.default_rng(4)
    members = rng.random((40, 3)) < [0.5, 0.3, 0.2]
    values = rng.normal(size=(40, 3)) + members
    whole = class_thresholds(values, members)
    alone = [class_thresholds(values[:, [c]], members[:, [c]])[0] for c in range(3)]
    np.testing.assert_array_equal(whole, alone)
    np.testing.assert_allclose(class_thresholds(2 * values + 5, members), 2 * whole + 5)


@pytest.mark.parametrize(("before", "expected"), [(7, 47.5), (8, 57.0)])
def test_an_f1_of_exactly_the_least_is_enough(before: int, expected: float) -> None:
    """Three of ten documents of the class come after some others, seven last: F1 is 6 / (10 + before + 3)."""
    inside = np.array([False] * before + [True] * 3 + [False] * (47 - before) + [True] * 8)[:57]
    values, members = columns(np.arange(57.0, 0, -1).tolist(), inside.tolist())
    best = max(f1(members, values > cut) for cut in range(1, 57))
    assert (best == pytest.approx(MIN_THRESHOLD_F1, abs=1e-12)) == (before == 7)
    assert class_thresholds(values, members).tolist() == [expected]


def test_values_that_are_not_finite_are_left_out() -> None:
    rng = np.random.default_rng(5)
    members = rng.random(50) < 0.4
    values = rng.normal(size=50) + members
    expected = class_thresholds(*columns(values.tolist(), members.tolist()))
    strange = np.concatenate([values, [np.nan, np.inf, -np.inf]])
    for inside in (True, False):
        own = np.concatenate([members, [inside] * 3])
        np.testing.assert_array_equal(class_thresholds(*columns(strange.tolist(), own.tolist())), expected)
