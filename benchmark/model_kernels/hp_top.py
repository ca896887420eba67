"""The hyperplane-based TOP kernel (Takamura, Matsumoto and Yamada 2004).

Each category x has a hyperplane f_x(d) = w_x·d - b_x, a one-dimensional density q(d|x) of f_x(d) and a prior P(x).
Against a target category c the other categories are a mixture, and the posterior log-odds are

    v(d) = log P(c) q(d|c) - log Σ_{e≠c} P(e) q(d|e).

The kernel is the inner product of v and all its partial derivatives (equations 8, 10). All of them follow from

    ∂v / ∂ log(P(x) q(d|x)) = 1 for x = c, and -r_x(d) for the others, r_e = P(e) q(d|e) / Σ_{e'≠c} P(e') q(d|e'),

times the derivative of log(P(x) q(d|x)) by a parameter of x. That by w_xi has the coordinate d_i as a factor
(equations 38, 39), so its |V|·k features have the inner product (Σ_x slope_x(d) slope_x(d')) <d, d'> (equation 45) and
never exist: a Gram matrix is one of low rank plus an elementwise product with the linear one.

Three slips of the print: equation 20 calls the variance σ_x, equation 33 leaves b out of f, equation 43 has P(d|e) for
q(d|e). The derivatives (34)-(43) themselves are those of v, with the P(x) free, not bound to a sum of 1.

As in the paper, nothing is normalized, although the features have very different scales: those by w and b are divided
by σ_x², v and the θ_2 ones are quadratic in f. The inner product over P holds the constant 1/P(c)², which an SVM with
an offset doesn't see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted
from threadpoolctl import threadpool_limits

from benchmark.classifiers.hyperplanes import Hyperplanes, category_names, fit_hyperplanes, two_sides
from benchmark.classifiers.libsvm import Machine, NodeMatrix, train
from benchmark.kernels.products import inner_products
from benchmark.model_kernels.components import COMPONENTS, Component, sample_moments
from benchmark.representation import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LogJoint:
    """log P(x) q(d|x) of n documents and k categories with its derivatives: all that no target category changes.

    Parameters
    ----------
    values : float64 array, shape (n, k)
    scores : float64 array, shape (p, n, k)
        By the density's p parameters.
    slopes : float64 array, shape (n, k)
        By f_x; that by w_xi is d_i times it, that by b_x its negative.
    priors : float64 array, shape (k,)
        P(x); the derivative by P(x) is 1/P(x).
    """

    values: Array
    scores: Array
    slopes: Array
    priors: Array


@np.errstate(over="ignore", invalid="ignore")  # values that aren't finite are refused by their consequences
def log_joint(f: Array, component: Component, priors: Array) -> LogJoint:
    """The densities at the hyperplanes' values f, shape (n, k)."""
    values = component.log_density(f) + np.log(priors)
    return LogJoint(values, np.array(component.scores(f)), component.slope(f), priors)


@dataclass(frozen=True, eq=False)
class TopFeatures:
    """The TOP features of n documents in factors.

    Parameters
    ----------
    scalars : float64 array, shape (n, 1 + (p + 2) k)
        v, then ∂v by each of the density's p parameters, by b and by P, for the k categories each.
    slopes : float64 array, shape (n, k)
        ∂v/∂f_x: the feature of w_xi is ``slopes[d, x] * d_i``.
    """

    scalars: Array
    slopes: Array

    def of(self, documents: slice | NDArray[np.intp]) -> TopFeatures:
        """Those of some of the documents."""
        return TopFeatures(self.scalars[documents], self.slopes[documents])


@np.errstate(over="ignore", invalid="ignore")
def top_features(joint: LogJoint, target: int) -> TopFeatures:
    """The log-odds v and its derivatives for one target category (equations 34-43).

    The r_e are a softmax of logarithms: far from every hyperplane each q(d|e) is 0 in floating point, yet Σ r_e = 1.

    Raises
    ------
    ValueError
        If there is no such category.
    FloatingPointError
        If a feature is not finite: a document farther than about 1e150 from a hyperplane.
    """
    k = joint.values.shape[1]
    if not 0 <= target < k:
        msg = f"target must be the number of one of the {k} categories, 0 to {k - 1}, not {target}"
        raise ValueError(msg)
    others = np.arange(k) != target
    log_negative = logsumexp(joint.values[:, others], axis=1, keepdims=True)
    v = joint.values[:, [target]] - log_negative
    weights = np.ones_like(joint.values)
    weights[:, others] = -np.exp(joint.values[:, others] - log_negative)
    slopes = weights * joint.slopes
    scalars = np.hstack([v, *(weights * joint.scores), -slopes, weights / joint.priors])
    if not (np.isfinite(scalars).all() and np.isfinite(slopes).all()):
        msg = f"the TOP features for the target category {target} are not all finite numbers"
        raise FloatingPointError(msg)
    return TopFeatures(scalars, slopes)


@dataclass(frozen=True, eq=False)
class TopGram:
    """Kernel values between documents by blocks of rows, a `benchmark.classifiers.libsvm.KernelRows`.

    Parameters
    ----------
    rows, columns : TopFeatures
    linear : float64 array, shape (n_rows, n_columns)
        Inner products of the documents themselves.
    """

    rows: TopFeatures
    columns: TopFeatures
    linear: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return len(self.rows.slopes), len(self.columns.slopes)

    def block(self, start: int, stop: int) -> Array:
        """Rows start:stop as a fresh array; FloatingPointError if a value is not finite."""
        part = self.rows.of(slice(start, stop))
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.asarray(part.slopes @ self.columns.slopes.T)
            values *= self.linear[start:stop]
            values += part.scalars @ self.columns.scalars.T
            total = values.sum()
        if not np.isfinite(total) and not np.isfinite(values).all():
            msg = "the TOP kernel has values that are not finite numbers"
            raise FloatingPointError(msg)
        return values


def decide(
    machine: Machine, features: TopFeatures, points: sp.csr_array, trained: TopFeatures, own: sp.csr_array
) -> Array:
    """Decision values of new documents, shape (n,), without a kernel value between them and the support vectors.

    Σ_s a_s K(d, s) = scalars(d)·Σ_s a_s scalars(s) + Σ_x slope_x(d) d·(Σ_s a_s slope_x(s) s).

    Parameters
    ----------
    machine : Machine
        Its support holds row numbers of `trained` and `own`.
    features, points : TopFeatures and CSR array, shape (n, V)
        The new documents.
    trained, own : TopFeatures and CSR array, shape (n_train, V)
        The training documents.
    """
    support = trained.of(machine.support)
    flat = machine.coefficients @ support.scalars
    bent = own[machine.support].T @ (machine.coefficients[:, None] * support.slopes)
    return np.asarray(features.scalars @ flat + (features.slopes * (points @ bent)).sum(axis=1) - machine.rho)


class HyperplaneTop(TransformerMixin, BaseEstimator):
    """The HP-TOP kernel as a transformer, and as the machines that the paper trains with it.

    `fit` learns what no target category changes: hyperplanes by linear SVMs, the densities of their values by
    moments over each category's training documents (equations 19, 20), uniform priors. The kernel then depends on the
    target. Training takes 16 n² bytes: the linear Gram matrix, and one kernel in LIBSVM's layout.

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
    component_ : Component
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
        for name in ("C", "epsilon", "cache_mb"):
            if not 0 < getattr(self, name) < float("inf"):
                msg = f"{name} must be a positive number, not {getattr(self, name)}"
                raise ValueError(msg)
        if self.component not in COMPONENTS:
            msg = f"component must be one of {', '.join(COMPONENTS)}, not {self.component!r}"
            raise ValueError(msg)

    def fit(
        self,
        X: Any,
        Y: Any,
        *,
        categories: Sequence[str] | None = None,
        linear: Array | None = None,
        nodes: NodeMatrix | None = None,
    ) -> Self:
        """Learn hyperplanes and densities.

        Parameters
        ----------
        X : dense or sparse, shape (n, V)
        Y : bool, shape (n, k)
            The categories of each document, one or several: the caller makes "other" a category of its own.
        categories : sequence of str, optional
            Names for the errors; the column numbers if not given.
        linear : float64 array, shape (n, n), optional
            X Xᵀ, where it exists already.
        nodes : NodeMatrix, optional
            Memory to reuse.

        Raises
        ------
        ValueError
            If a category has fewer than two documents, all of them, or no variance; if there are fewer than two.
        """
        self.check()
        points = canonical(check_array(X, accept_sparse="csr", dtype=np.float64))
        members = _indicators(Y, points.shape[0])
        self.categories_ = category_names(members, categories)
        self.points_, self.members_, self.n_features_in_ = points, members, points.shape[1]
        self.linear_ = inner_products(points, points) if linear is None else linear
        self.hyperplanes_: Hyperplanes = fit_hyperplanes(
            points,
            self.linear_,
            members,
            C=self.C,
            epsilon=self.epsilon,
            cache_mb=self.cache_mb,
            jobs=self.jobs,
            nodes=nodes,
            categories=self.categories_,
        )
        f = self.hyperplanes_.values(points)
        moments = sample_moments(f, members, self.categories_)
        self.component_: Component = COMPONENTS[self.component].from_moments(moments)
        self.priors_ = np.full(members.shape[1], 1 / members.shape[1])
        self.joint_ = log_joint(f, self.component_, self.priors_)
        return self

    def joint(self, X: Any) -> LogJoint:
        """What every target's features of new documents X, shape (m, V), are made of."""
        return self._joint(self._points(X))

    def transform(self, X: Any) -> Array:
        """Kernel values for `target` between X, shape (m, V), and the training documents, shape (m, n)."""
        return self.gram(X, self.target)

    def gram(self, X: Any, target: int) -> Array:
        """Kernel values for a target category between X, shape (m, V), and the training documents, shape (m, n)."""
        points = self._points(X)
        rows = top_features(self._joint(points), target)
        gram = TopGram(rows, top_features(self.joint_, target), inner_products(points, self.points_))
        return gram.block(0, points.shape[0])

    def solve_targets(self, targets: Sequence[int], X: Any, nodes: NodeMatrix | None = None) -> Array:
        """Train the machine of each target category on its own kernel; decision values of X, shape (m, n_targets).

        Parameters
        ----------
        targets : sequence of int
        X : dense or sparse, shape (m, V)
        nodes : NodeMatrix, optional
            Memory to reuse: every target's kernel is written over the one before.
        """
        points = self._points(X)
        joint = self._joint(points)
        nodes = NodeMatrix() if nodes is None else nodes
        decisions = np.empty((points.shape[0], len(targets)))
        for column, target in enumerate(targets):
            trained = top_features(self.joint_, target)
            machine = self._train(trained, target, nodes)
            decisions[:, column] = decide(machine, top_features(joint, target), points, trained, self.points_)
        return decisions

    def _train(self, trained: TopFeatures, target: int, nodes: NodeMatrix) -> Machine:
        # The threads that fill call BLAS, each for its own rows.
        with threadpool_limits(1, user_api="blas"):
            nodes.fill(TopGram(trained, trained, self.linear_), self.jobs)
        problem = two_sides(self.members_[:, target], self.categories_[target])
        return next(train(nodes, [problem], C=self.C, epsilon=self.epsilon, cache_mb=self.cache_mb, jobs=1))

    def _points(self, X: Any) -> sp.csr_array:
        check_is_fitted(self, "hyperplanes_")
        points = canonical(check_array(X, accept_sparse="csr", dtype=np.float64))
        if points.shape[1] != self.n_features_in_:
            msg = f"X has {points.shape[1]} coordinates, but the kernel was fitted on {self.n_features_in_}"
            raise ValueError(msg)
        return points

    def _joint(self, points: sp.csr_array) -> LogJoint:
        return log_joint(self.hyperplanes_.values(points), self.component_, self.priors_)


def _indicators(Y: Any, n: int) -> NDArray[np.bool_]:
    members = np.asarray(Y)
    if members.ndim != 2 or len(members) != n or members.shape[1] < 2:
        msg = (
            f"Y must say which of at least two categories each of {n} documents has, not have the shape {members.shape}"
        )
        raise ValueError(msg)
    if not np.isin(members, (0, 1)).all():
        msg = "Y must be boolean: whether a document has a category"
        raise ValueError(msg)
    return members.astype(np.bool_)
