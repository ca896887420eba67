"""Learning curves with a choice of parameters, against scikit-learn's machines on the same draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from benchmark.evaluation.protocols import KFold
from benchmark.experiment.configuration import experiment_from_mapping
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.runner import run_experiment
from benchmark.experiment.store import Store
from benchmark.kernels import Diffusion, Linear
from tests.builders import inner_errors

CURVES = {
    "name": "curves",
    "corpus": {"name": "synthetic", "classes": ["faculty", "course", "student"]},
    "text": {"skip_header": True, "skip_html": True, "stoplist": "none", "min_occurrences": 5},
    "tasks": [["faculty", "course"], ["faculty", "student"]],
    "protocol": {"name": "random-subsets", "train_size": [12, 40], "replicates": 6},
    "defaults": {"weighting": "tf", "normalization": "l1", "classifier": {"C": 10, "scale_C": "mean-self-product"}},
    "methods": ["linear", {"kernel": {"name": "diffusion", "t": [0.2, 1, 5]}}],
    "choose": {"by": ["oracle", "cross-validation"], "folds": 3},
    "metrics": ["error"],
}
LINEAR = CURVES | {"methods": ["linear"], "choose": None}
TASK = ("base", "faculty-course")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store"), limit=10**9)


@pytest.fixture(scope="module")
def found(shared):
    return run_experiment(experiment_from_mapping(CURVES, "test.yaml"), RunContext(shared))


@pytest.fixture(scope="module")
def documents(found, shared):
    """The first task's, and their frequencies."""
    counts, _, _ = read_counts(found.experiment.variants["base"].collection, RunContext(shared))
    ids = found.predictions.tasks[TASK].ids
    rows = np.array([counts.documents.ids.index(name) for name in ids])
    dense = counts.matrix[rows].toarray().astype(np.float64)
    task = found.predictions.tasks[TASK]
    own = replace(counts.documents.take(rows), classes=task.classes, labels=task.truth)
    return own, dense / dense.sum(axis=1, keepdims=True)


def kernel_matrix(kernel, points):
    matrix = kernel.fit_transform(points)
    return matrix / np.diag(matrix).mean()


def machine(matrix, labels, train, test):
    # LIBSVM's first class is the first one it meets; scikit-learn sorts, so that the labels come out alike.
    fitted = SVC(C=10, kernel="precomputed").fit(matrix[np.ix_(train, train)], labels[train])
    return fitted.predict(matrix[np.ix_(test, train)])


def splits_with(found, size, method, index):
    """Training rows, tested rows and what was decided on them, split by split."""
    point = found.predictions.settings[*TASK, method, index, size, None]
    n = len(found.predictions.tasks[TASK].ids)
    for split, given in zip(found.predictions.splits[*TASK, size], point.by_split, strict=True):
        yield np.setdiff1d(np.arange(n), split.test), split.test, given


@pytest.mark.parametrize(("method", "index", "kernel"), [("linear", 0, Linear()), ("diffusion", 1, Diffusion(t=1))])
@pytest.mark.parametrize("size", [12, 40])
def test_decisions_are_those_of_scikit_learn(found, documents, method, index, kernel, size):
    truth, matrix = found.predictions.tasks[TASK].truth, kernel_matrix(kernel, documents[1])
    for train, test, given in splits_with(found, size, method, index):
        assert len(train) == size
        np.testing.assert_array_equal(given, machine(matrix, truth, train, test))


def test_inner_errors_are_those_of_folds_of_the_training_documents(found, documents):
    truth, matrix = found.predictions.tasks[TASK].truth, kernel_matrix(Diffusion(t=1), documents[1])
    inner = inner_errors(found.predictions.settings[*TASK, "diffusion", 1, 40, None])
    assert len(set(inner)) > 1
    for (rows, _, _), error in zip(splits_with(found, 40, "diffusion", 1), inner, strict=True):
        wrong = 0
        for fold in KFold(3, 0).splits(documents[0].take(rows)):
            train, test = rows[fold.train], rows[fold.test]
            wrong += np.count_nonzero(machine(matrix, truth, train, test) != truth[test])
        assert error == pytest.approx(wrong / 40)


def test_a_larger_grid_never_changes_earlier_decisions(found, shared):
    protocol = CURVES["protocol"] | {"train_size": [12, 20, 40], "replicates": 8}
    other = run_experiment(experiment_from_mapping(LINEAR | {"protocol": protocol}, "test.yaml"), RunContext(shared))
    for (variant, task, size), splits in found.predictions.splits.items():
        more = other.predictions.splits[variant, task, size]
        assert len(more) == 8
        points = [each.predictions.settings[variant, task, "linear", 0, size, None] for each in (found, other)]
        for i, split in enumerate(splits):
            np.testing.assert_array_equal(split.test, more[i].test)
            np.testing.assert_array_equal(points[0].by_split[i], points[1].by_split[i])


def test_another_seed_makes_other_draws(found, shared):
    other = run_experiment(experiment_from_mapping(LINEAR | {"seed": 1}, "test.yaml"), RunContext(shared))
    tests = [each.predictions.splits[*TASK, 12][0].test for each in (found, other)]
    assert not np.array_equal(*tests)
