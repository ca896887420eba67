"""Assemble files into a `Corpus`, check its numbers of documents, and select classes and documents."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from benchmark.corpora.card import WHOLE_CORPUS
from benchmark.corpora.corpus import Corpus, Documents, concatenate_texts
from benchmark.system.errors import ConfigError, DataError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmark.corpora.archive import FileContents
    from benchmark.corpora.card import DatasetCard

NEWSGROUPS_PARTS = {"20news-bydate-train": "train", "20news-bydate-test": "test"}
_FROM = re.compile(rb"(?im)^from:(.*)$")
_ADDRESS = re.compile(rb"[^\s<>()\"]+@[^\s<>()\"]+")


def read_webkb(files: FileContents, card: DatasetCard, digest: str) -> Corpus:
    """Join WebKB's pages; a page is ``<class>/<university>/<address with ^ for />``, and its group the university."""
    return _assemble(files, card, digest, lambda path: path.split("/")[:2])


def read_newsgroups(files: FileContents, card: DatasetCard, digest: str) -> Corpus:
    """Join the posts; a post is ``20news-bydate-<part>/<newsgroup>/<number>``, and its group is the part.

    Training posts come first: bytewise order would put "test" before "train". The posts have no dates; their numbers,
    which follow the order of arrival in a newsgroup, replace them. The posts of an author are a group.
    """

    def class_and_part(path: str) -> list[str]:
        part, newsgroup, _ = path.split("/")
        return [newsgroup, NEWSGROUPS_PARTS[part]]

    corpus = _assemble(files, card, digest, class_and_part)
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


def _assemble(
    files: FileContents, card: DatasetCard, digest: str, class_and_part: Callable[[str], Sequence[str]]
) -> Corpus:
    """Join the files into a corpus, sorted bytewise by relpath; `class_and_part` returns the class and group of one."""
    relpaths = sorted(files)
    ids = tuple(relpath.decode("latin-1") for relpath in relpaths)
    labels, parts = zip(*map(class_and_part, ids), strict=True)
    text, bounds = concatenate_texts([files[relpath] for relpath in relpaths])
    label_codes = np.array([card.classes.index(name) for name in labels], dtype=np.int32)
    part_codes = np.array([card.parts.index(name) for name in parts], dtype=np.int32)
    return Corpus(card.name, Documents(ids, label_codes, part_codes, card.classes, card.parts), text, bounds, digest)


def check_document_counts(corpus: Corpus, card: DatasetCard) -> None:
    """Compare the numbers of documents by class and group (if multi-label, also by group) with the card's.

    Raises
    ------
    DataError
        Numbers differ. The message lists each class and group whose number differs, expected and found.
    """
    documents = corpus.documents
    title = card.title if card.kept == WHOLE_CORPUS else f"{card.title}, {card.kept}"
    if documents.classes != card.classes or documents.part_names != card.parts:
        raise DataError(f"{title}: the classes or groups are not those of the card.")
    if (documents.topics is None) != (card.documents is None):
        raise DataError(f"{title}: the card and the corpus disagree on whether a document has exactly one class.")
    expected = {(name, part): n for name, row in card.counts.items() for part, n in row.items()}
    found = dict(zip(product(card.classes, card.parts), documents.sizes().ravel().tolist(), strict=True))
    if card.documents is not None:
        expected |= {("documents", part): n for part, n in card.documents.items()}
        in_parts = np.bincount(documents.parts, minlength=len(card.parts)).tolist()
        found |= {("documents", part): n for part, n in zip(card.parts, in_parts, strict=True)}
    wrong = [
        f"\n  {name}, {part}: expected {n:,}, found {found[name, part]:,}"
        for (name, part), n in expected.items()
        if found[name, part] != n
    ]
    if wrong:
        raise DataError(f"{title}: the numbers of documents differ from the card's.{''.join(wrong)}")


def select_documents(corpus: Corpus, classes: Sequence[str] | None = None, exclude: Iterable[str] = ()) -> Corpus:
    """Keep some classes, and drop single documents.

    Parameters
    ----------
    corpus : Corpus
    classes : sequence of str, optional
        Classes to keep; class codes follow this order. By default all classes, in the corpus's order. Documents of
        other classes are dropped. Multi-label documents all stay, since a document without any of the classes is an
        example as well; only the columns of `topics` are selected.
    exclude : iterable of str
        Ids of documents to drop.

    Returns
    -------
    Corpus
        The remaining documents, in their old order. The digest stays that of the whole corpus.

    Raises
    ------
    ConfigError
        A document isn't in the corpus.
    """
    documents = corpus.documents
    rows, chosen = documents.of_classes(documents.classes if classes is None else tuple(classes))
    row_of = {name: row for row, name in enumerate(documents.ids)}
    dropped = list(exclude)
    for name in dropped:
        if name not in row_of:
            raise ConfigError(f"The corpus has no document {name!r}{did_you_mean(name, documents.ids)}")
    stays = ~np.isin(rows, [row_of[name] for name in dropped])
    return replace(corpus.take(rows[stays]), documents=chosen.take(np.flatnonzero(stays)))
