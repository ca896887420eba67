"""Counts come back from the store as they were counted, and no score is computed from other data than expected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.corpora.assemble import select_documents
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import _digest, check_expectations, read_counts
from benchmark.system.errors import DataError
from benchmark.text.vocabulary import count_terms
from tests.builders import small_experiment

if TYPE_CHECKING:
    from benchmark.experiment.store import Store


@pytest.mark.parametrize("subset", [None, "several"])
@pytest.mark.parametrize(
    "text", [{"min_occurrences": 100}, {"stoplist": "smart", "ngrams": [1, 2], "min_documents": 9}]
)
def test_counts_come_back_as_they_were_counted(store: Store, subset: str | None, text: dict[str, Any]) -> None:
    corpus, protocol = {"name": "synthetic", "subset": subset}, {"name": "leave-one-group-out"}
    collection = small_experiment(corpus=corpus, protocol=protocol, text=text).variants["base"].collection
    documents = collection.reader.load(collection.reader.locate(download=False, notify=print))
    chosen = select_documents(documents, list(collection.classes), ())
    expected = count_terms(chosen, collection.lexing, collection.pruning)
    (first, facts, key), again = (read_counts(collection, RunContext(store, download=False)) for _ in range(2))
    assert again[1:] == (facts, key)
    for found in (first, again[0]):
        assert (found.vocabulary, found.dropped) == (expected.vocabulary, expected.dropped)
        assert (found.matrix != expected.matrix).nnz == 0
        for name in ("ids", "classes", "part_names"):
            assert getattr(found.documents, name) == getattr(expected.documents, name)
        for name in ("labels", "parts", "groups", "topics"):
            np.testing.assert_array_equal(getattr(found.documents, name), getattr(expected.documents, name))
    assert facts["documents"] == len(first.documents)
    assert facts["documents_without_words"] == (expected.matrix.toarray().sum(axis=1) == 0).sum()
    assert (facts["vocabulary"], facts["words"]) == (expected.matrix.shape[1], expected.matrix.sum())


@pytest.mark.parametrize(("documents", "words"), [(0, 0), (1, 0), (0, -1)])
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
    with pytest.raises(DataError, match=rf"^small: the configuration expects {wrong}: correct"):
        check_expectations(expecting, variant, counts)


def test_equal_corpora_of_users_have_equal_keys() -> None:
    """Whichever of their strings are one object."""
    one, other = "ab", b"ab".decode()
    assert _digest([one, one]) == _digest([one, other]) != _digest([one, "c"])
