"""Parse a file of Reuters-21578's SGML into articles.

The markup is regular (lewis.dtd): in text every ``<`` is written ``&lt;``, so that a tag is a tag wherever it occurs.
Files are read as latin-1, because one contains a byte that isn't UTF-8. The many control characters, written ``&#3;``,
are decoded like any entity. Parsing takes linear time for any input: no expression starts twice on the same run, and
none is tried where an element opens more than once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.entities import name2codepoint
from typing import TYPE_CHECKING

from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT_TYPES = ("NORM", "BRIEF", "UNPROC")
REUTERS_SPLITS = ("TRAIN", "TEST", "NOT-USED")
TOPICS_FLAGS = ("YES", "NO", "BYPASS")

_OPEN, _CLOSE = b"<REUTERS", b"</REUTERS>"
_ATTRIBUTE = re.compile(rb"""(?<![A-Z])([A-Z]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")
_ELEMENTS = {
    name: re.compile(rb"<%s\b([^>]*)>(.*?)</%s\s*>" % (name.encode(), name.encode()), re.DOTALL)
    for name in ("TOPICS", "D", "TEXT", "TITLE", "BODY")
}
# Allowed before and between articles: declarations, comments, white space, and control characters (such as a DOS end
# of file).
_NO_ARTICLE = re.compile(rb"(?:<![^>]*+>|[\x00-\x20\x7f]++)*+")
_ENTITY = re.compile(rb"&(?:#([0-9]{1,3})|([A-Za-z0-9]+));")
_NUMBER = re.compile(r"[0-9]{1,18}")
_SHOWN = 40
"""Number of characters of a wrong value in an error."""
_CHARACTERS = {name.encode(): bytes([code]) for name, code in name2codepoint.items() if code < 256}


@dataclass(frozen=True)
class Article:
    """One story of the newswire, divided by its tags, with entities decoded.

    Parameters
    ----------
    newid : int
        Number in Reuters-21578, 1 to 21578.
    split : {"TRAIN", "TEST", "NOT-USED"}
        LEWISSPLIT, the part of Lewis's split.
    topics_flag : {"YES", "NO", "BYPASS"}
        Attribute TOPICS: whether the story had topics in the data that Reuters-21578 was made from. This doesn't imply
        that `topics` isn't empty.
    topics : tuple of str
        Topics of the story without repetitions, in the order listed (two stories list one twice).
    text_type : {"NORM", "BRIEF", "UNPROC"}
        Division of the text: a title and a body; only a title (a note of a line or two); undivided.
    title, body : bytes or None
    text : bytes or None
        Undivided text of an UNPROC story, which has no title and no body; None for other stories.
    """

    newid: int
    split: str
    topics_flag: str
    topics: tuple[str, ...]
    text_type: str
    title: bytes | None
    body: bytes | None
    text: bytes | None


def read_articles(content: bytes, name: str) -> Iterator[Article]:
    """Yield the articles of one file, in order.

    Parameters
    ----------
    content : bytes
    name : str
        Name of the file in errors.

    Raises
    ------
    DataError
        An article can't be read; the message has the file and the article's NEWID, or the byte where it starts.
    """
    between, *pieces = content.split(_OPEN)
    _refuse_strays(between, name, 0)
    position = len(between)
    for piece in pieces:
        try:
            article, rest = _read_article(piece)
        except ValueError as error:
            raise DataError(f"{name}, {_place(piece, position)}: {error}") from None
        yield article
        start = position + len(_OPEN) + len(piece) - len(rest)
        _refuse_strays(rest, name, start)
        position = start + len(rest)


def decode_entities(markup: bytes) -> bytes:
    """Replace each entity for a latin-1 character; leave any other ``&`` as it is.

    Examples
    --------
    >>> decode_entities(b"AT&amp;T &lt;T> &#65; &bogus; & &#999;")
    b'AT&T <T> A &bogus; & &#999;'
    """
    return _ENTITY.sub(_character, markup) if b"&" in markup else markup


def _character(entity: re.Match[bytes]) -> bytes:
    number, name = entity.groups()
    if number is None:
        return _CHARACTERS.get(name, entity[0])
    return bytes([int(number)]) if int(number) < 256 else entity[0]


def _read_article(piece: bytes) -> tuple[Article, bytes]:
    """Parse the text between one ``<REUTERS`` and the next; return the article, and the rest after its end."""
    tag, opened, inside = piece.partition(b">")
    markup, closed, rest = inside.partition(_CLOSE)
    if not opened or not closed:
        raise ValueError("the article has no end, </REUTERS>")
    attributes = _attributes(tag)
    newid = attributes.get("NEWID", "")
    if not _NUMBER.fullmatch(newid):
        raise ValueError(f"NEWID must be a number, not {newid!r:.{_SHOWN}}")
    topics = _only("TOPICS", markup)
    text = _only("TEXT", markup)
    if topics is None or text is None:
        raise ValueError(f"the article has no <{'TOPICS' if topics is None else 'TEXT'}>")
    elements = [_ELEMENTS["D"].match(b"<D" + rest) for rest in topics[2].split(b"<D")[1:]]
    listed = [topic[2].strip().decode("latin-1") for topic in elements if topic]
    if len(listed) != len(elements):
        raise ValueError("a <D> in its <TOPICS> is not closed")
    text_type = _one_of("TYPE", _attributes(text[1]), TEXT_TYPES, "NORM")
    title = body = whole = None
    if text_type == "UNPROC":
        whole = decode_entities(text[2])
    else:
        title, body = (_decoded(_only(element, text[2])) for element in ("TITLE", "BODY"))
        if title is None and body is None:
            raise ValueError("the article has neither a <TITLE> nor a <BODY>")
    article = Article(
        int(newid),
        _one_of("LEWISSPLIT", attributes, REUTERS_SPLITS),
        _one_of("TOPICS", attributes, TOPICS_FLAGS),
        tuple(dict.fromkeys(listed)),
        text_type,
        title,
        body,
        whole,
    )
    return article, rest


def _attributes(tag: bytes) -> dict[str, str]:
    pairs = _ATTRIBUTE.findall(tag)
    return {key.decode("ascii"): (double or single).decode("latin-1") for key, double, single in pairs}


def _one_of(key: str, attributes: dict[str, str], allowed: tuple[str, ...], default: str = "") -> str:
    value = attributes.get(key, default)
    if value not in allowed:
        raise ValueError(f"{key} must be one of {', '.join(allowed)}, not {value!r:.{_SHOWN}}")
    return value


def _only(element: str, markup: bytes) -> re.Match[bytes] | None:
    """Match the only element of a name, with its attributes and content; return None if there is none."""
    name = element.encode("ascii")
    n_open, n_close = markup.count(b"<" + name), markup.count(b"</" + name)
    if n_open > 1 or n_close > 1:
        raise ValueError(f"the article has more than one <{element}>")
    found = _ELEMENTS[element].search(markup)
    if found is None and (n_open or n_close):
        raise ValueError(f"<{element}> is not closed, or not opened")
    return found


def _decoded(element: re.Match[bytes] | None) -> bytes | None:
    return None if element is None else decode_entities(element[2])


def _refuse_strays(between: bytes, name: str, start: int) -> None:
    good = _NO_ARTICLE.match(between)
    end = good.end() if good else 0
    if end < len(between):
        stray = between[end : end + 20]
        raise DataError(f"{name}, byte {start + end:,}: {stray!r} stands where an article should start")


def _place(piece: bytes, position: int) -> str:
    """Return the place of an article that can't be read: its NEWID, or the byte where it starts."""
    newid = _attributes(piece.partition(b">")[0]).get("NEWID", "")
    return f"NEWID {newid}" if _NUMBER.fullmatch(newid) else f"byte {position:,}"
