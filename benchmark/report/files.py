"""Tables and figures of a run as files: each is written whole or not at all, and equal summaries give equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.analysis.figures import POINT_COLUMNS
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.analysis.summary import SUMMARY_TABLES
from benchmark.report.curve_tables import curve_table
from benchmark.report.drawing.dots import dot_chart
from benchmark.report.environment import template_environment
from benchmark.report.escapes import latex_text
from benchmark.report.tables import (
    cell_table,
    claim_table,
    comparison_table,
    fold_table,
    main_verdicts,
    range_table,
    reference_value_table,
    varying_columns,
    verdict_table,
)
from benchmark.report.writers import csv_text, frame_csv, latex_table
from benchmark.system.atomic_files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.analysis.formatting.table import Table
    from benchmark.analysis.summary import Summary

BOOKTABS = r"% \usepackage{booktabs}"
FigureSpec = dict[str, Any]
#: Folder of the figures, inside a run folder.
FIGURES = "figures"
#: File of the published values beside ours, where the experiment has a paper.
VERDICTS_FILE = "verdicts.csv"
#: Columns of significance.csv: the difference of each planned pair, and each test of it.
TESTED = ("a", "b", "difference", "low", "high", *SUMMARY_TABLES["significance"][2:])
#: Maps specifications by figure name to bytes by figure name and kind. Figures that can't be drawn are left out.
Render = Callable[[Mapping[str, FigureSpec]], Mapping[str, Mapping[str, bytes]]]


def write_report_files(
    summary: Summary,
    directory: Path,
    render: Render | None = None,
    note: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write every table and figure of the summary, and return their paths.

    Everything is rendered before the first file is written. `render` may use a cache of figures. `note` is called with
    a line on figures that could not be drawn; files that an earlier run wrote for them are removed. Without the extra
    `figures`, the plain one of the scores, which the page has as bars, isn't missed.
    """
    from benchmark.report.drawing.render import IMAGE_FORMATS, engine_version, render_pictures  # noqa: PLC0415 - slow

    contents = {name: text.encode() for name, text in _texts(summary).items()}
    figures = figure_specs(summary)
    made = (render or render_pictures)(figures)
    missing = [name for name in figures if name not in made]
    for name in figures:
        contents |= {f"{FIGURES}/{name}.{kind}": content for kind, content in made.get(name, {}).items()}
    for name, content in contents.items():
        write_atomically(directory / name, content)
    for name in missing:
        for kind in IMAGE_FORMATS:
            (directory / FIGURES / f"{name}.{kind}").unlink(missing_ok=True)
    if note and (engine_version() or summary.charts or summary.regions) and missing:
        why = "failed or ran out of memory" if engine_version() else "needs pip install 'simplexbench[figures]'"
        note(f"figures are missing, since vl-convert, which draws them, {why}: {', '.join(missing)}")
    return [directory / name for name in contents]


def _texts(summary: Summary) -> dict[str, str]:
    """Return the contents of the tables, by file name: of curves their points, and verdicts only beside a paper."""
    texts = {"table.md": table_markdown(summary), "table.tex": table_latex(summary)}
    texts |= {} if summary.of_points else {"table.csv": table_csv(summary)}
    texts |= {"curves.csv": charts_csv(summary)} if summary.charts else {}
    texts["scores.csv"] = frame_csv(summary.scores, SUMMARY_TABLES["scores"])
    differences = summary.differences.rename(columns={"value": "difference"}).drop(columns="n")
    tests = differences.merge(summary.significance, on=["a", "b"], how="left")
    texts["significance.csv"] = frame_csv(tests, TESTED)
    if len(summary.verdicts):
        texts[VERDICTS_FILE] = frame_csv(summary.verdicts, SUMMARY_TABLES["verdicts"])
    return texts


def figure_specs(summary: Summary) -> dict[str, FigureSpec]:
    """Return the specification of every figure of the summary, by the stem of its files.

    A chart of few points in many panels has none.
    """
    specs = dict[str, FigureSpec]()
    if summary.charts or summary.regions:
        # Altair takes half a second to import: only what draws curves or regions should pay for it.
        from benchmark.report.drawing.curves import curve_charts  # noqa: PLC0415
        from benchmark.report.drawing.regions import region_chart  # noqa: PLC0415

        specs = curve_charts(summary.charts) | {figure.name: region_chart(figure) for figure in summary.regions}
    return specs or {"figure": dot_chart(summary)}


def main_tables(summary: Summary) -> list[Table]:
    """Return the table of cells, or that of each chart if the cells are points of curves."""
    if not summary.of_points:
        return [cell_table(summary)]
    return [curve_table(chart) for chart in summary.charts if not chart.measured]


def table_markdown(summary: Summary) -> str:
    """Return the whole summary as a Markdown document."""
    tables = [
        *main_tables(summary),
        *([] if summary.of_points else [fold_table(summary)]),
        verdict_table(summary.verdicts),
        reference_value_table(summary.verdicts),
        range_table(summary.ranges),
        comparison_table(summary),
        claim_table(summary.claims),
    ]
    values = {"summary": summary, "finding": main_finding(summary), "failures": failure_lines(summary)}
    template = template_environment().get_template("table.md.j2")
    shown = [table for i, table in enumerate(tables) if table.rows or i == 0]
    return template.render(tables=shown, **values).strip("\n") + "\n"


def table_latex(summary: Summary) -> str:
    """Return the LaTeX of the main tables; it needs the package booktabs."""
    tables = main_tables(summary)
    ends = [f"-{i}" if summary.of_points else "" for i in range(1, len(tables) + 1)]
    written = [latex_table(table, summary.name + end) for table, end in zip(tables, ends, strict=True)]
    notes = [rf"\par\footnotesize {latex_text(line)}" for line in failure_lines(summary)]
    return "\n".join([BOOKTABS, *written, *notes]) + "\n"


def table_csv(summary: Summary) -> str:
    """Return CSV with one row for each cell, in full precision.

    Columns: varying columns, headline scores as fractions, published value, verdict, failure.
    """
    varying, metrics, verdicts = varying_columns(summary.cells), summary.headline_metrics, main_verdicts(summary)
    rows: list[list[Any]] = []
    for cell in summary.cells:
        scores = [summary.headlines.get((cell.id, metric), {}) for metric in metrics]
        first, verdict = next(filter(None, scores), {}), verdicts.get(cell.id, {})
        rows.append([cell.id, *(cell.columns.get(name, "") for name in varying)])
        rows[-1] += [score.get(end) for score in scores for end in ("value", "low", "high")]
        rows[-1] += [first.get("n"), first.get("ties"), verdict.get("published"), verdict.get("verdict")]
        rows[-1].append(summary.failures.get(cell.id))
    ends = [f"{metric}{end}" for metric in metrics for end in ("", "_low", "_high")]
    return csv_text(("cell", *varying, *ends, "n", "ties", "published", "verdict", "failure"), rows)


def charts_csv(summary: Summary) -> str:
    """Return every point of every curve as CSV, in full precision."""
    points = [chart.points.assign(chart=chart.name) for chart in summary.charts if not chart.measured]
    columns = ("chart", *POINT_COLUMNS)
    return frame_csv(pd.concat(points) if points else pd.DataFrame(columns=columns), columns)


def failure_lines(summary: Summary) -> list[str]:
    """Return one line for each failed cell, in table order."""
    return [f"{cell.id}: failed: {summary.failures[cell.id]}" for cell in summary.cells if cell.id in summary.failures]
