"""Plans: what they list follows the store, seconds are about those of a run, and warnings name remedies."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.commands.plan import Plan, _samples, format_seconds, plan_run, plan_sentence
from benchmark.experiment.context import RunContext
from benchmark.experiment.executors import LocalExecutor
from benchmark.experiment.plan import plan_batches
from benchmark.experiment.runner import plan_tasks, read_variants, run_experiment, solve_task
from benchmark.experiment.store import Store
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.system import memory as environment
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("sketched")
SEVERAL_CLASSES = {
    "corpus": {"name": "synthetic", "subset": "several"},
    "protocol": {"name": "random-subsets", "train_size": [60], "replicates": 4, "stratified": False, "test": "texas"},
    "metrics": ["macro-f1"],
}
ONE_VS_REST = {"kernel": "ngd", "classifier": {"name": "svm", "scheme": "one-vs-rest"}, "name": "mine"}
FUSED = {"fuse": ["mine", "linear-svm"], "name": "both"}
CASES: dict[str, dict[str, Any]] = {
    "kernels": {},
    "several classes": SEVERAL_CLASSES,
    "curves": {
        "tasks": [["faculty", "course"]],
        "protocol": {"name": "random-subsets", "train_size": [20, 40], "replicates": 4},
        "methods": [{"kernel": {"name": "rbf", "sigma": [1, 2]}}, "mnb"],
        "choose": {"by": ["cross-validation"], "folds": 3},
    },
    "models": {"methods": [{"kernel": {"name": "plsi-fisher", "n_classes": [3]}}, {"kernel": "hp-top"}]},
    "fused": {"methods": [ONE_VS_REST, "linear-svm", FUSED]},
    "points": {"methods": ["mnb", {"weighting": "tfidf", "classifier": ["linear-svm", "born"]}]},
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", limit=10**10)


@pytest.mark.parametrize("case", CASES)
def test_every_batch_is_timed_and_those_in_the_store_are_not_planned(store: Store, case: str) -> None:
    experiment, context = small_experiment(**CASES[case]), RunContext(store)
    found = plan_run(experiment, context)
    assert all(n > 0 == stored for _, n, stored in found.rows)
    assert all(fits > 0 < seconds < 100 for _, fits, seconds in found.batches)
    assert found.seconds == pytest.approx(sum(seconds for *_, seconds in found.batches))
    assert 1e8 < found.memory < 3e9
    assert not run_experiment(experiment, context).failures
    again = plan_run(experiment, context)
    assert [(name, n, n) for name, n, _ in found.rows] == again.rows
    assert (again.batches, again.memory, plan_sentence(again)) == ([], 0, "The store has every result.")


def test_methods_with_the_same_inner_products_are_computed_together(store: Store) -> None:
    found = plan_run(small_experiment(), RunContext(store), with_pilot=False)
    assert [(names, fits) for names, fits, _ in found.batches] == [
        ("tf-l1-linear", 2),
        ("tf-l1-ngd", 2),
        ("tfidf-l1-linear", 2),
        ("tfidf-l1-ngd", 2),
    ]
    assert all(math.isnan(seconds) for *_, seconds in found.batches)


def test_a_stopped_run_is_planned_to_go_on(store: Store) -> None:
    experiment, context = small_experiment(), RunContext(store)
    (work,) = plan_tasks(experiment, read_variants(experiment, context))
    half = replace(work, points=(replace(work.points[0], jobs=work.points[0].jobs[:1]),))
    solve_task(half, context, [LocalExecutor(context, MatrixCache())])
    assert plan_run(experiment, context, with_pilot=False).rows[0] == ("tf-l1-linear", 2, 1)


@pytest.mark.parametrize("case", CASES)
def test_a_sample_has_each_class_and_each_method_can_be_trained_on_it(store: Store, case: str) -> None:
    experiment, context = small_experiment(**CASES[case]), RunContext(store)
    (work,) = plan_tasks(experiment, read_variants(experiment, context))
    names = np.array(work.problem.documents.ids)
    units = [(point, job) for point in work.points for job in point.jobs]
    for batch in plan_batches(units, by_split=work.problem.multilabel):
        split = batch.jobs[0].splits[0]
        (sample,) = _samples(batch, [split], 0.1)
        problem, small = sample.parts[0][0].problem, sample.jobs[0].splits[0]
        for rows, whole in ((small.train, split.train), (small.test, split.test)):
            assert {problem.documents.ids[row] for row in rows} <= set(names[whole])
        trained = work.problem.members[split.train].sum(axis=0)
        assert (problem.members[small.train].sum(axis=0) >= np.minimum(trained, 6)).all()
        assert not [part for part in sample.solve(MatrixCache()) if isinstance(part, Exception)]


@pytest.mark.slow
def test_seconds_are_those_of_training_and_predicting_within_a_factor_of_3(store: Store) -> None:
    """On more documents than a sample has."""
    linear = {"weighting": "tfidf", "classifier": ["linear-svm", "logistic"]}
    experiment, context = small_experiment(methods=["ngd", "linear", linear]), RunContext(store)
    planned = plan_run(experiment, context).seconds
    works = list(plan_tasks(experiment, read_variants(experiment, context)))
    started = time.process_time()
    for work in works:
        solve_task(work, context, [LocalExecutor(context, MatrixCache())])
    assert 1 / 3 < planned / (time.process_time() - started) < 3


def test_a_machine_that_is_too_small_is_told_with_what_to_do() -> None:
    small = Plan([], memory=1e10, free_bytes=8e9, jobs=2)
    (warning,) = small.warnings
    assert warning.startswith("the run needs 10 GB of memory, and 8.0 GB are free: take fewer documents, `linear-svm`")
    assert warning.endswith("BENCH_MEMORY_GB or --jobs 1")
    assert not Plan([], memory=1e10, free_bytes=11e9).warnings


def test_no_more_memory_is_free_than_a_process_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.free_memory() > 1e7
    monkeypatch.setattr(environment, "memory_limit", lambda: 5.0)
    assert environment.free_memory() == 5.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3.14, "3.1 s"), (41.9, "42 s"), (312, "5.2 min"), (7500, "2.1 h"), (math.nan, "–")],
)
def test_a_time_has_two_digits(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_a_sentence_says_what_a_run_takes_and_what_was_not_timed() -> None:
    batches = [("a, b", 3, 100.0), ("mine", 1, math.nan)]
    assert plan_sentence(Plan([], batches, memory=1.23e9)) == (
        "Training and predicting take about 100 s of processor time and 1.2 GB, a rough estimate: up to 4 times off. "
        "Not timed: mine."
    )
    assert plan_sentence(Plan([], batches[1:], memory=1.23e9)) == "A run takes about 1.2 GB of memory."
