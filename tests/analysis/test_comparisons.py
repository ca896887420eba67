"""Comparisons from results of tests made by hand: which test leads, what is decided, and which cells are the best."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from benchmark.analysis.comparisons import (
    UNTESTED,
    comparable_pairs,
    holm_family_rows,
    leading_tests,
    planned_comparisons,
    significance_rows,
)
from benchmark.analysis.summary import (
    DIFFERENCES,
    SCORE_COLUMNS,
    SIGNIFICANCE,
    CellInfo,
    Summary,
    summary_table,
)
from benchmark.config.model import ComparedPair
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.significance import TestResult
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmark.evaluation.score_table import ScoreTable

NOTE = "not testable (smallest p 0.2 after Holm's correction)"


class Results:
    """Scores of cells, and results of tests of their pairs."""

    def __init__(self, scores: Mapping[str, float], tests: Mapping[tuple[str, str], Sequence[TestResult]]) -> None:
        self.scores, self.given = scores, tests
        self.asked: list[Sequence[str]] = []

    def has(self, metric: str, *cells: str) -> bool:
        return metric == "accuracy" and all(cell in self.scores for cell in cells)

    def estimate(self, cell: str, metric: str) -> Estimate:
        assert metric == "accuracy"
        return Estimate(self.scores[cell], 0.0, 1.0, 10, "wilson")

    def difference(self, a: str, b: str, metric: str) -> Estimate:
        assert metric == "accuracy"
        if "other" in (a, b):
            raise ValueError("different documents")
        gap = self.scores[a] - self.scores[b]
        return Estimate(gap, gap - 0.1, gap + 0.2, 7, "bonett-price")

    def tests(self, a: str, b: str, metrics: Sequence[str]) -> list[TestResult]:
        self.asked.append(metrics)
        return list(self.given.get((a, b), ()))


def scored(scores: Mapping[str, float], *tests: TestResult) -> ScoreTable:
    by_pair: dict[tuple[str, str], list[TestResult]] = {}
    for test in tests:
        by_pair.setdefault((test.a, test.b), []).append(test)
    return cast("ScoreTable", Results(scores, by_pair))


def result_of(pair: str, p_value: float | None, test: str = "sign", least: float = 1e-9) -> TestResult:
    a, b = pair
    return TestResult(a, b, test, 9, 1.5, p_value, a, "" if p_value is not None else "not testable (few)", None, least)


def row(a: str, b: str, test: str, p_value: float | None, p_holm: float | None = None, note: str = "") -> list[Any]:
    p_values = [math.nan if p is None else p for p in (p_value, p_value if p_holm is None else p_holm)]
    return [a, b, test, 20, 1.5, *p_values, 3, note]


class TestLeading:
    @staticmethod
    def kinds(*rows: list[Any]) -> list[str]:
        return list(leading_tests(summary_table(SIGNIFICANCE, rows))["test"])

    def test_is_the_first_kind_of_which_one_could_be_significant(self) -> None:
        rows = [row("a", "b", "x", None, note=NOTE), row("a", "b", "y", 0.2, note=NOTE), row("a", "b", "z", 0.2)]
        assert self.kinds(*rows) == ["z"]
        assert self.kinds(*rows, row("a", "c", "y", 0.9)) == ["y", "y"], "whichever pair stands first"
        assert self.kinds(*rows[:2], row("a", "c", "y", 0.9)) == ["y", "y"]


def summary_of(gaps: Sequence[tuple[Any, ...]], tests: Sequence[list[Any]], metric: str = "accuracy") -> Summary:
    cells = tuple(CellInfo(name, {}) for name in "abc")
    scores = summary_table(SCORE_COLUMNS, [(name, "all", metric, 0.5, 0.4, 0.6, 10, 0) for name in "abc"])
    return Summary(
        "made",
        "Made",
        None,
        cells,
        scores,
        differences=summary_table(DIFFERENCES, gaps),
        significance=summary_table(SIGNIFICANCE, tests),
    )


def test_pairs_stand_in_their_order_with_the_leading_test_alone() -> None:
    gaps = [("c", "a", 0.2, 0.1, 0.3, 12), ("a", "b", 0.2, 0.1, 0.3, 12)]
    tests = [row("a", "b", "sign", 0.01), row("a", "b", "mcnemar", 0.9), row("c", "a", "mcnemar", 0.01)]
    found = planned_comparisons(summary_of(gaps, tests))
    assert [(pair.a.id, pair.b.id, pair.test, pair.outcome) for pair in found] == [
        ("c", "a", "", UNTESTED),
        ("a", "b", "sign", "a"),
    ]


class TestRows:
    experiment = replace(
        small_experiment(methods=["mnb"], metrics=["accuracy", "macro-f1"]),
        compare=(ComparedPair("a", "b", "one"), ComparedPair("a", "other", "one"), ComparedPair("b", "gone", "two")),
    )
    table = scored(
        {"a": 0.7, "b": 0.6, "other": 0.5},
        result_of("ab", 0.01),
        result_of("ab", None, "wilcoxon"),
        replace(result_of("ab", 0.02), b="c"),
        result_of("ac", 0.02),
    )

    @pytest.mark.parametrize("jobs", [1, 3])
    def test_pairs_of_different_documents_are_noted_and_failed_cells_are_not(self, jobs: int) -> None:
        pairs, notes = comparable_pairs(self.experiment, self.table, jobs)
        assert pairs == [self.experiment.compare[0]]
        assert notes == ["a and other are not compared: they were tested on different documents"]

    def test_each_family_and_kind_of_test_is_corrected_by_itself(self) -> None:
        pairs = [ComparedPair("a", "b", "one"), ComparedPair("a", "c", "one"), ComparedPair("a", "c", "two")]
        rows = significance_rows(pairs, self.experiment, self.table)
        found = [(each[0], each[1], each[2], each[5], each[6], each[7]) for each in rows if each[5] == each[5]]
        assert found == [
            ("a", "b", "sign", 0.01, 0.03, 3),
            ("a", "c", "sign", 0.02, 0.04, 3),
            ("a", "c", "sign", 0.02, 0.04, 3),
            ("a", "c", "sign", 0.02, 0.04, 2),
            ("a", "c", "sign", 0.02, 0.04, 2),
        ]

    def test_the_size_of_a_family_is_that_of_its_testable_tests(self) -> None:
        family = [result_of("ab", 0.01), result_of("ac", None), result_of("bc", 0.5)]
        rows = list(holm_family_rows(family))
        assert [each[7] for each in rows] == [2, 2, 2]
        assert [each[8] for each in rows] == ["", "not testable (few)", ""]
        assert rows[0][5:7] == [0.01, 0.02]
        assert all(math.isnan(each) for each in rows[1][5:7])
