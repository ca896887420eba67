"""Counts as plain arrays and back: nothing of them is lost, whatever the documents have."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmark.corpora.corpus import Documents
from benchmark.text.counts import Counts, counts_from_arrays, counts_to_arrays

DATES: dict[str, Any] = {
    "none": None,
    "dates": np.array(["2024-01-02", "1969-12-31T23:59:59", "2024-01-01"], dtype="datetime64[s]"),
    "numbers": np.array([3, 1, 2**40], dtype=np.int64),
}


def counts_of(*, several: int = 0, grouped: bool = False, dates: str = "none", most: int = 3, n: int = 3) -> Counts:
    """Counts of three documents, in two blocks, or of none."""
    rng, classes = np.random.default_rng(1), tuple(f"c{i}" for i in range(several or 2))
    documents = Documents(
        ("ä/1", "b\n2", "")[:n],
        np.full(n, -1, np.int32) if several else np.array([1, 0, 1][:n], dtype=np.int32),
        np.array([0, 1, 1][:n], dtype=np.int32),
        classes,
        ("train", "test"),
        rng.random((n, several)) < 0.5 if several else None,
        np.array([7, 7, 2][:n], dtype=np.int32) if grouped else None,
        None if DATES[dates] is None else DATES[dates][:n],
    )
    dense = np.array([[0, 1, most], [2, 0, 0], [0, 0, 0]], dtype=np.int32)[:n]
    return Counts(
        documents,
        sp.csr_array(dense),
        ("ink", "sea", "x:sea ink"),
        5,
        ("all", "x", "x-2"),
        np.array([0, 0, 2], dtype=np.int32),
    )


def same(one: Any, other: Any) -> bool:
    if sp.issparse(one):
        return bool((one != other).nnz == 0 and one.dtype == other.dtype and one.shape == other.shape)
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and np.array_equal(one, other))
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("several", [0, 1, 7, 8, 9, 20])
@pytest.mark.parametrize("dates", DATES)
@pytest.mark.parametrize("grouped", [False, True])
def test_all_that_counts_have_comes_back(several: int, dates: str, *, grouped: bool) -> None:
    for n in (0, 3):
        counts = counts_of(several=several, grouped=grouped, dates=dates, n=n)
        arrays, facts = counts_to_arrays(counts)
        found = counts_from_arrays(arrays, json.loads(json.dumps(facts)))
        for field in fields(Counts):
            if field.name != "documents":
                assert same(getattr(counts, field.name), getattr(found, field.name)), field.name
        for field in fields(Documents):
            assert same(getattr(counts.documents, field.name), getattr(found.documents, field.name)), field.name
        assert found.documents.dated_by_class == (dates == "numbers")


@pytest.mark.parametrize(
    ("most", "kind"),
    [(255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.uint32), (2**31 - 1, np.uint32)],
)
def test_counts_are_stored_in_as_few_bytes_as_the_largest_needs(most: int, kind: type) -> None:
    counts = counts_of(most=most)
    arrays, facts = counts_to_arrays(counts)
    assert arrays["data"].dtype == kind
    found = counts_from_arrays(arrays, facts).matrix
    assert (found.dtype, found.max()) == (np.int32, most)


def test_coordinates_of_points_stay_as_they_are() -> None:
    counts = counts_of()
    points = Counts(counts.documents, counts.matrix.astype(np.float64) / 3, counts.vocabulary)
    arrays, facts = counts_to_arrays(points)
    found = counts_from_arrays(arrays, facts)
    assert same(found.matrix, points.matrix)
    assert (found.blocks, found.block_of.tolist(), found.dropped) == (("all",), [0, 0, 0], 0)
