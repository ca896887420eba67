"""Pairwise comparisons: every valid test, corrected within its family, and paired differences of scores."""

from __future__ import annotations

import math
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import TYPE_CHECKING, Any

from benchmark.evaluation.metrics import TIME_METRICS
from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL, holm_correction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from benchmark.config.model import ComparedPair, Experiment
    from benchmark.evaluation.score_table import ScoreTable
    from benchmark.evaluation.significance import TestResult


def comparable_pairs(experiment: Experiment, scored: ScoreTable, jobs: int = 1) -> tuple[list[ComparedPair], list[str]]:
    """Return the pairs that can be compared, and a note on every other pair; differences are computed by threads."""
    metric = main_metric(experiment)
    pairs = [pair for pair in experiment.compare if scored.has(metric, pair.a, pair.b)]

    def can_be(pair: ComparedPair) -> bool:
        try:
            scored.difference(pair.a, pair.b, metric)
        except ValueError:
            return False
        return True

    with ThreadPoolExecutor(jobs) as pool:
        paired = list(zip(pairs, pool.map(can_be, pairs), strict=True))
    different = "are not compared: they were tested on different documents"
    return [pair for pair, can in paired if can], [f"{p.a} and {p.b} {different}" for p, can in paired if not can]


def main_metric(experiment: Experiment) -> str:
    """Return the metric of differences: the first that is not a time."""
    return tested_metrics(experiment)[0]


def tested_metrics(experiment: Experiment) -> list[str]:
    """Return the metrics that are tested."""
    return [metric for metric in experiment.metrics if metric not in TIME_METRICS]


def significance_rows(pairs: Sequence[ComparedPair], experiment: Experiment, scored: ScoreTable) -> list[list[Any]]:
    """Return the rows of the frame of tests, with Holm's correction within each family and test."""
    families: dict[tuple[str, str], list[TestResult]] = defaultdict(list)
    for pair in pairs:
        for result in scored.tests(pair.a, pair.b, tested_metrics(experiment)):
            families[pair.family, result.test].append(result)
    return [row for family in families.values() for row in holm_family_rows(family)]


def leading_tests(significance: pd.DataFrame) -> pd.DataFrame:
    """Return the tests of one kind: the first kind of which a test can be significant, else the first; may be empty.

    `significance` has the columns `SIGNIFICANCE`.
    """
    able = significance[can_be_significant(significance)]
    first = able if len(able) else significance
    return significance[significance["test"].isin(first["test"][:1])]


def can_be_significant(significance: pd.DataFrame) -> pd.Series[bool]:
    """Return for each test whether it could be significant after its correction: a note says why it could not."""
    return significance["p_value"].notna() & (significance["note"] == "")


def difference_rows(pairs: Sequence[ComparedPair], experiment: Experiment, scored: ScoreTable) -> list[list[Any]]:
    """Return the rows of the frame of differences: the main metric of a minus that of b."""
    gaps = [(pair, scored.difference(pair.a, pair.b, main_metric(experiment))) for pair in pairs]
    return [[pair.a, pair.b, gap.value, gap.low, gap.high, gap.n] for pair, gap in gaps]


def holm_family_rows(family: Sequence[TestResult]) -> Iterator[list[Any]]:
    """Yield the rows of one family of tests, with Holm's correction over those that are testable."""
    size = sum(result.p_value is not None for result in family)
    for each in holm_correction(family):
        p_values = [math.nan if p is None else p for p in (each.p_value, each.p_holm)]
        yield [each.a, each.b, each.test, each.n, each.statistic, *p_values, size, each.note]


def best_cells(scored: ScoreTable, cells: Sequence[str], metric: str) -> tuple[list[str], str]:
    """Return the cell with the best score and all that no test tells from it, best first, and the name of the test.

    Which cell is best is known only from the scores that are tested. So all pairs of the cells are tested, and Holm's
    correction is over all of them. The test is the first kind of which one can be significant.

    Parameters
    ----------
    scored : ScoreTable
    cells : sequence of str
        Cells with a score, tested on the same documents.
    metric : str
        A metric of which more is better.
    """
    ordered = sorted(cells, key=lambda cell: -scored.estimate(cell, metric).value)
    families: dict[str, list[TestResult]] = defaultdict(list)
    for a, b in combinations(ordered, 2):
        for result in scored.tests(a, b, [metric]):
            families[result.test].append(result)
    corrected = [holm_correction(family) for family in families.values()]
    able = (family for family in corrected if any(each.p_holm is not None and not each.note for each in family))
    leading = next(able, corrected[0] if corrected else [])
    worse = {
        each.b
        for each in leading
        if each.a == ordered[0] and each.p_holm is not None and each.p_holm < SIGNIFICANCE_LEVEL
    }
    return [cell for cell in ordered if cell not in worse], leading[0].test if leading else ""
