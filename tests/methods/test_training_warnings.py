"""Warnings of training: which are reported, and when a classifier is said to be not deterministic."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import ExtraTreeClassifier

from benchmark.config.components import Component
from benchmark.methods import point_classifiers
from benchmark.methods.training_warnings import collect_warnings
from tests.toy_data import toy_group_splits, toy_problem

from .conftest import default_spec, solved, with_documents

if TYPE_CHECKING:
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem


@pytest.mark.parametrize("library", [True, False])
def test_warnings_of_a_library_are_collected_and_of_ours_only_missing_convergence(library: bool) -> None:
    """Each once, in at most 200 characters; others of ours are warned of again."""
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        with collect_warnings(library=library) as texts:
            for _ in range(2):
                warnings.warn("not\nyet", ConvergenceWarning, stacklevel=1)
            for length in (187, 188, 189):
                warnings.warn("x" * length, UserWarning, stacklevel=1)
            for category in (FutureWarning, DeprecationWarning, PendingDeprecationWarning):
                warnings.warn("soon", category, stacklevel=1)
    whole, cut = [f"UserWarning: {'x' * length}" for length in (187,)], f"UserWarning: {'x' * 186}…"
    convergence = ["ConvergenceWarning: not\\nyet"]
    assert texts == (convergence + whole + [cut] if library else convergence)
    assert len(cut) == len(whole[0]) == 200
    assert [str(each.message) for each in again] == (
        [] if library else ["x" * 187, "x" * 188, "x" * 189, *["soon"] * 3]
    )


class Random(ExtraTreeClassifier):
    """A library's classifier whose seed nobody can set, and which warns while it is trained."""

    n_trained = 0

    def __init__(self, max_depth: int = 2) -> None:
        super().__init__(max_depth=max_depth)

    def fit(self, X: Any, y: Any) -> Any:
        Random.n_trained += 1
        warnings.warn("odd", UserWarning, stacklevel=1)
        return super().fit(X, y)


class Same(Random):
    """The same, with a seed of its own."""

    def fit(self, X: Any, y: Any) -> Any:
        self.random_state = 3
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(point_classifiers, "_CHANGES", {})
    monkeypatch.setattr(point_classifiers, "is_library_class", lambda cls: issubclass(cls, Random))


def warned(problem: Problem, cls: type[Any], bench: MatrixCache, **parameters: Any) -> list[tuple[str, ...]]:
    spec = replace(default_spec("mnb"), classifier=Component.of(cls.__name__, cls, parameters))
    return [each.warnings for each in solved(spec, problem, bench, *toy_group_splits(problem))]


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
def test_a_classifier_that_predicts_otherwise_when_trained_again_is_not_deterministic(
    multilabel: bool, bench: MatrixCache
) -> None:
    """Said of the first split, once for each task and parameters; beside all warnings of the library."""
    problem, per_run = toy_problem(multilabel=multilabel), 2
    if multilabel:  # the first that can be learned is trained again
        members = problem.members & [False, True, True]
        problem, per_run = with_documents(problem, "without the first", topics=members), 4
    for given, parameters, again in (
        (problem, {}, 2),
        (problem, {}, 0),
        (replace(problem, key="other"), {}, 2),
        (problem, {"max_depth": 3}, 2),
    ):
        Random.n_trained = 0
        first, second = warned(given, Random, bench, **parameters)
        assert first[0].startswith("not deterministic: trained again on the same documents, it predicts otherwise")
        assert (first[1:], second) == (("UserWarning: odd",),) * 2
        assert Random.n_trained == per_run + again
    assert warned(problem, Same, bench) == [("UserWarning: odd",)] * 2
    ours = solved(default_spec("mnb"), problem, bench, *toy_group_splits(problem))
    assert [each.warnings for each in ours] == [(), ()]
