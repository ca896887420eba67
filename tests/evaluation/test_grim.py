"""Whatever was really measured and printed fits the number of documents it was measured on."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.papers.grim import consistent_sizes, possible_correct_counts
from benchmark.papers.load import load_published

PUBLISHED = Path(__file__).parents[2] / "results" / "published" / "zhang2005.yaml"


@settings(max_examples=60)
@given(n=st.integers(20, 900), seed=st.integers(0, 10_000))
def test_a_real_table_fits_its_own_size(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    right = {cell: rng.random(n) < rate for cell, rate in (("a", 0.9), ("b", 0.6), ("c", 0.5))}
    percentages = {cell: f"{100 * hits.mean():.2f}" for cell, hits in right.items()}
    z_values = []
    for a, b in (("a", "b"), ("a", "c")):
        only_a, only_b = int((right[a] & ~right[b]).sum()), int((right[b] & ~right[a]).sum())
        if only_a > only_b:
            z = (only_a - only_b) / math.sqrt(only_a + only_b)
            z_values.append((a, b, f"{z:.4f}"))
    assert n in consistent_sizes(percentages, z_values, range(n - 5, n + 6))


@given(n=st.integers(1, 5000), k=st.integers(0, 5000))
def test_right_counts_are_those_that_round_to_the_print(n: int, k: int) -> None:
    k = min(k, n)
    found = possible_correct_counts(f"{100 * k / n:.2f}", n)
    assert k in found
    assert all(abs(100 * (each - k) / n) <= 0.0100001 for each in found)


@pytest.mark.parametrize("n", [1, 3, 7, 40, 200])
@pytest.mark.parametrize("printed", ["0", "100", "99.9", "0.1", "33.3", "33.33", "50", "99.75", "2.5"])
def test_right_counts_are_all_between_none_and_all_that_round_to_the_print(printed: str, n: int) -> None:
    half = Fraction(1, 2 * 10 ** len(printed.partition(".")[2]))
    fitting = [k for k in range(n + 1) if abs(Fraction(100 * k, n) - Fraction(printed)) <= half]
    assert possible_correct_counts(printed, n) == fitting


def test_numbers_that_contradict_each_other_fit_no_size() -> None:
    # 9 of 10 against 5 of 10 differ by 4 documents: Z is at most 4 / sqrt(4) = 2.
    assert consistent_sizes({"a": "90", "b": "50"}, [("a", "b", "2.0000")], [10]) == [10]
    assert consistent_sizes({"a": "90", "b": "50"}, [("a", "b", "2.1000")], [10]) == []
    # 4 / sqrt(2) would need more documents in the difference than are discordant.
    assert consistent_sizes({"a": "90", "b": "50"}, [("a", "b", "2.8284")], [10]) == []


def test_a_difference_and_the_discordant_documents_are_both_even_or_both_odd() -> None:
    # 3 of 4 against 2 of 4 differ by 1 document. 1 / sqrt(2) is 0.7071, but of two discordant documents one classifier
    # gets 0 or 2 more right; of 8 documents it is 2 / sqrt(8).
    printed = {"a": "75", "b": "50"}, [("a", "b", "0.7071")]
    assert consistent_sizes(*printed, [4]) == []
    assert consistent_sizes(*printed, [8]) == [8]
    # Of three discordant documents it can be 1: 1 / sqrt(3).
    assert consistent_sizes({"a": "75", "b": "50"}, [("a", "b", "0.5774")], [4]) == [4]


def test_a_pair_without_printed_accuracies_says_nothing() -> None:
    assert consistent_sizes({"a": "50"}, [("a", "b", "3.0000")], [2]) == [2]


@pytest.mark.parametrize("size", [7531, 7532, 7528])
def test_table_2_of_zhang2005_was_not_measured_on_todays_test_set(size: int) -> None:
    values = [value for value in load_published(PUBLISHED).values if value.config == "20ng"]
    percentages = {value.cell: value.value for value in values if value.cell}
    z_values = [(*value.pair, value.value) for value in values if value.pair]
    assert consistent_sizes(percentages, z_values, range(5000, 12000)) == [7568]
    assert consistent_sizes(percentages, z_values, [size]) == []
