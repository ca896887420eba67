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

TF = represented("tf", "l2", "collection")
ALL = np.arange(60)
#: Of the same training documents, the second half of the others, and of other training documents.
SPLITS = [Split("a", ALL[:30], ALL[30:50]), Split("a", ALL[:30], ALL[40:]), Split("a", ALL[10:40], ALL[40:])]


def assert_equal(found: list[SettingPredictions], expected: list[SettingPredictions]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.predicted, other.predicted)
        np.testing.assert_array_equal(one.tied, other.tied)
        np.testing.assert_array_equal(one.values, other.values)  # type: ignore[arg-type]


def of_products() -> tuple[list[MethodSpec], list[Split], bool]:
    """Machines for pairs of classes, of the same inner products or not."""
    l1 = represented("tf", "l1", "collection")
    fields = replace(l1, fields=(("all", 1.0), ("title", 2.0)))
    points = [
        *(l1, TF, represented("tfidf", "l1", "collection"), represented("tfidf", "l1", "training")),
        *(replace(l1, dirichlet=0.5), fields, replace(fields, fields=(("all", 1.0), ("title", 9.0)))),
        replace(fields, normalization="l2"),
    ]
    specs = [*(spec_of("linear", each, C=30.0) for each in points), spec_of("ngd", l1)]
    first, second = toy_group_splits(toy_problem(multilabel=False))
    return specs, [first, second, replace(first, train=first.train[1:])], False


def of_matrix() -> tuple[list[MethodSpec], list[Split], bool]:
    """Methods of two classes, with one matrix for all splits."""
    raw = represented("tf", "none", "collection")
    specs = [spec_of(name, raw) for name in ("linear", "ned")]
    specs += [spec_of("linear", represented(weight, "l2", "collection")) for weight in ("tf", "tfidf")]
    options: list[dict[str, Any]] = [{"ridge": 50.0}, {"scale_C": "mean-self-product"}, {"C": 9.0}]
    specs += [spec_of("linear", raw, **each) for each in options]
    return specs, toy_replicates(toy_problem(multilabel=False, n_classes=2)), True


@pytest.mark.parametrize("ways", [of_products, of_matrix])
def test_methods_decide_beside_each_other_as_alone(ways: Callable[[], Any]) -> None:
    """Whatever ran before, on the same documents or on others."""
    problem, bench = toy_problem(multilabel=False, n_classes=2 if ways is of_matrix else 3), MatrixCache()
    blocks = {"blocks": ("all", "title"), "block_of": np.arange(40) // 20}
    problem = replace(problem, counts=replace(problem.counts, **blocks))
    turned = replace(problem, key="turned", counts=replace(problem.counts, matrix=problem.counts.matrix[::-1]))
    specs, splits, replicated = ways()
    cases = [*((spec, problem, splits) for spec in specs), *((specs[0], problem, [each]) for each in splits)]
    cases.append((specs[0], turned, splits))
    alone = [solved(*case[:2], MatrixCache(), *case[2], replicated=replicated) for case in cases]
    for before, number in itertools.permutations(range(len(cases)), 2):
        for each in (before, number):
            found = solved(*cases[each][:2], bench, *cases[each][2], replicated=replicated)
        assert_equal(found, alone[number])


def test_models_of_a_split_are_cached_by_its_documents_its_terms_and_the_seed() -> None:
    """What is read again decides as what was computed, whatever the machine."""
    stored: dict[str, Any] = {}

    def cached(what: str, parts: list[type], content: dict[str, Any], make: Callable[[], Any]) -> Any:
        key = repr((what, parts, content))
        if key not in stored:
            stored[key] = make()
        return stored[key]

    points, bench = represented("tf", "none", "collection"), MatrixCache(cached=cached)
    cases: list[tuple[int, Split, dict[str, Any]]] = [
        *((7, each, {}) for each in SPLITS),
        *((7, SPLITS[0], {"terms": n, "aggregate": how}) for n, how in ((20, "sum"), (20, "maximum"), (10, "maximum"))),
        (8, SPLITS[2], {}),
    ]
    for C in (1.0, 1.0, 2.0):
        for seed, split, options in cases:
            problem, spec = replace(toy_problem(multilabel=True), seed=seed), spec_of("plsi-fisher", points, C=C)
            expected = solved(spec, problem, MatrixCache(), split, **options)
            assert_equal(solved(spec, problem, bench, split, **options), expected)
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


@pytest.mark.parametrize("name", ["linear", "ngd"])
@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
def test_streaming_changes_nothing(name: str, multilabel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = toy_problem(multilabel=multilabel)
    spec, splits = spec_of(name, represented("tfidf", "l1", "training")), toy_group_splits(problem)
    held = solved(spec, problem, MatrixCache(), *splits)
    monkeypatch.setenv("BENCH_MEMORY_GB", "0.000001")
    assert MatrixCache().budget == 1000
    assert_equal(solved(spec, problem, MatrixCache(), *splits), held)
