"""What every weighting is: what a document says of a term times what the training documents tell about the term."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from benchmark.representation.weighting import canonical, in_blocks, weight_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: What a weighting learns from, beside nothing.
DOCUMENTS, LABELS = "documents", "labels"


class Weighting(TransformerMixin, BaseEstimator, ABC):
    """Weights that are `local` to a document, times a factor a term that `fit` learns, as a scikit-learn transformer.

    Where the terms are of several blocks (fields of the text, words and bigrams), `of_blocks` makes each a multinomial
    of its own: a document is a point of a product of simplices, and its blocks, with a weight each, are put side by
    side again. The inner products of such points are sums over the blocks.

    Attributes
    ----------
    factors_ : float64 array, shape (V,), or None
        None where there is none. A term that no document has which `fit` was given has the factor 0.
    mean_length_ : float64 array, shape ()
        Of those documents, in tokens.
    n_features_in_ : int
    block_of_ : int array, shape (V,), or None
    block_weights_ : float64 array, shape (n_blocks,), or None
    block_norm_ : str array, shape (), or None
        As `of_blocks` was given them.
    """

    #: What a trained model keeps.
    kept: ClassVar[tuple[str, ...]] = (
        "factors_",
        "mean_length_",
        "n_features_in_",
        "block_of_",
        "block_weights_",
        "block_norm_",
    )
    block_of_: NDArray[np.integer] | None = None
    block_weights_: Array | None = None
    block_norm_: NDArray[np.str_] | None = None

    @property
    def learns(self) -> str:
        """What the factors are learned from: "" (there are none), "documents", or their "labels" too."""
        return DOCUMENTS

    def check(self) -> None:
        """Raise ValueError where a parameter is outside its range."""

    def local(self, counts: sp.csr_array) -> Array:
        """What each stored count, > 0, says in its document, shape (nnz,); the counts themselves here."""
        return np.asarray(counts.data, dtype=np.float64)

    @abstractmethod
    def factors(self, presence: sp.csr_array, members: NDArray[np.bool_] | None) -> Array | None:
        """The factors of the terms.

        Parameters
        ----------
        presence : CSR array, shape (n, V)
            Counts of the training documents.
        members : bool array, shape (n, k), or None
            Which classes each has, where the weighting learns from labels.
        """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the counts X, shape (n, V), and labels, shape (n,), or memberships, bool of shape (n, k).

        Raises
        ------
        ValueError
            If a parameter is out of range, or labels are missing.
        """
        self.check()
        counts = self._validated(X)
        members = _memberships(y, counts.shape[0]) if self.learns == LABELS else None
        self.n_features_in_ = counts.shape[1]
        self.mean_length_ = np.asarray(counts.sum() / max(1, counts.shape[0]), dtype=np.float64)
        self.factors_ = self.factors(counts, members) if self.learns else None
        return self

    def transform(self, X: Any) -> sp.csr_array:
        """Weights of any documents, float64 CSR of shape (m, V); those that are 0 are not stored."""
        check_is_fitted(self, "n_features_in_")
        counts = self._validated(X)
        if counts.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {counts.shape[1]} terms, but the weighting was fitted on {self.n_features_in_}")
        weights = sp.csr_array((self.local(counts), counts.indices, counts.indptr), shape=counts.shape, copy=True)
        weights = weight_terms(weights, self.factors_)
        if self.block_of_ is None or self.block_weights_ is None:
            return weights
        return in_blocks(weights, self.block_of_, self.block_weights_, str(self.block_norm_))

    def of_blocks(self, block_of: NDArray[np.integer], weights: Array, normalization: str) -> Self:
        """Have `transform` normalize each block by itself, and multiply it by its weight.

        Parameters
        ----------
        block_of : int array, shape (V,)
            The block of each term.
        weights : float64 array, shape (n_blocks,)
            Not negative; a block of weight 0 is left out.
        normalization : {"none", "l1", "l2"}
        """
        self.block_of_, self.block_weights_, self.block_norm_ = block_of, weights, np.asarray(normalization)
        return self

    def _validated(self, X: Any) -> sp.csr_array:
        counts = canonical(check_array(X, accept_sparse="csr"))
        if counts.nnz and counts.data.min() < 0:
            raise ValueError(f"counts can't be negative, as {counts.data.min()} is")
        return counts


def document_frequency(counts: sp.csr_array) -> Array:
    """How many rows have each term, shape (V,)."""
    return np.bincount(counts.indices[counts.data != 0], minlength=counts.shape[1]).astype(np.float64)


def _memberships(y: Any, n: int) -> NDArray[np.bool_]:
    """Labels or memberships as memberships; ValueError if they are not of `n` documents."""
    given = np.asarray(y)
    if y is None or given.ndim not in (1, 2) or len(given) != n:
        raise ValueError(f"labels of shape {given.shape} don't say the classes of {n} documents")
    return given.astype(bool) if given.ndim == 2 else np.asarray(given[:, None] == np.unique(given))
