"""N-grams: as scikit-learn counts them, in blocks of their own, the same however documents are divided."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
import Stemmer
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from benchmark.corpora.assemble import select_documents
from benchmark.corpora.corpus import Corpus
from benchmark.text.lexer import Lexing, Pruning, stop_words
from benchmark.text.vocabulary import count_terms
from tests.builders import real_corpus
from tests.text.lexed import CORPORA, DOCUMENTS, LEXINGS, WITH_CHARACTERS, corpus_of, tokens

if TYPE_CHECKING:
    from benchmark.text.counts import Counts


def of_block(counts: Counts, name: str) -> tuple[list[str], np.ndarray]:
    columns = np.flatnonzero(counts.block_of == counts.blocks.index(name))
    return [counts.vocabulary[column] for column in columns], counts.matrix.toarray()[:, columns]


@given(CORPORA, LEXINGS, st.integers(1, 3))
@example([b"", b""], Lexing(ngrams=(1, 2)), 1)
@example([b"of kernel", b"kernel of kernel"], Lexing(ngrams=(1, 2, 3)), 1)
@example([b"needing texts", b"need text", b"needed"], Lexing(ngrams=(1, 2), stemmer="porter"), 2)
def test_counts_are_those_of_scikit_learn(documents: list[bytes], lexing: Lexing, least: int) -> None:
    """Its stop list would close the gap that a word leaves; n-grams here have the stop words in them."""
    stem = Stemmer.Stemmer("porter").stemWord if lexing.stemmer == "porter" else str
    counts = count_terms(corpus_of(documents), lexing, Pruning(min_documents=least))
    assert counts.blocks == tuple("all" if n == 1 else f"all-{n}" for n in lexing.ngrams)
    for n, name in zip(lexing.ngrams, counts.blocks, strict=True):
        read = lexing if n == 1 else replace(lexing, stoplist="none")
        every = [list(map(stem, tokens(document, read))) for document in documents]
        theirs = CountVectorizer(tokenizer=list, preprocessor=list, token_pattern=None, ngram_range=(n, n))
        terms, matrix = of_block(counts, name)
        try:
            expected = theirs.fit_transform(every).toarray()
        except ValueError:  # no term at all
            assert not terms
            continue
        common = (expected > 0).sum(axis=0) >= least
        stop = stop_words(lexing.stoplist) if n == 1 else frozenset()
        kept = [k for k, term in enumerate(theirs.get_feature_names_out()) if common[k] and term not in stop]
        assert terms == [theirs.get_feature_names_out()[k] for k in kept]
        np.testing.assert_array_equal(matrix, expected[:, kept])


@given(
    st.lists(st.tuples(DOCUMENTS, st.integers(0, 1)), max_size=10),
    WITH_CHARACTERS,
    st.builds(Pruning, min_occurrences=st.integers(1, 3), group=st.sampled_from([None, "train"])),
    st.lists(st.integers(0, 10), max_size=5),
    st.integers(1, 3),
)
def test_division_and_threads_decide_nothing(
    documents: list[tuple[bytes, int]], lexing: Lexing, pruning: Pruning, cuts: list[int], jobs: int
) -> None:
    corpus = corpus_of([text for text, _ in documents], [side for _, side in documents])

    class Divided(Corpus):
        def chunks(self, _: int = 0):
            for start, stop in pairwise([0, *sorted(min(cut, len(documents)) for cut in cuts), len(documents)]):
                part = corpus.take(np.arange(start, stop))
                yield part.text, part.bounds

    divided = Divided("made up", corpus.documents, corpus.text, corpus.bounds, "")
    one, other = count_terms(corpus, lexing, pruning), count_terms(divided, lexing, pruning, jobs)
    assert (one.vocabulary, one.blocks) == (other.vocabulary, other.blocks)
    for name in ("indptr", "indices", "data"):
        left, right = getattr(one.matrix, name), getattr(other.matrix, name)
        assert left.dtype == right.dtype == np.int32
        assert left.tobytes() == right.tobytes()
    assert one.block_of.tobytes() == other.block_of.tobytes()


@pytest.mark.corpus
def test_20ng_has_the_vocabulary_rainbow_found_and_its_pairs() -> None:
    # Rainbow's text test rejects one document of the 18,846; with it there is a term more, as `test_fields` counts.
    without = select_documents(real_corpus("20ng"), exclude=["20news-bydate-test/sci.crypt/16017"])
    counts = count_terms(without, Lexing(ngrams=(1, 2)), Pruning(min_documents=3), jobs=2)
    assert counts.matrix.shape[0] == 18_845
    # But for the number of words our own measurements, kept so that a change is noticed.
    assert np.bincount(counts.block_of).tolist() == [44_684, 273_574]
    assert counts.matrix[:, :44_684].sum() == 2_631_645
