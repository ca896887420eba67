"""Binary SVMs trained on rows of one kernel matrix: for each category, or for many splits; hyperplanes of linear ones.

The whole matrix is written once in LIBSVM's layout, and each problem is a list of row pointers into the matrix: a
training set of 250 documents costs only the solver's time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmark.classifiers.libsvm import BinarySvm, NodeMatrix, binary_svm_trainer, training_pool
from benchmark.system.row_blocks import blas_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp

    from benchmark.system.arrays import Array, Bools, Indices


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
    coefficients = np.zeros((points.shape[0], len(machines)))
    for x, machine in enumerate(machines):
        coefficients[machine.support, x] = machine.coefficients
    return Hyperplanes(np.asarray(points.T @ coefficients), np.array([machine.rho for machine in machines]))


def train_one_vs_rest(
    nodes: NodeMatrix,
    members: Bools,
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


def inside_and_outside_rows(members: Bools, name: str) -> tuple[Indices, Indices]:
    """Return the rows inside a category and the rows outside; ValueError with its name if either is empty."""
    inside, outside = np.flatnonzero(members), np.flatnonzero(~members)
    if not (len(inside) and len(outside)):
        has = "no" if not len(inside) else "every"
        raise ValueError(f"the category {name!r} has {has} training document: there is nothing to separate")
    return inside, outside


#: Number of contiguous values that can be read in the time of one scattered value.
_SCATTERED = 8


def batch_decision_values(
    kernel: Array,
    problems: Sequence[tuple[Indices, Indices, Indices]],
    *,
    C: float = 1.0,
    epsilon: float = 1e-3,
    jobs: int = 1,
    nodes: NodeMatrix | None = None,
) -> list[Array]:
    """Train each problem and return the decision values of its test rows, positive for its first class.

    Parameters
    ----------
    kernel : float64 array, shape (n, n), symmetric
    problems : sequence of (intp array, intp array, intp array)
        Training rows of the class with positive decision values and of the other class, and test rows.
    C, epsilon : float
        LIBSVM's -c and -e.
    jobs : int
        Number of threads.
    nodes : NodeMatrix, optional
        Memory to reuse from an earlier call; after a call with the same `kernel`, its values are reused, too.

    Raises
    ------
    FloatingPointError
        If a kernel value is not finite.
    """
    nodes = NodeMatrix() if nodes is None else nodes
    nodes.fill_square(kernel, jobs)
    trained = binary_svm_trainer(nodes, C=C, epsilon=epsilon)

    def decide(problem: tuple[Indices, Indices, Indices]) -> Array:
        first, second, test = problem
        machine = trained((first, second))
        if len(test) * _SCATTERED < len(kernel):
            return np.asarray(kernel[np.ix_(test, machine.support)] @ machine.coefficients - machine.rho)
        # The matrix is symmetric: read the rows of support vectors, which are contiguous, not the columns.
        values = machine.coefficients @ kernel[machine.support]
        return np.asarray(values[test] - machine.rho)

    with blas_threads(1), training_pool(jobs) as pool:
        return list(pool.map(decide, problems))
