"""Connected graphs of words, and a solver of systems with their Laplacian: O(V) for trees, else sparse LU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import splu

from benchmark.system.numba_jit import compile_lazily

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WordGraph:
    """Connected graph; the edges of a tree are ordered so that a branch precedes the node that it is attached to.

    Parameters
    ----------
    edges : int64 array, shape (E, 2)
        For a tree: child and parent, in the order in which children are eliminated.
    tree : bool
        Whether the graph has no cycle.
    root : int
        Root of a tree.
    """

    edges: Indices
    tree: bool
    root: int


def connected_graph(edges: Indices, v: int) -> WordGraph:
    """Return the graph of V words with these edges, shape (E, 2), no pair twice; ValueError if not connected."""
    adjacency = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(v, v))
    # Breadth-first search starts at a leaf, so that elimination on a path proceeds from end to end.
    root = int(np.bincount(edges.ravel(), minlength=v).argmin())
    visited, parent = breadth_first_order(adjacency, root, directed=False)
    if len(visited) < v:
        raise ValueError(f"the graph must be connected: from word {root} its edges lead to {len(visited)} of {v} words")
    if len(edges) > v - 1:
        return WordGraph(edges, tree=False, root=root)
    children = visited[:0:-1].astype(np.int64)
    return WordGraph(np.stack([children, parent[children].astype(np.int64)], axis=1), tree=True, root=root)


def solve_laplacian(graph: WordGraph, diagonal: Array, weights: Array, rhs: Array) -> Array:
    """Solve (diag(diagonal) + Laplacian of the weights) ψ = rhs for ψ; the diagonal and weights must be positive."""
    first, second = graph.edges[:, 0], graph.edges[:, 1]
    if graph.tree:
        solution = np.empty_like(rhs)
        _solve_tree(diagonal.copy(), weights, rhs.copy(), first, second, graph.root, solution)
        return solution
    v = len(rhs)
    total = diagonal + np.bincount(first, weights, v) + np.bincount(second, weights, v)
    nodes = np.arange(v)
    matrix = sp.csc_array(
        (
            np.concatenate([total, -weights, -weights]),
            (np.concatenate([nodes, first, second]), np.concatenate([nodes, second, first])),
        ),
        shape=(v, v),
    )
    try:
        factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # singular: the step was too long, and rounding lost the diagonal beside the weights
        return np.full(v, np.nan)
    return np.asarray(factors.solve(rhs))


@compile_lazily("void(f8[::1], f8[::1], f8[::1], i8[:], i8[:], i8, f8[::1])")
def _solve_tree(
    excess: Array, weights: Array, rhs: Array, child: Indices, parent: Indices, root: int, solution: Array
) -> None:
    """Eliminate from the leaves to the root and substitute back, overwriting ``excess`` and ``rhs``.

    A node's pivot is stored as its excess over the weight to the parent. The excess is a sum of positive numbers; the
    usual elimination subtracts nearly equal ones and loses the diagonal beside weights 1e16 times as large.
    """
    for e in range(child.shape[0]):
        i, p = child[e], parent[e]
        part = weights[e] / (excess[i] + weights[e])
        excess[p] += excess[i] * part
        rhs[p] += rhs[i] * part
    solution[root] = rhs[root] / excess[root]
    for e in range(child.shape[0] - 1, -1, -1):
        i = child[e]
        solution[i] = (rhs[i] + weights[e] * solution[parent[e]]) / (excess[i] + weights[e])
