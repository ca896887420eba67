"""Many machines over one matrix decide as each would alone."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.classifiers.libsvm import NodeMatrix
from benchmark.classifiers.matrix_svm import batch_decision_values
from benchmark.classifiers.svm import SupportVectorClassifier


@pytest.fixture
def kernel(rng):
    points = rng.normal(size=(60, 5))
    return points @ points.T


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def problems_of(rng, labels, n, size):
    found = []
    for _ in range(n):
        rows = np.sort(rng.permutation(len(labels))[:size])
        test = np.setdiff1d(np.arange(len(labels)), rows)
        found.append((rows[labels[rows] == 1], rows[labels[rows] == 0], test))
    return found


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_each_problem_decides_as_a_classifier_of_its_own(kernel, rng, C):
    labels = (rng.random(60) < 0.5).astype(int)
    problems = problems_of(rng, labels, 7, 21)
    for (first, second, test), decisions in zip(problems, batch_decision_values(kernel, problems, C=C), strict=True):
        rows = np.concatenate([first, second])
        alone = SupportVectorClassifier(C=C).fit(kernel[np.ix_(rows, rows)], labels[rows])
        expected = alone.decision_function(kernel[np.ix_(test, rows)])[:, 0]
        scale = C * len(rows) * np.abs(kernel).max()
        np.testing.assert_allclose(decisions, expected, rtol=0, atol=len(rows) * np.finfo(float).eps * scale)


def test_memory_that_held_another_matrix_gives_the_same(kernel, rng):
    nodes, labels = NodeMatrix(), (rng.random(60) < 0.5).astype(int)
    (problem,) = problems_of(rng, labels, 1, 30)
    for matrix in (kernel, kernel**2, kernel):
        (fresh,), (reused,) = (
            batch_decision_values(matrix, [problem]),
            batch_decision_values(matrix, [problem], nodes=nodes),
        )
        np.testing.assert_array_equal(reused, fresh)


@pytest.mark.parametrize("n_test", [1, 3, 40])
def test_decisions_stand_in_the_order_of_the_tested_rows(n_test: int) -> None:
    rng = np.random.default_rng(6)
    points = rng.normal(size=(60, 5)) + np.repeat([[1.0], [0.0]], 30, axis=0)
    kernel, test = points @ points.T, rng.permutation(60)[:n_test]
    problem = np.arange(20), np.arange(30, 55), test
    (whole,) = batch_decision_values(kernel, [(*problem[:2], np.arange(60))])
    (found,) = batch_decision_values(kernel, [problem])
    np.testing.assert_allclose(found, whole[test], rtol=1e-9, atol=1e-9)
    for name, value in (("C", 0.01), ("epsilon", 0.5)):
        (other,) = batch_decision_values(kernel, [problem], **{name: value})
        assert np.abs(other - found).max() > 1e-6, name
