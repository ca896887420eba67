"""Counting: from a corpus to sparse term counts over its vocabulary."""

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

from benchmark.corpora.corpus import batch_texts, concatenate_texts
from benchmark.system.errors import ConfigError
from benchmark.system.row_blocks import map_in_order
from benchmark.text.counting_loops import add_term_frequencies, count_sorted_terms, spell_tokens
from benchmark.text.counts import Counts
from benchmark.text.fields import field_of
from benchmark.text.lexer import WHOLE_DOCUMENT, find_tokens, term_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.corpora.corpus import AnyCorpus, Documents, TextChunk
    from benchmark.corpora.user.counts_folder import CountsCorpus
    from benchmark.text.lexer import Lexing


#: Name in place of a group: each split counts its own training documents.
TRAINING = "training"


@dataclass(frozen=True)
class Pruning:
    """Minimum frequency of terms in the vocabulary; the default keeps every term.

    Parameters
    ----------
    min_occurrences : int
        Keep terms that occur at least this often in the collection (Rainbow's ``--prune-vocab-by-occur-count``).
    min_documents : int
        Keep terms that occur in at least this many documents. Rainbow's ``--prune-vocab-by-doc-count=N`` drops
        words in N *or fewer* documents, which is ``min_documents = N + 1``.
    group : str, optional
        Count only the documents of this group, such as the training documents; a term that doesn't occur there is
        dropped. All documents by default. With "training", each split counts its own training documents, and what is
        counted here are all documents: no term that a split keeps is rarer in them.
    """

    min_occurrences: int = 1
    min_documents: int = 1
    group: str | None = None

    def __post_init__(self) -> None:
        """Raise ConfigError for numbers below one."""
        for field, value in (("min_occurrences", self.min_occurrences), ("min_documents", self.min_documents)):
            if value < 1:
                raise ConfigError(f"pruning: {field} is {value}; it must be at least 1 (1 prunes nothing)")

    @property
    def by_split(self) -> bool:
        """True if each split prunes again, by the counts in its training documents."""
        return self.group == TRAINING

    def keeps(self, occurrences: NDArray[np.int64], documents: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which terms are kept, from their numbers of occurrences and documents, both of shape (n_terms,)."""
        return (occurrences >= self.min_occurrences) & (documents >= self.min_documents)


def count_terms(corpus: AnyCorpus, lexing: Lexing, pruning: Pruning, jobs: int = 1) -> Counts:
    """Count the terms of each document; a document without terms is a row of zeros.

    The text is read once, in chunks of documents, on `jobs` threads; the division into chunks doesn't affect the
    result. Terms are ordered field by field, words before pairs. Terms of fields other than "all" have the field as a
    prefix: "subject:word".

    Raises
    ------
    ConfigError
        If pruning names a group that the corpus doesn't have.
    DataError
        If a document has no field of a name.
    """
    documents = corpus.documents
    fields = [_Words() for _ in lexing.fields]
    for chunk in map_in_order(
        partial(_words, lexing), _chunks(corpus, lexing, _counted(documents, pruning.group)), jobs
    ):
        for field, words in zip(fields, chunk, strict=True):
            field.add(*words)
    dropped = fields[0].dropped
    # A field's words are freed when its blocks are built, as they are as large as the text.
    blocks = [
        block
        for name in lexing.fields
        for block in _blocks("" if name == WHOLE_DOCUMENT else f"{name}:", fields.pop(0), lexing, pruning, jobs)
    ]
    vocabularies, columns, streams = zip(*blocks, strict=True)
    sizes = [len(names) for names in vocabularies]
    rows = map_in_order(partial(_rows, columns, sizes), zip(*streams, strict=True), jobs)
    matrix = sp.vstack([sp.csr_array((0, sum(sizes)), dtype=np.int32), *rows], format="csr")
    block_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return Counts(documents, matrix, tuple(chain(*vocabularies)), dropped, lexing.blocks, block_of)


def prune_counts(corpus: CountsCorpus, lexing: Lexing, pruning: Pruning) -> Counts:
    """Prune a corpus that is already counted, as `count_terms` does; of `lexing`, only the stop list is applied.

    Raises
    ------
    ConfigError
        If the blocks of the counts are not those of `lexing`.
    """
    if corpus.blocks != tuple(name for name in lexing.blocks if name in corpus.blocks):  # a block may have no terms
        counted_blocks, asked = ", ".join(corpus.blocks), ", ".join(lexing.blocks)
        raise ConfigError(
            f"text: the counts are of {counted_blocks}, and the configuration asks for {asked}; change `text`"
        )
    matrix, counted = corpus.matrix, _counted(corpus.documents, pruning.group)
    occurrences = np.asarray(matrix[counted].sum(axis=0), dtype=np.int64).ravel()
    in_documents = np.bincount(matrix[counted].indices, minlength=matrix.shape[1])
    stop, vocabulary, block_of = lexing.left_out, corpus.vocabulary, corpus.block_of
    common = np.flatnonzero(pruning.keeps(occurrences, in_documents) & (occurrences > 0))
    words = (vocabulary[column].removeprefix(f"{corpus.blocks[block_of[column]]}:") for column in common)
    kept = [column for column, word in zip(common, words, strict=True) if word not in stop]
    chosen = sp.csr_array(matrix[:, kept])
    chosen.sort_indices()
    # Few libraries accept 64-bit indices.
    narrow = chosen.data, chosen.indices.astype(np.int32), chosen.indptr.astype(np.int32)
    chosen = sp.csr_array(narrow, shape=chosen.shape)
    terms = tuple(vocabulary[column] for column in kept)
    place = np.array([lexing.blocks.index(name) for name in corpus.blocks], dtype=np.int32)
    return Counts(corpus.documents, chosen, terms, 0, lexing.blocks, place[block_of[kept]])


NO_TERM = np.int32(-1)
#: Base in which a pair of term numbers (int32) is encoded as one number: the first times this plus the second.
TERM_PAIR_BASE = np.int64(2**31)
#: Size of a chunk of documents in bytes.
CHUNK_BYTES = 2**21


@dataclass(frozen=True)
class _Stream:
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


class _Words:
    """Words of a field, numbered in order of appearance, and the streams of their numbers.

    Attributes
    ----------
    numbers : dict of bytes to int
        Number of each word.
    streams : list of _Stream
    dropped : int
        Number of ignored letters, as in `Spans`.
    """

    def __init__(self) -> None:
        self.numbers = defaultdict[bytes, int](numbers_from_zero().__next__)
        self.streams: list[_Stream] = []
        self.dropped = 0

    def add(self, words: list[bytes], bounds: NDArray[np.int64], counted: NDArray[np.bool_], dropped: int) -> None:
        """Assign numbers to the words of the next documents; those of document i are ``bounds[i]:bounds[i + 1]``."""
        terms = np.fromiter(map(self.numbers.__getitem__, words), dtype=np.int32, count=len(words))
        ends = bounds + np.arange(len(bounds))
        self.streams.append(_Stream(np.insert(terms, bounds[1:], NO_TERM), ends, counted))
        self.dropped += dropped


def _chunks(
    corpus: AnyCorpus, lexing: Lexing, counted: NDArray[np.bool_]
) -> Iterator[tuple[TextChunk | list[bytes], NDArray[np.bool_]]]:
    """Yield chunks of documents and whether pruning counts them; with several fields, as a list of texts."""
    start = 0
    if lexing.fields == (WHOLE_DOCUMENT,):
        for text, bounds in corpus.chunks(CHUNK_BYTES):
            stop = start + len(bounds) - 1
            yield (text, bounds), counted[start:stop]
            start = stop
        return
    for texts in batch_texts(corpus, CHUNK_BYTES):
        yield texts, counted[start : start + len(texts)]
        start += len(texts)


def _words(lexing: Lexing, documents: tuple[TextChunk | list[bytes], NDArray[np.bool_]]) -> list[tuple[Any, ...]]:
    """Find the words of a chunk of documents, field by field; return the arguments of `_Words.add`."""
    texts, counted = documents
    if isinstance(texts, tuple):
        return [_words_of(texts, lexing, counted)]
    chunks = (
        (name, concatenate_texts([field_of(text, name, lexing.format) for text in texts])) for name in lexing.fields
    )
    return [
        _words_of(chunk, lexing if name == WHOLE_DOCUMENT else replace(lexing, skip_header=False), counted)
        for name, chunk in chunks
    ]


def _words_of(
    chunk: TextChunk, lexing: Lexing, counted: NDArray[np.bool_]
) -> tuple[list[bytes], NDArray[np.int64], NDArray[np.bool_], int]:
    spans = find_tokens(*chunk, lexing)
    words = spell_tokens(spans.text, spans.starts, spans.lengths, spans.spelling).tobytes().split(b"\n")
    return words[:-1], spans.bounds, counted, spans.dropped


def _blocks(
    prefix: str, field: _Words, lexing: Lexing, pruning: Pruning, jobs: int
) -> Iterator[tuple[list[str], NDArray[np.int32], list[_Stream]]]:
    """Yield the blocks of a field: the terms' names, the columns of the terms' numbers, and the streams of numbers.

    An n-gram is built from an (n - 1)-gram and a word that pruning keeps, as neither is rarer than the n-gram.
    """
    common, streams = _common(field.streams, len(field.numbers), pruning)
    spelled = list(field.numbers)
    names = words = [term_name(spelled[number].decode(), lexing) for number in common.tolist()]
    of_words = [stream.terms for stream in streams]
    if 1 in lexing.ngrams:
        yield *_ordered(words, prefix, lexing.left_out), streams
    for n in range(2, max(lexing.ngrams) + 1):
        numbers, pairs = _numbered(list(map_in_order(partial(_pairs, n), zip(streams, of_words, strict=True), jobs)))
        streams = [_longer(n, *arrays) for arrays in zip(streams, of_words, numbers, strict=True)]
        common, streams = _common(streams, len(pairs), pruning)
        shorter, last = (part.tolist() for part in np.divmod(pairs[common], TERM_PAIR_BASE))
        names = [f"{names[first]} {words[second]}" for first, second in zip(shorter, last, strict=True)]
        if n in lexing.ngrams:
            yield *_ordered(names, prefix), streams


def _beginnings(n: int, stream: _Stream, words: NDArray[np.int32]) -> NDArray[np.intp]:
    """Find the tokens at which an n-gram begins: an (n - 1)-gram begins there, and a word follows it."""
    last = words[n - 1 :]
    return np.flatnonzero((stream.terms[: len(last)] >= 0) & (last >= 0))


def _pairs(n: int, arrays: tuple[_Stream, NDArray[np.int32]]) -> NDArray[np.int64]:
    """Encode the n-grams of some documents, as one number for the (n - 1)-gram and the last word."""
    stream, words = arrays
    here = _beginnings(n, stream, words)
    return stream.terms[here] * TERM_PAIR_BASE + words[here + n - 1]


def _longer(n: int, stream: _Stream, words: NDArray[np.int32], numbers: NDArray[np.int32]) -> _Stream:
    """Return the stream of n-grams, from the streams of (n - 1)-grams and words and the numbers of the n-grams."""
    terms = np.full(len(words), NO_TERM)
    terms[_beginnings(n, stream, words)] = numbers
    return replace(stream, terms=terms)


def _numbered(parts: list[NDArray[np.int64]]) -> tuple[list[NDArray[np.int32]], NDArray[np.int64]]:
    """Assign numbers to the distinct values in order of appearance; return the numbers by part, and the values."""
    codes, values = zip(*map(pd.factorize, parts), strict=True) if parts else ((), ())
    whole, distinct = pd.factorize(np.concatenate([np.empty(0, dtype=np.int64), *values]))
    numbers = np.split(whole.astype(np.int32), np.cumsum([len(part) for part in values])[:-1])
    return [number[code] for code, number in zip(codes, numbers, strict=False)], distinct


def _common(streams: list[_Stream], n: int, pruning: Pruning) -> tuple[NDArray[np.intp], list[_Stream]]:
    """Return the terms, of n, that pruning keeps, and the streams with these renumbered from 0 and the others -1."""
    occurrences, in_documents = np.zeros((2, n), dtype=np.int64)
    latest = np.full(n, -1, dtype=np.int64)
    done = 0
    for stream in streams:
        add_term_frequencies(stream.terms, stream.bounds, stream.counted, done, occurrences, in_documents, latest)
        done += len(stream.counted)
    common = np.flatnonzero(pruning.keeps(occurrences, in_documents))
    place = np.full(n + 1, NO_TERM)  # the last value is that of -1, no term
    place[common] = np.arange(len(common), dtype=np.int32)
    for stream in streams:
        np.take(place, stream.terms, mode="wrap", out=stream.terms)
    return common, streams


def _ordered(names: list[str], prefix: str, stop: frozenset[str] = frozenset()) -> tuple[list[str], NDArray[np.int32]]:
    """Sort the names without stop words; return them and the column of each term, -1 for none, and a last -1."""
    order = sorted((number for number, name in enumerate(names) if name not in stop), key=names.__getitem__)
    columns = np.full(len(names) + 1, NO_TERM)
    columns[order] = np.arange(len(order), dtype=np.int32)
    return [prefix + names[number] for number in order], columns


def _rows(columns: Sequence[NDArray[np.int32]], sizes: Sequence[int], streams: Sequence[_Stream]) -> sp.csr_array:
    """Return some rows of the matrix, with the blocks side by side."""
    blocks = []
    for column_of, size, stream in zip(columns, sizes, streams, strict=True):
        terms = column_of[stream.terms]
        here = np.flatnonzero(terms >= 0)
        pointers, indices, data = count_sorted_terms(terms[here], np.searchsorted(here, stream.bounds))
        blocks.append(sp.csr_array((data, indices, pointers), shape=(len(stream.counted), size)))
    return sp.hstack(blocks, format="csr") if len(blocks) > 1 else blocks[0]


def _counted(documents: Documents, group: str | None) -> NDArray[np.bool_]:
    """Return whether pruning counts each document, shape (n,); ConfigError for an unknown group."""
    if group is None or group == TRAINING:
        return np.ones(len(documents), dtype=np.bool_)
    if group not in documents.part_names:
        raise ConfigError(f"pruning: there is no group {group!r}; the groups are {', '.join(documents.part_names)}")
    counted: NDArray[np.bool_] = documents.parts == documents.part_names.index(group)
    return counted
