"""A batch of methods on one split never decides otherwise than each method alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_variants
from benchmark.experiment.plan import Batch, plan_batches
from benchmark.experiment.runner import plan_tasks
from benchmark.experiment.store import Store
from benchmark.methods.matrix_cache import MatrixCache
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path


METHODS = [
    {"weighting": ["tf", "tfidf"], "normalization": ["l1", "l2"], "kernel": "linear"},
    {"weighting": "tf", "normalization": "l1", "kernel": ["ngd", "bhattacharyya"]},
    {"kernel": "linear", "classifier": {"name": "svm", "scheme": "one-vs-rest"}, "weighting": "tf"},
    "mnb",
]


def test_a_batch_decides_as_each_method_does_alone(tmp_path: Path) -> None:
    experiment = small_experiment(methods=METHODS)
    (task,) = plan_tasks(experiment, read_variants(experiment, RunContext(Store(tmp_path), download=False)))
    for batch in plan_batches(task.units):
        for unit, together in batch.solve(MatrixCache()):
            ((_, alone),) = Batch(((unit,),)).solve(MatrixCache())
            assert isinstance(together, list)
            assert isinstance(alone, list)
            for a, b in zip(together, alone, strict=True):
                np.testing.assert_array_equal(a.predicted, b.predicted)
                np.testing.assert_array_equal(a.tied, b.tied)
