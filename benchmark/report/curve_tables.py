"""Tables of curves: one grid of text for each panel, and rows of all points."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from benchmark.analysis.formatting.number_text import MISSING_TEXT, interval_text, number_text
from benchmark.report.grids import TextTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.analysis.charts.chart import Chart, ChartPanel, Line

CURVE_COLUMNS = ("panel", "series", "x", "y", "low", "high")
MOST_DECIMALS = 6
#: Numbers closer to 0 than this are written as powers of ten.
POWERS_BELOW = 1e-3
SUPERSCRIPTS, SUPERSCRIPT_MINUS = "⁰¹²³⁴⁵⁶⁷⁸⁹", "⁻"
SYMMETRIC = 1e-6  # share of a bar's length by which rounding may make y ± reach asymmetric


def curve_grid(panel: ChartPanel, chart: Chart) -> TextTable:
    """Return a grid of a panel: one row for each line, one column for each x of any line.

    A field is "12.3 ± 1.2" if the bar is symmetric, else "12.3 [11.0, 14.1]", or "12.3" without a bar. All fields of a
    chart have the same decimals (`chart_decimals`). The chart gives the scale, the labels and the meaning of the bars.
    The title names the quantities in the fields and in the header.

    Examples
    --------
    >>> from benchmark.analysis.charts.chart import Chart, Line, ChartPanel
    >>> panel = ChartPanel("earn", (Line("SVM", (50.0, 100.0), (0.12, 0.08), (0.1, 0.05), (0.14, 0.09)),))
    >>> grid = curve_grid(panel, Chart("c", "Curves", "Documents", "Error (%)", (panel,), scale=100))
    >>> grid.header, grid.rows
    (('series', '50', '100'), (('SVM', '12.0 ± 2.0', '8.0 [5.0, 9.0]'),))
    """
    decimals = chart_decimals(chart)
    columns = sorted({x for line in panel.lines for x in line.x})
    rows = []
    for line in panel.lines:
        cells = {x: _cell(line, i, chart.scale, decimals) for i, x in enumerate(line.x)}
        rows.append((line.label, *(cells.get(x, MISSING_TEXT) for x in columns)))
    header = ("series", *map(axis_number_text, columns))
    symmetric = all("[" not in cell for row in rows for cell in row)
    return TextTable(_grid_title(panel, chart, symmetric=symmetric), header, tuple(rows), frozenset({"series"}))


def chart_grid(chart: Chart) -> TextTable:
    """Return one grid of all panels of a chart: the columns of `curve_grid`, after one of the panel's title."""
    grids = [curve_grid(panel, chart) for panel in chart.panels]
    places = sorted({x for panel in chart.panels for line in panel.lines for x in line.x})
    columns = tuple(map(axis_number_text, places))
    rows = []
    for panel, grid in zip(chart.panels, grids, strict=True):
        for row in grid.rows:
            fields = dict(zip(grid.header, row, strict=True))
            rows.append((_one_line(panel.title), row[0], *(fields.get(name, MISSING_TEXT) for name in columns)))
    title = grids[0].title
    if len(grids) > 1:
        title = f"{chart.title}: {title.partition(': ')[2]}"
    joined = TextTable(title, ("panel", "series", *columns), tuple(rows), frozenset({"panel", "series"}))
    return joined if len(grids) > 1 else joined.without("panel")


def chart_rows(chart: Chart) -> Iterator[tuple[str | float, ...]]:
    """Yield every point of every line as `CURVE_COLUMNS`, unscaled; low and high are NaN if the line has no bars."""
    for panel in chart.panels:
        for line in panel.lines:
            missing = (math.nan,) * len(line.x)
            for point in zip(line.x, line.y, line.low or missing, line.high or missing, strict=True):
                yield (_one_line(panel.title), line.label, *map(float, point))


def chart_decimals(chart: Chart) -> int:
    """Return the decimals of all numbers in the tables of a chart, in the unit of its axis.

    The typical (median) half length of a bar gets two significant digits; without bars, the range of y gets three.
    """
    lines = [line for panel in chart.panels for line in panel.lines]
    reaches = [(high - low) / 2 for line in lines for low, high in zip(line.low, line.high, strict=True) if high > low]
    if reaches:
        return _decimals_for(chart.scale * median(reaches), 2)
    values = [y for line in lines for y in line.y]
    spread = max(values) - min(values) if values else 0.0
    return _decimals_for(chart.scale * (spread or max(map(abs, values), default=0.0)), 3)


def axis_number_text(value: float, powers_below: float = POWERS_BELOW) -> str:
    """Write a position on an axis with as many digits as needed, and thousands separators.

    Numbers closer to 0 than `powers_below` are written as powers of ten.

    Examples
    --------
    >>> axis_number_text(50.0), axis_number_text(0.25), axis_number_text(12500.0), axis_number_text(2e-6)
    ('50', '0.25', '12,500', '2 × 10⁻⁶')
    """
    if value and abs(value) < powers_below:
        mantissa, exponent = f"{value:.11e}".split("e-")
        factor = f"{float(mantissa):.12g} × "
        power = "".join(SUPERSCRIPTS[int(digit)] for digit in str(int(exponent)))
        return f"{'' if factor == '1 × ' else factor}10{SUPERSCRIPT_MINUS}{power}"
    return f"{value + 0.0:,.12g}"


def _decimals_for(size: float, digits: int) -> int:
    """Return the decimals that show this many significant digits of a number of this size."""
    if not size:
        return 2
    return min(max(digits - 1 - math.floor(math.log10(abs(size))), 0), MOST_DECIMALS)


def _cell(line: Line, i: int, scale: float, decimals: int) -> str:
    value = number_text(scale * line.y[i], decimals)
    if not line.low:
        return value
    y, low, high = line.y[i], line.low[i], line.high[i]
    if abs((high - y) - (y - low)) <= SYMMETRIC * abs(high - low):
        return f"{value} ± {number_text(scale * (high - low) / 2, decimals)}"
    return f"{value} {interval_text(scale * low, scale * high, decimals)}"


def _grid_title(panel: ChartPanel, chart: Chart, *, symmetric: bool) -> str:
    shown = f" ± {chart.bars}" if symmetric else f" [{chart.bars}]"
    bars = shown if chart.bars and any(line.low for line in panel.lines) else ""
    what, across = (label[:1].lower() + label[1:] for label in (chart.y_label, chart.x_label))
    return f"{_one_line(panel.title) or chart.title}: {what}{bars}, by {across}"


def _one_line(title: str) -> str:
    return ", ".join(filter(None, (part.strip() for part in title.split("\n"))))
