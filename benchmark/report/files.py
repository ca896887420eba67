"""From a summary to files: each is written whole or not at all, and equal summaries give equal bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.environment import remove_leftovers, write_whole
from benchmark.report.contents import OPTIONAL, TABLES
from benchmark.report.drawing.curves import chart_figure
from benchmark.report.drawing.dot_plot import dot_plot
from benchmark.report.drawing.style import png_bytes, svg_bytes
from benchmark.report.latex import table_latex
from benchmark.report.tables import charts_csv, frame_csv, table_csv, table_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from benchmark.report.contents import Summary


def write_all(summary: Summary, directory: Path) -> list[Path]:
    """Write every table and figure of the summary, and give their paths.

    All is rendered before the first file is touched.
    """
    figures = figures_of(summary)
    texts = {"table.md": table_markdown(summary), "table.csv": table_csv(summary), "table.tex": table_latex(summary)}
    written = [name for name in TABLES if name not in OPTIONAL or len(getattr(summary, name))]
    texts |= {f"{name}.csv": frame_csv(getattr(summary, name), TABLES[name]) for name in written}
    if summary.charts:
        texts["curves.csv"] = charts_csv(summary)
    contents = {name: text.encode() for name, text in texts.items()}
    for name, figure in figures.items():
        contents |= {f"{name}.png": png_bytes(figure), f"{name}.svg": svg_bytes(figure)}
    remove_leftovers(directory, ".*.tmp")
    for name, content in contents.items():
        write_whole(directory / name, content)
    return [directory / name for name in contents]


def figures_of(summary: Summary) -> dict[str, Figure]:
    """Draw every figure of the summary: by the stem of its files."""
    figures = {chart.name: chart_figure(chart) for chart in summary.charts}
    figures |= {name: draw() for name, draw in summary.pictures.items()}
    return figures or {"figure": dot_plot(summary)}
