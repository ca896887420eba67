"""Streams of terms: the n-grams of consecutive documents in order of occurrence, numbered and pruned level by level."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmark.system.numba_jit import compile_lazily
from benchmark.system.row_blocks import map_in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.text.lexer import Pruning

NO_TERM = np.int32(-1)
#: Base in which a pair of term numbers (int32) is encoded as one number: the first times this plus the second.
TERM_PAIR_BASE = np.int64(2**31)


@dataclass(frozen=True)
class TermStream:
    """Terms of consecutive documents in order of occurrence: n-grams of one length.

    Parameters
    ----------
    terms : int32 array, shape (t,)
        Number of the n-gram that begins at each token; -1 where none begins, as after each document's last token.
    bounds : int64 array, shape (documents + 1,)
        The tokens of document i, and the -1 after them, are ``bounds[i]:bounds[i + 1]``.
    counted : bool array, shape (documents,)
        Whether pruning counts the document.
    """

    terms: NDArray[np.int32]
    bounds: NDArray[np.int64]
    counted: NDArray[np.bool_]


class TermLevel(NamedTuple):
    """Terms of one length that a vocabulary has: what `order_terms` returns of them, and their streams."""

    names: list[str]
    columns: NDArray[np.int32]
    streams: Sequence[TermStream]


def beginnings(n: int, stream: TermStream, words: NDArray[np.int32]) -> NDArray[np.intp]:
    """Find the tokens at which an n-gram begins: an (n - 1)-gram begins there, and a word follows it."""
    last = words[n - 1 :]
    return np.flatnonzero((stream.terms[: len(last)] >= 0) & (last >= 0))


def pair_codes(n: int, arrays: tuple[TermStream, NDArray[np.int32]]) -> NDArray[np.int64]:
    """Encode the n-grams of some documents, as one number for the (n - 1)-gram and the last word."""
    stream, words = arrays
    here = beginnings(n, stream, words)
    return stream.terms[here] * TERM_PAIR_BASE + words[here + n - 1]


def longer_terms(
    n: int, streams: list[TermStream], words: list[NDArray[np.int32]], jobs: int
) -> tuple[list[TermStream], NDArray[np.int64]]:
    """Return the streams of n-grams and the code of each, from the streams of (n - 1)-grams and of words."""
    both = list(zip(streams, words, strict=True))
    numbers, codes = number_values(map_in_order(partial(pair_codes, n), both, jobs))
    longer = []
    for (stream, words_of), number in zip(both, numbers, strict=True):
        terms = np.full(len(stream.terms), NO_TERM)
        terms[beginnings(n, stream, words_of)] = number
        longer.append(replace(stream, terms=terms))
    return longer, codes


def number_values(parts: Iterable[NDArray[np.int64]]) -> tuple[list[NDArray[np.int32]], NDArray[np.int64]]:
    """Assign numbers to the distinct values in order of appearance; return the numbers by part, and the values."""
    factorized = list(map(pd.factorize, parts))
    codes, values = zip(*factorized, strict=True) if factorized else ((), ())
    whole, distinct = pd.factorize(np.concatenate([np.empty(0, dtype=np.int64), *values]))
    numbers = np.split(whole.astype(np.int32), np.cumsum([len(part) for part in values])[:-1])
    return [number[code] for code, number in zip(codes, numbers, strict=False)], distinct


def common_terms(streams: list[TermStream], n: int, pruning: Pruning) -> tuple[NDArray[np.intp], list[TermStream]]:
    """Return the terms, of n, that pruning keeps, and the streams with these renumbered from 0 and the others -1."""
    occurrences, in_documents = np.zeros((2, n), dtype=np.int64)
    latest = np.full(n, -1, dtype=np.int64)
    done = 0
    for stream in streams:
        add_term_frequencies(stream.terms, stream.bounds, stream.counted, done, occurrences, in_documents, latest)
        done += len(stream.counted)
    common = np.flatnonzero(pruning.keeps(occurrences, in_documents))
    new_number = np.full(n + 1, NO_TERM)  # the last value is that of -1, no term
    new_number[common] = np.arange(len(common), dtype=np.int32)
    for stream in streams:
        np.take(new_number, stream.terms, mode="wrap", out=stream.terms)
    return common, streams


def count_rows(
    columns: Sequence[NDArray[np.int32]], sizes: Sequence[int], streams: Sequence[TermStream]
) -> sp.csr_array:
    """Return some rows of the matrix, with the blocks side by side."""
    blocks = []
    for column_of, size, stream in zip(columns, sizes, streams, strict=True):
        terms = column_of[stream.terms]
        here = np.flatnonzero(terms >= 0)
        pointers, indices, data = count_sorted_terms(terms[here], np.searchsorted(here, stream.bounds))
        blocks.append(sp.csr_array((data, indices, pointers), shape=(len(stream.counted), size)))
    return sp.hstack(blocks, format="csr") if len(blocks) > 1 else blocks[0]


def order_terms(names: list[str], prefix: str, keep: Callable[[str], bool]) -> tuple[list[str], NDArray[np.int32]]:
    """Sort the names to keep; return them and the column of each term, -1 for none, and a last -1."""
    order = sorted((number for number, name in enumerate(names) if keep(name)), key=names.__getitem__)
    columns = np.full(len(names) + 1, NO_TERM)
    columns[order] = np.arange(len(order), dtype=np.int32)
    return [prefix + names[number] for number in order], columns


def ngram_terms(
    streams: list[TermStream],
    names: list[str],
    between: str,
    keep: Mapping[int, Callable[[str], bool]],
    prefix: str,
    pruning: Pruning,
    jobs: int,
) -> Iterator[TermLevel]:
    """Yield the terms of each length, from the streams and names of the words (or characters) that pruning keeps.

    An n-gram is built from an (n - 1)-gram and a word that pruning keeps, as neither is rarer than the n-gram.

    Parameters
    ----------
    streams : list of TermStream
    names : list of str
    between : str
        Joins the names of an n-gram's words.
    keep : mapping of int to callable
        Which n-grams are terms, by their names; n has the lengths to yield.
    prefix : str
        Begins the names of terms.
    pruning : Pruning
    jobs : int
    """
    words, spelled = [stream.terms for stream in streams], names
    for n in range(1, max(keep) + 1):
        if n > 1:
            streams, codes = longer_terms(n, streams, words, jobs)
            common, streams = common_terms(streams, len(codes), pruning)
            pairs = zip(*(half.tolist() for half in np.divmod(codes[common], TERM_PAIR_BASE)), strict=True)
            spelled = [f"{spelled[shorter]}{between}{names[last]}" for shorter, last in pairs]
        if n in keep:
            yield TermLevel(*order_terms(spelled, prefix, keep[n]), streams)


# --- Compiled loops over the terms of each document ---


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
