"""Weightings, feature maps and threshold rules of one's own: their numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.classifiers import LinearSvm
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.plan import plan_task
from benchmark.experiment.store import Store
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.wrappers.out_of_fold import inner_folds

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.config.model import Experiment

EXTENDING = Path(__file__).parents[2] / "docs" / "extending.md"
SEVERAL = "{name: synthetic, subset: several}"
OF_EACH = (
    "{name: weighed, weighting: log-idf, classifier: linear-svm, threshold: pcut}, "
    "{features: power, classifier: linear-svm}, {features: hellinger, classifier: linear-svm}"
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", limit=10**9)


@pytest.fixture
def documented(plugin: Callable[..., Path]) -> Path:
    """The file of the documents."""
    found = re.findall(r"`my(?:points|rules)\.py` has.*?```python\n(.*?)```", EXTENDING.read_text("utf-8"), re.DOTALL)
    assert len(found) == 2
    return plugin("\n".join(found), "mypoints.py")


def test_decisions_are_those_of_the_formulas(studied: Callable[..., Experiment], documented: Path) -> None:
    assert documented
    experiment = studied(files="mypoints.py", methods=OF_EACH, corpus=SEVERAL)
    variant = experiment.variants["base"]
    counts, _, key = read_counts(variant.collection, RunContext(Store()))
    weighed, power, hellinger = plan_task(experiment, variant, variant.tasks[0], counts, key).points
    problem, (split,) = weighed.problem, [split for job in weighed.jobs for split in job.splits]
    found = [
        point.method.solve(problem, [split], None, MatrixCache(1))[0].predicted for point in (weighed, power, hellinger)
    ]
    np.testing.assert_array_equal(found[1], found[2])  # p^½ is √p
    matrix, members = problem.counts.matrix, problem.members

    def values(train: Any, test: Any) -> Any:
        df = np.asarray((matrix[train] != 0).sum(axis=0)).ravel()
        points = np.log1p(matrix.toarray()) * np.where(df > 0, np.log(len(train) / np.maximum(df, 1)), 0.0)
        points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-300)
        machines = [LinearSvm().fit(points[train], own) for own in members[train].T.astype(int)]
        return np.stack([each.decision_function(points[test]) for each in machines], axis=1)

    outside = np.empty(members.shape)
    for fold in inner_folds(problem, split):
        outside[fold.test] = values(fold.train, fold.test)
    own = zip(outside[split.train].T, members[split.train].T, strict=True)
    thresholds = np.array([np.quantile(column, 1 - inside.mean()) for column, inside in own])
    assert np.abs(thresholds).max() > 0.05
    expected = values(split.train, split.test) > thresholds
    assert np.mean(expected == found[0]) > 0.999  # values at a threshold may be rounded to either side
