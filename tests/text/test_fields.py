"""Fields: what is found of mail and HTML, in linear time, and counted as if it were a corpus of its own."""

from __future__ import annotations

from dataclasses import replace
from email.parser import BytesHeaderParser
from email.policy import compat32

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmark.corpora.assemble import select_documents
from benchmark.corpora.corpus import FieldedText
from benchmark.system.errors import DataError
from benchmark.text import vocabulary
from benchmark.text.fields import field_of, format_has_field
from benchmark.text.lexer import Lexing, Pruning
from benchmark.text.vocabulary import count_terms
from tests.builders import real_corpus
from tests.text.lexed import corpus_of, tokens

MAIL = b"""From: ann@sea.org (Ann)\r
SUBJECT: Re: sails\r
\tand\r
 masts\r
Subjects: no\r
X-Face: 1
subject: second

Subject: in the body
> ropes
| knots
I wrote
: of them
 > not quoted
"""


HTML = b"""MIME-Version: 1.0

<HEAD><title>Ann's <b>page</b></TITLE></head><address>street</address>
<h1 align="<a>">Sails</H1> wind <H3>masts</h2> <h2>open <h4>closed</h4>
<a name="top"> never <A HREF="x">first<br>link</a> <img alt="</a>"> rain </a> <a href=y>second</a>
<a href=z>to the end"""
HEADINGS = b"".join(b"<h%d class=x>of%d</H%d>" % (level, level, level) for level in range(8))


@pytest.mark.parametrize(
    ("text", "kind", "name", "expected"),
    [
        (MAIL, "mail", "subject", "re sails and masts"),
        (MAIL, "mail", "Subject", "re sails and masts"),
        (MAIL, "mail", "from", "ann sea org ann"),
        (MAIL, "mail", "organization", ""),
        (MAIL, "mail", "x-face", ""),
        (MAIL, "mail", "subjects", "no"),
        (MAIL, "mail", "header", "from ann sea org ann subject re sails and masts subjects no face subject second"),
        (MAIL, "mail", "body", "subject in the body ropes knots wrote of them not quoted"),
        (MAIL, "mail", "quoted", "ropes knots of them"),
        (MAIL, "mail", "own", "subject in the body wrote not quoted"),
        (HTML, "html", "title", "ann page"),
        (HTML, "html", "headings", "sails masts closed"),
        (HTML, "html", "anchors", "first link second"),
        (HTML, "html", "body",
         "ann page street sails wind masts open closed never first link rain second to the end"),
        (HEADINGS, "html", "headings", "of# of# of# of# of# of#"),
    ],
)  # fmt: skip
def test_fields_of_mail_and_html(text: bytes, kind: str, name: str, expected: str) -> None:
    lexing = Lexing(stoplist="none", skip_html=kind == "html", digits="joined" if text == HEADINGS else "drop")
    assert format_has_field(kind, name)
    assert tokens(field_of(text, name, kind), lexing) == expected.split()


TAGS = b"<a> </a> <h1 </h1> <title> </title> &lt; &gt; < > &amp".split()
PIECES = st.sampled_from([*TAGS, b"<A b='>", b" sea", b"ink "])


@given(st.lists(PIECES, max_size=25).map(b"".join), st.sampled_from(["title", "headings", "anchors"]))
@example(b"<a>sea</a>ink", "anchors")
def test_an_element_has_no_words_that_its_page_does_not_have(page: bytes, name: str) -> None:
    """In their order, as the lexer that skips tags reads the page."""
    lexing = Lexing(stoplist="none", skip_html=True)
    whole = iter(tokens(page, lexing))
    assert all(word in whole for word in tokens(field_of(page, name, "html"), lexing))


LINES = [b"Subject: sea of ink", b"From: the sea", b"", b"> ink sea", b"the ink of sea", b" more ink"]
# A byte picks a line: bytes are drawn at once, lines of a list one by one.
WRITTEN = st.binary(max_size=6).map(lambda picks: b"\n".join(LINES[pick % len(LINES)] for pick in picks))
MAILS = st.lists(WRITTEN, max_size=6)
FIELDS = st.lists(st.sampled_from(["all", "subject", "quoted", "body", "from"]), min_size=1, max_size=4, unique=True)
PRUNINGS = st.builds(Pruning, min_documents=st.integers(1, 2), group=st.sampled_from([None, "train"]))


@given(MAILS, FIELDS, st.sampled_from([(1,), (1, 2), (2,)]), st.booleans(), PRUNINGS, st.sampled_from([1, 40, 2**21]))
@example([], ["subject", "all"], (1, 2), True, Pruning(), 1)
@example([b"Subject: sea of ink"], ["all", "subject"], (1,), True, Pruning(), 40)
def test_a_field_is_counted_as_if_it_were_a_corpus(
    mails: list[bytes], names: list[str], ngrams: tuple[int, ...], skip_header: bool, pruning: Pruning, size: int
) -> None:
    """However documents are divided; pruned by training documents, or by all."""
    lexing = Lexing(skip_header=skip_header, ngrams=ngrams, fields=tuple(names), format="mail")
    sides = [number % 2 for number in range(len(mails))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "CHUNK_BYTES", size)
        counts = count_terms(corpus_of(mails, sides), lexing, pruning, 2)
    assert counts.blocks == lexing.blocks
    assert len(counts.block_of) == len(counts.vocabulary) == len(set(counts.vocabulary))
    place = 0
    for name in names:
        alone = replace(lexing, skip_header=skip_header and name == "all", fields=("all",), format=None)
        expected = count_terms(corpus_of([field_of(mail, name, "mail") for mail in mails], sides), alone, pruning)
        columns = slice(place, place := place + len(expected.vocabulary))
        prefix = "" if name == "all" else f"{name}:"
        assert counts.vocabulary[columns] == tuple(prefix + term for term in expected.vocabulary)
        np.testing.assert_array_equal(counts.matrix[:, columns].toarray(), expected.matrix.toarray())
        own = counts.block_of[columns] - len(ngrams) * names.index(name)
        np.testing.assert_array_equal(own, expected.block_of)
    assert place == len(counts.vocabulary)


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("mail", "subject", True),
        ("mail", "X-Face", True),
        ("mail", "!~", True),
        *(("mail", name, False) for name in ("a b", "a:", "é", "", "\t")),
        ("html", "anchors", True),
        ("html", "subject", False),
        (None, "subject", False),
    ],
)
def test_mail_has_any_header_line_and_html_its_parts_alone(kind: str | None, name: str, expected: bool) -> None:
    assert format_has_field(kind, name) is expected


def test_a_field_that_a_text_does_not_say_is_refused() -> None:
    text = FieldedText(b"sea\nink", {"title": b"sea"})
    assert (field_of(text, "title", None), field_of(text, "all", None)) == (b"sea", b"sea\nink")
    corpus = replace(corpus_of([text]), fields={"title": np.array([[0, 3]])})
    with pytest.raises(DataError, match=r"has no field 'body', .*\(its fields: title\)"):
        count_terms(corpus, Lexing(fields=("body",)), Pruning())
    with pytest.raises(DataError, match="its fields: none, as it is plain"):
        count_terms(corpus_of([b"sea"]), Lexing(fields=("all", "title")), Pruning())


@pytest.mark.parametrize(("name", "kind"), [("title", "html"), ("subject", "mail")])
def test_a_field_that_a_text_says_goes_before_that_of_its_format_even_if_it_is_empty(name: str, kind: str) -> None:
    text = FieldedText(b"Subject: mail\n\n<title>html</title>", {"subject": b"", "title": b""})
    assert field_of(text, name, kind) == field_of(text, name, None) == b""
    assert field_of(FieldedText(bytes(text), {"more": b"ink"}), name, kind).strip() == kind.encode()


@pytest.mark.parametrize(
    ("fields", "dropped"),
    [(("all",), 5), (("all", "subject"), 5), (("subject", "all"), 2), (("subject", "own"), 2), (("own",), 3)],
)
def test_letters_that_are_passed_over_are_those_of_the_first_field(fields: tuple[str, ...], dropped: int) -> None:
    corpus = corpus_of(["Subject: éé sea\n\nÄÖ".encode(), "From: me\n\nÜ ink".encode()])
    assert count_terms(corpus, Lexing(fields=fields, format="mail"), Pruning()).dropped == dropped
    assert count_terms(corpus, Lexing(fields=fields, format="mail", characters=(2, 3)), Pruning()).dropped == dropped


@pytest.mark.corpus
def test_subjects_are_those_of_pythons_own_parser() -> None:
    corpus = real_corpus("20ng")
    for text in corpus.take(np.arange(0, len(corpus.documents), 40)):
        subject = str(BytesHeaderParser(policy=compat32).parsebytes(text)["subject"])
        assert tokens(field_of(text, "subject", "mail"), Lexing()) == tokens(subject.encode(), Lexing())


# Our own measurements: how many terms are in three documents, of the whole and of fields.
@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "fields", "kind", "sizes"),
    [
        ("20ng", ("all", "subject", "quoted"), "mail", [44_685, 4_032, 17_577]),
        ("webkb", ("title", "headings", "anchors"), "html", [566, 2_175, 5_401]),
        ("reuters", ("title", "body"), None, [3_722, 11_884]),
    ],
)
def test_real_corpora_keep_their_fields(name: str, fields: tuple[str, ...], kind: str | None, sizes: list[int]) -> None:
    lexing = Lexing(skip_html=name == "webkb", fields=fields, format=kind)
    corpus = real_corpus(name)
    if name == "webkb":  # the pages of the classes that the papers use, which are half of them
        corpus = select_documents(corpus, classes=["student", "faculty", "course", "project"])
    counts = count_terms(corpus, lexing, Pruning(min_documents=3), jobs=2)
    assert np.bincount(counts.block_of).tolist() == sizes
