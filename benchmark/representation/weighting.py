"""Normalization of weights to points on the simplex or the sphere.

Normalizing only scales rows and columns of a matrix of inner products, so a run doesn't store normalized points.
It stores the inner products of the weighted counts, and `benchmark.kernels.gram.LazyGram` divides by norms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.system.tags import NORMALIZATIONS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.system.arrays import Array

IDF_SOURCES = ("collection", "training")


def document_frequency(counts: sp.csr_array) -> Array:
    """Count the rows that have each term, shape (V,)."""
    return np.bincount(counts.indices[counts.data != 0], minlength=counts.shape[1]).astype(np.float64)


def inverse_document_frequency(counts: sp.csr_array) -> Array:
    """Compute log(m / df) for every term (Zhang et al. 2005, section 4), shape (V,).

    m is the number of rows of `counts`, df the number of rows that a term occurs in. A term that occurs in no row
    gets 0: its idf is infinite, but it adds nothing to inner products with these documents.
    """
    df = document_frequency(counts)
    return np.asarray(np.log(np.divide(counts.shape[0], df, out=np.ones_like(df), where=df > 0)))


def canonical_csr(matrix: Any) -> sp.csr_array:
    """Return a matrix as CSR with sorted indices and no duplicates; a matrix in another form is copied, not changed."""
    rows = sp.csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def weight_terms(counts: sp.csr_array, factors: Array | None) -> sp.csr_array:
    """Multiply counts by the factor of each term, if any, and return a float64 CSR copy without zeros, shape (n, V)."""
    weighted = sp.csr_array(counts, dtype=np.float64, copy=True)
    if factors is not None:
        weighted.data *= factors[weighted.indices]
        weighted.eliminate_zeros()
    return weighted


def row_norms(weights: sp.csr_array, normalization: str) -> Array:
    """Compute the norm that divides each row, shape (n,): Σ|x| for l1, (Σx²)^½ for l2, 1 for none.

    A row of zeros gets 1, so that it stays the zero vector.
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


def normalize_rows(weights: sp.csr_array, normalization: str) -> sp.csr_array:
    """Divide each row by its norm, in place, and return the weights."""
    weights.data /= np.repeat(row_norms(weights, normalization), np.diff(weights.indptr))
    return weights


def normalize_blocks(
    weights: sp.csr_array, block_of: NDArray[np.integer], block_weights: Array, normalization: str
) -> sp.csr_array:
    """Normalize each block of terms of each row, and multiply it by the block's weight.

    Parameters
    ----------
    weights : CSR array, shape (n, V)
    block_of : int array, shape (V,)
        The block of each term.
    block_weights : float64 array, shape (n_blocks,)
    normalization : {"none", "l1", "l2"}

    Returns
    -------
    CSR array, shape (n, V)
        A copy without zeros.
    """
    n, n_blocks = weights.shape[0], len(block_weights)
    blocks = block_of[weights.indices]
    # One row for each block of a document, to compute norms by row.
    places = np.repeat(np.arange(n), np.diff(weights.indptr)) * n_blocks + blocks
    shape = (n * n_blocks, weights.shape[1])
    divisors = row_norms(sp.csr_array((weights.data, (places, weights.indices)), shape=shape), normalization)
    scaled = weights.copy()
    scaled.data *= (np.tile(block_weights, n) / divisors)[places]
    scaled.eliminate_zeros()
    return scaled


def power_transform(weights: sp.csr_array, exponent: float) -> sp.csr_array:
    """Raise each stored entry to the power `exponent`: 1 is the identity, ½ maps the simplex to the sphere."""
    if exponent == 1.0:
        return weights
    embedded = weights.copy()
    embedded.data = np.sqrt(embedded.data) if exponent == 0.5 else np.power(embedded.data, exponent)
    return embedded
