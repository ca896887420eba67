"""Which test of several leads, and over how many tests a p-value is corrected."""

from __future__ import annotations

import math
from typing import Any

from benchmark.analysis.comparisons import holm_family_rows, leading_tests
from benchmark.analysis.summary import SIGNIFICANCE, summary_table
from benchmark.evaluation.significance import TestResult

NOTE = "not testable (smallest p 0.2 after Holm's correction)"


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


def test_the_size_of_a_family_is_that_of_its_testable_tests() -> None:
    family = [result_of("ab", 0.01), result_of("ac", None), result_of("bc", 0.5)]
    rows = list(holm_family_rows(family))
    assert [each[7] for each in rows] == [2, 2, 2]
    assert [each[8] for each in rows] == ["", "not testable (few)", ""]
    assert rows[0][5:7] == [0.01, 0.02]
    assert all(math.isnan(each) for each in rows[1][5:7])
