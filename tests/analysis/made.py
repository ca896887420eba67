"""Predictions made up by hand, of experiments of every shape: nothing is trained."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.predictions import Predictions, SettingKey, SplitKey, TaskDocuments, TaskKey, TestedSplit
from tests.builders import inner_counts, setting_of, small_experiment

if TYPE_CHECKING:
    from benchmark.config.model import Experiment

CLASSES = ["course", "faculty", "student"]
DRAWN: dict[str, Any] = {
    "corpus": {"name": "synthetic", "classes": CLASSES},
    "protocol": {"name": "random-subsets", "train_size": [50, 100], "replicates": 6},
    "methods": ["linear", {"kernel": {"name": "rbf", "sigma": [0.1, 0.2, 0.4]}}],
    "choose": {"by": ["oracle", "cross-validation"], "folds": 3},
    "metrics": ["error"],
    "compare": [["rbf", "linear"]],
}
CENTROIDS: dict[str, Any] = {
    "corpus": {"name": "synthetic", "classes": CLASSES},
    "protocol": {"name": "random-subsets", "train_size": [50, 100], "replicates": 6},
    "defaults": {"classifier": {"name": "divergence-bayes", "smoothing": 0.001}},
    "methods": [{"classifier": {"centroid": ["mean", "skl"]}}],
    "metrics": ["macro-recall"],
    "per_class": True,
    "gain": True,
    "compare": [["skl", "mean"]],
}
TABLE: dict[str, Any] = {
    "corpus": {"name": "synthetic", "classes": CLASSES},
    "protocol": {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
    "compare": [["tf-l1-ngd", "tf-l1-linear"]],
}


def predicted(experiment: Experiment, seed: int = 0, n: int = 60, *, multilabel: bool = False) -> Predictions:
    """Right on nine decisions of ten."""
    rng, k = np.random.default_rng(seed), len(CLASSES)
    tasks, splits, points = {}, {}, {}
    for variant in experiment.variants.values():
        for task in variant.tasks:
            order = np.argsort([CLASSES.index(name) for name in task.classes])
            truth = np.random.default_rng(9).integers(k, size=n).astype(np.int32)
            truth = order[truth].astype(np.int32)
            members = np.random.default_rng(8).random((n, k)) < 0.4
            key = TaskKey(variant.name, task.name)
            tasks[key] = TaskDocuments(tuple(map(str, range(n))), task.classes, members if multilabel else truth)
            for size in variant.sizes:
                draws = 6 if size else 2
                tests = [np.sort(np.random.default_rng([i, size or 0]).permutation(n)[:40]) for i in range(draws)]
                if not size:
                    tests = [np.arange(25), np.arange(25, n)]
                names = [f"replicate-{i + 1:02d}" for i in range(draws)] if size else ["cornell", "texas"]
                splits[SplitKey(*key, size)] = tuple(
                    TestedSplit(name, test, np.full(k, 5)) for name, test in zip(names, tests, strict=True)
                )
                for entry, number in product(variant.entries, variant.numbers):
                    for index in range(len(entry.candidates)):
                        given = []
                        for test in tests:
                            own = tasks[key].truth[test]
                            wrong = rng.random(own.shape) < 0.1 + 0.05 * index
                            given.append(
                                own ^ wrong if multilabel else np.where(wrong, (own + 1) % k, own).astype(np.int32)
                            )
                        inner = inner_counts(rng.integers(4, size=draws), k) if len(entry.candidates) > 1 else ()
                        tied = tuple(np.arange(own.size).reshape(own.shape) == 3 for own in given)
                        found = setting_of(
                            given, tied, seconds=rng.random((draws, 6)), memory=np.ones(draws), inner=inner
                        )
                        points[SettingKey(*key, entry.label, index, size, number)] = found
    return Predictions(tasks, splits, points)


def drawn_study(**changes: Any) -> Experiment:
    """Make an experiment whose sample is draws, with a choice of parameters; keywords replace sections."""
    return small_experiment(**DRAWN | {"name": "drawn"} | changes)


def table_study(**changes: Any) -> Experiment:
    """Make an experiment whose sample is documents; keywords replace sections."""
    return small_experiment(**TABLE | {"name": "table"} | changes)
