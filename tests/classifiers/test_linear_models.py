"""Linear machines against the problems that they solve: a ridge, pairs of classes, documents one after the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC, LinearSVC

from benchmark.classifiers import LinearSvm, NbSvm, SgdSvm, SupportVectorClassifier


def draw(n: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, 6)) + np.eye(6)[y] * 1.5, y


def solved_dual(K: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    """min ½ α'Qα - Σα for 0 ≤ α ≤ C, Q = yy'K: a machine without an offset of its own."""
    Q = np.outer(y, y) * K
    start = np.full(len(y), C / 2)
    found = minimize(
        lambda a: (a @ Q @ a / 2 - a.sum(), Q @ a - 1),
        start,
        jac=True,
        bounds=[(0, C)] * len(y),
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )
    return found.x * y


@pytest.mark.parametrize("ridge", [0.0, 0.5, 4.0])
def test_a_ridge_is_added_to_the_diagonal(ridge: float) -> None:
    """LIBLINEAR's offset is a coordinate that is 1 everywhere: its kernel is <x, x'> + 1."""
    X, y = draw(30, 2, 1)
    test, _ = draw(20, 2, 2)
    coefficients = solved_dual(X @ X.T + 1 + ridge * np.eye(30), 2.0 * y - 1, C=0.7)
    machine = LinearSvm(C=0.7, ridge=ridge, epsilon=1e-8).fit(X, y)
    np.testing.assert_allclose(machine.decision_function(test), (test @ X.T + 1) @ coefficients, atol=1e-5)
    assert machine.coef_.shape == (1, 6)


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest"])
def test_libsvms_ridge_is_the_kernel_with_a_longer_diagonal(scheme: str) -> None:
    X, y = draw(40, 3, 3)
    test, _ = draw(25, 3, 4)
    K, T = X @ X.T, test @ X.T
    ours = SupportVectorClassifier(C=0.5, scheme=scheme, ridge=1.5, epsilon=1e-8).fit(K, y)
    if scheme == "one-vs-one":
        theirs = SVC(kernel="precomputed", C=0.5, tol=1e-8).fit(K + 1.5 * np.eye(40), y)
        np.testing.assert_array_equal(ours.predict(T), theirs.predict(T))
    plain = SupportVectorClassifier(C=0.5, scheme=scheme, epsilon=1e-8).fit(K + 1.5 * np.eye(40), y)
    np.testing.assert_array_equal(ours.decision_function(T), plain.decision_function(T))
    without = SupportVectorClassifier(C=0.5, scheme=scheme, epsilon=1e-8).fit(K, y)
    assert np.abs(ours.decision_function(T) - without.decision_function(T)).max() > 1e-3


@pytest.mark.parametrize("n_classes", [3, 4])
def test_pairs_vote_as_scikit_learns_do(n_classes: int) -> None:
    X, y = draw(60, n_classes, 5)
    test, _ = draw(50, n_classes, 6)
    ours = LinearSvm(C=0.5, scheme="one-vs-one", epsilon=1e-8).fit(X, y)
    base = LinearSVC(C=0.5, loss="hinge", tol=1e-8, random_state=0, max_iter=10**6)
    theirs = OneVsOneClassifier(base).fit(X, y)
    assert ours.coef_.shape == (len(list(combinations(range(n_classes), 2))), 6)
    np.testing.assert_array_equal(ours.predict(test), theirs.predict(test))
    np.testing.assert_allclose(ours.decision_function(test), theirs.decision_function(test), atol=1e-5)


def test_a_stream_comes_near_the_machine_that_sees_all_at_once() -> None:
    """By the objective that both have: mean of the hinge losses, and |w|² / (2 C n)."""
    X, y = draw(300, 2, 8)

    def objective(machine: LinearSvm | SgdSvm) -> float:
        margins = (2 * y - 1) * machine.decision_function(X)
        return float(np.maximum(0, 1 - margins).mean() + (machine.coef_**2).sum() / (2 * 1.0 * 300))

    best, few, many = (
        LinearSvm(epsilon=1e-8).fit(X, y),
        SgdSvm(passes=1).fit(X, y),
        SgdSvm(passes=200).fit(X, y),
    )
    assert objective(many) < objective(best) + 0.02
    assert objective(many) < objective(few)


def test_trained_side_by_side_it_has_the_weights_that_it_has_alone() -> None:
    X, y = draw(200, 4, 0)
    X = np.abs(X) @ np.random.default_rng(1).random((6, 300))
    alone = NbSvm(epsilon=0.1).fit(X, y).coef_
    with ThreadPoolExecutor(4) as pool:
        for own in pool.map(lambda _: NbSvm(epsilon=0.1).fit(X, y).coef_, range(4)):
            np.testing.assert_array_equal(own, alone)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_a_ridge_is_that_of_each_pair_of_classes(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    y = np.arange(40) % n_classes
    X = rng.normal(size=(40, 5)) + np.eye(5)[y]
    parameters: dict[str, Any] = {"C": 0.5, "ridge": 2.0, "epsilon": 1e-6}
    pairs = LinearSvm(scheme="one-vs-one", **parameters).fit(X, y)
    for place, (first, second) in enumerate(combinations(range(n_classes), 2)):
        rows = (y == first) | (y == second)
        alone = LinearSvm(**parameters).fit(X[rows], y[rows] == (second if n_classes == 2 else first))
        np.testing.assert_allclose(pairs.coef_[place], alone.coef_[0], rtol=1e-12)
        np.testing.assert_allclose(pairs.intercept_[place], alone.intercept_[0], rtol=1e-12)
