"""Near-duplicates between two sets of documents, such as test documents that also occur in the training set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.system.numba_jit import compile_lazily

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

#: Smallest Jaccard similarity of the sets of terms of near-duplicates.
NEAR_DUPLICATE_SIMILARITY = 0.9
#: Two documents are compared if the minimum hashes of their terms agree in all rows of a band. Pairs with the smallest
#: similarity of near-duplicates are compared with probability 1 - (1 - 0.9^8)^20, all but 1 in 80,000; pairs with a
#: similarity of 0.5 are compared in 8 of 100 cases.
MINHASH_BANDS, MINHASH_ROWS = 20, 8


def near_duplicates(
    matrix: sp.csr_array, train: NDArray[np.intp], test: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find, for each test document, a training document with almost the same set of terms.

    Candidates come from MinHash (A. Broder, On the resemblance and containment of documents, 1997) with fixed seeds and
    are compared term by term: reported similarities are exact; `MINHASH_BANDS` states how many pairs are missed. A
    training document with identical terms is preferred. Documents without terms have no near-duplicates.

    Parameters
    ----------
    matrix : CSR matrix, shape (n, V)
        Counts; column indices sorted, no stored zeros.
    train, test : intp array
        Rows of the matrix.

    Returns
    -------
    rows : int64 array, shape (len(test),)
        The training document's row in the matrix; -1 where there is no near-duplicate.
    similarities : float64 array, shape (len(test),)
        The Jaccard similarity of the two sets of terms, at least `NEAR_DUPLICATE_SIMILARITY`; 0 where there is no
        near-duplicate.
    """
    random = np.random.default_rng(0)
    codes = random.integers(2**64, size=matrix.shape[1], dtype=np.uint64)
    factors = random.integers(2**64, size=MINHASH_BANDS * MINHASH_ROWS, dtype=np.uint64) | np.uint64(1)
    pointers, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
    keys = minhash_keys(pointers, indices, codes, factors, MINHASH_ROWS)
    rows, similarities = np.full(len(test), -1, dtype=np.int64), np.zeros(len(test))
    for band in keys.T:
        order = train[np.argsort(band[train], kind="stable")].astype(np.int64)
        first = np.searchsorted(band[order], band[test], side="left")
        last = np.searchsorted(band[order], band[test], side="right")
        match_candidates(pointers, indices, test.astype(np.int64), order, first, last, rows, similarities)
    return rows, similarities


@compile_lazily("uint64[:, ::1](int64[::1], Array(int32, 1, 'C', readonly=True), uint64[::1], uint64[::1], int64)")
def minhash_keys(
    pointers: NDArray[np.int64],
    indices: NDArray[np.int32],
    codes: NDArray[np.uint64],
    factors: NDArray[np.uint64],
    rows: int,
) -> NDArray[np.uint64]:
    """Return, for each document, a hash of all its terms, then a hash of the `rows` minimum hashes of each band."""
    n, n_bands = len(pointers) - 1, len(factors) // rows
    keys = np.zeros((n, 1 + n_bands), dtype=np.uint64)
    least = np.empty(len(factors), dtype=np.uint64)
    for document in range(n):
        least[:] = np.uint64(2**64 - 1)
        for term in indices[pointers[document] : pointers[document + 1]]:
            code = codes[term]
            keys[document, 0] += code
            for number in range(len(factors)):
                least[number] = min(least[number], code * factors[number])
        for number in range(len(factors)):
            band = 1 + number // rows
            keys[document, band] = (keys[document, band] ^ least[number]) * np.uint64(0x9E3779B97F4A7C15)
    return keys


@compile_lazily(
    "void(int64[::1], Array(int32, 1, 'C', readonly=True), int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64[::1], float64[::1])"
)
def match_candidates(
    pointers: NDArray[np.int64],
    indices: NDArray[np.int32],
    test: NDArray[np.int64],
    order: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    rows: NDArray[np.int64],
    similarities: NDArray[np.float64],
) -> None:
    """Compare unmatched test documents with their candidates ``order[first:last]``, until the first match."""
    for number in range(len(test)):
        terms = indices[pointers[test[number]] : pointers[test[number] + 1]]
        if rows[number] >= 0 or not len(terms):
            continue
        for row in order[first[number] : last[number]]:
            others = indices[pointers[row] : pointers[row + 1]]
            if min(len(terms), len(others)) < NEAR_DUPLICATE_SIMILARITY * max(len(terms), len(others)):
                continue
            shared, at = 0, 0
            for term in terms:
                while at < len(others) and others[at] < term:
                    at += 1
                shared += at < len(others) and others[at] == term
            similarity = shared / (len(terms) + len(others) - shared)
            if similarity >= NEAR_DUPLICATE_SIMILARITY:
                rows[number], similarities[number] = row, similarity
                break
