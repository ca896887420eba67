"""Reuters-21578, the ModApte split: newswire stories of 1987, with any number of topics each (Lewis 1997).

Training stories have LEWISSPLIT="TRAIN" and TOPICS="YES", test stories "TEST" and "YES"; all others are left out of the
corpus. Papers use subsets of it, see `SUBSETS`.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from benchmark.corpora.card import WHOLE_CORPUS
from benchmark.corpora.corpus import Corpus, Documents, concatenate_texts
from benchmark.corpora.sgml import read_articles

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmark.corpora.archive import FileContents
    from benchmark.corpora.card import DatasetCard
    from benchmark.corpora.sgml import Article

REUTERS_PARTS = {"TRAIN": "train", "TEST": "test"}

_LISTS_TWICE = 19918
"""Test story that lists its only topic, trade, twice; R8 and R52 treat it as a story of several topics."""


def _single_of(article: Article, classes: Sequence[str]) -> bool:
    """Test whether a story has exactly one topic, listed once, and this topic is one of the classes."""
    return len(article.topics) == 1 and article.topics[0] in classes and article.newid != _LISTS_TWICE


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
"""Predicates that select each subset's stories of the ModApte split, from a story and the subset's classes."""


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
