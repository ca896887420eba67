"""The hyperplane-based TOP kernel (Takamura, Matsumoto and Yamada 2004): points and categories to kernels and machines.

Each category x has a hyperplane f_x(d) = w_x·d - b_x, a one-dimensional density q(d|x) of f_x(d) and a prior P(x).
Against a target category c the other categories are a mixture, and the posterior log-odds are

    v(d) = log P(c) q(d|c) - log Σ_{e≠c} P(e) q(d|e).

The kernel is the inner product of v and all its partial derivatives (equations 8, 10): see
`benchmark.kernels.models.top_features`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from benchmark.blocks import blas_threads
from benchmark.checks import check_one_of, check_positive_parameters
from benchmark.classifiers.hyperplanes import hyperplanes_of, train_categories, two_sides
from benchmark.classifiers.libsvm import DenseRows, Machine, NodeMatrix, trainer, trainers
from benchmark.kernels.models.densities import DENSITIES, Density, sample_moments
from benchmark.kernels.models.top_features import LogJoint, TopGram, decide, log_joint, top_features
from benchmark.kernels.products import inner_products
from benchmark.representation.weighting import canonical
from benchmark.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_NOTE = (
    "A class that no training document has is no part of HP-TOP's mixture; documents of none of the classes are in "
    "it as the category 'other', which is not scored. HP-TOP fails on a split where a class has one document, or "
    "no variance (σ² = 0): its cell then has no score. Its feature extraction includes the linear machines."
)


class HyperplaneTop(TransformerMixin, BaseEstimator):
    """The HP-TOP kernel as a transformer, and as the machines that the paper trains with it.

    `fit` learns what no target category changes: hyperplanes by linear SVMs, the densities of their values by
    moments over each category's training documents (equations 19, 20), uniform priors. The kernel then depends on the
    target. Training takes 8 n² bytes for the linear Gram matrix, and as many for a kernel in LIBSVM's layout on each of
    `jobs` threads.

    Parameters
    ----------
    C, epsilon : float
        LIBSVM's -c and -e, for the hyperplanes and for the machines on the kernel.
    component : {"gaussian", "logistic", "skew-logistic"}
        The density of a category's values; the paper's is the first.
    target : int
        The category, a column of Y, whose kernel `transform` gives.
    cache_mb : float
        LIBSVM's -m, for each machine being trained.
    jobs : int
        Threads.

    Attributes
    ----------
    hyperplanes_ : Hyperplanes
        Its `values` are also what the linear kernel decides with the same C.
    component_ : Density
    priors_ : float64 array, shape (k,)
    points_ : CSR array, shape (n, V)
    members_ : bool array, shape (n, k)
    linear_ : float64 array, shape (n, n)
        The training points' inner products: every target's kernel needs them.
    joint_ : LogJoint
        Of the training documents.
    categories_ : tuple of str
    n_features_in_ : int

    Examples
    --------
    >>> X = np.array([[10, 0, 2], [9, 1, 0], [0, 10, 1], [2, 8, 0], [1, 0, 10], [0, 1, 7]]) / 10
    >>> Y = np.repeat(np.eye(3, dtype=bool), 2, axis=0)
    >>> top = HyperplaneTop(target=1).fit(X, Y)
    >>> top.transform(X[:2]).shape
    (2, 6)
    >>> top.solve_targets([1], np.array([[0.1, 0.9, 0.1], [1.0, 0.1, 0.1]]))[:, 0] > 0
    array([ True, False])
    """

    tags: ClassVar[Tags] = Tags(
        set_by_run=("C", "epsilon", "cache_mb", "target", "jobs"), solved_by="targets", note_of_several=_NOTE
    )

    def __init__(
        self,
        C: float = 1.0,
        component: str = "gaussian",
        target: int = 0,
        epsilon: float = 1e-3,
        cache_mb: float = 200.0,
        jobs: int = 1,
    ) -> None:
        self.C = C
        self.component = component
        self.target = target
        self.epsilon = epsilon
        self.cache_mb = cache_mb
        self.jobs = jobs

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""
        check_positive_parameters(self, "C", "epsilon", "cache_mb")
        check_one_of("component", self.component, DENSITIES)

    def fit(
        self,
        X: Any,
        Y: Any,
        *,
        categories: Sequence[str] | None = None,
        linear: Array | None = None,
        machines: Sequence[Machine] | None = None,
    ) -> Self:
        """Learn hyperplanes and densities.

        Parameters
        ----------
        X : dense or sparse, shape (n, V)
        Y : bool, shape (n, k)
            The categories of each document, one or several: the caller makes "other" a category of its own, and needs
            not make it a target.
        categories : sequence of str, optional
            Names for the errors; the column numbers if not given.
        linear : float64 array, shape (n, n), optional
            X Xᵀ, where it exists already.
        machines : sequence of Machine, optional
            The linear machine of each column of Y, with the same C and epsilon, where they are trained already.

        Raises
        ------
        ValueError
            If a category has fewer than two documents, all of them, or no variance; if there are fewer than two.
        """
        self.check()
        points = canonical(check_array(X, accept_sparse="csr", dtype=np.float64))
        members = _indicators(Y, points.shape[0])
        self.categories_ = tuple(map(str, range(members.shape[1])) if categories is None else categories)
        if len(self.categories_) != members.shape[1]:
            raise ValueError(f"{len(self.categories_)} names for {members.shape[1]} categories")
        self.points_, self.members_, self.n_features_in_ = points, members, points.shape[1]
        self.linear_ = inner_products(points, points) if linear is None else linear
        if machines is None:
            nodes = NodeMatrix()
            nodes.fill(DenseRows.square(self.linear_), self.jobs)
            machines = self._trained(nodes, members, self.categories_)
        self.hyperplanes_ = hyperplanes_of(points, machines)
        f = self.hyperplanes_.values(points)
        moments = sample_moments(f, members, self.categories_)
        self.component_: Density = DENSITIES[self.component].from_moments(moments)
        self.priors_ = np.full(members.shape[1], 1 / members.shape[1])
        self.joint_ = log_joint(f, self.component_, self.priors_)
        return self

    def transform(self, X: Any) -> Array:
        """Kernel values for `target` between X, shape (m, V), and the training documents, shape (m, n)."""
        return self.gram(X, self.target)

    def gram(self, X: Any, target: int) -> Array:
        """Kernel values for a target category between X, shape (m, V), and the training documents, shape (m, n)."""
        points = self._points(X)
        rows = top_features(self._joint(points), target)
        gram = TopGram(rows, top_features(self.joint_, target), inner_products(points, self.points_))
        return gram.tile(slice(None), slice(None))

    def solve_targets(
        self,
        targets: Sequence[int],
        X: Any,
        nodes: NodeMatrix | None = None,
        lap: Callable[[str], object] = lambda _: None,
        book: Callable[[str, float], object] = lambda *_: None,
    ) -> Array:
        """Train the machine of each target category on its own kernel; decision values of X, shape (m, n_targets).

        As many kernels as there are threads are made one after the other; their machines are trained side by side.

        Parameters
        ----------
        targets : sequence of int
        X : dense or sparse, shape (m, V)
        nodes : NodeMatrix, optional
            Memory to reuse: kernels are written over those before, and what lies beside it holds all but the first.
        lap : callable, optional
            Told after each part of the work: "extraction", "kernel", "training" or "testing".
        book : callable, optional
            Told "machines", and the seconds of those that were trained side by side.
        """
        points = self._points(X)
        joint = self._joint(points)
        desks = (NodeMatrix() if nodes is None else nodes).desks(self.jobs)
        decisions = np.empty((points.shape[0], len(targets)))
        lap("testing")
        for first in range(0, len(targets), self.jobs):
            together = targets[first : first + self.jobs]
            trained = [top_features(self.joint_, target) for target in together]
            lap("extraction")
            # The threads that fill call BLAS, each for its own rows.
            with blas_threads(1):
                for desk, own in zip(desks, trained, strict=False):
                    desk.fill_symmetric(TopGram(own, own, self.linear_).tile, len(self.linear_), self.jobs)
            lap("kernel")
            with trainers(self.jobs) as pool:
                machines = list(pool.map(self._machine, desks[: len(together)], together))
            lap("training")
            book("machines", sum(machine.seconds for machine in machines))
            for column, (machine, target, own) in enumerate(zip(machines, together, trained, strict=True), first):
                decisions[:, column] = decide(machine, top_features(joint, target), points, own, self.points_)
            lap("testing")
        return decisions

    def _machine(self, nodes: NodeMatrix, target: int) -> Machine:
        train = trainer(nodes, C=self.C, epsilon=self.epsilon, cache_mb=self.cache_mb)
        return train(two_sides(self.members_[:, target], self.categories_[target]))

    def _trained(self, nodes: NodeMatrix, members: NDArray[np.bool_], names: Sequence[str]) -> tuple[Machine, ...]:
        parameters = {"C": self.C, "epsilon": self.epsilon, "cache_mb": self.cache_mb}
        return train_categories(nodes, members, names, **parameters, jobs=self.jobs)

    def _points(self, X: Any) -> sp.csr_array:
        check_is_fitted(self, "hyperplanes_")
        points = canonical(check_array(X, accept_sparse="csr", dtype=np.float64))
        if points.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {points.shape[1]} coordinates, but the kernel was fitted on {self.n_features_in_}")
        return points

    def _joint(self, points: sp.csr_array) -> LogJoint:
        return log_joint(self.hyperplanes_.values(points), self.component_, self.priors_)


def _indicators(Y: Any, n: int) -> NDArray[np.bool_]:
    members = np.asarray(Y)
    if members.ndim != 2 or len(members) != n or members.shape[1] < 2:
        raise ValueError(
            f"Y must say which of at least two categories each of {n} documents has, not have the shape {members.shape}"
        )
    if not np.isin(members, (0, 1)).all():
        raise ValueError("Y must be boolean: whether a document has a category")
    return members.astype(np.bool_)
