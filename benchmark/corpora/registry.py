"""Corpora by name: find, download and load them. A new corpus is a module, a card, and one line in `READERS`."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import platformdirs

from benchmark.corpora import archive, reuters, synthetic
from benchmark.corpora import card as cards
from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.assemble import check_document_counts, read_newsgroups, read_webkb
from benchmark.corpora.corpus import Documents
from benchmark.corpora.curved_points import CurvedPoints
from benchmark.corpora.reader import CorpusReader
from benchmark.corpora.user.counts_folder import CountsFolder
from benchmark.corpora.user.user_files import UserFiles
from benchmark.system.errors import ConfigError, DataError, unknown_name
from benchmark.system.shipped_files import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmark.corpora.archive import FileContents
    from benchmark.corpora.card import DatasetCard
    from benchmark.corpora.corpus import Corpus

READERS: dict[str, Callable[[FileContents, DatasetCard, str], Corpus]] = {
    "webkb": read_webkb,
    "20ng": read_newsgroups,
    "reuters": reuters.read_reuters,
    "synthetic": synthetic.read_synthetic,
}
GENERATORS: dict[str, Callable[..., FileContents]] = {"synthetic": synthetic.generate_synthetic}

DATASETS_VARIABLE = "BENCH_DATASETS"


def corpus_names() -> list[str]:
    """Return the name of every corpus that can be loaded."""
    return list(READERS)


def dataset_card(name: str, subset: str | None = None) -> DatasetCard:
    """Read the dataset card of a registered corpus, or of a subset of it; raise ConfigError for any other name."""
    if name not in READERS:
        raise ConfigError(unknown_name("corpus", name, list(READERS)))
    return cards.read_card(name).subset(subset)


def search_folders() -> list[Path]:
    """List the folders that are searched for corpora, in order.

    The entries of ``$BENCH_DATASETS`` (separated as in ``$PATH``); of a checkout ``datasets/`` and, beside it,
    ``shared/datasets/``; and the user's cache folder.
    """
    named = [Path(entry).expanduser() for entry in os.environ.get(DATASETS_VARIABLE, "").split(os.pathsep) if entry]
    ours = [] if CHECKOUT is None else [CHECKOUT / "datasets", CHECKOUT.parent / "shared" / "datasets"]
    return [*named, *ours, platformdirs.user_cache_path("simplexbench") / "datasets"]


def find_corpus(name: str) -> CorpusSource | None:
    """Find a corpus in the first of `search_folders` that has it, without reading it; return None if none has it."""
    archives = dataset_card(name).archives
    if name in GENERATORS:
        return CorpusSource(None)
    files = (file for folder in search_folders() for file in (folder, *(folder / each for each in archives)))
    # os.path rather than Path: a path that may not be accessed counts as absent instead of raising
    found = (file for file in files if file.name in archives and os.path.isfile(file))  # noqa: PTH113
    return next(map(CorpusSource, found), None)


def locate_corpus(
    name: str,
    *,
    download: bool = False,
    notify: Callable[[str], None] = lambda _: None,
) -> CorpusSource:
    """Find a corpus, or download it if that is allowed.

    Parameters
    ----------
    name : str
    download : bool
        Whether to download a corpus that isn't found.
    notify : callable
        Called with messages: the licence before a download, and each address.

    Raises
    ------
    DataError
        The corpus isn't found, or the download failed; the message names files, folders and a remedy.
    """
    source = find_corpus(name)
    if source is None and download:
        from benchmark.corpora.download import download_archive  # noqa: PLC0415 - pooch is slow to import

        try:
            folder = search_folders()[-1] if CHECKOUT is None else CHECKOUT / "datasets"
            source = download_archive(dataset_card(name), folder, notify=notify)
        except DataError as error:
            raise DataError(f"{error}\n{_missing(dataset_card(name))}") from None
    if source is None:
        raise _missing(dataset_card(name))
    return source


def load_corpus(name: str, source: CorpusSource | None = None, *, subset: str | None = None) -> Corpus:
    """Load a corpus or a subset of it, verified by content digest and numbers of documents.

    Parameters
    ----------
    name : str
    source : CorpusSource, optional
        As returned by `find_corpus` or `locate_corpus`; by default the corpus is located.
    subset : str, optional
        One of the card's `subset_names`; by default the whole corpus.

    Raises
    ------
    ConfigError
        There is no such corpus or subset.
    DataError
        The corpus is missing, damaged, or not the one its card describes.
    """
    card = dataset_card(name, subset)
    source = source or locate_corpus(name)
    files = GENERATORS[name]() if name in GENERATORS else archive.read_files(source, card)
    corpus = READERS[name](files, card, archive.verify_digest(files, card, source))
    check_document_counts(corpus, card)
    return corpus


@dataclass(frozen=True)
class PublishedCorpus(CorpusReader):
    """Corpus that a dataset card describes.

    Parameters
    ----------
    subset : str, optional
        Subset of the corpus, as named by its card; by default the whole corpus.
    """

    subset: str | None = None

    lexer: ClassVar[str] = "rainbow"

    def check(self) -> None:
        """Raise ConfigError if the card has no such subset."""
        dataset_card(self.name, self.subset)

    @property
    def card(self) -> DatasetCard:
        """Card of the corpus, or of the subset."""
        return dataset_card(self.name, self.subset)

    def outline(self) -> Documents:
        """Return stand-ins for documents in the numbers by class and group that the card has.

        Of documents with several classes or none, the numbers don't say which classes: the stand-ins have none.
        """
        card = self.card
        if card.documents is not None:
            parts = np.repeat(np.arange(len(card.parts)), list(card.documents.values())).astype(np.int32)
            topics, labels = np.zeros((len(parts), len(card.classes)), bool), np.full(len(parts), -1, np.int32)
        else:
            sizes = np.array([list(row.values()) for row in card.counts.values()])
            labels, parts = (
                np.repeat(axis.ravel(), sizes.ravel()).astype(np.int32) for axis in np.indices(sizes.shape)
            )
            topics = None
        return Documents(tuple(map(str, range(len(parts)))), labels, parts, card.classes, card.parts, topics)

    def locate(self, *, download: bool, notify: Callable[[str], None]) -> CorpusSource:
        """Find the corpus, or download it; see the function `locate_corpus`."""
        return locate_corpus(self.name, download=download, notify=notify)

    def content(self, source: CorpusSource) -> Mapping[str, Any]:
        """Return the archive's fingerprint and the card's facts, so that a changed card is checked again."""
        card = self.card
        rows = [[name, list(row.items())] for name, row in card.counts.items()]
        facts = [card.digest, card.tops, rows, card.documents]
        return {"source": archive.source_key(source, card), "card": facts, "subset": self.subset}

    def load(self, source: CorpusSource) -> Corpus:
        """Read and verify the corpus; see the function `load_corpus`."""
        return load_corpus(self.name, source, subset=self.subset)


class WebKB(PublishedCorpus):
    """WebKB: pages of university departments, by kind of page; the groups are universities.

    Parameters
    ----------
    subset : str, optional
        Subset of the corpus, as named by its card; by default the whole corpus.
    """

    name = "webkb"
    format = "html"


class Newsgroups(PublishedCorpus):
    """20 Newsgroups, divided by date into the parts train and test; posts of a newsgroup are in order of time.

    The posts of an author are a group, as `grouped: true` of a protocol keeps it together.

    Parameters
    ----------
    subset : str, optional
        Subset of the corpus, as named by its card; by default the whole corpus.
    """

    name = "20ng"
    format = "mail"

    def outline(self) -> Documents:
        """Return posts in the numbers by newsgroup and part that the card has; later posts are in the test part."""
        documents = super().outline()
        rows = np.arange(len(documents))
        return replace(documents, dates=rows, groups=rows.astype(np.int32) // 40)


class Reuters(PublishedCorpus):
    """Reuters-21578, ModApte split into the parts train and test; a story may have several topics.

    Parameters
    ----------
    subset : str, optional
        Subset of the corpus, as named by its card; by default the whole corpus.
    """

    name = "reuters"
    fields = ("title", "body")


class Synthetic(PublishedCorpus):
    """Generated corpus of 600 pages, with WebKB's classes and groups; needs no download.

    Parameters
    ----------
    subset : str, optional
        Subset of the corpus, as named by its card; by default the whole corpus.
    """

    name = "synthetic"
    format = "html"


#: Corpora that a configuration can name under `corpus`.
CORPORA: dict[str, type[CorpusReader]] = {
    each.name: each for each in (WebKB, Newsgroups, Reuters, Synthetic, UserFiles, CountsFolder, CurvedPoints)
}


def _missing(card: DatasetCard) -> DataError:
    searched = "".join(f"\n  {folder}{'' if folder.is_dir() else ' (does not exist)'}" for folder in search_folders())
    return DataError(
        f"The corpus {card.name} is not here. Looked for {', '.join(card.archives)} in:"
        f"{searched}\n{archive.download_hint(card)}\n"
        f"`bench data fetch {card.name}` downloads it. Or put the archive into one of these folders, or name its "
        f"folder in ${DATASETS_VARIABLE}.\n"
        "To try the benchmark without this corpus: bench run quickstart"
    )
