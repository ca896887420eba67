"""N-grams of characters: as scikit-learn's ``char_wb`` counts them, between white space and inside words."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from benchmark.text.lexer import LEXERS, WITHIN, Lexing, Pruning
from benchmark.text.vocabulary import count_terms
from tests.text.lexed import corpus_of, tokens
from tests.text.test_ngrams import of_block

LENGTHS = st.sampled_from([(1, 1), (1, 2), (2, 6), (3, 5), (4, 4), (5, 7)])
#: Python splits and lower-cases them as scikit-learn does; NUL is white space here, and no character there.
STRINGS = st.lists(
    st.text(st.sampled_from("aab.AB é\u0130ß漢\t\n\x1c\xa0!\U0001f600\u0301"))
    | st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=12),
    max_size=6,
)


def expected_counts(texts: list[str], lengths: tuple[int, int]) -> dict[tuple[int, str], int]:
    theirs = CountVectorizer(analyzer="char_wb", ngram_range=lengths)
    try:
        matrix = theirs.fit_transform(texts).tocoo()
    except ValueError:  # no term at all
        return {}
    names = theirs.get_feature_names_out()
    return {(row, names[column]): count for row, column, count in zip(*matrix.coords, matrix.data, strict=True)}


def found_counts(documents: list[bytes], lexing: Lexing, pruning: Pruning | None = None) -> dict[tuple[int, str], int]:
    counts = count_terms(corpus_of(documents), lexing, pruning or Pruning())
    terms, matrix = of_block(counts, "characters")
    assert len(set(terms)) == len(terms)
    rows, columns = np.nonzero(matrix)
    names = [term.removeprefix("characters:") for term in terms]
    return {(row, names[column]): matrix[row, column] for row, column in zip(rows, columns, strict=True)}


@given(STRINGS, LENGTHS, st.sampled_from(list(LEXERS)), st.sampled_from([(), (1,), (2,)]))
@example(["a", "", "ab a"], (5, 7), "unicode", ())
def test_between_white_space_they_are_those_of_scikit_learn(
    texts: list[str], lengths: tuple[int, int], lexer: str, ngrams: tuple[int, ...]
) -> None:
    lexing = Lexing(lexer=lexer, ngrams=ngrams, characters=lengths, within="white-space")
    assert found_counts([text.encode() for text in texts], lexing) == expected_counts(texts, lengths)


@given(STRINGS, LENGTHS, st.sampled_from(list(LEXERS)), st.sampled_from(["drop", "joined", "literal"]))
def test_inside_words_they_are_those_of_the_words_with_spaces(
    texts: list[str], lengths: tuple[int, int], lexer: str, digits: str
) -> None:
    """Stop words have characters, too: they are left out as words alone."""
    documents = [text.encode() for text in texts]
    lexing = Lexing(lexer=lexer, digits=digits, characters=lengths)
    words = [" ".join(tokens(document, Lexing(lexer=lexer, digits=digits, stoplist="none"))) for document in documents]
    assert found_counts(documents, lexing) == expected_counts(words, lengths)


@given(STRINGS, LENGTHS, st.sampled_from(list(WITHIN)), st.integers(1, 3), st.integers(1, 3))
def test_pruning_keeps_the_terms_of_so_many_documents_and_occurrences(
    texts: list[str], lengths: tuple[int, int], within: str, documents: int, occurrences: int
) -> None:
    files = [text.encode() for text in texts]
    lexing = Lexing(characters=lengths, within=within)
    every = found_counts(files, lexing)
    total: dict[str, list[int]] = {}
    for (_, term), count in every.items():
        total.setdefault(term, []).append(count)
    kept = {
        (row, term): count
        for (row, term), count in every.items()
        if len(total[term]) >= documents and sum(total[term]) >= occurrences
    }
    assert found_counts(files, lexing, Pruning(occurrences, documents)) == kept


def test_blocks_follow_those_of_words_in_each_field() -> None:
    lexing = Lexing(ngrams=(1, 2), fields=("all", "subject"), characters=(3, 5), format="mail")
    assert lexing.blocks == ("all", "all-2", "characters", "subject", "subject-2", "subject-characters")
    assert lexing.blocks_of_field == 3
    counts = count_terms(corpus_of([b"Subject: fishing\n\nkernel of text"]), lexing, Pruning())
    terms, _ = of_block(counts, "subject-characters")
    assert "subject-characters: fish" in terms
    assert not any("kern" in term for term in terms)
    present = [counts.blocks[block] for block in np.unique(counts.block_of)]
    assert present == [*lexing.blocks[:4], "subject-characters"]


def test_white_space_reads_header_tags_and_entities_by_the_rules() -> None:
    document = b"From: me\n\n<b>Caf&eacute;</b>\0au<br>lait"
    lexing = Lexing(characters=(6, 6), within="white-space", skip_header=True, skip_html=True, ngrams=())
    assert {term for _, term in found_counts([document], lexing)} == {" café ", " au ", " lait "}
