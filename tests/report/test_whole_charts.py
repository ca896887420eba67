"""Whole charts, looks and pages with everything on them, and what each refuses."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
from benchmark.analysis.formatting.units import axis_label, display_unit, metric_labels
from benchmark.analysis.summary import (
    CLAIMS,
    COSTS,
    DUPLICATES,
    RANGES,
    RANK_TABLE_COLUMNS,
    SCORE_COLUMNS,
    SUMMARY_TABLES,
    VERDICT_TABLE_COLUMNS,
    CellInfo,
    Summary,
    summary_table,
)
from benchmark.diagnostics import DIAGNOSTIC_METRICS
from benchmark.evaluation.metrics import METRICS, PAIR_METRICS, TIME_METRICS
from benchmark.report.comparison_tables import claim_comparison_table
from benchmark.report.curve_tables import chart_rows, curve_table
from benchmark.report.drawing import theme
from benchmark.report.drawing.claim_forest import MOST_DRAWN_PAIRS, claim_picture
from benchmark.report.drawing.curves import curve_chart, curve_pictures
from benchmark.report.drawing.theme import COLUMN_WIDTH, text_width
from benchmark.report.html import render
from benchmark.report.html.page import page_html
from benchmark.report.page import deviations_page, paper_page, reproduction_page
from benchmark.report.paper_results import COMPARISONS
from benchmark.report.run_tables import charts_csv, table_csv, table_latex, table_markdown
from benchmark.report.scoreboard import read_record, record_frames
from benchmark.report.tables import metric_header
from benchmark.report.terminal import RunOnTerminal, claim_lines, run_sentence
from benchmark.report.writers import frame_csv
from tests.report.expected_texts import assert_expected, figure_text, grid_text, page_words
from tests.report.summaries import claim_row, verdict_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.report.paper_results import PaperResult

pytestmark = pytest.mark.usefixtures("without_vega")
NAN = math.nan


CHARTS = {
    "shares": Chart(
        "shares",
        "Shares",
        "Training documents",
        "Accuracy (%)",
        (
            ChartPanel(
                "one",
                (
                    Line("a", (50.0, 100.0, 200.0), (0.31, 0.452, 0.6), (0.3, 0.4, 0.58), (0.33, 0.5, 0.61)),
                    Line("b", (50.0, 100.0), (0.5, 0.55)),
                    Line("c", (50.0, 100.0, 200.0), (0.3, 0.5, 0.62), (0.2, 0.45, 0.6), (0.4, 0.55, 0.64)),
                ),
                printed=(0.2, 0.8),
            ),
            ChartPanel("two", (Line("a", (50.0, 200.0), (0.9, 0.95)),), limits=(("the best boundary", 0.97),)),
        ),
        bars="95% interval",
        scale=100.0,
        log_x=True,
        share_y=True,
    ),
    "ratios": Chart(
        "ratios",
        "Ratios",
        "Words",
        "Ratio",
        (
            ChartPanel(
                "all", (Line("a", (1.5, 2.5, 40.25), (0.001, 0.02, 3.0), (0.0005, 0.01, 2.0), (0.002, 0.03, 4.0)),)
            ),
        ),
        columns=1,
        round_x=True,
        log_y=True,
        reference=1.0,
        measured=True,
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts(name: str) -> None:
    chart = CHARTS[name]
    parts = {
        "chart": figure_text(name, curve_chart(chart)),
        "column": "\n".join(figure_text(name, curve_chart(chart, COLUMN_WIDTH)).splitlines()[:40]),
        "table": grid_text(curve_table(chart)),
        "rows": "\n".join(map(str, chart_rows(chart))),
        **{each.title: figure_text(each.alt, each.spec) for each in curve_pictures(chart)},
    }
    assert_expected(f"chart-{name}", parts.items())


def rich(webkb: Summary) -> Summary:
    """A summary with everything that a page can show: ranks, ranges, reference values, deviations, partial claims."""
    ranks = [(name, rank, 14, 1.25, 0.0312) for name, rank in (("a", 1.5), ("b", 2.25), ("c", 2.75))]
    ranges = [
        ("1", "linear-{n}", "accuracy", "percent", 60.0, 90.0, 0.62, 0.884, 3, 4, "deviates"),
        ("2", "ngd-{n}", "error", "one", 0.1, 0.4, 0.12, 0.39, 4, 4, "consistent"),
    ]
    reference = verdict_row(
        "tf-l1-ngd", "accuracy", "93.9", "percent", 92.3, 90.9, 93.6, "reference value", "GCN, 2019"
    )
    other = verdict_row("tf-l1-ned", "accuracy", "84.39", "percent", 84.9, 83.5, 86.2, "another setting")
    tuned = verdict_row("tf-l2-ned", "accuracy", "90.08", "percent", 90.0, 88.6, 91.3, "tuned")
    more = summary_table(VERDICT_TABLE_COLUMNS, [reference, other, tuned])
    claims = [
        claim_row("part", "Part of a claim.", (2, "holds"), (1, "holds in part (1 of 2)"), 2, whole=5),
        claim_row("twice", "A claim twice.", (2, "holds"), (0, "no test"), 2, counted="same as ngd-best"),
        claim_row("read", "Read so.", (0, "fails"), (0, "contradicted"), 2, variant="another reading"),
    ]
    return replace(
        webkb,
        verdicts=pd.concat([webkb.verdicts, more], ignore_index=True),
        claims=pd.concat([webkb.claims, summary_table(CLAIMS, claims)], ignore_index=True),
        ranks=summary_table(RANK_TABLE_COLUMNS, ranks),
        ranges=summary_table(RANGES, ranges),
        explained_by=("webkb-sweep",),
        caveats=("A caveat <of> it.", "Another."),
        documents=("4,199 documents.",),
        terms=(("cell", "a row"),),
        costs=summary_table(COSTS, [(cell.id, 3.25 + i, 0.5, 1.26e9, False) for i, cell in enumerate(webkb.cells)]),
        duplicates=summary_table(DUPLICATES, [("", "cornell", 250, 3, 1, "a", "b", 0.925)]),
        brief=("4,199 documents, 40,000 words.",),
    )


def test_a_summary_with_everything(webkb: Summary) -> None:
    summary = rich(webkb)
    many = replace(summary, claims=pd.concat([summary.claims] * 9, ignore_index=True))
    curves = replace(summary, charts=tuple(CHARTS.values()))
    failed = replace(summary, failures={"tf-l1-ngd": "x"})
    parts = {
        "table.md": table_markdown(summary),
        "table.csv": table_csv(summary),
        "page": page_words(page_html(summary, "a machine")),
        "page of curves": page_words(page_html(curves)),
        "curves": charts_csv(curves),
        "claims": "\n".join([*claim_lines(summary), "", *claim_lines(summary, 60), "", *claim_lines(many)]),
        "sentences": "\n".join(
            [
                run_sentence(summary, stored=3, seconds=12.345, peak=2.5e9, folder=Path("run")),
                run_sentence(failed, stored=0, seconds=0.0, peak=NAN, folder=Path("run")),
            ]
        ),
    }
    assert_expected("rich", parts.items())


def test_names_and_units_of_all_metrics() -> None:
    names = [*METRICS, *TIME_METRICS, *PAIR_METRICS, *DIAGNOSTIC_METRICS, "unheard-of"]
    rows = [
        f"{name} | {metric_header(name, DIAGNOSTIC_METRICS)} | {axis_label((name,), DIAGNOSTIC_METRICS)} | "
        f"{metric_labels(name, DIAGNOSTIC_METRICS)} | {display_unit(name, DIAGNOSTIC_METRICS)}"
        for name in names
    ]
    groups = [("macro-f1", "micro-f1"), ("accuracy", "error"), ("macro-recall", "recall"), tuple(TIME_METRICS)]
    groups += [("micro-roc-auc", "macro-roc-auc"), ("micro-break-even", "macro-break-even")]
    parts = {"metrics": "\n".join(rows), "axes": "\n".join(axis_label(each, DIAGNOSTIC_METRICS) for each in groups)}
    assert_expected("metrics", parts.items())


def test_looks_of_pages_and_files() -> None:
    widths = {text: [round(text_width(text, size), 4) for size in (8.5, 12.0)] for text in ("A plain word", *TEXTS)}
    parts = {
        "page": json.dumps(theme.PAGE_CONFIG, indent=1),
        "file": json.dumps(theme.FILE_CONFIG, indent=1),
        "series": "\n".join(str(theme.series_style(i)) for i in range(theme.MOST_LABELS)),
        "lines of a page": "\n".join(str(render.line_look(i)) for i in range(len(theme.COLOURS))),
        "variables": json.dumps(theme.CSS_VARIABLES, indent=1),
        "widths": json.dumps(widths, ensure_ascii=False, indent=1),
        "wrapped": "\n".join(theme.wrap_text("A sentence of several words that is too long for a line", 90, 9.5)),
    }
    assert_expected("looks", parts.items())


NOT_POSITIVE = "the line 'a' has a point that is not positive on a logarithmic axis"
TEXTS = ("".join(map(chr, range(33, 127))), "·r²~×−…→", "éü")


@pytest.mark.parametrize(
    ("changes", "lines", "said"),
    [
        ({"columns": 0}, [], "the chart 'c' can't be 0 panels wide, on a scale of 1.0"),
        ({"scale": math.inf}, [], "the chart 'c' can't be 1 panels wide, on a scale of inf"),
        ({}, [Line("a", (1.0,), (1.0,))] * 2, "the panel 'p' has two lines with the same label"),
        ({}, [Line("a", (1.0,), (math.nan,))], "the line 'a' has a number that is not finite"),
        ({}, [Line("a", (2.0, 2.0), (1.0, 1.0))], "the x values of the line 'a' do not ascend"),
        (
            {},
            [Line("a", (1.0,), (1.0,), (2.0,), (1.5,))],
            "the line 'a' has a bar whose low end lies above its high end",
        ),
        ({"log_x": True}, [Line("a", (0.0,), (1.0,))], NOT_POSITIVE),
        ({"log_y": True}, [Line("a", (1.0,), (0.0,))], NOT_POSITIVE),
        (
            {},
            [Line(f"a{i}", (1.0,), (1.0,)) for i in range(51)],
            "the chart 'c' has 51 labels; there are styles for 50",
        ),
    ],
)
def test_charts_that_can_not_be_drawn_say_why(changes: dict[str, Any], lines: list[Line], said: str) -> None:
    panels = (ChartPanel("p", tuple(lines) or (Line("a", (1.0,), (1.0,)),)),)
    with pytest.raises(ValueError, match=r".") as refused:
        curve_chart(Chart("c", "C", "x", "y", panels, **{"columns": 1} | changes))
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Chart("c", "C", "x", "y", ()), "the chart 'c' has no panel"),
        (lambda: Line("a", (), ()), "'a' has no points, or x, y and bars of different lengths"),
        (lambda: Line("a", (1.0,), (1.0,), (1.0,)), "'a' has no points, or x, y and bars of different lengths"),
        (lambda: Line("a", (1.0,), (1.0, 2.0)), "'a' has no points, or x, y and bars of different lengths"),
    ],
)
def test_charts_that_can_not_be_made_say_why(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        make()
    assert said in str(refused.value)


COMPARED = ("c", "", "webkb", "a", "b", "accuracy", "greater", 0.0123, -0.01, 0.035, 0.02, NAN, NAN, 0.2, 0.4, 0.03)


def test_pictures_and_tables_of_claims_of_every_relation() -> None:
    def rows(**changes: Any) -> pd.DataFrame:
        first = dict(zip(COMPARISONS, (*COMPARED, "holds", "not shown", "not shown"), strict=True)) | changes
        second = first | {"a": "x", "config": "other", "value": first["value"] / 2, "published": NAN, "p_holm": NAN}
        third = second | {"b": "y", "strict_verdict": "contradicted", "verdict": "contradicted"}
        last = third | {"b": "z", "strict_verdict": "holds", "verdict": "holds", "paper_verdict": "holds"}
        return summary_table(COMPARISONS, [[row[name] for name in COMPARISONS] for row in (first, second, third, last)])

    tables = {
        "greater": rows(),
        "lower": rows(relation="lower", metric="error"),
        "the same": rows(relation="equivalent", claimed_low=-0.01, claimed_high=0.01),
        "ratio": rows(
            relation="ratio", metric="error", value=0.8, low=0.6, high=1.1, claimed_low=0.5, claimed_high=0.9
        ),
        "another unit": rows(metric="average-skl", detectable=NAN),
    }
    parts = {}
    for title, frame in tables.items():
        picture = claim_picture(frame)
        assert picture is not None
        words = f"{picture.title}\n{picture.alt}\n{grid_text(claim_comparison_table(frame))}"
        parts[title] = f"{words}\n{figure_text(title, picture.spec)}"
    assert_expected("claims", parts.items())


NASTY = "=1|<b>_&%\x1b[31m*x*\u202e`"
#: Columns of frames that have names or sentences.
NAMING = (
    "cell",
    "text",
    "rule",
    "counted",
    "variant",
    "aside",
    "document",
    "twin",
    "split",
    "method",
    "a",
    "b",
    "fold",
)


def nasty(summary: Summary) -> Summary:
    """The summary, with names and sentences that begin with what each format takes for a command."""

    def named(text: str) -> str:
        return " vs ".join(f"{NASTY}{part}" for part in text.split(" vs ")) if text and text != "all" else text

    frames = {}
    for name, columns in SUMMARY_TABLES.items():
        frame = getattr(summary, name)
        changes = {column: frame[column].map(named) for column in columns if column in NAMING and len(frame)}
        frames[name] = frame.assign(**changes)
    cells = tuple(
        replace(
            cell,
            id=named(cell.id),
            columns={key: named(value) for key, value in cell.columns.items()},
            method=named(cell.method),
            points=named(cell.points),
        )
        for cell in summary.cells
    )
    texts = {
        field: tuple(map(named, getattr(summary, field)))
        for field in ("notes", "brief", "caveats", "documents", "explained_by")
    }
    failures = {named(cell): named(reason) for cell, reason in summary.failures.items()}
    terms = tuple((named(word), named(meaning)) for word, meaning in summary.terms)
    title, corpus = named(summary.title), named("corpus")
    return replace(summary, **frames, **texts, cells=cells, title=title, corpus=corpus, failures=failures, terms=terms)


def test_no_name_or_sentence_is_a_command_in_any_format(webkb: Summary, papers: list[PaperResult]) -> None:
    summary = nasty(replace(rich(webkb), failures={"tfidf-l2-ned": "no memory"}))
    (part,), (paper,) = papers[0].experiments, papers
    bad = replace(paper, title=NASTY, reference=NASTY, finding=NASTY, remarks=(NASTY,), claims=summary.claims)
    bad = replace(bad, experiments=(replace(part, summary=summary, remarks=(NASTY,), caveats=(NASTY,)),))
    for html in [page_html(summary, NASTY)]:
        assert "<b>" not in html
        assert "\x1b" not in html
        where = [html[max(0, m.start() - 90) : m.end() + 30] for m in re.finditer("\u202e", html)]
        assert where == []
        assert "=1|" in html
    written = [table_markdown(summary), paper_page(bad), deviations_page([bad]), reproduction_page([bad])]
    for text in written:
        assert "\\<b>" in text
        assert not re.search(r"(?<!\\)<b>|(?<!\\)\*x|\x1b|\u202e|=1\|", text)
    latex = table_latex(summary)
    assert not re.search(r"<b>|(?<!\\)_|(?<!\\)%1|\x1b|\u202e", latex.partition("\n")[2].replace("%\n", "\n"))
    for text in (table_csv(summary), *(frame_csv(getattr(summary, name), SUMMARY_TABLES[name]) for name in NAMED)):
        fields = [field for row in csv.reader(io.StringIO(text)) for field in row]
        assert any(field.startswith("'=1|") for field in fields)
        assert not any(field.startswith("=") for field in fields)
    console = Console(width=100, file=io.StringIO())
    console.print(RunOnTerminal(summary, whole=True))
    shown = console.file.getvalue()
    assert "\\x1b[31m" in shown
    assert not re.search(r"\x1b|\u202e", shown)


NAMED = ("scores", "significance", "differences", "verdicts", "claims", "ranks", "duplicates", "costs")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (lambda each: {"cells": each.cells[:1] * 2}, "two cells of a summary have the same id"),
        (
            lambda each: {"claims": each.claims.drop(columns=["text", "rule"])},
            "claims lacks the columns ['rule', 'text']",
        ),
        (lambda _: {"failures": {"y": "", "x": ""}}, "no such cells: ['x', 'y']"),
        (lambda each: {"cells": each.cells[1:]}, "no such cells: ['tf-l1-linear']"),
    ],
)
def test_summaries_that_do_not_fit_say_why(webkb: Summary, changes: Callable[[Summary], Any], said: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        replace(webkb, **changes(webkb))
    assert str(refused.value) == said


def test_a_wide_curve_is_thinned_for_a_terminal() -> None:
    xs = tuple(float(10 * i) for i in range(1, 31))
    wide = Chart("c", "C", "Documents", "Accuracy (%)", (ChartPanel("p", (Line("a", xs, xs),)),), columns=1)
    (cell,) = (CellInfo("a", {}, size=10),)
    scores = summary_table(SCORE_COLUMNS, [("a", "all", "accuracy", 0.5, 0.4, 0.6, 9, 0)])
    console = Console(width=60, file=io.StringIO())
    console.print(RunOnTerminal(Summary("c", "C", None, (cell,), scores, charts=(wide,))))
    lines = console.file.getvalue().splitlines()
    head = next(line for line in lines if line.startswith("series")).split()[1:]
    assert (head[0], head[-1]) == ("10", "300")
    gaps = np.diff([int(number) for number in head])
    assert np.ptp(gaps[:-1]) == 0
    assert len(next(line for line in lines if line.startswith("a "))) <= 60


@pytest.mark.parametrize("more", [-1, 0, 1, 7])
def test_a_claim_of_many_comparisons_shows_the_first_of_them(more: int) -> None:
    number = MOST_DRAWN_PAIRS + more
    rows = [(*COMPARED[:3], f"a{i}", *COMPARED[4:], "holds", "holds", "holds") for i in range(number)]
    picture = claim_picture(summary_table(COMPARISONS, rows))
    assert picture is not None
    (points,) = picture.spec["datasets"].values()
    assert [point["cell"] for point in points] == [f"a{i} − b" for i in range(min(number, MOST_DRAWN_PAIRS))]
    cut = f" (the first {MOST_DRAWN_PAIRS} of {number})" if more > 0 else ""
    assert picture.title == f"Difference of each comparison of c with its 95% interval{cut}"
    assert picture.alt == f"{picture.title}. {number} of {number} hold. The numbers are in the table below."
    assert claim_picture(summary_table(COMPARISONS)) is None


def test_records_of_a_reproduction_keep_the_printed_digits(papers: list[PaperResult], tmp_path: Path) -> None:
    for name, frame in record_frames(papers).items():
        (tmp_path / f"{name}.csv").write_text(frame_csv(frame, list(frame.columns)), encoding="utf-8")
        again = read_record(tmp_path / f"{name}.csv")
        assert list(again.columns) == list(frame.columns)
        if name == "values":
            assert again["published"].tolist() == frame["published"].tolist()
        for column in frame.select_dtypes("number").columns:
            np.testing.assert_allclose(again[column], frame[column])
        for column in frame.select_dtypes(exclude="number").columns.difference(["published"]):
            assert again[column].astype(object).fillna("").tolist() == frame[column].astype(object).fillna("").tolist()
