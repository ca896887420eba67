"""`corpus` and `text` to a collection, checked against the corpus's card before any document is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.config.model import Collection
from benchmark.corpora import registry as corpora
from benchmark.corpora.corpus import Documents
from benchmark.errors import unknown
from benchmark.text.lexer import DIGIT_RULES, Lexing
from benchmark.text.stoplist import STOPLISTS
from benchmark.text.vocabulary import Pruning

if TYPE_CHECKING:
    from benchmark.config.schema import CorpusSection, ExperimentSection
    from benchmark.corpora.card import DatasetCard
    from benchmark.source import YamlSource


def collection_of(config: ExperimentSection, source: YamlSource) -> Collection:
    """The documents and lexing that a configuration names."""
    text = config.text
    for key, allowed in (("digits", list(DIGIT_RULES)), ("stoplist", list(STOPLISTS))):
        if getattr(text, key) not in allowed:
            raise source.error(("text", key), unknown(f"{key} rule", getattr(text, key), allowed))
    card = _card(config.corpus, source)
    if text.counted_in is not None and text.counted_in not in card.groups:
        raise source.error(("text", "counted_in"), unknown("group", text.counted_in, card.groups))
    classes = _classes(card, config, source)
    lexing = Lexing(text.skip_header, text.skip_html, text.digits, text.stoplist)
    pruning = Pruning(text.min_occurrences, text.min_documents, text.counted_in)
    corpus = config.corpus
    return Collection(corpus.name, corpus.subset, classes, tuple(corpus.exclude), lexing, pruning)


def _card(section: CorpusSection, source: YamlSource) -> DatasetCard:
    """The card of the corpus, or of the part of it, that a configuration names."""
    if section.name not in corpora.registered():
        raise source.error(("corpus", "name"), unknown("corpus", section.name, corpora.registered()))
    card = corpora.card(section.name)
    if section.subset is not None and section.subset not in card.subset_names:
        what = f"subset of {section.name}:"
        raise source.error(("corpus", "subset"), unknown(what, section.subset, card.subset_names))
    return card.subset(section.subset)


def _classes(card: DatasetCard, config: ExperimentSection, source: YamlSource) -> tuple[str, ...]:
    """The classes named; those of the tasks where these alone name some; else all of the corpus's."""
    place = ("corpus", "classes")
    given = config.corpus.classes
    if given is None and config.tasks and all(isinstance(task, list) for task in config.tasks):
        named = dict.fromkeys(name for task in config.tasks if isinstance(task, list) for name in task)
        return tuple(named) if named.keys() <= set(card.classes) else card.classes  # tasks have errors of their own
    classes = card.classes if given is None else tuple(given)
    for index, each in enumerate(classes):
        if each not in card.classes:
            raise source.error((*place, index), unknown(f"class of {card.name}:", each, card.classes))
    if len(set(classes)) != len(classes) or len(classes) < 2:
        raise source.error(place, "classes must be two or more different ones")
    return classes


def several_labels(collection: Collection) -> bool:
    """Whether documents may have several classes or none, by the corpus's card."""
    return corpora.card(collection.corpus, collection.subset).documents is not None


def expected_documents(collection: Collection) -> Documents:
    """The documents a collection will have, by its dataset card: right in number, class and group, without names.

    Of documents with several classes or none, the card doesn't say which; these have none here.
    """
    card = corpora.card(collection.corpus, collection.subset)
    classes = collection.classes
    if card.documents is not None:
        groups = np.repeat(np.arange(len(card.groups)), [card.documents[g] for g in card.groups]).astype(np.int32)
        none = np.zeros((len(groups), len(classes)), dtype=bool)
        ids = tuple(map(str, range(len(groups))))
        return Documents(ids, np.full(len(groups), -1, dtype=np.int32), groups, classes, card.groups, none)
    sizes = [card.counts[name][group] for name in classes for group in card.groups]
    labels = np.repeat(np.repeat(np.arange(len(classes)), len(card.groups)), sizes).astype(np.int32)
    groups = np.repeat(np.tile(np.arange(len(card.groups)), len(classes)), sizes).astype(np.int32)
    return Documents(tuple(map(str, range(len(labels)))), labels, groups, classes, card.groups)
