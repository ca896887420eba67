"""Hyperplane-based TOP kernel (Takamura, Matsumoto and Yamada 2004), and the SVMs trained with it.

Each category x has a hyperplane f_x(d) = w_x·d - b_x, a one-dimensional density q(d|x) of f_x(d) and a prior P(x).
For a target category c, the other categories form a mixture, and the posterior log-odds are

    v(d) = log P(c) q(d|c) - log Σ_{e≠c} P(e) q(d|e).

The kernel is the inner product of v and all its partial derivatives (equations 8, 10): see
`benchmark.kernels.top_features`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from benchmark.classifiers.libsvm import BinarySvm, DenseRows, NodeMatrix, binary_svm_trainer, training_pool
from benchmark.classifiers.matrix_svm import inside_and_outside_rows, linear_svm_hyperplanes, train_one_vs_rest
from benchmark.kernels.products import inner_products
from benchmark.kernels.top_features import (
    Gaussian,
    LogJoint,
    TopGram,
    log_joint,
    sample_moments,
    top_decision_values,
    top_features,
)
from benchmark.representation.estimator import MatrixEstimator
from benchmark.representation.weighting import canonical_csr
from benchmark.system.checks import POSITIVE
from benchmark.system.row_blocks import blas_threads
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.classifiers.matrix_svm import Hyperplanes
    from benchmark.system.arrays import Array


_NOTE = (
    "HP-TOP's mixture leaves out classes without training documents. Documents of none of the classes form the "
    "category 'other' in the mixture, which is not scored. HP-TOP fails on a split where a class has one document or "
    "no variance (σ² = 0), and its cell then has no score. Its feature extraction time includes the linear SVMs."
)


@dataclass(eq=False, repr=False)
class HyperplaneTop(TransformerMixin, MatrixEstimator):
    """HP-TOP kernel as a transformer, with the SVMs that the paper trains on it.

    `fit` learns everything that doesn't depend on the target category: hyperplanes by linear SVMs, densities of their
    values by moments over each category's training documents (equations 19, 20), and uniform priors. The kernel depends
    on the target. Training takes 8 n² bytes for the linear Gram matrix, and the same for a kernel in LIBSVM's layout on
    each of `jobs` threads.

    Parameters
    ----------
    C, epsilon : float
        LIBSVM's -c and -e, for the hyperplanes and for the SVMs on the kernel.
    target : int
        Category, as a column of Y, whose kernel `transform` computes.
    jobs : int
        Number of threads.

    Attributes
    ----------
    hyperplanes_ : Hyperplanes
        Its `values` are also the decision values of linear SVMs with the same C.
    component_ : Gaussian
        Densities of the hyperplanes' values.
    priors_ : float64 array, shape (k,)
        P(x).
    points_ : CSR array, shape (n, V)
        The training points.
    members_ : bool array, shape (n, k)
        Categories of the training documents.
    linear_ : float64 array, shape (n, n)
        Inner products of the training points, which the kernels of all targets use.
    joint_ : LogJoint
        Log P(x) q(d|x) of the training documents, with derivatives.
    categories_ : tuple of str
        Names of the categories.
    n_features_in_ : int
        V, the number of coordinates.

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
        set_by_run=("C", "epsilon", "target", "jobs"), solved_by="targets", note_multilabel=_NOTE
    )

    allowed: ClassVar = {"C": POSITIVE, "epsilon": POSITIVE}

    C: float = 1.0
    target: int = 0
    epsilon: float = 1e-3
    jobs: int = 1

    def fit(
        self,
        X: Any,
        Y: Any,
        *,
        categories: Sequence[str] | None = None,
        linear: Array | None = None,
        hyperplanes: Hyperplanes | None = None,
    ) -> Self:
        """Learn hyperplanes and densities.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, V)
            Training points.
        Y : bool array, shape (n, k)
            Categories of each document, one or several. The caller adds a column for "other", which need not be a
            target.
        categories : sequence of str, optional
            Names for error messages; the column numbers by default.
        linear : float64 array, shape (n, n), optional
            X Xᵀ, if already computed.
        hyperplanes : Hyperplanes, optional
            Those of linear SVMs of the columns of Y with the same C and epsilon, if already trained.

        Returns
        -------
        HyperplaneTop
            This kernel.

        Raises
        ------
        ValueError
            If there are fewer than two categories, or a category has fewer than two documents, all documents, or no
            variance.
        """
        self.check()
        points = canonical_csr(self.validated(X, fitting=True))
        members = _indicators(Y, points.shape[0])
        self.categories_ = tuple(map(str, range(members.shape[1])) if categories is None else categories)
        self.points_, self.members_ = points, members
        self.linear_ = inner_products(points, points) if linear is None else linear
        if hyperplanes is None:
            nodes = NodeMatrix()
            nodes.fill(DenseRows(self.linear_), self.jobs)
            parameters = {"C": self.C, "epsilon": self.epsilon}
            machines = train_one_vs_rest(nodes, members, self.categories_, **parameters, jobs=self.jobs)
            hyperplanes = linear_svm_hyperplanes(points, machines)
        self.hyperplanes_ = hyperplanes
        f = self.hyperplanes_.values(points)
        self.component_ = Gaussian.from_moments(*sample_moments(f, members, self.categories_))
        self.priors_ = np.full(members.shape[1], 1 / members.shape[1])
        self.joint_ = log_joint(f, self.component_, self.priors_)
        return self

    def transform(self, X: Any) -> Array:
        """Return the Gram rows of `X` against the training documents, for the category `target`.

        Parameters
        ----------
        X : dense or sparse matrix, shape (m, V)

        Returns
        -------
        float64 array, shape (m, n)

        Raises
        ------
        ValueError
            If X has another number of coordinates, or `target` is not the number of a category.
        FloatingPointError
            If a feature or a kernel value is not finite.
        """
        points = self._points(X)
        rows, columns = (top_features(joint, self.target) for joint in (self._joint(points), self.joint_))
        gram = TopGram(rows, columns, inner_products(points, self.points_))
        return gram.tile(slice(None), slice(None))

    def solve_targets(
        self,
        targets: Sequence[int],
        X: Any,
        nodes: NodeMatrix | None = None,
        lap: Callable[[str], object] = lambda _: None,
        book: Callable[[str, float], object] = lambda *_: None,
    ) -> Array:
        """Train an SVM for each target category on the target's kernel, and return decision values of `X`.

        One kernel for each thread is computed, one after the other; then their SVMs are trained in parallel.

        Parameters
        ----------
        targets : sequence of int
            Categories, as columns of Y.
        X : dense or sparse matrix, shape (m, V)
        nodes : NodeMatrix, optional
            Memory to reuse: it is overwritten by the first kernel of each batch, its further buffers by the others.
        lap : callable, optional
            Called with the name of each part of the work after it: "extraction", "kernel", "training" or "testing".
        book : callable, optional
            Called with "machines" and the sum of the training times, in seconds, of each batch.

        Returns
        -------
        float64 array, shape (m, n_targets)
        """
        points = self._points(X)
        joint = self._joint(points)
        buffers = (NodeMatrix() if nodes is None else nodes).desks(self.jobs)
        decisions = np.empty((points.shape[0], len(targets)))
        lap("testing")
        for first in range(0, len(targets), self.jobs):
            batch = targets[first : first + self.jobs]
            trained = [top_features(self.joint_, target) for target in batch]
            lap("extraction")
            # Each thread that fills rows calls BLAS for these rows, so BLAS itself gets one thread.
            with blas_threads(1):
                for buffer, features in zip(buffers, trained, strict=False):
                    gram = TopGram(features, features, self.linear_)
                    buffer.fill_symmetric(gram.tile, len(self.linear_), self.jobs)
            lap("kernel")
            with training_pool(self.jobs) as pool:
                machines = list(pool.map(self._machine, buffers[: len(batch)], batch))
            lap("training")
            book("machines", sum(machine.seconds for machine in machines))
            for column, (machine, target, features) in enumerate(zip(machines, batch, trained, strict=True), first):
                decisions[:, column] = top_decision_values(
                    machine, top_features(joint, target), points, features, self.points_
                )
            lap("testing")
        return decisions

    def _machine(self, nodes: NodeMatrix, target: int) -> BinarySvm:
        train = binary_svm_trainer(nodes, C=self.C, epsilon=self.epsilon)
        return train(inside_and_outside_rows(self.members_[:, target], self.categories_[target]))

    def _points(self, X: Any) -> sp.csr_array:
        check_is_fitted(self, "hyperplanes_")
        return canonical_csr(self.validated(X, fitting=False))

    def _joint(self, points: sp.csr_array) -> LogJoint:
        return log_joint(self.hyperplanes_.values(points), self.component_, self.priors_)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, with those of the categories."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags


def _indicators(Y: Any, n: int) -> NDArray[np.bool_]:
    if Y is None:
        raise ValueError("HyperplaneTop learns from categories: it requires y to be passed, but the target y is None")
    members = np.asarray(Y)
    if members.ndim != 2 or len(members) != n or members.shape[1] < 2:
        raise ValueError(
            f"Y must have a row for each of {n} documents and a column for each of at least two categories, "
            f"not shape {members.shape}"
        )
    return members.astype(np.bool_)
