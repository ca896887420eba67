"""Counts to points: term weighting, and the norms by which documents are put on the simplex or the sphere.

Normalizing only scales rows and columns of an inner-product matrix, so the runner never stores normalized
points: it keeps the inner products of the weighted counts and divides by norms (`scales`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHTINGS = ("tf", "tfidf", "binary")
NORMALIZATIONS = ("none", "l1", "l2")
IDF_SOURCES = ("collection", "training")


def inverse_document_frequency(counts: sp.csr_array) -> NDArray[np.float64]:
    """log(m / df) for every term (Zhang et al. 2005, section 4), shape (V,).

    m is the number of rows of `counts`, df the number of rows a term occurs in. A term that occurs in none
    gets 0: its idf is infinite, and it meets nothing in an inner product with these documents.
    """
    m, vocabulary_size = counts.shape
    document_frequency = np.bincount(counts.indices[counts.data != 0], minlength=vocabulary_size)
    idf = np.zeros(vocabulary_size)
    seen = document_frequency > 0
    idf[seen] = np.log(m / document_frequency[seen])
    return idf


def canonical(matrix: Any) -> sp.csr_array:
    """CSR with one entry a coordinate, in ascending order; a matrix that is not so is copied, never changed."""
    rows = sp.csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def weight_terms(counts: sp.csr_array, idf: NDArray[np.float64] | None, *, binary: bool = False) -> sp.csr_array:
    """TF (`idf` is None) or TF×IDF weights as float64 CSR, shape (n, V); entries that become 0 are not stored.

    With `binary` a term counts once in a document, however often it occurs.
    """
    weighted = sp.csr_array(counts, dtype=np.float64, copy=True)
    if binary:
        weighted.data[:] = weighted.data != 0
    if idf is not None:
        weighted.data *= idf[weighted.indices]
        weighted.eliminate_zeros()
    return weighted


def norms(weights: sp.csr_array, normalization: str) -> NDArray[np.float64]:
    """The divisor of each row, shape (n,): Σ|x| for l1, (Σx²)^½ for l2, 1 for none.

    A row without terms has the divisor 1: it stays the zero vector.
    """
    if normalization == "none":
        return np.ones(weights.shape[0])
    if normalization == "l1":
        divisor = np.asarray(abs(weights).sum(axis=1), dtype=np.float64)
    elif normalization == "l2":
        divisor = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1), dtype=np.float64))
    else:
        raise ValueError(f"unknown normalization {normalization!r}; one of {', '.join(NORMALIZATIONS)}")
    return np.where(divisor > 0, divisor, 1.0)


def embed(weights: sp.csr_array, exponent: float) -> sp.csr_array:
    """Each stored entry to the power `exponent`: 1 is the identity, ½ carries the simplex to the sphere."""
    if exponent == 1.0:
        return weights
    embedded = weights.copy()
    embedded.data = np.sqrt(embedded.data) if exponent == 0.5 else np.power(embedded.data, exponent)
    return embedded


class TermWeighting(TransformerMixin, BaseEstimator):
    """Counts to points, for use in a scikit-learn pipeline before a kernel.

    Parameters
    ----------
    weighting : {"tf", "tfidf", "binary"}
        With "tfidf", `fit` learns log(m / df) from the documents it is given; with "binary" a term counts once.
    normalization : {"none", "l1", "l2"}

    Attributes
    ----------
    idf_ : float array, shape (V,), or None
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> TermWeighting(normalization="l1").fit_transform(np.array([[1, 3], [2, 0]])).toarray()
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """

    def __init__(self, weighting: str = "tf", normalization: str = "none") -> None:
        self.weighting = weighting
        self.normalization = normalization

    def fit(self, X: Any, y: Any = None) -> TermWeighting:  # noqa: ARG002 - scikit-learn's signature
        """Learn the idf of the counts X, shape (n, V)."""
        if self.weighting not in WEIGHTINGS:
            raise ValueError(f"unknown weighting {self.weighting!r}; one of {', '.join(WEIGHTINGS)}")
        if self.normalization not in NORMALIZATIONS:
            raise ValueError(f"unknown normalization {self.normalization!r}; one of {', '.join(NORMALIZATIONS)}")
        counts = canonical(check_array(X, accept_sparse="csr"))
        self.n_features_in_ = counts.shape[1]
        self.idf_ = inverse_document_frequency(counts) if self.weighting == "tfidf" else None
        return self

    def transform(self, X: Any) -> sp.csr_array:
        """Weighted, normalized points as float64 CSR, shape (n, V)."""
        check_is_fitted(self, "n_features_in_")
        counts = canonical(check_array(X, accept_sparse="csr"))
        if counts.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {counts.shape[1]} terms, but the weighting was fitted on {self.n_features_in_}")
        weights = weight_terms(counts, self.idf_, binary=self.weighting == "binary")
        divisor = norms(weights, self.normalization)
        weights.data /= np.repeat(divisor, np.diff(weights.indptr))
        return weights
