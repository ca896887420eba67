"""Pairwise comparisons: every valid test, corrected within its family, and paired differences of scores."""

from __future__ import annotations

import math
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.units import is_missing
from benchmark.evaluation.metrics import TIME_METRICS
from benchmark.evaluation.significance import SIGNIFICANCE_LEVEL, holm_correction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from benchmark.analysis.formatting.labels import CellInfo
    from benchmark.analysis.summary import Summary
    from benchmark.config.model import ComparedPair, Experiment
    from benchmark.evaluation.outcomes import Estimate
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
    outcome : {"a", "b", "undecided", "not testable", "no test", "never differ"}
        Cell that is better: the test is significant and the interval excludes zero.
    test : str
        Name of the leading test; "" without a test.
    p_holm : float or None
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
    outcome: str
    test: str = ""
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
        outcome = {"a": "b", "b": "a"}.get(self.outcome, self.outcome)
        value, low, high = 0.0 - self.value, -self.high, -self.low
        return replace(self, a=self.b, b=self.a, outcome=outcome, value=value, low=low, high=high)

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
        ids = gap["a"], gap["b"]
        value, low, high = (math.nan if is_missing(gap[end]) else float(gap[end]) for end in ("value", "low", "high"))
        test: dict[Any, Any] = tests.get(ids, {})
        outcome = _outcome(test, summary.sign * value, apart=math.isnan(low) or low > 0 or high < 0)
        p_holm = None if is_missing(test.get("p_holm")) else test["p_holm"]
        note = test.get("note", "no test of this quantity" if ids in others else "")
        of_test = test.get("test", ""), p_holm, int(test.get("family", 0)), "" if outcome == NEVER_DIFFER else note
        found.append(PlannedComparison(cells[gap["a"]], cells[gap["b"]], value, low, high, outcome, *of_test))
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
    alike = (pair for pair in planned_comparisons(summary) if pair.a.task == pair.b.task)
    pairs = (sorted((pair.a.id, pair.b.id), key=summary.merit, reverse=True) for pair in alike)
    best = max(pairs, key=lambda pair: [*map(summary.merit, pair)], default=[])
    return (best[0], best[1]) if best else None


def ranked_cells(summary: Summary) -> tuple[str, ...]:
    """Return the ids of the cells, the best of each setting first; scores of one setting can be put in one order."""
    settings = dict[tuple[Any, ...], int]()

    def place(cell: CellInfo) -> tuple[int, bool, float]:
        where = (cell.variant, cell.task, cell.of_class, cell.choice, cell.size, cell.terms, cell.what)
        merit = summary.merit(cell.id)
        missing = math.isnan(merit)
        return settings.setdefault(where, len(settings)), missing, 0.0 if missing else -merit

    return tuple(cell.id for cell in sorted(summary.cells, key=place))


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


def paired_differences(
    experiment: Experiment, scored: ScoreTable, jobs: int = 1
) -> dict[ComparedPair, Estimate | None]:
    """Return the main metric of a minus that of b for each planned pair; None where the cells can't be paired."""
    metric = main_metric(experiment)
    pairs = [pair for pair in experiment.compare if scored.has(metric, pair.a, pair.b)]

    def difference(pair: ComparedPair) -> Estimate | None:
        try:
            return scored.difference(pair.a, pair.b, metric)
        except ValueError:
            return None

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(pairs, pool.map(difference, pairs), strict=True))


def main_metric(experiment: Experiment) -> str:
    """Return the metric of differences: the first that is not a time."""
    return tested_metrics(experiment)[0]


def tested_metrics(experiment: Experiment) -> list[str]:
    """Return the metrics that are tested."""
    return [metric for metric in experiment.metrics if metric not in TIME_METRICS]


def significance_rows(pairs: Iterable[ComparedPair], experiment: Experiment, scored: ScoreTable) -> list[list[Any]]:
    """Return the rows of the frame of tests, with Holm's correction within each family and test."""
    families: dict[tuple[str, str], list[TestResult]] = defaultdict(list)
    for pair in pairs:
        for result in scored.tests(pair.a, pair.b, tested_metrics(experiment)):
            families[pair.family, result.test].append(result)
    return [row for family in families.values() for row in holm_family_rows(family)]


def leading_tests(significance: pd.DataFrame) -> pd.DataFrame:
    """Return the tests of one kind: the first kind of which a test can be significant, else the first; may be empty.

    `significance` has the columns of `SUMMARY_TABLES`; a note says why a test can't be significant.
    """
    able = set(significance["test"][significance["p_value"].notna() & (significance["note"] == "")])
    kinds = list(dict.fromkeys(significance["test"]))
    leading = next((kind for kind in kinds if kind in able), kinds[0] if kinds else "")
    return significance[significance["test"] == leading]


def holm_family_rows(family: Sequence[TestResult]) -> Iterator[list[Any]]:
    """Yield the rows of one family of tests, with Holm's correction over those that are testable."""
    size = sum(result.p_value is not None for result in family)
    for each in holm_correction(family):
        p_values = [math.nan if p is None else p for p in (each.p_value, each.p_holm)]
        yield [each.a, each.b, each.test, each.n, each.statistic, *p_values, size, each.note]
