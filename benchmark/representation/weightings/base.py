"""Base class of weightings: a weight from the document times a factor from the training documents, for each term."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from benchmark.representation.estimator import MatrixEstimator
from benchmark.representation.weighting import canonical_csr, normalize_blocks, weight_terms
from benchmark.system.registries import is_builtin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Values of `Weighting.learns` beside "": what the factors are learned from.
FROM_DOCUMENTS, FROM_LABELS = "documents", "labels"


class Weighting(TransformerMixin, MatrixEstimator, ABC):
    """`local` weights of a document's terms, times factors of terms that `fit` learns, as a scikit-learn transformer.

    If terms form several blocks (fields of the text, or words and bigrams), `of_blocks` makes each block a separate
    multinomial: a document is then a point in a product of simplices, its blocks are weighted and concatenated, and
    inner products of points are sums over blocks.

    Attributes
    ----------
    factors_ : float64 array, shape (V,), or None
        Factor of each term; None if the weighting has none. Terms that no training document has get the factor 0.
    mean_length_ : float64 array, shape ()
        Mean length of the training documents, in tokens.
    n_features_in_ : int
        V, the size of the vocabulary.
    block_of_ : int array, shape (V,), or None
    block_weights_ : float64 array, shape (n_blocks,), or None
    block_norm_ : str array, shape (), or None
        The arguments of `of_blocks`.
    """

    non_negative: ClassVar[bool] = True
    block_of_: NDArray[np.integer] | None = None
    block_weights_: Array | None = None
    block_norm_: NDArray[np.str_] | None = None

    @property
    def learns(self) -> str:
        """Source of the factors: "" (no factors), "documents", or "labels" (documents with labels)."""
        return FROM_DOCUMENTS

    def check(self) -> None:
        """Check the parameters, in `fit` and before a run starts.

        Raises
        ------
        ValueError
            If a parameter is outside its range.
        """

    def local(self, counts: sp.csr_array) -> Array:
        """Compute the weight of each stored count within its document; by default the count itself.

        Parameters
        ----------
        counts : CSR array, shape (n, V)
            Term counts; stored counts are positive.

        Returns
        -------
        float64 array, shape (nnz,)
        """
        return np.asarray(counts.data, dtype=np.float64)

    @abstractmethod
    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> Array | None:
        """Compute the factors of the terms.

        Parameters
        ----------
        presence : CSR array, shape (n, V)
            Counts of the training documents.
        members : bool array, shape (n, k), or None
            Classes of each document, if the weighting learns from labels.

        Returns
        -------
        float64 array, shape (V,), or None
            None if the weighting has no factors.
        """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the factors of the terms from training documents.

        Parameters
        ----------
        X : dense or sparse matrix, shape (n, V)
            Term counts.
        y : array, shape (n,) or (n, k), optional
            Labels or boolean memberships; needed by weightings that learn from labels.

        Returns
        -------
        Weighting
            This weighting.

        Raises
        ------
        ValueError
            If a parameter is out of range, a count is negative, or labels are missing.
        """
        self.check()
        counts = self._counts(X, fitting=True)
        members = _memberships(y, counts.shape[0]) if self.learns == FROM_LABELS else None
        self.mean_length_ = np.asarray(counts.sum() / max(1, counts.shape[0]), dtype=np.float64)
        self.factors_ = self.factors(counts, members) if self.learns else None
        if self.factors_ is not None:
            self._check("factors", self.factors_, counts.shape[1:])
        return self

    def transform(self, X: Any) -> sp.csr_array:
        """Return the weights of documents.

        Parameters
        ----------
        X : dense or sparse matrix, shape (m, V)
            Term counts.

        Returns
        -------
        CSR array of float64, shape (m, V)
            Weights of 0 are not stored.

        Raises
        ------
        ValueError
            If X has another number of terms, or a negative count.
        NotFittedError
            If the weighting has not been fitted.
        """
        check_is_fitted(self, "mean_length_")
        counts = self._counts(X, fitting=False)
        local = self.local(counts)
        self._check("local", local, counts.data.shape)
        weights = weight_terms(sp.csr_array((local, counts.indices, counts.indptr), shape=counts.shape), self.factors_)
        if self.block_of_ is None or self.block_weights_ is None:
            return weights
        return normalize_blocks(weights, self.block_of_, self.block_weights_, str(self.block_norm_))

    def of_blocks(self, block_of: NDArray[np.integer], weights: Array, normalization: str) -> Self:
        """Set blocks of terms that `transform` normalizes separately and multiplies by weights.

        Parameters
        ----------
        block_of : int array, shape (V,)
            The block of each term.
        weights : float64 array, shape (n_blocks,)
            Not negative; a block of weight 0 is left out.
        normalization : {"none", "l1", "l2"}

        Returns
        -------
        Weighting
            This weighting.
        """
        self.block_of_, self.block_weights_, self.block_norm_ = block_of, weights, np.asarray(normalization)
        return self

    def _check(self, method: str, values: Any, shape: tuple[int, ...]) -> None:
        """Raise ValueError unless a plug-in's values have a shape, and are finite and not negative."""
        if is_builtin(type(self)):
            return
        found = np.asarray(values)
        if found.shape != shape or found.dtype.kind not in "fiu" or not np.isfinite(found).all() or (found < 0).any():
            problem = f"must return numbers of shape {shape}, finite and not negative"
            raise ValueError(f"`{method}` of {type(self).__name__} {problem}")

    def _counts(self, X: Any, *, fitting: bool) -> sp.csr_array:
        counts = canonical_csr(self.validated(X, fitting=fitting, dtype="numeric"))
        stored_zeros = not counts.data.all()  # a term that is stored as 0 doesn't occur
        if stored_zeros or not is_builtin(type(self)):  # a user's weighting may write over what it gets
            counts = counts.copy()
            counts.eliminate_zeros()
        return counts

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, with those of the labels."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.learns == FROM_LABELS
        tags.target_tags.multi_output = True
        return tags


def document_frequency(counts: sp.csr_array) -> Array:
    """Count the rows that have each term, shape (V,)."""
    return np.bincount(counts.indices[counts.data != 0], minlength=counts.shape[1]).astype(np.float64)


def _memberships(y: Any, n: int) -> NDArray[np.bool_]:
    """Convert labels or memberships to boolean memberships, shape (n, k); ValueError for another number of rows."""
    if y is None:  # in scikit-learn's words
        msg = f"the weighting needs the classes of {n} documents: it requires y to be passed, but the target y is None"
        raise ValueError(msg)
    labels = np.asarray(y)
    if labels.ndim not in (1, 2) or len(labels) != n:
        raise ValueError(f"the weighting needs the classes of {n} documents, not labels of shape {labels.shape}")
    return labels.astype(bool) if labels.ndim == 2 else np.asarray(labels[:, None] == np.unique(labels))
