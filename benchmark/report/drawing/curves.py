"""Charts to pictures: small multiples of curves with error bars, which a page shows one by one."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmark.report.curve_tables import plain_number
from benchmark.report.drawing.axes import log_ticks, positions, y_limits
from benchmark.report.drawing.key import BAND, Entry, key_spec
from benchmark.report.drawing.panel import PanelView
from benchmark.report.drawing.spec import Picture, beside, page_spec, titled, whole
from benchmark.report.drawing.theme import (
    LEADING,
    MOST_LABELS,
    MUTED,
    NARROW,
    PANEL_TITLE,
    TEXT,
    WIDTH,
    look_of,
    text_width,
    wrapped,
)

if TYPE_CHECKING:
    from benchmark.report.charts import Chart, Line, Panel
    from benchmark.report.drawing.theme import Spec

PANEL_HEIGHT = {1: 180.0, 2: 120.0, 3: 92.0}  # points, by panels side by side
SMALL_PANEL_HEIGHT, MOST_HEIGHT = 80.0, 520.0  # of the panels of one column
PAGE_HEIGHT, PAGE_WIDTH = 240, 400  # of a panel of a page; its true width is the reader's
SPACING = 14.0  # points between panels


def curve_pictures(chart: Chart) -> list[Picture]:
    """Draw one picture a panel, of the same series in the same colours, for a page."""
    labels, found = _labels(chart), []
    for i, panel in enumerate(chart.panels):
        title = panel.title.replace("\n", ", ") or chart.title
        spec = page_spec(PanelView(chart, panel, labels, (panel,), PAGE_WIDTH, PAGE_HEIGHT, page=True).spec)
        found.append(Picture(f"{chart.name}-{i}", title, _alt(title, chart, labels), spec, labels, chart.measured))
    return found


def curve_chart(chart: Chart) -> Spec:
    """Draw a grid of panels, `chart.columns` wide, with one legend for all below them.

    A label has its colour, mark and dashes in every panel. Where several lines of a panel have bars, the lines stand
    side by side around their true x, so that no bar hides another's. It is 7 inches wide at most, or 5 where the panels
    stand in one column.

    Raises
    ------
    ValueError
        Where a number is not finite, x does not ascend, a bar's ends are swapped, a logarithmic axis would show a point
        that is not positive, a panel has a label twice, there are more labels than styles, or the columns or the scale
        are not positive.
    """
    labels, columns = _labels(chart), min(chart.columns, len(chart.panels))
    width = WIDTH if columns > 1 else NARROW
    rows = -(-len(chart.panels) // columns)
    height = min(PANEL_HEIGHT.get(columns, SMALL_PANEL_HEIGHT), MOST_HEIGHT / rows)
    shares = [_row(chart, i, columns) for i in range(len(chart.panels))]
    ticks = [_y_labels_width(chart, share) for share in shares]
    # The label of y and the numbers of each column stand beside the panels.
    y_lines = wrapped(chart.y_label, 0.9 * rows * height, PANEL_TITLE)
    inner = width - 20 - PANEL_TITLE * LEADING * len(y_lines) - max(ticks[::columns])
    panel_width = (inner - sum(max(ticks[i::columns]) + SPACING for i in range(1, columns))) / columns
    alike = len({positions(panel) for panel in chart.panels}) == 1
    drawn = []
    for i, (panel, share) in enumerate(zip(chart.panels, shares, strict=True)):
        last, first = i + columns >= len(chart.panels), not i % columns
        shown = {"x_labels": last or not alike, "y_labels": first or not chart.share_y}
        drawn.append(PanelView(chart, panel, labels, share, panel_width, height, **shown).spec)
    grid = beside(drawn, columns=columns, spacing=SPACING)
    x_lines = wrapped(chart.x_label, 0.9 * width, PANEL_TITLE)
    grid = beside([grid], **titled(x_lines, orient="bottom", offset=4))
    grid = beside([grid], **titled(y_lines, orient="left", offset=4))
    keys = [key_spec(entries, inner) for entries in _legends(chart, labels) if entries]
    return whole(chart.title, [grid, *keys], _alt(chart.title, chart, labels), width)


def _alt(title: str, chart: Chart, labels: tuple[str, ...]) -> str:
    return f"{title}: {chart.y_label} by {chart.x_label}, a line each for {', '.join(labels)}."


def _labels(chart: Chart) -> tuple[str, ...]:
    """Return the labels of all lines, after everything was checked that a drawing relies on."""
    labels = tuple(dict.fromkeys(line.label for panel in chart.panels for line in panel.lines))
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
    return labels


def _check_line(line: Line, chart: Chart) -> None:
    if not all(map(math.isfinite, (*line.x, *line.y, *line.low, *line.high))):
        raise ValueError(f"the line {line.label!r} has a number that is not finite")
    if any(left >= right for left, right in pairwise(line.x)):
        raise ValueError(f"the x of the line {line.label!r} do not ascend")
    if any(low > high for low, high in zip(line.low, line.high, strict=True)):
        raise ValueError(f"the line {line.label!r} has a bar whose low end lies above its high end")
    if (chart.log_x and line.x[0] <= 0) or (chart.log_y and chart.scale * min(line.y) <= 0):
        raise ValueError(f"the line {line.label!r} has a point that is not positive on a logarithmic axis")


def _row(chart: Chart, i: int, columns: int) -> tuple[Panel, ...]:
    """Return the panels that share the vertical scale of one of them."""
    start = i - i % columns
    return chart.panels[start : start + columns] if chart.share_y else (chart.panels[i],)


def _y_labels_width(chart: Chart, share: tuple[Panel, ...]) -> float:
    """Return about how many points the numbers of a y axis take: round ones have two digits less than its ends."""
    low, high = y_limits(share, chart)
    ticks = log_ticks(low, high) if chart.log_y else [float(f"{low:.2g}"), float(f"{high:.2g}"), (high - low) / 5]
    return max(text_width(plain_number(float(f"{tick:.1g}")), TEXT) for tick in ticks) + 12


def _legends(chart: Chart, labels: tuple[str, ...]) -> tuple[list[Entry], list[Entry]]:
    """Return the legend of the lines, and that of bars and band."""
    looks = [look_of(i) for i in range(len(labels))]
    lines = [Entry(label, line="across", **look) for label, look in zip(labels, looks, strict=True)]
    bars = chart.bars and any(line.low for panel in chart.panels for line in panel.lines)
    meanings = [Entry(chart.bars, MUTED, line="upright")] if bars else []
    return lines, meanings + [BAND] * any(panel.printed for panel in chart.panels)
