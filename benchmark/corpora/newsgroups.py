"""20 Newsgroups, the version sorted by date and split into train and test (Lang 1995; Rennie)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchmark.corpora.assemble import assemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.corpora.archive import FileContents
    from benchmark.corpora.card import DatasetCard
    from benchmark.corpora.corpus import Corpus

NEWSGROUPS_PARTS = {"20news-bydate-train": "train", "20news-bydate-test": "test"}
_NUMBER = re.compile("[0-9]{1,18}")
_FROM = re.compile(rb"(?im)^from:(.*)$")
_ADDRESS = re.compile(rb"[^\s<>()\"]+@[^\s<>()\"]+")


def read_newsgroups(files: FileContents, card: DatasetCard, digest: str) -> Corpus:
    """Join the posts; a post is ``20news-bydate-<part>/<newsgroup>/<number>``, and its group is the part.

    Training posts come first: bytewise order would put "test" before "train". The posts have no dates; their numbers,
    which follow the order of arrival in a newsgroup, replace them. The posts of an author are a group.
    """
    corpus = assemble(files, card, digest, _place_of)
    numbers = np.array([int(name.rpartition("/")[2]) for name in corpus.documents.ids], dtype=np.int64)
    authors = np.unique([_author(post) for post in corpus], return_inverse=True)[1].astype(np.int32)
    corpus = replace(corpus, documents=replace(corpus.documents, dates=numbers, groups=authors))
    return corpus.take(np.argsort(corpus.documents.parts, kind="stable"))


def _author(post: bytes) -> bytes:
    """Return the address in a post's From line, or that line where it has none, in lower case."""
    line = _FROM.search(post)
    found = line[1].lower() if line else b""
    address = _ADDRESS.search(found)
    return address[0] if address else found.strip()


def _place_of(parts: Sequence[str]) -> tuple[str, str]:
    side, newsgroup, number = parts
    if not _NUMBER.fullmatch(number):
        raise ValueError(number)
    return newsgroup, NEWSGROUPS_PARTS[side]
