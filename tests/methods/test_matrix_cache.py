"""What the workbench remembers, keeps and streams, without a digit's difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmark.methods.one_vs_rest import linear_machines

from benchmark.evaluation.predictions import TIMERS
from benchmark.evaluation.protocols import RandomSubsets
from benchmark.kernels.products import StreamedProducts
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.rankings import Rankings
from benchmark.methods.registry import build_method
from benchmark.methods.split_data import SplitData, training_rows_of
from benchmark.methods.stopwatch import Stopwatch
from tests.toy_data import toy_group_splits, toy_problem, toy_replicates

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.methods.problem import Problem

TF = represented("tf", "l2", "collection")


def test_products_with_other_columns_are_others(bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=False)
    counts = problem.counts.matrix.toarray().astype(float)
    for columns in (np.arange(0, 60, 2), np.arange(1, 60, 2), np.arange(0, 60, 2)):
        found = bench.products(problem, TF, 1.0, columns, None).products
        np.testing.assert_array_equal(found.matrix, counts @ counts[columns].T)


def test_products_of_other_points_are_others(bench: MatrixCache) -> None:
    problem, columns = toy_problem(multilabel=False), np.arange(60)
    tfidf = represented("tfidf", "l2", "training")
    asked = [(TF, 1.0, None), (tfidf, 1.0, np.arange(30)), (tfidf, 1.0, columns), (tfidf, 0.5, columns)]
    asked.append((replace(TF, dirichlet=0.5), 1.0, None))
    made = (bench.products(problem, points, power, columns, rows) for points, power, rows in asked)
    assert len({each.products.matrix.tobytes() for each in made}) == len(asked)


def test_the_last_ones_are_remembered_until_they_are_written_over(bench: MatrixCache) -> None:
    problem, columns = toy_problem(multilabel=False), np.arange(60)
    first = bench.products(problem, TF, 1.0, columns, None)
    assert bench.products(problem, TF, 1.0, columns, None) is first
    bench.products(problem, TF, 0.5, columns, None)
    assert bench.products(problem, TF, 1.0, columns, None) is not first
    bench.square(problem.counts.matrix)
    assert bench.shared(("made",), lambda: 1) == 1
    assert bench.shared(("made",), lambda: 2) == 1
    bench.products(problem, TF, 1.0, columns, None)
    assert bench.shared(("made",), lambda: 3) == 3


@pytest.mark.parametrize("name", ["linear", "ngd"])
@pytest.mark.parametrize("multilabel", [False, True], ids=["single", "several"])
def test_streaming_changes_nothing(name: str, multilabel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = toy_problem(multilabel=multilabel)
    method = build_method(spec_of(name, represented("tfidf", "l1", "training")), problem, None, replicated=False)
    held = method.solve(problem, toy_group_splits(problem), None, MatrixCache())
    monkeypatch.setenv("BENCH_MEMORY_GB", "0.000001")
    streamed = method.solve(problem, toy_group_splits(problem), None, MatrixCache())
    for a, b in zip(held, streamed, strict=True):
        np.testing.assert_array_equal(a.predicted, b.predicted)
        np.testing.assert_array_equal(a.tied, b.tied)


def test_what_is_asked_for_once_is_not_held_where_it_is_large() -> None:
    problem, rows = toy_problem(multilabel=False), np.arange(60)
    bench = MatrixCache(budget=100_000)  # bytes, of which what is asked for once may take an eighth
    asked = [{"by_class": True, "once": True}, {"by_class": True}, {}]
    seen = [bench.products(problem, TF, 1.0, rows, None, **each).products.matrix for each in asked]
    assert [isinstance(each, StreamedProducts) for each in seen] == [True, False, False]
    np.testing.assert_array_equal(seen[0][:], seen[1])


def test_columns_are_what_any_split_trains_on(bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=False)
    first, second, *_ = toy_replicates(problem)

    def columns(known: Problem) -> NDArray[np.intp]:
        return SplitData(known, first, [first], None, "sum", bench).products(TF, 1.0, Stopwatch()).columns

    np.testing.assert_array_equal(columns(problem), first.train)
    both = training_rows_of([first, second])
    np.testing.assert_array_equal(columns(replace(problem, trained=both)), both)
    np.testing.assert_array_equal(columns(replace(problem, trained=second.train)), first.train)


def test_rankings_are_of_the_documents_that_a_split_trains_on(bench: MatrixCache) -> None:
    """Splits of two sizes are two, though their names and numbers are the same."""
    problem = toy_problem(multilabel=False)
    for size in (30, 45, 30):
        (split,) = RandomSubsets(train_size=size, replicates=1).splits(problem.documents)
        expected = Rankings.learn(problem, split.train)
        np.testing.assert_array_equal(bench.rankings(problem, split).gains, expected.gains)


def test_hp_top_takes_over_the_linear_machines_and_their_seconds(bench: MatrixCache) -> None:
    """Whichever of the two runs first, and as the class itself does it."""
    problem = toy_problem(multilabel=True)
    splits = toy_group_splits(problem)[:1]
    linear, top = (
        build_method(spec_of(name, represented("tf", "l2", "training")), problem, None, replicated=False)
        for name in ("linear", "hp-top")
    )
    (first,) = linear.solve(problem, splits, None, bench)
    (after,) = top.solve(problem, splits, None, bench)
    (hers,), (own,) = first.seconds, after.seconds
    assert own[1] == hers[1] > 0, "the inner products are part of both"
    assert own[0] > hers[2] + hers[3], "so is what the linear machines took"
    training, machines = TIMERS.index("training"), TIMERS.index("machines")
    for method in (linear, top):
        (single,) = method.solve(problem, splits, None, MatrixCache(1))
        (seconds,) = single.seconds
        assert 0 < seconds[machines] <= seconds[training], "on one thread they are trained one by one"
    (alone,) = top.solve(problem, splits, None, MatrixCache())
    np.testing.assert_array_equal(alone.predicted, after.predicted)


def linear_work(bench: MatrixCache) -> SplitData:
    problem = toy_problem(multilabel=True)
    split = toy_group_splits(problem)[0]
    return SplitData(problem, split, [split], None, "sum", bench)


def test_linear_machines_of_another_cost_are_others(bench: MatrixCache) -> None:
    work = linear_work(bench)
    for C in (0.01, 0.1):
        machines = linear_machines(work, spec_of("linear", TF, C=C)).machines
        assert max(np.abs(machine.coefficients).max() for machine in machines) == C


@pytest.mark.parametrize("changed", [{"epsilon": 0.5}, {"ridge": 2.0}, {"scale_C": "mean-self-product"}], ids=str)
def test_linear_machines_are_those_that_a_method_has_alone(changed: dict[str, float | str], bench: MatrixCache) -> None:
    """Also beside a method that differs in one parameter."""
    specs = [spec_of("linear", represented("tf", "none", "collection"), **each) for each in ({}, changed)]
    together = [linear_machines(linear_work(bench), spec).machines for spec in specs]
    alone = [linear_machines(linear_work(MatrixCache(1)), spec).machines for spec in specs]
    for one, other in zip(together, alone, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a.coefficients, b.coefficients)
    assert any(a.rho != b.rho for a, b in zip(*together, strict=True))


def test_a_cost_is_in_the_unit_of_all_documents_of_the_task(bench: MatrixCache) -> None:
    """Those that are tested included: of the training documents alone, each split would have a unit of its own."""
    work, raw = linear_work(bench), represented("tf", "none", "collection")
    squares = (work.problem.counts.matrix.toarray().astype(float) ** 2).sum(axis=1)
    assert squares.mean() != squares[work.split.train].mean()
    meant = linear_machines(work, spec_of("linear", raw, scale_C="mean-self-product", C=0.5))
    given = linear_machines(work, spec_of("linear", raw, C=0.5 / float(squares.mean())))
    for one, other in zip(meant.machines, given.machines, strict=True):
        np.testing.assert_array_equal(one.coefficients, other.coefficients)


def test_the_unit_of_the_cost_makes_machines_blind_to_the_scale(bench: MatrixCache) -> None:
    """Twice every count is four times the inner products."""
    for multilabel in (False, True):
        problem = toy_problem(multilabel=multilabel)
        twice = toy_problem(multilabel=multilabel, key="twice")
        twice.counts.matrix.data *= 2
        for terms in (None, 20):
            decided = []
            for each in (problem, twice):
                spec = spec_of("linear", represented("tf", "none", "collection"), scale_C="mean-self-product", C=0.5)
                method = build_method(spec, each, None, replicated=False)
                decided.append(method.solve(each, toy_group_splits(each), terms, bench))
            for a, b in zip(*decided, strict=True):
                np.testing.assert_array_equal(a.predicted, b.predicted)


def test_products_are_remembered_for_equal_arguments_alone() -> None:
    problem, rows, bench = toy_problem(multilabel=False), np.arange(60), MatrixCache()
    fields = replace(TF, fields=(("all", 1.0),), normalization="l1")
    problem = replace(problem, counts=replace(problem.counts, blocks=("all",)))
    tfidf = represented("tfidf", "l2", "training")
    first: tuple[Any, ...] = (problem, TF, 1.0, rows, None)
    others: dict[str, tuple[Any, ...]] = {
        "problem": (replace(problem, key="other"), *first[1:]),
        "weighting": (problem, tfidf, 1.0, rows, rows),
        "learned": (problem, tfidf, 1.0, rows, rows[:30]),
        "power": (problem, TF, 0.5, rows, None),
        "columns": (problem, TF, 1.0, rows[:59], None),
        "prior": (problem, replace(TF, dirichlet=0.5), 1.0, rows, None),
        "fields": (problem, fields, 1.0, rows, None),
        "their weights": (problem, replace(fields, fields=(("all", 2.0),)), 1.0, rows, None),
        "their normalization": (problem, replace(fields, normalization="l2"), 1.0, rows, None),
    }
    seen: list[tuple[Any, ...]] = [first, *others.values()]
    for one in seen:
        for other in seen:
            made = bench.products(*one)
            assert bench.products(*one) is made
            assert (bench.products(*other) is made) == (one is other)
    made = bench.products(*first)
    assert bench.products(problem, represented("tf", "l1", "training"), 1.0, rows, None) is made, "as LazyGram has it"
    assert bench.products(*first, once=True) is not made


@pytest.mark.parametrize(("budget", "stored"), [(60 * 40 * 8, True), (60 * 40 * 8 - 1, False), (0, False)])
def test_products_are_stored_up_to_the_budget_in_bytes(budget: int, stored: bool) -> None:
    problem, columns = toy_problem(multilabel=False), np.arange(40)
    for once, bytes_allowed in ((False, budget), (True, 8 * budget)):
        found = MatrixCache(budget=bytes_allowed).products(problem, TF, 1.0, columns, None, once=once)
        assert isinstance(found.products.matrix, np.ndarray) == stored
        assert found.seconds > 0
        expected = problem.counts.matrix.toarray().astype(float)
        np.testing.assert_array_equal(found.products.matrix[:], expected @ expected[:40].T)
        np.testing.assert_array_equal(found.products.self_products, (expected**2).sum(axis=1))


@pytest.mark.parametrize(("text", "expected"), [(None, 4_000_000_000), ("0.5", 500_000_000), ("0", 0)])
def test_the_budget_is_given_in_gigabytes(text: str | None, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_MEMORY_GB", raising=False)
    if text is not None:
        monkeypatch.setenv("BENCH_MEMORY_GB", text)
    assert MatrixCache().budget == expected
    assert MatrixCache(budget=7).budget == 7


def test_rankings_of_another_problem_are_others_and_those_before_are_forgotten(bench: MatrixCache) -> None:
    one, other = toy_problem(multilabel=False), toy_problem(multilabel=True, key="other")
    split, second = toy_group_splits(one)
    first = bench.rankings(one, split)
    assert bench.rankings(one, split) is first
    assert bench.rankings(one, replace(split, test=second.test)) is first
    assert bench.rankings(one, second) is not first
    assert len(bench._rankings) == 2
    np.testing.assert_array_equal(bench.rankings(other, split).gains, Rankings.learn(other, split.train).gains)
    assert len(bench._rankings) == 1
    assert bench.rankings(one, split) is not first
    bench.release()
    assert not bench._rankings


def test_released_memory_is_given_back_and_what_was_remembered_is_made_anew(bench: MatrixCache) -> None:
    problem, rows = toy_problem(multilabel=False), np.arange(60)
    made = bench.products(problem, TF, 1.0, rows, None)
    nodes = bench.nodes
    nodes.resize(9)
    assert bench.shared(("one",), lambda: 1) == 1
    ranked = bench.rankings(problem, toy_group_splits(problem)[0])
    bench.release_matrices()
    assert bench._memory.size == 0
    assert bench.nodes.nbytes == 0
    assert bench.nodes is not nodes
    assert bench.products(problem, TF, 1.0, rows, None) is not made
    assert bench.shared(("one",), lambda: 2) == 2
    assert bench.rankings(problem, toy_group_splits(problem)[0]) is ranked


def test_memory_grows_and_is_reused_for_smaller_products(bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=False)
    counts = problem.counts.matrix.toarray().astype(float)
    for columns in (np.arange(10), np.arange(50), np.arange(3, 30), np.arange(60)):
        found = bench.products(problem, TF, 1.0, columns, None).products.matrix
        np.testing.assert_array_equal(found, counts @ counts[columns].T)
        assert np.shares_memory(found, bench._memory)
    size = bench._memory.size
    smoothed = bench.smoothed(problem.counts.matrix.astype(float), 1.0, 0.5).matrix
    np.testing.assert_allclose(smoothed, (counts + 0.5) @ (counts + 0.5).T)
    assert bench._memory.size == size == 3600


def test_linear_machines_are_shared_by_equal_splits_points_and_parameters_alone(bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=True)
    split, second = toy_group_splits(problem)
    work, spec = SplitData(problem, split, [split], None, "sum", bench), spec_of("linear", TF)
    shorter = replace(split, test=split.test[1:])
    fewer = replace(split, train=split.train[1:])
    ways: list[tuple[SplitData, MethodSpec]] = [
        (work, spec),
        (replace(work, split=second), spec),
        (replace(work, split=shorter), spec),
        (replace(work, split=fewer), spec),
        (replace(work, problem=replace(problem, key="other")), spec),
        (replace(work, terms=20), spec),
        (work, spec_of("linear", represented("tf", "l1", "collection"))),
        (work, spec_of("linear", represented("tfidf", "l2", "collection"))),
        *(
            (work, spec_of("linear", TF, **{name: value}))
            for name, value in (
                ("C", 2.0),
                ("epsilon", 0.5),
                ("ridge", 1.0),
                ("cache_mb", 9.0),
                ("scale_C", "mean-self-product"),
            )
        ),
    ]
    for own, wanted in ways[1:]:
        made = linear_machines(own, wanted)
        assert linear_machines(own, replace(wanted)) is made
        assert linear_machines(own, replace(wanted, kernel=spec_of("hp-top", TF).kernel)) is made
        assert linear_machines(*ways[0]) is not made


def test_linear_machines_come_back_from_a_cache_as_they_were(bench: MatrixCache) -> None:
    held: dict[str, Any] = {}

    def cached(about: str, components: Any, content: Any, make: Any) -> Any:
        name = repr((about, components, content))
        if name not in held:
            held[name] = make()
        return held[name]

    for multilabel in (False, True):
        problem = toy_problem(multilabel=multilabel, key=str(multilabel))
        split = toy_group_splits(problem)[0]
        works = [SplitData(problem, split, [split], None, "sum", MatrixCache(cached=cached)) for _ in range(2)]
        one, other = (linear_machines(work, spec_of("linear", TF)) for work in works)
        assert (one.other is not None) == multilabel
        for a, b in zip((*one.machines, one.other), (*other.machines, other.other), strict=True):
            if a is None or b is None:
                assert a is b
                continue
            np.testing.assert_array_equal(a.support, b.support)
            np.testing.assert_array_equal(a.coefficients, b.coefficients)
            assert (a.rho, a.seconds) == (b.rho, b.seconds)
        assert one.other_seconds == other.other_seconds
        assert (one.other_seconds > 0) == multilabel
    assert len(held) == 2
    names = list(held)
    for changed in ({"C": 2.0}, {"epsilon": 0.5}, {"ridge": 1.0}, {"cache_mb": 9.0}):
        work = SplitData(problem, split, [split], None, "sum", MatrixCache(cached=cached))
        linear_machines(work, spec_of("linear", TF, **changed))
        assert len(held) == len(names) + 1, "a parameter is in the name"
        names = list(held)


@pytest.mark.parametrize("without", ["some", "all", "none"])
def test_documents_without_a_class_are_a_class_beside_the_others(without: str, bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=True)
    split = toy_group_splits(problem)[0]
    members = problem.members.copy()
    if without == "none":
        members[~members.any(axis=1), 0] = True
    elif without == "all":
        members[split.train] = False
    documents = replace(problem.documents, topics=members)
    given = replace(problem, counts=replace(problem.counts, documents=documents), key=without)
    work = SplitData(given, split, [split], None, "sum", bench)
    found = linear_machines(work, spec_of("linear", TF))
    assert (found.other is not None) == (without == "some")
    assert len(found.machines) == (0 if without == "all" else 3)
    if without == "all":
        top = build_method(spec_of("hp-top", TF), given, None, replicated=False)
        with pytest.raises(ValueError, match="HP-TOP needs at least two classes, and the training documents have 0"):
            top.solve(given, [split], None, bench)
        linear = build_method(spec_of("linear", TF), given, None, replicated=False)
        assert not linear.solve(given, [split], None, bench)[0].predicted.any()


def test_hp_top_needs_two_classes_of_the_training_documents(bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=True)
    split = toy_group_splits(problem)[0]
    members = problem.members.copy()
    members[split.train] = np.arange(len(split.train))[:, None] % 2 == [0, 2, 2]
    members[split.train, 1] = False
    members[split.train[members[split.train].any(axis=1) == 0], 2] = True
    members[split.train, 0] |= True
    documents = replace(problem.documents, topics=members)
    given = replace(problem, counts=replace(problem.counts, documents=documents), key="one class")
    top = build_method(spec_of("hp-top", TF), given, None, replicated=False)
    with pytest.raises(ValueError, match="HP-TOP needs at least two classes, and the training documents have 1"):
        top.solve(given, [split], None, bench)


def test_a_shared_matrix_is_that_of_the_task_the_points_the_kernel_and_its_scale(bench: MatrixCache) -> None:
    problem = toy_problem(multilabel=False, n_classes=2)
    twice = replace(problem, key="twice", counts=replace(problem.counts, matrix=problem.counts.matrix[::-1]))
    splits, tf = toy_replicates(problem), represented("tf", "none", "collection")
    ways = [
        (problem, spec_of("linear", tf)),
        (twice, spec_of("linear", tf)),
        (problem, spec_of("linear", represented("tf", "l2", "collection"))),
        (problem, spec_of("linear", represented("tfidf", "none", "collection"))),
        (problem, spec_of("ned", tf)),
        (problem, spec_of("linear", tf, ridge=50.0)),
        (problem, spec_of("linear", tf, scale_C="mean-self-product")),
    ]
    for own, spec in [*ways, *ways[::-1]]:
        method = build_method(spec, own, None, replicated=True)
        for one, other in zip(
            method.solve(own, splits, None, bench), method.solve(own, splits, None, MatrixCache()), strict=True
        ):
            np.testing.assert_array_equal(one.values, other.values)
    with pytest.raises(ValueError, match="only with two classes and the same terms in all splits"):
        method.solve(problem, splits, 20, bench)
    three = toy_problem(multilabel=False)
    with pytest.raises(ValueError, match="only with two classes and the same terms in all splits"):
        method.solve(three, toy_replicates(three), None, bench)
