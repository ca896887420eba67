"""Systems with a graph's Laplacian are solved as a dense solver does, and where that can't, to the last digits."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.classifiers.centroids.graph_solvers import connected_graph, solve_laplacian

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

V = 9
TREES = {
    "path": [[i, i + 1] for i in range(V - 1)],
    "star": [[4, i] for i in range(V) if i != 4],
    "tree": [[0, 3], [3, 7], [7, 1], [3, 2], [2, 8], [8, 4], [2, 5], [0, 6]],
}
CYCLES = {
    "ring": [*TREES["path"], [0, V - 1]],
    "complete": [[i, j] for i in range(V) for j in range(i + 1, V)],
}
GRAPHS = TREES | CYCLES


def laplacian(edges: NDArray[np.int64], weights: Array) -> Array:
    """Edge by edge, dense."""
    total = np.zeros((V, V))
    for (i, j), weight in zip(edges.tolist(), weights, strict=True):
        difference = np.zeros(V)
        difference[[i, j]] = 1, -1
        total += weight * np.outer(difference, difference)
    return total


@pytest.mark.parametrize("name", GRAPHS)
def test_the_solution_is_that_of_a_dense_solver(name: str) -> None:
    rng = np.random.default_rng([8, len(GRAPHS[name])])
    graph = connected_graph(np.array(GRAPHS[name]), V)
    assert graph.tree == (name in TREES)
    assert {frozenset(edge) for edge in graph.edges.tolist()} == {frozenset(edge) for edge in GRAPHS[name]}
    diagonal, rhs = rng.uniform(0.5, 2, V), rng.normal(size=V)
    weights = rng.uniform(0.1, 5, len(graph.edges))
    given = diagonal.copy(), weights.copy(), rhs.copy()
    expected = np.linalg.solve(np.diag(diagonal) + laplacian(graph.edges, weights), rhs)
    np.testing.assert_allclose(solve_laplacian(graph, diagonal, weights, rhs), expected, rtol=1e-11, atol=1e-12)
    for now, before in zip((diagonal, weights, rhs), given, strict=True):
        np.testing.assert_array_equal(now, before)


@pytest.mark.parametrize("name", TREES)
def test_a_tree_ends_each_branch_before_what_it_hangs_on(name: str) -> None:
    graph = connected_graph(np.array(TREES[name]), V)
    children, parents = graph.edges.T.tolist()
    assert sorted([*children, graph.root]) == list(range(V))
    for place, parent in enumerate(parents):
        assert parent == graph.root or parent in children[place + 1 :]


@pytest.mark.parametrize("name", TREES)
def test_weights_far_beyond_the_diagonal_lose_no_digit(name: str) -> None:
    """Where they are 1e20 times the diagonal, all of ψ is Σ rhs / Σ diagonal but for parts of 1e-20."""
    rng = np.random.default_rng([9, len(name)])
    graph = connected_graph(np.array(TREES[name]), V)
    diagonal, rhs = rng.uniform(0.5, 2, V), rng.uniform(0.5, 2, V)
    exact = float(sum(map(Fraction, rhs)) / sum(map(Fraction, diagonal)))
    np.testing.assert_allclose(solve_laplacian(graph, diagonal, np.full(V - 1, 1e20), rhs), exact, rtol=1e-14)


def test_a_graph_in_two_parts_is_refused() -> None:
    with pytest.raises(ValueError, match="connected: from word 0 its edges lead to 2 of 9 words"):
        connected_graph(np.array([[0, 1], *TREES["path"][2:]]), V)
