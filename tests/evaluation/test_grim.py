"""Numbers of test documents that fit what a paper prints of them, as the remarks of `zhang2005.yaml` state.

An accuracy printed as 81.94% is k / n for an integer k. Z of the sign test is d / sqrt(m) for m discordant documents if
one classifier is right on d more of them than the other, so the two accuracies differ by d / n. Few n fit all the
digits of a table at once. (This extends the GRIM test: Brown and Heathers, Social Psychological and Personality Science
8, 2017.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.papers.load import load_published
from benchmark.papers.published import PUBLISHED_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_LARGEST_GAP = 2000


def consistent_sizes(
    percentages: Mapping[str, str], z_values: Iterable[tuple[str, str, str]], sizes: Iterable[int]
) -> list[int]:
    """Return the numbers of test documents that fit all published values of one split: accuracies and Z of pairs."""
    pairs = [(a, b, _gaps(z)) for a, b, z in z_values if a in percentages and b in percentages]
    return [n for n in sizes if _fits(n, percentages, pairs)]


def possible_correct_counts(percentage: str, n: int) -> list[int]:
    """Return the integers k for which 100 k / n is printed as `percentage`; half a last digit may round either way."""
    digits = len(percentage.partition(".")[2])
    half = 0.5 * 10.0**-digits * (1 + 1e-9)
    printed = float(percentage)
    low = max(0, math.ceil((printed - half) * n / 100))
    high = min(n, math.floor((printed + half) * n / 100))
    return list(range(low, high + 1))


def _fits(n: int, percentages: Mapping[str, str], pairs: Sequence[tuple[str, str, Mapping[int, int]]]) -> bool:
    """Return whether n documents fit all percentages and all Z values."""
    right = {cell: possible_correct_counts(text, n) for cell, text in percentages.items()}
    if not all(right.values()):
        return False
    for a, b, gaps in pairs:
        # Only b is right on (m - d) / 2 of m discordant documents: at most as many as b gets right in all.
        possible = any(
            gaps.get(k_a - k_b, n + 1) <= n and (gaps[k_a - k_b] - (k_a - k_b)) // 2 <= k_b
            for k_a in right[a]
            for k_b in right[b]
        )
        if not possible:
            return False
    return True


def _gaps(z: str) -> dict[int, int]:
    """Return for each d > 0 the smallest number m of discordant documents for which d / sqrt(m) is printed as `z`."""
    digits = len(z.partition(".")[2])
    half = 0.5 * 10.0**-digits * (1 + 1e-9)
    printed = float(z)
    fewest: dict[int, int] = {}
    for d in range(1, _LARGEST_GAP):
        low, high = (d / (printed + half)) ** 2, (d / (printed - half)) ** 2
        for m in range(math.ceil(low), math.floor(high) + 1):
            if m >= d and (m - d) % 2 == 0:
                fewest.setdefault(d, m)
    return fewest


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
            z_values.append((a, b, f"{(only_a - only_b) / math.sqrt(only_a + only_b):.4f}"))
    assert n in consistent_sizes(percentages, z_values, range(n - 5, n + 6))


def test_the_remarks_on_table_2_of_zhang2005_are_what_its_numbers_say() -> None:
    paper = load_published(PUBLISHED_FOLDER / "zhang2005.yaml")
    values = [value for value in paper.values if value.config == "20ng"]  # noqa: PD011 - not a frame's
    percentages = {value.cell: value.value for value in values if value.cell}
    z_values = [(*value.pair, value.value) for value in values if value.pair]
    ours, fits = 7531, 7568
    assert consistent_sizes(percentages, z_values, range(ours // 2, 2 * ours + 1)) == [fits]
    pinned = pd.read_csv(PUBLISHED_FOLDER.parent / "pinned" / "20ng.csv").query(
        "fold == 'all' and metric == 'accuracy'"
    )
    right = (pinned.set_index("cell")["value"] * ours).to_dict()
    explained = sum(
        100 * right[cell] / fits - 0.005 <= float(text) <= 100 * (right[cell] + fits - ours) / fits + 0.005
        for cell, text in percentages.items()
    )
    first, second = paper.remarks["20ng"]
    assert f"the {len(percentages)} published accuracies and {len(z_values)} published Z are consistent only" in first
    assert f"with {fits:,}; ours has {ours:,}." in first
    assert f"The {fits - ours} further test documents are {100 * (fits - ours) / fits:.2f}% of them" in second
    assert f"could explain {explained} of the {len(percentages)} published accuracies" in second
