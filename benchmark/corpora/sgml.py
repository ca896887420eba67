"""Parse a file of Reuters-21578's SGML into articles.

The markup is regular (lewis.dtd), and the files' content is verified before they are parsed: in text every ``<`` is
written ``&lt;``, so that a tag is a tag wherever it occurs. Files are read as latin-1, because one contains a byte that
isn't UTF-8. The many control characters, written ``&#3;``, are decoded like any entity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.entities import name2codepoint
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ARTICLE = re.compile(rb"<REUTERS([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(rb'([A-Z]+)\s*=\s*"([^"]*)"')
_TOPIC = re.compile(rb"<D>(.*?)</D>", re.DOTALL)
_ENTITY = re.compile(rb"&(?:#([0-9]{1,3})|([A-Za-z0-9]+));")
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


def read_articles(content: bytes) -> Iterator[Article]:
    """Yield the articles of one file, in order."""
    for tag, markup in _ARTICLE.findall(content):
        attributes = _attributes(tag)
        _, topics = _element(b"TOPICS", markup) or (b"", b"")
        text_tag, text = _element(b"TEXT", markup) or (b"", b"")
        text_type = _attributes(text_tag).get("TYPE", "NORM")
        undivided = text_type == "UNPROC"
        title, body = (None if undivided else _element(name, text) for name in (b"TITLE", b"BODY"))
        yield Article(
            int(attributes["NEWID"]),
            attributes["LEWISSPLIT"],
            attributes["TOPICS"],
            tuple(dict.fromkeys(topic.strip().decode("latin-1") for topic in _TOPIC.findall(topics))),
            text_type,
            title and decode_entities(title[1]),
            body and decode_entities(body[1]),
            decode_entities(text) if undivided else None,
        )


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


def _attributes(tag: bytes) -> dict[str, str]:
    return {key.decode("ascii"): value.decode("latin-1") for key, value in _ATTRIBUTE.findall(tag)}


def _element(name: bytes, markup: bytes) -> tuple[bytes, bytes] | None:
    """Return the attributes and content of the first element of a name; None if there is none."""
    found = re.search(rb"<%s\b([^>]*)>(.*?)</%s\s*>" % (name, name), markup, re.DOTALL)
    return None if found is None else (found[1], found[2])
