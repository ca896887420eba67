"""Numbers to the axes that show them: limits, scales, ticks that don't touch, and room for lines that stand aside."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

from benchmark.report.charts import MOST_TICKS
from benchmark.report.curve_tables import plain_number
from benchmark.report.drawing.style import TEXT, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from benchmark.report.charts import Chart, Line, Panel

STEP = 3.2  # points from one line's bar to the next line's, where there is room
CLUSTER = 0.7  # of the gap between neighbouring x, for the bars of all lines
MARGIN = 6.0  # points from the outermost points to the ends of the x axis
TICK_GAP = 4.0  # points between two ticks' labels
FROM_ZERO = 0.4  # a y axis whose lowest number is below this share of the highest starts at zero


def dodges(lines: Sequence[Line], unit: float, *, log: bool) -> tuple[list[float], float]:
    """How far each line moves along the x axis (in log10 x on a logarithmic one), and the step in points of print.

    Lines without bars stay. All moves are less than half of the smallest gap: a point is nearest to its own x.
    """
    barred = [line.label for line in lines if line.low]
    if len(barred) < 2:
        return [0.0] * len(lines), math.inf
    gaps = [_axis(right, log) - _axis(left, log) for line in lines for left, right in pairwise(line.x)]
    step = min([STEP * unit, *(CLUSTER * gap / len(barred) for gap in gaps)])
    places = {label: step * (i - (len(barred) - 1) / 2) for i, label in enumerate(barred)}
    return [places.get(line.label, 0.0) for line in lines], step / unit


def outer_margin(panel: Panel, xs: list[float], width: float, *, log: bool) -> float:
    """Points from the outermost x to the ends of an axis of this width: room for the lines that are moved aside."""
    unit = _span(xs, log)[2] / (width - 2 * MARGIN)
    return MARGIN + max((abs(offset) for offset in dodges(panel.lines, unit, log=log)[0]), default=0.0) / unit


def moved(x: float, offset: float, *, log: bool) -> float:
    """The x that stands so far along the axis from another, by an offset that `dodges` gave."""
    return float(x * 10**offset) if log else x + offset


def _axis(x: float, log: bool) -> float:
    return math.log10(x) if log else x


def set_x(axes: Axes, xs: list[float], width: float, margin: float, *, log: bool, whole: bool = False) -> float:
    """Set the ends, scale and ticks of an x axis so many points wide; give what a point of print is in its unit.

    Each x has a tick, unless they are many or are to be `whole` numbers.
    """
    first, last, span = _span(xs, log)
    unit = span / (width - 2 * margin)
    low, high = first - margin * unit, last + margin * unit
    if log:
        axes.set_xscale("log")
    axes.set_xlim((10**low, 10**high) if log else (low, high))
    ticks = xs
    if xs and (whole or len(xs) > MOST_TICKS):
        ticks = _log_ticks(xs[0], xs[-1]) if log else _round_ticks(xs[0], xs[-1], max(3, int(width / 45)))
    places = [(_axis(tick, log) - low) / unit for tick in ticks]
    axes.set_xticks(ticks, _spaced([plain_number(tick) for tick in ticks], places))
    axes.xaxis.set_minor_locator(NullLocator())
    return unit


def _span(xs: list[float], log: bool) -> tuple[float, float, float]:
    """First and last x on the axis (log10 x on a logarithmic one), and their distance; never nought."""
    first, last = (_axis(xs[0], log), _axis(xs[-1], log)) if xs else (0.0, 1.0)
    if first == last:
        half = 0.5 if log else max(abs(first), 1) / 2
        first, last = first - half, last + half
    return first, last, last - first


def set_y(axes: Axes, panels: Sequence[Panel], chart: Chart) -> None:
    """Set the ends, scale and ticks of a y axis that these panels share."""
    low, high = y_limits(panels, chart)
    if chart.log_y:
        axes.set_yscale("log")
        ticks = _log_ticks(low, high)
        axes.set_yticks(ticks, [plain_number(tick) for tick in ticks])
        axes.yaxis.set_minor_locator(LogLocator(subs=range(2, 10)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.ticklabel_format(axis="y", style="plain", useOffset=False)
    axes.set_ylim(low, high)


def y_limits(panels: Sequence[Panel], chart: Chart) -> tuple[float, float]:
    """Ends of a y axis that shows every point, bar and printed range of these panels, in the axis's unit.

    A linear axis starts at zero where that leaves the curves more than half of it, and ends at 100 % at the most where
    the numbers do.
    """
    values = [y for panel in panels for line in panel.lines for y in (*line.y, *line.low, *line.high)]
    values += [end for panel in panels if panel.printed for end in panel.printed]
    values = [chart.scale * value for value in values]
    if chart.log_y:
        values = [value for value in values if value > 0] or [1.0, 10.0]
        margin = (max(values) / min(values)) ** 0.05 if max(values) > min(values) else 2.0
        return min(values) / margin, max(values) * margin
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    margin = 0.05 * (high - low) or 0.1 * abs(high) or 1.0
    bottom = 0.0 if 0 <= low <= max(FROM_ZERO * high, margin) else low - margin
    top = 100.0 if chart.scale == 100 and high <= 100 < high + margin else high + margin
    return bottom, top


def _round_ticks(low: float, high: float, most: int) -> list[float]:
    ticks = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low <= tick <= high]


def _log_ticks(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: powers of ten, or as many of their multiples as make it three."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for multiples in ((1,), (1, 2, 5), range(1, 10)):
        ticks = [m * 10.0**e for e in exponents for m in multiples if low <= m * 10.0**e <= high]
        if len(ticks) >= 3:
            return ticks
    return _round_ticks(low, high, 4)


def _spaced(labels: list[str], places: list[float]) -> list[str]:
    """Empty the labels that would touch others where they stand, in points; the first and, if it can, the last stay."""
    halves, last = [text_width(label, TEXT) / 2 for label in labels], len(labels) - 1

    def touch(i: int, j: int) -> bool:
        return places[j] - halves[j] - places[i] - halves[i] < TICK_GAP

    kept = [0]
    for i in range(1, last):
        if not touch(kept[-1], i) and not touch(i, last):
            kept.append(i)
    if last > 0 and not touch(kept[-1], last):
        kept.append(last)
    return [label if i in kept else "" for i, label in enumerate(labels)]
