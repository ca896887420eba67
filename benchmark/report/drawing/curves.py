"""From a chart to its picture: small multiples of curves with error bars, and one legend below them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmark.report.drawing.curve_axes import dodges, moved, outer_margin, set_x, set_y
from benchmark.report.drawing.curve_keys import BAND, draw_keys, keys_height, legend_keys
from benchmark.report.drawing.style import (
    AXIS_LABEL,
    FAINT,
    LEADING,
    PANEL_TITLE,
    TEXT,
    TITLE,
    WIDTH,
    house_style,
    settle,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from benchmark.report.charts import Chart, Line, Panel

# Okabe and Ito's palette (2008), told apart by the colour-blind, but for its yellow, too pale for a line on white; then
# a grey, and the olive and the indigo of Tol's.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7"),
    *("#E69F00", "#56B4E9", "#777777", "#999933", "#332288"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.3)), (0, (6, 1.5, 1.2, 1.5)), (0, (9, 2)))
MOST_LABELS = len(COLOURS) * len(DASHES)

SINGLE_WIDTH = 5.0  # inches, of a picture one panel wide
PANEL_HEIGHT = {1: 3.1, 2: 2.2, 3: 1.7}  # inches, by panels side by side
SMALL_PANEL_HEIGHT = 1.5
MOST_HEIGHT = 8.0  # inches of all panels: a page
INK = "#333333"


def chart_figure(chart: Chart) -> Figure:
    """Draw a grid of panels, `chart.columns` wide, with one legend for all below them.

    A label has its colour, marker and dashes in every panel. Where several lines of a panel have bars, the lines stand
    side by side around their true x, so that no bar hides another's. It is 7 inches wide, or 5 where the panels stand
    in one column.

    Raises
    ------
    ValueError
        Where a number is not finite, x does not ascend, a bar's ends are swapped, a logarithmic axis would show a point
        that is not positive, a panel has a label twice, there are more labels than styles, or the columns or the scale
        are not positive.
    """
    labels = list(dict.fromkeys(line.label for panel in chart.panels for line in panel.lines))
    _check(chart, labels)
    columns = min(chart.columns, len(chart.panels))
    width = WIDTH if columns > 1 else SINGLE_WIDTH
    panel_width = (72 * width - 20) / columns - 30  # points: less the label and the numbers of the y axis
    with house_style():
        styles = {label: line_style(i, 4.2 if columns < 3 else 3.6) for i, label in enumerate(labels)}
        title = wrapped(chart.title, 72 * width - 24, TITLE)
        titles = [wrapped(panel.title, panel_width + 15, PANEL_TITLE) for panel in chart.panels]
        keys = legend_keys(chart, styles, 72 * width - 10)
        heights = _height_above(title, titles, columns), keys_height(keys)
        figure = Figure(figsize=(width, sum(heights)), layout="constrained")
        FigureCanvasAgg(figure)
        halves: Any = figure.subfigures(2, 1, height_ratios=heights)
        above, below = halves
        above.suptitle(title, fontsize=TITLE)
        axes = _draw_panels(above, chart, columns, styles, panel_width)
        for each, text in zip(axes, titles, strict=True):
            each.set_title(text, fontsize=PANEL_TITLE)
        # The label of y stands in the middle of the height; as much as the title takes is left free below, too.
        room = 72 * heights[0] - 2 * TITLE * LEADING * (title.count("\n") + 1)
        _label_axes(above, axes, chart, (0.9 * 72 * width, 0.9 * room))
        draw_keys(below, keys, 72 * heights[1])
        settle(figure)
    return figure


def line_style(i: int, size: float) -> dict[str, Any]:
    """Style of the i-th label: told apart by colour, by shape, by dashes, and by filled or hollow markers."""
    lap, place = divmod(i, len(COLOURS))
    colour = COLOURS[place]
    return {
        "color": colour,
        "linestyle": DASHES[(i + lap) % len(DASHES)],
        "linewidth": 1.2,
        "marker": MARKERS[place],
        "markersize": size,
        "markeredgewidth": 0.9,
        "markerfacecolor": "white" if i % 2 else colour,
    }


def _check(chart: Chart, labels: list[str]) -> None:
    if len(labels) > MOST_LABELS:
        raise ValueError(f"the chart {chart.name!r} has {len(labels)} labels; there are styles for {MOST_LABELS}")
    if chart.columns < 1 or not 0 < chart.scale < math.inf:
        raise ValueError(f"the chart {chart.name!r} can't be {chart.columns} panels wide, on a scale of {chart.scale}")
    for panel in chart.panels:
        if len({line.label for line in panel.lines}) < len(panel.lines):
            raise ValueError(f"the panel {panel.title!r} has two lines of one label")
        if panel.printed and not all(map(math.isfinite, panel.printed)):
            raise ValueError(f"the panel {panel.title!r} has a printed range that is not finite")
        for line in panel.lines:
            _check_line(line, chart)


def _check_line(line: Line, chart: Chart) -> None:
    if not all(map(math.isfinite, (*line.x, *line.y, *line.low, *line.high))):
        raise ValueError(f"the line {line.label!r} has a number that is not finite")
    if any(left >= right for left, right in pairwise(line.x)):
        raise ValueError(f"the x of the line {line.label!r} do not ascend")
    if any(low > high for low, high in zip(line.low, line.high, strict=True)):
        raise ValueError(f"the line {line.label!r} has a bar whose low end lies above its high end")
    if (chart.log_x and line.x[0] <= 0) or (chart.log_y and chart.scale * min(line.y) <= 0):
        raise ValueError(f"the line {line.label!r} has a point that is not positive on a logarithmic axis")


def _draw_panels(
    figure: SubFigure, chart: Chart, columns: int, styles: dict[str, dict[str, Any]], width: float
) -> list[Axes]:
    """Draw the panels in reading order, each so many points wide, and give their axes."""
    rows = -(-len(chart.panels) // columns)
    grid = figure.add_gridspec(rows, columns)
    positions = [sorted({x for line in panel.lines for x in line.x}) for panel in chart.panels]
    alike = all(each == positions[0] for each in positions)
    margin = max(
        outer_margin(panel, xs, width, log=chart.log_x) for panel, xs in zip(chart.panels, positions, strict=True)
    )
    drawn = []
    for i, (panel, xs) in enumerate(zip(chart.panels, positions, strict=True)):
        axes = figure.add_subplot(grid[divmod(i, columns)])
        row = chart.panels[i - i % columns :][:columns] if chart.share_y else (panel,)
        set_y(axes, row, chart)
        unit = set_x(axes, xs, width, margin, log=chart.log_x, whole=chart.round_x)
        axes.spines["left"].set_visible(True)
        axes.tick_params(length=3, labelsize=TEXT, color=INK, labelcolor=INK)
        axes.grid(axis="y", color="#dddddd", linewidth=0.5)
        axes.set_axisbelow(True)
        _draw_panel(axes, panel, chart, styles, unit)
        if alike and i + columns < len(chart.panels):
            axes.tick_params(labelbottom=False)
        if chart.share_y and i % columns:
            axes.tick_params(labelleft=False)
        drawn.append(axes)
    return drawn


def _draw_panel(axes: Axes, panel: Panel, chart: Chart, styles: dict[str, dict[str, Any]], unit: float) -> None:
    """Draw the lines over the range of the paper's figure; a point of print is `unit` wide on the x axis."""
    if panel.printed:
        ends = [max(chart.scale * end, axes.get_ylim()[0]) for end in panel.printed]  # zero has no logarithm
        axes.axhspan(*ends, facecolor=BAND, linewidth=0, zorder=0)
    if not panel.lines:
        axes.text(0.5, 0.5, "no points", transform=axes.transAxes, ha="center", size=TEXT, color=FAINT, style="italic")
    offsets, step = dodges(panel.lines, unit, log=chart.log_x)
    for line, offset in zip(panel.lines, offsets, strict=True):
        x = [moved(each, offset, log=chart.log_x) for each in line.x]
        y = [chart.scale * each for each in line.y]
        # Points on the frame are drawn whole; the axes are wide enough that none lies beyond it.
        axes.plot(x, y, label=line.label, clip_on=False, zorder=3, **styles[line.label])
        if line.low:
            _draw_bars(axes, x, chart, line, styles[line.label]["color"], step)


def _draw_bars(axes: Axes, x: list[float], chart: Chart, line: Line, colour: str, step: float) -> None:
    """Draw the bars of a line, thin enough for the points of print to the next line's."""
    lows, highs = ([chart.scale * end for end in ends] for ends in (line.low, line.high))
    bottom = axes.get_ylim()[0] / 10 if chart.log_y else -math.inf  # a bar that reaches zero leaves the panel below
    bars = [(max(low, bottom), max(high, bottom)) for low, high in zip(lows, highs, strict=True)]
    # About their middle, not about y: a percentile interval need not hold the mean.
    middles = [(low + high) / 2 for low, high in bars]
    reaches = [(high - low) / 2 for low, high in bars]
    width = max(0.25, min(0.9, 0.6 * step))
    look: dict[str, Any] = {"fmt": "none", "ecolor": colour, "elinewidth": width, "capthick": width, "zorder": 4}
    axes.errorbar(x, middles, yerr=reaches, capsize=min(1.8, 0.42 * step), **look)


def _label_axes(figure: SubFigure, axes: list[Axes], chart: Chart, most: tuple[float, float]) -> None:
    """Name the axes once for all panels, in lines at most so many points long along x and y."""
    x_label, y_label = (
        wrapped(text, room, AXIS_LABEL) for text, room in zip((chart.x_label, chart.y_label), most, strict=True)
    )
    if len(axes) == 1:
        axes[0].set_xlabel(x_label, fontsize=AXIS_LABEL)
        axes[0].set_ylabel(y_label, fontsize=AXIS_LABEL)
    else:
        figure.supxlabel(x_label, fontsize=AXIS_LABEL)
        figure.supylabel(y_label, fontsize=AXIS_LABEL)


def _height_above(title: str, titles: list[str], columns: int) -> float:
    """Inches of the panels with their titles and the chart's."""
    rows = [titles[i : i + columns] for i in range(0, len(titles), columns)]
    panel = min(PANEL_HEIGHT.get(columns, SMALL_PANEL_HEIGHT), MOST_HEIGHT / len(rows))
    title_lines = sum(max(text.count("\n") for text in row) for row in rows)
    return 0.45 + len(rows) * panel + (title.count("\n") * TITLE + title_lines * PANEL_TITLE) * LEADING / 72
