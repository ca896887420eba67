"""What a configuration runs is the class that is published under its name: there is no second one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.kernels import KERNELS, HyperplaneTop, PLSIFisher
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.registry import build_method
from tests.toy_data import toy_group_splits, toy_problem

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from benchmark.evaluation.predictions import SettingPredictions

REPRESENTATION = represented("tf", "l2", "training")


def decided(name: str, *, multilabel: bool) -> list[SettingPredictions]:
    problem = toy_problem(multilabel=multilabel)
    method = build_method(spec_of(name, REPRESENTATION), problem, None, replicated=False)
    return list(method.solve(problem, toy_group_splits(problem), None, MatrixCache()))


def test_hp_top_is_named_by_its_class() -> None:
    assert KERNELS["hp-top"] is HyperplaneTop
    assert spec_of("hp-top", REPRESENTATION).kernel.cls is HyperplaneTop


def test_hp_top_decides_as_its_class_does_on_the_same_documents() -> None:
    problem = toy_problem(multilabel=True)
    everything = problem.counts.matrix.astype(np.float64)
    points = everything / np.sqrt(everything.multiply(everything).sum(axis=1)).reshape(-1, 1)
    points = points.tocsr()
    for split, found in zip(toy_group_splits(problem), decided("hp-top", multilabel=True), strict=True):
        members = problem.members[split.train]
        mixture = np.hstack([members, ~members.any(axis=1, keepdims=True)])
        top = HyperplaneTop().fit(points[split.train], mixture)
        values = top.solve_targets(range(members.shape[1]), points[split.test])
        np.testing.assert_array_equal(found.predicted, values > 0)


@pytest.mark.parametrize("multilabel", [False, True])
def test_a_change_in_hp_top_changes_what_it_decides(monkeypatch: pytest.MonkeyPatch, multilabel: bool) -> None:
    before = decided("hp-top", multilabel=multilabel)
    solve = HyperplaneTop.solve_targets

    def turned(self: HyperplaneTop, *args: Any, **kwargs: Any) -> Any:
        return -solve(self, *args, **kwargs)

    monkeypatch.setattr(HyperplaneTop, "solve_targets", turned)
    after = decided("hp-top", multilabel=multilabel)
    for one, other in zip(before, after, strict=True):
        if multilabel:
            np.testing.assert_array_equal(one.predicted, ~other.predicted)
        else:
            assert not np.array_equal(one.predicted, other.predicted)


def test_a_change_in_the_fisher_kernel_changes_what_it_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    before = decided("plsi-fisher", multilabel=True)
    scores = PLSIFisher.scores
    monkeypatch.setattr(PLSIFisher, "scores", lambda self, X, folded=None: -scores(self, X, folded))
    after = decided("plsi-fisher", multilabel=True)
    assert any(not np.array_equal(one.predicted, other.predicted) for one, other in zip(before, after, strict=True))
