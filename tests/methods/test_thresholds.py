"""Thresholds of classes: learned from the training documents alone, and the same in a run and in what is kept of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.classifiers import LinearSvm
from benchmark.classifiers.thresholds import THRESHOLDS, class_thresholds
from benchmark.config.components import Component, check_component
from benchmark.methods.problem import term_gains
from benchmark.methods.wrappers import build_method, inner_folds
from benchmark.representation.selection import rank_terms
from tests.points import points_pipeline
from tests.toy_data import toy_group_splits, toy_problem

from .conftest import KEPT, SELECTED, default_spec, represented, trained, with_documents

if TYPE_CHECKING:
    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.splits import Split
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem


def problem(*, key: str = "of some class", members: Any = None, **changes: Any) -> Problem:
    """Documents of one class at least, and often of two."""
    found = toy_problem(multilabel=True)
    own = found.members.copy()
    own[~own.any(axis=1), 1] = True
    return replace(with_documents(found, key, topics=own if members is None else members), **changes)


def rule(name: str) -> Component | None:
    return None if name == "zero" else check_component("threshold", THRESHOLDS, name)


def spec(name: str, threshold: str) -> MethodSpec:
    return replace(default_spec(name, "training"), threshold=rule(threshold))


def decided(spec: MethodSpec, given: Problem, split: Split, bench: MatrixCache) -> SettingPredictions:
    (found,) = build_method(spec, given, None, replicated=False).solve(given, [split], None, bench)
    return found


@pytest.mark.parametrize("name", KEPT)
def test_at_least_one_adds_the_class_of_the_largest_value_where_there_is_none(name: str, bench: MatrixCache) -> None:
    """Also where the first class has no training document."""
    given = problem()
    members = np.hstack([np.zeros((60, 1), dtype=bool), given.members[:, :2]])
    for each in (given, problem(key="without the first", members=members)):
        for split in toy_group_splits(each):
            plain, more = (decided(spec(name, rule), each, split, bench) for rule in ("zero", "at-least-one"))
            none = ~plain.predicted.any(axis=1)
            np.testing.assert_array_equal(more.predicted[~none], plain.predicted[~none])
            best = plain.values.argmax(axis=1)[none]  # type: ignore[union-attr]
            np.testing.assert_array_equal(more.predicted[none], best[:, None] == np.arange(3))
            assert none.any() or each is given


class Wrong:
    """A rule of someone else's."""

    def __init__(self, thresholds: Any = None) -> None:
        self.thresholds = thresholds

    def fit(self, values: Any, members: Any) -> None:
        assert values.shape == members.shape
        assert members.dtype == bool
        self.thresholds_ = self.thresholds


@pytest.mark.parametrize("terms", [None, 20])
def test_a_value_that_is_the_threshold_is_a_tie_and_not_predicted(terms: int | None, bench: MatrixCache) -> None:
    """Whether terms are selected or not; a value of 0 is no tie."""
    given = problem()
    split = toy_group_splits(given)[0]
    plain = build_method(spec("mnb", "zero"), given, terms and SELECTED, replicated=False)
    fitted, inputs = trained(plain, given, split, terms, bench)
    values = fitted.class_values(inputs[split.test])
    thresholds = values[[1, 4, 6], [0, 1, 2]]
    wanted = replace(plain.spec, threshold=Component.of("wrong", Wrong, {"thresholds": thresholds}))
    method = build_method(wanted, given, terms and SELECTED, replicated=False)
    (found,) = method.solve(given, [split], terms, bench)
    np.testing.assert_array_equal(found.tied, values == thresholds)
    assert found.tied[[1, 4, 6], [0, 1, 2]].all()
    np.testing.assert_array_equal(found.predicted, values > thresholds)
    np.testing.assert_array_equal(found.values, values - thresholds)
    wanted = replace(plain.spec, threshold=Component.of("wrong", Wrong, {"thresholds": [0.0, 1.0]}))
    with pytest.raises(ValueError, match=r"the threshold rule Wrong gives values of the shape \(2,\), not \(3,\)"):
        decided(wanted, given, split, bench)


@pytest.mark.parametrize("terms", [None, 20])
def test_thresholds_are_those_of_machines_trained_fold_by_fold(terms: int | None, bench: MatrixCache) -> None:
    """And class by class, terms and weights included."""
    given, split = problem(), toy_group_splits(problem())[0]
    weighted = replace(spec("linear-svm", "cross-validated"), representation=represented("tfidf", "l2", "training"))
    members, values = given.members, np.empty((60, 3))

    def machines(train: Any, test: Any) -> np.ndarray[Any, Any]:
        chosen = slice(None) if terms is None else rank_terms(term_gains(given, train).max(axis=0))[:terms]
        matrix = given.counts.matrix[:, chosen]
        weighting = points_pipeline("tfidf", "l2").fit(matrix[train])
        points, asked = weighting.transform(matrix[train]), weighting.transform(matrix[test])
        each = (LinearSvm().fit(points, members[train, c]).decision_function(asked) for c in range(3))
        return np.stack(list(each), axis=1)

    for fold in inner_folds(given, split):
        values[fold.test] = machines(fold.train, fold.test)
    thresholds = class_thresholds(values[split.train], members[split.train])
    assert np.abs(thresholds).max() > 0.05
    (found,) = build_method(weighted, given, SELECTED, replicated=False).solve(given, [split], terms, bench)
    np.testing.assert_array_equal(found.predicted, machines(split.train, split.test) > thresholds)
