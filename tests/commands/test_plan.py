"""Plans: what they list follows the store, seconds are about those of a run, and warnings name remedies."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.commands.plan import Plan, plan_run, plan_sentence
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_variants
from benchmark.experiment.runner import LocalExecutor, plan_tasks, run_experiment, solve_task
from benchmark.experiment.store import Store
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("sketched")
SEVERAL_CLASSES = {
    "corpus": {"name": "synthetic", "subset": "several"},
    "protocol": {"name": "random-subsets", "train_size": [60], "replicates": 4, "stratified": False, "test": "texas"},
    "metrics": ["macro-f1"],
}
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
    "points": {"methods": ["mnb", {"weighting": "tfidf", "classifier": ["linear-svm", "born"]}]},
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", limit=10**10)


@pytest.mark.parametrize("case", CASES)
def test_every_batch_is_timed_and_those_in_the_store_are_not_planned(store: Store, case: str) -> None:
    experiment, context = small_experiment(**CASES[case]), RunContext(store)
    found = plan_run(experiment, context)
    assert found.entries > 0 == found.stored
    assert all(fits > 0 < seconds < 100 for _, fits, seconds in found.batches)
    assert found.seconds == pytest.approx(sum(seconds for *_, seconds in found.batches))
    assert 1e8 < found.memory < 3e9
    assert not run_experiment(experiment, context).failures
    again = plan_run(experiment, context)
    assert (again.entries, again.stored, again.batches, again.memory) == (found.entries, found.entries, [], 0)
    assert plan_sentence(again) == f"The store has {found.entries} of {found.entries} results."


@pytest.mark.slow
def test_seconds_are_those_of_training_and_predicting_within_a_factor_of_3(store: Store) -> None:
    """On more documents than a sample has."""
    linear = {"weighting": "tfidf", "classifier": ["linear-svm", "logistic"]}
    experiment, context = small_experiment(methods=["ngd", "linear", linear]), RunContext(store)
    planned = plan_run(experiment, context).seconds
    works = list(plan_tasks(experiment, read_variants(experiment, context)))
    started = time.process_time()
    for work in works:
        list(solve_task(work, context, LocalExecutor(context)))
    assert 1 / 3 < planned / (time.process_time() - started) < 3


def test_a_sentence_says_what_a_run_takes_what_was_not_timed_and_what_to_do_on_a_small_machine() -> None:
    said = Plan(0, 0, memory=1e10, free_bytes=8e9).warning
    assert said.startswith("the run needs 10 GB of memory, and 8.0 GB are free: take fewer documents, `linear-svm`")
    assert not Plan(0, 0, memory=1e10, free_bytes=11e9).warning
    batches = [("a, b", 3, 100.0), ("mine", 1, math.nan)]
    assert plan_sentence(Plan(9, 5, batches, memory=1.23e9)) == (
        "The store has 5 of 9 results. The others take about 100 s of processor time and 1.2 GB of memory, a rough "
        "estimate, up to 4 times off. Not timed: mine."
    )
    untimed = plan_sentence(Plan(9, 5, batches[1:], memory=1.23e9))
    assert untimed == "The store has 5 of 9 results. The others take about 1.2 GB of memory."
