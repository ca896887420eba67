"""Pairwise comparisons: every valid test, corrected within its family, and paired differences of scores."""

from __future__ import annotations

import math
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.number_text import is_missing
from benchmark.evaluation.metrics import TIME_METRICS
from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL, holm_correction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from benchmark.analysis.summary import CellInfo, Summary
    from benchmark.config.model import ComparedPair, Experiment
    from benchmark.evaluation.score_table import ScoreTable
    from benchmark.evaluation.significance import TestResult

#: Tests of which documents a cell is right on.
DOCUMENT_TESTS = ("sign", "mcnemar")
#: Outcomes of a comparison that name no better cell.
UNDECIDED, UNTESTABLE, UNTESTED, NEVER_DIFFER = "undecided", "not testable", "no test", "never differ"
#: What a cell is that others are compared with, and the term for a comparison that decides nothing.
BASELINE, NOT_SHOWN = "baseline", "no clear difference"
#: Names of tests, for sentences.
SPOKEN_TESTS = {"sign": "the exact sign test", "mcnemar": "McNemar's exact test"}
SPOKEN_TESTS |= {"wilcoxon": "Wilcoxon's signed rank test"}


@dataclass(frozen=True)
class PlannedComparison:
    """Comparison that the configuration asks for, with its outcome by the leading test of the main score.

    Parameters
    ----------
    a, b : CellInfo
    value, low, high : float
        Main score of `a` minus that of `b`, with its 95% interval, as in the score frame.
    n : int
    outcome : {"a", "b", "undecided", "not testable", "no test", "never differ"}
        Cell that is better: the test is significant and the interval excludes zero.
    test : str
        Name of the leading test; "" without a test.
    p_value, p_holm : float or None
    family : int
        Number of tests that `p_holm` is corrected over.
    note : str
        Reason why there is no test, or why it could not be significant, or "".
    """

    a: CellInfo
    b: CellInfo
    value: float
    low: float
    high: float
    n: int
    outcome: str
    test: str = ""
    p_value: float | None = None
    p_holm: float | None = None
    family: int = 0
    note: str = ""

    @property
    def better(self) -> CellInfo | None:
        """The better cell, if there is one by the test."""
        return {"a": self.a, "b": self.b}.get(self.outcome)

    @property
    def turned(self) -> PlannedComparison:
        """The comparison with its cells in the other order."""
        low, high, other = -self.high, -self.low, self.turned_over.outcome
        return replace(self, a=self.b, b=self.a, outcome=other, value=0.0 - self.value, low=low, high=high)

    @property
    def turned_over(self) -> PlannedComparison:
        """The comparison with the other cell as the better one."""
        return replace(self, outcome={"a": "b", "b": "a"}.get(self.outcome, self.outcome))

    def outcome_for(self, cell: str) -> str:
        """Return the outcome for one of the two cells: "better", "worse", or why it is neither."""
        if self.better is None:
            return self.outcome
        return "better" if self.better.id == cell else "worse"


def planned_comparisons(summary: Summary) -> list[PlannedComparison]:
    """Return the planned comparisons of a summary in their order, with the outcome by one kind of test for all."""
    cells, tested = {cell.id: cell for cell in summary.cells}, summary.significance
    leading = leading_tests(quantity_tests(tested, summary.main_metric))
    tests = {(row["a"], row["b"]): row for row in leading.to_dict("records")}
    others, found = set(zip(tested["a"], tested["b"], strict=True)), list[PlannedComparison]()
    for gap in summary.differences.to_dict("records"):
        test: dict[Any, Any] = tests.get((gap["a"], gap["b"]), {})
        of_other = "no test of this quantity" if (gap["a"], gap["b"]) in others else ""
        p_value, p_holm = (None if is_missing(test.get(name)) else test[name] for name in ("p_value", "p_holm"))
        value, low, high = (float("nan" if is_missing(gap[end]) else gap[end]) for end in ("value", "low", "high"))
        outcome = _outcome(test, value, apart=math.isnan(low) or low > 0 or high < 0)
        pair = PlannedComparison(cells[gap["a"]], cells[gap["b"]], value, low, high, int(gap["n"]), outcome)
        note = "" if outcome == NEVER_DIFFER else str(test.get("note", of_other))
        pair = replace(
            pair,
            test=test.get("test", ""),
            p_value=p_value,
            p_holm=p_holm,
            note=note,
            family=int(test.get("family", 0)),
        )
        found.append(pair if summary.more_is_better(summary.main_metric) else pair.turned_over)
    return found


def _outcome(test: Mapping[Any, Any], value: float, *, apart: bool) -> str:
    """Return the outcome of a comparison where more is better; `apart` says whether the interval excludes zero.

    A test of decisions may favour the other cell than the score does, or say nothing of it.
    """
    if not test:
        return UNTESTED
    if test["n"] == 0 and value == 0 and (test["p_value"] == 1 or test["test"] == "wilcoxon"):
        return NEVER_DIFFER
    if is_missing(test["p_value"]) or test["note"]:
        return UNTESTABLE
    if test["p_holm"] < SIGNIFICANCE_LEVEL and apart and value:
        return "a" if value > 0 else "b"
    return UNDECIDED


def leading_pair(summary: Summary) -> tuple[str, str] | None:
    """Return the planned pair with the best score, the better cell first; None without a pair of one task."""
    scores, metric = summary.headlines, summary.main_metric
    sign = 1 if summary.more_is_better(metric) else -1
    best: list[tuple[float, str]] = []
    for pair in (pair for pair in planned_comparisons(summary) if pair.a.task == pair.b.task):
        both = [(sign * scores[cell.id, metric]["value"], cell.id) for cell in (pair.a, pair.b)]
        both.sort(key=lambda each: each[0], reverse=True)
        if [value for value, _ in both] > [value for value, _ in best]:
            best = both
    return (best[0][1], best[1][1]) if best else None


def ranked_cells(summary: Summary) -> tuple[str, ...]:
    """Return the ids of the cells, the best of each setting first; scores of one setting can be put in one order."""
    sign = -1 if summary.more_is_better(summary.main_metric) else 1
    settings: dict[tuple[Any, ...], list[tuple[bool, float, str]]] = {}
    for cell in summary.cells:
        where = (cell.variant, cell.task, cell.of_class, cell.choice, cell.size, cell.terms, cell.columns.get("what"))
        value = summary.headlines.get((cell.id, summary.main_metric), {}).get("value", math.nan)
        rank = (True, 0.0) if is_missing(value) else (False, sign * float(value))
        settings.setdefault(where, []).append((*rank, cell.id))
    return tuple(name for cells in settings.values() for *_, name in sorted(cells, key=lambda row: row[:2]))


def first_comparisons(summary: Summary) -> dict[str, PlannedComparison]:
    """Return the first planned comparison of each cell that is compared with another, by its id."""
    return {pair.a.id: pair for pair in reversed(planned_comparisons(summary))}


def shown_outcomes(summary: Summary) -> dict[str, str]:
    """Return what each cell is to the one that it is first compared with: an outcome, `BASELINE`, or "" without one."""
    first = first_comparisons(summary)
    outcomes = dict.fromkeys((cell.id for cell in summary.cells), "") | {p.b.id: BASELINE for p in first.values()}
    return outcomes | {cell: pair.outcome_for(cell) for cell, pair in first.items()}


def quantity_tests(significance: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the tests of the quantity that a metric is, so that a test and an interval beside it are of the same.

    Tests of documents count which cell is right: the accuracy. Where documents may have several classes, they count
    decisions, and test no F1. A test with a pair for each category and replicate is left out: its pairs share test
    documents, and its p-values tend to be too small.

    Parameters
    ----------
    significance : DataFrame
        Columns of `SUMMARY_TABLES`.
    metric : str
    """
    names = {"wilcoxon"}  # of the main metric, over the splits
    single = "mcnemar" in set(significance["test"])
    if metric in ("accuracy", "error") or (metric == "micro-f1" and single):
        names.update(DOCUMENT_TESTS)
    if metric == "macro-f1":
        names.add("wilcoxon, categories")
    return significance[significance["test"].isin(names)]


def comparable_pairs(
    experiment: Experiment, scored: ScoreTable, jobs: int = 1
) -> tuple[list[ComparedPair], list[ComparedPair]]:
    """Return the pairs that can be compared, and those on different documents; differences are computed by threads."""
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
    return [pair for pair, can in paired if can], [pair for pair, can in paired if not can]


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

    `significance` has the columns of `SUMMARY_TABLES`.
    """
    able = set(significance["test"][can_be_significant(significance)])
    kinds = list(dict.fromkeys(significance["test"]))
    leading = next((kind for kind in kinds if kind in able), kinds[0] if kinds else "")
    return significance[significance["test"] == leading]


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
