"""N-grams of characters in buckets: their counts are sums of those of the n-grams, and the vocabulary can't grow."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmark.text.known_terms import KnownTerms
from benchmark.text.lexer import WITHIN, Lexing
from benchmark.text.pruning import Pruning
from benchmark.text.vocabulary import count_terms
from tests.text.test_characters import LENGTHS, STRINGS, found_counts
from tests.text.test_ngrams import corpus_of

BUCKETS = st.sampled_from([1024, 1500])
#: The most buckets: counting them takes arrays of 128 MB, and a second, so that one example must do.
MOST = 2**24


def many_words(n: int, seed: int = 0) -> list[bytes]:
    """Four documents of so many words of eight random letters each."""
    letters = np.random.default_rng(seed).integers(ord("a"), ord("z") + 1, (4, n, 8), dtype=np.uint8)
    return [b" ".join(map(bytes, words)) for words in letters]


def bucket_of(ngram: str, buckets: int) -> str:
    """The name of an n-gram's bucket, by integers of any size: FNV-1a over code points, then steps of MurmurHash3."""
    hashed = 0xCBF29CE484222325
    for letter in ngram:
        hashed = (hashed ^ ord(letter)) * 0x100000001B3 % 2**64
    hashed = (hashed ^ hashed >> 33) * 0xFF51AFD7ED558CCD % 2**64
    return f"{len(ngram)}-gram-{(hashed ^ hashed >> 33) % buckets:08d}"


def check_sums(documents: list[bytes], lexing: Lexing, buckets: int) -> None:
    expected = Counter[tuple[int, str]]()
    for (row, ngram), count in found_counts(documents, lexing).items():
        expected[row, bucket_of(ngram, buckets)] += count
    assert found_counts(documents, replace(lexing, buckets=buckets)) == expected


@given(STRINGS, LENGTHS, st.sampled_from(list(WITHIN)), BUCKETS)
@settings(max_examples=30)
@example(["sea", "öl tea sea"], (3, 3), "words", MOST)
def test_a_bucket_has_the_sum_of_its_ngrams(
    texts: list[str], lengths: tuple[int, int], within: str, buckets: int
) -> None:
    check_sums([text.encode() for text in texts], Lexing(ngrams=(), characters=lengths, within=within), buckets)


def test_more_ngrams_than_buckets_share_them() -> None:
    documents, lexing = many_words(400), Lexing(ngrams=(), characters=(3, 4))
    check_sums(documents, lexing, 1024)
    counts = count_terms(corpus_of(documents), replace(lexing, buckets=1024), Pruning())
    assert len(counts.vocabulary) == 2 * 1024
    assert list(counts.vocabulary) == sorted(counts.vocabulary)


@given(STRINGS, LENGTHS, BUCKETS, st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=30)
@example(["sea", "öl tea sea"], (3, 3), MOST, 2, 1)
def test_pruning_keeps_the_buckets_of_so_many_documents_and_occurrences(
    texts: list[str], lengths: tuple[int, int], buckets: int, documents: int, occurrences: int
) -> None:
    files = [text.encode() for text in texts]
    lexing = Lexing(characters=lengths, within="white-space", buckets=buckets)
    every = found_counts(files, lexing)
    total: dict[str, list[int]] = {}
    for (_, bucket), count in every.items():
        total.setdefault(bucket, []).append(count)
    common = {name for name, each in total.items() if len(each) >= documents and sum(each) >= occurrences}
    kept = {place: count for place, count in every.items() if place[1] in common}
    assert found_counts(files, lexing, Pruning(occurrences, documents)) == kept


@given(st.lists(st.tuples(STRINGS.map(" ".join), st.integers(0, 1)), max_size=6), LENGTHS, st.integers(1, 3))
@settings(max_examples=15)
@example([("sea", 0), ("sea", 1), ("ink", 1), ("ink", 1)], (3, 3), 2)
def test_pruning_counts_the_documents_of_its_group_alone(
    texts: list[tuple[str, int]], lengths: tuple[int, int], least: int
) -> None:
    lexing = Lexing(characters=lengths, within="white-space", buckets=1500)
    files, sides = [text.encode() for text, _ in texts], [side for _, side in texts]
    found = count_terms(corpus_of(files, sides), lexing, Pruning(min_documents=least, group="test"))
    own = [file for file, side in zip(files, sides, strict=True) if side]
    assert found.vocabulary == count_terms(corpus_of(own), lexing, Pruning(min_documents=least)).vocabulary


@pytest.mark.parametrize(("n_words", "buckets"), [(40, 1024), (2000, 1024), (2000, MOST)])
def test_the_number_of_ngrams_is_told_within_a_hundredth(n_words: int, buckets: int) -> None:
    """However few the buckets: hashes tell n-grams apart before they are put into buckets."""
    documents, lexing = many_words(n_words, seed=1), Lexing(characters=(3, 5))
    plain = count_terms(corpus_of(documents), lexing, Pruning())
    truth = sum(term.startswith("characters:") for term in plain.vocabulary)
    hashed = count_terms(corpus_of(documents), replace(lexing, buckets=buckets), Pruning(min_documents=2))
    assert hashed.in_buckets == pytest.approx(truth, rel=0.01)
    assert plain.in_buckets == 0


@given(STRINGS, STRINGS, LENGTHS, st.sampled_from(list(WITHIN)), BUCKETS)
@example(["sea"], ["öl tea sea"], (3, 3), "words", MOST)
def test_a_kept_model_counts_them_as_the_corpus_was_counted(
    learned: list[str], texts: list[str], lengths: tuple[int, int], within: str, buckets: int
) -> None:
    lexing = Lexing(characters=lengths, within=within, buckets=buckets)
    known = count_terms(corpus_of([text.encode() for text in learned]), lexing, Pruning())
    documents = [text.encode() for text in texts]
    counts = count_terms(corpus_of(documents), lexing, Pruning())
    column = {term: place for place, term in enumerate(counts.vocabulary)}
    whole = np.hstack([counts.matrix.toarray(), np.zeros((len(texts), 1), dtype=int)])  # the last is of unknown terms
    expected = whole[:, [column.get(term, -1) for term in known.vocabulary]]
    np.testing.assert_array_equal(KnownTerms(lexing, known.vocabulary).count(documents).toarray(), expected)


def test_a_kept_model_tells_buckets_of_every_length_apart() -> None:
    """Where all buckets of both lengths are terms, whole words of fewer characters among them."""
    documents = many_words(400)
    for lengths in ((3, 4), (5, 6)):
        lexing = Lexing(ngrams=(), characters=lengths, buckets=1024)
        counts = count_terms(corpus_of([*documents, b"ab ink"]), lexing, Pruning())
        found = KnownTerms(lexing, counts.vocabulary).count([*documents, b"ab ink"])
        np.testing.assert_array_equal(found.toarray(), counts.matrix.toarray())
        half = KnownTerms(lexing, counts.vocabulary[::2]).count(documents)
        np.testing.assert_array_equal(half.toarray(), counts.matrix[:-1, ::2].toarray())


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("fields", [("all", "subject"), ("subject", "own"), ("own",)])
def test_each_field_has_buckets_of_its_own(fields: tuple[str, ...], within: str) -> None:
    """Counts of a field's block are those of the field's text alone, in a corpus and by a kept model."""
    heads, bodies = [b"sea ink", b"rum", b""], [b"ink of tea\n> quoted", b"sea", b"rum ink 7\n> sea"]
    mails = [b"From: me\nSubject: %b\n\n%b" % pair for pair in zip(heads, bodies, strict=True)]
    lexing = Lexing(ngrams=(1,), fields=fields, format="mail", characters=(2, 3), within=within, buckets=1024)
    counts = count_terms(corpus_of(mails), lexing, Pruning())
    texts = {"all": mails, "subject": [b" " + head for head in heads], "own": [b.partition(b">")[0] for b in bodies]}
    for field in fields:
        block = counts.blocks.index("characters" if field == "all" else f"{field}-characters")
        columns = np.flatnonzero(counts.block_of == block)
        plain = replace(lexing, ngrams=(), fields=("all",), format=None)
        alone = count_terms(corpus_of(texts[field]), plain, Pruning())
        names = [counts.vocabulary[column].rpartition(":")[2] for column in columns]
        assert names == [term.rpartition(":")[2] for term in alone.vocabulary]
        np.testing.assert_array_equal(counts.matrix[:, columns].toarray(), alone.matrix.toarray())
    np.testing.assert_array_equal(KnownTerms(lexing, counts.vocabulary).count(mails).toarray(), counts.matrix.toarray())
    some = counts.vocabulary[::-3]
    expected = counts.matrix.toarray()[:, ::-3]
    np.testing.assert_array_equal(KnownTerms(lexing, some).count(mails).toarray(), expected)
    parts = [count_terms(corpus_of(mails), replace(lexing, fields=(field,)), Pruning()).in_buckets for field in fields]
    assert counts.in_buckets == sum(parts) > 0
