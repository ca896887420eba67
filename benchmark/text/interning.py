"""Numbers for terms, and how often each document has each: the loops over tokens, compiled."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import numpy as np

from benchmark.compiled import compiled
from benchmark.text.lexer import LINE_FEED

if TYPE_CHECKING:
    from numpy.typing import NDArray

AS_IT_STANDS = np.arange(256, dtype=np.uint8)


def seed() -> np.uint64:
    """A secret for `intern`."""
    return np.uint64(secrets.randbits(64))


@compiled(
    "Tuple((int32[::1], int64[::1]))"
    "(Array(uint8, 1, 'C', readonly=True), int64[::1], int32[::1], Array(uint8, 1, 'C', readonly=True), uint64)"
)
def intern(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int32],
    spelling: NDArray[np.uint8],
    seed: np.uint64,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number the terms in order of appearance; return the term of each token, and each term's first token.

    An open-addressed hash table (FNV-1a, linear probing). A hash only proposes a term: its bytes are compared. No
    result depends on the seed; a secret one keeps words that were chosen to collide from taking quadratic time.
    """
    terms = np.empty(len(starts), dtype=np.int32)
    first = np.empty(len(starts), dtype=np.int64)
    # A slot holds a term, or -1; were all tokens different, half of the slots would be taken.
    slots = 2
    while slots < 2 * len(starts):
        slots *= 2
    table = np.full(slots, -1, dtype=np.int32)
    mask = np.uint64(slots - 1)
    known = 0
    for token in range(len(starts)):
        start, length = starts[token], lengths[token]
        code = seed
        for offset in range(length):
            code = (code ^ np.uint64(spelling[text[start + offset]])) * np.uint64(0x100000001B3)
        slot = (code ^ (code >> np.uint64(32))) & mask  # the lower half alone is what such words are chosen by
        while table[slot] >= 0:
            other = first[table[slot]]
            offset = 0 if lengths[other] == length else length + 1
            while offset < length and spelling[text[start + offset]] == spelling[text[starts[other] + offset]]:
                offset += 1
            if offset == length:
                break
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = known
            first[known] = token
            known += 1
        terms[token] = table[slot]
    return terms, first[:known].copy()


@compiled("Tuple((int32[::1], int64[::1]))(int32[:, ::1], uint64)")
def intern_pairs(pairs: NDArray[np.int32], seed: np.uint64) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """As `intern`, of pairs of numbers, shape (m, 2): eight times as fast as their bytes."""
    terms = np.empty(len(pairs), dtype=np.int32)
    first = np.empty(len(pairs), dtype=np.int64)
    slots = 2
    while slots < 2 * len(pairs):
        slots *= 2
    table = np.full(slots, -1, dtype=np.int32)
    mask = np.uint64(slots - 1)
    known = 0
    for place in range(len(pairs)):
        one, two = pairs[place, 0], pairs[place, 1]
        code = (seed ^ np.uint64(one)) * np.uint64(0x9E3779B97F4A7C15)
        code = (code ^ np.uint64(two)) * np.uint64(0x9E3779B97F4A7C15)
        slot = (code ^ (code >> np.uint64(32))) & mask
        while table[slot] >= 0:
            other = first[table[slot]]
            if pairs[other, 0] == one and pairs[other, 1] == two:
                break
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = known
            first[known] = place
            known += 1
        terms[place] = table[slot]
    return terms, first[:known].copy()


@compiled(
    "uint8[::1](Array(uint8, 1, 'C', readonly=True), int64[::1], int32[::1], Array(uint8, 1, 'C', readonly=True))"
)
def spell(
    text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int32], spelling: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Write tokens one after the other, a line feed after each."""
    spelled = np.empty(lengths.sum() + len(lengths), dtype=np.uint8)
    written = 0
    for start, length in zip(starts, lengths):  # noqa: B905 - numba knows no `strict`
        for position in range(start, start + length):
            spelled[written] = spelling[text[position]]
            written += 1
        spelled[written] = LINE_FEED
        written += 1
    return spelled


@compiled(
    "Tuple((int32[::1], int32[::1], int32[::1], int64[::1], int64[::1]))(int32[::1], int64[::1], int64, boolean[::1])"
)
def tally(
    terms: NDArray[np.int32], bounds: NDArray[np.int64], n_terms: int, counted: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Count the tokens ``terms[bounds[i]:bounds[i + 1]]`` of each document i.

    Return CSR's three arrays, unsorted, and of each term its occurrences and its documents among those `counted`.
    """
    pointers = np.zeros(len(bounds), dtype=np.int32)
    indices = np.empty(len(terms), dtype=np.int32)
    data = np.empty(len(terms), dtype=np.int32)
    occurrences = np.zeros(n_terms, dtype=np.int64)
    documents = np.zeros(n_terms, dtype=np.int64)
    # Where the latest document to use a term counts it: before the document's own entries, it is another's.
    entry = np.full(n_terms, -1, dtype=np.int64)
    used = 0
    for document in range(len(bounds) - 1):
        for term_ in terms[bounds[document] : bounds[document + 1]]:
            if entry[term_] < pointers[document]:
                entry[term_] = used
                indices[used], data[used] = term_, 0
                documents[term_] += counted[document]
                used += 1
            data[entry[term_]] += 1
            occurrences[term_] += counted[document]
        pointers[document + 1] = used
    return pointers, indices[:used].copy(), data[:used].copy(), occurrences, documents
