"""The reader of the SGML files: what is written is read back, and an article that is broken is named."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.corpora import archive, registry
from benchmark.corpora.sgml import REUTERS_SPLITS, TOPICS_FLAGS, Article, decode_entities, read_articles
from benchmark.system.errors import DataError
from tests.strategies import damaged

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
    st.sampled_from(REUTERS_SPLITS),
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
        *((b"&#%d;" % n, bytes([n])) for n in (0, 3, 65, 127, 128, 255)),
        *((b"&#%d;" % n, b"&#%d;" % n) for n in (256, 999, 1000)),
        (b"&euro; &#0065; &#x41;", b"&euro; &#0065; &#x41;"),
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
    (b"</BODY>", b"", "NEWID 7: <BODY> is not closed, or not opened"),
    (b"<TITLE>", b"", "NEWID 7: <TITLE> is not closed, or not opened"),
    (b"</BODY>", b"</BODY><BODY>again</BODY>", "NEWID 7: the article has more than one <BODY>"),
    *(
        (
            b"</%s>" % name.encode(),
            b"</%s></%s>" % (name.encode(), name.encode()),
            f"NEWID 7: .* more than one <{name}>",
        )
        for name in ("TOPICS", "TEXT", "TITLE", "BODY")
    ),
    *(
        (b"<%s>" % name.encode(), b"<%s><%s>" % (name.encode(), name.encode()), f"NEWID 7: .* more than one <{name}>")
        for name in ("TOPICS", "TEXT", "TITLE", "BODY")
    ),
    (b"<TEXT>", b"", "NEWID 7: <TEXT> is not closed, or not opened"),
    (b"</TEXT>", b"", "NEWID 7: <TEXT> is not closed, or not opened"),
    (b"</TOPICS>", b"", "NEWID 7: <TOPICS> is not closed, or not opened"),
    (b"</REUTERS>\n", b"</REUTERS>\nlost words\n", f"byte {len(DOCTYPE + GOOD)}: b'lost words\\\\n' stands where"),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN)
@pytest.mark.parametrize("follows", [b"", GOOD.replace(b'NEWID="7"', b'NEWID="8"')], ids=["last", "followed"])
def test_a_broken_article_is_named(old, new, message, follows):
    with pytest.raises(DataError, match=f"^x.sgm, {message}") as caught:
        list(read_articles(DOCTYPE + GOOD.replace(old, new) + follows, "x.sgm"))
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("before", range(3))
def test_the_place_of_a_broken_article_or_of_stray_words_is_a_byte_of_the_file(before):
    """However many articles, and white space between them, stand before it."""
    good = b"".join(GOOD.replace(b'NEWID="7"', b'NEWID="%d"' % n) + b"\n" * n for n in range(before))
    for bad, at in ((GOOD.replace(b'NEWID="7"', b""), 0), (GOOD + b"lost", len(GOOD)), (GOOD[:9], 0)):
        content = DOCTYPE + good + bad
        with pytest.raises(DataError, match=rf"^x\.sgm, byte {len(DOCTYPE + good) + at:,}: ") as caught:
            list(read_articles(content, "x.sgm"))
        assert ("stands where an article should start" in str(caught.value)) == bad.endswith(b"lost")


@pytest.mark.parametrize("length", [39, 40, 41, 1000])
def test_of_a_long_wrong_value_the_first_forty_letters_are_shown(length):
    for old, new in (
        (b'TOPICS="YES"', b'TOPICS="%b"'),
        (b'NEWID="7"', b'NEWID="%b"'),
        (b"<TEXT>", b'<TEXT TYPE="%b">'),
    ):
        with pytest.raises(DataError) as caught:
            list(read_articles(GOOD.replace(old, new % (b"x" * length)), "x.sgm"))
        assert str(caught.value).endswith(f", not {repr('x' * length)[:40]}")


@pytest.mark.parametrize(("digits", "good"), [(1, True), (18, True), (19, False)])
def test_a_number_has_up_to_eighteen_digits(digits, good):
    content = GOOD.replace(b'NEWID="7"', b'NEWID="%b"' % (b"9" * digits))
    if good:
        assert [article.newid for article in read_articles(content, "x.sgm")] == [int("9" * digits)]
        return
    with pytest.raises(DataError, match=r"^x\.sgm, byte 0: NEWID must be a number, not '9{19}'$"):
        list(read_articles(content, "x.sgm"))


def test_what_stands_before_the_first_article_is_named():
    with pytest.raises(DataError, match=r"x\.sgm, byte 36: b'<REUTER>' stands where an article should start"):
        list(read_articles(DOCTYPE + b"<REUTER>", "x.sgm"))


def test_an_empty_file_has_no_articles():
    assert list(read_articles(b"", "x.sgm")) == list(read_articles(DOCTYPE, "x.sgm")) == []


TOPICS, TEXT = b"<TOPICS><D>cocoa</D></TOPICS>", b"<TEXT><BODY>words</BODY></TEXT>"
OPENED = b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="7">'
PLACES = {
    "file": (b"", b""),
    "tag": (b"<REUTERS ", b""),
    "closed tag": (b"<REUTERS ", b">" + TOPICS + TEXT + b"</REUTERS>"),
    "number": (OPENED[:-3], b'">' + TOPICS + TEXT + b"</REUTERS>"),
    "article": (OPENED, b"</REUTERS>"),
    "topics": (OPENED + b"<TOPICS>", b"</TOPICS>" + TEXT + b"</REUTERS>"),
    "topics' tag": (OPENED + b"<TOPICS ", b"></TOPICS>" + TEXT + b"</REUTERS>"),
    "topic's tag": (OPENED + b"<TOPICS><D", b"></D></TOPICS>" + TEXT + b"</REUTERS>"),
    "text": (OPENED + TOPICS + b"<TEXT>", b"</TEXT></REUTERS>"),
    "text's tag": (OPENED + TOPICS + b"<TEXT ", b"><TITLE>words</TITLE></TEXT></REUTERS>"),
    "title": (OPENED + TOPICS + b"<TEXT><TITLE>", b"</TITLE></TEXT></REUTERS>"),
    "open title": (OPENED + TOPICS + b"<TEXT><TITLE>", b"</TEXT></REUTERS>"),
    "end": (OPENED + TOPICS + TEXT + b"</REUTERS>", b""),
}
TAGS = [
    opened
    for name in (b"REUTERS", b"TOPICS", b"D", b"TEXT", b"TITLE", b"BODY")
    for opened in (b"<%s" % name, b"<%s>" % name, b"</%s" % name, b"</%s " % name, b"<%s></%s>" % (name, name))
]
RUNS = [
    b"A",
    b"A ",
    b"A=",
    b"A='",
    b'A="',
    b'A="\'"',
    b" ",
    b"\n",
    b"=",
    b"<",
    b"<!",
    b"<!>",
    b"<! >",
    b"&",
    b"&a",
    b"&#1",
]


def read_or_refused(content: bytes) -> tuple[int, str]:
    """How many articles were read, or the error, which must be a short line of its kind."""
    try:
        return len(list(read_articles(content, "x.sgm"))), ""
    except DataError as error:
        message = str(error)
    assert re.fullmatch(r"x\.sgm, (NEWID \d+|byte [\d,]+): .{1,160}", message), message
    return 0, message


def is_read_in(most: float, content: bytes) -> bool:
    """Once in three times: a collection of all that the tests have made, half a second, may fall into one."""

    def seconds() -> float:
        started = time.process_time()
        read_or_refused(content)
        return time.process_time() - started

    return any(seconds() < most for _ in range(3))


@pytest.mark.parametrize("place", PLACES)
def test_no_input_takes_more_time_than_is_in_proportion_to_its_length(place):
    """64 KB of anything take some milliseconds; where the time grows with the square, they take seconds."""
    before, after = PLACES[place]
    size = 2**16
    for unit in [*TAGS, *RUNS]:
        assert is_read_in(0.4, before + unit * (size // len(unit)) + after), unit
    for run in (b"A" * size + b" " * size, b"A" * size + b" " * size + b"=" + b" " * size):
        assert is_read_in(0.4, before + run + after)


MAIL = b"From: a@b.org\nSubject: AT&amp;T <T> 1987\n\n> It says:\n\tx\0y \xe9\x1a\n"
TOKENS = [
    *TAGS,
    *RUNS,
    b'NEWID="7"',
    b"TYPE='BRIEF'",
    b"</REUTERS>",
    b"<D>earn</D>",
    b"&lt;",
    b"&#300;",
    b"\x00",
    b"\xff",
]


def test_a_damaged_file_is_read_or_refused():
    """Whatever comes of a file, articles or one clear line: no other error."""
    found = []

    @settings(max_examples=1_000)
    @given(damaged([DOCTYPE + GOOD + GOOD.replace(b'"7"', b'"8"'), GOOD, MAIL], TOKENS))
    def read(content):
        found.append(read_or_refused(content))

    read()
    assert sum(articles for articles, _ in found) > 120
    assert len({re.sub(r"\d|'.*'", "", message) for _, message in found}) > 10


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
    source = registry.find_corpus("reuters")
    if source is None:
        pytest.skip("the corpus reuters is not here")
    content = bytes(archive.read_files(source, registry.dataset_card("reuters"))[b"reut2-%03d.sgm" % number])
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
