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
from benchmark.corpora.corpus import Corpus, Documents, FieldedText, concatenate_texts
from benchmark.system.errors import DataError
from benchmark.text import vocabulary
from benchmark.text.fields import field_of, format_has_field
from benchmark.text.lexer import Lexing
from benchmark.text.pruning import Pruning
from benchmark.text.vocabulary import count_terms
from tests.builders import real_corpus
from tests.text.lexed import tokens

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


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("subject", "re sails and masts"),
        ("Subject", "re sails and masts"),
        ("from", "ann sea org ann"),
        ("organization", ""),
        ("x-face", ""),
        ("subjects", "no"),
        ("header", "from ann sea org ann subject re sails and masts subjects no face subject second"),
        ("body", "subject in the body ropes knots wrote of them not quoted"),
        ("quoted", "ropes knots of them"),
        ("own", "subject in the body wrote not quoted"),
    ],
)
def test_fields_of_mail(name: str, expected: str) -> None:
    assert format_has_field("mail", name)
    assert tokens(field_of(MAIL, name, "mail"), Lexing(stoplist="none")) == expected.split()


HTML = b"""MIME-Version: 1.0

<HEAD><title>Ann's <b>page</b></TITLE></head><address>street</address>
<h1 align="<a>">Sails</H1> wind <H3>masts</h2> <h2>open <h4>closed</h4>
<a name="top"> never <A HREF="x">first<br>link</a> <img alt="</a>"> rain </a> <a href=y>second</a>
<a href=z>to the end"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("title", "ann page"),
        ("headings", "sails masts closed"),
        ("anchors", "first link second"),
        ("body", "ann page street sails wind masts open closed never first link rain second to the end"),
    ],
)
def test_fields_of_html(name: str, expected: str) -> None:
    lexing = Lexing(stoplist="none", skip_html=True)
    assert format_has_field("html", name)
    assert tokens(field_of(HTML, name, "html"), lexing) == expected.split()


PIECES = st.sampled_from(
    [
        b"<a>",
        b"</a>",
        b"<A b='>",
        b"<h1",
        b"</h1>",
        b"<title>",
        b"</title>",
        b"&lt;",
        b"&gt;",
        b"<",
        b">",
        b" sea",
        b"ink ",
        b"&amp",
    ]
)


@pytest.mark.parametrize("level", range(8))
def test_headings_have_six_levels(level: int) -> None:
    page = b"<h%d class=x>sea</H%d> ink <h2>rum</h2>" % (level, level)
    expected = b"sea\nrum" if 1 <= level <= 6 else b"rum"
    assert field_of(page, "headings", "html") == expected


@given(st.lists(PIECES, max_size=25).map(b"".join), st.sampled_from(["title", "headings", "anchors"]))
@example(b"<a>sea</a>ink", "anchors")
def test_an_element_has_no_words_that_its_page_does_not_have(page: bytes, name: str) -> None:
    """In their order, as the lexer that skips tags reads the page."""
    lexing = Lexing(stoplist="none", skip_html=True)
    whole = iter(tokens(page, lexing))
    assert all(word in whole for word in tokens(field_of(page, name, "html"), lexing))


def corpus_of(texts: list[bytes]) -> Corpus:
    nobody = np.zeros(len(texts), np.int32)
    documents = Documents(tuple(map(str, range(len(texts)))), nobody, nobody, ("all",), ("all",))
    return Corpus("made up", documents, *concatenate_texts(texts), "")


LINES = [b"Subject: sea of ink", b"From: the sea", b"", b"> ink sea", b"the ink of sea", b" more ink"]
# A byte picks a line: bytes are drawn at once, lines of a list one by one.
WRITTEN = st.binary(max_size=6).map(lambda picks: b"\n".join(LINES[pick % len(LINES)] for pick in picks))
MAILS = st.lists(WRITTEN, max_size=6)
FIELDS = st.lists(st.sampled_from(["all", "subject", "quoted", "body", "from"]), min_size=1, max_size=4, unique=True)


@given(MAILS, FIELDS, st.sampled_from([(1,), (1, 2), (2,)]), st.booleans(), st.integers(1, 2), st.integers(1, 3))
@example([], ["subject", "all"], (1, 2), True, 1, 1)
@example([b"Subject: sea of ink"], ["all", "subject"], (1,), True, 1, 1)
def test_a_field_is_counted_as_if_it_were_a_corpus(
    mails: list[bytes], names: list[str], ngrams: tuple[int, ...], skip_header: bool, least: int, jobs: int
) -> None:
    lexing = Lexing(skip_header=skip_header, ngrams=ngrams, fields=tuple(names), format="mail")
    pruning = Pruning(min_documents=least)
    counts = count_terms(corpus_of(mails), lexing, pruning, jobs)
    assert counts.blocks == lexing.blocks
    assert len(counts.block_of) == len(counts.vocabulary) == len(set(counts.vocabulary))
    place = 0
    for name in names:
        alone = replace(lexing, skip_header=skip_header and name == "all", fields=("all",), format=None)
        expected = count_terms(corpus_of([field_of(mail, name, "mail") for mail in mails]), alone, pruning)
        columns = slice(place, place := place + len(expected.vocabulary))
        prefix = "" if name == "all" else f"{name}:"
        assert counts.vocabulary[columns] == tuple(prefix + term for term in expected.vocabulary)
        np.testing.assert_array_equal(counts.matrix[:, columns].toarray(), expected.matrix.toarray())
        own = counts.block_of[columns] - len(ngrams) * names.index(name)
        np.testing.assert_array_equal(own, expected.block_of)
    assert place == len(counts.vocabulary)


@pytest.mark.parametrize("size", [1, 40, 2**21])
def test_fields_are_counted_in_the_documents_of_a_group_however_they_are_divided(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words of training documents alone, with their counts in all of them."""
    monkeypatch.setattr(vocabulary, "CHUNK_BYTES", size)
    sides = [1, 0, 1, 0, 0]
    words = ["test", "sea ink", "test sea", "ink", "sea rum"]
    corpus = corpus_of([f"Subject: {text}\n\nbody {text}".encode() for text in words])
    parts = replace(corpus.documents, parts=np.array(sides, np.int32), part_names=("train", "test"))
    pruning = Pruning(min_documents=2, group="train")
    counts = count_terms(replace(corpus, documents=parts), Lexing(fields=("subject", "body"), format="mail"), pruning)
    assert counts.vocabulary == ("subject:ink", "subject:sea", "body:body", "body:ink", "body:sea")
    expected = [[0, 0, 1, 0, 0], [1, 1, 1, 1, 1], [0, 1, 1, 0, 1], [1, 0, 1, 1, 0], [0, 1, 1, 0, 1]]
    assert counts.matrix.toarray().tolist() == expected


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


@pytest.mark.parametrize("name", ["title", "subject"])
def test_a_field_that_a_text_says_goes_before_that_of_its_format_even_if_it_is_empty(name: str) -> None:
    text = FieldedText(b"Subject: mail\n\n<title>html</title>", {"subject": b"", "title": b""})
    assert field_of(text, name, "mail" if name == "subject" else "html") == b""
    assert field_of(text, name, None) == b""
    other = FieldedText(bytes(text), {"more": b"ink"})
    assert field_of(other, name, "mail" if name == "subject" else "html").strip() in (b"mail", b"html")
    with pytest.raises(DataError, match=rf"has no field '{name}', which is counted separately \(its fields: more\)"):
        field_of(other, name, None)


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
