"""Separating hyperplanes of many categories, each against the rest, from one kernel matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmark.classifiers.libsvm import Machine, NodeMatrix, train

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


def hyperplanes_of(points: sp.csr_array, machines: Sequence[Machine]) -> Hyperplanes:
    """The hyperplanes of linear machines over the training points, shape (n, V): w_x = Σ coefficients · documents."""
    coefficients = np.zeros((points.shape[0], len(machines)))
    for x, machine in enumerate(machines):
        coefficients[machine.support, x] = machine.coefficients
    return Hyperplanes(np.asarray(points.T @ coefficients), np.array([machine.rho for machine in machines]))


def train_categories(
    nodes: NodeMatrix,
    members: NDArray[np.bool_],
    names: Sequence[str],
    *,
    C: float,
    epsilon: float,
    cache_mb: float,
    jobs: int,
) -> tuple[Machine, ...]:
    """A machine for each category against the documents outside it, on the kernel matrix that `nodes` holds.

    Parameters
    ----------
    nodes : NodeMatrix
        Of the n documents.
    members : bool array, shape (n, k)
        Which documents each category has; a document may have several.
    names : sequence of str, length k
        Names for the errors.
    C, epsilon, cache_mb : float
        LIBSVM's -c, -e and -m, for each machine being trained.
    jobs : int
        Threads.

    Raises
    ------
    ValueError
        If a category has none or all of the documents, or LIBSVM refuses a parameter.
    """
    problems = [two_sides(members[:, x], name) for x, name in enumerate(names)]
    return tuple(train(nodes, problems, C=C, epsilon=epsilon, cache_mb=cache_mb, jobs=jobs))


def two_sides(members: NDArray[np.bool_], name: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows inside a category and those outside; ValueError, with its name, if there are none of either."""
    inside, outside = np.flatnonzero(members), np.flatnonzero(~members)
    if not (len(inside) and len(outside)):
        has = "no" if not len(inside) else "every"
        raise ValueError(f"the category {name!r} has {has} training document: there is nothing to separate")
    return inside, outside
