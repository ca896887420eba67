"""Documents keep their bytes, order and fields, however they are chosen and cut."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora.corpus import (
    Corpus,
    Documents,
    FieldedText,
    StreamedCorpus,
    batch_texts,
    concatenate_texts,
)

TEXTS = st.lists(st.binary(max_size=6), max_size=12)
ROWS = st.lists(st.integers(0, 11), max_size=8)


def documents_of(n: int) -> Documents:
    """Documents of two classes and one part."""
    names = tuple(f"d{row}" for row in range(n))
    labels = (np.arange(n) % 2).astype(np.int32)
    return Documents(names, labels, np.zeros(n, dtype=np.int32), ("a", "b"), ("all",))


def in_memory(texts: list[bytes]) -> Corpus:
    text, bounds = concatenate_texts(texts)
    return Corpus("own", documents_of(len(texts)), text, bounds, "digest")


def streamed(texts: list[bytes]) -> StreamedCorpus:
    return StreamedCorpus("own", documents_of(len(texts)), np.arange(len(texts)), lambda: iter(texts), "digest")


@given(TEXTS, st.integers(1, 9))
def test_batches_are_as_short_as_their_size_allows(texts: list[bytes], size: int) -> None:
    batches = list(batch_texts(texts, size))
    assert list(chain.from_iterable(batches)) == texts
    for batch in batches[:-1]:
        assert sum(map(len, batch)) >= size
    for batch in batches:
        assert batch
        assert sum(map(len, batch[:-1])) < size


@given(TEXTS, st.integers(1, 9))
def test_chunks_are_the_batches_of_the_texts(texts: list[bytes], size: int) -> None:
    expected = list(batch_texts(texts, size))
    for corpus in (in_memory(texts), streamed(texts)):
        found = [
            [text[start:stop].tobytes() for start, stop in pairwise(bounds)] for text, bounds in corpus.chunks(size)
        ]
        assert found == expected
        assert all(bounds[0] == 0 and bounds[-1] == len(text) for text, bounds in corpus.chunks(size))


@given(TEXTS, ROWS)
def test_documents_are_taken_with_their_texts_in_the_order_asked_for(texts: list[bytes], rows: list[int]) -> None:
    corpus = in_memory(texts)
    rows = [row for row in rows if row < len(texts)]
    some = corpus.take(np.array(rows, dtype=np.intp))
    assert list(some) == [texts[row] for row in rows]
    assert some.documents.ids == tuple(f"d{row}" for row in rows)
    assert len(some.text) == sum(len(texts[row]) for row in rows)
    assert some.bounds.tolist() == np.cumsum([0, *(len(texts[row]) for row in rows)]).tolist()
    assert corpus.take(np.arange(len(texts))) is corpus
    ascending = sorted(set(rows))
    assert list(streamed(texts).take(np.array(ascending, dtype=np.intp))) == [texts[row] for row in ascending]


def test_only_texts_that_were_joined_have_fields() -> None:
    plain = in_memory([b"title body", b"a b"])
    assert {type(text) for text in plain} == {bytes}
    spans = {"title": np.array([[0, 5], [0, 1]]), "body": np.array([[6, 10], [2, 3]])}
    joined = Corpus("own", plain.documents, plain.text, plain.bounds, "digest", spans)
    for corpus, expected in (
        (joined, [{"title": b"title", "body": b"body"}, {"title": b"a", "body": b"b"}]),
        (joined.take(np.array([1])), [{"title": b"a", "body": b"b"}]),
    ):
        assert [text.fields for text in corpus if isinstance(text, FieldedText)] == expected


@pytest.mark.parametrize("several", [False, True])
def test_sizes_count_a_document_for_each_of_its_classes(*, several: bool) -> None:
    parts = np.array([0, 1, 1, 1], dtype=np.int32)
    topics = np.array([[1, 0], [1, 1], [0, 0], [0, 1]], dtype=bool) if several else None
    labels = np.full(4, -1, dtype=np.int32) if several else np.array([0, 1, 1, 0], dtype=np.int32)
    found = Documents(("p", "q", "r", "s"), labels, parts, ("a", "b"), ("train", "test"), topics)
    assert found.sizes().tolist() == [[1, 1], [0, 2]]


@pytest.mark.parametrize(("dates", "by_class"), [(None, False), ("int64", True), ("datetime64[s]", False)])
def test_numbers_order_documents_within_a_class_alone(*, dates: str | None, by_class: bool) -> None:
    given = None if dates is None else np.arange(3).astype(dates)
    assert replace(documents_of(3), dates=given).dated_by_class is by_class


@pytest.mark.parametrize(
    ("topics", "labels", "said"),
    [
        (np.ones((3, 2), dtype=bool), [-1, -1, -1], None),
        (np.ones((2, 2), dtype=bool), [-1, -1, -1], "topics must be bool of shape (3, 2), not bool of shape (2, 2)"),
        (np.ones((3, 3), dtype=bool), [-1, -1, -1], "topics must be bool of shape (3, 2), not bool of shape (3, 3)"),
        (np.ones(3, dtype=bool), [-1, -1, -1], "topics must be bool of shape (3, 2), not bool of shape (3,)"),
        (np.ones((3, 2)), [-1, -1, -1], "topics must be bool of shape (3, 2), not float64 of shape (3, 2)"),
        *(
            (
                np.ones((3, 2), dtype=bool),
                labels,
                "multi-label documents have the label -1, and their classes in topics",
            )
            for labels in ([0, 1, 0], [-1, -1, 0], [1, -1, -1], [-2, -2, -2])
        ),
    ],
)
def test_documents_have_a_label_or_topics(topics: np.ndarray, labels: list[int], said: str | None) -> None:
    parts = np.zeros(3, dtype=np.int32)
    given = ("p", "q", "r"), np.array(labels, dtype=np.int32), parts, ("a", "b"), ("all",), topics
    if said is None:
        assert Documents(*given).topics is topics
        return
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        Documents(*given)


@pytest.mark.parametrize("several", [False, True])
def test_documents_that_are_taken_keep_all_that_they_have(*, several: bool) -> None:
    rng = np.random.default_rng(0)
    whole = Documents(
        tuple("pqrs"),
        np.full(4, -1, np.int32) if several else np.array([1, 0, 2, 1], dtype=np.int32),
        np.array([0, 1, 1, 0], dtype=np.int32),
        ("a", "b", "c"),
        ("train", "test"),
        rng.random((4, 3)) < 0.5 if several else None,
        np.array([5, 6, 7, 8], dtype=np.int32),
        np.array([3, 1, 2, 4], dtype="datetime64[s]"),
    )
    names = whole.classes, whole.part_names
    for rows in ([2, 0], [3], [], [0, 1, 2, 3], [1, 1]):
        some = whole.take(np.array(rows, dtype=np.intp))
        assert (some.ids, some.classes, some.part_names) == (tuple("pqrs"[row] for row in rows), *names)
        for name in ("labels", "parts", "groups", "dates", *(["topics"] if several else [])):
            expected = np.asarray(getattr(whole, name))[rows]
            np.testing.assert_array_equal(getattr(some, name), expected)
            assert getattr(some, name).dtype == expected.dtype
        assert (some.topics is None) == (not several)
    rows, of_two = whole.of_classes(("c", "a"))
    assert rows.tolist() == ([0, 1, 2, 3] if several else [1, 2])
    assert (of_two.classes, of_two.ids) == (("c", "a"), tuple("pqrs"[row] for row in rows))
    np.testing.assert_array_equal(of_two.groups, np.array([5, 6, 7, 8])[rows])
    np.testing.assert_array_equal(of_two.dates, np.asarray(whole.dates)[rows])
    if whole.topics is not None:
        np.testing.assert_array_equal(of_two.topics, whole.topics[:, [2, 0]])
    else:
        assert (of_two.labels.tolist(), of_two.labels.dtype) == ([1, 0], np.int32)
    plain = replace(whole, groups=None, dates=None).take(np.array([1]))
    assert (plain.groups, plain.dates) == (None, None)
