"""Sums of methods' decision values: what they are made of, what is trained once, and what decides stored results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.classifiers.thresholds import THRESHOLDS
from benchmark.config.components import check_component
from benchmark.config.model import FusedMethods, TermSelection
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.wrappers import FusedMethod, build_method, inner_folds
from tests.toy_data import toy_group_splits, toy_problem

from .conftest import SELECTED, represented, spec_of, trained

if TYPE_CHECKING:
    from benchmark.config.model import MethodSpec
    from benchmark.methods.problem import Problem

MNB = spec_of("mnb", represented("tf", "none", "collection"))
LINEAR = spec_of("linear-svm", represented("tf", "l2", "collection"))
NGD = spec_of("ngd", represented("tf", "l1", "collection"))


def fusion(
    *specs: MethodSpec,
    weights: tuple[float, ...] = (1.0, 0.5, 2.0),
    scale: str = "hold-out",
    multilabel: bool = False,
    terms: TermSelection | None = None,
    problems: tuple[Problem, ...] = (),
) -> FusedMethod:
    own = problems or tuple(toy_problem(multilabel=multilabel) for _ in specs)
    methods = tuple(build_method(spec, each, terms, replicated=False) for spec, each in zip(specs, own, strict=True))
    names = tuple(f"method-{number}" for number in range(len(specs)))
    fused = FusedMethods(names, specs, weights[: len(specs)], scale)
    return FusedMethod(replace(specs[0], fused=fused), methods, own)


@pytest.mark.parametrize(
    ("multilabel", "terms", "scale"),  # every two of the three in every way
    [
        (False, None, "hold-out"),
        (False, SELECTED, "out-of-fold"),
        (True, None, "out-of-fold"),
        (True, SELECTED, "hold-out"),
    ],
)
def test_it_decides_by_the_weighted_sum_of_standardized_values(
    multilabel: bool, terms: TermSelection | None, scale: str
) -> None:
    method, number = fusion(MNB, LINEAR, NGD, scale=scale, multilabel=multilabel, terms=terms), terms and 20
    problem, bench = method.problems[0], MatrixCache(jobs=2)
    split = toy_group_splits(problem)[0]
    total = np.zeros((len(split.test), 3))
    for own, weight in zip(method.methods, (1.0, 0.5, 2.0), strict=True):
        fitted, inputs = trained(own, problem, split, number, bench)
        outside = np.full((60, 3), np.nan)
        for fold in inner_folds(problem, split)[: 1 if scale == "hold-out" else 5]:
            alone, of_fold = trained(own, problem, fold, number, bench)
            outside[fold.test] = alone.class_values(of_fold[fold.test])
        values = fitted.class_values(inputs[split.test])
        if not multilabel:
            outside = outside - outside.mean(axis=1, keepdims=True)
            values = values - values.mean(axis=1, keepdims=True)
        total += weight * values / np.nanstd(outside)
    (found,) = method.solve(problem, [split], number, bench)
    np.testing.assert_allclose(found.values, total, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.predicted, total > 0 if multilabel else total.argmax(axis=1))
    data = method.data_of(problem, split, number, bench)
    whole = method.fit(data)
    assert whole.weights == (1.0, 0.5, 2.0)
    np.testing.assert_allclose(whole.class_values(method.inputs(data, split.test)), total, rtol=1e-9, atol=1e-9)


def others(*, multilabel: bool) -> list[FusedMethod]:
    """Fusions that differ from the first, each in one thing that decides its values."""
    problem = toy_problem(multilabel=multilabel)
    turned = replace(problem, key="turned", counts=replace(problem.counts, matrix=problem.counts.matrix[::-1]))
    rule = check_component("threshold", THRESHOLDS, "cross-validated")
    kinds: list[tuple[tuple[MethodSpec, ...], dict[str, Any]]] = [
        ((MNB, LINEAR), {}),
        ((LINEAR, MNB), {}),
        ((MNB, LINEAR), {"weights": (1.0, 1.0)}),
        ((MNB, LINEAR), {"scale": "out-of-fold"}),
        ((MNB, LINEAR), {"problems": (problem, turned)}),
        ((MNB, spec_of("linear-svm", LINEAR.representation, C=2.0)), {}),
        ((MNB, spec_of("linear-svm", represented("tfidf", "l2", "collection"))), {}),
        ((MNB, NGD), {}),
        ((MNB, spec_of("linear", NGD.representation)), {}),
        ((MNB,), {}),
        *([((MNB, replace(LINEAR, threshold=rule)), {})] if multilabel else []),
    ]
    return [fusion(*specs, multilabel=multilabel, **options) for specs, options in kinds]


@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
def test_fusions_with_methods_in_common_decide_as_each_alone(multilabel: bool) -> None:
    """Their results are stored under all that decides them, and each has the seconds of its methods."""
    problem, methods = toy_problem(multilabel=multilabel), others(multilabel=multilabel)
    assert len({repr(each.content) for each in methods}) == len(methods)
    assert repr(methods[0].content) == repr(others(multilabel=multilabel)[0].content)
    assert all(each.uses_seed and not each.batched for each in methods)
    splits = toy_group_splits(problem)
    for terms in (20,) if multilabel else (None, 20):
        asked = [(each, splits[number % 2 :]) for number, each in enumerate(methods)]
        bench = MatrixCache()
        found = [method.solve(problem, own, terms, bench) for method, own in asked]
        for (method, own), joint in zip(asked, found, strict=True):
            for one, other in zip(joint, method.solve(problem, own, terms, MatrixCache()), strict=True):
                np.testing.assert_array_equal(one.predicted, other.predicted)
                np.testing.assert_array_equal(one.values, other.values)  # type: ignore[arg-type]
        np.testing.assert_allclose(found[0][-1].seconds, found[1][-1].seconds)  # trained once


def test_an_error_names_the_method() -> None:
    """C has no unit where the mean of NED's k(x, x) is 0."""
    problem = toy_problem(multilabel=False)
    ned = spec_of("ned", represented("tf", "none", "collection"), scale_C="mean-self-product")
    with pytest.raises(ValueError, match=r"^method-1: C can't be divided by the mean"):
        fusion(MNB, ned).solve(problem, toy_group_splits(problem), None, MatrixCache())
