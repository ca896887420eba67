"""Near-duplicates between two sets of documents, such as test documents that also occur in the training set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Smallest Jaccard similarity of the sets of terms of near-duplicates.
NEAR_DUPLICATE_SIMILARITY = 0.9
#: Test documents that are compared at a time.
_AT_ONCE = 256


def near_duplicates(
    matrix: sp.csr_array, train: NDArray[np.intp], test: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find, for each test document, the training document with the most similar set of terms.

    Documents without terms have no near-duplicates.

    Parameters
    ----------
    matrix : CSR matrix, shape (n, V)
        Counts; column indices sorted, no stored zeros.
    train, test : intp array
        Rows of the matrix.

    Returns
    -------
    rows : int64 array, shape (len(test),)
        The training document's row in the matrix, of equally similar ones the first; -1 where there is no
        near-duplicate.
    similarities : float64 array, shape (len(test),)
        The Jaccard similarity of the two sets of terms, at least `NEAR_DUPLICATE_SIMILARITY`; 0 where there is no
        near-duplicate.
    """
    rows, similarities = np.full(len(test), -1, dtype=np.int64), np.zeros(len(test))
    sizes = np.diff(matrix.indptr)
    present = sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    rare, trained = _rarest_terms(present), np.sort(train)
    postings = sp.csr_array(rare[trained].T)
    for start in range(0, len(test), _AT_ONCE):
        candidates = (rare[test[start : start + _AT_ONCE]] @ postings).tocoo()
        number, other = candidates.row + start, trained[candidates.col]
        smaller, larger = np.sort([sizes[test[number]], sizes[other]], axis=0)
        alike = smaller >= NEAR_DUPLICATE_SIMILARITY * larger
        number, other, both = number[alike], other[alike], (smaller + larger)[alike]
        shared = np.asarray(present[test[number]].multiply(present[other]).sum(axis=1))
        found = shared / (both - shared)
        near = np.flatnonzero(found >= NEAR_DUPLICATE_SIMILARITY)
        best_last = near[np.lexsort((-other[near], found[near]))]
        rows[number[best_last]], similarities[number[best_last]] = other[best_last], found[best_last]
    return rows, similarities


def _rarest_terms(present: sp.csr_array) -> sp.csr_array:
    """Return the rarest terms of each document: near-duplicates have one of them in common.

    Near-duplicates of a and b terms share at least 0.9 max(a, b), so at most a tenth of the terms of either are not
    shared. The rarest shared term is therefore among the rarest tenth of both, and one more (Bayardo, Ma and Srikant,
    WWW 2007).
    """
    n, n_terms = present.shape
    sizes, commonest_last = np.diff(present.indptr), np.argsort(np.bincount(present.indices, minlength=n_terms))
    place = np.empty(n_terms, dtype=np.int64)
    place[commonest_last] = np.arange(n_terms)
    document = np.repeat(np.arange(n), sizes)
    rarest_first = np.sort(document * n_terms + place[present.indices]) % n_terms
    nth = np.arange(len(document)) - np.repeat(present.indptr[:-1], sizes)
    taken = nth <= sizes[document] * (1 + 1e-9 - NEAR_DUPLICATE_SIMILARITY)
    columns = commonest_last[rarest_first[taken]]
    return sp.csr_array((np.ones(len(columns)), (document[taken], columns)), shape=present.shape)
