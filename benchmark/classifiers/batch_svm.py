"""Many small binary SVMs over one kernel matrix, for learning curves and inner cross-validation.

The whole matrix is written once in LIBSVM's layout, and each problem is a list of row pointers into the matrix: a
training set of 250 documents costs only the solver's time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.classifiers.libsvm import NodeMatrix, binary_svm_trainer, training_pool
from benchmark.system.row_blocks import blas_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Rows = NDArray[np.intp]

#: Number of contiguous values that can be read in the time of one scattered value.
_SCATTERED = 8


def batch_decision_values(
    kernel: NDArray[np.float64],
    problems: Sequence[tuple[Rows, Rows, Rows]],
    *,
    C: float = 1.0,
    epsilon: float = 1e-3,
    jobs: int = 1,
    nodes: NodeMatrix | None = None,
) -> list[NDArray[np.float64]]:
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

    def decide(problem: tuple[Rows, Rows, Rows]) -> NDArray[np.float64]:
        first, second, test = problem
        machine = trained((first, second))
        if len(test) * _SCATTERED < len(kernel):
            return np.asarray(kernel[np.ix_(test, machine.support)] @ machine.coefficients - machine.rho)
        # The matrix is symmetric: read the rows of support vectors, which are contiguous, not the columns.
        values = machine.coefficients @ kernel[machine.support]
        return np.asarray(values[test] - machine.rho)

    with blas_threads(1), training_pool(jobs) as pool:
        return list(pool.map(decide, problems))
