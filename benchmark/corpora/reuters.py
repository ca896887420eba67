"""Reuters-21578, the ModApte split: newswire stories of 1987, with any number of topics each (Lewis 1997).

Training stories have LEWISSPLIT="TRAIN" and TOPICS="YES", test stories "TEST" and "YES"; all others are left out of the
corpus. Papers use subsets of it, see `SUBSETS`.

The SGML is regular (lewis.dtd), and the files' content is verified before they are parsed: in text every ``<`` is
written ``&lt;``, so that a tag is a tag wherever it occurs. Files are read as latin-1, because one contains a byte that
isn't UTF-8. The many control characters, written ``&#3;``, are decoded like any entity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.entities import name2codepoint
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from benchmark.corpora.card import WHOLE_CORPUS
from benchmark.corpora.corpus import Corpus, Documents, concatenate_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmark.corpora.archive import FileContents
    from benchmark.corpora.card import DatasetCard

_ARTICLE = re.compile(rb"<REUTERS([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_ATTRIBUTE = re.compile(rb'([A-Z]+)\s*=\s*"([^"]*)"')
_TOPIC = re.compile(rb"<D>(.*?)</D>", re.DOTALL)
_ENTITY = re.compile(rb"&(?:#([0-9]{1,3})|([A-Za-z0-9]+));")
_CHARACTERS = {name.encode(): bytes([code]) for name, code in name2codepoint.items() if code < 256}

REUTERS_PARTS = {"TRAIN": "train", "TEST": "test"}

#: Test story that lists its only topic, trade, twice; R8 and R52 treat it as a story of several topics.
_LISTS_TWICE = 19918


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


def _single_of(article: Article, classes: Sequence[str]) -> bool:
    """Test whether a story has exactly one topic, listed once, and this topic is one of the classes."""
    return len(article.topics) == 1 and article.topics[0] in classes and article.newid != _LISTS_TWICE


#: Predicates that select each subset's stories of the ModApte split, from a story and the subset's classes.
SUBSETS: dict[str, Callable[[Article, Sequence[str]], bool]] = {
    WHOLE_CORPUS: lambda *_: True,
    # takamura2004 left out the "texts [that] have no text body"
    "without-brief": lambda article, _: article.text_type != "BRIEF",
    # tang2016, chen2018: the single-label documents
    "body-and-single-topic": lambda article, _: article.body is not None and len(article.topics) == 1,
    # Cardoso-Cachopo 2007: of the 10 largest and of the 90 topics below, those with single-topic stories in both parts
    "r8": _single_of,
    "r52": _single_of,
    # Yang and Liu 1999: stories of at least one of the 90 topics that occur in both parts
    "modapte-90": lambda article, classes: not set(classes).isdisjoint(article.topics),
}


def read_reuters(files: FileContents, card: DatasetCard, digest: str) -> Corpus:
    """Join the stories of the card's subset; a story's id is its NEWID.

    Training stories come first, then test stories, both by number, which is the order of time. A story's text is its
    title, a line feed, and its body, without dateline and author; the whole text where it is undivided (UNPROC), and
    the title alone where there is no body (BRIEF). Title and body are its fields; an undivided text has no fields. It
    is plain text: ``<`` marks a company, so a lexer must not skip HTML.

    Parameters
    ----------
    files : FileContents
    card : DatasetCard
        Card of the whole corpus, or of a subset, see `DatasetCard.subset`. Where the card has `documents` besides
        `counts`, stories have any number of topics, and the corpus is multi-label (see `Documents`).
    digest : str
        Content digest of `files`.
    """
    articles = chain.from_iterable(read_articles(bytes(files[relpath])) for relpath in sorted(files))
    stories = [story for story in articles if story.topics_flag == "YES" and story.split in REUTERS_PARTS]
    stories = [story for story in stories if SUBSETS[card.kept](story, card.classes)]
    stories.sort(key=lambda story: (card.parts.index(REUTERS_PARTS[story.split]), story.newid))

    parts = np.array([card.parts.index(REUTERS_PARTS[story.split]) for story in stories], dtype=np.int32)
    # topics that the card doesn't list are ignored
    topics = np.array([[name in story.topics for name in card.classes] for story in stories], dtype=np.bool_)
    multi_label = card.documents is not None
    labels = np.full(len(stories), -1, np.int32) if multi_label else topics.argmax(axis=1).astype(np.int32)
    ids = tuple(str(story.newid) for story in stories)
    documents = Documents(ids, labels, parts, card.classes, card.parts, topics if multi_label else None)
    text, bounds = concatenate_texts([_text(story) for story in stories])
    titles, bodies = np.zeros((2, len(stories), 2), dtype=np.int64)
    titles[:, 1] = [len(story.title or b"") for story in stories]
    bodies += np.diff(bounds)[:, None]
    bodies[:, 0] -= [len(story.body or b"") for story in stories]
    return Corpus(card.name, documents, text, bounds, digest, {"title": titles, "body": bodies})


def _text(story: Article) -> bytes:
    return b"\n".join(part for part in (story.title, story.body, story.text) if part is not None)


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
