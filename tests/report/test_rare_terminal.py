"""What a terminal shows of summaries that few experiments have, and of grids: both sides of each limit."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from benchmark.analysis.charts.chart import ChartPanel, Line
from benchmark.analysis.summary import COSTS, SCORE_COLUMNS, CellInfo, Summary, summary_table
from benchmark.report.grids import TextTable
from benchmark.report.terminal import (
    DROP_ORDER,
    MOST_GRIDS,
    MOST_PAIRS,
    MOST_TERMINAL_COLUMNS,
    TerminalGrids,
    TerminalTables,
    significance_lines,
)
from tests.report.test_rare_rows import claim, claims_of, curve, result, summary_of, verdict, verdicts_of

SIZES = {name: {"more": {"size": 5}} for name in "abc"}


def printed(shown: Any, width: int = 120) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(shown, crop=False)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    return [line.rstrip() for line in text.splitlines()]


def tables(summary: Summary, width: int = 120, **given: Any) -> list[str]:
    return printed(TerminalTables(summary, **given), width)


class TestGrids:
    header = ("cell", "notes", "x", "ties")
    grid = TextTable("First", header, (tuple(name * 10 for name in "abcd"),), frozenset({"cell"}), "A note.")

    def test_have_their_titles_and_notes_with_a_line_between_them(self) -> None:
        lines = printed(TerminalGrids((self.grid, replace(self.grid, title="Second", note=""))))
        assert [lines[0], *lines[3:6]] == ["First", "A note.", "", "Second"]
        assert len(lines) == 8

    @pytest.mark.parametrize(
        ("first", "kept"), [((), ("cell", "x", "ties")), (("x",), ("cell", "ties", "notes")), (("x", "ties"), None)]
    )
    def test_lose_the_columns_that_are_named_first(self, first: tuple[str, ...], kept: tuple[str, ...] | None) -> None:
        lines = printed(TerminalGrids((self.grid,), first), self.grid.width - 1)
        expected = kept or ("cell", "notes", "ties")
        assert set(lines[1].split()) == set(expected)

    def test_are_at_most_as_wide_as_a_page(self) -> None:
        wide = replace(self.grid, rows=(("a" * 40, "b" * 40, "c" * 20, "d" * 20),))
        assert "notes" not in printed(TerminalGrids((wide,)), 500)[1]
        narrow = replace(wide, rows=(("a" * (MOST_TERMINAL_COLUMNS - 86), "b" * 40, "c" * 20, "d" * 20),))
        assert narrow.width == MOST_TERMINAL_COLUMNS
        assert "notes" in printed(TerminalGrids((narrow,)), 500)[1]


def many_points(n: int) -> Summary:
    xs = tuple(float(1000 * (i + 1)) for i in range(n))
    panel = ChartPanel("P", (Line("one", xs, (0.5,) * n),))
    return summary_of(columns=SIZES, charts=(curve(panels=(panel,)),))


class TestCurves:
    def test_columns_between_the_ends_are_left_out_and_counted(self) -> None:
        whole = tables(many_points(5))
        assert [each for each in whole if each.startswith("series")] == ["series  1,000  2,000  3,000  4,000  5,000"]
        assert not any("left out" in line for line in whole)
        lines = tables(many_points(5), 35)
        assert [each for each in lines if each.startswith("series")] == ["series  1,000  2,000  4,000  5,000"]
        assert "1 of 5 columns are left out:" in " ".join(lines)
        lines = tables(many_points(5), 14)
        assert [each for each in lines if each.startswith("series")] == ["series  1,000"]
        assert "4 of 5 columns are left out:" in " ".join(lines)
        assert [each for each in tables(many_points(1), 5) if each.startswith("seri")] != []

    def test_at_most_six_panels_are_shown_and_failures_after_them(self) -> None:
        charts = tuple(curve(name=f"c{i}", panels=curve().panels * 2) for i in range(2))
        lines = tables(summary_of(columns=SIZES, charts=charts, failures={"b": "why"}))
        assert sum(line.startswith("series") for line in lines) == MOST_GRIDS == 6
        assert lines[-1] == "b: failed: why"

    def test_published_numbers_of_points_are_all_shown(self) -> None:
        rows = [verdict(name, f"9{i}.00") for i, name in enumerate("abc")]
        lines = tables(summary_of(columns=SIZES, charts=(curve(),), verdicts=verdicts_of(*rows)))
        after = lines[lines.index("Published numbers") :]
        assert [line.split()[0] for line in after if line[:2] in ("a ", "b ", "c ")] == ["a", "b", "c"]


class TestCells:
    def test_other_numbers_are_shown_where_they_deviate_or_the_table_has_none(self) -> None:
        others = [verdict("a b", "71.00"), verdict("b c", "72.00", verdict="deviates")]
        alone = "\n".join(tables(summary_of(verdicts=verdicts_of(*others))))
        beside = "\n".join(tables(summary_of(verdicts=verdicts_of(verdict("a"), *others))))
        assert [text in alone for text in ("71.00", "72.00")] == [True, True]
        assert [text in beside for text in ("71.00", "72.00")] == [False, True]

    def test_a_cell_that_failed_has_no_costs(self) -> None:
        costs = summary_table(COSTS, [("a", 1.0, 2.0, 3e6, False), ("c", 4.0, 5.0, 6e6, False)])
        lines = tables(summary_of(costs=costs, failures={"b": "why"}))
        rows = {line.split()[0]: line.split()[-4:] for line in lines if line[:2] in ("a ", "b ", "c ")}
        assert rows["b"] == ["–", "–", "–", "failed"]
        assert rows["c"] == ["4.00", "5.00", "6", "–"]
        shown = tables(summary_of(costs=costs))
        assert [line.split()[-3:] for line in shown if line.startswith("b ")] == [["–"] * 3]

    def test_columns_of_settings_are_left_out_and_further_metrics_go_before_ties_the_last_first(self) -> None:
        columns = {name: {"columns": {"weighting": f"w{name}", "kernel": "ngd"}} for name in "abc"}
        scores = [
            (name, "all", metric, 0.5, 0.4, 0.6, 10, 1)
            for name in "abc"
            for metric in ("accuracy", "macro-f1", "micro-f1")
        ]
        summary = summary_of(columns=columns, scores=scores)
        whole = next(line for line in tables(summary) if line.startswith("cell"))
        heads = ["accuracy %", "95% interval", "macro-F1 %", "micro-F1 %", "ties"]
        assert [head for head in heads if head in whole] == heads
        assert "weighting" not in whole
        shown = [
            [head for head in heads if head in next(line for line in tables(summary, width) if line.startswith("cell"))]
            for width in (len(whole) - 1, len(whole) - 13)
        ]
        assert shown == [[*heads[:3], "ties"], [*heads[:2], "ties"]]
        assert set(heads) - set(DROP_ORDER) == {"accuracy %", "macro-F1 %", "micro-F1 %"}

    @pytest.mark.parametrize(("metric", "points"), [("accuracy", True), ("average-skl", False)])
    def test_differences_are_in_points_of_percentages_alone(self, metric: str, points: bool) -> None:
        unit = {} if points else {"unit": "one"}
        summary = summary_of(metric=metric, verdicts=verdicts_of(verdict("a", metric=metric, **unit)))
        assert any("in points." in line for line in tables(summary)) == points

    def test_the_note_of_ties_names_two_cells_and_counts_the_others(self) -> None:
        for n, named in ((1, "(a)"), (2, "(a, b)"), (3, "(a, b and 1 more)"), (4, "(a, b and 2 more)")):
            names = "abcd"[:n]
            cells = tuple(CellInfo(name, {}) for name in names)
            scores = [(name, "all", "accuracy", 0.5, 0.4, 0.6, 5000, 1234) for name in names]
            text = " ".join(tables(Summary("m", "M", None, cells, summary_table(SCORE_COLUMNS, scores)), 30))
            assert f"Ties: 1,234 documents at most {named}." in " ".join(text.split())


class TestNotes:
    @pytest.mark.parametrize("claimed", [False, True])
    def test_have_a_title_where_no_claims_stand_above_them(self, claimed: bool) -> None:
        changes = {"claims": claims_of(claim("c", "holds", 1, 1))} if claimed else {}
        lines = tables(summary_of(notes=("n",), **changes))
        assert ("Notes" in lines) == (not claimed)
        assert ("Claims: comparisons that hold" in lines) == claimed
        assert lines[lines.index("- More in table.md (1 notes).") - 1] == ("" if claimed else "Notes")

    def test_at_most_six_significant_pairs_are_named(self) -> None:
        for n in (MOST_PAIRS, MOST_PAIRS + 1):
            names = "abcdefgh"[: n + 1]
            gaps = [("a", name, 0.1, 0.05, 0.15, 9) for name in names[1:]]
            tests = [result("a", name) for name in names[1:]]
            (line,) = significance_lines(summary_of(names, gaps=gaps, tests=tests))
            assert line.startswith(f"All {n} planned comparisons are significant")
            assert line.count(" over ") == min(n, MOST_PAIRS)
            assert line.endswith(", …." if n > MOST_PAIRS else "(+10.00).")

    def test_pairs_that_cannot_be_tested_are_planned_all_the_same(self) -> None:
        gaps = [("a", "b", 0.1, 0.05, 0.15, 9), ("a", "c", 0.1, 0.05, 0.15, 9), ("b", "c", 0.1, 0.05, 0.15, 9)]
        tests = [result("a", "b"), result("a", "c", None, "not testable (few)")]
        assert significance_lines(summary_of(gaps=gaps, tests=tests)) == [
            "1 of 3 planned comparisons are significant (sign test, Holm-corrected): a over b (+10.00).",
            "sign: not testable for 1 of 2 pairs.",
        ]
        of_another = summary_of(gaps=gaps[:1], tests=[result("a", "b", kind="other")])
        assert significance_lines(of_another) == [], "a test of another quantity decides nothing"
