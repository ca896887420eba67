"""Turns a corpus into sparse counts over the vocabulary of its documents."""

from __future__ import annotations

import secrets
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from benchmark.blocks import in_turn
from benchmark.compiled import compiled
from benchmark.errors import ConfigError
from benchmark.text.counts import Counts
from benchmark.text.lexer import LINE_FEED, find_tokens, term
from benchmark.text.stoplist import stop_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmark.corpora.corpus import AnyCorpus, Chunk, Documents
    from benchmark.corpora.counted import CountedCorpus
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


def count(corpus: AnyCorpus, lexing: Lexing, pruning: Pruning, jobs: int = 1) -> Counts:
    """Count the terms of each document; a document left without terms stays, as a row of zeros.

    The text is read once, some documents at a time, on `jobs` threads. How they are divided decides nothing.

    Raises
    ------
    ConfigError
        Pruning names a group that the corpus doesn't have.
    """
    documents = corpus.documents
    given = _chunks(corpus, _counted(documents, pruning.group))
    parts = deque(in_turn(partial(_part, lexing), given, jobs))

    # The terms of all parts are a text themselves, in which each part has each of its terms once.
    spelled = np.concatenate([NOTHING, *(part.spelled for part in parts)])
    ends = np.flatnonzero(spelled == LINE_FEED)
    starts = np.concatenate([[0], ends + 1])[:-1]
    lengths = (ends - starts).astype(np.int32)
    terms, first = intern(spelled, starts, lengths, AS_IT_STANDS, _seed())
    own = np.split(terms, np.cumsum([len(part.occurrences) for part in parts])[:-1]) if parts else []
    dropped = sum(part.dropped for part in parts)
    occurrences, in_documents = np.zeros((2, len(first)), dtype=np.int64)
    for part, numbers in zip(parts, own, strict=True):
        occurrences[numbers] += part.occurrences
        in_documents[numbers] += part.in_documents

    common = np.flatnonzero(pruning.keeps(occurrences, in_documents))
    written = spell(spelled, starts[first[common]], lengths[first[common]], AS_IT_STANDS)
    names = [term(name, lexing) for name in written.tobytes().decode().split("\n")[:-1]]
    stop = stop_words(lexing.stoplist)
    # No two terms are alike: the order of str, which is that of their bytes, is the only one.
    kept = [place for place in sorted(range(len(names)), key=names.__getitem__) if names[place] not in stop]
    columns = np.full(len(first), -1, dtype=np.int32)
    columns[common[kept]] = np.arange(len(kept), dtype=np.int32)
    let_go = ((parts.popleft().matrix, columns[numbers], len(kept)) for numbers in own)
    rows = in_turn(_arranged, let_go, jobs)
    matrix = sp.vstack([sp.csr_array((0, len(kept)), dtype=np.int32), *rows], format="csr")
    return Counts(documents, matrix, tuple(names[place] for place in kept), dropped)


def prune(corpus: CountedCorpus, lexing: Lexing, pruning: Pruning) -> Counts:
    """As `count`, of documents that have been counted: of `lexing`, its stop list alone has something to say."""
    matrix, counted = corpus.matrix, _counted(corpus.documents, pruning.group)
    occurrences = np.asarray(matrix[counted].sum(axis=0), dtype=np.int64).ravel()
    in_documents = np.bincount(matrix[counted].indices, minlength=matrix.shape[1])
    stop = stop_words(lexing.stoplist)
    common = np.flatnonzero(pruning.keeps(occurrences, in_documents) & (occurrences > 0))
    kept = [column for column in common if corpus.vocabulary[column] not in stop]
    chosen = sp.csr_array(matrix[:, kept])
    chosen.sort_indices()
    narrow = chosen.data, chosen.indices.astype(np.int32), chosen.indptr.astype(np.int32)  # few libraries take 64 bits
    chosen = sp.csr_array(narrow, shape=chosen.shape)
    return Counts(corpus.documents, chosen, tuple(corpus.vocabulary[column] for column in kept))


NOTHING = np.empty(0, dtype=np.uint8)
AS_IT_STANDS = np.arange(256, dtype=np.uint8)
#: Bytes of text that are counted at a time: the table of their terms stays in a core's own cache.
PART = 2**21


@dataclass(frozen=True)
class _Part:
    """The counts of consecutive documents over the terms that they have, in order of appearance.

    Parameters
    ----------
    matrix : CSR matrix of int32, shape (documents, terms)
    occurrences, in_documents : int64 array, shape (terms,)
        How often and in how many of the documents that pruning counts each term occurs.
    spelled : uint8 array
        The terms, a line feed after each.
    dropped : int
        As in `Spans`.
    """

    matrix: sp.csr_array
    occurrences: NDArray[np.int64]
    in_documents: NDArray[np.int64]
    spelled: NDArray[np.uint8]
    dropped: int


def _chunks(corpus: AnyCorpus, counted: NDArray[np.bool_]) -> Iterator[tuple[Chunk, NDArray[np.bool_]]]:
    """Documents, some at a time, and which of them pruning counts."""
    start = 0
    for text, bounds in corpus.chunks(PART):
        stop = start + len(bounds) - 1
        yield (text, bounds), counted[start:stop]
        start = stop


def _part(lexing: Lexing, given: tuple[Chunk, NDArray[np.bool_]]) -> _Part:
    (text, bounds), counted = given
    found = find_tokens(text, bounds, lexing)
    terms, first = intern(found.text, found.starts, found.lengths, found.spelling, _seed())
    pointers, indices, data, occurrences, in_documents = tally(terms, found.bounds, len(first), counted)
    matrix = sp.csr_array((data, indices, pointers), shape=(len(counted), len(first)))
    spelled = spell(found.text, found.starts[first], found.lengths[first], found.spelling)
    return _Part(matrix, occurrences, in_documents, spelled, found.dropped)


def _arranged(given: tuple[sp.csr_array, NDArray[np.int32], int]) -> sp.csr_array:
    """A part's rows of the whole matrix, from the column there of each term; it is -1 where none is kept."""
    matrix, columns, n_columns = given
    order = np.argsort(columns)[np.count_nonzero(columns < 0) :]
    chosen = matrix[:, order]
    chosen.sort_indices()
    indices = columns[order][chosen.indices]
    return sp.csr_array((chosen.data, indices, chosen.indptr), shape=(matrix.shape[0], n_columns))


def _seed() -> np.uint64:
    return np.uint64(secrets.randbits(64))


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
