"""From a picture of curves to its numbers: one grid of text a panel, and the rows of all points."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from benchmark.report.grids import Grid
from benchmark.report.numbers import NONE, interval, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.report.charts import Chart, Line, Panel

CURVE_COLUMNS = ("panel", "series", "x", "y", "low", "high")
MOST_DECIMALS = 6
SYMMETRIC = 1e-6  # of a bar's length: what rounding alone does to y ± reach


def curve_grid(panel: Panel, chart: Chart) -> Grid:
    """Write a panel as a table: one row a line, one column an x that any of its lines has.

    A cell is "12.3 ± 1.2" where the bar reaches equally far both ways, else "12.3 [11.0, 14.1]", or "12.3" without a
    bar; all cells of a chart have the same decimals (`chart_decimals`). The chart gives the scale, the labels and what
    the bars are; the title names what stands in the cells and above the columns.

    Examples
    --------
    >>> from benchmark.report.charts import Chart, Line, Panel
    >>> panel = Panel("earn", (Line("SVM", (50.0, 100.0), (0.12, 0.08), (0.1, 0.05), (0.14, 0.09)),))
    >>> grid = curve_grid(panel, Chart("c", "Curves", "Documents", "Error (%)", (panel,), scale=100))
    >>> grid.header, grid.rows
    (('series', '50', '100'), (('SVM', '12.0 ± 2.0', '8.0 [5.0, 9.0]'),))
    """
    decimals = chart_decimals(chart)
    columns = sorted({x for line in panel.lines for x in line.x})
    rows = []
    for line in panel.lines:
        cells = {x: _cell(line, i, chart.scale, decimals) for i, x in enumerate(line.x)}
        rows.append((line.label, *(cells.get(x, NONE) for x in columns)))
    header = ("series", *map(plain_number, columns))
    symmetric = all("[" not in cell for row in rows for cell in row)
    return Grid(_grid_title(panel, chart, symmetric=symmetric), header, tuple(rows), frozenset({"series"}))


def chart_rows(chart: Chart) -> Iterator[tuple[str | float, ...]]:
    """Every point of every line under `CURVE_COLUMNS`, unscaled; low and high are NaN where a line has no bars."""
    for panel in chart.panels:
        for line in panel.lines:
            missing = (math.nan,) * len(line.x)
            for point in zip(line.x, line.y, line.low or missing, line.high or missing, strict=True):
                yield (_one_line(panel.title), line.label, *map(float, point))


def chart_decimals(chart: Chart) -> int:
    """Decimals of every number of a chart's tables, in the unit that its axis shows.

    The typical (median) half length of a bar gets two significant digits; without bars, the range of y gets three.
    """
    lines = [line for panel in chart.panels for line in panel.lines]
    reaches = [(high - low) / 2 for line in lines for low, high in zip(line.low, line.high, strict=True) if high > low]
    if reaches:
        return _decimals_for(chart.scale * median(reaches), 2)
    values = [y for line in lines for y in line.y]
    spread = max(values) - min(values) if values else 0.0
    return _decimals_for(chart.scale * (spread or max(map(abs, values), default=0.0)), 3)


def plain_number(value: float) -> str:
    """Write a position on an axis with the digits that it needs, in thousands from 10,000 on.

    Examples
    --------
    >>> plain_number(50.0), plain_number(0.25), plain_number(12500.0)
    ('50', '0.25', '12,500')
    """
    return f"{value:,.0f}" if abs(value) >= 10_000 and value == round(value) else f"{value + 0.0:.12g}"


def _decimals_for(size: float, digits: int) -> int:
    """Decimals that show so many significant digits of a number of this size."""
    if not size:
        return 2
    return min(max(digits - 1 - math.floor(math.log10(abs(size))), 0), MOST_DECIMALS)


def _cell(line: Line, i: int, scale: float, decimals: int) -> str:
    value = number(scale * line.y[i], decimals)
    if not line.low:
        return value
    y, low, high = line.y[i], line.low[i], line.high[i]
    if abs((high - y) - (y - low)) <= SYMMETRIC * abs(high - low):
        return f"{value} ± {number(scale * (high - low) / 2, decimals)}"
    return f"{value} {interval(scale * low, scale * high, decimals)}"


def _grid_title(panel: Panel, chart: Chart, *, symmetric: bool) -> str:
    shown = f" ± {chart.bars}" if symmetric else f" [{chart.bars}]"
    bars = shown if chart.bars and any(line.low for line in panel.lines) else ""
    what, across = (label[:1].lower() + label[1:] for label in (chart.y_label, chart.x_label))
    return f"{_one_line(panel.title) or chart.title}: {what}{bars}, by {across}"


def _one_line(title: str) -> str:
    return ", ".join(filter(None, (part.strip() for part in title.split("\n"))))
