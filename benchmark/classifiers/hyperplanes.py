"""One-vs-rest SVMs of many categories from one kernel matrix, and the hyperplanes of linear ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmark.classifiers.libsvm import BinarySvm, NodeMatrix, binary_svm_trainer, training_pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hyperplanes:
    """Hyperplanes f_x(d) = w_x·d - b_x of the categories x; f_x is positive inside the category.

    Parameters
    ----------
    weights : float64 array, shape (V, k)
    offsets : float64 array, shape (k,)
    """

    weights: Array
    offsets: Array

    def values(self, points: sp.csr_array) -> Array:
        """Return f_x of the points, shape (n, k): the decision values of the linear SVMs."""
        return np.asarray(points @ self.weights - self.offsets)


def linear_svm_hyperplanes(points: sp.csr_array, machines: Sequence[BinarySvm]) -> Hyperplanes:
    """Return the hyperplanes of linear SVMs trained on `points`, shape (n, V): w_x = Σ coefficients · documents."""
    weights = np.asarray(points.T @ machine_coefficients(machines, points.shape[0]))
    return Hyperplanes(weights, np.array([machine.rho for machine in machines]))


def machine_coefficients(machines: Sequence[BinarySvm], n: int) -> Array:
    """Return the coefficients of n training documents in each machine, shape (n, k)."""
    coefficients = np.zeros((n, len(machines)))
    for x, machine in enumerate(machines):
        coefficients[machine.support, x] = machine.coefficients
    return coefficients


def train_one_vs_rest(
    nodes: NodeMatrix,
    members: NDArray[np.bool_],
    names: Sequence[str],
    *,
    C: float,
    epsilon: float,
    jobs: int,
) -> tuple[BinarySvm, ...]:
    """Train an SVM for each category against the documents outside, on the kernel matrix in `nodes`.

    Parameters
    ----------
    nodes : NodeMatrix
        Kernel matrix of the n documents.
    members : bool array, shape (n, k)
        Documents of each category; a document may have several categories.
    names : sequence of str, length k
        Names of the categories, for error messages.
    C, epsilon : float
        LIBSVM's -c and -e.
    jobs : int
        Number of threads.

    Raises
    ------
    ValueError
        If a category has none or all of the documents, or LIBSVM rejects a parameter.
    """
    problems = [inside_and_outside_rows(members[:, x], name) for x, name in enumerate(names)]
    with training_pool(jobs) as pool:
        return tuple(pool.map(binary_svm_trainer(nodes, C=C, epsilon=epsilon), problems))


def inside_and_outside_rows(members: NDArray[np.bool_], name: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows inside a category and the rows outside; ValueError with its name if either is empty."""
    inside, outside = np.flatnonzero(members), np.flatnonzero(~members)
    if not (len(inside) and len(outside)):
        has = "no" if not len(inside) else "every"
        raise ValueError(f"the category {name!r} has {has} training document: there is nothing to separate")
    return inside, outside
