"""The kernel of a product of simplices: a sum over the blocks of terms that a representation's `fields` weigh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from benchmark.checks import check_one_of
from benchmark.kernels.euclidean import Linear
from benchmark.kernels.multinomial import Bhattacharyya
from benchmark.kernels.transforms import BASES
from benchmark.representation import canonical, normalized
from benchmark.tags import Tags

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.kernels.base import Kernel

#: Kernels without parameters. Sums of these are positive definite, or conditionally, as they are.
FACTORS: dict[str, type[Kernel]] = {**BASES, "bhattacharyya": Bhattacharyya, "linear": Linear}


class SumOverFields(TransformerMixin, BaseEstimator):
    """Σ_b w_b k(x_b, x'_b) / Σ_b w_b, x_b the point of the simplex that a document's terms of block b are.

    The kernel k itself, of points whose blocks stand side by side, is one of a mixture: there, affinities add up inside
    NGD's arccos. A document without terms of a block has the affinity 0 to all others there.

    Parameters
    ----------
    of : {"ned", "ngd", "bhattacharyya", "linear"}
    block_of : int array, shape (V,), or None
        The block of each term; None for one block.
    weights : float64 array, shape (n_blocks,), or None
        Not negative; a block of weight 0 is left out.
    """

    tags: ClassVar[Tags] = Tags(normalization="l1", normalizations=("l1",), set_by_run=("block_of", "weights"))

    def __init__(self, of: str = "ngd", block_of: Any = None, weights: Any = None) -> None:
        self.of = of
        self.block_of = block_of
        self.weights = weights

    def check(self) -> None:
        """The factors' kernel is one of `FACTORS`."""
        check_one_of("of", self.of, FACTORS)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Remember the training points X, shape (n_train, V), none negative."""
        self.check()
        points = canonical(check_array(X, accept_sparse="csr", dtype=np.float64))
        block_of = np.zeros(points.shape[1], dtype=np.intp) if self.block_of is None else self.block_of
        weights = np.ones(1) if self.weights is None else self.weights
        self.columns_ = [np.flatnonzero(block_of == block) for block in np.flatnonzero(weights)]
        self.shares_ = weights[weights > 0] / weights.sum()
        self.factors_ = [FACTORS[self.of]().fit(_of_block(points, columns)) for columns in self.columns_]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Kernel values between X, shape (n, V), and the training points: shape (n, n_train)."""
        check_is_fitted(self, "factors_")
        points = canonical(check_array(X, accept_sparse="csr", dtype=np.float64))
        each = zip(self.shares_, self.factors_, self.columns_, strict=True)
        return np.asarray(sum(w * factor.transform(_of_block(points, columns)) for w, factor, columns in each))


def _of_block(points: sp.csr_array, columns: NDArray[np.intp]) -> sp.csr_array:
    return normalized(points[:, columns], "l1")
