"""Figures of curves with error bars: small multiples in files, one picture for each panel on pages."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmark.report.curve_tables import axis_number_text
from benchmark.report.drawing.axes import panel_x_values, powers_below, y_limits, y_ticks
from benchmark.report.drawing.key import PUBLISHED_RANGE_ENTRY, LegendEntry, legend_spec
from benchmark.report.drawing.panel import PanelView
from benchmark.report.drawing.spec import Picture, concat_parts, figure_spec, page_spec, title_spec
from benchmark.report.drawing.theme import (
    LEADING,
    MOST_LABELS,
    MUTED,
    NARROW,
    PANEL_TITLE,
    TEXT_COLOUR,
    WIDTH,
    series_style,
    text_width,
    wrap_text,
)

if TYPE_CHECKING:
    from benchmark.analysis.charts.chart import Chart, ChartPanel, Line
    from benchmark.report.drawing.theme import VegaSpec

PANEL_HEIGHT = {1: 180.0, 2: 120.0, 3: 92.0}  # height of a panel in points, by number of columns
SMALL_PANEL_HEIGHT, MOST_HEIGHT = 80.0, 520.0  # with more columns, and for all panels of one column
PAGE_HEIGHT, PAGE_WIDTH = 240, 1100  # of the panels of a page; their actual width depends on the window
CURVE_SPACING = 14.0  # points between panels


def curve_pictures(chart: Chart) -> list[Picture]:
    """Draw one picture for each panel of a chart, for a page; a series has the same colour in all of them."""
    labels, pictures = _labels(chart), []
    for i, panel in enumerate(chart.panels):
        title = panel.title.replace("\n", ", ") or chart.title
        size = PAGE_WIDTH / chart.columns, PAGE_HEIGHT
        spec = page_spec(PanelView(chart, panel, labels, chart.panels, *size, page=True).spec)
        pictures.append(Picture(f"{chart.name}-{i}", title, _alt(title, chart, labels), spec, labels, chart.measured))
    return pictures


def curve_chart(chart: Chart, most: float = WIDTH) -> VegaSpec:
    """Draw a grid of panels, `chart.columns` wide, with one legend below all of them.

    A label has the same colour, mark and dash in every panel. If several lines of a panel have bars, the lines are
    moved sideways around their true x, so that no bar hides another. The figure is `most` points wide, or 5 inches if
    the panels are in one column. Where less than 5 inches are allowed, they are.

    Raises
    ------
    ValueError
        If a number is not finite, x does not ascend, a bar's ends are swapped, a logarithmic axis would show a point
        that is not positive, a panel has a label twice, there are more labels than styles, or the columns or the scale
        are not positive.
    """
    labels, columns = _labels(chart), min(chart.columns, len(chart.panels)) if most > NARROW else 1
    width = most if columns > 1 else min(most, NARROW)
    rows = -(-len(chart.panels) // columns)
    height = min(PANEL_HEIGHT.get(columns, SMALL_PANEL_HEIGHT), MOST_HEIGHT / rows, 0.6 * width)
    shares = [_row(chart, i, columns) for i in range(len(chart.panels))]
    ticks = [_y_labels_width(chart, share) for share in shares]
    # The label of the y axis and the tick labels of each column take room beside the panels.
    y_lines = wrap_text(chart.y_label, 0.9 * rows * height, PANEL_TITLE)
    inner = width - 20 - PANEL_TITLE * LEADING * len(y_lines) - max(ticks[::columns])
    panel_width = (inner - sum(max(ticks[i::columns]) + CURVE_SPACING for i in range(1, columns))) / columns
    alike = len({panel_x_values(panel) for panel in chart.panels}) == 1
    drawn = []
    for i, (panel, share) in enumerate(zip(chart.panels, shares, strict=True)):
        last, first = i + columns >= len(chart.panels), not i % columns
        shown = {"x_labels": last or not alike, "y_labels": first or not chart.share_y}
        drawn.append(PanelView(chart, panel, labels, share, panel_width, height, **shown).spec)
    grid = concat_parts(drawn, columns=columns, spacing=CURVE_SPACING)
    x_lines = wrap_text(chart.x_label, 0.9 * width, PANEL_TITLE)
    grid = concat_parts([grid], **title_spec(x_lines, orient="bottom", offset=4))
    grid = concat_parts([grid], **title_spec(y_lines, orient="left", offset=4))
    keys = [legend_spec(entries, inner) for entries in _legends(chart, labels) if entries]
    return figure_spec(chart.title, [grid, *keys], _alt(chart.title, chart, labels), width)


def _alt(title: str, chart: Chart, labels: tuple[str, ...]) -> str:
    return f"{title}: {chart.y_label} by {chart.x_label}, a line each for {', '.join(labels)}."


def _labels(chart: Chart) -> tuple[str, ...]:
    """Return the labels of all lines, after checking that the chart can be drawn."""
    labels = tuple(dict.fromkeys(line.label for panel in chart.panels for line in panel.lines))
    if len(labels) > MOST_LABELS:
        raise ValueError(f"the chart {chart.name!r} has {len(labels)} labels; there are styles for {MOST_LABELS}")
    if chart.columns < 1 or not 0 < chart.scale < math.inf:
        raise ValueError(f"the chart {chart.name!r} can't be {chart.columns} panels wide, on a scale of {chart.scale}")
    for panel in chart.panels:
        if len({line.label for line in panel.lines}) < len(panel.lines):
            raise ValueError(f"the panel {panel.title!r} has two lines with the same label")
        if panel.printed and not all(map(math.isfinite, panel.printed)):
            raise ValueError(f"the panel {panel.title!r} has a printed range that is not finite")
        for line in panel.lines:
            _check_line(line, chart)
    return labels


def _check_line(line: Line, chart: Chart) -> None:
    if not all(map(math.isfinite, (*line.x, *line.y, *line.low, *line.high))):
        raise ValueError(f"the line {line.label!r} has a number that is not finite")
    if any(left >= right for left, right in pairwise(line.x)):
        raise ValueError(f"the x values of the line {line.label!r} do not ascend")
    if any(low > high for low, high in zip(line.low, line.high, strict=True)):
        raise ValueError(f"the line {line.label!r} has a bar whose low end lies above its high end")
    if (chart.log_x and line.x[0] <= 0) or (chart.log_y and chart.scale * min(line.y) <= 0):
        raise ValueError(f"the line {line.label!r} has a point that is not positive on a logarithmic axis")


def _row(chart: Chart, i: int, columns: int) -> tuple[ChartPanel, ...]:
    """Return the panels that share the vertical scale of the i-th panel."""
    start = i - i % columns
    return chart.panels[start : start + columns] if chart.share_y else (chart.panels[i],)


def _y_labels_width(chart: Chart, share: tuple[ChartPanel, ...]) -> float:
    """Return the approximate width in points of the tick labels of a y axis."""
    ticks = y_ticks(y_limits(share, chart), MOST_HEIGHT, log=chart.log_y)
    below = powers_below(ticks, log=chart.log_y)
    return max(text_width(axis_number_text(tick, below), TEXT_COLOUR) for tick in ticks) + 12


def _legends(chart: Chart, labels: tuple[str, ...]) -> tuple[list[LegendEntry], list[LegendEntry]]:
    """Return the entries of the legend of lines, and of the legend of bars and band."""
    looks = [series_style(i) for i in range(len(labels))]
    lines = [LegendEntry(label, line="across", **look) for label, look in zip(labels, looks, strict=True)]
    bars = chart.bars and any(line.low for panel in chart.panels for line in panel.lines)
    meanings = [LegendEntry(chart.bars, MUTED, line="upright")] if bars else []
    return lines, meanings + [PUBLISHED_RANGE_ENTRY] * any(panel.printed for panel in chart.panels)
