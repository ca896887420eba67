"""What classifiers of points hold while they are trained."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.classifiers.linear_models import LinearSvm
from benchmark.methods import points
from benchmark.methods.registry import method_for
from benchmark.plugins.samples import groups_of, problem_of

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from benchmark.methods.workbench import Workbench


@pytest.mark.parametrize(("n_splits", "held"), [(1, [0]), (2, [1, 1])])
def test_points_of_all_documents_are_held_for_other_splits_alone(
    n_splits: int, held: list[int], bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[Any]] = []
    alive: list[int] = []
    points_of, fit = points.points_of, LinearSvm.fit

    def watched(*given: Any) -> Any:
        found = points_of(*given)
        made.append(weakref.ref(found))
        return found

    def fitted(self: LinearSvm, X: Any, y: Any) -> LinearSvm:
        alive.append(sum(each() is not None for each in made))
        return fit(self, X, y)

    monkeypatch.setattr(points, "points_of", watched)
    monkeypatch.setattr(LinearSvm, "fit", fitted)
    problem = problem_of(several=False)
    spec = spec_of("linear-svm", represented("tf", "l1", "training", features="hellinger"))
    splits = groups_of(problem)[:n_splits]
    method_for(spec, problem, None, draws=False).solve(problem, splits, None, bench)
    assert len(made) == 1
    assert alive == held
