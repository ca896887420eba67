"""Compiled loops over tokens that count the terms of each document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.system.numba_jit import compile_lazily
from benchmark.text.lexer import LINE_FEED

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compile_lazily(
    "uint8[::1](Array(uint8, 1, 'C', readonly=True), int64[::1], int32[::1], Array(uint8, 1, 'C', readonly=True))"
)
def spell_tokens(
    text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int32], spelling: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Return the spelled tokens as bytes, with a line feed after each token."""
    spelled = np.empty(lengths.sum() + len(lengths), dtype=np.uint8)
    written = 0
    for start, length in zip(starts, lengths):  # noqa: B905 - numba knows no `strict`
        for position in range(start, start + length):
            spelled[written] = spelling[text[position]]
            written += 1
        spelled[written] = LINE_FEED
        written += 1
    return spelled


@compile_lazily("void(int32[::1], int64[::1], boolean[::1], int64, int64[::1], int64[::1], int64[::1])")
def add_term_frequencies(
    terms: NDArray[np.int32],
    bounds: NDArray[np.int64],
    counted: NDArray[np.bool_],
    first: int,
    occurrences: NDArray[np.int64],
    documents: NDArray[np.int64],
    latest: NDArray[np.int64],
) -> None:
    """Add the occurrences and the documents of each term, over the `counted` documents.

    Parameters
    ----------
    terms : int32 array
        Term of each token; -1 for a token without a term.
    first : int
        Number of the first of these documents in the corpus.
    occurrences, documents : int64 arrays, shape (n_terms,)
        Updated in place: the count of each term, and the number of documents with the term.
    latest : int64 array, shape (n_terms,)
        Updated in place: the last document with the term, or -1.
    """
    for document in np.flatnonzero(counted):
        for term_ in terms[bounds[document] : bounds[document + 1]]:
            if term_ >= 0:
                occurrences[term_] += 1
                documents[term_] += latest[term_] != first + document
                latest[term_] = first + document


@compile_lazily("UniTuple(int32[::1], 3)(int32[::1], int64[::1])")
def count_sorted_terms(
    terms: NDArray[np.int32], bounds: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Count the tokens ``terms[bounds[i]:bounds[i + 1]]`` of each document i; return CSR's pointers, indices and data.

    A document's tokens are sorted, which needs no table of all terms in a core's cache.
    """
    pointers = np.zeros(len(bounds), dtype=np.int32)
    indices = np.empty(len(terms), dtype=np.int32)
    data = np.empty(len(terms), dtype=np.int32)
    used = 0
    for document in range(len(bounds) - 1):
        for term_ in np.sort(terms[bounds[document] : bounds[document + 1]]):
            if used > pointers[document] and indices[used - 1] == term_:
                data[used - 1] += 1
            else:
                indices[used], data[used] = term_, 1
                used += 1
        pointers[document + 1] = used
    return pointers, indices[:used].copy(), data[:used].copy()
