"""Assemble files into a `Corpus`, check its numbers of documents, and select classes and documents."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from benchmark.corpora.card import WHOLE_CORPUS
from benchmark.corpora.corpus import Corpus, Documents, StreamedCorpus, concatenate_texts
from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmark.corpora.archive import FileContents
    from benchmark.corpora.card import DatasetCard

Readable = TypeVar("Readable", Corpus, StreamedCorpus)

ClassAndGroup = tuple[str, str]
"""Class and group of a document."""


def assemble(
    files: FileContents, card: DatasetCard, digest: str, place_of: Callable[[Sequence[str]], ClassAndGroup]
) -> Corpus:
    """Join the files into a corpus, in an order that depends on their relpaths alone.

    Parameters
    ----------
    files : FileContents
    card : DatasetCard
        Sets the order of the classes and groups.
    digest : str
        Content digest of `files`.
    place_of : callable
        Returns the class and group of a document for the parts of its relpath (at least two).

    Returns
    -------
    Corpus
        The documents, sorted bytewise by relpath.

    Raises
    ------
    DataError
        A file lies where the corpus has no documents.
    """
    relpaths = sorted(files)
    ids = tuple(relpath.decode("latin-1") for relpath in relpaths)
    class_code = {name: code for code, name in enumerate(card.classes)}
    part_code = {name: code for code, name in enumerate(card.parts)}
    labels, parts = np.empty(len(ids), dtype=np.int32), np.empty(len(ids), dtype=np.int32)
    for row, name in enumerate(ids):
        try:
            label, group = place_of(name.split("/"))
            labels[row], parts[row] = class_code[label], part_code[group]
        except (KeyError, ValueError):
            raise DataError(
                f"{card.title}: {name!r} lies where the corpus has no documents. Get a fresh, unchanged copy."
            ) from None
    text, bounds = concatenate_texts([files[relpath] for relpath in relpaths])
    return Corpus(card.name, Documents(ids, labels, parts, card.classes, card.parts), text, bounds, digest)


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
    names = list(card.classes)
    found = documents.sizes()
    expected = np.array([list(row.values()) for row in card.counts.values()])
    if card.documents is not None:
        names.append("documents")
        found = np.vstack([found, np.bincount(documents.parts, minlength=len(card.parts))])
        expected = np.vstack([expected, list(card.documents.values())])
    wrong = [
        f"\n  {names[i]}, {card.parts[j]}: expected {expected[i, j]:,}, found {found[i, j]:,}"
        for i, j in np.argwhere(found != expected)
    ]
    if wrong:
        raise DataError(f"{title}: the numbers of documents differ from the card's.{''.join(wrong)}")


def select_documents(corpus: Readable, classes: Sequence[str] | None = None, exclude: Iterable[str] = ()) -> Readable:
    """Keep some classes, and drop single documents.

    Parameters
    ----------
    corpus : Corpus or StreamedCorpus
    classes : sequence of str, optional
        Classes to keep; class codes follow this order. By default all classes, in the corpus's order. Documents of
        other classes are dropped. Multi-label documents all stay, since a document without any of the classes is an
        example as well; only the columns of `topics` are selected.
    exclude : iterable of str
        Ids of documents to drop.

    Returns
    -------
    Corpus or StreamedCorpus
        The remaining documents, in their old order. The digest stays that of the whole corpus.

    Raises
    ------
    ConfigError
        A class or document isn't in the corpus, or a class is named twice.
    """
    documents = corpus.documents
    kept = documents.classes if classes is None else tuple(classes)
    known = set(documents.classes)
    for name in kept:
        if name not in known:
            raise _unknown("class", name, documents.classes, f"Allowed: {', '.join(documents.classes)}.")
    if not kept or len(set(kept)) != len(kept):
        raise ConfigError(f"The classes of {corpus.dataset} must be one or more, each named once; not {list(kept)}.")

    row_of = {name: row for row, name in enumerate(documents.ids)}
    rows, chosen = documents.of_classes(kept)
    dropped = list(exclude)
    for name in dropped:
        if name not in row_of:
            raise _unknown("document", name, documents.ids, f"Documents are named like {documents.ids[0]!r}.")
    stays = ~np.isin(rows, [row_of[name] for name in dropped])
    return replace(corpus.take(rows[stays]), documents=chosen.take(np.flatnonzero(stays)))


def _unknown(kind: str, name: str, known: Sequence[str], help_: str) -> ConfigError:
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return ConfigError(f"The corpus has no {kind} {name!r}.{hint} {help_}")
