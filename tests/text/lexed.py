"""What the tests of lexing and counting share: tokens of a document, made-up corpora, and strategies for both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from benchmark.corpora.corpus import Corpus, Documents, concatenate_texts
from benchmark.text.lexer import DIGIT_RULES, LEXERS, STEMMERS, WITHIN, Lexing, find_tokens, stop_words, term_name

WORDS = [b"kernel", b"Kernel", b"the", b"of", b"text", b"needing", b"7", b"42", b"x9y", b"x", b"", b"k" * 100]
WORDS += 3 * ["\u6f22été".encode(), "E\u0301té".encode(), "\u6f22\u5b57".encode(), b"caf\xe9"]
# A byte picks a word: bytes are drawn at once, words of a list one by one.
DOCUMENTS = st.binary(max_size=12).map(lambda picks: b" ".join(WORDS[pick % len(WORDS)] for pick in picks))
CORPORA = st.lists(DOCUMENTS, max_size=8)
LEXINGS = st.builds(
    Lexing,
    digits=st.sampled_from(list(DIGIT_RULES)),
    stoplist=st.sampled_from(["smart", "none"]),
    lexer=st.sampled_from(list(LEXERS)),
    ngrams=st.sampled_from([(1,), (1, 2), (2,), (1, 2, 3), (3,), (1, 4)]),
    stemmer=st.sampled_from(list(STEMMERS)),
)
WITH_CHARACTERS = st.builds(
    replace, LEXINGS, characters=st.sampled_from([(), (1, 2), (3, 5), (5, 6)]), within=st.sampled_from(list(WITHIN))
)


def corpus_of(texts: list[bytes], sides: list[int] | None = None) -> Corpus:
    """Documents of one class; training documents are of side 0, test documents of side 1."""
    n, parts = len(texts), np.array([0] * len(texts) if sides is None else sides, dtype=np.int32)
    documents = Documents(tuple(map(str, range(n))), np.zeros(n, np.int32), parts, ("all",), ("train", "test"))
    return Corpus("made up", documents, *concatenate_texts(texts), "")


def tokens(document: bytes, lexing: Lexing) -> list[str]:
    """Find the tokens of one document, in order and without the stop words."""
    text = np.frombuffer(document, dtype=np.uint8)
    found = find_tokens(text, np.array([0, len(document)], dtype=np.int64), lexing)
    spans = zip(found.starts, found.lengths, strict=True)
    names = (
        term_name(found.spelling[found.text[start : start + length]].tobytes().decode(), lexing)
        for start, length in spans
    )
    return [name for name in names if name not in stop_words(lexing.stoplist)]


tokens(b"", Lexing())  # machine code is read before hypothesis starts its clock
