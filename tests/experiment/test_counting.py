"""Counts come back from the store as they were counted, with all classes of every document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmark.config.model import Collection, TextSettings
from benchmark.corpora import registry
from benchmark.corpora.archive import CorpusSource
from benchmark.corpora.card import DatasetCard
from benchmark.corpora.corpus import Corpus, Documents, concatenate_texts
from benchmark.corpora.reader import LastCorpus
from benchmark.experiment import counting
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import check_expectations, describe_counts, read_counts
from benchmark.experiment.store import Store
from benchmark.system.errors import ConfigError, DataError
from benchmark.text.counts import Counts, counts_from_arrays, counts_to_arrays
from benchmark.text.lexer import Lexing
from benchmark.text.pruning import Pruning
from benchmark.text.vocabulary import count_terms
from tests.builders import small_experiment

if TYPE_CHECKING:
    from pathlib import Path

#: More than a byte holds, and no whole number of bytes.
CLASSES = tuple(f"class-{letter}" for letter in "abcdefghijk")
TEXTS = (
    b"gold gold silver",
    b"silver caf\xe9 12",
    b"12 34",
    b"wheat corn wheat",
    b"corn silver",
    "gold пшеница".encode(),
)


TOPICS = np.zeros((6, len(CLASSES)), dtype=bool)  # of the second story, none
TOPICS[0] = TOPICS[2, 0] = TOPICS[3, -1] = TOPICS[4, 5:9] = TOPICS[5, ::3] = True


def multi_label() -> Corpus:
    """Six stories: one has every class, one has none, one only the first, one only the last."""
    groups = np.array([0, 0, 0, 0, 1, 1], dtype=np.int32)
    labels = np.full(6, -1, dtype=np.int32)
    ids = ("1", "2", "10", "caf\xe9/3\r", "11", "12")
    documents = Documents(ids, labels, groups, CLASSES, ("train", "test"), TOPICS)
    return Corpus("stories", documents, *concatenate_texts(TEXTS), "0" * 64)


class Stories(registry.PublishedCorpus):
    name = "stories"
    multilabel = True


STORIES = Collection.of(Stories(), CLASSES, (), TextSettings(Lexing(stoplist="none"), Pruning()))


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Register the corpus of stories; lists the subsets that were loaded."""
    corpus, loads = multi_label(), []
    sizes = corpus.documents.sizes()
    counts = {name: {"train": int(row[0]), "test": int(row[1])} for name, row in zip(CLASSES, sizes, strict=True)}
    facts = {"name": "stories", "title": "Stories", "tops": ["stories"], "digest": corpus.digest}
    more = {"documents": {"train": 4, "test": 2}, "counts": counts, "licence": "Free.", "citation": "-"}
    card = DatasetCard.model_validate(facts | more)

    def load(name: str, source: CorpusSource, *, subset: str | None = None) -> Corpus:
        assert (name, source) == ("stories", CorpusSource(None))
        loads.append(subset)
        return corpus

    monkeypatch.setattr(counting, "is_builtin", lambda _: True)  # a user's is read each time
    monkeypatch.setattr(registry, "dataset_card", lambda _, subset=None: card.subset(subset))
    monkeypatch.setattr(registry, "locate_corpus", lambda *_, **__: CorpusSource(None))
    monkeypatch.setattr(registry, "corpus_fingerprint", lambda *_: "stories")
    monkeypatch.setattr(registry, "load_corpus", load)
    return loads


def assert_same(one: Counts, other: Counts) -> None:
    for name in ("ids", "classes", "part_names"):
        assert getattr(one.documents, name) == getattr(other.documents, name)
    assert (one.vocabulary, one.dropped) == (other.vocabulary, other.dropped)
    assert one.matrix.shape == other.matrix.shape
    pairs = [
        (getattr(one.documents, name), getattr(other.documents, name))
        for name in ("labels", "parts", "groups", "topics")
    ]
    pairs += [(getattr(one.matrix, name), getattr(other.matrix, name)) for name in ("indptr", "indices", "data")]
    for left, right in pairs:
        np.testing.assert_array_equal(left, right, strict=left is not None)


def read_twice(given: Collection, folder: Path) -> tuple[Counts, Counts]:
    """The counts as they are read first, and as another run finds them."""
    (first, facts, key), (again, *rest) = (
        read_counts(given, RunContext(Store(folder, limit=10**9), download=False)) for _ in range(2)
    )
    assert rest == [facts, key]
    return first, again


def test_a_multi_label_collection_comes_back_as_it_was(loaded: list[str | None], tmp_path: Path) -> None:
    expected = count_terms(multi_label(), STORIES.lexing, STORIES.pruning)
    assert expected.matrix[2].nnz == 0, "a document without words must be among them"
    for counts in read_twice(STORIES, tmp_path):
        assert_same(counts, expected)
    assert loaded == [None], "the second time, the counts come from the store"


def test_other_words_of_the_last_corpus_are_counted_without_reading_it_again(
    loaded: list[str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last, store = LastCorpus(), Store(tmp_path, limit=10**9)
    for lexing in (STORIES.lexing, Lexing(lexer="unicode"), Lexing(stoplist="smart")):
        found, *_ = read_counts(replace(STORIES, lexing=lexing), RunContext(store), last=last)
        assert_same(found, count_terms(multi_label(), lexing, Pruning()))
    assert len(loaded) == 1
    monkeypatch.setattr(registry, "corpus_fingerprint", lambda *_: "another archive")
    read_counts(STORIES, RunContext(store), last=last)
    assert len(loaded) == 2, "what lies there has changed"


@pytest.mark.parametrize("named", [True, False])
def test_groups_parts_and_labels_come_back_each_as_it_is(named: bool) -> None:
    corpus, n = multi_label(), len(TOPICS)
    groups = np.array([4, 1, 4, 0, 2, 3], dtype=np.int32) if named else None
    parts, labels = np.arange(n, dtype=np.int32) % 2, np.arange(n, dtype=np.int32) % len(corpus.documents.classes)
    for topics, codes in ((corpus.documents.topics, corpus.documents.labels), (None, labels)):
        documents = replace(corpus.documents, groups=groups, parts=parts, topics=topics, labels=codes)
        made = count_terms(replace(corpus, documents=documents), STORIES.lexing, STORIES.pruning, 1)
        found = counts_from_arrays(*counts_to_arrays(made)).documents
        for name in ("groups", "parts", "labels", "topics"):
            np.testing.assert_array_equal(getattr(found, name), getattr(documents, name))
        assert (found.ids, found.classes, found.part_names) == (documents.ids, documents.classes, documents.part_names)
        assert (found.groups is None, found.topics is None) == (not named, topics is None)


@pytest.mark.parametrize(("largest", "kind"), [(1, "uint8"), (255, "uint8"), (256, "uint16"), (70_000, "uint32")])
def test_counts_are_kept_as_the_smallest_numbers_that_hold_them(largest: int, kind: str) -> None:
    made = count_terms(multi_label(), STORIES.lexing, STORIES.pruning, 1)
    made.matrix.data[0] = largest
    arrays, facts = counts_to_arrays(made)
    assert arrays["data"].dtype == kind
    found = counts_from_arrays(arrays, facts).matrix
    assert found.dtype == made.matrix.dtype == np.int32
    np.testing.assert_array_equal(found.data, made.matrix.data)


def test_facts_are_counted_document_by_document() -> None:
    corpus = multi_label()
    counts = count_terms(corpus, Lexing(stoplist="none"), Pruning(min_occurrences=3))
    matrix, documents = counts.matrix.toarray(), corpus.documents
    facts = describe_counts(counts, {"source": "here"})
    assert facts.pop("documents_digest") != describe_counts(
        replace(counts, documents=documents.take(np.arange(5, -1, -1))), {}
    ).pop("documents_digest")
    assert facts == {
        "source": "here",
        "documents": 6,
        "classes": list(CLASSES),
        "groups": ["train", "test"],
        "documents_without_words": int((matrix.sum(axis=1) == 0).sum()),
        "vocabulary": matrix.shape[1],
        "words": int(matrix.sum()),
        "letters_dropped": counts.dropped,
        "documents_without_class": [1, 0],
    }
    assert 0 < facts["documents_without_words"] < 6


@pytest.mark.parametrize(("documents", "words"), [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])
def test_no_more_and_no_fewer_documents_and_words_are_there_than_expected(
    store: Store, documents: int, words: int
) -> None:
    experiment = small_experiment(methods=["mnb"])
    variant = experiment.variants["base"]
    counts, *_ = read_counts(variant.collection, RunContext(store))
    n, v = len(counts.documents), len(counts.vocabulary)
    expecting = replace(experiment, expected_documents=n + documents, expected_vocabulary=v + words)
    if not documents and not words:
        check_expectations(expecting, variant, counts)
        return
    wrong = f"{n + documents:,} documents, but there are {n:,}"
    wrong = wrong if documents else f"{v + words:,} words in the vocabulary, but there are {v:,}"
    with pytest.raises(DataError, match=rf"^small: the configuration expects {wrong}\."):
        check_expectations(expecting, variant, counts)
    other = replace(variant, name="other")
    check_expectations(replace(expecting, variants={"base": variant, "other": other}), other, counts)


@pytest.mark.parametrize(("more", "refused"), [(0, False), (1, True)])
def test_as_many_terms_as_there_are_words_can_be_selected(store: Store, more: int, *, refused: bool) -> None:
    counts, *_ = read_counts(small_experiment().variants["base"].collection, RunContext(store))
    n = len(counts.vocabulary)
    experiment = small_experiment(methods=["mnb"], terms={"number": [10, n + more]})
    variant = experiment.variants["base"]
    if not refused:
        check_expectations(experiment, variant, counts)
        return
    said = f"^small: {n + 1:,} terms can't be selected from the {n:,} that the documents has; change `terms` or `text`$"
    with pytest.raises(ConfigError, match=said):
        check_expectations(experiment, variant, counts)
