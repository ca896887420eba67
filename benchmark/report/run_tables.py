"""Tables of a run as files: table.md, table.tex, table.csv and curves.csv."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.analysis.figures import POINT_COLUMNS
from benchmark.analysis.prose.main_finding import main_finding
from benchmark.report.comparison_tables import comparison_table
from benchmark.report.curve_tables import curve_table
from benchmark.report.environment import template_environment
from benchmark.report.escapes import latex_text
from benchmark.report.tables import (
    cell_table,
    claim_table,
    fold_table,
    main_verdicts,
    range_table,
    reference_value_table,
    varying_columns,
    verdict_table,
)
from benchmark.report.writers import csv_text, frame_csv, latex_table

if TYPE_CHECKING:
    from benchmark.analysis.formatting.table import Table
    from benchmark.analysis.summary import Summary

BOOKTABS = r"% \usepackage{booktabs}"


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
