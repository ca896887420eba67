"""Tables of curves: one for each chart, and rows of all points."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import is_missing, number_text

if TYPE_CHECKING:
    from benchmark.analysis.figures import Chart

MOST_DECIMALS = 6
SYMMETRIC = 1e-6  # share of a bar's length by which rounding may make y ± reach asymmetric


def curve_table(chart: Chart) -> Table:
    """Return the table of a chart: one row for each line of a panel, one column for each x of any line.

    A field is "12.3 ± 1.2" if the bar is symmetric, else "12.3 [11.0, 14.1]", or "12.3" without a bar. All fields have
    the same decimals (`chart_decimals`). The title names the quantities in the fields and in the header.

    Examples
    --------
    >>> import pandas as pd
    >>> from benchmark.analysis.figures import Chart, POINT_COLUMNS
    >>> points = [("earn", "SVM", 50.0, 0.12, 0.1, 0.14), ("earn", "SVM", 100.0, 0.08, 0.05, 0.09)]
    >>> chart = Chart("c", "Curves", "Documents", "Error (%)", pd.DataFrame(points, columns=POINT_COLUMNS), scale=100)
    >>> table = curve_table(chart)
    >>> table.header, table.rows
    (('series', '50', '100'), (('SVM', '12.0 ± 2.0', '8.0 [5.0, 9.0]'),))
    """
    decimals, several, points = chart_decimals(chart), len(chart.panels) > 1, chart.points.copy()
    points["field"] = [
        _field(chart.scale * y, chart.scale * low, chart.scale * high, decimals)
        for y, low, high in zip(points["y"], points["low"], points["high"], strict=True)
    ]
    xs = sorted(set(points["x"]))
    last, rows = len(xs) - 1, []
    for (panel, series), line in points.groupby(["panel", "series"], sort=False):
        fields = dict(zip(line["x"], line["field"], strict=True))
        rows.append((*([panel] if several else []), series, *map(fields.get, xs)))
    # Where there is no room for all, every second column is left out, then every fourth; both ends stay.
    finest = last.bit_length() + 1
    details = [0 if i in (0, last) else finest - (i & -i).bit_length() for i in range(len(xs))]
    columns = [Column(axis_number_text(x), PLAIN, detail=each) for x, each in zip(xs, details, strict=True)]
    asymmetric = points["field"].str.contains("[", regex=False).any()
    bars = f" [{chart.bars}]" if asymmetric else f" ± {chart.bars}"
    bars = bars if chart.bars and points["low"].notna().any() else ""
    what, across = (label[:1].lower() + label[1:] for label in (chart.y_label, chart.x_label))
    title = (not several and points["panel"].iloc[0]) or chart.title
    return Table.of(f"{title}: {what}{bars}, by {across}", (*(["panel"] if several else []), "series", *columns), rows)


def chart_decimals(chart: Chart) -> int:
    """Return the decimals of all numbers in the tables of a chart, in the unit of its axis.

    The typical (median) half length of a bar gets two significant digits; without bars, the range of y gets three.
    """
    y, lengths = chart.points["y"], chart.points["high"] - chart.points["low"]
    if (lengths > 0).any():
        return _decimals_for(chart.scale * lengths[lengths > 0].median() / 2, 2)
    return _decimals_for(chart.scale * ((y.max() - y.min()) or y.abs().max()), 3)


def axis_number_text(value: float) -> str:
    """Write a position on an axis with as many digits as needed, and thousands separators.

    Examples
    --------
    >>> axis_number_text(50.0), axis_number_text(0.25), axis_number_text(12500.0), axis_number_text(2e-6)
    ('50', '0.25', '12,500', '2e-06')
    """
    return f"{value + 0.0:,.12g}"


def _decimals_for(size: float, digits: int) -> int:
    """Return the decimals that show this many significant digits of a number of this size."""
    if not size:
        return 2
    return min(max(digits - 1 - math.floor(math.log10(abs(size))), 0), MOST_DECIMALS)


def _field(y: float, low: float, high: float, decimals: int) -> str:
    value, unit = number_text(y, decimals), replace(PLAIN, decimals=decimals)
    if is_missing(low):
        return value
    symmetric = abs((high - y) - (y - low)) <= SYMMETRIC * abs(high - low)
    return f"{value} ± {unit.text((high - low) / 2)}" if symmetric else f"{value} {unit.interval(low, high)}"
