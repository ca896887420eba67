"""Markdown and CSV tables of a summary."""

from __future__ import annotations

import csv
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.number_text import is_missing
from benchmark.analysis.prose.main_finding import main_finding, question_sentence
from benchmark.report.comparison_grids import comparison_grid
from benchmark.report.curve_tables import CURVE_COLUMNS, chart_rows, curve_grid
from benchmark.report.escapes import csv_cell, markdown_text
from benchmark.report.grids import (
    TextTable,
    cell_grid,
    claim_grid,
    duplicate_grid,
    fold_grid,
    main_verdicts,
    range_grid,
    reference_value_grid,
    varying_columns,
    verdict_grid,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from benchmark.analysis.summary import Summary

MOST_PANELS = 4


def table_markdown(summary: Summary) -> str:
    """Return the whole summary as a Markdown document."""
    finding = main_finding(summary)
    parts = [f"# {markdown_text(summary.title)}", f"**{markdown_text(finding.headline)}.**"]
    parts += [markdown_text(" ".join(texts)) for texts in (finding.details, _question(summary)) if texts]
    if summary.caveats:
        parts += ["## Read this before trusting the numbers", _bullets(summary.caveats)]
    for i, grid in enumerate([*main_grids(summary), *_further_grids(summary)]):
        parts += [f"## {markdown_text(grid.title)}"] if i or summary.of_points else []
        parts += [markdown_grid(grid), *([markdown_text(grid.note)] if grid.note else [])]
    if summary.failures:
        parts += ["## Failures", _bullets(failure_lines(summary))]
    if summary.notes:
        parts += ["## Notes", _bullets(summary.notes)]
    return "\n\n".join(parts) + "\n"


def _question(summary: Summary) -> tuple[str, ...]:
    return (question_sentence(summary), *summary.documents)


def main_grids(summary: Summary) -> list[TextTable]:
    """Return the table of cells, or one table for each panel if the cells are points of curves."""
    if not summary.of_points:
        return [cell_grid(summary)]
    return [curve_grid(panel, chart) for chart in summary.charts if not chart.measured for panel in chart.panels]


def brief_grids(summary: Summary) -> list[TextTable]:
    """Return `main_grids` of the charts with few panels, for a terminal or page with little room."""
    small = tuple(chart for chart in summary.charts if len(chart.panels) <= MOST_PANELS)
    return main_grids(replace(summary, charts=small) if small else summary)


def markdown_grid(grid: TextTable) -> str:
    """Return a grid as a Markdown table, padded so that it also reads as plain text."""
    lines = [[markdown_text(text) for text in line] for line in (grid.header, *grid.rows)]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(grid.header))]
    left = [name in grid.text for name in grid.header]
    rule = [f":{'-' * (w - 1)}" if is_left else f"{'-' * (w - 1)}:" for w, is_left in zip(widths, left, strict=True)]
    padded = [
        [text.ljust(w) if is_left else text.rjust(w) for text, w, is_left in zip(line, widths, left, strict=True)]
        for line in lines
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:]))


def table_csv(summary: Summary) -> str:
    """Return CSV with one row for each cell, in full precision.

    Columns: varying columns, headline scores as fractions, published value, verdict, failure.
    """
    varying, metrics = varying_columns(summary.cells), summary.headline_metrics
    scores, verdicts = summary.headlines, main_verdicts(summary)
    score_columns = [f"{metric}{end}" for metric in metrics for end in ("", "_low", "_high")]
    rows = []
    for cell in summary.cells:
        row: list[Any] = [cell.id, *(cell.columns.get(name, "") for name in varying)]
        for metric in metrics:
            score = scores.get((cell.id, metric), {})
            row += [score.get(end) for end in ("value", "low", "high")]
        first = next((scores[cell.id, metric] for metric in metrics if (cell.id, metric) in scores), {})
        verdict = verdicts.get(cell.id, {})
        row += [first.get("n"), first.get("ties"), verdict.get("published"), verdict.get("verdict")]
        rows.append((*row, summary.failures.get(cell.id)))
    return csv_text(("cell", *varying, *score_columns, "n", "ties", "published", "verdict", "failure"), rows)


def frame_csv(table: pd.DataFrame, columns: Iterable[str]) -> str:
    """Return these columns of a frame as CSV, in full precision."""
    columns = tuple(columns)
    return csv_text(columns, zip(*(table[name] for name in columns), strict=True))


def csv_text(header: Iterable[str] | None, rows: Iterable[Iterable[Any]], *, quoted: bool = False) -> str:
    """Return CSV with LF line ends and floats of 12 significant digits, since machines differ in later digits.

    `quoted` puts every field in quotes; otherwise only fields that need them. Rows that continue an earlier text pass
    None as `header`. Control characters and texts that a spreadsheet would take for formulas are escaped by `csv_cell`.
    """
    lines: list[str] = []
    # With its default line ends, csv quotes names that contain a carriage return, as some WebKB names do.
    file: Any = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(file, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    if header is not None:
        writer.writerow(map(csv_cell, header))
    writer.writerows([_csv_field(value) for value in row] for row in rows)
    return "".join(lines)


def _csv_field(value: Any) -> str:
    if is_missing(value):
        return ""
    return f"{value + 0.0:.12g}" if isinstance(value, float) else csv_cell(str(value))  # + 0.0: no "-0"


def charts_csv(summary: Summary) -> str:
    """Return every point of every curve as CSV, in full precision."""
    shown = (chart for chart in summary.charts if not chart.measured)
    rows = ((chart.name, *row) for chart in shown for row in chart_rows(chart))
    return csv_text(("chart", *CURVE_COLUMNS), rows)


def _further_grids(summary: Summary) -> list[TextTable]:
    """Return the tables after the table of cells, without empty ones."""
    of_cells = not summary.of_points
    grids = [
        *([fold_grid(summary)] if of_cells else []),  # a curve has dozens of replicates: scores.csv lists them
        verdict_grid(summary.verdicts),
        reference_value_grid(summary.verdicts),
        range_grid(summary.ranges),
        comparison_grid(summary),
        duplicate_grid(summary.duplicates),
        claim_grid(summary.claims),
    ]
    return [grid for grid in grids if grid.rows]


def failure_lines(summary: Summary) -> list[str]:
    """Return one line for each failed cell, in table order."""
    return [f"{cell.id}: failed: {summary.failures[cell.id]}" for cell in summary.cells if cell.id in summary.failures]


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {markdown_text(line)}" for line in lines)
