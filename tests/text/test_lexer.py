"""The lexer against a slow, plain reading of its rules, and one by one."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmark.text.lexer import DIGIT_RULES, STOPLISTS, Lexing, stop_words
from tests.strategies import damaged
from tests.text.lexed import tokens

ENTITIES = (
    rb"nbsp|quot|amp|gt|iexcl|cent|pound|yen|brvbar|sect|copy|laquo|raquo|not|reg|deg|plusmn|sup[123]|micro|para|middot|"
    rb"frac(?:14|12|34)|iquest|aelig|[aeiou](?:acute|circ|grave|uml)|yacute|yuml|[ano]tilde|aring|oslash|ccedil|eth|"
    rb"thorn|szlig"
)
# Up to the first byte that is no digit; if that is an ampersand it begins no entity.
NUMBER = rb"(?P<number>&(?=#[^;]{0,5};)#[0-9]*&?)"
INSIDE_TAG = re.compile(NUMBER + rb"|(?P<close>>|&gt;)")
RUNS = {"drop": rb"[A-Za-z]+", "joined": rb"[A-Za-z0-9]+"}


def plain_runs(document: bytes, lexing: Lexing) -> list[bytes]:
    """The runs of letters and digits outside headers, tags and entities."""
    if lexing.skip_header:
        blank = re.search(rb"(?m)^\r?\n", document)
        document = document[blank.end() :] if blank else b""
    run = RUNS.get(lexing.digits, rb"[A-Za-z]+|[0-9]+")
    if not lexing.skip_html:
        return re.findall(run, document)
    outside = re.compile(
        NUMBER + rb"|(?P<entity>&(?:" + ENTITIES + rb");)|(?P<open><|&lt;)|(?P<run>" + run + rb")",
    )
    found = []
    position, in_tag = 0, False
    while match := (INSIDE_TAG if in_tag else outside).search(document, position):
        position = match.end()
        if match.lastgroup == "run":
            found.append(match.group())
        elif match.lastgroup in {"open", "close"}:
            in_tag = match.lastgroup == "open"
    return found


def plain_tokens(document: bytes, lexing: Lexing) -> list[str]:
    names = []
    for run in plain_runs(document, lexing):
        word = run.decode("ascii").lower()
        if lexing.digits in {"run-length", "token", "literal"} and word.isdigit():
            names.append({"run-length": f"<digits:{len(word)}>", "token": "<digits>", "literal": word}[lexing.digits])
        elif 2 <= len(word) <= 99:
            word = re.sub(r"[0-9]", "#", word)
            if word not in stop_words(lexing.stoplist):
                names.append(word)
    return names


FRAGMENTS = [
    *(b"<", b">", b"&", b";", b"#", b"&lt;", b"&gt;", b"&amp;", b"&AMP;", b"&Lt;", b"&eacute;", b"&frac12;", b"&foo;"),
    *(b"&#12;", b"&#x41;", b"&#", b"&#;", b"&#1&lt;", b"&#12345;", b"&#123456;", b"&#1<;", b"&;", b"&nbsp", b"&\0lt;"),
    *(b"&foobar;", b"&foobars;", b"<b>", b"</a href='x&gt;y'>", b"<!-- -->"),
    *(b"a", b"Z", b"x1", b"1", b"42", b"007", b"cs101", b"kernel", b"KERNEL", b"the", b"The", b"would"),
    *(bytes([each]) for each in b" \n\r\0\t'_@[`{/:"),
    *(b"\r\n", b"\n\n", b"\r\n\r\n", b"\n\r\n"),
    *(b"\xe9", b"\xff", b"\xc3\xa9", b"\xb5", b"lt;", b"gt;", b"q" * 98, b"q" * 99, b"q" * 100, b"9" * 99, b"9" * 120),
]
DOCUMENTS = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map(b"".join) | st.binary(max_size=60)
LEXINGS = st.builds(
    Lexing,
    skip_header=st.booleans(),
    skip_html=st.booleans(),
    digits=st.sampled_from(list(DIGIT_RULES)),
    stoplist=st.sampled_from(list(STOPLISTS)),
)


@given(DOCUMENTS, LEXINGS)
@example(b"", Lexing())
def test_tokens_are_those_of_the_plain_reading(document: bytes, lexing: Lexing) -> None:
    assert tokens(document, lexing) == plain_tokens(document, lexing)


PAGES = [
    b"From: a@b.org\nSubject: AT&amp;T &lt;T&gt; 1987\n\n> It says:\n\tx\0y \xe9\x1a cs101\n" * 3,
    b"Type: html\r\n\r\n<html><!-- c --><a href='x&gt;y'>caf&eacute; &#233; 3.5 &foo; <b>" + b"q" * 99 + b"</b> 42\n",
    b'<TEXT TYPE="NORM"><TITLE>AT&lt;T></TITLE><BODY>the &#3; 26-FEB-1987 pct\n</BODY></TEXT>',
]


@settings(max_examples=600)
@given(
    damaged(PAGES, FRAGMENTS),
    st.sampled_from([Lexing(True, True, "joined"), Lexing(False, True, "run-length", "none"), Lexing()]),
)
def test_a_damaged_page_is_read_as_the_plain_reading_reads_it(document: bytes, lexing: Lexing) -> None:
    assert tokens(document, lexing) == plain_tokens(document, lexing)


HTML = Lexing(skip_html=True, stoplist="none")
DIGITS = b"<h1>CS101 Fall 1996 &#199; 7</h1>"


@pytest.mark.parametrize(
    ("document", "lexing", "expected"),
    [
        (b"Multinomial manifold", Lexing(), "multinomial manifold"),
        (b"a I x2", Lexing(), ""),
        (b"don't wellknown co-op", Lexing(), "don wellknown op"),  # co is a stop word, don't can't be one
        (b"b" * 99 + b" " + b"c" * 100, Lexing(), "b" * 99),
        (b"caf\xe9s na\xefve", Lexing(), "caf na ve"),
        (b"before\0kernel\0graph", Lexing(), "kernel graph"),
        (b"one<b>two</b>three", HTML, "one two three"),
        (b"one <a <b> two", HTML, "one two"),
        (b"one > two", HTML, "one two"),
        (b"one <two three", HTML, "one"),
        (b"one&nbsp;two", HTML, "one two"),
        (b"one &nbsp;two", HTML, "one two"),
        (b"one &foo; two", HTML, "one foo two"),
        (b"one &Nbsp; two", HTML, "one nbsp two"),
        (b"one &nbsp two", HTML, "one nbsp two"),
        (b"one &#233;two &#x41; &#xyz;", HTML, "one two xyz"),
        (b"one &lt;two&gt; three", HTML, "one three"),
        (b"one &lt;two> three", HTML, "one three"),
        (b"one <two &gt; three", HTML, "one three"),
        # Within a word an ampersand only ends it, and the entity is looked for from there.
        (b"one&lt;two&gt;three", HTML, "one three"),
        (DIGITS, Lexing(skip_html=True, digits="drop"), "cs fall"),
        (DIGITS, Lexing(skip_html=True, digits="run-length"), "cs <digits:3> fall <digits:4> <digits:1>"),
        (DIGITS, Lexing(skip_html=True, digits="token"), "cs <digits> fall <digits> <digits>"),
        (DIGITS, Lexing(skip_html=True, digits="joined"), "cs### fall ####"),
        (DIGITS, Lexing(skip_html=True, digits="literal"), "cs 101 fall 1996 7"),
    ],
)
def test_words_markup_and_digits(document: bytes, lexing: Lexing, expected: str) -> None:
    assert tokens(document, lexing) == expected.split()
