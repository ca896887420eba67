"""20 Newsgroups, the version sorted by date and split into train and test (Lang 1995; Rennie)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.corpora.assemble import assemble

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.corpora.archive import Files
    from benchmark.corpora.card import DatasetCard
    from benchmark.corpora.corpus import Corpus

SIDES = {"20news-bydate-train": "train", "20news-bydate-test": "test"}


def read(files: Files, card: DatasetCard, digest: str) -> Corpus:
    """Join the posts; a post is ``20news-bydate-<side>/<newsgroup>/<number>`` and its group is the side.

    The training posts come first: bytewise order would put "test" before "train".
    """
    corpus = assemble(files, card, digest, _place_of)
    return corpus.take(np.argsort(corpus.documents.groups, kind="stable"))


def _place_of(parts: Sequence[str]) -> tuple[str, str]:
    side, newsgroup, _ = parts
    return newsgroup, SIDES[side]
