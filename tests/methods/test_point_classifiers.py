"""What classifiers of points hold while they are trained."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.classifiers.linear_models import LinearSvm
from benchmark.methods import point_classifiers as points
from benchmark.methods.registry import build_method
from tests.toy_data import toy_group_splits, toy_problem

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from benchmark.methods.matrix_cache import MatrixCache


@pytest.mark.parametrize(("n_splits", "held"), [(1, [0]), (2, [1, 1])])
def test_points_of_all_documents_are_held_for_other_splits_alone(
    n_splits: int, held: list[int], bench: MatrixCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[Any]] = []
    alive: list[int] = []
    points_of, fit = points.weighted_points, LinearSvm.fit

    def watched(*given: Any) -> Any:
        found = points_of(*given)
        made.append(weakref.ref(found))
        return found

    def fitted(self: LinearSvm, X: Any, y: Any) -> LinearSvm:
        alive.append(sum(each() is not None for each in made))
        return fit(self, X, y)

    monkeypatch.setattr(points, "weighted_points", watched)
    monkeypatch.setattr(LinearSvm, "fit", fitted)
    problem = toy_problem(multilabel=False)
    spec = spec_of("linear-svm", represented("tf", "l1", "training", features="hellinger"))
    splits = toy_group_splits(problem)[:n_splits]
    build_method(spec, problem, None, replicated=False).solve(problem, splits, None, bench)
    assert len(made) == 1
    assert alive == held
