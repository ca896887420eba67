"""Grids, rankings and files of summaries that few experiments have: what one odd row does to the others."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.analysis.charts.chart import ChartPanel, Line
from benchmark.analysis.summary import SCORE_COLUMNS, CellInfo, Summary, summary_table
from benchmark.report.comparison_grids import comparison_grid, outcome_text, significance_grid
from benchmark.report.curve_tables import MOST_DECIMALS, axis_number_text, chart_decimals, chart_grid, curve_grid
from benchmark.report.dot_rows import BASELINE, NOT_SHOWN, ranking
from benchmark.report.drawing.render import IMAGE_FORMATS
from benchmark.report.escapes import latex_text, markdown_text
from benchmark.report.files import missing_figures_message, write_report_files
from benchmark.report.grids import TextTable, cell_grid, difference_text, varying_columns
from benchmark.report.latex import table_latex
from benchmark.report.tables import markdown_grid, table_markdown
from tests.report.test_rare_rows import curve, result, summary_of

if TYPE_CHECKING:
    from pathlib import Path

NAN = math.nan


class TestColumns:
    @pytest.mark.parametrize(
        ("columns", "varying"),
        [
            ([{}, {}], []),
            ([{"kernel": "a"}, {"kernel": "a"}], []),
            ([{"kernel": "a"}, {"kernel": "b"}], ["kernel"]),
            ([{"kernel": "a"}, {}], ["kernel"]),
            ([{"kernel": ""}, {}], []),
            ([{"b": "1"}, {"a": "1", "b": "2"}], ["b", "a"]),
        ],
    )
    def test_vary_where_a_cell_has_another_value_or_none(self, columns: Any, varying: list[str]) -> None:
        cells = [CellInfo(str(i), each) for i, each in enumerate(columns)]
        assert varying_columns(cells) == varying

    def test_that_are_left_out_leave_the_note_and_the_text_columns(self) -> None:
        grid = TextTable("t", ("a", "b"), (("1", "2"),), frozenset("ab"), "note")
        assert grid.without("a", "x") == TextTable("t", ("b",), (("2",),), frozenset("ab"), "note")
        assert (grid.width, grid.without("a").width) == (4, 1)

    def test_ties_are_counted_from_zero_and_missing_values_are_dashes(self) -> None:
        scores = [("a", "all", "accuracy", 0.5, NAN, NAN, 10, 0), ("b", "all", "accuracy", NAN, NAN, NAN, 10, NAN)]
        columns = {"a": {"columns": {"kernel": "k"}}}
        assert cell_grid(summary_of("ab", scores=scores, columns=columns)).rows == (
            ("a", "k", "50.00", "–", "0"),
            ("b", "–", "–", "–", "–"),
        )

    @pytest.mark.parametrize(
        ("value", "published", "unit", "text"),
        [
            (12.4, "10.00", "documents", "+2"),
            (12.4, "10", "percent", "+2.40"),
            (12.4, "10", "documents", "+2"),
            (12.4, "10.000", "percent", "+2.400"),
            (12.4, "12.40", "percent", "+0.00"),
            (9.0, "10.50", "percent", "-1.50"),
            (None, "10", "percent", "–"),
        ],
    )
    def test_a_difference_has_the_printed_decimals(self, value: Any, published: str, unit: str, text: str) -> None:
        assert difference_text({"value": value, "published": published, "unit": unit}) == text


class TestTests:
    gaps = (("a", "b", 0.1, 0.05, 0.15, 10), ("b", "c", 0.1, 0.05, 0.15, 10))

    def test_a_statistic_that_is_missing_has_no_letter(self) -> None:
        tests = [("a", "b", kind, 20, NAN, NAN, NAN, 3, "few") for kind in ("sign", "mcnemar", "wilcoxon", "other")]
        rows = significance_grid(summary_of(gaps=self.gaps[:1], tests=tests)).rows
        assert [row[4:] for row in rows] == [
            (name, "20", "–", "not testable (few)", "–") for name in ("sign", "McNemar", "Wilcoxon", "other")
        ]

    def test_the_reasons_of_all_kinds_of_tests_are_in_the_note(self) -> None:
        tests = [result("a", "b", None, "few"), result("b", "c", None, "few")]
        tests += [result("a", "b", None, "none", "mcnemar"), result("b", "c", 0.01, "", "mcnemar")]
        note = comparison_grid(summary_of(gaps=self.gaps, tests=tests)).note
        assert note.endswith("sign: few. McNemar: not testable for 1 of 2 pairs.")
        assert len(note.split("  ")) == 1

    @pytest.mark.parametrize(
        ("gap", "p", "said"),
        [
            (0.1, 0.01, "first is better"),
            (-0.1, 0.01, "second is better"),
            (0.1, 0.2, "not shown to differ"),
        ],
    )
    @pytest.mark.parametrize("metric", ["accuracy", "error"])
    def test_the_better_one_is_named_by_its_place(self, gap: float, p: float, said: str, metric: str) -> None:
        sign = 1 if metric == "accuracy" else -1
        ends = sorted((sign * gap - 0.05, sign * gap + 0.05))
        summary = summary_of(metric=metric, gaps=[("a", "b", sign * gap, *ends, 9)], tests=[result("a", "b", p)])
        assert comparison_grid(summary).rows[0][-1] == said
        assert callable(outcome_text)


class TestRankings:
    def test_a_cell_is_compared_with_the_baseline_whichever_comes_first(self) -> None:
        gaps = [("a", "b", 0.1, 0.05, 0.2, 9), ("b", "c", 0.1, 0.05, 0.2, 9), ("a", "d", 0.2, 0.1, 0.3, 9)]
        tests = [result("a", "b"), result("b", "c"), result("a", "d")]
        found = ranking(summary_of("abcd", gaps=gaps, tests=tests))
        assert set(found.baselines.values()) == {"b"}
        assert found.outcomes == {"a": "better", "b": BASELINE, "c": "worse", "d": "not compared with it"}
        undecided = ranking(summary_of("abc", gaps=gaps[:2], tests=[result("a", "b"), result("b", "c", 0.5)]))
        assert undecided.outcomes["c"] == NOT_SHOWN

    @pytest.mark.parametrize("name", ["variant", "task", "of_class", "choice", "size", "terms", "what"])
    def test_cells_of_other_settings_have_an_order_of_their_own(self, name: str) -> None:
        other = 5 if name in ("size", "terms") else "x"
        more = {"columns": {"what": "x"}} if name == "what" else {"more": {name: other}}
        scores = [(cell, "all", "accuracy", i / 10, 0.0, 1.0, 9, 0) for i, cell in enumerate("abc")]
        summary = summary_of("abc", scores=scores, columns={"a": more, "c": more})
        assert ranking(summary).order == ("c", "a", "b")
        assert ranking(summary_of("abc", scores=scores)).order == ("c", "b", "a")

    def test_cells_without_a_score_are_last_and_errors_ascend(self) -> None:
        scores = [
            (cell, "all", "error", value, 0.0, 1.0, 9, 0) for cell, value in zip("abc", (NAN, 0.5, 0.1), strict=True)
        ]
        assert ranking(summary_of("abcd", metric="error", scores=scores)).order == ("c", "b", "a", "d")  # fmt: skip


class TestCurves:
    def test_every_x_of_any_panel_is_a_column(self) -> None:
        panels = curve().panels
        grid = chart_grid(curve(panels=panels[::-1]))
        assert grid.header == ("panel", "series", "1", "10")
        assert [row[2:] for row in grid.rows] == [("–", "25.0"), ("50.0", "75.0")]

    def test_labels_and_titles_may_have_colons(self) -> None:
        chart = curve(y_label="Error: of all (%)", title="A: b")
        assert chart_grid(chart).title == "A: b: error: of all (%), by size"
        assert chart_grid(curve(panels=(replace(curve().panels[0], title=""),))).title == "Chart: error (%), by size"

    @pytest.mark.parametrize(("spread", "decimals"), [(1e-9, MOST_DECIMALS), (1e-5, MOST_DECIMALS), (1.0, 2), (1e6, 0)])
    def test_decimals_are_at_most_six(self, spread: float, decimals: int) -> None:
        panels = (ChartPanel("", (Line("a", (1.0, 2.0), (0.0, spread)),)),)
        assert chart_decimals(curve(panels=panels, scale=1.0)) == decimals

    def test_a_small_bar_that_is_uneven_has_both_ends(self) -> None:
        line = Line("a", (1.0, 2.0), (2e-5, 2e-5), (1e-5, 1e-5), (4e-5, 3e-5))
        chart = curve(panels=(ChartPanel("", (line,)),), scale=1.0)
        assert curve_grid(chart.panels[0], chart).rows == (
            ("a", "0.000020 [0.000010, 0.000040]", "0.000020 ± 0.000010"),
        )

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (0.0, "0"),
            (-0.0, "0"),
            (0.001, "0.001"),
            (0.0009, "9 × 10⁻⁴"),
            (1e-5, "10⁻⁵"),
            (-2.5e-10, "-2.5 × 10⁻¹⁰"),
            (1234567.0, "1,234,567"),
            (1 / 3, "0.333333333333"),
        ],
    )
    def test_positions_have_as_many_digits_as_needed(self, value: float, text: str) -> None:
        assert axis_number_text(value) == text


class TestEscapes:
    @pytest.mark.parametrize(
        ("text", "latex"),
        [
            ("-1.5 +2", "$-$1.5 $+$2"),
            ("tf-1 x+1", "tf-1 x+1"),
            ("[+1, -2]", "{[}$+$1, $-$2{]}"),
            ("a–b × <c> − d", r"a--b $\times$ $<$c$>$ $-$ d"),
            (r"~^\&%$#_{}", r"\textasciitilde{}\textasciicircum{}\textbackslash{}\&\%\$\#\_\{\}"),
        ],
    )
    def test_of_latex(self, text: str, latex: str) -> None:
        assert latex_text(text) == latex

    @pytest.mark.parametrize(
        ("text", "markdown"),
        [
            ("1) a", r"1\) a"),
            ("123456789. a", r"123456789\. a"),
            ("1234567890. a", "1234567890. a"),
            ("1.5 a", "1.5 a"),
            ("a 1. b", "a 1. b"),
            ("2.", r"2\."),
            ("- a", r"\- a"),
            ("-a", "-a"),
            ("+ a", r"\+ a"),
            ("## a", r"\## a"),
            ("#a", "#a"),
            ("---", r"\---"),
            ("a &amp; b & c", r"a \&amp; b & c"),
            ("~~a~~ ~", r"\~~a\~~ ~"),
            ("> a > b", r"\> a > b"),
        ],
    )
    def test_of_markdown(self, text: str, markdown: str) -> None:
        assert markdown_text(text) == markdown


class TestFiles:
    def test_no_old_picture_of_any_figure_that_cannot_be_drawn_stays(self, tmp_path: Path) -> None:
        sizes = {name: {"more": {"size": 5}} for name in "abc"}
        charts = tuple(curve(name=name) for name in ("one", "two", "three"))
        summary = summary_of(columns=sizes, charts=charts)
        old = [tmp_path / f"{name}.{kind}" for name in ("one", "two", "three") for kind in IMAGE_FORMATS]
        for path in old:
            path.write_text("old", encoding="utf-8")
        notes: list[str] = []
        write_report_files(summary, tmp_path, lambda _: {"two": {"png": b"p", "svg": b"s"}}, notes.append)
        assert [path.name for path in old if path.exists()] == ["two.png", "two.svg"]
        assert notes == [missing_figures_message(["one", "three"])]
        assert (tmp_path / "curves.csv").exists()

    def test_reasons_and_names_of_failures_are_escaped_in_latex(self) -> None:
        latex = table_latex(summary_of(failures={"c": "50% of a_b"}, columns={"a": {"columns": {"x_y": "z"}}}))
        assert r"\par\footnotesize c: failed: 50\% of a\_b" in latex
        assert r"x\_y" in latex
        assert r"\label{tab:a-b--1}" in table_latex(replace(summary_of(), name="a-b_%1"))

    def test_the_first_table_of_curves_has_a_heading_and_that_of_cells_none(self) -> None:
        sizes = {name: {"more": {"size": 5}} for name in "abc"}
        curves = table_markdown(summary_of(columns=sizes, charts=(curve(),)))
        assert "## First, second: error" in curves
        assert "## Made" not in table_markdown(summary_of())

    def test_columns_of_a_table_are_as_wide_as_their_longest_text(self) -> None:
        grid = TextTable("t", ("a", "n"), (("long | text", "1"), ("x", "12345")), frozenset("a"))
        assert markdown_grid(grid).splitlines() == [
            "| a            |     n |",
            "| :----------- | ----: |",
            "| long \\| text |     1 |",
            "| x            | 12345 |",
        ]


def test_a_summary_of_one_split_with_two_metrics_has_no_table_of_folds() -> None:
    scores = [("a", "all", metric, 0.5, 0.4, 0.6, 9, 0) for metric in ("accuracy", "macro-f1")]
    made = Summary("m", "M", None, (CellInfo("a", {}),), summary_table(SCORE_COLUMNS, scores))
    assert "on each fold" not in table_markdown(made)
