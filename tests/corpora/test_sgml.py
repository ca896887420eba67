"""The reader of the SGML files: what is written is read back, and an article that is broken is named."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora import archive, registry
from benchmark.corpora.sgml import SPLITS, TOPICS_FLAGS, Article, decode_entities, read_articles
from benchmark.errors import DataError

DOCTYPE = b'<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'
GOOD = (
    b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5544" NEWID="7">\n'
    b"<DATE>26-FEB-1987</DATE>\n<TOPICS><D>cocoa</D></TOPICS>\n<PLACES><D>usa</D></PLACES>\n"
    b"<UNKNOWN>\n&#5;&#22;reute</UNKNOWN>\n<TEXT>&#2;\n<TITLE>COCOA &lt;UP></TITLE>\n"
    b"<DATELINE>    SALVADOR, Feb 26 - </DATELINE><BODY>Showers continued\n&#3;</BODY></TEXT>\n</REUTERS>\n"
)


def escaped(text: bytes) -> bytes:
    """Write text as the corpus does: no tag, and no control character, is left to be misread."""
    text = text.replace(b"&", b"&amp;").replace(b"<", b"&lt;")
    return re.sub(rb"[\x00-\x08\x0b-\x1f\x7f]", lambda found: b"&#%d;" % found[0][0], text)


def written(article: Article) -> bytes:
    topics = b"".join(b"<D>%s</D>" % topic.encode() for topic in article.topics)
    parts = [(b"TITLE", article.title), (b"DATELINE", b"Paris"), (b"BODY", article.body)]
    divided = b"\n".join(b"<%s>%s</%s>" % (tag, escaped(part), tag) for tag, part in parts if part is not None)
    attribute = b"" if article.text_type == "NORM" else b' TYPE="%s"' % article.text_type.encode()
    text = divided if article.text is None else escaped(article.text)
    return (
        b'<REUTERS TOPICS="%s" LEWISSPLIT="%s" OLDID="1" NEWID="%d">\n'
        b"<TOPICS>%s</TOPICS>\n<TEXT%s>%s</TEXT>\n</REUTERS>\n"
        % (article.topics_flag.encode(), article.split.encode(), article.newid, topics, attribute, text)
    )


def divided(text_type: str, title: bytes, body: bytes) -> dict[str, object]:
    parts = {"NORM": (title, body, None), "BRIEF": (title, None, None), "UNPROC": (None, None, body)}
    return dict(zip(("title", "body", "text"), parts[text_type], strict=True), text_type=text_type)


TEXTS = st.binary(max_size=40) | st.sampled_from([b"AT&T <T> &amp; &#3; </BODY></REUTERS>", b"\x03\x1a", b"\xfc"])
ARTICLES = st.builds(
    lambda newid, split, flag, topics, parts: Article(newid, split, flag, tuple(topics), **parts),
    st.integers(1, 21578),
    st.sampled_from(SPLITS),
    st.sampled_from(TOPICS_FLAGS),
    st.lists(st.sampled_from(["earn", "acq", "money-fx", "l-cattle"]), unique=True),
    st.builds(divided, st.sampled_from(["NORM", "BRIEF", "UNPROC"]), TEXTS, TEXTS),
)


@given(st.lists(ARTICLES, max_size=5))
def test_what_was_written_is_read(articles):
    content = DOCTYPE + b"".join(map(written, articles))
    assert list(read_articles(content, "x.sgm")) == articles


@given(st.binary())
def test_entities_are_undone(text):
    assert decode_entities(escaped(text)) == text


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (b"&lt;&gt;&amp;&quot;&eacute;&#252;", b'<>&"\xe9\xfc'),
        (b"&amp;lt;", b"&lt;"),
        (b"R&D &bogus; &#300; &lt &; &#;", b"R&D &bogus; &#300; &lt &; &#;"),
    ],
)
def test_only_entities_of_latin_1_are_decoded(markup, expected):
    assert decode_entities(markup) == expected


def test_an_article_as_it_stands_in_the_corpus():
    expected = Article(7, "TRAIN", "YES", ("cocoa",), "NORM", b"COCOA <UP>", b"Showers continued\n\x03", None)
    assert list(read_articles(DOCTYPE + GOOD, "x.sgm")) == [expected]


@pytest.mark.parametrize(
    "variation",
    [
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"YES", b"YES\" N='--' CSECS=\"3"),
        GOOD.replace(b'NEWID="7"', b"NEWID = '7'"),
        GOOD.replace(b"<TOPICS><D>", b'<TOPICS TYPE="DSET"> <D> ').replace(b"<TEXT>", b'<TEXT TYPE="NORM">'),
        b"<!-- a comment -->\n" + GOOD + b"\x1a",
        b"\x00\x7f\n" + GOOD,
        GOOD.replace(b"reute", b"\x05\x16\xff\xfc"),
    ],
    ids=range(7),
)
def test_harmless_variations_read_alike(variation):
    (article,) = read_articles(variation, "x.sgm")
    assert (article.newid, article.split, article.topics_flag, article.topics) == (7, "TRAIN", "YES", ("cocoa",))
    assert article.title == b"COCOA <UP>"


def test_a_topic_listed_twice_is_one_topic():
    (article,) = read_articles(GOOD.replace(b"</D></TOPICS>", b"</D><D>acq</D><D>cocoa</D></TOPICS>"), "x.sgm")
    assert article.topics == ("cocoa", "acq")


BROKEN = [
    (b"</REUTERS>", b"", "NEWID 7: the article has no end"),
    (b'NEWID="7"', b"", "byte 36: NEWID must be a number, not ''"),
    (b'NEWID="7"', b'NEWID="seven"', "byte 36: NEWID must be a number, not 'seven'"),
    (b'LEWISSPLIT="TRAIN"', b"", "NEWID 7: LEWISSPLIT must be one of TRAIN, TEST, NOT-USED, not ''"),
    (b'TOPICS="YES"', b'TOPICS="MAYBE"', "NEWID 7: TOPICS must be one of YES, NO, BYPASS, not 'MAYBE'"),
    (b"<TEXT>", b'<TEXT TYPE="BLAH">', "NEWID 7: TYPE must be one of NORM, BRIEF, UNPROC, not 'BLAH'"),
    (b"<TOPICS><D>cocoa</D></TOPICS>", b"", "NEWID 7: the article has no <TOPICS>"),
    (b"</D></TOPICS>", b"</D><D>acq</TOPICS>", "NEWID 7: a <D> in its <TOPICS> is not closed"),
    (b"<TEXT>", b"", "NEWID 7: <TEXT> is not closed, or not opened"),
    (b"</BODY>", b"", "NEWID 7: <BODY> is not closed, or not opened"),
    (b"<TITLE>", b"", "NEWID 7: <TITLE> is not closed, or not opened"),
    (b"</BODY>", b"</BODY><BODY>again</BODY>", "NEWID 7: the article has more than one <BODY>"),
    (b"</REUTERS>\n", b"</REUTERS>\nlost words\n", f"byte {len(DOCTYPE + GOOD)}: b'lost words\\\\n' stands where"),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN, ids=[message for _, _, message in BROKEN])
@pytest.mark.parametrize("follows", [b"", GOOD.replace(b'NEWID="7"', b'NEWID="8"')], ids=["last", "followed"])
def test_a_broken_article_is_named(old, new, message, follows):
    with pytest.raises(DataError, match=f"^x.sgm, {message}") as caught:
        list(read_articles(DOCTYPE + GOOD.replace(old, new) + follows, "x.sgm"))
    assert caught.value.exit_code == 3


def test_what_stands_before_the_first_article_is_named():
    with pytest.raises(DataError, match=r"x\.sgm, byte 36: b'<REUTER>' stands where an article should start"):
        list(read_articles(DOCTYPE + b"<REUTER>", "x.sgm"))


def test_an_empty_file_has_no_articles():
    assert list(read_articles(b"", "x.sgm")) == list(read_articles(DOCTYPE, "x.sgm")) == []


class Oracle(HTMLParser):
    """Python's own parser of tag soup: for each article its attributes, topics, title and body."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[dict[str, str]] = []
        self.open: list[str] = []
        self.topics: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "reuters":
            self.found.append({"title": "", "body": "", "topics": "", **{f"@{key}": value for key, value in attrs}})

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("title", "body"):
            self.found[-1][self.open[-1]] += data
        if self.open[-2:] == ["topics", "d"]:
            self.found[-1]["topics"] += f"{data} "


def printable(text: str) -> str:
    """HTML has no control characters: Python's parser drops their entities."""
    return re.sub(r"[\x00-\x08\x0b\x0e-\x1f\x7f]", "", text)


@pytest.mark.corpus
@pytest.mark.parametrize("number", [2, 17])
def test_a_true_file_is_read_as_python_reads_it(number):
    source = registry.find("reuters")
    if source is None:
        pytest.skip("the corpus reuters is not here")
    content = bytes(archive.read_files(source, registry.card("reuters"))[b"reut2-%03d.sgm" % number])
    oracle = Oracle()
    oracle.feed(content.decode("latin-1"))
    articles = list(read_articles(content, "x"))
    assert len(articles) == len(oracle.found) == 1000
    for mine, theirs in zip(articles, oracle.found, strict=True):
        assert (str(mine.newid), mine.split) == (theirs["@newid"], theirs["@lewissplit"])
        assert mine.topics_flag == theirs["@topics"]
        assert set(mine.topics) == set(theirs["topics"].split())
        for part in ("title", "body"):
            assert printable((getattr(mine, part) or b"").decode("latin-1")) == theirs[part]
