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
FEWEST_SLOTS = 2**12


def seed() -> np.uint64:
    """A secret for `intern`."""
    return np.uint64(secrets.randbits(64))


@compiled("uint64(uint64)")
def scattered(code: np.uint64) -> np.uint64:
    """Return a number of which each bit depends on all of `code`'s (the finalizer of SplitMix64)."""
    code = (code ^ (code >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    code = (code ^ (code >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return code ^ (code >> np.uint64(31))


@compiled("uint64(Array(uint8, 1, 'C', readonly=True), int64, int32, Array(uint8, 1, 'C', readonly=True), uint64)")
def key(text: NDArray[np.uint8], start: int, length: int, spelling: NDArray[np.uint8], seed: np.uint64) -> np.uint64:
    """Return the bytes of a term of up to eight; of a longer one, a number that ends in 255, as no text in UTF-8."""
    code = np.uint64(0)
    for offset in range(length):
        if offset and offset % 8 == 0:
            code = scattered(code ^ seed)
        code ^= np.uint64(spelling[text[start + offset]]) << np.uint64(offset % 8 * 8)
    return code | np.uint64(0xFF << 56) if length > 8 else code


@compiled("boolean(Array(uint8, 1, 'C', readonly=True), int64, int64, int32, Array(uint8, 1, 'C', readonly=True))")
def alike(text: NDArray[np.uint8], one: int, other: int, length: int, spelling: NDArray[np.uint8]) -> bool:
    """Tell whether two terms of a length are spelled alike."""
    offset = 0
    while offset < length and spelling[text[one + offset]] == spelling[text[other + offset]]:
        offset += 1
    return offset == length


@compiled("int32[::1](uint64[::1], int64, uint64)")
def table_of(keys: NDArray[np.uint64], n_slots: int, seed: np.uint64) -> NDArray[np.int32]:
    """Return a table of so many slots, a power of two, in which each term has one; -1 where it is free."""
    table = np.full(n_slots, -1, dtype=np.int32)
    mask = np.uint64(n_slots - 1)
    for number in range(len(keys)):
        slot = scattered(keys[number] ^ seed) & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = number
    return table


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

    An open-addressed hash table (linear probing) that grows with the terms, of which there are fewer than tokens. A key
    only proposes a term of more than eight bytes: these are compared. No term has a byte 0. No result depends on the
    seed; a secret one keeps words that were chosen to collide from taking quadratic time.
    """
    terms = np.empty(len(starts), dtype=np.int32)
    first = np.empty(len(starts), dtype=np.int64)
    keys = np.empty(len(starts), dtype=np.uint64)
    known = 0
    table = table_of(keys[:known], FEWEST_SLOTS, seed)
    for token in range(len(starts)):
        start, length = starts[token], lengths[token]
        own = key(text, start, length, spelling, seed)
        mask = np.uint64(len(table) - 1)
        slot = scattered(own ^ seed) & mask
        while table[slot] >= 0:
            if keys[table[slot]] == own:
                other = first[table[slot]]
                if length <= 8 or (lengths[other] == length and alike(text, start, starts[other], length, spelling)):
                    break
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot], first[known], keys[known] = known, token, own
            known += 1
        terms[token] = table[slot]
        if 2 * known > len(table):
            table = table_of(keys[:known], 2 * len(table), seed)
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


@compiled("uint64[::1](Array(uint8, 1, 'C', readonly=True), int64)")
def beginnings(spelled: NDArray[np.uint8], n: int) -> NDArray[np.uint64]:
    """Return the first eight bytes of each of n terms as a number, those of a shorter one before zeros; see `spell`."""
    heads = np.zeros(n, dtype=np.uint64)
    position = 0
    for number in range(n):
        offset = 0
        while spelled[position] != LINE_FEED:
            if offset < 8:
                heads[number] |= np.uint64(spelled[position]) << np.uint64(56 - 8 * offset)
            offset += 1
            position += 1
        position += 1
    return heads


@compiled("UniTuple(int64[::1], 2)(int32[::1], int64[::1], int64, boolean[::1])")
def how_often(
    terms: NDArray[np.int32], bounds: NDArray[np.int64], n_terms: int, counted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the occurrences and the documents of each term, in those documents i, see `tally`, that are `counted`."""
    occurrences = np.zeros(n_terms, dtype=np.int64)
    documents = np.zeros(n_terms, dtype=np.int64)
    latest = np.full(n_terms, -1, dtype=np.int64)
    for document in np.flatnonzero(counted):
        for term_ in terms[bounds[document] : bounds[document + 1]]:
            occurrences[term_] += 1
            documents[term_] += latest[term_] != document
            latest[term_] = document
    return occurrences, documents


@compiled("UniTuple(int32[::1], 3)(int32[::1], int64[::1])")
def tally(
    terms: NDArray[np.int32], bounds: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Count the tokens ``terms[bounds[i]:bounds[i + 1]]`` of each document i; return CSR's three arrays, sorted.

    A document's tokens are put in order: no table of all terms has to stay in a core's cache.
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
