"""Base class of kernels: elementwise functions of inner products and self products, as scikit-learn transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from benchmark.kernels.products import inner_products, self_products
from benchmark.representation.estimator import MatrixEstimator
from benchmark.representation.weighting import canonical_csr, power_transform
from benchmark.system.tags import Tags, tags_of

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]


def is_elementwise_kernel(kernel: type[Any]) -> bool:
    """Return whether a class computes values by `from_products` alone, without its own `transform`."""
    return issubclass(kernel, Kernel) and kernel.transform is Kernel.transform


class Kernel(TransformerMixin, MatrixEstimator):
    """A kernel k(x, x') that depends on points only through <x^p, x'^p>, <x^p, x^p> and <x'^p, x'^p>.

    A subclass defines `from_products`, `exponent` p if it is not 1, and `tags` with the normalizations that the kernel
    is defined for. `fit(X)` stores the training points and `transform(X)` returns the Gram rows against them, shape
    (n_X, n_train), so that ``make_pipeline(kernel, SVC(kernel="precomputed"))`` is a classifier of points.

    Attributes
    ----------
    points_ : CSR array, shape (n_train, V)
        The training points, each coordinate raised to `exponent`.
    self_products_ : float array, shape (n_train,)
        <x^p, x^p> of the training points.
    n_features_in_ : int
        V, the number of coordinates.
    """

    tags: ClassVar[Tags] = Tags()

    @property
    def exponent(self) -> float:
        """Power p to which coordinates are raised before the inner product."""
        return 1.0

    @property
    def non_negative(self) -> bool:
        """Whether points with a negative coordinate are rejected."""
        return self._on_simplex or self.exponent != 1.0

    @property
    def _on_simplex(self) -> bool:
        return tags_of(self).normalizations == ("l1",)

    def learn(self, n_coordinates: int) -> Self:  # noqa: ARG002
        """Prepare `from_products` for points of `n_coordinates` coordinates.

        `fit` and `LazyGram` call it before `from_products`.

        Parameters
        ----------
        n_coordinates : int
            V, the size of the vocabulary.

        Returns
        -------
        Kernel
            This kernel.
        """
        return self

    def from_products(self, products: Matrix, left: Matrix, right: Matrix) -> Matrix:
        """Compute kernel values of a tile of the Gram matrix from inner products.

        Parameters
        ----------
        products : float64 array, shape (m, n)
            <x^p, x'^p> of normalized points; may be overwritten.
        left, right : float64 arrays, shapes (m,) and (n,)
            Self products of the rows' and the columns' points.

        Returns
        -------
        float64 array, shape (m, n)
            k(x, x'); may be `products` itself.
        """
        raise NotImplementedError("a Kernel must define `from_products` or `transform`")

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Store the training points and prepare the kernel for their number of coordinates.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n_train, V)
            Training points.
        y : ignored

        Returns
        -------
        Kernel
            This kernel.

        Raises
        ------
        ValueError
            If a parameter is out of range, or a point lies outside the kernel's domain.
        """
        self.check()
        points = self._points(X, fitting=True)
        self.learn(self.n_features_in_)
        self.points_ = power_transform(points, self.exponent)
        self.self_products_ = self_products(self.points_)
        return self

    def transform(self, X: Any) -> Matrix:
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
            If X has another number of coordinates, or a point lies outside the kernel's domain.
        NotFittedError
            If the kernel has not been fitted.
        """
        check_is_fitted(self, "points_")
        points = self._points(X, fitting=False)
        embedded = power_transform(points, self.exponent)
        products = inner_products(embedded, self.points_)
        return self.from_products(products, self_products(embedded), self.self_products_)

    def _points(self, X: Any, *, fitting: bool) -> sp.csr_array:
        points = canonical_csr(self.validated(X, fitting=fitting))
        if self._on_simplex:
            sums = np.asarray(points.sum(axis=1))
            off = ~(np.isclose(sums, 1.0, rtol=1e-9, atol=0.0) | (sums == 0.0))
            if off.any():
                row = int(np.flatnonzero(off)[0])
                raise ValueError(
                    f"{type(self).__name__} is defined on the simplex: every row must sum to 1, "
                    f"but row {row} sums to {sums[row]:.6g}; normalize with sklearn.preprocessing.Normalizer('l1')"
                )
        return points
