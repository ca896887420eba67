"""Turns a corpus into sparse counts over the vocabulary of its documents."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from benchmark.compiled import compiled
from benchmark.corpora.corpus import join
from benchmark.errors import ConfigError
from benchmark.text.counts import Counts
from benchmark.text.lexer import find_tokens, term
from benchmark.text.stoplist import stop_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.corpora.corpus import AnyCorpus, Documents
    from benchmark.text.lexer import Lexing


@dataclass(frozen=True)
class Pruning:
    """Which terms are too rare to keep; the default keeps every term.

    Parameters
    ----------
    min_occurrences : int
        Keep terms that occur at least this often in the collection (Rainbow's ``--prune-vocab-by-occur-count``).
    min_documents : int
        Keep terms that occur in at least this many documents. Rainbow's ``--prune-vocab-by-doc-count=N`` drops
        words in N *or fewer* documents: it is ``min_documents = N + 1``.
    group : str, optional
        Count the documents of this group alone, such as the training documents; a term that doesn't occur there is
        dropped. All documents given unless named.
    """

    min_occurrences: int = 1
    min_documents: int = 1
    group: str | None = None

    def __post_init__(self) -> None:
        """Refuse numbers below one."""
        for field, value in (("min_occurrences", self.min_occurrences), ("min_documents", self.min_documents)):
            if value < 1:
                raise ConfigError(f"pruning: {field} is {value}; it must be at least 1, which prunes nothing")

    def keeps(self, occurrences: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which terms stay, from how often and in how many documents each occurs."""
        return (occurrences >= self.min_occurrences) & (documents >= self.min_documents)


def count(corpus: AnyCorpus, lexing: Lexing, pruning: Pruning) -> Counts:
    """Count the terms of each document; a document left without terms stays, as a row of zeros.

    Raises
    ------
    ConfigError
        Pruning names a group that the corpus doesn't have.
    """
    documents = corpus.documents
    counted = _counted(documents, pruning.group)
    text, bounds = join([part[a:b].tobytes() for part, where in corpus.chunks() for a, b in pairwise(where)])
    found = find_tokens(text, bounds, lexing)
    seed = np.uint64(secrets.randbits(64))
    terms, first = intern(text, found.starts, found.lengths, found.spelling, seed)
    pointers, indices, data = tally(terms, found.bounds, len(first))

    occurrences = np.bincount(terms[np.repeat(counted, np.diff(found.bounds))], minlength=len(first))
    in_documents = np.bincount(indices[np.repeat(counted, np.diff(pointers))], minlength=len(first))
    stop = stop_words(lexing.stoplist)
    kept = []
    for number in np.flatnonzero(pruning.keeps(occurrences, in_documents)):
        start, length = found.starts[first[number]], found.lengths[first[number]]
        name = term(found.spelling[text[start : start + length]].tobytes(), lexing)
        if name not in stop:
            kept.append((name, number))
    # Terms are ASCII, and no two alike: the order of str is that of their bytes. Sorting by them alone takes a third.
    kept.sort(key=itemgetter(0))

    columns = np.array([number for _, number in kept], dtype=np.int32)
    # scipy takes the wider of two index types, and few of its users take 64 bits.
    narrow = pointers.astype(np.int32) if len(indices) < 2**31 else pointers
    matrix = sp.csr_array((data, indices, narrow), shape=(len(documents), len(first)))[:, columns]
    matrix.sort_indices()
    return Counts(documents, matrix, tuple(name for name, _ in kept))


def _counted(documents: Documents, group: str | None) -> NDArray[np.bool_]:
    """Tell whose terms pruning counts."""
    if group is None:
        return np.ones(len(documents), dtype=np.bool_)
    if group not in documents.group_names:
        raise ConfigError(f"pruning: there is no group {group!r}; the groups are {', '.join(documents.group_names)}")
    counted: NDArray[np.bool_] = documents.groups == documents.group_names.index(group)
    return counted


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


@compiled("Tuple((int64[::1], int32[::1], int32[::1]))(int32[::1], int64[::1], int64)")
def tally(
    terms: NDArray[np.int32], bounds: NDArray[np.int64], n_terms: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Count the tokens ``terms[bounds[i]:bounds[i + 1]]`` of each document i; return CSR's three arrays, unsorted."""
    pointers = np.zeros(len(bounds), dtype=np.int64)
    indices = np.empty(len(terms), dtype=np.int32)
    data = np.empty(len(terms), dtype=np.int32)
    # Where the latest document to use a term counts it: before the document's own entries, it is another's.
    entry = np.full(n_terms, -1, dtype=np.int64)
    used = 0
    for document in range(len(bounds) - 1):
        for term_ in terms[bounds[document] : bounds[document + 1]]:
            if entry[term_] < pointers[document]:
                entry[term_] = used
                indices[used], data[used] = term_, 0
                used += 1
            data[entry[term_]] += 1
        pointers[document + 1] = used
    return pointers, indices[:used].copy(), data[:used].copy()
