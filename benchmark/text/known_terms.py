"""Counting the terms of a known vocabulary, as a trained model does: no other term is named, sorted or kept."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmark.corpora.corpus import batch_texts, concatenate_texts
from benchmark.text.characters import MAX_PACKED, pack_characters, packed_characters
from benchmark.text.lexer import WHOLE_DOCUMENT, spelling_of_name
from benchmark.text.streams import (
    NO_TERM,
    TERM_PAIR_BASE,
    TermStream,
    beginnings,
    count_rows,
    pair_codes,
    place_terms,
)
from benchmark.text.vocabulary import CHUNK_BYTES, FoundWords, find_words, word_stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.text.lexer import Lexing


class _Level(NamedTuple):
    """N-grams of one length that are terms, or that terms begin with.

    `codes` are those of `pack_characters` and `pair_codes`; the number of an n-gram is the place of its code. `columns`
    has the column of each in the vocabulary, or -1.
    """

    codes: pd.Index[int]
    columns: NDArray[np.int32]

    def numbers(self, codes: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the number of each code; -1 for one that isn't known."""
        found: NDArray[np.int32] = self.codes.get_indexer(pd.Index(codes)).astype(np.int32)
        return found


class _Field(NamedTuple):
    """What is known of a field: its words by their spelling, and the levels of n-grams of words and of characters."""

    words: dict[bytes, int]
    of_words: list[_Level]
    of_characters: list[_Level]


class KnownTerms:
    """Vocabulary whose terms are counted in texts.

    Parameters
    ----------
    lexing : Lexing
        How texts are split into terms.
    vocabulary : sequence of str, length V
        Terms as `count_terms` names them by this lexing, each once.
    """

    def __init__(self, lexing: Lexing, vocabulary: Sequence[str]) -> None:
        self.lexing, self.n_terms = lexing, len(vocabulary)
        self.fields = [_known_field(place, lexing, vocabulary) for place in range(len(lexing.fields))]
        levels = [level for field in self.fields for level in (*field.of_words, *field.of_characters)]
        self.place = np.concatenate([level.columns for level in levels] or [np.empty(0, dtype=np.int32)])
        self.sizes = [len(level.columns) for level in levels]
        # Of each n-gram its number if it is a term; the last value is that of -1, no n-gram.
        self.own = [
            np.append(np.where(level.columns >= 0, np.arange(len(level.columns)), -1), -1).astype(np.int32)
            for level in levels
        ]

    def count(self, texts: Sequence[bytes]) -> sp.csr_array:
        """Count the terms in each of m texts, shape (m, V).

        Raises
        ------
        DataError
            If a text doesn't have a field, see `benchmark.text.fields.field_of`.
        """
        rows = [self._count(batch) for batch in batch_texts(texts, CHUNK_BYTES)]
        return sp.vstack([sp.csr_array((0, self.n_terms), dtype=np.int32), *rows], format="csr")

    def _count(self, texts: list[bytes]) -> sp.csr_array:
        counted = np.ones(len(texts), dtype=np.bool_)
        whole = self.lexing.fields == (WHOLE_DOCUMENT,)
        found = find_words(self.lexing, (concatenate_texts(texts) if whole else texts, counted))
        streams = [
            stream
            for field, own in zip(self.fields, found, strict=True)
            for stream in _streams(field, own, self.lexing)
        ]
        matrix = count_rows(self.own, self.sizes, streams)
        placed = matrix.data, self.place[matrix.indices], matrix.indptr
        counts = sp.csr_array(placed, shape=(len(texts), self.n_terms))
        counts.sort_indices()
        return counts


def _streams(field: _Field, found: FoundWords, lexing: Lexing) -> Iterator[TermStream]:
    """Yield the numbers of the known n-grams of some documents, level by level."""
    if field.of_words:
        words = word_stream(np.fromiter(map(field.words.get, found.words, repeat(-1)), np.int32), found)
        yield from _longer_streams(1, words, words.terms, field.of_words)
    characters = found.characters
    if field.of_characters and characters is not None:
        codes, first = characters.terms, min(lexing.characters[0], MAX_PACKED)
        here, packed = packed_characters(first, codes)
        shortest = place_terms(characters, here, field.of_characters[0].numbers(packed))
        yield from _longer_streams(first, shortest, codes, field.of_characters)


def _longer_streams(
    first: int, stream: TermStream, units: NDArray[np.int32], levels: Sequence[_Level]
) -> Iterator[TermStream]:
    yield stream
    for n, level in enumerate(levels[1:], start=first + 1):
        numbers = level.numbers(pair_codes(n, (stream, units)))
        stream = place_terms(stream, beginnings(n, stream, units), numbers)
        yield stream


def _known_field(place: int, lexing: Lexing, vocabulary: Sequence[str]) -> _Field:
    """Return what a vocabulary has of a field.

    A field's name, or that of the block of characters, stands with a colon before each of its terms.
    """
    name, first = lexing.fields[place], lexing.blocks_of_field * place
    of_words = _columns_of("" if name == WHOLE_DOCUMENT else name, lexing, vocabulary) if lexing.ngrams else {}
    of_characters = (
        _columns_of(lexing.blocks[first + len(lexing.ngrams)], lexing, vocabulary) if lexing.characters else {}
    )
    words: dict[bytes, int] = {}
    split = [
        [words.setdefault(spelling_of_name(word, lexing).encode(), len(words)) for word in term.split(" ")]
        for term in of_words
    ]
    lengths = np.fromiter(map(len, split), np.intp, len(split))
    units = np.zeros((len(split), lengths.max(initial=1)), dtype=np.int64)
    units[np.arange(units.shape[1]) < lengths[:, None]] = list(chain(*split))
    return _Field(
        words,
        _levels(1, units, lengths, list(of_words.values()), first=np.arange(len(words))),
        _character_levels(lexing, of_characters),
    )


def _columns_of(block: str, lexing: Lexing, vocabulary: Sequence[str]) -> dict[str, int]:
    """Return the terms before which this block stands, without it, and the column of each; "" is no block."""
    names, columns = {*lexing.fields, *lexing.blocks}, dict[str, int]()
    for column, term in enumerate(vocabulary):
        name, _, rest = term.partition(":")
        known = name in names and rest != ""
        if (name if known else "") == block:
            columns[rest if known else term] = column
    return columns


def _character_levels(lexing: Lexing, terms: dict[str, int]) -> list[_Level]:
    if not terms:
        return []
    lengths = np.fromiter(map(len, terms), np.intp, len(terms))
    names = np.array(list(terms), dtype=f"<U{lengths.max()}")
    units = names.view("<u4").reshape(len(terms), -1).astype(np.int64)
    shortest = min(lexing.characters[0], MAX_PACKED)
    packed = pack_characters([units[:, place] for place in range(shortest)])
    return _levels(shortest, np.column_stack([packed, units[:, shortest:]]), lengths, list(terms.values()))


def _levels(
    n: int,
    units: NDArray[np.int64],
    lengths: NDArray[np.intp],
    columns: list[int],
    first: NDArray[np.int64] | None = None,
) -> list[_Level]:
    """Return the levels of terms, from the code of the first `n` units of each and the units that follow.

    `first` are the codes of the first level, where more are known than terms begin with.
    """
    rows, found, numbers = np.arange(len(units)), list[_Level](), units[:, 0]
    for following in range(units.shape[1]):
        codes = numbers if not following else numbers * TERM_PAIR_BASE + units[rows, following]
        known, numbers = np.unique(codes, return_inverse=True)
        if first is not None and not following:
            known, numbers = first, codes
        column = np.full(len(known), NO_TERM)
        here = lengths[rows] == n + following
        column[numbers[here]] = np.array(columns, dtype=np.int32)[rows[here]]
        found.append(_Level(pd.Index(known), column))
        numbers, rows = numbers[~here], rows[~here]
    return found
