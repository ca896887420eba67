"""One draw's training documents to the decisions of each method on the test documents, with the seconds each part took.

Every category has a binary machine of its own. A category that no training document of a draw has can't be learned: no
method gives it to a document, and it is no part of HP-TOP's mixture; one that every training document has is given to
every document. Documents without any of the categories are one category more, "other", of HP-TOP's mixture alone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmark.classifiers.hyperplanes import Hyperplanes, normals, two_sides
from benchmark.classifiers.libsvm import DenseRows, train
from benchmark.config.category_curves import HP_TOP, LINEAR, PLSI_FISHER
from benchmark.kernels.products import inner_products
from benchmark.kernels.models.densities import COMPONENTS, sample_moments
from benchmark.kernels.models.fisher import PLSIFisher
from benchmark.kernels.models.top_features import TopGram, decide, log_joint, top_features
from benchmark.representation import TermWeighting, canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.classifiers.libsvm import Machine, NodeMatrix
    from benchmark.config.components import Component

    Array = NDArray[np.float64]

OTHER = "other"
#: What the seconds of a method are spent on. "products" are the inner products that its kernel matrices are made of;
#: only HP-TOP has a kernel matrix for each category, the others have one for all.
PARTS = ("extraction", "products", "kernel", "training", "testing")
_CACHE_MB = 200.0


@dataclass(frozen=True, eq=False)
class Draw:
    """What is learned from and tested on.

    Parameters
    ----------
    counts, test_counts : CSR arrays, shapes (n, V) and (m, V)
    members : bool array, shape (n, k)
        Which categories each training document has.
    categories : tuple of str, length k
    """

    counts: sp.csr_array
    test_counts: sp.csr_array
    members: NDArray[np.bool_]
    categories: tuple[str, ...]


@dataclass(frozen=True)
class Solver:
    """How every machine is trained.

    Parameters
    ----------
    C, epsilon : float
        LIBSVM's -c and -e.
    jobs : int
        Threads.
    nodes : NodeMatrix
        Memory that every kernel matrix is written to.
    """

    C: float
    epsilon: float
    jobs: int
    nodes: NodeMatrix

    def fill(self, gram: Array) -> None:
        """Write a kernel matrix that exists."""
        everything = np.arange(len(gram))
        self.nodes.fill(DenseRows(gram, everything, everything), self.jobs)

    def train(self, members: NDArray[np.bool_], names: Sequence[str]) -> tuple[Machine, ...]:
        """A machine for each column of `members`, on the kernel matrix that was written last."""
        problems = [two_sides(members[:, x], name) for x, name in enumerate(names)]
        return tuple(train(self.nodes, problems, C=self.C, epsilon=self.epsilon, cache_mb=_CACHE_MB, jobs=self.jobs))


@dataclass(frozen=True, eq=False)
class Decided:
    """What one method made of one draw.

    Parameters
    ----------
    assigned : bool array, shape (m, k)
        Which categories each test document was given: those with a positive decision value.
    ties : int array, shape (k,)
        Decision values that were exactly 0.
    seconds : float array, shape (5,)
        By `PARTS`, on the clock.
    """

    assigned: NDArray[np.bool_]
    ties: NDArray[np.int64]
    seconds: Array


class Stopwatch:
    """Seconds by part."""

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(PARTS, 0.0)
        self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """Book the time since the last lap."""
        now = time.perf_counter()
        self._seconds[part] += now - self._last
        self._last = now

    def seconds(self, *parts: str) -> Array:
        """All parts' seconds, those that aren't named as 0."""
        return np.array([self._seconds[part] if not parts or part in parts else 0.0 for part in PARTS])


def weighted(
    counts: sp.csr_array, others: sp.csr_array, weighting: str, normalization: str
) -> tuple[sp.csr_array, sp.csr_array]:
    """Training and other documents as vectors: TF, binary or TF×IDF, the idf counted over the training documents."""
    if weighting == "binary":
        counts, others = _ones(counts), _ones(others)
    terms = TermWeighting("tfidf" if weighting == "tfidf" else "tf", normalization).fit(counts)
    return canonical(terms.transform(counts)), canonical(terms.transform(others))


def solve(
    draw: Draw, weighting: tuple[str, str], solver: Solver, wanted: Mapping[str, Component], seed: int
) -> dict[str, Decided | str]:
    """Decide by every method that is wanted; the reason stands in place of one that can't be used on these documents.

    Parameters
    ----------
    draw : Draw
    weighting : pair of str
        Weighting and normalization of the linear machines and of HP-TOP; PLSI sees the counts.
    solver : Solver
    wanted : mapping of method to Component
    seed : int
        Of PLSI's random starts.
    """
    found: dict[str, Decided | str] = {}
    if LINEAR in wanted or HP_TOP in wanted:
        found |= solve_hyperplanes(draw, weighting, solver, wanted)
    if PLSI_FISHER in wanted:
        try:
            found[PLSI_FISHER] = solve_fisher(draw, solver, wanted[PLSI_FISHER], seed)
        except (ValueError, FloatingPointError) as error:
            found[PLSI_FISHER] = str(error)
    return found


def solve_hyperplanes(
    draw: Draw, weighting: tuple[str, str], solver: Solver, wanted: Mapping[str, Component]
) -> dict[str, Decided | str]:
    """Decide by linear machines, by HP-TOP, or by both: HP-TOP's features are made of the linear machines.

    The linear machines' time is part of HP-TOP's feature extraction, the inner products are part of both. HP-TOP can't
    be used where a category has no density: one training document, or no variance (sigma² = 0).
    """
    points, tested = weighted(draw.counts, draw.test_counts, *weighting)
    watch = Stopwatch()
    found: dict[str, Decided | str] = {}
    linear = inner_products(points, points)
    watch.lap("products")
    solver.fill(linear)
    watch.lap("kernel")
    learned, names = _learned(draw)
    machines = solver.train(draw.members[:, learned], names)
    watch.lap("training")
    if LINEAR in wanted:
        values = _hyperplanes(points, machines).values(tested)
        watch.lap("testing")
        found[LINEAR] = _decided(draw, learned, values, watch.seconds())
    if HP_TOP in wanted:
        component = wanted[HP_TOP].resolved["component"]
        try:
            top = _HyperplaneTop(draw, points, linear, machines, solver, component)
            values = top.solve(tested)
        except (ValueError, FloatingPointError) as error:
            found[HP_TOP] = str(error)
        else:
            seconds = watch.seconds("products") + top.watch.seconds()
            seconds[PARTS.index("extraction")] += watch.seconds("kernel", "training").sum()
            found[HP_TOP] = _decided(draw, learned, values, seconds)
    return found


class _HyperplaneTop:
    """`HyperplaneTop.fit` and `solve_targets` with a clock in between, on linear machines that are trained already."""

    def __init__(
        self, draw: Draw, points: sp.csr_array, linear: Array, machines: tuple[Machine, ...], solver: Solver, name: str
    ) -> None:
        self.watch, self.solver, self.points, self.linear = Stopwatch(), solver, points, linear
        learned, names = _learned(draw)
        other = np.logical_not(draw.members.any(axis=1)).reshape(-1, 1)
        self.names, self.members = names, draw.members[:, learned]
        everything = self.members
        if other.any() and not other.all():
            machines = (*machines, *solver.train(other, [OTHER]))
            everything, names = np.hstack([everything, other]), (*names, OTHER)
        if len(names) < 2:
            msg = f"HP-TOP needs two categories at least, and the training documents have {len(names)}"
            raise ValueError(msg)
        self.hyperplanes = _hyperplanes(points, machines)
        f = self.hyperplanes.values(points)
        self.component = COMPONENTS[name].from_moments(sample_moments(f, everything, names))
        self.priors = np.full(len(names), 1 / len(names))
        self.joint = log_joint(f, self.component, self.priors)
        self.watch.lap("extraction")

    def solve(self, tested: sp.csr_array) -> Array:
        """Decision values of each category, shape (m, n_learned)."""
        joint = log_joint(self.hyperplanes.values(tested), self.component, self.priors)
        values = np.empty((tested.shape[0], len(self.names)))
        self.watch.lap("testing")
        for target, name in enumerate(self.names):
            features = top_features(self.joint, target)
            self.watch.lap("extraction")
            with threadpool_limits(1, user_api="blas"):  # the threads that fill call BLAS, each for its own rows
                self.solver.nodes.fill(TopGram(features, features, self.linear), self.solver.jobs)
            self.watch.lap("kernel")
            (machine,) = self.solver.train(self.members[:, [target]], [name])
            self.watch.lap("training")
            values[:, target] = decide(machine, top_features(joint, target), tested, features, self.points)
            self.watch.lap("testing")
        return values


def solve_fisher(draw: Draw, solver: Solver, method: Component, seed: int) -> Decided:
    """Decide by machines on the Fisher kernel of PLSI models of the draw's training documents.

    The kernel is the inner product of the models' scores, so that a machine is a hyperplane among the scores.
    """
    watch = Stopwatch()
    parameters = {key: value for key, value in method.resolved.items() if key != "name"}
    model = PLSIFisher(**parameters, seed=seed).fit(draw.counts)
    watch.lap("extraction")
    solver.fill(inner_products(model.scores_, model.scores_))
    watch.lap("kernel")
    learned, names = _learned(draw)
    machines = solver.train(draw.members[:, learned], names)
    watch.lap("training")
    values = _hyperplanes(model.scores_, machines).values(model.scores(draw.test_counts))
    watch.lap("testing")
    return _decided(draw, learned, values, watch.seconds())


def _learned(draw: Draw) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Columns of the categories that some training documents have and others don't, and their names."""
    learned = np.flatnonzero(draw.members.any(axis=0) & ~draw.members.all(axis=0))
    return learned, tuple(draw.categories[x] for x in learned)


def _hyperplanes(points: sp.csr_array, machines: Sequence[Machine]) -> Hyperplanes:
    return Hyperplanes(normals(points, machines), np.array([machine.rho for machine in machines]))


def _decided(draw: Draw, learned: NDArray[np.intp], values: Array, seconds: Array) -> Decided:
    if not np.isfinite(values).all():
        msg = "a decision value is not a finite number"
        raise FloatingPointError(msg)
    assigned = np.repeat(draw.members.all(axis=0, keepdims=True), len(values), axis=0)
    assigned[:, learned] = values > 0  # LIBSVM's rule
    ties = np.zeros(assigned.shape[1], dtype=np.int64)
    ties[learned] = (values == 0).sum(axis=0)
    return Decided(assigned, ties, seconds)


def _ones(counts: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)
