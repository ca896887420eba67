"""Counting a known vocabulary: the columns that counting all terms finds for it, whatever else the texts have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from benchmark.text.lexer import Lexing, Pruning
from benchmark.text.vocabulary import count_known_terms, count_terms
from tests.text.lexed import CORPORA, WITH_CHARACTERS, corpus_of

FIELDS = st.sampled_from([("all",), ("all", "subject"), ("subject",)])
HEAD = b"From: someone\nSubject: kernel: text of 42\n\n"


@given(CORPORA, CORPORA, WITH_CHARACTERS, FIELDS, st.integers(1, 4))
@example([b"ab abc"], [b"abc ab zz"], Lexing(ngrams=(), characters=(5, 7), within="white-space"), ("all",), 1)
@example([b"of text kernel"], [b"of text kernel text"], Lexing(ngrams=(3,)), ("all",), 1)
@example([b"text"], [], Lexing(), ("all",), 1)
def test_a_known_vocabulary_has_the_counts_of_all_terms(
    learned: list[bytes], documents: list[bytes], lexing: Lexing, fields: tuple[str, ...], step: int
) -> None:
    learned, documents = [HEAD + text for text in learned], [HEAD.replace(b"42", text) + text for text in documents]
    lexing = replace(lexing, fields=fields, format="mail")
    vocabulary = count_terms(corpus_of(learned), lexing, Pruning()).vocabulary[::step]
    counted = count_terms(corpus_of(documents), lexing, Pruning())
    column = {term: place for place, term in enumerate(counted.vocabulary)}
    whole, nothing = counted.matrix.toarray(), np.zeros(len(documents), dtype=int)
    expected = [whole[:, column[term]] if term in column else nothing for term in vocabulary]
    found = count_known_terms(lexing, {term: place for place, term in enumerate(vocabulary)}, documents)
    assert found.has_canonical_format
    assert (found.data > 0).all()
    np.testing.assert_array_equal(found.toarray(), np.array(expected).reshape(len(vocabulary), len(documents)).T)
