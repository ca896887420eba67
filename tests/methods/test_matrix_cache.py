"""What the workbench remembers, keeps and streams, without a digit's difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.evaluation.predictions import TIMERS
from benchmark.evaluation.protocols import RandomSubsets
from benchmark.kernels.products import StreamedProducts
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.one_vs_rest import linear_machines
from benchmark.methods.rankings import Rankings
from benchmark.methods.registry import build_method
from benchmark.methods.split_data import SplitData, training_rows_of
from benchmark.methods.stopwatch import Stopwatch
from benchmark.plugins.toy_data import toy_group_splits, toy_problem, toy_replicates

from .conftest import represented, spec_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
