"""Separating hyperplanes of many categories, each against the rest, from one matrix of inner products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmark.classifiers.libsvm import DenseRows, Machine, NodeMatrix, train

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hyperplanes:
    """f_x(d) = w_x·d - b_x for each category x; positive on its own side.

    Parameters
    ----------
    weights : float64 array, shape (V, k)
    offsets : float64 array, shape (k,)
    """

    weights: Array
    offsets: Array

    def values(self, points: sp.csr_array) -> Array:
        """f_x of the points, shape (n, k): the decision values of the linear machines."""
        return np.asarray(points @ self.weights - self.offsets)


def fit_hyperplanes(
    points: sp.csr_array,
    gram: Array,
    members: NDArray[np.bool_],
    *,
    C: float = 1.0,
    epsilon: float = 1e-3,
    cache_mb: float = 200.0,
    jobs: int = 1,
    nodes: NodeMatrix | None = None,
    categories: Sequence[str] | None = None,
) -> Hyperplanes:
    """Train a linear SVM for each category against the documents outside it.

    Parameters
    ----------
    points : CSR array, shape (n, V)
    gram : float64 array, shape (n, n)
        Their inner products.
    members : bool array, shape (n, k)
        Which documents each category has; a document may have several.
    C, epsilon, cache_mb : float
        LIBSVM's -c, -e and -m, for each machine being trained.
    jobs : int
        Threads.
    nodes : NodeMatrix, optional
        Memory to reuse.
    categories : sequence of str, optional
        Names for the errors.

    Raises
    ------
    ValueError
        If a category has none or all of the documents, or LIBSVM refuses a parameter.
    FloatingPointError
        If an inner product is not finite.
    """
    n = points.shape[0]
    if gram.shape != (n, n) or members.shape[0] != n:
        msg = f"{n} points, a Gram matrix of shape {gram.shape} and {members.shape[0]} rows of labels don't agree"
        raise ValueError(msg)
    names = category_names(members, categories)
    problems = [two_sides(members[:, x], name) for x, name in enumerate(names)]
    nodes = NodeMatrix() if nodes is None else nodes
    everything = np.arange(n)
    nodes.fill(DenseRows(gram, everything, everything), jobs)
    machines = tuple(train(nodes, problems, C=C, epsilon=epsilon, cache_mb=cache_mb, jobs=jobs))
    return hyperplanes_of(points, machines)


def hyperplanes_of(points: sp.csr_array, machines: Sequence[Machine]) -> Hyperplanes:
    """The hyperplanes of linear machines over the training points, shape (n, V)."""
    return Hyperplanes(normals(points, machines), np.array([machine.rho for machine in machines]))


def two_sides(members: NDArray[np.bool_], name: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows inside a category and those outside; ValueError, with its name, if there are none of either."""
    inside, outside = np.flatnonzero(members), np.flatnonzero(~members)
    if not (len(inside) and len(outside)):
        has = "no" if not len(inside) else "every"
        raise ValueError(f"the category {name!r} has {has} training document: there is nothing to separate")
    return inside, outside


def category_names(members: NDArray[np.bool_], categories: Sequence[str] | None) -> tuple[str, ...]:
    """The names given, or the column numbers; ValueError if there aren't as many as columns of `members`."""
    names = tuple(categories) if categories is not None else tuple(str(x) for x in range(members.shape[1]))
    if len(names) != members.shape[1]:
        raise ValueError(f"{len(names)} names for {members.shape[1]} categories")
    return names


def normals(points: sp.csr_array, machines: Sequence[Machine]) -> Array:
    """w_x = Σ coefficients · documents, shape (V, k)."""
    coefficients = np.zeros((points.shape[0], len(machines)))
    for x, machine in enumerate(machines):
        coefficients[machine.support, x] = machine.coefficients
    return np.asarray(points.T @ coefficients)
