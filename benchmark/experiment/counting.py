"""A variant to its counts: read once, checked against card and configuration, and stored."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any
from unicodedata import unidata_version

import numpy as np

from benchmark.config.model import BASE_VARIANT
from benchmark.corpora.assemble import select_documents
from benchmark.corpora.reader import LastCorpus
from benchmark.corpora.user.counts_folder import CountsCorpus
from benchmark.experiment.code_digest import code_digest
from benchmark.experiment.plugin_results import READS_FACT, get_result, put_result
from benchmark.experiment.store import StoreEntry, array_digest, store_key
from benchmark.system.errors import ConfigError, DataError
from benchmark.system.plugin_code import plugin_of, run_plugin_code
from benchmark.system.string_arrays import join_names, split_names
from benchmark.text.counts import counts_from_arrays, counts_to_arrays
from benchmark.text.strings import Texts, document_string, joined_texts
from benchmark.text.vocabulary import count_terms, prune_counts

if TYPE_CHECKING:
    from benchmark.config.model import Collection, Experiment, TextSettings, Variant
    from benchmark.corpora.archive import CorpusSource
    from benchmark.experiment.context import RunContext
    from benchmark.text.counts import Counts
    from benchmark.text.lexer import Lexing


def read_counts(
    collection: Collection, context: RunContext, last: LastCorpus | None = None
) -> tuple[Counts, dict[str, Any], str]:
    """Return the counts of a collection, facts on their source, and their store key; the corpus in `last` is reused."""
    reader = collection.reader
    component, plugin = type(reader), plugin_of(type(reader))
    with run_plugin_code(plugin):
        source = reader.locate(download=context.download, notify=context.observer.note, progress=True)
        key = counts_key(collection, source)
        entry = get_result(context.store, key, [component])
        if entry is None:
            corpus = select_documents(
                (last or LastCorpus()).load(reader, source), list(collection.classes), collection.exclude
            )
            arrays, facts = counts_to_arrays(_counts(corpus, collection, context.jobs))
            entry = StoreEntry(arrays, facts | {"digest": corpus.digest})
            reader.check_unchanged()
            put_result(context.store, key, entry, [component], context.observer.note)
        facts = {"source": str(source), "content_digest": entry.facts["digest"]} | reader.facts()
    if plugin is not None:  # key results by the counts, not by the code that made them
        own = {name: each for name, each in entry.facts.items() if name != READS_FACT}
        key = store_key(
            stage="counts", facts=own, of=array_digest(*(entry.arrays[name] for name in sorted(entry.arrays)))
        )
        context.store.put(key, entry)
    return counts_from_arrays(entry.arrays, entry.facts), facts, key


def _counts(corpus: Any, collection: Collection, jobs: int) -> Counts:
    if isinstance(corpus, CountsCorpus):
        return prune_counts(corpus, collection.lexing, collection.pruning)
    return count_terms(corpus, collection.lexing, collection.pruning, jobs)


def counts_key(collection: Collection, source: CorpusSource) -> str:
    """Return the store key of a collection's counts.

    The card against which the corpus is checked is part of it, as are the stop words and the version of Unicode, which
    no module contains.
    """
    reader, lexing, pruning = collection.reader, asdict(collection.lexing), asdict(collection.pruning)
    return store_key(
        stage="counts",
        code=code_digest(type(reader), counts_key),
        left_out=sorted(collection.lexing.left_out),
        letters=unidata_version,
        corpus=reader.name,
        classes=collection.classes,
        exclude=collection.exclude,
        lexing=lexing,
        pruning=pruning,
        **reader.content(source),
    )


def text_counts(
    experiment: Experiment, variant: Variant, counts: Counts, context: RunContext, last: LastCorpus | None = None
) -> dict[TextSettings, tuple[Counts, str]]:
    """Return counts and store keys for methods with their own text settings: other words of the same documents.

    Raises
    ------
    ConfigError
        If a text leaves no word, or fewer words than terms to select.
    DataError
        If its documents aren't those of `counts`, in their order: cells could not be compared.
    """
    found = {}
    for text, label in variant.texts.items():
        if text == variant.collection.text:
            continue
        collection = replace(variant.collection, lexing=text.lexing, pruning=text.pruning)
        own, _, key = read_counts(collection, context, last)
        _check_words(experiment, variant, own, text.lexing, f"method {label!r}")
        one, other = own.documents, counts.documents
        arrays: Any = ((one.labels, other.labels), (one.topics, other.topics))
        if one.ids != other.ids or not all(np.array_equal(*pair) for pair in arrays):
            raise DataError(f"{experiment.name}: the text of the method {label!r} changes which documents there are")
        found[text] = replace(own, documents=other), key  # so that the documents are in memory once
    return found


def document_strings(
    experiment: Experiment, variant: Variant, counts: Counts, context: RunContext, last: LastCorpus | None = None
) -> dict[TextSettings, Texts]:
    """Return the documents of `counts` as strings for methods that read them, by the text settings of each.

    Of the settings, only `skip_header` and `skip_html` matter.

    Raises
    ------
    ConfigError
        If the corpus has no texts, but counts or vectors.
    """
    found: dict[TextSettings, Texts] = {}
    made: dict[tuple[bool, bool], Texts] = {}
    for text, label in variant.read_texts.items():
        rules = text.lexing.skip_header, text.lexing.skip_html
        if rules not in made:
            made[rules] = _read_texts(experiment, variant.collection, counts, context, label, rules, last)
        found[text] = made[rules]
    return found


def _read_texts(
    experiment: Experiment,
    collection: Collection,
    counts: Counts,
    context: RunContext,
    label: str,
    rules: tuple[bool, bool],
    last: LastCorpus | None,
) -> Texts:
    """Return the texts of a collection from the store, or from its corpus."""
    reader = collection.reader
    component = type(reader)
    with run_plugin_code(plugin_of(component)):
        source = reader.locate(download=context.download, notify=context.observer.note, progress=True)
        key = store_key(
            stage="texts",
            code=code_digest(component, document_strings),
            corpus=reader.name,
            classes=collection.classes,
            exclude=collection.exclude,
            rules=rules,
            **reader.content(source),
        )
        entry = get_result(context.store, key, [component])
        if entry is None:
            corpus = select_documents(
                (last or LastCorpus()).load(reader, source), list(collection.classes), collection.exclude
            )
            if isinstance(corpus, CountsCorpus):
                raise ConfigError(f"{experiment.name}: {label!r} reads texts, and {reader.name} has none but counts")
            strings = (document_string(each, skip_header=rules[0], skip_html=rules[1]) for each in corpus)
            data, bounds = joined_texts(strings)
            ids = join_names(corpus.documents.ids)
            entry = StoreEntry({"data": data, "bounds": bounds, "ids": ids}, {})
            reader.check_unchanged()
            put_result(context.store, key, entry, [component], context.observer.note)
    if split_names(entry.arrays["ids"]) != counts.documents.ids:
        raise DataError(f"{experiment.name}: the texts of {label!r} aren't those of the counted documents")
    return texts_of_entry(entry, key)


def texts_of_entry(entry: StoreEntry, key: str) -> Texts:
    """Return texts back from an entry of the store."""
    return Texts(entry.arrays["data"], entry.arrays["bounds"], key)


def check_expectations(experiment: Experiment, variant: Variant, counts: Counts) -> None:
    """Refuse counts whose numbers of documents or words aren't those that the configuration expects."""
    whose = "documents" if variant.name == BASE_VARIANT else f"variant {variant.name!r}"
    _check_words(experiment, variant, counts, variant.collection.lexing, whose)
    if variant is not next(iter(experiment.variants.values())):
        return
    for what, expected, found in (
        ("documents", experiment.expected_documents, len(counts.documents)),
        ("words in the vocabulary", experiment.expected_vocabulary, len(counts.vocabulary)),
    ):
        if expected is not None and expected != found:
            raise DataError(
                f"{experiment.name}: the configuration expects {expected:,} {what}, but there are {found:,}. "
                "No score is computed from other data than the configuration describes: correct `text`, `corpus` "
                "or `expect`."
            )


def _check_words(experiment: Experiment, variant: Variant, counts: Counts, lexing: Lexing, whose: str) -> None:
    if not counts.vocabulary:
        why = "`text` says which words count, and min_occurrences and min_documents how often they must occur"
        raise ConfigError(f"{experiment.name}: lexing and pruning leave no word of the {whose}; {why}")
    if empty := set(range(len(lexing.fields))) - set((counts.block_of // lexing.blocks_of_field).tolist()):
        problem = f"no word of the field {lexing.fields[min(empty)]!r} in the {whose}"
        raise ConfigError(f"{experiment.name}: lexing and pruning leave {problem}")
    if variant.terms and variant.terms.numbers[-1] > len(counts.vocabulary):
        problem = f"{variant.terms.numbers[-1]:,} terms can't be selected from the {len(counts.vocabulary):,}"
        raise ConfigError(f"{experiment.name}: {problem} that the {whose} has; change `terms` or `text`")


def term_facts(counts: Counts) -> dict[str, int]:
    """Return the manifest's facts on the words."""
    return {
        "documents_without_words": int((np.diff(counts.matrix.indptr) == 0).sum()),
        "vocabulary": len(counts.vocabulary),
        "words": int(counts.matrix.sum()),
        "letters_dropped": counts.dropped,
    }


def describe_counts(counts: Counts, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest's facts on the documents, added to those on their source."""
    documents = counts.documents
    found = facts | {
        "documents": len(documents),
        "documents_digest": array_digest(join_names(documents.ids)),
        **term_facts(counts),
        "classes": list(documents.classes),
        "groups": list(documents.part_names),
    }
    if documents.topics is None:
        return found
    none = np.bincount(documents.parts[~documents.topics.any(axis=1)], minlength=len(documents.part_names))
    return found | {"documents_without_class": [int(n) for n in none]}
