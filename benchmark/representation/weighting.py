"""Weights to points: the norms by which documents are put on the simplex or the sphere.

Normalizing only scales rows and columns of an inner-product matrix, so the runner never stores normalized
points: it keeps the inner products of the weighted counts and divides by norms (`scales`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.tags import NORMALIZATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def weight_terms(counts: sp.csr_array, factors: NDArray[np.float64] | None) -> sp.csr_array:
    """Counts times a factor a term, where there is one, as float64 CSR, shape (n, V); what becomes 0 is not stored."""
    weighted = sp.csr_array(counts, dtype=np.float64, copy=True)
    if factors is not None:
        weighted.data *= factors[weighted.indices]
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


def normalized(weights: sp.csr_array, normalization: str) -> sp.csr_array:
    """Each row divided by its norm: written over the weights."""
    weights.data /= np.repeat(norms(weights, normalization), np.diff(weights.indptr))
    return weights


def in_blocks(
    weights: sp.csr_array, block_of: NDArray[np.integer], block_weights: NDArray[np.float64], normalization: str
) -> sp.csr_array:
    """Each block of each row divided by its own norm, times the block's weight; fresh, without the zeros.

    Parameters
    ----------
    weights : CSR array, shape (n, V)
    block_of : int array, shape (V,)
    block_weights : float64 array, shape (n_blocks,)
    normalization : {"none", "l1", "l2"}
    """
    n, n_blocks = weights.shape[0], len(block_weights)
    blocks = block_of[weights.indices]
    # A document's blocks as rows of their own: the columns don't matter to a norm.
    places = np.repeat(np.arange(n), np.diff(weights.indptr)) * n_blocks + blocks
    shape = (n * n_blocks, weights.shape[1])
    divisors = norms(sp.csr_array((weights.data, (places, weights.indices)), shape=shape), normalization)
    scaled = weights.copy()
    scaled.data *= (np.tile(block_weights, n) / divisors)[places]
    scaled.eliminate_zeros()
    return scaled


def embed(weights: sp.csr_array, exponent: float) -> sp.csr_array:
    """Each stored entry to the power `exponent`: 1 is the identity, ½ carries the simplex to the sphere."""
    if exponent == 1.0:
        return weights
    embedded = weights.copy()
    embedded.data = np.sqrt(embedded.data) if exponent == 0.5 else np.power(embedded.data, exponent)
    return embedded
