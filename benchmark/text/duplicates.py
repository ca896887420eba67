"""Finds the documents that stand, almost the same, in both of two sets: test documents that training has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.compiled import compiled

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

#: The Jaccard similarity of two documents' sets of terms from which on they are near-duplicates.
NEAR = 0.9
#: Two documents are compared if the least hashes of their terms agree in all rows of a band. Of pairs that are as
#: unlike as near-duplicates may be, 1 - (1 - 0.9^8)^20 are: all but 1 in 80,000; of those with 0.5, 8 in 100.
BANDS, ROWS = 20, 8


def near_duplicates(
    matrix: sp.csr_array, train: NDArray[np.intp], test: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find a training document that has almost the same set of terms, for each test document that has one.

    Candidates come from MinHash (A. Broder, On the resemblance and containment of documents, 1997), of fixed seeds, and
    each is compared term by term: what is reported is exact, and what is missed is said at `BANDS`. One with the very
    same terms is taken before any other. Documents without terms are like none.

    Parameters
    ----------
    matrix : CSR matrix, shape (n, V)
        Counts; column indices sorted, no stored zeros.
    train, test : intp array
        Rows.

    Returns
    -------
    rows : int64 array, shape (len(test),)
        The training document's row in the matrix; -1 where there is none.
    similarities : float64 array, shape (len(test),)
        The Jaccard similarity of the two sets of terms, at least `NEAR`; 0 where there is none.
    """
    random = np.random.default_rng(0)
    codes = random.integers(2**64, size=matrix.shape[1], dtype=np.uint64)
    factors = random.integers(2**64, size=BANDS * ROWS, dtype=np.uint64) | np.uint64(1)
    pointers, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
    keys = band_keys(pointers, indices, codes, factors, ROWS)
    rows, similarities = np.full(len(test), -1, dtype=np.int64), np.zeros(len(test))
    for band in keys.T:
        order = train[np.argsort(band[train], kind="stable")].astype(np.int64)
        first = np.searchsorted(band[order], band[test], side="left")
        last = np.searchsorted(band[order], band[test], side="right")
        compare(pointers, indices, test.astype(np.int64), order, first, last, rows, similarities)
    return rows, similarities


@compiled("uint64[:, ::1](int64[::1], Array(int32, 1, 'C', readonly=True), uint64[::1], uint64[::1], int64)")
def band_keys(
    pointers: NDArray[np.int64],
    indices: NDArray[np.int32],
    codes: NDArray[np.uint64],
    factors: NDArray[np.uint64],
    rows: int,
) -> NDArray[np.uint64]:
    """Return of each document a hash of all its terms, then one of the `rows` least hashes in each band."""
    n, n_bands = len(pointers) - 1, len(factors) // rows
    keys = np.zeros((n, 1 + n_bands), dtype=np.uint64)
    least = np.empty(len(factors), dtype=np.uint64)
    for document in range(n):
        least[:] = np.uint64(2**64 - 1)
        for term in indices[pointers[document] : pointers[document + 1]]:
            code = codes[term]
            keys[document, 0] += code
            for place in range(len(factors)):
                least[place] = min(least[place], code * factors[place])
        for place in range(len(factors)):
            band = 1 + place // rows
            keys[document, band] = (keys[document, band] ^ least[place]) * np.uint64(0x9E3779B97F4A7C15)
    return keys


@compiled(
    "void(int64[::1], Array(int32, 1, 'C', readonly=True), int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64[::1], float64[::1])"
)
def compare(
    pointers: NDArray[np.int64],
    indices: NDArray[np.int32],
    test: NDArray[np.int64],
    order: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    rows: NDArray[np.int64],
    similarities: NDArray[np.float64],
) -> None:
    """Compare test documents that have no partner yet with their candidates, ``order[first:last]``, up to a match."""
    for number in range(len(test)):
        mine = indices[pointers[test[number]] : pointers[test[number] + 1]]
        if rows[number] >= 0 or not len(mine):
            continue
        for row in order[first[number] : last[number]]:
            theirs = indices[pointers[row] : pointers[row + 1]]
            if min(len(mine), len(theirs)) < NEAR * max(len(mine), len(theirs)):
                continue
            shared, at = 0, 0
            for term in mine:
                while at < len(theirs) and theirs[at] < term:
                    at += 1
                shared += at < len(theirs) and theirs[at] == term
            similarity = shared / (len(mine) + len(theirs) - shared)
            if similarity >= NEAR:
                rows[number], similarities[number] = row, similarity
                break
