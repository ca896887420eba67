"""Pairwise comparisons: every valid test, corrected within its family, and paired differences of scores."""

from __future__ import annotations

import math
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from benchmark.evaluation.metrics import CLOCK
from benchmark.evaluation.significance import holm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmark.config.model import Experiment, Pair
    from benchmark.evaluation.scored import Scored
    from benchmark.evaluation.significance import TestResult


def pairable(study: Experiment, scored: Scored, jobs: int = 1) -> tuple[list[Pair], list[str]]:
    """Return the pairs that can be compared, and a note on every other pair; differences are computed by threads."""
    metric = main_metric(study)
    pairs = [pair for pair in study.compare if scored.has(metric, pair.a, pair.b)]

    def can_be(pair: Pair) -> bool:
        try:
            scored.difference(pair.a, pair.b, metric)
        except ValueError:
            return False
        return True

    with ThreadPoolExecutor(jobs) as pool:
        paired = list(zip(pairs, pool.map(can_be, pairs), strict=True))
    different = "are not compared: they were tested on different documents"
    return [pair for pair, can in paired if can], [f"{p.a} and {p.b} {different}" for p, can in paired if not can]


def main_metric(study: Experiment) -> str:
    """Return the metric of differences: the first that is not a time."""
    return shares(study)[0]


def shares(study: Experiment) -> list[str]:
    """Return the metrics that are tested."""
    return [metric for metric in study.metrics if metric not in CLOCK]


def significance_rows(pairs: Sequence[Pair], study: Experiment, scored: Scored) -> list[list[Any]]:
    """Return the rows of the frame of tests, with Holm's correction within each family and test."""
    families: dict[tuple[str, str], list[TestResult]] = defaultdict(list)
    for pair in pairs:
        for result in scored.tests(pair.a, pair.b, shares(study)):
            families[pair.family, result.test].append(result)
    return [row for family in families.values() for row in family_rows(family)]


def difference_rows(pairs: Sequence[Pair], study: Experiment, scored: Scored) -> list[list[Any]]:
    """Return the rows of the frame of differences: the main metric of a minus that of b."""
    gaps = [(pair, scored.difference(pair.a, pair.b, main_metric(study))) for pair in pairs]
    return [[pair.a, pair.b, gap.value, gap.low, gap.high, gap.n] for pair, gap in gaps]


def family_rows(family: Sequence[TestResult]) -> Iterator[list[Any]]:
    """Yield the rows of one family of tests, with Holm's correction over those that are testable."""
    size = sum(result.p_value is not None for result in family)
    for each in holm(family):
        p_values = [math.nan if p is None else p for p in (each.p_value, each.p_holm)]
        yield [each.a, each.b, each.test, each.n, each.statistic, *p_values, size, each.note]
