"""What becomes of a class that no training document has, or one, or all; and what a method may see of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.evaluation.splits import Split
from benchmark.methods.problem import Problem
from benchmark.methods.wrappers import build_method
from benchmark.text.counts import Counts
from tests.toy_data import toy_group_splits, toy_problem, toy_replicates

from .conftest import default_spec, represented, solved, spec_of, trained, with_documents

if TYPE_CHECKING:
    from benchmark.methods.matrix_cache import MatrixCache

#: HP-TOP needs two classes with a variance each, see below; naive Bayes and linear models are trained alike.
NAMES = ["linear", "ngd", "gram-rows", "plsi-fisher", "mnb", "linear-svm", "eef", "hp-top"]
KEPT = ["linear", "ngd", "mnb", "linear-svm", "eef"]


def decided(name: str, n_members: int, bench: MatrixCache) -> list[tuple[Any, Any]]:
    """Values and predictions of a run and of what is kept, where the last class has so many training documents."""
    problem = toy_problem(multilabel=True)
    split, topics = toy_group_splits(problem)[0], problem.members.copy()
    topics[~topics.any(axis=1), 0] = True
    topics[split.train, 2] = np.arange(len(split.train)) < n_members
    problem = with_documents(problem, f"{n_members}", topics=topics)
    method = build_method(default_spec(name), problem, None, replicated=False)
    (found,) = method.solve(problem, [split], None, bench)
    assert n_members == 1 or not found.tied[:, 2].any()
    fitted = [trained(method, problem, split, None, bench)[0]] if name in KEPT else []
    kept = [each.decide(problem.counts.matrix[split.test]) for each in fitted]
    return [(each.values, each.predicted) for each in (found, *kept)]


@pytest.mark.parametrize("n_members", [0, 1, 60])
@pytest.mark.parametrize("name", NAMES)
def test_of_none_it_is_given_to_none_and_of_all_to_all(name: str, n_members: int, bench: MatrixCache) -> None:
    """In a run and in what is kept of it; of one training document only HP-TOP knows no density."""
    if name == "hp-top" and n_members == 1:
        with pytest.raises(ValueError, match="'class-2' has 1 training documents; a variance needs at least two"):
            decided(name, 1, bench)
        return
    for values, predicted in decided(name, n_members, bench):
        assert np.isfinite(values[:, :2]).all()
        assert predicted[:, :2].any()
        if n_members == 1:
            assert np.isfinite(values[:, 2]).all()
        else:
            assert set(values[:, 2]) == {np.inf if n_members else -np.inf}
            assert set(predicted[:, 2]) == {n_members > 0}


# Documents of one class each


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("lacking", [0, 1, 2])
@pytest.mark.parametrize(
    "name", ["linear", "ngd", "gram-rows", "hp-top", "plsi-fisher", "mnb", "linear-svm", "logistic"]
)
def test_a_class_without_training_documents_is_left_out_and_the_others_are_predicted(
    name: str, lacking: int, scheme: str, bench: MatrixCache
) -> None:
    """As in a problem of the other classes alone."""
    problem = toy_problem(multilabel=False)
    labels = problem.documents.labels
    split = Split("lacking", np.flatnonzero((labels != lacking) & (np.arange(60) < 40)), np.arange(40, 60))
    others = [code for code in range(3) if code != lacking]
    of_machines = {"scheme": scheme} if name in ("linear", "ngd", "gram-rows") else {}
    method = build_method(default_spec(name, **of_machines), problem, None, replicated=False)
    (found,) = method.solve(problem, [split], None, bench)
    assert set(found.predicted) <= set(others)
    codes, classes = np.searchsorted(others, labels).clip(max=1), problem.documents.classes
    two = with_documents(problem, "two", labels=codes.astype(np.int32), classes=tuple(classes[code] for code in others))
    (alone,) = solved(default_spec(name, **of_machines), two, bench, split)
    np.testing.assert_array_equal(found.predicted, np.array(others)[alone.predicted])
    assert len(set(found.predicted)) == 2
    assert (found.values[:, lacking] == -np.inf).all()
    np.testing.assert_allclose(found.values[:, others], alone.values, rtol=1e-9, atol=1e-9)
    if name in KEPT:
        fitted, _ = trained(method, problem, split, None, bench)
        kept = fitted.decide(problem.counts.matrix[split.test])
        np.testing.assert_array_equal(kept.predicted, found.predicted)
        np.testing.assert_allclose(kept.values, found.values, rtol=1e-9, atol=1e-9)


# Tested documents have no say


@pytest.mark.parametrize("name", ["linear", "ngd", "mnb", "hp-top", "plsi-fisher", "linear-svm"])
@pytest.mark.parametrize(("weighting", "idf"), [("tf", "training"), ("tfidf", "training"), ("tfidf", "collection")])
@pytest.mark.parametrize("replicated", [False, True])
def test_only_an_idf_of_the_collection_learns_from_tested_documents(
    name: str, weighting: str, idf: str, replicated: bool, bench: MatrixCache
) -> None:
    """Other tested documents in the place of half of them leave the decisions on the others as they were."""
    if name == "plsi-fisher" and weighting != "tf":
        return  # it takes counts
    problem = toy_problem(multilabel=False, n_classes=2)
    split = toy_replicates(problem)[0]
    kept, turned = split.test[: len(split.test) // 2], split.test[len(split.test) // 2 :]
    matrix = problem.counts.matrix.copy().tolil()
    matrix[turned] = problem.counts.matrix[turned[::-1]].toarray() * 3 * (np.arange(40) % 2)
    other = Problem(Counts(problem.documents, matrix.tocsr(), problem.counts.vocabulary), "other", problem.seed)
    wanted = spec_of(name, represented(weighting, "none" if name == "plsi-fisher" else "l1", idf))
    (one,), (two,) = (solved(wanted, each, bench, split, replicated=replicated) for each in (problem, other))
    same = np.array_equal(one.values[: len(kept)], two.values[: len(kept)])
    assert same == (idf == "training")
