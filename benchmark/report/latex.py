"""LaTeX tables of a summary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmark.report.escapes import latex_text
from benchmark.report.grids import cell_grid
from benchmark.report.tables import failure_lines, main_grids

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.analysis.summary import Summary
    from benchmark.report.grids import TextTable

BOOKTABS = r"% \usepackage{booktabs}"


def table_latex(summary: Summary) -> str:
    """Return the LaTeX of the table of cells, or of one table for each curve panel; it needs the package booktabs."""
    notes = [rf"\par\footnotesize {latex_text(line)}" for line in failure_lines(summary)]
    if summary.of_points:
        tables = [_latex_table(grid, f"{summary.name}-{i}", []) for i, grid in enumerate(main_grids(summary), start=1)]
        return "\n".join([BOOKTABS, *tables, *notes]) + "\n"
    return "\n".join([BOOKTABS, _latex_table(cell_grid(summary), summary.name, notes)]) + "\n"


def _latex_table(grid: TextTable, name: str, notes: list[str]) -> str:
    alignment = "".join("l" if column in grid.text else "r" for column in grid.header)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_text(grid.title)}}}",
        rf"\label{{tab:{re.sub('[^A-Za-z0-9-]', '-', name)}}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _latex_row(grid.header),
        r"\midrule",
    ]
    lines += [_latex_row(row) for row in grid.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *notes, r"\end{table}"])


def _latex_row(row: Iterable[str]) -> str:
    return " & ".join(map(latex_text, row)) + r" \\"
