"""A configuration's variant to its counts: read once, checked against card and configuration, kept in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.corpora import registry as corpora
from benchmark.corpora.corpus import Documents
from benchmark.errors import ConfigError, DataError
from benchmark.experiment.plan import counts_key
from benchmark.experiment.store import Entry, array_digest
from benchmark.text.counts import Counts
from benchmark.text.vocabulary import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config import Study, Variant
    from benchmark.experiment.observer import Observer
    from benchmark.experiment.store import Store


def read_counts(
    variant: Variant, store: Store, observer: Observer, *, download: bool = True
) -> tuple[Counts, dict[str, Any], str]:
    """The counts of a variant, where they came from, and their store key."""
    source = corpora.locate(variant.corpus, download=download, notify=observer.note, progress=True)
    key = counts_key(variant, corpora.fingerprint(variant.corpus, source))
    entry = store.get(key)
    if entry is None:
        whole = corpora.load(variant.corpus, source, subset=variant.subset)
        corpus = corpora.select(whole, list(variant.classes), variant.exclude)
        counts = count(corpus, variant.lexing, variant.pruning)
        entry = _pack(counts, corpus.digest)
        store.put(key, entry)
    return _unpack(entry), {"source": str(source), "content_digest": entry.facts["digest"]}, key


def check_expectations(experiment: Study, variant: Variant, counts: Counts) -> None:
    """The last part of the data gate: the base variant must have the documents and words the configuration expects."""
    if not counts.vocabulary:
        raise ConfigError(f"{experiment.name}: lexing and pruning leave no word of the variant {variant.name!r}")
    if variant is not next(iter(experiment.variants.values())):
        return
    for what, expected, found in (
        ("documents", experiment.expected_documents, len(counts.documents)),
        ("words in the vocabulary", experiment.expected_vocabulary, len(counts.vocabulary)),
    ):
        if expected is not None and expected != found:
            raise DataError(
                f"{experiment.name}: the configuration expects {expected:,} {what}, but there are {found:,}. "
                "No score is computed from other data than the configuration describes: mend `text`, `corpus`, "
                "or `expect`."
            )


def described(counts: Counts, facts: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says of the documents, beside where they come from."""
    documents = counts.documents
    return facts | {
        "documents": len(documents),
        "documents_digest": array_digest(np.frombuffer("\0".join(documents.ids).encode(), dtype=np.uint8)),
        "documents_without_words": int((np.diff(counts.matrix.indptr) == 0).sum()),
        "vocabulary": len(counts.vocabulary),
        "words": int(counts.matrix.sum()),
        "classes": list(documents.classes),
        "groups": list(documents.group_names),
    }


def _pack(counts: Counts, digest: str) -> Entry:
    """Counts as plain arrays; names are joined by NUL, which no path and no term contains."""
    documents = counts.documents
    arrays = {
        "indptr": counts.matrix.indptr,
        "indices": counts.matrix.indices,
        "data": counts.matrix.data,
        "labels": documents.labels,
        "groups": documents.groups,
        "ids": np.frombuffer("\0".join(documents.ids).encode(), dtype=np.uint8),
        "vocabulary": np.frombuffer("\0".join(counts.vocabulary).encode(), dtype=np.uint8),
    }
    if documents.topics is not None:
        arrays["topics"] = np.packbits(documents.topics, axis=1)
    facts = {"classes": list(documents.classes), "group_names": list(documents.group_names), "digest": digest}
    return Entry(arrays, facts)


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
    )
    vocabulary = _names(arrays["vocabulary"])
    shape = (len(documents), len(vocabulary))
    matrix = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    return Counts(documents, matrix, vocabulary)


def _names(joined: NDArray[np.uint8]) -> tuple[str, ...]:
    text = joined.tobytes().decode()
    return tuple(text.split("\0")) if text else ()
