"""Mutants of SGML, HTML and mail: refused with a reason, or the same words each time."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora import newsgroups, reuters, synthetic, webkb
from benchmark.corpora.assemble import check_document_counts
from benchmark.corpora.corpus import Corpus, Documents, concatenate_texts
from benchmark.corpora.sgml import read_articles
from benchmark.text.lexer import DIGIT_RULES, LEXERS, Lexing
from benchmark.text.pruning import Pruning
from benchmark.text.vocabulary import count_terms
from tests.corpora.small import small_card, small_files
from tests.corpora.test_reuters import CARD, FILES
from tests.corpora.test_sgml import DOCTYPE, GOOD
from tests.strategies import damaged, one
from tests.trials.limits import examples
from tests.trials.test_tables import read_twice

if TYPE_CHECKING:
    from benchmark.text.counts import Counts

SGML_TOKENS = [
    b"<REUTERS", b"</REUTERS>", b"<REUTERS>", b"<TOPICS>", b"</TOPICS>", b"<D>", b"</D>", b"<DATE>", b"<TEXT>",
    b'<TEXT TYPE="UNPROC">', b"</TEXT>", b"<TITLE>", b"</TITLE>", b"<BODY>", b"</BODY>", b'NEWID="1"', b"NEWID='",
    b'TOPICS="YES"', b'LEWISSPLIT="TEST"', b'TYPE="BRIEF"', b"<!", b"-->", b"<![CDATA[", b"<", b">", b'"', b"'", b"=",
    b"&", b"&#", b"&#3;", b"&#999;", b"&lt;", b"&amp;lt;", b";", b"\0", b"\x1a", b"\xff", b"\xe9", b"\n", b"\r\n",
    b" ", b"9" * 5_000, b"A" * 300,
]  # fmt: skip
PAGE_TOKENS = [
    b"<", b">", b"<a href='x", b"</", b"<!--", b"-->", b"<script>", b"&", b"&#", b"&#233", b"&#233;", b"&lt;",
    b"&gt;", b"&nbsp;", b"&foo;", b"&yuml;", b"&#x41;", b";", b"\n\n", b"\r\n\r\n", b"\r", b"\n", b"\0", b"\xff",
    b"\xc3\xa9", b"0", b"123", b"a" * 98, b"b" * 99, b"c" * 100, b"9" * 120, b"A1b2", b"Subject: x\n", b"From ",
    b"\x7f", b"\t", b"#", b"<digits>",
]  # fmt: skip
MAIL = (
    b"From: a.b@example.org (A B)\nSubject: Re: 2 questions\nOrganization: None\nLines: 12\n\n"
    b"In article <1993Apr5.1@x.org>, c@d.edu writes:\r\n>> 1 < 2 & 3 > 2; AT&T, caf\xe9 R2D2\r\n"
    b"--\n   A. B.  0x1F  1,000,000\n"
)


@functools.cache
def seeds() -> list[bytes]:
    return [MAIL, *(bytes(page) for page in list(synthetic.generate_synthetic().values())[:6])]


ARTICLES = FILES | {b"reut2-001.sgm": DOCTYPE + GOOD + FILES[b"reut2-001.sgm"]}


def comparable(corpus: Corpus) -> tuple[Any, ...]:
    documents = corpus.documents
    topics = None if documents.topics is None else documents.topics.tobytes()
    return documents.ids, documents.labels.tobytes(), documents.parts.tobytes(), topics, corpus.text.tobytes()


@st.composite
def reuters_files(draw: Any) -> tuple[bytes, dict[bytes, bytes]]:
    """Draw a small Reuters, one file of it damaged; the file's name first."""
    name = one(draw, list(ARTICLES))
    return name, ARTICLES | {name: draw(damaged([ARTICLES[name]], SGML_TOKENS))}


@examples(2_500)
@given(reuters_files(), st.sampled_from(CARD.subset_names))
def test_articles_are_read_alike_or_refused_with_a_reason(
    changed: tuple[bytes, dict[bytes, bytes]], subset: str
) -> None:
    name, files = changed
    card = CARD.subset(subset)

    def joined() -> tuple[Any, ...]:
        corpus = reuters.read_reuters(files, card, card.digest)
        check_document_counts(corpus, card)
        return comparable(corpus)

    read_twice(lambda: list(read_articles(files[name], "x.sgm")))
    read_twice(joined)


def counted(texts: list[bytes], lexing: Lexing) -> Counts:
    n = len(texts)
    zeros = np.zeros(n, dtype=np.int32)
    documents = Documents(tuple(map(str, range(n))), zeros, zeros, ("class",), ("group",))
    return count_terms(Corpus("trial", documents, *concatenate_texts(texts), "0" * 64), lexing, Pruning())


@st.composite
def pages(draw: Any) -> tuple[str, dict[bytes, bytes]]:
    """Draw a corpus by its name, with documents that are damaged, and sometimes a name that is."""
    name = one(draw, ("webkb", "20ng"))
    files = {relpath: draw(damaged(seeds(), PAGE_TOKENS)) for relpath in small_files(name)}
    if draw(st.integers(0, 2)) == 1:
        relpath = one(draw, list(files))
        files[draw(damaged([relpath], [b"/", b"\0", b"..", b"\xff", b"\n", b"x"]))] = files.pop(relpath)
    return name, files


LEXINGS = st.builds(
    Lexing,
    st.booleans(),
    st.booleans(),
    st.sampled_from(sorted(DIGIT_RULES)),
    st.sampled_from(["none", "smart"]),
    st.sampled_from(sorted(LEXERS)),
)


@examples(2_500)
@given(pages(), LEXINGS)
def test_words_of_a_page_are_its_own_and_the_same_each_time(
    corpus: tuple[str, dict[bytes, bytes]], lexing: Lexing
) -> None:
    name, files = corpus
    texts = list(files.values())
    together = counted(texts, lexing)
    for row, text in enumerate(texts):
        alone = counted([text], lexing)
        mine = together.matrix[[row]].tocoo()
        found = {together.vocabulary[column]: int(n) for column, n in zip(mine.coords[1], mine.data, strict=True)}
        assert found == dict(zip(alone.vocabulary, map(int, alone.matrix.toarray()[0]), strict=True))
    assert not (counted(texts, lexing).matrix != together.matrix).nnz
    card, read = small_card(name), {"webkb": webkb.read_webkb, "20ng": newsgroups.read_newsgroups}[name]
    read_twice(lambda: comparable(read(files, card, card.digest)))
