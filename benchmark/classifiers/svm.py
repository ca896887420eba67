"""Multi-class support vector machines on kernel rows: one-vs-one as LIBSVM does it, to the last tie, or one-vs-rest."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_array, check_is_fitted

from benchmark.blocks import blas_threads, largest_magnitude, rows_per_block, run_blocks
from benchmark.checks import check_one_of, check_positive_parameters
from benchmark.classifiers.libsvm import DenseRows, KernelTiles, Machine, NodeMatrix, train
from benchmark.classifiers.one_vs_one import TILES, Clock, Wanted, train_pairs
from benchmark.compiled import compiled
from benchmark.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SCHEMES = ("one-vs-one", "one-vs-rest")
UNITS = ("one", "mean-self-product")

#: Machine epsilon times this, the number of terms and their magnitudes bounds what a reordered sum can differ by.
_ROUNDING = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Machines:
    """The binary machines of a multi-class problem over training rows that are sorted by class.

    Parameters
    ----------
    scheme : {"one-vs-one", "one-vs-rest"}
    class_bounds : intp array, shape (n_classes + 1,)
        Class c owns the training rows ``class_bounds[c]:class_bounds[c + 1]``.
    machines : tuple of Machine
        For the pairs (0,1), (0,2), …, (1,2), … or for the classes 0, 1, ….
    """

    scheme: str
    class_bounds: NDArray[np.intp]
    machines: tuple[Machine, ...]

    @property
    def n_support(self) -> int:
        """How many training rows support at least one machine."""
        return len(np.unique(np.concatenate([machine.support for machine in self.machines])))


def fit_machines(
    kernel: KernelTiles,
    class_sizes: NDArray[np.intp],
    *,
    C: float = 1.0,
    epsilon: float = 1e-3,
    scheme: str = "one-vs-one",
    ridge: float = 0.0,
    cache_mb: float = 200.0,
    jobs: int = 1,
    nodes: NodeMatrix | None = None,
) -> Machines:
    """Train C-SVC on a square kernel whose rows are sorted by class.

    Parameters
    ----------
    kernel : KernelTiles, shape (n, n)
    class_sizes : int array, shape (n_classes,)
        How many rows each class owns, in order; the order decides one-vs-one ties.
    C, epsilon : float
        LIBSVM's -c and -e.
    ridge : float
        Added to the diagonal.
    cache_mb : float
        LIBSVM's -m, for each machine being trained.
    nodes : NodeMatrix, optional
        Memory to reuse from an earlier call.

    Raises
    ------
    ValueError
        If a class is empty, there are fewer than two, or LIBSVM refuses a parameter.
    FloatingPointError
        If a kernel value is not finite.
    """
    wanted = Wanted(kernel, C, epsilon, cache_mb, ridge)
    if scheme == "one-vs-one":
        (found,) = fit_together([wanted], class_sizes, jobs=jobs, nodes=nodes)
        if isinstance(found, Exception):
            raise found
        return found
    if scheme != "one-vs-rest":
        raise ValueError(f"unknown scheme {scheme!r}; one of {', '.join(SCHEMES)}")
    bounds = _bounds(class_sizes, kernel)
    rows = np.arange(bounds[-1])
    of_class = [rows[start:stop] for start, stop in pairwise(bounds)]
    problems = [(own, np.concatenate([rows[: own[0]], rows[own[-1] + 1 :]])) for own in of_class]
    nodes = NodeMatrix() if nodes is None else nodes
    nodes.fill(kernel, jobs, ridge)
    machines = tuple(train(nodes, problems, C=C, epsilon=epsilon, cache_mb=cache_mb, jobs=jobs))
    return Machines(scheme, bounds, machines)


def fit_together(
    wanted: Sequence[Wanted],
    class_sizes: NDArray[np.intp],
    *,
    jobs: int = 1,
    nodes: NodeMatrix | None = None,
    budget: int = TILES,
    clock: Clock | None = None,
) -> list[Machines | Exception]:
    """One-vs-one machines of several kernels of the same inner products; or why they can't be trained.

    Parameters
    ----------
    wanted : sequence of Wanted
    class_sizes, jobs, nodes
        As of `fit_machines`.
    budget, clock
        As of `train_pairs`.

    Raises
    ------
    ValueError
        If a class is empty, or there are fewer than two.
    """
    bounds = _bounds(class_sizes, *(each.kernel for each in wanted))
    found = train_pairs(wanted, bounds, jobs=jobs, nodes=nodes, budget=budget, clock=clock)
    return [each if isinstance(each, Exception) else Machines("one-vs-one", bounds, each) for each in found]


def _bounds(class_sizes: NDArray[np.intp], *kernels: KernelTiles) -> NDArray[np.intp]:
    """Where each class's rows begin and end; ValueError where there are no two, or kernels are of other rows."""
    bounds = np.concatenate([[0], np.cumsum(class_sizes)]).astype(np.intp)
    if len(class_sizes) < 2 or (np.asarray(class_sizes) < 1).any():
        msg = f"an SVM needs at least two classes with a document each; the training set has {list(class_sizes)}"
        raise ValueError(msg)
    for kernel in kernels:
        if kernel.shape != (bounds[-1], bounds[-1]):
            msg = f"classes of {bounds[-1]} rows together don't make a square kernel of shape {kernel.shape}"
            raise ValueError(msg)
    return bounds


def decide(machines: Machines, kernel: KernelTiles, jobs: int = 1) -> NDArray[np.float64]:
    """Decision values of every machine, shape (n_rows, n_machines), see `decide_together`."""
    (found,) = decide_together([machines], [kernel], jobs=jobs)
    if isinstance(found, Exception):
        raise found
    return found


def decide_together(
    machines: Sequence[Machines | Exception],
    kernels: Sequence[KernelTiles],
    *,
    jobs: int = 1,
    clock: Clock | None = None,
) -> list[NDArray[np.float64] | Exception]:
    """Decision values of the machines of several kernels of the same inner products; or why there are none.

    Sums run over class blocks in BLAS, so their last bits depend on its order of addition. Where that could
    change a sign, the value is summed again in LIBSVM's order.

    Parameters
    ----------
    machines : sequence of Machines or Exception
        All of the same training rows.
    kernels : sequence of KernelTiles, shape (n_rows, n)
        Of each; columns are in the order of the training rows.
    clock : Clock, optional
        What the seconds are added to.

    Returns
    -------
    list of float64 arrays, shape (n_rows, n_machines)
    """
    failed = {i: each for i, each in enumerate(machines) if isinstance(each, Exception)}
    deciding = {i: _Deciding(each, kernels[i]) for i, each in enumerate(machines) if not isinstance(each, Exception)}
    clock, first = clock or Clock(len(machines)), next(iter(deciding.values()), None)
    if first is None:
        return list(failed.values())

    def work(start: int, stop: int) -> None:
        rows, largest = slice(start, stop), np.zeros(len(machines))
        began = time.perf_counter()
        whole = first.kernel.source(rows, slice(0, first.kernel.shape[1]))
        clock.book(began)
        for code, columns in enumerate(first.classes):
            source = whole[:, columns]
            values: dict[int, NDArray[np.float64]] = {}  # those of one kernel share them
            for i, each in deciding.items():
                began, name = time.perf_counter(), id(each.kernel)
                try:
                    if name not in values:
                        values[name] = each.kernel.values(source, rows, columns)
                    largest[i] = max(largest[i], each.add(values[name], rows, code))
                except (ValueError, FloatingPointError) as error:
                    failed[i] = error
                clock.book(began, [i])
        for i in deciding.keys() - failed.keys():
            deciding[i].sum_again(rows, largest[i])

    with blas_threads(1):
        run_blocks(work, first.kernel.shape[0], decided_together(*first.kernel.shape), jobs)
    return [failed[i] if i in failed else deciding[i].decisions for i in range(len(machines))]


def decided_together(n_rows: int, n_columns: int) -> int:
    """How many rows a thread decides at a time: 64, or up to 256 where there are many and their products few.

    After each of its steps a thread waits for the interpreter, which with 64 rows always took two cores a third of the
    time. It depends on nothing but the shape, lest the last bits depend on the machine.
    """
    many = min(256, (1 << 22) // max(n_columns, 1), n_rows // 8)
    return max(64, many // 64 * 64, rows_per_block(n_columns))


class _Deciding:
    """The machines of one kernel, whose decisions are summed class by class."""

    def __init__(self, machines: Machines, kernel: KernelTiles) -> None:
        self.kernel, each = kernel, machines.machines
        self.classes = [slice(int(start), int(stop)) for start, stop in pairwise(machines.class_bounds)]
        self.blocks = _coefficient_blocks(machines)
        self.rho = np.array([machine.rho for machine in each])
        self.terms = np.array([len(machine.support) + 1 for machine in each])
        self.magnitude = np.array([np.abs(machine.coefficients).sum() for machine in each])
        self.flat = _flatten(each)
        self.decisions = np.tile(-self.rho, (kernel.shape[0], 1))

    def add(self, values: NDArray[np.float64], rows: slice, code: int) -> float:
        """Add what a class's rows contribute, given the kernel values with them; the largest magnitude of these."""
        which, weights = self.blocks[code]
        self.decisions[rows, which] += values @ weights
        return largest_magnitude(values)

    def sum_again(self, rows: slice, largest: float) -> None:
        """Sum in LIBSVM's order what is so small that another order might change its sign."""
        out = self.decisions[rows]
        doubtful = np.abs(out) <= _ROUNDING * self.terms * (self.magnitude * largest + np.abs(self.rho))
        picked = np.flatnonzero(doubtful.any(axis=1))
        for row in picked:
            values = self.kernel.block(rows.start + row, rows.start + row + 1)
            _sum_in_order(values, doubtful[row : row + 1], *self.flat, self.rho, out[row : row + 1])


def predict(machines: Machines, decisions: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Predicted classes and whether the first place was shared, both of shape (n_rows,).

    One-vs-one: every pair votes (for its first class if the decision is > 0), most votes win. One-vs-rest: the
    largest decision wins. Shared first places go to the class that comes first.
    """
    scores = decisions if machines.scheme == "one-vs-rest" else _votes(decisions, len(machines.class_bounds) - 1)
    best = scores.max(axis=1, keepdims=True)
    return scores.argmax(axis=1).astype(np.int32), (scores == best).sum(axis=1) > 1


def class_values(machines: Machines, decisions: NDArray[np.float64]) -> NDArray[np.float64]:
    """A value for each class, shape (n_rows, n_classes), of which the largest is the predicted one's but for ties.

    One-vs-one: a class's votes, and of the sum s of its machines' decisions the share s / 3(|s| + 1), as in
    scikit-learn's `SVC`; what it adds is less than a vote decides. Of two classes the decision itself and its
    negative. One-vs-rest: the decisions.
    """
    if machines.scheme == "one-vs-rest":
        return decisions
    if decisions.shape[1] == 1:
        return np.hstack([decisions, -decisions])
    return votes_and_shares(decisions, len(machines.class_bounds) - 1)


def votes_and_shares(decisions: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """As `class_values`, of the decisions of the pairs (0,1), (0,2), …: positive for the first."""
    votes = _votes(decisions, n_classes)
    sums = np.zeros(votes.shape)
    for pair, (first, second) in enumerate(combinations(range(n_classes), 2)):
        sums[:, first] += decisions[:, pair]
        sums[:, second] -= decisions[:, pair]
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


def check_ridge(ridge: float) -> None:
    """Raise ValueError unless it is a number from 0 to 1e12."""
    if not 0 <= ridge <= 1e12:
        raise ValueError(f"ridge must lie between 0 and 1e+12, not {ridge}")


def _votes(decisions: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """How many one-vs-one machines decide for each class, shape (n_rows, n_classes)."""
    votes = np.zeros((len(decisions), n_classes))
    for pair, (first, second) in enumerate(combinations(range(n_classes), 2)):
        wins = decisions[:, pair] > 0
        votes[:, first] += wins
        votes[:, second] += ~wins
    return votes


def _coefficient_blocks(machines: Machines) -> list[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """For each class: the machines its training rows support, and their coefficients, shape (rows, machines)."""
    found = []
    for start, stop in pairwise(machines.class_bounds):
        own: dict[int, NDArray[np.float64]] = {}
        for column, machine in enumerate(machines.machines):
            inside = (machine.support >= start) & (machine.support < stop)
            if inside.any():
                own[column] = np.zeros(stop - start)
                own[column][machine.support[inside] - start] = machine.coefficients[inside]
        weights = np.stack(list(own.values()), axis=1) if own else np.empty((stop - start, 0))
        found.append((np.array(list(own), dtype=np.intp), np.ascontiguousarray(weights)))
    return found


def _flatten(
    machines: tuple[Machine, ...],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    starts = np.cumsum([0, *(len(machine.support) for machine in machines)]).astype(np.int64)
    support = np.concatenate([machine.support for machine in machines]).astype(np.int64)
    return starts, support, np.concatenate([machine.coefficients for machine in machines])


@compiled("void(f8[:, :], b1[:, :], i8[::1], i8[::1], f8[::1], f8[::1], f8[:, :])")
def _sum_in_order(
    values: NDArray[np.float64],
    wanted: NDArray[np.bool_],
    starts: NDArray[np.int64],
    support: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    rho: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    for row in range(wanted.shape[0]):
        for machine in range(wanted.shape[1]):
            if wanted[row, machine]:
                total = 0.0
                for q in range(starts[machine], starts[machine + 1]):
                    total += coefficients[q] * values[row, support[q]]
                out[row, machine] = total - rho[machine]


def mean_self_product(self_products: NDArray[np.float64]) -> float:
    """The mean of k(x, x), shape (n,); ValueError if it isn't positive."""
    mean = float(self_products.mean())
    if not mean > 0:
        raise ValueError(f"the mean of k(x, x) is {mean:g}: C can't be measured by it")
    return mean


class SupportVectorClassifier(ClassifierMixin, BaseEstimator):
    """C-SVC on a precomputed kernel, as a scikit-learn classifier.

    Parameters
    ----------
    C, epsilon : float
        LIBSVM's -c and -e.
    scheme : {"one-vs-one", "one-vs-rest"}
    ridge : float
        Added to k(x, x) of each training document, not negative.
    cache_mb : float
        LIBSVM's -m.
    unit : {"one", "mean-self-product"}
        What C is a multiple of: 1, or the inverse of the mean of k(x, x), over the training documents here and over
        all documents of the task in a run. The latter makes machines blind to a constant factor of the kernel; it was
        the default of SVMlight (Joachims 1999).
    jobs : int
        Threads.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        In order of first appearance in `y`, as LIBSVM keeps them: ties go to the first. Of the labels -1 and +1,
        LIBSVM takes +1 first, wherever it appears.
    machines_ : Machines
    n_features_in_ : int

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [4.0], [5.0]])
    >>> SupportVectorClassifier().fit(X @ X.T, ["near", "near", "far", "far"]).predict(np.array([[0.5], [9.0]]) @ X.T)
    array(['near', 'far'], dtype='<U4')
    """

    tags: ClassVar[Tags] = Tags(needs_kernel=True, takes_features=False, set_by_run=("jobs",), labels={"svm": "SVM"})

    def __init__(
        self,
        C: float = 1.0,
        epsilon: float = 1e-3,
        scheme: str = "one-vs-one",
        ridge: float = 0.0,
        cache_mb: float = 200.0,
        unit: str = "one",
        jobs: int = 1,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.scheme = scheme
        self.ridge = ridge
        self.cache_mb = cache_mb
        self.unit = unit
        self.jobs = jobs

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        check_positive_parameters(self, "C", "epsilon", "cache_mb")
        check_one_of("scheme", self.scheme, SCHEMES)
        check_one_of("unit", self.unit, UNITS)
        check_ridge(self.ridge)

    def cost(self, self_products: NDArray[np.float64]) -> float:
        """C in the unit it is meant in, given k(x, x), shape (n,).

        Raises
        ------
        ValueError
            If their mean isn't positive, and C is to be measured by it.
        """
        return self.C / mean_self_product(self_products) if self.unit == "mean-self-product" else self.C

    def fit(self, X: Any, y: Any) -> SupportVectorClassifier:
        """Train on the Gram matrix X, shape (n, n), and the labels y, shape (n,)."""
        self.check()
        gram = check_array(X, dtype=np.float64)
        labels = np.asarray(y)
        if gram.shape[0] != gram.shape[1] or len(labels) != len(gram):
            raise ValueError(f"a Gram matrix of shape {gram.shape} and {len(labels)} labels don't belong together")
        values, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        if values.tolist() == [-1, 1]:
            first = np.array([1, 0])
        rank = np.argsort(np.argsort(first))
        self.classes_ = values[np.argsort(first)]
        order = np.argsort(rank[codes], kind="stable")
        self.n_features_in_ = len(gram)
        self.order_ = order
        self.machines_ = fit_machines(
            DenseRows(gram, order, order),
            np.bincount(rank[codes]),
            C=self.cost(np.diagonal(gram)),
            epsilon=self.epsilon,
            scheme=self.scheme,
            ridge=self.ridge,
            cache_mb=self.cache_mb,
            jobs=self.jobs,
        )
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Decision values, shape (m, n_machines), for the kernel rows X, shape (m, n)."""
        check_is_fitted(self, "machines_")
        rows = check_array(X, dtype=np.float64)
        if rows.shape[1] != self.n_features_in_:
            msg = f"X has {rows.shape[1]} columns, but the machine was trained on {self.n_features_in_} rows"
            raise ValueError(msg)
        return decide(self.machines_, DenseRows(rows, np.arange(len(rows)), self.order_), self.jobs)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels, shape (m,), for the kernel rows X, shape (m, n)."""
        decisions = self.decision_function(X)
        codes, _ = predict(self.machines_, decisions)
        return np.asarray(self.classes_[codes])
