"""Rows of tables that few experiments have: both sides of each limit, and every rare branch, on frames made by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
from benchmark.analysis.summary import (
    CLAIMS,
    COSTS,
    DIFFERENCES,
    DUPLICATES,
    MISTAKES,
    RANGES,
    SCORE_COLUMNS,
    SIGNIFICANCE,
    VERDICT_TABLE_COLUMNS,
    CellInfo,
    Summary,
    summary_table,
)
from benchmark.papers.published_verdicts import REFERENCE_VALUE
from benchmark.report.comparison_grids import (
    EXCEPTION_NOTE,
    claim_comparison_grid,
    comparison_grid,
    comparison_keys,
    exception_grid,
    significance_grid,
    untestable_lines,
)
from benchmark.report.curve_tables import chart_decimals, chart_grid, chart_rows, curve_grid
from benchmark.report.dot_rows import BASELINE, NOT_COMPARED, NOT_SHOWN, figure_rows, ranking
from benchmark.report.grids import (
    cell_grid,
    claim_grid,
    cost_grid,
    difference_text,
    duplicate_grid,
    fold_grid,
    main_verdicts,
    misclassified_grid,
    other_verdicts,
    range_grid,
    reference_value_grid,
    verdict_grid,
)
from benchmark.report.latex import table_latex
from benchmark.report.paper_results import COMPARISONS, PaperResult
from benchmark.report.tables import (
    brief_grids,
    charts_csv,
    csv_text,
    failure_lines,
    main_grids,
    table_csv,
    table_markdown,
)

NAN = math.nan


def summary_of(
    names: str = "abc",
    *,
    metric: str = "accuracy",
    gaps: Any = (),
    tests: Any = (),
    scores: Any = None,
    columns: Any = None,
    **changes: Any,
) -> Summary:
    """Make a summary of cells named by letters; the first has the best score."""
    given = columns or {}
    cells = tuple(
        CellInfo(name, given.get(name, {}).get("columns", {}), method=name, **given.get(name, {}).get("more", {}))
        for name in names
    )
    rows = [(name, "all", metric, 0.9 - i / 10, 0.8 - i / 10, 0.95 - i / 10, 10, i) for i, name in enumerate(names)]
    return Summary(
        "made",
        "Made",
        None,
        cells,
        summary_table(SCORE_COLUMNS, rows if scores is None else scores),
        differences=summary_table(DIFFERENCES, gaps),
        significance=summary_table(SIGNIFICANCE, tests),
        **changes,
    )


def verdict(cell: str, published: str = "90.00", **changes: Any) -> tuple[Any, ...]:
    row = dict.fromkeys(VERDICT_TABLE_COLUMNS, "") | dict.fromkeys(("between_low", "between_high"), NAN)
    row |= {"cell": cell, "metric": "accuracy", "kind": "result", "published": published, "unit": "percent"}
    row |= {"value": 91.0, "low": 89.0, "high": 93.0, "documents": 10.0, "widest": 2.0}
    return tuple((row | {"verdict": "consistent"} | changes).values())


def verdicts_of(*rows: tuple[Any, ...]) -> pd.DataFrame:
    return summary_table(VERDICT_TABLE_COLUMNS, rows)


def result(a: str, b: str, p_holm: float | None = 0.01, note: str = "", kind: str = "sign") -> tuple[Any, ...]:
    return (a, b, kind, 20, 1.5, p_holm, p_holm, 3, note)


class TestPublished:
    def test_the_first_value_of_the_main_reading_stands_beside_a_cell(self) -> None:
        rows = (
            verdict("a", "1.00", reading="other"),
            verdict("a", "2.00"),
            verdict("a", "3.00"),
            verdict("b", "4.00", metric="macro-f1"),
            verdict("x", "5.00"),
            verdict("a", "2.00", reading="other"),
        )
        summary = summary_of(verdicts=verdicts_of(*rows))
        assert {cell: row["published"] for cell, row in main_verdicts(summary).items()} == {"a": "2.00"}
        assert list(other_verdicts(summary)["published"]) == ["1.00", "3.00", "4.00", "5.00", "2.00"]
        grid = cell_grid(summary)
        assert [row[grid.header.index("published")] for row in grid.rows] == ["2.00", "–", "–"]
        assert [row[grid.header.index("verdict")] for row in grid.rows] == ["consistent", "–", "–"]

    def test_a_failure_takes_the_place_of_a_verdict(self) -> None:
        summary = summary_of(failures={"b": "why"})
        grid = cell_grid(summary)
        assert grid.header[-1] == "verdict"
        assert [row[-1] for row in grid.rows] == ["–", "failed", "–"]
        assert failure_lines(summary) == ["b: failed: why"]
        assert "## Failures\n\n- b: failed: why" in table_markdown(summary)

    def test_the_reason_of_another_setting_is_its_verdict_and_other_notes_are_not(self) -> None:
        rows = [
            verdict("a", verdict="another setting", aside="other tokens"),
            verdict("b", verdict="tuned", aside="C 1"),
            verdict("c", verdict="deviates", reading="strict"),
            verdict("d", verdict=REFERENCE_VALUE),
        ]
        grid = verdict_grid(verdicts_of(*rows))
        assert [row[-1] for row in grid.rows] == ["other tokens", "tuned", "deviates (strict reading)"]

    def test_columns_without_a_number_are_left_out(self) -> None:
        full = verdict_grid(
            verdicts_of(verdict("a", grade="near", sample="10 documents", between_low=88.0, between_high=94.0))
        )
        for name, empty in (
            ("over groups", {"between_low": NAN, "between_high": NAN}),
            ("sample", {"sample": ""}),
            ("grade", {"grade": ""}),
            ("difference in documents", {"documents": NAN}),
            ("tolerance", {"widest": NAN}),
        ):
            given = {"grade": "near", "sample": "10 documents", "between_low": 88.0, "between_high": 94.0} | empty
            grid = verdict_grid(verdicts_of(verdict("a", **given)))
            assert set(full.header) - set(grid.header) == {name}
        assert ("The grade" in full.note, "groups held fixed" in full.note) == (True, True)
        plain = verdict_grid(verdicts_of(verdict("a")))
        assert ("The grade" in plain.note, "groups held fixed" in plain.note) == (False, False)

    def test_counts_of_documents_have_no_decimals(self) -> None:
        given = {"metric": "documents", "unit": "documents", "value": 12.0, "low": NAN, "high": NAN, "kind": "count"}
        (row,) = verdict_grid(verdicts_of(verdict("a", "10", documents=2.0, widest=NAN, **given))).rows
        assert row[2:4] == ("10", "12")
        assert "+2" in row
        assert difference_text({"value": NAN, "published": "10", "unit": "documents"}) == "–"

    def test_reference_values_name_each_method_once(self) -> None:
        rows = [
            verdict("a", "80.0", verdict=REFERENCE_VALUE, reading="one", aside="transductive"),
            verdict("b", "81.0", verdict=REFERENCE_VALUE, reading="one", aside="transductive"),
            verdict("a", "82.0", verdict=REFERENCE_VALUE, reading="two", aside=""),
            verdict("a", "83.0", verdict=REFERENCE_VALUE, reading="one", aside="transductive"),
            verdict("a", "84.0"),
        ]
        grid = reference_value_grid(verdicts_of(*rows))
        assert [(row[0], row[2], row[-1]) for row in grid.rows] == [
            ("one", "80.0", "transductive"),
            ("", "81.0", ""),
            ("two", "82.0", ""),
            ("one", "83.0", "transductive"),
        ]
        assert [row[5:7] for row in grid.rows[:2]] == [("+11.00", "[+9.00, +13.00]"), ("+10.00", "[+8.00, +12.00]")]


class TestFoldsAndCosts:
    @pytest.mark.parametrize(("folds", "rows"), [(0, 0), (1, 0), (2, 3)])
    def test_folds_have_a_table_where_there_are_several(self, folds: int, rows: int) -> None:
        scores = [(name, "all", "accuracy", 0.5, 0.4, 0.6, 10, 0) for name in "abc"]
        scores += [("a", f"f{i}", "accuracy", i / 4, 0.0, 1.0, 5, 0) for i in range(folds)]
        grid = fold_grid(summary_of(scores=scores))
        assert len(grid.rows) == rows
        if rows:
            assert grid.header == ("cell", "f0", "f1", "mean")
            assert grid.rows[:2] == (("a", "0.00", "25.00", "50.00"), ("b", "–", "–", "50.00"))
            assert grid.title == "Accuracy on each fold, %"

    def test_costs_are_seconds_and_megabytes(self) -> None:
        rows = [("a", 1.234, 0.5, 1_234_567_890.0, False), ("b", 10.0, 20.0, NAN, True)]
        assert cost_grid(summary_table(COSTS, rows)).rows == (
            ("a", "1.23", "0.50", "1,235"),
            ("b", "10.00*", "20.00*", "–"),
        )

    def test_duplicates_and_mistakes_have_a_column_of_variants_or_tasks_where_one_is_named(self) -> None:
        rows = [("", "s", 1000, 20, 3, "x", "y", 0.956), ("v", "s", 10, 1, 0, "x", "y", 1.0)]
        assert duplicate_grid(summary_table(DUPLICATES, rows[:1])).rows == (("s", "20 of 1,000", "3", "x", "y", "96%"),)
        assert duplicate_grid(summary_table(DUPLICATES, rows)).rows[1] == ("v", "s", "1 of 10", "0", "x", "y", "100%")
        made = [("d", "", "t", 2, 4, "p (2)"), ("e", "task", "t", 1, 4, "p (1)")]
        assert misclassified_grid(summary_table(MISTAKES, made[:1])).rows == (("d", "t", "2 of 4"),)
        assert misclassified_grid(summary_table(MISTAKES, made)).rows[1] == ("e", "task", "t", "1 of 4")

    def test_ranges_are_in_the_unit_of_the_metric(self) -> None:
        row = (2.0, "a … c", "accuracy", "one", 0.5, 0.9, 0.55, 0.95, 3, 4, "deviates")
        assert range_grid(summary_table(RANGES, [row])).rows == (
            ("2", "a … c", "accuracy %", "[50.00, 90.00]", "[55.00, 95.00]", "3 of 4", "87%", "deviates"),
        )


def claim(name: str, verdict: str, holds: int, of: int, whole: int | None = None, **more: Any) -> dict[str, Any]:
    row = dict.fromkeys(CLAIMS, "") | {"claim": name, "text": f"Text of {name}.", "rule": "the scores"}
    row |= {"verdict": verdict, "holds": holds, "of": of, "whole": whole or of}
    return row | {"strict_verdict": verdict, "strict_holds": holds, "strict_rule": "sign"} | more


def claims_of(*rows: dict[str, Any]) -> pd.DataFrame:
    return summary_table(CLAIMS, [tuple(row[name] for name in CLAIMS) for row in rows])


class TestClaims:
    def test_a_claim_has_its_text_once_and_counts_where_it_is_only_partly_here(self) -> None:
        rows = [
            claim("one", "holds", 2, 2, variant="x"),
            claim("one", "holds in part (1 of 2)", 1, 2, variant="y", strict_verdict="no test"),
            claim("two", "holds", 1, 1, whole=3, counted="same as one"),
            claim("one", "fails", 0, 2),
        ]
        grid = claim_grid(claims_of(*rows))
        assert grid.header == (
            *("claim", "variant", "text", "the paper's criterion"),
            *("by the paper's criterion", "by ours, strictly", "why not counted"),
        )
        part = "1 of 1 here; verdict over all 3 on the paper's page"
        assert grid.rows == (
            ("one", "x", "Text of one.", "the scores", "holds (2 of 2)", "holds (2 of 2)", ""),
            ("one", "y", "", "the scores", "holds in part (1 of 2)", "no test", ""),
            ("two", "", "Text of two.", "the scores", part, part, "same as one"),
            ("one", "", "Text of one.", "the scores", "fails (0 of 2)", "fails (0 of 2)", ""),
        )

    def test_empty_columns_of_variants_and_reasons_are_left_out(self) -> None:
        assert len(claim_grid(claims_of(claim("one", "holds", 1, 1))).header) == 5
        assert len(claim_grid(claims_of(claim("one", "holds", 1, 1, variant="x"))).header) == 6
        assert len(claim_grid(claims_of(claim("one", "holds", 1, 1, counted="why"))).header) == 6


def compared(claim_name: str = "c", a: str = "a", b: str = "b", **changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(COMPARISONS, NAN) | {"variant": "", "config": "x", "metric": "accuracy"}
    row |= {"claim": claim_name, "a": a, "b": b, "relation": "greater", "value": 0.02, "low": 0.01, "high": 0.03}
    return row | {"paper_verdict": "holds", "strict_verdict": "not shown", "verdict": "not shown"} | changes


def frame_of(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(COMPARISONS))


class TestComparisonsOfClaims:
    def test_keys_name_what_differs(self) -> None:
        pair = compared(), compared(a="c")
        assert comparison_keys(pair) == ["a − b", "c − b"]
        assert comparison_keys([pair[0], pair[1] | {"config": "y"}]) == ["x: a − b", "y: c − b"]
        assert comparison_keys([pair[0] | {"variant": "v"}, pair[0] | {"variant": "w"}]) == ["v: a − b", "w: a − b"]
        assert comparison_keys([pair[0], pair[0] | {"variant": "w"}]) == ["a − b", "w: a − b"]
        both = [pair[0] | {"variant": "v"}, pair[0] | {"variant": "w", "config": "y"}]
        assert comparison_keys(both) == ["x, v: a − b", "y, w: a − b"]
        assert comparison_keys([pair[0] | {"relation": "ratio"}]) == ["a / b"]

    @pytest.mark.parametrize("name", ["published", "p_holm", "detectable"])
    def test_a_column_of_missing_numbers_is_left_out(self, name: str) -> None:
        given = {"published": 0.015, "p_holm": 0.5, "detectable": 0.04}
        head = {"p_holm": "p (Holm)"}.get(name, name)
        whole = claim_comparison_grid(frame_of(compared(**given)))
        part = claim_comparison_grid(frame_of(compared(**given | {name: NAN})))
        assert set(whole.header) - set(part.header) == {head}
        assert part.note == ("" if name == "detectable" else EXCEPTION_NOTE)
        assert whole.rows == (("a − b", "+2.00", "[+1.00, +3.00]", "+1.50", "0.5", "±4.00", "holds", "not shown"),)

    def test_ratios_and_other_units_are_written_with_theirs(self) -> None:
        ratio = compared(relation="ratio", value=1.5, low=1.2, high=1.8, published=2.0)
        (row,) = claim_comparison_grid(frame_of(ratio)).rows
        assert row[:4] == ("a / b", "ratio 1.50", "[1.20, 1.80]", "ratio 2.00")
        (row,) = claim_comparison_grid(frame_of(compared(metric="seconds", value=2.0))).rows
        assert row[1] == "+2.00 s"
        (row,) = claim_comparison_grid(frame_of(compared(metric="seconds", value=NAN, low=NAN, high=NAN))).rows
        assert "s" not in row[1:-2]

    def test_exceptions_name_a_claim_once_in_a_row(self) -> None:
        rows = compared("c"), compared("c", p_value=0.01, p_holm=0.02), compared("d"), compared("c")
        grid = exception_grid(frame_of(*rows))
        assert [row[0] for row in grid.rows] == ["c", "", "d", "c"]
        assert grid.rows[1][7:10] == ("0.01", "0.02", "–")

    def test_exceptions_of_a_claim_that_repeats_another_are_left_out(self) -> None:
        claims = claims_of(
            claim("c", "fails", 0, 1),
            claim("d", "fails", 0, 1, counted="same as c"),
            claim("e", "fails", 0, 1, counted="x"),
        )
        rows = frame_of(compared("c"), compared("d"), compared("e"), compared("c", "h", verdict="holds"))
        paper = PaperResult("k", "t", "r", (), claims, {}, rows)
        assert list(paper.exceptions["claim"]) == ["c", "e"]


class TestPlannedComparisons:
    gaps = (("a", "b", 0.1, 0.05, 0.15, 10), ("b", "c", 0.1, 0.05, 0.15, 10))

    def test_a_reason_of_all_pairs_is_given_and_of_some_is_counted(self) -> None:
        tests = [result("a", "b", None, "few"), result("b", "c", None, "few"), result("a", "b", 0.1, "", "mcnemar")]
        tests += [result("b", "c", None, "none", "mcnemar")]
        assert untestable_lines(summary_of(gaps=self.gaps, tests=tests)) == [
            "sign: few.",
            "McNemar: not testable for 1 of 2 pairs.",
        ]

    def test_rows_have_the_leading_test_and_its_family(self) -> None:
        tests = [result("a", "b"), result("b", "c", 0.2)]
        grid = comparison_grid(summary_of(gaps=self.gaps, tests=tests))
        assert [row[2:] for row in grid.rows] == [
            ("+10.00", "[+5.00, +15.00]", "0.01 (of 3)", "first is better"),
            ("+10.00", "[+5.00, +15.00]", "0.2 (of 3)", "not shown to differ"),
        ]
        assert grid.note.startswith("p is that of the sign test. ")
        assert comparison_grid(summary_of(gaps=self.gaps)).note == ""
        reasons = [result("a", "b", None, "few"), result("b", "c", None)]
        assert [row[-1] for row in comparison_grid(summary_of(gaps=self.gaps, tests=reasons)).rows] == [
            "few",
            "not testable",
        ]
        assert [row[-1] for row in comparison_grid(summary_of(gaps=self.gaps)).rows] == ["no test"] * 2

    def test_every_test_has_a_row_and_the_first_of_a_pair_its_difference(self) -> None:
        tests = [result("a", "b"), result("a", "b", 0.2, "not testable (x)", "mcnemar"), result("x", "y", None)]
        rows = significance_grid(summary_of(gaps=self.gaps, tests=tests)).rows
        assert rows == (
            ("a", "b", "+10.00", "[+5.00, +15.00]", "sign", "20", "Z 1.50", "0.01", "0.01 (of 3)"),
            ("a", "b", "", "", "McNemar", "20", "1.50", "0.2", "not testable (x)"),
            ("b", "c", "+10.00", "[+5.00, +15.00]", "–", "–", "–", "–", "–"),
            ("x", "y", "–", "–", "sign", "20", "Z 1.50", "not testable", "–"),
        )


class TestDotRows:
    def test_cells_are_compared_with_the_baseline_of_their_setting(self) -> None:
        columns = {name: {"more": {"size": size}} for name, size in (("a", 1), ("b", 1), ("c", 2), ("d", 2), ("e", 1))}
        gaps = [("a", "c", 0.2, 0.1, 0.3, 9), ("a", "b", 0.1, 0.05, 0.2, 9), ("c", "d", 0.1, -0.1, 0.2, 9)]
        tests = [result("a", "c"), result("a", "b"), result("c", "d", 0.5)]
        found = ranking(summary_of("abcde", gaps=gaps, tests=tests, columns=columns))
        assert found.order == ("a", "b", "e", "c", "d")
        assert found.baselines == {"a": "b", "b": "b", "e": "b", "c": "d", "d": "d"}
        assert found.outcomes == {
            "a": "better",
            "b": BASELINE,
            "e": NOT_COMPARED,
            "c": NOT_SHOWN,
            "d": BASELINE,
        }

    def test_groups_have_headings_in_the_order_of_their_first_cells(self) -> None:
        columns = {
            "a": {"columns": {"weighting": "tf"}},
            "b": {"columns": {}},
            "c": {"columns": {"weighting": "idf"}},
            "d": {"columns": {"weighting": "tf"}},
        }
        scores = [(name, "all", "accuracy", i / 10, 0.0, 1.0, 9, 0) for i, name in enumerate("abcd")]
        rows = figure_rows(summary_of("abcd", columns=columns, scores=scores))
        assert [(row.label, row.cell) for row in rows] == [
            ("tf", ""),
            ("d", "d"),
            ("a", "a"),
            ("no weighting", ""),
            ("b", "b"),
            ("idf", ""),
            ("c", "c"),
        ]

    @pytest.mark.parametrize(("n", "folded"), [(48, False), (49, True)])
    def test_long_labels_are_folded_without_groups(self, n: int, folded: bool) -> None:
        columns = {"a": {"columns": {"weighting": "x" * n}}, "b": {"columns": {"weighting": "y"}}}
        assert len(figure_rows(summary_of("ab", columns=columns))) == (2 if folded else 4)


def curve(low: tuple[float, ...] = (), high: tuple[float, ...] = (), **changes: Any) -> Chart:
    line = Line("one", (1.0, 10.0), (0.5, 0.75), low, high)
    panels = (ChartPanel("First\nsecond", (line,)), ChartPanel("Other", (Line("two", (10.0,), (0.25,)),)))
    given: dict[str, Any] = {"name": "c", "title": "Chart", "x_label": "Size", "y_label": "Error (%)", "scale": 100.0}
    return Chart(**(given | {"panels": panels, "bars": "95% interval"} | changes))


class TestCurves:
    def test_bars_without_length_say_nothing_of_decimals(self) -> None:
        panels = (ChartPanel("", (Line("a", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), (0.1, 0.2, 0.2), (0.1, 0.2, 0.4)),)),)
        assert chart_decimals(curve(panels=panels)) == 0
        narrow = (ChartPanel("", (Line("a", (1.0,), (0.1,), (0.1 - 5e-5,), (0.1 + 5e-5,)),)),)
        assert chart_decimals(curve(panels=narrow)) == 4
        assert chart_decimals(curve(panels=(ChartPanel("", (Line("a", (1.0,), (0.1,), (0.1,), (0.1,)),)),))) == 1

    def test_the_median_of_bars_decides(self) -> None:
        low, high = (0.0, 0.199, 0.2995), (0.2, 0.201, 0.3005)
        panels = (ChartPanel("", (Line("a", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), low, high),)),)
        assert chart_decimals(curve(panels=panels)) == 2

    @pytest.mark.parametrize(
        ("low", "high", "shown", "head"),
        [
            ((), (), "50.0", ""),
            ((0.4, 0.7), (0.6, 0.8), "50 ± 10", " ± 95% interval"),
            ((0.4, 0.6), (0.6, 0.8), "50 ± 10", " [95% interval]"),
            ((0.3, 0.6), (0.6, 0.8), "50 [30, 60]", " [95% interval]"),
        ],
    )
    def test_a_title_says_how_bars_are_written(self, low: Any, high: Any, shown: str, head: str) -> None:
        chart = curve(low, high)
        grid = curve_grid(chart.panels[0], chart)
        assert grid.rows[0][1].startswith(shown.split(maxsplit=1)[0])
        assert (" ± " in grid.rows[0][1], "[" in grid.rows[0][1]) == ("±" in shown, "[" in shown)
        assert grid.title == f"First, second: error (%){head}, by size"

    def test_one_grid_of_several_panels_names_them(self) -> None:
        grid = chart_grid(curve())
        assert grid.header == ("panel", "series", "1", "10")
        assert [row[:2] for row in grid.rows] == [("First, second", "one"), ("Other", "two")]
        assert [row[2] == "–" for row in grid.rows] == [False, True]
        assert grid.title == "Chart: error (%), by size"
        alone = chart_grid(curve(panels=curve().panels[:1]))
        assert (alone.header, alone.title) == (("series", "1", "10"), "First, second: error (%), by size")

    def test_every_point_is_a_row(self) -> None:
        rows = list(chart_rows(curve((0.4, 0.7), (0.6, 0.8))))
        assert rows[:2] == [
            ("First, second", "one", 1.0, 0.5, 0.4, 0.6),
            ("First, second", "one", 10.0, 0.75, 0.7, 0.8),
        ]
        assert rows[2][:4] == ("Other", "two", 10.0, 0.25)
        assert all(math.isnan(each) for each in rows[2][4:])

    def test_measured_charts_are_in_no_table(self) -> None:
        sizes = {name: {"more": {"size": 5}} for name in "abc"}
        charts = (curve(), curve(name="clock", title="Clock", measured=True))
        summary = summary_of(columns=sizes, charts=charts, failures={"c": "why"})
        assert [grid.title.partition(":")[0] for grid in main_grids(summary)] == ["First, second", "Other"]
        assert {line.partition(",")[0] for line in charts_csv(summary).splitlines()} == {"chart", "c"}

    def test_charts_of_many_panels_are_shown_where_there_is_no_other(self) -> None:
        sizes = {name: {"more": {"size": 5}} for name in "abc"}
        wide = curve(name="wide", panels=curve().panels[:1] * 5)
        four = curve(name="four", panels=curve().panels[:1] * 4)
        assert len(brief_grids(summary_of(columns=sizes, charts=(wide,)))) == 5
        assert len(brief_grids(summary_of(columns=sizes, charts=(wide, four)))) == 4

    def test_tables_of_panels_have_their_own_labels_and_failures_in_latex(self) -> None:
        sizes = {name: {"more": {"size": 5}} for name in "abc"}
        latex = table_latex(summary_of(columns=sizes, charts=(curve(),), failures={"c": "why"}))
        assert latex.count(r"\begin{table}") == 2
        assert [rf"\label{{tab:made-{i}}}" in latex for i in (0, 1, 2, 3)] == [False, True, True, False]
        assert r"\par\footnotesize c: failed: why" in latex
        assert r"\par\footnotesize c: failed: why" in table_latex(summary_of(failures={"c": "why"}))


class TestFiles:
    def test_a_row_has_documents_and_ties_of_its_first_metric(self) -> None:
        scores = [("a", "all", "accuracy", 0.5, 0.4, 0.6, 10, 1), ("b", "all", "macro-f1", 0.25, 0.2, 0.3, 20, 2)]
        text = table_csv(summary_of(scores=scores, failures={"c": "why"}, verdicts=verdicts_of(verdict("a"))))
        assert text.splitlines() == [
            "cell,accuracy,accuracy_low,accuracy_high,macro-f1,macro-f1_low,macro-f1_high,n,ties,published,verdict,failure",
            "a,0.5,0.4,0.6,,,,10,1,90.00,consistent,",
            "b,,,,0.25,0.2,0.3,20,2,,,",
            "c,,,,,,,,,,,why",
        ]

    @pytest.mark.parametrize(("quoted", "line"), [(False, "a,1.5\n"), (True, '"a","1.5"\n')])
    def test_fields_may_be_quoted_and_a_header_left_out(self, quoted: bool, line: str) -> None:
        assert csv_text(None, [("a", 1.5)], quoted=quoted) == line

    def test_caveats_and_notes_stand_by_themselves(self) -> None:
        caveats, notes = "## Read this before trusting the numbers", "## Notes"
        for given in ({}, {"caveats": ("c",)}, {"notes": ("n",)}, {"caveats": ("c",), "notes": ("n",)}):
            text = table_markdown(summary_of(**given))
            assert [caveats in text, notes in text] == ["caveats" in given, "notes" in given]


def test_a_summary_is_whole() -> None:
    summary = summary_of()
    with pytest.raises(ValueError, match=r"no such cells: \['x'\]"):
        replace(summary, failures={"x": "why"})
    with pytest.raises(ValueError, match=r"no such cells: \['x'\]"):
        replace(summary, scores=summary.scores.replace("a", "x"))
    with pytest.raises(ValueError, match="same id"):
        replace(summary, cells=summary.cells[:1] * 2)
    with pytest.raises(ValueError, match=r"costs lacks the columns \['cell'\]"):
        replace(summary, costs=summary.costs.drop(columns="cell"))


@pytest.mark.parametrize(
    ("sizes", "terms", "charted", "curves"),
    [
        ((None, None, None), (None, None, None), True, False),
        ((5, None, None), (None, None, None), True, True),
        ((None, None, None), (None, 5, 5), True, True),
        ((5, 5, 5), (5, 5, 5), False, False),
    ],
)
def test_cells_are_points_of_curves_where_any_has_a_size_or_terms(
    sizes: Any, terms: Any, charted: bool, curves: bool
) -> None:
    own = {name: {"more": {"size": n, "terms": m}} for name, n, m in zip("abc", sizes, terms, strict=True)}
    assert summary_of(columns=own, charts=(curve(),) if charted else ()).of_points == curves


@pytest.mark.parametrize(
    ("x", "y", "low", "high"),
    [((), (), (), ()), ((1.0,), (1.0, 2.0), (), ()), ((1.0,), (1.0,), (0.0,), ()), ((1.0,), (1.0,), (), (2.0,))],
)
def test_a_line_has_points_and_both_ends_of_its_bars(x: Any, y: Any, low: Any, high: Any) -> None:
    with pytest.raises(ValueError, match="'one' has no points"):
        Line("one", x, y, low, high)


def test_a_chart_has_a_panel() -> None:
    with pytest.raises(ValueError, match="'c' has no panel"):
        curve(panels=())
