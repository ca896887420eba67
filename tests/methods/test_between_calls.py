"""What is shared between splits, methods and calls: only results of the same documents, and seconds that were spent."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmark.methods.kernel_machines import KernelSvm, PrecomputedKernelSvm, SharedMatrixSvm, solve_jointly
from benchmark.methods.one_vs_rest import FisherKernelMethod, linear_machines

from benchmark.classifiers.one_vs_one import TrainingClock
from benchmark.config.components import Component
from benchmark.config.model import FusedMethods, TermSelection
from benchmark.evaluation.predictions import TIMERS
from benchmark.evaluation.splits import Split
from benchmark.kernels import KERNELS
from benchmark.kernels.products import StreamedProducts
from benchmark.methods import kernel_machines
from benchmark.methods.fusion import FusedMethod
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.registry import build_method
from benchmark.methods.split_data import SplitData
from benchmark.methods.stopwatch import Stopwatch
from tests.toy_data import toy_problem, toy_replicates

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.config.model import MethodSpec

ALL = np.arange(60)
#: Of the same training documents, the second half of the others, and of other training documents.
SPLITS = [Split("a", ALL[:30], ALL[30:50]), Split("a", ALL[:30], ALL[40:]), Split("a", ALL[10:40], ALL[40:])]
NORMALIZATIONS = {"plsi-fisher": "none", "gram-rows": "l1", "mnb": "none"}


def spec(name: str, **more: Any) -> MethodSpec:
    representation = represented("tf", NORMALIZATIONS.get(name, "l2"), "collection")
    return spec_of(name, representation, **more)


def selection(aggregate: str) -> TermSelection:
    return TermSelection((20,), "information-gain", aggregate)


@pytest.mark.parametrize(
    ("name", "multilabel"),
    [("linear", True), ("hp-top", False), ("plsi-fisher", True), ("gram-rows", True), ("gram-rows", False)],
)
def test_arrays_of_a_split_are_cached_by_its_documents_its_terms_and_the_seed(name: str, multilabel: bool) -> None:
    """And decide as those of a workbench that has seen nothing else."""
    stored: dict[str, Any] = {}

    def cached(what: str, parts: list[type], content: dict[str, Any], make: Callable[[], Any]) -> Any:
        key = repr((what, parts, content))
        if key not in stored:
            stored[key] = make()
        return stored[key]

    bench, cases = MatrixCache(cached=cached), [
        *((7, "sum", None, each) for each in SPLITS),
        (7, "sum", 20, SPLITS[0]),
        (7, "maximum", 20, SPLITS[0]),
        (7, "maximum", 10, SPLITS[0]),
        (8, "sum", None, SPLITS[2]),
    ]  # fmt: skip
    alone = []
    for again in (False, True):
        for number, (seed, aggregate, terms, split) in enumerate(cases):
            problem = replace(toy_problem(multilabel=multilabel), seed=seed)
            method = build_method(spec(name), problem, terms and selection(aggregate), replicated=False)
            if not again:
                alone += method.solve(problem, [split], terms, MatrixCache())
            (found,) = method.solve(problem, [split], terms, bench)
            np.testing.assert_array_equal(found.predicted, alone[number].predicted)
            np.testing.assert_array_equal(found.values, alone[number].values)  # type: ignore[arg-type]
    assert len(stored) == len(cases)


def test_linear_machines_are_shared_by_methods_of_all_the_same() -> None:
    problem = toy_problem(multilabel=True)
    plain, bench = spec("linear", C=2.0), MatrixCache()

    def machines(wanted: MethodSpec, split: Split = SPLITS[0], aggregate: str = "sum", terms: int | None = 20) -> Any:
        return linear_machines(SplitData(problem, split, [split], terms, aggregate, bench), wanted)

    for other in (
        {"split": SPLITS[1]},
        {"split": SPLITS[2]},
        {"aggregate": "maximum"},
        {"terms": None},
        {"wanted": spec("linear", C=3.0)},
        {"wanted": spec("linear", C=2.0, ridge=0.1)},
        {"wanted": spec("linear", C=2.0, epsilon=0.1)},
        {"wanted": spec("linear", C=2.0, cache_mb=1.0)},
        {"wanted": spec("linear", C=2.0, scale_C="mean-self-product")},
        {"wanted": replace(plain, representation=represented("tf", "l1", "collection"))},
    ):
        first = machines(plain)
        assert machines(spec("hp-top", C=2.0)) is first
        assert machines(**{"wanted": plain} | other) is not first


def test_methods_of_a_sum_are_trained_once_for_the_same_documents_alone() -> None:
    problem = toy_problem(multilabel=True)
    parts = (spec("mnb"), spec("linear-svm"))
    methods = tuple(build_method(each, problem, None, replicated=False) for each in parts)
    fused = FusedMethods(("one", "two"), parts, (1.0, 2.0), "hold-out")
    method = FusedMethod(replace(parts[0], fused=fused), methods, (problem, problem))
    together = method.solve(problem, SPLITS, None, MatrixCache())
    for split, found in zip(SPLITS, together, strict=True):
        (alone,) = method.solve(problem, [split], None, MatrixCache())
        np.testing.assert_array_equal(found.values, alone.values)


def test_each_parameter_of_a_part_of_a_sum_decides_its_results() -> None:
    problem = toy_problem(multilabel=False)

    def content(part: MethodSpec, *, key: str = "problem", weight: float = 1.0, scale: str = "hold-out") -> str:
        fused = FusedMethods(("one",), (part,), (weight,), scale)
        method = build_method(part, problem, None, replicated=False)
        return repr(FusedMethod(replace(part, fused=fused), (method,), (replace(problem, key=key),)).content)

    rbf = spec("rbf")
    assert rbf.kernel is not None
    wider = replace(rbf, kernel=Component.of("rbf", KERNELS["rbf"], {"sigma": 0.25}))
    found = [
        content(rbf),
        content(wider),
        content(spec("linear")),
        content(spec("rbf", C=3.0)),
        content(replace(rbf, representation=represented("tf", "l1", "collection"))),
        content(spec("mnb")),
        content(rbf, key="other"),
        content(rbf, weight=2.0),
        content(rbf, scale="out-of-fold"),
    ]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("member", [False, True])
def test_out_of_fold_values_of_a_sum_are_of_all_classes(member: bool) -> None:
    """Also of one that no training document has, or each."""
    problem = toy_problem(multilabel=True)
    members = problem.members.copy()
    members[:, 1] = member
    documents = replace(problem.documents, topics=members)
    problem = replace(problem, counts=replace(problem.counts, documents=documents))
    part = spec("mnb")
    fused = FusedMethods(("one",), (part,), (1.0,), "out-of-fold")
    method = FusedMethod(replace(part, fused=fused), (build_method(part, problem, None, replicated=False),), (problem,))
    outside = method.train(problem, SPLITS[0], None, MatrixCache()).outside
    assert outside.shape == (30, 3)
    assert set(outside[:, 1]) == {np.inf if member else -np.inf}
    assert np.isfinite(outside[:, [0, 2]]).all()


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("lacking", [0, 1, 2])
def test_gram_rows_of_others_are_of_the_classes_that_are_trained(lacking: int, scheme: str) -> None:
    problem = toy_problem(multilabel=False)
    labels = problem.documents.labels
    split = Split("lacking", np.flatnonzero((labels != lacking) & (ALL < 40)), ALL[40:])
    trained = [code for code in range(3) if code != lacking]
    method = PrecomputedKernelSvm(spec("gram-rows", scheme=scheme))
    (found,) = method.solve(problem, [split], None, MatrixCache())
    assert set(found.predicted) == set(trained)
    assert found.values is not None
    assert found.values.shape == (20, 3)
    assert (found.values[:, lacking] == -np.inf).all()
    np.testing.assert_array_equal(found.values.argmax(axis=1), found.predicted)


def test_splits_without_a_machine_left_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = toy_problem(multilabel=False)

    def cost(classifier: Any, *_: Any) -> float:
        if classifier.C == 3.0:
            raise ValueError("three")
        return float(classifier.C)

    monkeypatch.setattr(kernel_machines, "scaled_cost", cost)
    failing, other = KernelSvm(spec("linear", C=3.0)), KernelSvm(spec("linear", C=1.0))
    error, found = solve_jointly([(failing, SPLITS[:2]), (other, SPLITS[2:])], problem, None, MatrixCache())
    assert str(error) == "three"
    assert isinstance(found, list)
    np.testing.assert_array_equal(
        found[0].predicted, other.solve(problem, SPLITS[2:], None, MatrixCache())[0].predicted
    )


# Seconds


class Fixed(TrainingClock):
    """A clock of 8 seconds for each problem, and 4 for all."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.own, self.shared = np.full(n, 8.0), 4.0

    def book(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize("jobs", [1, 2])
def test_seconds_of_joined_machines_are_divided_by_the_threads(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_machines, "TrainingClock", Fixed)
    machine = KernelSvm(spec("linear"))
    (found,) = machine.solve(toy_problem(multilabel=False), SPLITS[:1], None, MatrixCache(jobs=jobs))
    seconds = dict(zip(TIMERS, found.seconds[0], strict=True))
    assert seconds["training"] == 8 / jobs
    assert seconds["products"] == pytest.approx(8 / jobs, abs=2)
    assert seconds["testing"] == pytest.approx(8 / jobs, abs=2)


def test_seconds_of_a_shared_matrix_are_divided_by_the_splits() -> None:
    problem = toy_problem(multilabel=False, n_classes=2)
    splits = toy_replicates(problem) * 3
    started = time.perf_counter()
    found = SharedMatrixSvm(spec("rbf")).solve(problem, splits, None, MatrixCache())
    spent = time.perf_counter() - started
    assert 0 < sum(each.seconds.sum() for each in found) <= spent
    assert len({each.seconds.tobytes() for each in found}) == 1


def test_seconds_of_plsi_are_those_of_its_fit_and_of_folding_in(monkeypatch: pytest.MonkeyPatch) -> None:
    model = FisherKernelMethod._model
    monkeypatch.setattr(FisherKernelMethod, "_model", lambda *given: (*model(*given)[:2], np.array([50.0, 700.0])))
    (found,) = FisherKernelMethod(spec("plsi-fisher")).solve(
        toy_problem(multilabel=True), SPLITS[:1], None, MatrixCache()
    )
    seconds = dict(zip(TIMERS, found.seconds[0], strict=True))
    assert seconds["extraction"] == 50
    assert seconds["testing"] == pytest.approx(700, abs=40)


def test_selecting_terms_is_extraction_of_features_and_products_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    laps: list[str] = []
    monkeypatch.setattr(Stopwatch, "lap", lambda _, part: laps.append(part))
    problem = toy_problem(multilabel=False)
    for dirichlet in (0.0, 0.5):
        laps.clear()
        work = SplitData(problem, SPLITS[0], SPLITS[:1], 20, "sum", MatrixCache())
        found = work.products(represented("tf", "l1", "collection", dirichlet), 1.0, Stopwatch())
        assert laps == ["extraction", "products"]
        assert isinstance(found.matrix, StreamedProducts) != bool(dirichlet)
