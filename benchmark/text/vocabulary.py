"""Turns a corpus into sparse counts over the vocabulary of its documents."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.blocks import in_turn
from benchmark.corpora.corpus import batches, join
from benchmark.errors import ConfigError
from benchmark.text.counts import Counts
from benchmark.text.fields import field_of
from benchmark.text.interning import AS_IT_STANDS, beginnings, how_often, intern, intern_pairs, seed, spell, tally
from benchmark.text.lexer import ALL, LINE_FEED, find_tokens, term
from benchmark.text.stoplist import stop_words

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
    given = _chunks(corpus, lexing, _counted(documents, pruning.group))
    found = zip(*in_turn(partial(_parts, lexing), given, jobs), strict=True)
    parts = deque(map(list[_Part], found)) or deque([[] for _ in lexing.fields])
    dropped = sum(part.dropped for part in parts[0])
    blocks = [block for name in lexing.fields for block in _blocks(name, parts.popleft(), lexing, pruning, jobs)]
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


NOTHING = np.empty(0, dtype=np.uint8)
NO_TERM, NO_PAIR = np.int32(-1), np.empty((0, 2), dtype=np.int32)
#: Bytes of text that are counted at a time: the table of their terms stays in a core's own cache.
PART = 2**21
#: Parts whose words are numbered at a time.
GROUP = 16


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


@dataclass(frozen=True)
class _Part:
    """A stream whose terms are numbered in order of appearance.

    Parameters
    ----------
    stream : _Stream
    occurrences, in_documents : int32 array, shape (terms,)
        How often and in how many of the documents that pruning counts each term occurs.
    written : uint8 array, or int32 array of shape (terms, 2)
        The words, a line feed after each; of longer n-grams the number of the (n - 1)-gram and that of the last word.
    dropped : int
        As in `Spans`.
    """

    stream: _Stream
    occurrences: NDArray[np.int32]
    in_documents: NDArray[np.int32]
    written: NDArray[Any]
    dropped: int = 0


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


def _parts(lexing: Lexing, given: tuple[Chunk | list[bytes], NDArray[np.bool_]]) -> list[_Part]:
    """Some documents, field by field."""
    texts, counted = given
    if isinstance(texts, tuple):
        return [_part(texts, lexing, counted)]
    each = ((name, join([field_of(text, name, lexing.format) for text in texts])) for name in lexing.fields)
    return [
        _part(chunk, lexing if name == ALL else replace(lexing, skip_header=False), counted) for name, chunk in each
    ]


def _part(chunk: Chunk, lexing: Lexing, counted: NDArray[np.bool_]) -> _Part:
    found = find_tokens(*chunk, lexing)
    terms, first = intern(found.text, found.starts, found.lengths, found.spelling, seed())
    spelled = spell(found.text, found.starts[first], found.lengths[first], found.spelling)
    ends = found.bounds + np.arange(len(found.bounds))
    stream = _Stream(np.insert(terms, found.bounds[1:], NO_TERM), ends, counted)
    return _Part(stream, *_how_often(terms, found.bounds, len(first), counted), spelled, found.dropped)


def _blocks(
    field: str, parts: list[_Part], lexing: Lexing, pruning: Pruning, jobs: int
) -> Iterator[tuple[list[str], NDArray[np.int32], list[_Stream]]]:
    """The blocks of a field: names of their terms, columns by the terms' numbers, and the streams of these; uses parts.

    An n-gram is a pair, an (n - 1)-gram and a word, of those that pruning keeps, as neither is rarer than the n-gram.
    """
    prefix = "" if field == ALL else f"{field}:"
    words, streams = _words(parts, lexing, pruning, jobs)
    names, of_words = words, [stream.terms for stream in streams]
    if 1 in lexing.ngrams:
        yield *_ordered(words, prefix, stop_words(lexing.stoplist)), streams
    for n in range(2, max(lexing.ngrams) + 1):
        parts = list(in_turn(partial(_longer, n), zip(streams, of_words, strict=True), jobs))
        common, streams = _pairs(parts, pruning)
        names = [f"{names[shorter]} {words[last]}" for shorter, last in zip(*common.T.tolist(), strict=True)]
        if n in lexing.ngrams:
            yield *_ordered(names, prefix), streams


def _longer(n: int, given: tuple[_Stream, NDArray[np.int32]]) -> _Part:
    """The n-grams of some documents, from their (n - 1)-grams and their words."""
    shorter, words = given
    behind = words[n - 1 :]
    here = np.flatnonzero((shorter.terms[: len(behind)] >= 0) & (behind >= 0))
    pairs = np.stack([shorter.terms[here], behind[here]], axis=1)
    terms, first = intern_pairs(pairs, seed())
    stream = replace(shorter, terms=np.full(len(words), NO_TERM))
    stream.terms[here] = terms
    return _Part(
        stream, *_how_often(terms, np.searchsorted(here, shorter.bounds), len(first), shorter.counted), pairs[first]
    )


def _how_often(
    terms: NDArray[np.int32], bounds: NDArray[np.int64], n_terms: int, counted: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    occurrences, in_documents = how_often(terms, bounds, n_terms, counted)
    return occurrences.astype(np.int32), in_documents.astype(np.int32)


def _words(parts: list[_Part], lexing: Lexing, pruning: Pruning, jobs: int) -> tuple[list[str], list[_Stream]]:
    """The names of the words that pruning keeps, and the streams of these alone; the parts are used up."""
    written = [part.written for part in parts]
    # Some parts at a time, side by side, so that one core has to number no more than what these have in common.
    groups = list(in_turn(_numbered, [written[i : i + GROUP] for i in range(0, len(written), GROUP)], jobs))
    whole, spelled = _numbered([spelled for _, spelled in groups])
    terms = [numbers[own] for numbers, (each, _) in zip(whole, groups, strict=True) for own in each]
    common, streams = _common(parts, terms, int(np.count_nonzero(spelled == LINE_FEED)), pruning)
    names = spelled.tobytes().decode().split("\n")
    kept = [names[number] for number in common.tolist()]
    # Half a million calls for words, which stay as they are, would take a tenth of a second.
    return [term(name, lexing) if name[0] == "#" else name for name in kept], streams


def _numbered(written: list[NDArray[np.uint8]]) -> tuple[list[NDArray[np.int32]], NDArray[np.uint8]]:
    """The number of each of several texts' words, text by text, and each word once; a line feed follows each word."""
    spelled = np.concatenate([NOTHING, *written])
    ends = np.flatnonzero(spelled == LINE_FEED)
    starts = np.concatenate([[0], ends + 1])[:-1]
    lengths = (ends - starts).astype(np.int32)
    terms, first = intern(spelled, starts, lengths, AS_IT_STANDS, seed())
    last = np.cumsum([len(each) for each in written])
    own = np.split(terms, np.searchsorted(ends, last[:-1])) if written else []
    return own, spell(spelled, starts[first], lengths[first], AS_IT_STANDS)


def _pairs(parts: list[_Part], pruning: Pruning) -> tuple[NDArray[np.int32], list[_Stream]]:
    """The pairs that pruning keeps, shape (k, 2), and the streams of these alone; the parts are used up."""
    pairs = np.concatenate([NO_PAIR, *(part.written for part in parts)])
    terms, first = intern_pairs(pairs, seed())
    own = np.split(terms, np.cumsum([len(part.occurrences) for part in parts])[:-1]) if parts else []
    common, streams = _common(parts, own, len(first), pruning)
    return pairs[first[common]], streams


def _common(
    parts: list[_Part], own: list[NDArray[np.int32]], n: int, pruning: Pruning
) -> tuple[NDArray[np.intp], list[_Stream]]:
    """Which of n terms pruning keeps, and the parts' streams of these alone, numbered from 0 in all of them alike.

    Parameters
    ----------
    parts : list of _Part
        Used up.
    own : list of int32 arrays
        The number of each part's terms among all n.
    """
    occurrences, in_documents = np.zeros((2, n), dtype=np.int64)
    for part, numbers in zip(parts, own, strict=True):
        occurrences[numbers] += part.occurrences
        in_documents[numbers] += part.in_documents
    common = np.flatnonzero(pruning.keeps(occurrences, in_documents))
    place = np.full(n, NO_TERM)
    place[common] = np.arange(len(common), dtype=np.int32)
    streams = [part.stream for part in parts]
    parts.clear()
    for stream, numbers in zip(streams, own, strict=True):  # their own -1 takes what stands last
        np.take(np.append(place[numbers], NO_TERM), stream.terms, mode="wrap", out=stream.terms)
    return common, streams


def _ordered(names: list[str], prefix: str, stop: frozenset[str] = frozenset()) -> tuple[list[str], NDArray[np.int32]]:
    """The names of terms that are no stop words, in their order; and the column of each term, and last of none, -1."""
    order = alphabetical(names)
    kept = [number for number in order if names[number] not in stop] if stop else order
    columns = np.full(len(names) + 1, NO_TERM)
    columns[kept] = np.arange(len(kept), dtype=np.int32)
    return [prefix + names[number] if prefix else names[number] for number in kept], columns


def alphabetical(names: list[str]) -> list[int]:
    """The numbers of names of which no two are alike, in the order of str, which is that of their bytes.

    They are put in order by their first eight bytes as one number, and only those that have these in common as text.
    """
    heads = beginnings(np.frombuffer("\n".join([*names, ""]).encode(), dtype=np.uint8), len(names))
    order = np.argsort(heads)
    ordered = heads[order]
    shared = np.flatnonzero(np.diff(ordered[1:] == ordered[:-1], prepend=False, append=False))
    found: list[int] = order.tolist()
    for first, last in shared.reshape(-1, 2).tolist():
        found[first : last + 1] = sorted(found[first : last + 1], key=names.__getitem__)
    return found


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
