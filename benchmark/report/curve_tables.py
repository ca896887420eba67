"""Tables of curves: one for each chart, and rows of all points."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from benchmark.analysis.formatting.number_text import interval_text, number_text
from benchmark.analysis.formatting.table import PLAIN, Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.analysis.charts.chart import Chart, Line

CURVE_COLUMNS = ("panel", "series", "x", "y", "low", "high")
MOST_DECIMALS = 6
#: Numbers closer to 0 than this are written as powers of ten.
POWERS_BELOW = 1e-3
SUPERSCRIPTS, SUPERSCRIPT_MINUS = "⁰¹²³⁴⁵⁶⁷⁸⁹", "⁻"
SYMMETRIC = 1e-6  # share of a bar's length by which rounding may make y ± reach asymmetric


def curve_table(chart: Chart) -> Table:
    """Return the table of a chart: one row for each line of a panel, one column for each x of any line.

    A field is "12.3 ± 1.2" if the bar is symmetric, else "12.3 [11.0, 14.1]", or "12.3" without a bar. All fields have
    the same decimals (`chart_decimals`). The title names the quantities in the fields and in the header.

    Examples
    --------
    >>> from benchmark.analysis.charts.chart import Chart, Line, ChartPanel
    >>> panel = ChartPanel("earn", (Line("SVM", (50.0, 100.0), (0.12, 0.08), (0.1, 0.05), (0.14, 0.09)),))
    >>> table = curve_table(Chart("c", "Curves", "Documents", "Error (%)", (panel,), scale=100))
    >>> table.header, table.rows
    (('series', '50', '100'), (('SVM', '12.0 ± 2.0', '8.0 [5.0, 9.0]'),))
    """
    decimals, several = chart_decimals(chart), len(chart.panels) > 1
    lines = [(panel, line) for panel in chart.panels for line in panel.lines]
    xs = sorted({x for _, line in lines for x in line.x})
    last, rows = len(xs) - 1, []
    for panel, line in lines:
        fields = {x: _field(line, i, chart.scale, decimals) for i, x in enumerate(line.x)}
        rows.append((*([_one_line(panel.title)] if several else []), line.label, *map(fields.get, xs)))
    # Where there is no room for all, every second column is left out, then every fourth; both ends stay.
    finest = last.bit_length() + 1
    details = [0 if i in (0, last) else finest - (i & -i).bit_length() for i in range(len(xs))]
    columns = [Column(axis_number_text(x), PLAIN, detail=each) for x, each in zip(xs, details, strict=True)]
    asymmetric = any("[" in field for row in rows for field in row[-len(xs) :] if field)
    bars = chart.bars and (f" [{chart.bars}]" if asymmetric else f" ± {chart.bars}")
    bars = bars if any(line.low for _, line in lines) else ""
    what, across = (label[:1].lower() + label[1:] for label in (chart.y_label, chart.x_label))
    title = (not several and _one_line(chart.panels[0].title)) or chart.title
    return Table.of(f"{title}: {what}{bars}, by {across}", (*(["panel"] if several else []), "series", *columns), rows)


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


def _field(line: Line, i: int, scale: float, decimals: int) -> str:
    value = number_text(scale * line.y[i], decimals)
    if not line.low:
        return value
    y, low, high = line.y[i], line.low[i], line.high[i]
    if abs((high - y) - (y - low)) <= SYMMETRIC * abs(high - low):
        return f"{value} ± {number_text(scale * (high - low) / 2, decimals)}"
    return f"{value} {interval_text(scale * low, scale * high, decimals)}"


def _one_line(title: str) -> str:
    return ", ".join(filter(None, (part.strip() for part in title.split("\n"))))
