"""Turns a corpus into sparse counts over the vocabulary of its documents."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from itertools import count as numbers_from_zero
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmark.blocks import in_turn
from benchmark.corpora.corpus import batches, join
from benchmark.errors import ConfigError
from benchmark.text.counts import Counts
from benchmark.text.fields import field_of
from benchmark.text.lexer import ALL, find_tokens, term
from benchmark.text.stoplist import stop_words
from benchmark.text.tallying import add_up, spell, tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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

    The text is read once, some documents at a time, on `jobs` threads. How they are divided decides nothing. Terms
    stand field by field, words before pairs; those of another field than "all" are called "subject:word".

    Raises
    ------
    ConfigError
        Pruning names a group that the corpus doesn't have.
    DataError
        A document doesn't know a field.
    """
    documents = corpus.documents
    fields = [_Words() for _ in lexing.fields]
    for found in in_turn(partial(_words, lexing), _chunks(corpus, lexing, _counted(documents, pruning.group)), jobs):
        for own, words in zip(fields, found, strict=True):
            own.add(*words)
    dropped = fields[0].dropped
    # Each field's words are let go when its blocks are made: they are as large as the text.
    blocks = [
        block
        for name in lexing.fields
        for block in _blocks("" if name == ALL else f"{name}:", fields.pop(0), lexing, pruning, jobs)
    ]
    vocabularies, columns, streams = zip(*blocks, strict=True)
    sizes = [len(each) for each in vocabularies]
    rows = in_turn(partial(_rows, columns, sizes), zip(*streams, strict=True), jobs)
    matrix = sp.vstack([sp.csr_array((0, sum(sizes)), dtype=np.int32), *rows], format="csr")
    block_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return Counts(documents, matrix, tuple(chain(*vocabularies)), dropped, lexing.blocks, block_of)


def prune(corpus: CountedCorpus, lexing: Lexing, pruning: Pruning) -> Counts:
    """As `count`, of documents that have been counted: of `lexing`, its stop list alone has something to say.

    Raises
    ------
    ConfigError
        They were counted in other blocks than `lexing` says.
    """
    if corpus.blocks != tuple(name for name in lexing.blocks if name in corpus.blocks):  # one of no terms left no trace
        own, asked = ", ".join(corpus.blocks), ", ".join(lexing.blocks)
        raise ConfigError(f"text: the counts are of {own}, and the configuration asks for {asked}; mend `text`")
    matrix, counted = corpus.matrix, _counted(corpus.documents, pruning.group)
    occurrences = np.asarray(matrix[counted].sum(axis=0), dtype=np.int64).ravel()
    in_documents = np.bincount(matrix[counted].indices, minlength=matrix.shape[1])
    stop, vocabulary, block_of = stop_words(lexing.stoplist), corpus.vocabulary, corpus.block_of
    common = np.flatnonzero(pruning.keeps(occurrences, in_documents) & (occurrences > 0))
    words = (vocabulary[column].removeprefix(f"{corpus.blocks[block_of[column]]}:") for column in common)
    kept = [column for column, word in zip(common, words, strict=True) if word not in stop]
    chosen = sp.csr_array(matrix[:, kept])
    chosen.sort_indices()
    narrow = chosen.data, chosen.indices.astype(np.int32), chosen.indptr.astype(np.int32)  # few libraries take 64 bits
    chosen = sp.csr_array(narrow, shape=chosen.shape)
    left = tuple(vocabulary[column] for column in kept)
    place = np.array([lexing.blocks.index(name) for name in corpus.blocks], dtype=np.int32)
    return Counts(corpus.documents, chosen, left, 0, lexing.blocks, place[block_of[kept]])


NO_TERM = np.int32(-1)
#: More than an int32 can number: a pair of numbers is written as one, the first times this plus the second.
MOST_WORDS = np.int64(2**31)
#: Bytes of text that are counted at a time.
PART = 2**21


@dataclass(frozen=True)
class _Stream:
    """The terms of consecutive documents, n-grams of one length, as they follow each other.

    Parameters
    ----------
    terms : int32 array, shape (t,)
        The number of the n-gram that begins at each token; -1 where none does, as behind each document's last token.
    bounds : int64 array, shape (documents + 1,)
        The tokens of document i, and the place behind them, are ``bounds[i]:bounds[i + 1]``.
    counted : bool array, shape (documents,)
        Which documents pruning counts.
    """

    terms: NDArray[np.int32]
    bounds: NDArray[np.int64]
    counted: NDArray[np.bool_]


class _Words:
    """The words of a field, numbered in order of appearance, and the streams of their numbers.

    Attributes
    ----------
    numbers : dict of bytes to int
    streams : list of _Stream
    dropped : int
        As in `Spans`.
    """

    def __init__(self) -> None:
        self.numbers = defaultdict[bytes, int](numbers_from_zero().__next__)
        self.streams: list[_Stream] = []
        self.dropped = 0

    def add(self, words: list[bytes], bounds: NDArray[np.int64], counted: NDArray[np.bool_], dropped: int) -> None:
        """Number the words of the documents that follow; those of document i are ``bounds[i]:bounds[i + 1]``."""
        terms = np.fromiter(map(self.numbers.__getitem__, words), dtype=np.int32, count=len(words))
        ends = bounds + np.arange(len(bounds))
        self.streams.append(_Stream(np.insert(terms, bounds[1:], NO_TERM), ends, counted))
        self.dropped += dropped


def _chunks(
    corpus: AnyCorpus, lexing: Lexing, counted: NDArray[np.bool_]
) -> Iterator[tuple[Chunk | list[bytes], NDArray[np.bool_]]]:
    """Documents, some at a time, and which of them pruning counts; where fields are asked for, text by text."""
    start = 0
    if lexing.fields == (ALL,):
        for text, bounds in corpus.chunks(PART):
            stop = start + len(bounds) - 1
            yield (text, bounds), counted[start:stop]
            start = stop
        return
    for texts in batches(corpus, PART):
        yield texts, counted[start : start + len(texts)]
        start += len(texts)


def _words(lexing: Lexing, given: tuple[Chunk | list[bytes], NDArray[np.bool_]]) -> list[tuple[Any, ...]]:
    """Find the words of some documents, field by field; as `_Words.add` takes them."""
    texts, counted = given
    if isinstance(texts, tuple):
        return [_words_of(texts, lexing, counted)]
    each = ((name, join([field_of(text, name, lexing.format) for text in texts])) for name in lexing.fields)
    return [
        _words_of(chunk, lexing if name == ALL else replace(lexing, skip_header=False), counted) for name, chunk in each
    ]


def _words_of(
    chunk: Chunk, lexing: Lexing, counted: NDArray[np.bool_]
) -> tuple[list[bytes], NDArray[np.int64], NDArray[np.bool_], int]:
    found = find_tokens(*chunk, lexing)
    words = spell(found.text, found.starts, found.lengths, found.spelling).tobytes().split(b"\n")
    return words[:-1], found.bounds, counted, found.dropped


def _blocks(
    prefix: str, found: _Words, lexing: Lexing, pruning: Pruning, jobs: int
) -> Iterator[tuple[list[str], NDArray[np.int32], list[_Stream]]]:
    """The blocks of a field: names of their terms, columns by the terms' numbers, and the streams of these.

    An n-gram is a pair, an (n - 1)-gram and a word, of those that pruning keeps, as neither is rarer than the n-gram.
    """
    common, streams = _common(found.streams, len(found.numbers), pruning)
    spelled = list(found.numbers)
    names = words = [term(spelled[number].decode(), lexing) for number in common.tolist()]
    of_words = [stream.terms for stream in streams]
    if 1 in lexing.ngrams:
        yield *_ordered(words, prefix, stop_words(lexing.stoplist)), streams
    for n in range(2, max(lexing.ngrams) + 1):
        own, pairs = _numbered(list(in_turn(partial(_pairs, n), zip(streams, of_words, strict=True), jobs)))
        streams = [_longer(n, *each) for each in zip(streams, of_words, own, strict=True)]
        common, streams = _common(streams, len(pairs), pruning)
        shorter, last = (each.tolist() for each in np.divmod(pairs[common], MOST_WORDS))
        names = [f"{names[first]} {words[second]}" for first, second in zip(shorter, last, strict=True)]
        if n in lexing.ngrams:
            yield *_ordered(names, prefix), streams


def _beginnings(n: int, stream: _Stream, words: NDArray[np.int32]) -> NDArray[np.intp]:
    """The tokens at which an n-gram begins: an (n - 1)-gram does, and a word ends it."""
    behind = words[n - 1 :]
    return np.flatnonzero((stream.terms[: len(behind)] >= 0) & (behind >= 0))


def _pairs(n: int, given: tuple[_Stream, NDArray[np.int32]]) -> NDArray[np.int64]:
    """The n-grams of some documents, each as its (n - 1)-gram and its last word in one number."""
    stream, words = given
    here = _beginnings(n, stream, words)
    return stream.terms[here] * MOST_WORDS + words[here + n - 1]


def _longer(n: int, stream: _Stream, words: NDArray[np.int32], own: NDArray[np.int32]) -> _Stream:
    """The stream of n-grams, given those of (n - 1)-grams and of words and the numbers of the n-grams."""
    terms = np.full(len(words), NO_TERM)
    terms[_beginnings(n, stream, words)] = own
    return replace(stream, terms=terms)


def _numbered(parts: list[NDArray[np.int64]]) -> tuple[list[NDArray[np.int32]], NDArray[np.int64]]:
    """The number of each value, part by part, and each value once, in order of appearance."""
    own, values = zip(*map(pd.factorize, parts), strict=True) if parts else ((), ())
    whole, distinct = pd.factorize(np.concatenate([np.empty(0, dtype=np.int64), *values]))
    among = np.split(whole.astype(np.int32), np.cumsum([len(each) for each in values])[:-1])
    return [numbers[each] for each, numbers in zip(own, among, strict=False)], distinct


def _common(streams: list[_Stream], n: int, pruning: Pruning) -> tuple[NDArray[np.intp], list[_Stream]]:
    """Which of n terms pruning keeps; the streams' terms are numbered anew, 0 to their number, -1 where they go."""
    occurrences, in_documents = np.zeros((2, n), dtype=np.int64)
    latest = np.full(n, -1, dtype=np.int64)
    done = 0
    for stream in streams:
        add_up(stream.terms, stream.bounds, stream.counted, done, occurrences, in_documents, latest)
        done += len(stream.counted)
    common = np.flatnonzero(pruning.keeps(occurrences, in_documents))
    place = np.full(n + 1, NO_TERM)  # -1, no term, takes what stands last
    place[common] = np.arange(len(common), dtype=np.int32)
    for stream in streams:
        np.take(place, stream.terms, mode="wrap", out=stream.terms)
    return common, streams


def _ordered(names: list[str], prefix: str, stop: frozenset[str] = frozenset()) -> tuple[list[str], NDArray[np.int32]]:
    """The names of terms that are no stop words, in their order; and the column of each term, and last of none, -1."""
    order = sorted((number for number, name in enumerate(names) if name not in stop), key=names.__getitem__)
    columns = np.full(len(names) + 1, NO_TERM)
    columns[order] = np.arange(len(order), dtype=np.int32)
    return [prefix + names[number] for number in order], columns


def _rows(columns: Sequence[NDArray[np.int32]], sizes: Sequence[int], streams: Sequence[_Stream]) -> sp.csr_array:
    """Some rows of the whole matrix, block beside block."""
    blocks = []
    for places, size, stream in zip(columns, sizes, streams, strict=True):
        found = places[stream.terms]
        here = np.flatnonzero(found >= 0)
        pointers, indices, data = tally(found[here], np.searchsorted(here, stream.bounds))
        blocks.append(sp.csr_array((data, indices, pointers), shape=(len(stream.counted), size)))
    return sp.hstack(blocks, format="csr") if len(blocks) > 1 else blocks[0]


def _counted(documents: Documents, group: str | None) -> NDArray[np.bool_]:
    """Tell whose terms pruning counts."""
    if group is None:
        return np.ones(len(documents), dtype=np.bool_)
    if group not in documents.group_names:
        raise ConfigError(f"pruning: there is no group {group!r}; the groups are {', '.join(documents.group_names)}")
    counted: NDArray[np.bool_] = documents.groups == documents.group_names.index(group)
    return counted
