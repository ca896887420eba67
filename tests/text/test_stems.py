"""Stems: Porter's, as published for a whole vocabulary; terms of a method, of a kept model and of its predictions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmark.corpora.assemble import select_documents
from benchmark.system.errors import ConfigError
from benchmark.text.lexer import Lexing, Pruning
from benchmark.text.vocabulary import count_known_terms, count_terms, prune_counts
from tests.builders import real_corpus
from tests.text.lexed import corpus_of
from tests.text.test_vocabulary import counted_of

STEMS = Lexing(stoplist="none", stemmer="porter")

# Of the examples of each step in M. F. Porter's paper (Program 14, 1980), as the whole algorithm leaves them.
PRINTED = """
    caresses caress  ponies poni  cats cat  agreed agre  plastered plaster  bled bled  motoring motor  sing sing
    conflated conflat  troubled troubl  sized size  hopping hop  falling fall  failing fail  filing file  happy happi
    sky sky  relational relat  rational ration  digitizer digit  conformabli conform  operator oper  feudalism feudal
    hopefulness hope  callousness callous  sensibiliti sensibl  triplicate triplic  electriciti electr  hopeful hope
    goodness good  revival reviv  allowance allow  airliner airlin  adjustable adjust  irritant irrit  adoption adopt
    communism commun  activate activ  effective effect  bowdlerize bowdler  probate probat  rate rate  cease ceas
    controll control  roll roll  generalizations gener  oscillators oscil
"""


def stem_of(word: str) -> str:
    (stem,) = count_terms(corpus_of([word.encode()]), STEMS, Pruning()).vocabulary
    return stem


def test_stems_are_those_of_porters_paper() -> None:
    words = PRINTED.split()
    assert [stem_of(word) for word in words[::2]] == words[1::2]


@pytest.mark.skipif("SNOWBALL_PORTER" not in os.environ, reason="SNOWBALL_PORTER is no folder with voc.txt, output.txt")
def test_stems_are_those_of_the_published_vocabulary() -> None:
    folder = Path(os.environ["SNOWBALL_PORTER"])
    words, stems = ((folder / name).read_text("utf-8").splitlines() for name in ("voc.txt", "output.txt"))
    pairs = {word: stem for word, stem in zip(words, stems, strict=True) if len(word) > 1 and word.isalpha()}
    counts = count_terms(corpus_of([word.encode() for word in pairs]), STEMS, Pruning())
    found = [counts.vocabulary[column] for column in counts.matrix.indices]  # a document is a word
    assert dict(zip(pairs, found, strict=True)) == pairs
    assert len(pairs) > 40_000


def test_words_that_are_counted_already_have_no_stems() -> None:
    with pytest.raises(ConfigError, match="stemmer is porter"):
        prune_counts(counted_of(("all",), ("ink", "inks"), [0, 0]), STEMS, Pruning())


def test_minimums_are_of_stems_and_the_stop_list_is_of_words_and_stems() -> None:
    corpus = corpus_of([b"oil need", b"oils needing", b"barrel seriously"])
    counts = count_terms(corpus, Lexing(stemmer="porter"), Pruning(min_documents=2))
    assert counts.vocabulary == ("oil",)
    every = count_terms(corpus, Lexing(stemmer="porter"), Pruning())
    assert every.vocabulary == ("barrel", "oil")
    assert every.matrix.toarray().tolist() == [[0, 1], [0, 1], [1, 0]]
    assert count_terms(corpus, Lexing(stemmer="porter", min_length=4), Pruning()).vocabulary == ("barrel",)
    found = count_known_terms(Lexing(stemmer="porter"), {"oil": 0}, [b"oiled OILS and oil"])
    assert found.toarray().tolist() == [[3]]


@pytest.mark.corpus
def test_the_words_of_tang_et_al_are_counted() -> None:
    """8,293 documents of 65 classes have the 18,933 words that the paper prints; no accuracy chose this lexing."""
    corpus = select_documents(real_corpus("reuters", "body-and-single-topic"), exclude=["19918"])
    counts = count_terms(corpus, Lexing(stoplist="smart-split", stemmer="porter", min_length=3), Pruning(), jobs=2)
    assert counts.matrix.shape == (8293, 18_933)
