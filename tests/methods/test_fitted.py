"""What is kept of a method decides as the run does: every kernel and classifier, on every kind of problem."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.config.components import check_component
from benchmark.methods import wrappers
from benchmark.methods.wrappers import build_method
from benchmark.model.persistence import described_state, read_state
from benchmark.representation import WEIGHTINGS
from benchmark.system.tags import NORMALIZATIONS, tags_of
from tests.toy_data import check_decisions, toy_group_splits, toy_problem, toy_replicates

from .conftest import KEPT, SELECTED, represented, spec_of, trained, with_documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.config.model import MethodSpec
    from benchmark.methods.base import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache

#: Classes, terms, and whether training documents are drawn: every two of the three in every way. In each half, both
#: numbers of classes and both kinds of terms.
CASES = [(2, None, False), (3, 20, False), (2, 20, True), (3, None, True)]


def specs(name: str) -> Iterator[MethodSpec]:
    pairs = [*itertools.product(("tf", "tfidf"), NORMALIZATIONS)]
    if name in ("ngd", "linear-svm"):  # how points are weighted is all one to what takes them
        pairs += [(weighting, "l1") for weighting in WEIGHTINGS]
    for weighting, normalization in pairs:
        spec = spec_of(name, represented(weighting, normalization, "training"))
        if spec.kernel is None or normalization in tags_of(spec.kernel.build()).normalizations:
            yield spec


def kept_again(fitted: FittedMethod) -> FittedMethod:
    """By way of the file of a kept model."""
    return read_state(described_state({"fitted": fitted}))["fitted"]


@pytest.mark.parametrize(
    ("multilabel", "rule"), [(False, None), (True, None), (True, "at-least-one"), (True, "cross-validated")]
)
@pytest.mark.parametrize("name", KEPT)
def test_it_decides_as_the_run_does(
    name: str, multilabel: bool, rule: str | None, bench: MatrixCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One document at a time as all of them; before it is kept and after, to the last bit."""
    monkeypatch.setattr(wrappers, "INNER_FOLDS", 2)  # the same for both, whatever their number
    problems = {n: toy_problem(multilabel=multilabel, n_classes=n, key=str(n)) for n in (2, 3)}
    every, threshold = [*specs(name)], rule and check_component("threshold", THRESHOLDS, rule)
    if rule is not None:  # each document has a class, and one representation is as good as another
        problems = {n: with_documents(each, f"{n}", topics=each.members | ~each.members.any(axis=1)[:, None])
                    for n, each in problems.items()}  # fmt: skip
        every = every[:2]
    # Those that a method has many of are shared out: with one label and with several, both weightings and each
    # normalization. A representation has another half of the cases than the one before.
    for nth, plain in enumerate(every[int(multilabel) :: 2] if len(every) == 6 else every):
        spec, half = replace(plain, threshold=threshold), (nth + multilabel) % 2
        for n_classes, terms, replicated in CASES[2 * half : 2 * half + 2]:
            problem = problems[n_classes]
            splits = toy_replicates(problem) if replicated else toy_group_splits(problem)
            method = build_method(spec, problem, terms and SELECTED, replicated=replicated)
            run = method.solve(problem, splits, terms, bench)
            for split, decisions in zip(splits, run, strict=True):
                check_decisions(problem, len(split.test), decisions)
            turn = (nth // 2 + multilabel) % 2  # of the two splits, which were solved together
            split, decisions = splits[turn], run[turn]
            fitted, inputs = trained(method, problem, split, terms, bench)
            tested = inputs[split.test]
            kept, again = fitted.decide(tested), kept_again(fitted).decide(tested)
            np.testing.assert_array_equal(kept.values, again.values, strict=True)
            for each in (kept, again):
                np.testing.assert_array_equal(each.predicted, decisions.predicted)
            np.testing.assert_allclose(fitted.class_values(tested[:1]), kept.values[:1], rtol=1e-7, atol=1e-9)
            if decisions.values is not None:
                np.testing.assert_allclose(kept.values, decisions.values, rtol=1e-9, atol=1e-9)


def test_only_support_vectors_are_kept(bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=False)
    split = toy_group_splits(problem)[0]
    spec = spec_of("linear", represented("tf", "l2", "training"), C=100.0)
    fitted: Any = trained(build_method(spec, problem, None, replicated=False), problem, split, None, bench)[0]
    n = fitted.counts.shape[0]
    assert 0 < n < len(split.train)
    assert set(np.concatenate([each.support for each in fitted.machines.machines])) == set(range(n))


@pytest.mark.parametrize("name", ["divergence-bayes", "mnb", "logistic"])
def test_classes_keep_their_places_where_a_classifier_orders_them_otherwise(name: str, bench: MatrixCache) -> None:
    """The first training document is of the last class."""
    problem = toy_problem(multilabel=False)
    problem = with_documents(problem, "turned", labels=2 - problem.documents.labels)
    split = toy_group_splits(problem)[0]
    method = build_method(spec_of(name, represented("tf", "none", "collection")), problem, None, replicated=False)
    fitted, inputs = trained(method, problem, split, None, bench)
    (decided,) = method.solve(problem, [split], None, bench)
    (model,) = fitted.models  # type: ignore[attr-defined]
    assert model.classes_.tolist() == ([2, 1, 0] if name == "divergence-bayes" else [0, 1, 2])
    for each in (fitted, kept_again(fitted)):
        values = each.class_values(inputs[split.test])
        np.testing.assert_array_equal(values.argmax(axis=1), decided.predicted)
        np.testing.assert_array_equal(values, decided.values)
