"""Consistency of published values: find the numbers of test documents that fit all values of a table.

An accuracy printed as 81.94% is k / n for an integer k. Z of the sign test is d / sqrt(m) for m discordant documents if
one classifier is right on d more of them than the other, so the two accuracies differ by d / n. Few n fit all the
digits of a table at once. (This extends the GRIM test: Brown and Heathers, Social Psychological and Personality Science
8, 2017.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def consistent_sizes(
    percentages: Mapping[str, str], z_values: Iterable[tuple[str, str, str]], sizes: Iterable[int]
) -> list[int]:
    """Return the numbers of test documents that fit all published values of one split.

    Parameters
    ----------
    percentages : mapping of str to str
        Accuracy in percent by cell, with the printed digits.
    z_values : iterable of (a, b, Z)
        Z of the sign test of cell a against cell b, as printed; positive where a is better.
    sizes : iterable of int
        Numbers of documents to try.

    Returns
    -------
    list of int

    Examples
    --------
    >>> consistent_sizes({"a": "75.0", "b": "25.0"}, [("a", "b", "1.4142")], range(1, 13))
    [4, 8]
    """
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


_LARGEST_GAP = 2000
