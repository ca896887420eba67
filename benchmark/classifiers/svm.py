"""Multi-class support vector machines on kernel rows: one-vs-one with LIBSVM's votes and ties, or one-vs-rest."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from benchmark.classifiers.libsvm import BinarySvm, DenseRows, KernelTiles, NodeMatrix
from benchmark.classifiers.matrix_svm import train_one_vs_rest
from benchmark.classifiers.one_vs_one import TILE_MEMORY_BYTES, SvmProblem, train_class_pairs
from benchmark.system.checks import POSITIVE, Range, check_parameters
from benchmark.system.numba_jit import compile_lazily
from benchmark.system.row_blocks import blas_threads, largest_magnitude, rows_per_block, run_blocks
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.system.arrays import Array, Bools, Indices
    from benchmark.system.checks import Allowed

SVM_SCHEMES, C_SCALES = ("one-vs-one", "one-vs-rest"), ("one", "mean-self-product")
RIDGE = Range(0, 1e12)

#: Times the number of terms and their magnitude, this bounds how much the order of addition can change a sum.
_ROUNDING = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class MulticlassSvm:
    """Binary SVMs of a multi-class problem, over training rows that are sorted by class.

    Parameters
    ----------
    scheme : {"one-vs-one", "one-vs-rest"}
    class_bounds : intp array, shape (n_classes + 1,)
        The training rows of class c are ``class_bounds[c]:class_bounds[c + 1]``.
    machines : tuple of BinarySvm
        One for each of the pairs (0,1), (0,2), …, (1,2), … or of the classes 0, 1, ….
    """

    scheme: str
    class_bounds: Indices
    machines: tuple[BinarySvm, ...]


def train_multiclass(
    problem: SvmProblem,
    class_sizes: Indices,
    scheme: str = "one-vs-one",
    *,
    jobs: int = 1,
    nodes: NodeMatrix | None = None,
) -> MulticlassSvm:
    """Train C-SVC on a square kernel whose rows are sorted by class.

    Parameters
    ----------
    problem : SvmProblem
    class_sizes : int array, shape (n_classes,)
        Number of rows of each class, in the order of the classes, which breaks one-vs-one ties.
    scheme : {"one-vs-one", "one-vs-rest"}
    jobs : int
        Number of threads.
    nodes : NodeMatrix, optional
        Memory to reuse from an earlier call.

    Raises
    ------
    ValueError
        If a class is empty, there are fewer than two classes, or LIBSVM rejects a parameter.
    FloatingPointError
        If a kernel value is not finite.
    """
    if scheme == "one-vs-one":
        (trained,) = train_multiclass_together([problem], class_sizes, jobs=jobs, nodes=nodes)
        if isinstance(trained, Exception):
            raise trained
        return trained
    bounds = _bounds(class_sizes)
    nodes = NodeMatrix() if nodes is None else nodes
    nodes.fill(problem.kernel, jobs, problem.ridge)
    members = np.repeat(np.eye(len(class_sizes), dtype=bool), class_sizes, axis=0)
    names = [str(code) for code in range(len(class_sizes))]
    machines = train_one_vs_rest(nodes, members, names, C=problem.C, epsilon=problem.epsilon, jobs=jobs)
    return MulticlassSvm(scheme, bounds, machines)


def train_multiclass_together(
    wanted: Sequence[SvmProblem],
    class_sizes: Indices,
    *,
    jobs: int = 1,
    nodes: NodeMatrix | None = None,
    budget: int = TILE_MEMORY_BYTES,
) -> list[MulticlassSvm | Exception]:
    """Train one-vs-one SVMs for several kernels of the same inner products; a failure is returned as its exception.

    Parameters
    ----------
    wanted : sequence of SvmProblem
    class_sizes, jobs, nodes
        As in `train_multiclass`.
    budget
        As in `train_class_pairs`.

    Returns
    -------
    list of MulticlassSvm or Exception
        One for each of `wanted`.

    Raises
    ------
    ValueError
        If a class is empty, or there are fewer than two classes.
    """
    bounds = _bounds(class_sizes)
    trained = train_class_pairs(wanted, bounds, jobs=jobs, nodes=nodes, budget=budget)
    return [svms if isinstance(svms, Exception) else MulticlassSvm("one-vs-one", bounds, svms) for svms in trained]


def _bounds(class_sizes: Indices) -> Indices:
    """Return the bounds of each class's rows; ValueError if there are fewer than two classes."""
    bounds = np.concatenate([[0], np.cumsum(class_sizes)]).astype(np.intp)
    if len(class_sizes) < 2 or (np.asarray(class_sizes) < 1).any():
        sizes = np.asarray(class_sizes).tolist()
        msg = f"an SVM needs at least two classes with a document each; the training set has {sizes}"
        raise ValueError(msg)
    return bounds


def svm_decision_values(machines: MulticlassSvm, kernel: KernelTiles, jobs: int = 1) -> Array:
    """Return the decision values of every binary SVM, shape (n_rows, n_machines)."""
    (decisions,) = svm_decision_values_together([machines], [kernel], jobs=jobs)
    if isinstance(decisions, Exception):
        raise decisions
    return decisions


def svm_decision_values_together(
    machines: Sequence[MulticlassSvm | Exception],
    kernels: Sequence[KernelTiles],
    *,
    jobs: int = 1,
) -> list[Array | Exception]:
    """Return decision values for several kernels of the same inner products, or the exception of one that failed.

    BLAS sums over class blocks, so the last bits depend on its order of addition. Where that could change a sign, the
    value is summed again in LIBSVM's order.

    Parameters
    ----------
    machines : sequence of MulticlassSvm or Exception
        The binary SVMs of each kernel, all trained on the same rows. Exceptions are returned unchanged.
    kernels : sequence of KernelTiles, shape (n_rows, n)
        One for each of `machines`; columns are in the order of the training rows.
    jobs : int
        Number of threads.

    Returns
    -------
    list of float64 array, shape (n_rows, n_machines), or Exception
    """
    failed = {i: svms for i, svms in enumerate(machines) if isinstance(svms, Exception)}
    deciding = {
        i: _DecisionSums(svms, kernels[i]) for i, svms in enumerate(machines) if not isinstance(svms, Exception)
    }
    first = next(iter(deciding.values()), None)
    if first is None:
        return list(failed.values())

    def work(start: int, stop: int) -> None:
        rows, largest = slice(start, stop), np.zeros(len(machines))
        whole = first.kernel.source(rows, slice(0, first.kernel.shape[1]))
        for code, columns in enumerate(first.classes):
            source = whole[:, columns]
            values: dict[int, Array] = {}  # by kernel, as several of `machines` may share one
            for i, sums in deciding.items():
                name = id(sums.kernel)
                try:
                    if name not in values:
                        values[name] = sums.kernel.values(source, rows, columns)
                    largest[i] = max(largest[i], sums.add(values[name], rows, code))
                except (ValueError, FloatingPointError) as error:
                    failed[i] = error
        for i in deciding.keys() - failed.keys():
            deciding[i].sum_again(rows, largest[i])

    with blas_threads(1):
        run_blocks(work, first.kernel.shape[0], decision_block_rows(*first.kernel.shape), jobs)
    return [failed[i] if i in failed else deciding[i].decisions for i in range(len(machines))]


def decision_block_rows(n_rows: int, n_columns: int) -> int:
    """Return the number of rows per block: 64, or up to 256 where there are many rows and few columns.

    After each block a thread waits for the interpreter; with blocks of 64 rows, two cores waited a third of the time.
    The number depends only on the shape, so that the last bits of decision values don't depend on the computer.
    """
    many = min(256, (1 << 22) // max(n_columns, 1), n_rows // 8)
    return max(64, many // 64 * 64, rows_per_block(n_columns))


class _DecisionSums:
    """Decision values of the SVMs of one kernel, summed class by class."""

    def __init__(self, machines: MulticlassSvm, kernel: KernelTiles) -> None:
        self.kernel, svms = kernel, machines.machines
        self.classes = [slice(int(start), int(stop)) for start, stop in pairwise(machines.class_bounds)]
        self.blocks = _coefficient_blocks(machines)
        self.rho = np.array([machine.rho for machine in svms])
        self.terms = np.array([len(machine.support) + 1 for machine in svms])
        self.magnitude = np.array([np.abs(machine.coefficients).sum() for machine in svms])
        starts = np.cumsum([0, *(len(machine.support) for machine in svms)]).astype(np.int64)
        support = np.concatenate([machine.support for machine in svms]).astype(np.int64)
        self.flat = starts, support, np.concatenate([machine.coefficients for machine in svms])
        self.decisions = np.tile(-self.rho, (kernel.shape[0], 1))

    def add(self, values: Array, rows: slice, code: int) -> float:
        """Add the contribution of a class, from its kernel `values`; return the largest magnitude of the values."""
        supported, weights = self.blocks[code]
        self.decisions[rows, supported] += values @ weights
        return largest_magnitude(values)

    def sum_again(self, rows: slice, largest: float) -> None:
        """Sum again, in LIBSVM's order, the decision values so small that the order might change their sign."""
        out = self.decisions[rows]
        doubtful = np.abs(out) <= _ROUNDING * self.terms * (self.magnitude * largest + np.abs(self.rho))
        picked = np.flatnonzero(doubtful.any(axis=1))
        for row in picked:
            values = self.kernel.block(rows.start + row, rows.start + row + 1)
            _sum_in_order(values, doubtful[row : row + 1], *self.flat, self.rho, out[row : row + 1])


def predict_class_codes(machines: MulticlassSvm, decisions: Array) -> tuple[NDArray[np.int32], Bools]:
    """Return the predicted classes, shape (n_rows,), and whether they tied with another class, shape (n_rows,).

    One-vs-one: every pair votes (for its first class if the decision value is > 0), and most votes win. One-vs-rest:
    the largest decision value wins. Of classes that tie, the first is predicted.
    """
    scores = decisions if machines.scheme == "one-vs-rest" else _votes(decisions, len(machines.class_bounds) - 1)
    best = scores.max(axis=1, keepdims=True)
    return scores.argmax(axis=1).astype(np.int32), (scores == best).sum(axis=1) > 1


def svm_class_scores(machines: MulticlassSvm, decisions: Array) -> Array:
    """Return per-class scores, shape (n_rows, n_classes); their argmax is the prediction unless classes tie.

    One-vs-one: a class's votes plus s / 3(|s| + 1), where s is the sum of the class's decision values, as in
    scikit-learn's `SVC`; the sum breaks ties but never outweighs a vote. For two classes: the decision value and its
    negative. One-vs-rest: the decision values.
    """
    if machines.scheme == "one-vs-rest":
        return decisions
    if decisions.shape[1] == 1:
        return np.hstack([decisions, -decisions])
    return one_vs_one_scores(decisions, len(machines.class_bounds) - 1)


def one_vs_one_scores(decisions: Array, n_classes: int) -> Array:
    """Return the one-vs-one scores of `svm_class_scores` from decision values of the pairs (0,1), (0,2), ….

    A pair's decision value is positive for its first class.
    """
    votes = _votes(decisions, n_classes)
    sums = np.zeros(votes.shape)
    for pair, (first, second) in enumerate(combinations(range(n_classes), 2)):
        sums[:, first] += decisions[:, pair]
        sums[:, second] -= decisions[:, pair]
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


def _votes(decisions: Array, n_classes: int) -> Array:
    """Count the one-vs-one votes for each class, shape (n_rows, n_classes)."""
    votes = np.zeros((len(decisions), n_classes))
    for pair, (first, second) in enumerate(combinations(range(n_classes), 2)):
        wins = decisions[:, pair] > 0
        votes[:, first] += wins
        votes[:, second] += ~wins
    return votes


def _coefficient_blocks(machines: MulticlassSvm) -> list[tuple[Indices, Array]]:
    """Return, for each class, the SVMs with support vectors in it and their coefficients, shape (rows, n_svms)."""
    blocks = []
    for start, stop in pairwise(machines.class_bounds):
        columns: dict[int, Array] = {}
        for column, machine in enumerate(machines.machines):
            inside = (machine.support >= start) & (machine.support < stop)
            if inside.any():
                columns[column] = np.zeros(stop - start)
                columns[column][machine.support[inside] - start] = machine.coefficients[inside]
        weights = np.stack(list(columns.values()), axis=1) if columns else np.empty((stop - start, 0))
        blocks.append((np.array(list(columns), dtype=np.intp), np.ascontiguousarray(weights)))
    return blocks


@compile_lazily("void(f8[:, :], b1[:, :], i8[::1], i8[::1], f8[::1], f8[::1], f8[:, :])")
def _sum_in_order(
    values: Array,
    wanted: Bools,
    starts: NDArray[np.int64],
    support: NDArray[np.int64],
    coefficients: Array,
    rho: Array,
    out: Array,
) -> None:
    for row in range(wanted.shape[0]):
        for machine in range(wanted.shape[1]):
            if wanted[row, machine]:
                total = 0.0
                for q in range(starts[machine], starts[machine + 1]):
                    total += coefficients[q] * values[row, support[q]]
                out[row, machine] = total - rho[machine]


def mean_self_product(self_products: Array) -> float:
    """Return the mean of k(x, x), shape (n,); ValueError if the mean isn't positive."""
    mean = float(self_products.mean())
    if not mean > 0:
        raise ValueError(f"C can't be divided by the mean of k(x, x), which is {mean:g}")
    return mean


@dataclass(eq=False, repr=False)
class SupportVectorClassifier(ClassifierMixin, BaseEstimator):
    """C-SVC on a precomputed kernel, as a scikit-learn classifier.

    Parameters
    ----------
    C : float
        LIBSVM's -c: the weight of the losses, > 0.
    epsilon : float
        LIBSVM's -e: the stopping tolerance.
    scheme : {"one-vs-one", "one-vs-rest"}
        "one-vs-one": pairs of classes vote. "one-vs-rest": the largest decision value wins.
    ridge : float
        Added to k(x, x) of each training document, ≥ 0.
    scale_C : {"one", "mean-self-product"}
        Factor of C: 1, or the inverse of the mean of k(x, x), over the training documents here and over all documents
        of the task in a run. The latter makes SVMs invariant to a constant factor of the kernel; it was the default of
        SVMlight (Joachims 1999).
    jobs : int
        Number of threads.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        In order of first appearance in `y`, as in LIBSVM; of classes that tie, the first is predicted. Of the labels -1
        and +1, LIBSVM takes +1 first, wherever it appears.
    machines_ : MulticlassSvm
        The binary SVMs.
    order_ : intp array, shape (n,)
        Training rows sorted by class, the order of the rows of `machines_`.
    n_features_in_ : int

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> SupportVectorClassifier().fit(X @ X.T, ["near", "near", "far", "far"]).predict(np.array([[0.5], [9.0]]) @ X.T)
    array(['near', 'far'], dtype='<U4')
    """

    tags: ClassVar[Tags] = Tags(needs_kernel=True, takes_features=False, set_by_run=("jobs",), labels={"svm": "SVM"})

    allowed: ClassVar[Allowed] = {
        "C": POSITIVE,
        "epsilon": POSITIVE,
        "scheme": SVM_SCHEMES,
        "ridge": RIDGE,
        "scale_C": C_SCALES,
    }

    C: float = 1.0
    epsilon: float = 1e-3
    scheme: str = "one-vs-one"
    ridge: float = 0.0
    scale_C: str = "one"  # noqa: N815 - LIBSVM's C
    jobs: int = 1

    def check(self) -> None:
        """Raise ValueError if a parameter is outside its range."""
        check_parameters(self, self.allowed)

    def cost(self, self_products: Array) -> float:
        """Return LIBSVM's -c: C scaled by `scale_C`.

        Parameters
        ----------
        self_products : float64 array, shape (n,)
            k(x, x) of each document.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If C is scaled by the mean of k(x, x), and that mean isn't positive.
        """
        return self.C / mean_self_product(self_products) if self.scale_C == "mean-self-product" else self.C

    def fit(self, X: Any, y: Any) -> SupportVectorClassifier:
        """Train on a precomputed Gram matrix.

        Parameters
        ----------
        X : array, shape (n, n)
            Gram matrix of the training documents.
        y : array, shape (n,)
            Their labels.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X isn't square or has another length than y, labels are numbers that aren't
            whole, or there are fewer than two classes.
        """
        self.check()
        gram, labels = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        if gram.shape[0] != gram.shape[1]:
            raise ValueError(f"a Gram matrix of shape {gram.shape} and {len(labels)} labels don't belong together")
        check_classification_targets(labels)
        values, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        if values.tolist() == [-1, 1]:
            first = np.array([1, 0])
        rank = np.argsort(np.argsort(first))
        self.classes_ = values[np.argsort(first)]
        order = np.argsort(rank[codes], kind="stable")
        self.order_ = order
        problem = SvmProblem(DenseRows(gram, order, order), self.cost(np.diagonal(gram)), self.epsilon, self.ridge)
        self.machines_ = train_multiclass(problem, np.bincount(rank[codes]), self.scheme, jobs=self.jobs)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the decision values of the binary SVMs, pair by pair or class by class.

        Parameters
        ----------
        X : array, shape (m, n)
            Kernel values with the n training documents.

        Returns
        -------
        float64 array, shape (m, n_machines)

        Raises
        ------
        ValueError
            If X doesn't have n columns.
        """
        check_is_fitted(self, "machines_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return svm_decision_values(self.machines_, DenseRows(rows, columns=self.order_), self.jobs)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the most votes or the largest decision value; of ties, the first of `classes_`.

        Parameters
        ----------
        X : array, shape (m, n)
            Kernel values with the n training documents.

        Returns
        -------
        array, shape (m,)
            Labels.
        """
        decisions = self.decision_function(X)
        codes, _ = predict_class_codes(self.machines_, decisions)
        return np.asarray(self.classes_[codes])

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, with that of a precomputed kernel."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags
