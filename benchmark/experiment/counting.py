"""A variant to its counts and texts: read once, checked against card and configuration, and stored."""

from __future__ import annotations

import hashlib
import io
import pickle
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from unicodedata import unidata_version

import numpy as np

from benchmark.config.model import BASE_VARIANT
from benchmark.corpora.assemble import select_documents
from benchmark.corpora.user.counts_folder import CountsCorpus
from benchmark.experiment.code_digest import code_digest
from benchmark.experiment.store import StoreEntry, array_digest, store_key
from benchmark.system.arrays import join_names
from benchmark.system.errors import ConfigError, DataError
from benchmark.system.user_classes import is_builtin
from benchmark.text.counts import counts_from_arrays, counts_to_arrays
from benchmark.text.fields import Texts, document_string, joined_texts
from benchmark.text.vocabulary import count_terms, prune_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmark.config.model import Collection, Experiment, TextSettings, Variant
    from benchmark.corpora.archive import CorpusSource
    from benchmark.corpora.reader import CorpusReader
    from benchmark.experiment.context import RunContext
    from benchmark.text.counts import Counts
    from benchmark.text.lexer import Lexing


@dataclass(frozen=True, eq=False)
class LoadedVariant:
    """The counts of a variant, the digest of all that decides them, and the manifest's facts on them.

    `texts` has the counts of methods with their own text settings, `strings` the documents for methods that read them.
    """

    counts: Counts
    key: str
    facts: dict[str, Any]
    texts: dict[TextSettings, tuple[Counts, str]] = field(default_factory=dict)
    strings: dict[TextSettings, Texts] = field(default_factory=dict)


class CorpusCache:
    """Counts and texts of corpora, from the store or from the corpus that was read last.

    Variants count other terms of a corpus without reading it again; those with the same documents and words share their
    counts.

    Parameters
    ----------
    context : RunContext
    """

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._key: tuple[Any, ...] = ()
        self._corpus: Any = None
        self._counts: dict[str, tuple[Counts, dict[str, Any]]] = {}
        self._texts: dict[str, Texts] = {}

    def counts(self, collection: Collection) -> tuple[Counts, dict[str, Any], str]:
        """Return the counts of a collection, the manifest's facts on them, and their store key."""
        source, content, known, read = self._located(collection.reader)
        key = counts_key(collection, content)
        if key not in self._counts:
            entry = self._context.store.get(key)
            if entry is None:
                corpus: Any = select_documents(read(), list(collection.classes), collection.exclude)
                how, has_counts = (collection.lexing, collection.pruning), isinstance(corpus, CountsCorpus)
                counts = prune_counts(corpus, *how) if has_counts else count_terms(corpus, *how, self._context.jobs)
                arrays, names = counts_to_arrays(counts)
                entry = StoreEntry(arrays, names | {"digest": corpus.digest})
                self._context.store.put(key, entry)
            counts = counts_from_arrays(entry.arrays, entry.facts)
            facts = {"source": source, "content_digest": entry.facts["digest"], **known}
            facts |= {"documents": len(counts.documents), "classes": list(counts.documents.classes)}
            facts["documents_digest"] = array_digest(join_names(counts.documents.ids))
            facts["groups"] = list(counts.documents.part_names)
            self._counts[key] = counts, facts | _term_facts(counts)
        return (*self._counts[key], key)

    def strings(self, collection: Collection, lexing: Lexing) -> Texts:
        """Return the documents as strings; of the rules for words, only `skip_header` and `skip_html` matter.

        Raises
        ------
        ConfigError
            If the corpus has no texts, but counts or vectors.
        """
        _, content, _, read = self._located(collection.reader)
        rules = {"skip_header": lexing.skip_header, "skip_html": lexing.skip_html}
        chosen = {"classes": collection.classes, "exclude": collection.exclude, "rules": rules}
        key = store_key(stage="texts", joining=code_digest(CorpusCache), **chosen, **content)
        if key not in self._texts:
            corpus = select_documents(read(), list(collection.classes), collection.exclude)
            if isinstance(corpus, CountsCorpus):
                raise ConfigError(f"a method reads texts, and {collection.reader.name} has none but counts")
            self._texts[key] = Texts(*joined_texts(document_string(each, **rules) for each in corpus), key)
        return self._texts[key]

    def _located(self, reader: CorpusReader) -> tuple[str, dict[str, Any], dict[str, Any], Callable[[], Any]]:
        """Return a corpus's source, all that determines its documents, its facts, and a function that returns itself.

        A plug-in's corpus is read each time, and known by its content alone.
        """
        download = self._context.download
        if is_builtin(type(reader)):
            source = reader.locate(download=download, notify=self._context.observer.note)
            content = corpus_content(reader, source)
            read = partial(self._once, (reader, content), partial(reader.load, source))
            return str(source), content, reader.facts(), read
        name, corpus, facts = self._once((reader,), lambda: reader.read(download=download))
        return name, {"documents": _digest(corpus)}, facts, lambda: corpus

    def _once(self, key: tuple[Any, ...], read: Callable[[], Any]) -> Any:
        """Return what `read` returned for an equal key the last time, or else what it returns now."""
        if self._key != key:
            self._key, self._corpus = (), None  # free the old corpus before reading the new one
            self._key, self._corpus = key, read()
        return self._corpus


def read_variants(experiment: Experiment, context: RunContext) -> dict[str, LoadedVariant]:
    """Read and check the counts of every variant."""
    corpora = CorpusCache(context)
    return {name: load_variant(experiment, variant, corpora) for name, variant in experiment.variants.items()}


def load_variant(experiment: Experiment, variant: Variant, corpora: CorpusCache) -> LoadedVariant:
    """Read and check the counts of a variant, and the texts and counts of methods with their own text settings.

    Raises
    ------
    ConfigError
        If a text leaves no word, or fewer words than terms to select.
    """
    collection = variant.collection
    counts, facts, key = corpora.counts(collection)
    check_expectations(experiment, variant, counts)
    texts = {}
    for text, label in variant.texts.items():
        if text != collection.text:
            of_text, _, key_of_text = corpora.counts(replace(collection, lexing=text.lexing, pruning=text.pruning))
            _check_words(experiment, variant, of_text, text.lexing, f"method {label!r}")
            texts[text] = replace(of_text, documents=counts.documents), key_of_text  # one copy in memory
    if texts:
        facts = facts | {"texts": [text.flat | _term_facts(each) for text, (each, _) in texts.items()]}
    strings = {text: corpora.strings(collection, text.lexing) for text in variant.read_texts}
    return LoadedVariant(counts, key, facts, texts, strings)


def read_counts(collection: Collection, context: RunContext) -> tuple[Counts, dict[str, Any], str]:
    """Return the counts of a collection, the manifest's facts on them, and their store key."""
    return CorpusCache(context).counts(collection)


def _digest(corpus: Any) -> str:
    """Return the sha256 of a user's corpus; equal corpora have the same, whichever objects occur in them twice."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.fast = True
    pickler.dump(corpus)
    return hashlib.sha256(file.getvalue()).hexdigest()


def corpus_content(reader: CorpusReader, source: CorpusSource) -> dict[str, Any]:
    """Return all that determines the documents of a corpus of this package."""
    return {"code": code_digest(type(reader)), "corpus": reader.name, **reader.content(source)}


def counts_key(collection: Collection, content: Mapping[str, Any]) -> str:
    """Return the store key of a collection's counts, of documents that `content` determines.

    The card against which the corpus is checked is part of it, as are the stop words and the version of Unicode, which
    no module contains.
    """
    lexing, pruning = collection.lexing, collection.pruning
    words = {"left_out": sorted(lexing.left_out), "letters": unidata_version}
    text = {"lexing": asdict(lexing), "pruning": asdict(pruning), **words}
    chosen = {"classes": collection.classes, "exclude": collection.exclude}
    return store_key(stage="counts", counting=code_digest(counts_key), **chosen, **text, **content)


def check_expectations(experiment: Experiment, variant: Variant, counts: Counts) -> None:
    """Refuse counts whose numbers of documents or words aren't those that the configuration expects."""
    whose = "documents" if variant.name == BASE_VARIANT else f"variant {variant.name!r}"
    _check_words(experiment, variant, counts, variant.collection.lexing, whose)
    for what, expected, found in (
        ("documents", experiment.expected_documents, len(counts.documents)),
        ("words in the vocabulary", experiment.expected_vocabulary, len(counts.vocabulary)),
    ):
        if variant is next(iter(experiment.variants.values())) and expected not in (None, found):
            problem = f"the configuration expects {expected:,} {what}, but there are {found:,}"
            raise DataError(f"{experiment.name}: {problem}: correct `text`, `corpus` or `expect`")


def _check_words(experiment: Experiment, variant: Variant, counts: Counts, lexing: Lexing, whose: str) -> None:
    """Refuse counts without a word, without one of a field, or with fewer than there are terms to select."""
    if not counts.vocabulary:
        why = "`text` says which words count, and min_occurrences and min_documents how often they must occur"
        raise ConfigError(f"{experiment.name}: lexing and pruning leave no word of the {whose}; {why}")
    if empty := set(range(len(lexing.fields))) - set((counts.block_of // lexing.blocks_of_field).tolist()):
        problem = f"no word of the field {lexing.fields[min(empty)]!r} in the {whose}"
        raise ConfigError(f"{experiment.name}: lexing and pruning leave {problem}")
    if variant.terms and variant.terms.numbers[-1] > len(counts.vocabulary):
        problem = f"{variant.terms.numbers[-1]:,} terms can't be selected from the {len(counts.vocabulary):,}"
        raise ConfigError(f"{experiment.name}: {problem} that the {whose} has; change `terms` or `text`")


def _term_facts(counts: Counts) -> dict[str, int]:
    """Return the manifest's facts on the words."""
    return {
        "documents_without_words": int((np.diff(counts.matrix.indptr) == 0).sum()),
        "vocabulary": len(counts.vocabulary),
        "words": int(counts.matrix.sum()),
        "letters_dropped": counts.dropped,
    }
