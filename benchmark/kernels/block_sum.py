"""Kernel of a product of simplices: a weighted sum over the blocks of terms named in a configuration's `fields`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from benchmark.kernels.euclidean import Linear
from benchmark.kernels.multinomial import Bhattacharyya
from benchmark.kernels.transforms import CPD_KERNELS
from benchmark.representation import canonical_csr, normalize_rows
from benchmark.representation.estimator import MatrixEstimator
from benchmark.system.checks import check_one_of
from benchmark.system.tags import Tags

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.kernels.base import Kernel

#: Kernels without parameters. Sums of positive definite kernels are positive definite, and sums of conditionally
#: positive definite kernels are conditionally positive definite.
BLOCK_KERNELS: dict[str, type[Kernel]] = {**CPD_KERNELS, "bhattacharyya": Bhattacharyya, "linear": Linear}


class SumOverFields(TransformerMixin, MatrixEstimator):
    """Σ_b w_b k(x_b, x'_b) / Σ_b w_b, where x_b is the point on the simplex of a document's terms in block b.

    Applying k to concatenated blocks differs: it treats a document as a mixture, whose affinities are summed inside
    NGD's arccos. A document without terms in a block has affinity 0 to all others in that block.

    Parameters
    ----------
    of : {"ned", "ngd", "bhattacharyya", "linear"}
        The kernel k of each block.
    block_of : int array, shape (V,), or None
        The block of each term; None for one block.
    weights : float64 array, shape (n_blocks,), or None
        Weights w_b ≥ 0; a block of weight 0 is left out.

    Attributes
    ----------
    columns_ : list of intp arrays
        Term indices of each block that has a weight.
    shares_ : float64 array, shape (n_weighted_blocks,)
        Weights divided by their sum.
    factors_ : list of Kernel
        Kernel of each block, fitted to the training points of the block.
    n_features_in_ : int
        V, the number of terms.
    """

    tags: ClassVar[Tags] = Tags(normalization="l1", normalizations=("l1",), set_by_run=("block_of", "weights"))

    def __init__(self, of: str = "ngd", block_of: Any = None, weights: Any = None) -> None:
        self.of = of
        self.block_of = block_of
        self.weights = weights

    @property
    def non_negative(self) -> bool:
        """Whether points with a negative coordinate are rejected: as by the kernel of the blocks."""
        return BLOCK_KERNELS[self.of]().non_negative

    def check(self) -> None:
        """Raise ValueError unless `of` is one of `BLOCK_KERNELS`."""
        check_one_of("of", self.of, BLOCK_KERNELS)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Fit a kernel to each block of the training points.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n_train, V)
            Training points with nonnegative coordinates.
        y : ignored

        Returns
        -------
        SumOverFields
            This kernel.

        Raises
        ------
        ValueError
            If `of` is unknown, or a block has negative coordinates and its kernel needs nonnegative ones.
        """
        self.check()
        points = canonical_csr(self.validated(X, fitting=True))
        block_of = np.zeros(points.shape[1], dtype=np.intp) if self.block_of is None else self.block_of
        weights = np.ones(1) if self.weights is None else self.weights
        self.columns_ = [np.flatnonzero(block_of == block) for block in np.flatnonzero(weights)]
        self.shares_ = weights[weights > 0] / weights.sum()
        self.factors_ = [BLOCK_KERNELS[self.of]().fit(_block_points(points, columns)) for columns in self.columns_]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the Gram rows of `X` against the training points.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, V)

        Returns
        -------
        float64 array, shape (n, n_train)

        Raises
        ------
        ValueError
            If X has another number of terms, or a negative coordinate that the kernel of the blocks rejects.
        NotFittedError
            If the kernel has not been fitted.
        """
        check_is_fitted(self, "factors_")
        points = canonical_csr(self.validated(X, fitting=False))
        blocks = zip(self.shares_, self.factors_, self.columns_, strict=True)
        return np.asarray(sum(w * factor.transform(_block_points(points, columns)) for w, factor, columns in blocks))


def _block_points(points: sp.csr_array, columns: NDArray[np.intp]) -> sp.csr_array:
    return normalize_rows(points[:, columns], "l1")
