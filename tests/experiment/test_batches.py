"""What is computed together: every job once, only machines of the same inner products, and never another decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.experiment.context import RunContext
from benchmark.experiment.plan import Batch, plan_batches
from benchmark.experiment.runner import plan_tasks, read_variants
from benchmark.experiment.store import Store
from benchmark.methods.matrix_cache import MatrixCache
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmark.experiment.plan import PlannedTask

METHODS = [
    {"weighting": ["tf", "tfidf"], "normalization": ["l1", "l2"], "kernel": "linear"},
    {"weighting": "tf", "normalization": "l1", "kernel": ["ngd", "bhattacharyya"]},
    {"kernel": "linear", "classifier": {"name": "svm", "scheme": "one-vs-rest"}, "weighting": "tf"},
    "mnb",
]


@pytest.fixture
def work_of(tmp_path: Path) -> Callable[..., PlannedTask]:
    def make(**changes: Any) -> PlannedTask:
        experiment = small_experiment(**{"methods": METHODS, **changes})
        (work,) = plan_tasks(
            experiment, read_variants(experiment, RunContext(Store(tmp_path / "store"), download=False))
        )
        return work

    return make


def planned(work: PlannedTask) -> list[Batch]:
    return plan_batches(
        [(point, job) for point in work.settings for job in point.units], by_split=work.problem.multilabel
    )


def test_every_job_is_in_one_batch(work_of: Callable[..., PlannedTask]) -> None:
    costs = {"weighting": "tf", "kernel": "ned", "classifier": {"name": "svm", "C": [1, 10]}}
    chosen = {"methods": [*METHODS, costs], "choose": {"by": "cross-validation", "folds": 3}}
    for changes in ({}, chosen, {"terms": {"number": [20, 40]}}):
        work = work_of(**changes)
        found = [job.key for batch in planned(work) for job in batch.units]
        assert sorted(found) == sorted(job.key for point in work.settings for job in point.units)


def test_a_batch_decides_as_each_method_does_alone(work_of: Callable[..., PlannedTask]) -> None:
    for batch in planned(work_of()):
        for (point, jobs), together in zip(batch.parts, batch.solve(MatrixCache()), strict=True):
            (alone,) = Batch(((point, jobs),)).solve(MatrixCache())
            assert isinstance(together, list)
            assert isinstance(alone, list)
            for a, b in zip(together, alone, strict=True):
                np.testing.assert_array_equal(a.predicted, b.predicted)
                np.testing.assert_array_equal(a.tied, b.tied)
