"""Documents as strings: the lexer finds in them the words that it finds in the bytes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora.corpus import concatenate_texts
from benchmark.text.fields import Texts, document_string, joined_texts
from benchmark.text.lexer import Lexing, find_tokens


def words(document: bytes, lexing: Lexing) -> list[bytes]:
    found = find_tokens(*concatenate_texts([document]), lexing)
    return [
        found.text[start : start + length].tobytes().lower()
        for start, length in zip(found.starts, found.lengths, strict=True)
    ]


@given(
    st.lists(st.sampled_from(["a word", "<b>", "<a href='x y'>", "</b", "\n", "\n\n", "From: me", "> "]), max_size=9),
    st.booleans(),
    st.booleans(),
)
def test_the_words_of_a_string_are_those_of_its_document(parts, skip_header, skip_html):
    document = " ".join(parts).encode()
    lexing = Lexing(skip_header=skip_header, skip_html=skip_html)
    text = document_string(document, skip_header=skip_header, skip_html=skip_html)
    plain = replace(lexing, skip_header=False, skip_html=False)
    assert words(text.encode(), plain) == words(document, lexing)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.data())
def test_texts_are_given_back_in_any_order(strings, data):
    texts = Texts(*joined_texts(strings), key="")
    assert texts.strings().tolist() == strings
    rows = np.array(data.draw(st.permutations(range(len(strings)))), dtype=np.intp)
    assert texts.take(rows).take(rows[:2]).strings().tolist() == [strings[row] for row in rows[rows[:2]]]


@pytest.mark.parametrize(
    ("document", "how", "expected"),
    [
        (b"a: b\n\nc &amp; <i>d</i>", {}, "a: b\n\nc &amp; <i>d</i>"),
        (b"a: b\n\nc &amp; <i>d</i>", {"skip_header": True}, "c &amp; <i>d</i>"),
        (b"a: b\r\n\r\nc &amp; <i>d</i>", {"skip_header": True, "skip_html": True}, "c &  d "),
        (b"a &lt;b&gt; <c", {"skip_html": True}, "a <b>  "),
        (b"a: b\nc", {"skip_header": True}, ""),
        (b"caf\xe9 &eacute; <b>", {"skip_html": True}, "caf\xe9 \xe9  "),
        (b"\xe9: x\n\ncaf\xc3\xa9", {"skip_header": True}, "caf\xe9"),
        (b"", {"skip_header": True, "skip_html": True}, ""),
    ],
)
def test_headers_tags_and_entities_are_read_as_they_are_asked_to_be(document, how, expected):
    assert document_string(document, **{"skip_header": False, "skip_html": False, **how}) == expected
