"""A variant to its counts: read once, checked against card and configuration, kept in the store."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast
from unicodedata import unidata_version

import numpy as np
import scipy.sparse as sp

from benchmark.code import code_digest
from benchmark.corpora.assemble import select
from benchmark.corpora.corpus import Documents
from benchmark.corpora.counted import CountedCorpus
from benchmark.errors import ConfigError, DataError
from benchmark.experiment.store import Entry, array_digest, key_of
from benchmark.text.counts import Counts
from benchmark.text.stoplist import stop_words
from benchmark.text.vocabulary import count, prune

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.model import Collection, Experiment, Text, Variant
    from benchmark.corpora.archive import Source
    from benchmark.corpora.corpus import Corpus
    from benchmark.experiment.store import Store
    from benchmark.observer import Observer
    from benchmark.text.lexer import Lexing


def read_counts(
    collection: Collection, store: Store, observer: Observer, *, download: bool = True, jobs: int = 1
) -> tuple[Counts, dict[str, Any], str]:
    """The counts of a collection, where they came from, and their store key."""
    reader = collection.reader
    source = reader.locate(download=download, notify=observer.note, progress=True)
    key = counts_key(collection, source)
    entry = store.get(key)
    if entry is None:
        corpus = select(cast("Corpus", reader.load(source)), list(collection.classes), collection.exclude)
        entry = _pack(_counts(corpus, collection, jobs), corpus.digest)
        store.put(key, entry)
    facts = {"source": str(source), "content_digest": entry.facts["digest"]}
    return _unpack(entry), facts | reader.facts(), key


def _counts(corpus: Any, collection: Collection, jobs: int) -> Counts:
    if isinstance(corpus, CountedCorpus):
        return prune(corpus, collection.lexing, collection.pruning)
    return count(corpus, collection.lexing, collection.pruning, jobs)


def counts_key(collection: Collection, source: Source) -> str:
    """Store key of a collection's counts.

    What the corpus is checked against is part of it; and the words that are left out and Unicode's letters, which
    stand in no module.
    """
    reader, lexing, pruning = collection.reader, asdict(collection.lexing), asdict(collection.pruning)
    code = code_digest(*reader.code, _counts, _pack)
    return key_of(
        stage="counts",
        code=code,
        left_out=sorted(stop_words(collection.lexing.stoplist)),
        letters=unidata_version,
        corpus=reader.name,
        classes=collection.classes,
        exclude=collection.exclude,
        lexing=lexing,
        pruning=pruning,
        **reader.content(source),
    )


def own_counts(
    study: Experiment, variant: Variant, counts: Counts, store: Store, observer: Observer, **how: Any
) -> dict[Text, tuple[Counts, str]]:
    """The counts, and their store keys, of texts that methods have for themselves: other words of the same documents.

    `how` is as of `read_counts`.

    Raises
    ------
    ConfigError
        If one leaves no word, or fewer than are to be selected.
    DataError
        If it isn't of the documents of `counts`, in their order: no cell could be compared with another.
    """
    found = {}
    for text, label in variant.texts.items():
        if text == variant.collection.text:
            continue
        collection = replace(variant.collection, lexing=text.lexing, pruning=text.pruning)
        own, _, key = read_counts(collection, store, observer, **how)
        _check_words(study, variant, own, text.lexing, f"method {label!r}")
        one, other = own.documents, counts.documents
        arrays: Any = ((one.labels, other.labels), (one.topics, other.topics))
        if one.ids != other.ids or not all(np.array_equal(*pair) for pair in arrays):
            raise DataError(f"{study.name}: the text of the method {label!r} changes which documents there are")
        found[text] = replace(own, documents=other), key  # held once
    return found


def check_expectations(study: Experiment, variant: Variant, counts: Counts) -> None:
    """The last part of the data gate: the configuration must have the documents and words that it expects."""
    _check_words(study, variant, counts, variant.collection.lexing, f"variant {variant.name!r}")
    if variant is not next(iter(study.variants.values())):
        return
    for what, expected, found in (
        ("documents", study.expected_documents, len(counts.documents)),
        ("words in the vocabulary", study.expected_vocabulary, len(counts.vocabulary)),
    ):
        if expected is not None and expected != found:
            raise DataError(
                f"{study.name}: the configuration expects {expected:,} {what}, but there are {found:,}. "
                "No score is computed from other data than the configuration describes: mend `text`, `corpus`, "
                "or `expect`."
            )


def _check_words(study: Experiment, variant: Variant, counts: Counts, lexing: Lexing, whose: str) -> None:
    if not counts.vocabulary:
        raise ConfigError(f"{study.name}: lexing and pruning leave no word of the {whose}")
    if empty := set(range(len(lexing.fields))) - set((counts.block_of // len(lexing.ngrams)).tolist()):
        problem = f"no word of the field {lexing.fields[min(empty)]!r} in the {whose}"
        raise ConfigError(f"{study.name}: lexing and pruning leave {problem}")
    if variant.terms and variant.terms.numbers[-1] > len(counts.vocabulary):
        problem = f"{variant.terms.numbers[-1]:,} terms can't be selected from the {len(counts.vocabulary):,}"
        raise ConfigError(f"{study.name}: {problem} that the {whose} has; mend `terms` or `text`")


def words_of(counts: Counts) -> dict[str, int]:
    """What the manifest says of the words."""
    return {
        "documents_without_words": int((np.diff(counts.matrix.indptr) == 0).sum()),
        "vocabulary": len(counts.vocabulary),
        "words": int(counts.matrix.sum()),
        "letters_dropped": counts.dropped,
    }


def described(counts: Counts, facts: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says of the documents, beside where they come from."""
    documents = counts.documents
    found = facts | {
        "documents": len(documents),
        "documents_digest": array_digest(np.frombuffer("\0".join(documents.ids).encode(), dtype=np.uint8)),
        **words_of(counts),
        "classes": list(documents.classes),
        "groups": list(documents.group_names),
    }
    if documents.topics is None:
        return found
    none = np.bincount(documents.groups[~documents.topics.any(axis=1)], minlength=len(documents.group_names))
    return found | {"documents_without_class": [int(n) for n in none]}


def _pack(counts: Counts, digest: str) -> Entry:
    """Counts as plain arrays; names are joined by NUL, which no path and no term contains."""
    documents = counts.documents
    arrays = {
        "indptr": counts.matrix.indptr,
        "indices": counts.matrix.indices,
        "data": counts.matrix.data,
        "labels": documents.labels,
        "groups": documents.groups,
        "block_of": counts.block_of,
        "ids": np.frombuffer("\0".join(documents.ids).encode(), dtype=np.uint8),
        "vocabulary": np.frombuffer("\0".join(counts.vocabulary).encode(), dtype=np.uint8),
    }
    if documents.topics is not None:
        arrays["topics"] = np.packbits(documents.topics, axis=1)
    if documents.units is not None:
        arrays["units"] = documents.units
    if documents.dates is not None:
        arrays["order" if documents.dated_by_class else "dates"] = documents.dates.astype(np.int64)
    names = {"classes": list(documents.classes), "group_names": list(documents.group_names)}
    return Entry(arrays, names | {"blocks": list(counts.blocks), "digest": digest, "dropped": counts.dropped})


def _unpack(entry: Entry) -> Counts:
    arrays, classes = entry.arrays, tuple(entry.facts["classes"])
    packed = arrays.get("topics")
    documents = Documents(
        _names(arrays["ids"]),
        arrays["labels"],
        arrays["groups"],
        classes,
        tuple(entry.facts["group_names"]),
        None if packed is None else np.unpackbits(packed, axis=1, count=len(classes)).astype(bool),
        arrays.get("units"),
        arrays["dates"].astype("datetime64[s]") if "dates" in arrays else arrays.get("order"),
    )
    vocabulary = _names(arrays["vocabulary"])
    shape = (len(documents), len(vocabulary))
    matrix = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    blocks = tuple(entry.facts["blocks"]), arrays["block_of"]
    return Counts(documents, matrix, vocabulary, entry.facts["dropped"], *blocks)


def _names(joined: NDArray[np.uint8]) -> tuple[str, ...]:
    text = joined.tobytes().decode()
    return tuple(text.split("\0")) if text else ()
