"""Counting: from a corpus to sparse term counts over its vocabulary."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import partial
from itertools import chain
from itertools import count as numbers_from_zero
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
import Stemmer

from benchmark.corpora.corpus import batch_texts, concatenate_texts
from benchmark.system.errors import ConfigError
from benchmark.system.row_blocks import map_in_order
from benchmark.text.characters import character_terms, find_characters
from benchmark.text.counts import Counts
from benchmark.text.fields import field_of
from benchmark.text.lexer import TRAINING, WHOLE_DOCUMENT, Pruning, find_tokens, term_name
from benchmark.text.streams import NO_TERM, TermLevel, TermStream, common_terms, count_rows, ngram_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.corpora.corpus import Corpus, Documents, TextChunk
    from benchmark.corpora.user.counts_folder import CountsCorpus
    from benchmark.text.lexer import Lexing, TokenSpans

    #: Documents, and whether pruning counts each; as a list of texts where they have several fields.
    DocumentChunk = tuple[TextChunk | list[bytes], NDArray[np.bool_]]


def count_terms(corpus: Corpus, lexing: Lexing, pruning: Pruning, jobs: int = 1) -> Counts:
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
    chunks = _chunks(corpus, lexing, _counted(documents, pruning.group))
    matrix, vocabulary, dropped, block_of = count_chunks(chunks, lexing, pruning, jobs)
    return Counts(documents, matrix, vocabulary, dropped, lexing.blocks, block_of)


def count_chunks(
    chunks: Iterable[DocumentChunk], lexing: Lexing, pruning: Pruning, jobs: int = 1
) -> tuple[sp.csr_array, tuple[str, ...], int, NDArray[np.int32]]:
    """Return the counts of chunks of documents, as `Counts` has them: matrix, vocabulary, dropped letters, blocks."""
    fields = [_Words() for _ in lexing.fields]
    for chunk in map_in_order(partial(_find_words, lexing), chunks, jobs):
        for field, words in zip(fields, chunk, strict=True):
            field.add(words)
    dropped = fields[0].dropped
    # A field's words are freed when its terms are found, as they are as large as the text.
    found = [terms for name in lexing.fields for terms in _field_terms(name, fields.pop(0), lexing, pruning, jobs)]
    numbers, levels = zip(*found, strict=True)
    vocabularies, columns, streams = zip(*levels, strict=True)
    sizes = [len(names) for names in vocabularies]
    rows = map_in_order(partial(count_rows, columns, sizes), zip(*streams, strict=True), jobs)
    matrix = sp.vstack([sp.csr_array((0, sum(sizes)), dtype=np.int32), *rows], format="csr")
    return matrix, tuple(chain(*vocabularies)), dropped, np.repeat(np.array(numbers, dtype=np.int32), sizes)


def prune_counts(corpus: CountsCorpus, lexing: Lexing, pruning: Pruning) -> Counts:
    """Prune a corpus that is already counted, as `count_terms` does; of `lexing`, stop list and `min_length` apply.

    Raises
    ------
    ConfigError
        If the blocks of the counts are not those of `lexing`, or stems are asked for.
    """
    if lexing.stemmer != "none":
        raise ConfigError(f"text: stemmer is {lexing.stemmer}, and words that are already counted have no stems")
    if corpus.blocks != tuple(name for name in lexing.blocks if name in corpus.blocks):  # a block may have no terms
        counted_blocks, asked = ", ".join(corpus.blocks), ", ".join(lexing.blocks)
        raise ConfigError(
            f"text: the counts are of {counted_blocks}, and the configuration asks for {asked}; change `text`"
        )
    matrix, counted = corpus.matrix, _counted(corpus.documents, pruning.group)
    occurrences = np.asarray(matrix[counted].sum(axis=0), dtype=np.int64).ravel()
    in_documents = np.bincount(matrix[counted].indices, minlength=matrix.shape[1])
    stop, least, vocabulary, block_of = lexing.left_out, lexing.min_length, corpus.vocabulary, corpus.block_of
    common = np.flatnonzero(pruning.keeps(occurrences, in_documents))
    words = (vocabulary[column].removeprefix(f"{corpus.blocks[block_of[column]]}:") for column in common)
    kept = [column for column, word in zip(common, words, strict=True) if word not in stop and len(word) >= least]
    chosen = sp.csr_array(matrix[:, kept])
    chosen.sort_indices()
    # Few libraries accept 64-bit indices.
    narrow = chosen.data, chosen.indices.astype(np.int32), chosen.indptr.astype(np.int32)
    chosen = sp.csr_array(narrow, shape=chosen.shape)
    terms = tuple(vocabulary[column] for column in kept)
    block_numbers = np.array([lexing.blocks.index(name) for name in corpus.blocks], dtype=np.int32)
    return Counts(corpus.documents, chosen, terms, 0, lexing.blocks, block_numbers[block_of[kept]])


#: Size of a chunk of documents in bytes.
CHUNK_BYTES = 2**21


class _FoundWords(NamedTuple):
    """Words of some documents: token k is ``words[codes[k]]``.

    The tokens of document i are ``bounds[i]:bounds[i + 1]``. See `TokenSpans` for `dropped`.
    """

    words: list[bytes]
    codes: NDArray[np.int32]
    bounds: NDArray[np.int64]
    counted: NDArray[np.bool_]
    dropped: int
    characters: TermStream | None


class _Words:
    """Words of a field, numbered in order of appearance, and the streams of their numbers.

    Attributes
    ----------
    numbers : dict of bytes to int
        Number of each word.
    streams : list of TermStream
    characters : list of TermStream
        Code points of the words' characters; empty where they aren't counted.
    dropped : int
        Number of ignored letters, as in `TokenSpans`.
    """

    def __init__(self) -> None:
        self.numbers = defaultdict[bytes, int](numbers_from_zero().__next__)
        self.streams: list[TermStream] = []
        self.characters: list[TermStream] = []
        self.dropped = 0

    def add(self, found: _FoundWords) -> None:
        """Assign numbers to the words of the next documents."""
        words, bounds = found.words, found.bounds
        number_of = np.fromiter(map(self.numbers.__getitem__, words), dtype=np.int32, count=len(words))
        ended = np.insert(number_of[found.codes], bounds[1:], NO_TERM)
        self.streams.append(TermStream(ended, bounds + np.arange(len(bounds)), found.counted))
        self.characters += [] if found.characters is None else [found.characters]
        self.dropped += found.dropped

    def stems(self, stemmer: str, left_out: frozenset[str]) -> _Words:
        """Return the words' stems in their place, and nothing in the place of words that are left out."""
        found, words = _Words(), [word.decode() for word in self.numbers]
        stems = Stemmer.Stemmer(stemmer).stemWords(words)
        numbers = [
            NO_TERM if word in left_out else found.numbers[stem.encode()]
            for word, stem in zip(words, stems, strict=True)
        ]
        number_of = np.array([*numbers, NO_TERM], dtype=np.int32)  # the last value is that of -1, no term
        found.streams = [replace(stream, terms=number_of[stream.terms]) for stream in self.streams]
        return found


def _chunks(corpus: Corpus, lexing: Lexing, counted: NDArray[np.bool_]) -> Iterator[DocumentChunk]:
    """Yield chunks of documents and whether pruning counts them; with several fields, as a list of texts."""
    start, whole = 0, lexing.fields == (WHOLE_DOCUMENT,)
    for texts in corpus.chunks(CHUNK_BYTES) if whole else batch_texts(corpus, CHUNK_BYTES):
        stop = start + (len(texts[1]) - 1 if isinstance(texts, tuple) else len(texts))
        yield texts, counted[start:stop]
        start = stop


def _find_words(lexing: Lexing, documents: DocumentChunk) -> list[_FoundWords]:
    """Find the words of a chunk of documents, field by field."""
    (texts, counted), found = documents, list[_FoundWords]()
    for name in lexing.fields:
        lexing_of_field = lexing if name == WHOLE_DOCUMENT else replace(lexing, skip_header=False)
        if isinstance(texts, tuple):
            chunk = texts
        else:
            chunk = concatenate_texts([field_of(text, name, lexing.format) for text in texts])
        spans = find_tokens(*chunk, lexing_of_field)
        words, codes = _distinct_words(spans)
        characters = find_characters(chunk, spans, lexing_of_field, counted) if lexing_of_field.characters else None
        found.append(_FoundWords(words, codes, spans.bounds, counted, spans.dropped, characters))
    return found


def _distinct_words(spans: TokenSpans) -> tuple[list[bytes], NDArray[np.int32]]:
    """Return the distinct words in order of appearance, and the position of each token among them.

    Arrow hashes the words of a chunk without holding Python's lock; a dictionary of Python would look up each token.
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import, and unused where the counts are in the store

    ends = np.cumsum(np.insert(spans.lengths + 1, 0, 0), dtype=np.int32)  # each token and its line feed
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(spans.spelled())]
    encoded = pa.BinaryArray.from_buffers(pa.binary(), len(spans.lengths), buffers).dictionary_encode()
    return [word[:-1] for word in encoded.dictionary.to_pylist()], encoded.indices.to_numpy()


def _field_terms(
    name: str, field: _Words, lexing: Lexing, pruning: Pruning, jobs: int
) -> Iterator[tuple[int, TermLevel]]:
    """Yield the terms of a field, with the number of their block."""
    block = lexing.fields.index(name) * lexing.blocks_of_field
    prefix, characters = "" if name == WHOLE_DOCUMENT else f"{name}:", field.characters
    if lexing.ngrams:
        yield from enumerate(_word_terms(prefix, field, lexing, pruning, jobs), start=block)
    if lexing.characters:
        del field
        block += len(lexing.ngrams)
        for terms in character_terms(f"{lexing.blocks[block]}:", characters, lexing, pruning, jobs):
            yield block, terms


def _word_terms(prefix: str, field: _Words, lexing: Lexing, pruning: Pruning, jobs: int) -> Iterator[TermLevel]:
    """Yield the terms of each length.

    Stems that are terms by themselves are of words outside the stop list, and outside of it; n-grams have those of all
    words.
    """
    if lexing.stemmer != "none":
        plain = replace(lexing, stemmer="none")
        for single in (True, False):
            if ngrams := tuple(n for n in lexing.ngrams if (n == 1) is single):
                stems = field.stems(lexing.stemmer, lexing.left_out if single else frozenset())
                yield from _word_terms(prefix, stems, replace(plain, ngrams=ngrams), pruning, jobs)
        return
    common, streams = common_terms(field.streams, len(field.numbers), pruning)
    spelled, stop = list(field.numbers), lexing.left_out
    names = [term_name(spelled[number].decode(), lexing) for number in common.tolist()]

    def is_term(word: str) -> bool:
        return len(word) >= lexing.min_length and word not in stop

    keep = {n: is_term if n == 1 else bool for n in lexing.ngrams}
    yield from ngram_terms(streams, names, " ", keep, prefix, pruning, jobs)


def _counted(documents: Documents, group: str | None) -> NDArray[np.bool_]:
    """Return whether pruning counts each document, shape (n,); ConfigError for an unknown group."""
    if group is None or group == TRAINING:
        return np.ones(len(documents), dtype=np.bool_)
    if group not in documents.part_names:
        raise ConfigError(f"pruning: there is no group {group!r}; the groups are {', '.join(documents.part_names)}")
    counted: NDArray[np.bool_] = documents.parts == documents.part_names.index(group)
    return counted


def count_known_terms(lexing: Lexing, columns: Mapping[str, int], texts: Sequence[bytes]) -> sp.csr_array:
    """Count the terms of a vocabulary in each of m texts, shape (m, V).

    Parameters
    ----------
    lexing : Lexing
        How texts are split into terms.
    columns : mapping of str to int, length V
        Column of each term, as `count_terms` names it by this lexing.
    texts : sequence of bytes

    Raises
    ------
    DataError
        If a text doesn't have a field, see `benchmark.text.fields.field_of`.
    """
    rows = [sp.csr_array((0, len(columns)), dtype=np.int32)]
    for batch in batch_texts(texts, CHUNK_BYTES):
        whole = lexing.fields == (WHOLE_DOCUMENT,)
        chunk = concatenate_texts(batch) if whole else batch, np.ones(len(batch), dtype=np.bool_)
        matrix, terms, _, _ = count_chunks([chunk], lexing, Pruning())
        column_of = np.fromiter((columns.get(term, -1) for term in terms), np.int32, len(terms))
        known = np.flatnonzero(column_of >= 0)
        counts = matrix[:, known]
        parts = counts.data, column_of[known][counts.indices], counts.indptr
        rows.append(sp.csr_array(parts, shape=(len(batch), len(columns))))
        rows[-1].sort_indices()
    return sp.vstack(rows, format="csr")
