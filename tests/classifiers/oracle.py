"""LIBSVM as its documentation uses it, on the whole problem, and corpora to try it on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from libsvm.svm import svm_problem
from libsvm.svmutil import svm_predict, svm_train
from threadpoolctl import threadpool_limits

from benchmark.kernels import Linear, NegativeEuclideanDistance, NegativeGeodesicDistance, Polynomial
from tests.points import points_pipeline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.classifiers.libsvm import BinarySvm

    Matrix = NDArray[np.float64]

#: The kernels that differ for a solver: pd, cpd with a diagonal of zeros, cpd with one of nearly zeros, large values.
KERNELS = {
    "linear": (Linear(), "l1"),
    "ned": (NegativeEuclideanDistance(), "l2"),
    "ngd": (NegativeGeodesicDistance(), "l1"),
    "polynomial": (Polynomial(degree=2), "none"),
}


@dataclass(frozen=True)
class Oracle:
    """What LIBSVM's own functions say of a precomputed problem.

    Parameters
    ----------
    classes : list of int
        In LIBSVM's order.
    predicted : int array, shape (n_test,)
    decisions : float64 array, shape (n_test, n_pairs)
    coefficients : float64 array, shape (n_classes - 1, n_support)
        LIBSVM's sv_coef.
    support : intp array, shape (n_support,)
        Rows of the training set.
    support_classes : intp array, shape (n_support,)
        Positions in `classes`.
    rho : float64 array, shape (n_pairs,)
    """

    classes: list[int]
    predicted: NDArray[np.int64]
    decisions: Matrix
    coefficients: Matrix
    support: NDArray[np.intp]
    support_classes: NDArray[np.intp]
    rho: Matrix

    def machine(self, first: int, second: int) -> tuple[NDArray[np.intp], Matrix]:
        """Support rows and coefficients of a pair of classes, those that are not zero."""
        rows, weights = [], []
        for own, other in ((first, second), (second, first)):
            of_class = self.support_classes == own
            # LIBSVM leaves out a class's machine with itself: later ones move up a row.
            row = other - (other > own)
            rows.append(self.support[of_class])
            weights.append(self.coefficients[row, of_class])
        support, coefficients = np.concatenate(rows), np.concatenate(weights)
        return support[coefficients != 0], coefficients[coefficients != 0]


def with_serial_numbers(gram: Matrix) -> Matrix:
    """LIBSVM's precomputed format: before each row its number, counted from 1."""
    return np.hstack([np.arange(1, len(gram) + 1)[:, None], gram])


def libsvm_oracle(gram: Matrix, labels: NDArray[Any], test: Matrix, *, C: float = 1.0, epsilon: float = 1e-3) -> Oracle:
    """Train and predict on the documented path: ``svm_problem(…, isKernel=True)``, `svm_train`, `svm_predict`."""
    problem = svm_problem(labels.astype(float), with_serial_numbers(gram), isKernel=True)
    # For a few dozen rows OpenMP's threads do nothing but wait for each other.
    with threadpool_limits(1, user_api="openmp"):
        model = svm_train(problem, f"-s 0 -t 4 -c {C!r} -e {epsilon!r} -q")
        predicted, _, decisions = svm_predict([], with_serial_numbers(test), model, "-q")
    n_classes, n_support = model.nr_class, model.l
    return Oracle(
        model.get_labels(),
        np.array(predicted).astype(np.int64),
        np.array(decisions).reshape(len(test), -1),
        np.array([model.sv_coef[row][:n_support] for row in range(n_classes - 1)]).reshape(n_classes - 1, -1),
        np.array(model.get_sv_indices(), dtype=np.intp) - 1,
        np.repeat(np.arange(n_classes), model.nSV[:n_classes]),
        np.array(model.rho[: n_classes * (n_classes - 1) // 2]),
    )


@dataclass(frozen=True)
class Problem:
    """Kernel values between training documents, and between test and training ones, with the training labels."""

    gram: Matrix
    labels: NDArray[Any]
    test: Matrix

    def error(self, machine: BinarySvm) -> float:
        """How far two orders of addition of a decision value can lie apart."""
        terms = len(machine.support) + 1
        largest = max(float(np.abs(self.test).max()), 1e-300)
        magnitude = np.abs(machine.coefficients).sum() * largest + abs(machine.rho)
        return float(2 * terms * np.finfo(np.float64).eps * magnitude)


def draw_problem(kernel: str, *, n: int, n_classes: int, seed: int, n_test: int = 60) -> Problem:
    """Draw documents of several classes from overlapping multinomials, in no order, some of them twice."""
    rng = np.random.default_rng(seed)
    terms = rng.dirichlet(np.full(30, 0.5), size=n_classes)
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, size=n - n_classes)])
    rng.shuffle(labels)
    counts = np.array([rng.multinomial(12, terms[label]) for label in labels])
    test = np.array([rng.multinomial(12, terms[label]) for label in rng.integers(0, n_classes, size=n_test)])
    # The same document in two classes, or tested on: distances of zero, and decisions that nearly tie.
    counts[n // 2], test[0], test[1] = counts[0], counts[0], counts[n // 3]
    built, normalization = KERNELS[kernel]
    weighting = points_pipeline(normalization=normalization)
    points = weighting.fit_transform(counts)
    fitted = built.fit(points)
    return Problem(fitted.transform(points), labels * 7 + 3, fitted.transform(weighting.transform(test)))
