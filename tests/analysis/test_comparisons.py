"""Which test of several leads, and over how many tests a p-value is corrected."""

from __future__ import annotations

import math
from typing import Any

from benchmark.analysis.comparisons import leading_tests
from benchmark.analysis.summary import summary_table

NOTE = "not testable (smallest p 0.2 after Holm's correction)"


def row(a: str, b: str, test: str, p_value: float | None, p_holm: float | None = None, note: str = "") -> list[Any]:
    p_values = [math.nan if p is None else p for p in (p_value, p_value if p_holm is None else p_holm)]
    return [a, b, test, 20, 1.5, *p_values, 3, note]


class TestLeading:
    @staticmethod
    def kinds(*rows: list[Any]) -> list[str]:
        return list(leading_tests(summary_table("significance", rows))["test"])

    def test_is_the_first_kind_of_which_one_could_be_significant(self) -> None:
        rows = [row("a", "b", "x", None, note=NOTE), row("a", "b", "y", 0.2, note=NOTE), row("a", "b", "z", 0.2)]
        assert self.kinds(*rows) == ["z"]
        assert self.kinds(*rows, row("a", "c", "y", 0.9)) == ["y", "y"], "whichever pair stands first"
        assert self.kinds(*rows[:2], row("a", "c", "y", 0.9)) == ["y", "y"]
