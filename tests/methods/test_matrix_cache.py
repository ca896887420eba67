"""What the workbench remembers, caches and streams changes no digit, and seconds count what was spent."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.evaluation.splits import Split
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.split_data import SplitData
from tests.toy_data import toy_group_splits, toy_problem, toy_replicates

from .conftest import represented, solved, spec_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.methods.problem import Problem

TF = represented("tf", "l2", "collection")
ALL = np.arange(60)
#: Of the same training documents, the second half of the others, and of other training documents.
SPLITS = [Split("a", ALL[:30], ALL[30:50]), Split("a", ALL[:30], ALL[40:]), Split("a", ALL[10:40], ALL[40:])]


def run_of(spec: MethodSpec, problem: Problem, bench: MatrixCache, *, splits: list[Split], **options: Any) -> Any:
    return solved(spec, problem, bench, *splits, **options)


def assert_equal(found: list[SettingPredictions], expected: list[SettingPredictions]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.predicted, other.predicted)
        np.testing.assert_array_equal(one.values, other.values)  # type: ignore[arg-type]


# What is remembered between methods


def of_products() -> list[tuple[MethodSpec, dict[str, Any]]]:
    """Machines for pairs of classes, of the same inner products or not."""
    l1, (first, second) = represented("tf", "l1", "collection"), toy_group_splits(toy_problem(multilabel=False))
    fields = replace(l1, fields=(("all", 1.0), ("title", 2.0)))
    points = [
        *(l1, TF, represented("tfidf", "l1", "collection"), represented("tfidf", "l1", "training")),
        *(replace(l1, dirichlet=0.5), fields, replace(fields, fields=(("all", 1.0), ("title", 9.0)))),
        replace(fields, normalization="l2"),
    ]
    cases: list[tuple[MethodSpec, dict[str, Any]]] = [(spec_of("linear", each, C=30.0), {}) for each in points]
    cases += [(spec_of("ngd", l1), {}), (spec_of("linear", TF), {"splits": [second]})]
    cases += [(spec_of("linear", TF), {"splits": [replace(first, train=first.train[1:])]})]
    return [(spec, {"splits": [first]} | options) for spec, options in cases]


def of_matrix() -> list[tuple[MethodSpec, dict[str, Any]]]:
    """Methods of two classes, with one matrix for all splits."""
    raw = represented("tf", "none", "collection")
    specs = [spec_of(name, raw) for name in ("linear", "ned")]
    specs += [spec_of("linear", represented(weight, "l2", "collection")) for weight in ("tf", "tfidf")]
    specs += [
        spec_of("linear", raw, **each) for each in ({"ridge": 50.0}, {"scale_C": "mean-self-product"}, {"C": 9.0})
    ]
    options = {"replicated": True, "splits": toy_replicates(toy_problem(multilabel=False, n_classes=2))}
    return [(spec, options) for spec in specs]


@pytest.mark.parametrize("ways", [of_products, of_matrix])
def test_methods_decide_beside_each_other_as_alone(ways: Callable[[], list[tuple[MethodSpec, dict[str, Any]]]]) -> None:
    """Whatever ran before, on the same documents or on others."""
    problem, bench = toy_problem(multilabel=False, n_classes=2 if ways is of_matrix else 3), MatrixCache()
    blocks = {"blocks": ("all", "title"), "block_of": np.arange(40) // 20}
    problem = replace(problem, counts=replace(problem.counts, **blocks))
    turned = replace(problem, key="turned", counts=replace(problem.counts, matrix=problem.counts.matrix[::-1]))
    cases = [*((spec, problem, options) for spec, options in ways()), (ways()[0][0], turned, ways()[0][1])]
    alone = [run_of(spec, given, MatrixCache(), **options) for spec, given, options in cases]
    for before, number in itertools.permutations(range(len(cases)), 2):
        found = [run_of(spec, given, bench, **options) for spec, given, options in (cases[before], cases[number])]
        assert_equal(found[1], alone[number])


def test_models_of_a_split_are_cached_by_its_documents_its_terms_and_the_seed() -> None:
    """What is read again decides as what was computed, whatever the machine."""
    stored: dict[str, Any] = {}

    def cached(what: str, parts: list[type], content: dict[str, Any], make: Callable[[], Any]) -> Any:
        assert what == "PLSI models, 30 documents of 3 classes"
        key = repr((what, parts, content))
        if key not in stored:
            stored[key] = make()
        return stored[key]

    points, bench = represented("tf", "none", "collection"), MatrixCache(cached=cached)
    cases: list[tuple[int, dict[str, Any]]] = [
        *((7, {"splits": [each]}) for each in SPLITS),
        (7, {"splits": [SPLITS[0]], "terms": 20, "aggregate": "sum"}),
        (7, {"splits": [SPLITS[0]], "terms": 20, "aggregate": "maximum"}),
        (7, {"splits": [SPLITS[0]], "terms": 10, "aggregate": "maximum"}),
        (8, {"splits": [SPLITS[2]]}),
    ]
    for C in (1.0, 1.0, 2.0):
        for seed, options in cases:
            problem, spec = replace(toy_problem(multilabel=True), seed=seed), spec_of("plsi-fisher", points, C=C)
            expected = run_of(spec, problem, MatrixCache(), **options)
            assert_equal(run_of(spec, problem, bench, **options), expected)
    assert len(stored) == len(cases)


@pytest.mark.parametrize(("budget", "stored"), [(60 * 40 * 8, True), (60 * 40 * 8 - 1, False), (0, False)])
def test_products_are_stored_up_to_the_budget_in_bytes(budget: int, stored: bool) -> None:
    problem, columns = toy_problem(multilabel=False), np.arange(40)
    expected = problem.counts.matrix.toarray().astype(float)
    data = SplitData(problem, Split("a", columns, ALL[40:]), None, "sum", MatrixCache(budget=budget))
    products = data.products(spec_of("linear", TF), 1.0)
    assert isinstance(products.matrix, np.ndarray) == stored
    whole: Any = products.matrix
    whole = whole if stored else whole.tile(np.arange(60), columns)
    np.testing.assert_array_equal(whole, expected @ expected[:40].T)
    np.testing.assert_array_equal(products.self_products, (expected**2).sum(axis=1))
