"""From a summary to files: each is written whole or not at all, and equal summaries give equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from benchmark.environment import remove_leftovers, write_whole
from benchmark.report.contents import OPTIONAL, TABLES
from benchmark.report.latex import table_latex
from benchmark.report.tables import charts_csv, frame_csv, table_csv, table_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from benchmark.report.charts import Chart
    from benchmark.report.contents import Summary
    from benchmark.report.regions import RegionFigure

Draw = Callable[[Any], "Figure"]
#: What draws, what it is given, and what tells that from all else: to the bytes, by the end of the file's name.
Keep = Callable[[Draw, Any, str], Mapping[str, bytes]]


def write_all(summary: Summary, directory: Path, keep: Keep | None = None) -> list[Path]:
    """Write every table and figure of the summary, and give their paths.

    All is rendered before the first file is touched. `keep` may know a picture from before: to draw them takes most of
    what a run takes whose results are all known.
    """
    texts = {"table.md": table_markdown(summary), "table.csv": table_csv(summary), "table.tex": table_latex(summary)}
    written = [name for name in TABLES if name not in OPTIONAL or len(getattr(summary, name))]
    texts |= {f"{name}.csv": frame_csv(getattr(summary, name), TABLES[name]) for name in written}
    if summary.charts:
        texts["curves.csv"] = charts_csv(summary)
    contents = {name: text.encode() for name, text in texts.items()}
    for name, (draw, given, told) in _pictures(summary).items():
        made = keep(draw, given, told) if keep and told else rendered(draw, given)
        contents |= {f"{name}.{kind}": content for kind, content in made.items()}
    remove_leftovers(directory, ".*.tmp")
    for name, content in contents.items():
        write_whole(directory / name, content)
    return [directory / name for name in contents]


def figures_of(summary: Summary) -> dict[str, Figure]:
    """Draw every figure of the summary: by the stem of its files."""
    return {name: draw(given) for name, (draw, given, _) in _pictures(summary).items()}


def rendered(draw: Draw, given: Any) -> dict[str, bytes]:
    """Draw a picture: as PNG and as SVG."""
    from benchmark.report.drawing.style import png_bytes, svg_bytes  # noqa: PLC0415 - as in `draw_chart`

    figure = draw(given)
    return {"png": png_bytes(figure), "svg": svg_bytes(figure)}


def draw_chart(chart: Chart) -> Figure:
    """Draw curves."""
    from benchmark.report.drawing.curves import chart_figure  # noqa: PLC0415 - half a second, and not always needed

    return chart_figure(chart)


def draw_regions(figure: RegionFigure) -> Figure:
    """Draw decision regions."""
    from benchmark.report.drawing.regions import region_picture  # noqa: PLC0415 - as in `draw_chart`

    return region_picture(figure)


def draw_cells(summary: Summary) -> Figure:
    """Draw each cell's score."""
    from benchmark.report.drawing.dot_plot import dot_plot  # noqa: PLC0415 - as in `draw_chart`

    return dot_plot(summary)


def _pictures(summary: Summary) -> dict[str, tuple[Draw, Any, str]]:
    """What draws each picture, by the stem of its files; "" tells what is to be drawn each time."""
    found: dict[str, tuple[Draw, Any, str]] = {
        chart.name: (draw_chart, chart, repr((chart, chart.panels))) for chart in summary.charts
    }
    found |= {each.name: (draw_regions, each, repr(each)) for each in summary.regions}
    said = repr((summary.title, summary.cells, dict(summary.failures)))
    return found or {"figure": (draw_cells, summary, said + summary.scores.to_csv() + summary.verdicts.to_csv())}
