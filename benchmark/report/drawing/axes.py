"""Axes of curves: limits, ticks, and offsets that keep the error bars of several lines apart."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmark.report.curve_tables import POWERS_BELOW, axis_number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.analysis.charts.chart import Chart, ChartPanel, Line

DODGE_STEP = 3.2  # points between the bars of neighbouring lines, if there is room
DODGE_WIDTH = 0.7  # share of the gap between neighbouring x that the bars of all lines may take
FROM_ZERO = 0.4  # a y axis whose lowest number is below this share of the highest starts at zero
LEAST_ROUND_TICKS, MOST_ROUND_TICKS = 5, 8
TICK_HEIGHT = 13.0  # least points between ticks of a vertical axis


def number_expression(ticks: Sequence[float], *, log: bool = False) -> str:
    """Return the Vega expression that writes the numbers of these ticks as `axis_number_text` does."""
    if not any(0 < abs(tick) < POWERS_BELOW for tick in ticks):
        return "format(datum.value, ',.12~g')"
    texts = [axis_number_text(tick, powers_below(ticks, log=log)) for tick in ticks]
    return f"{json.dumps(texts)}[indexof({json.dumps(list(ticks))}, datum.value)]"


def powers_below(ticks: Sequence[float], *, log: bool) -> float:
    """Return the number below which ticks are written as powers of ten: on a logarithmic axis all, if one is."""
    return 1.0 if log and any(0 < tick < POWERS_BELOW for tick in ticks) else POWERS_BELOW


def bar_offsets(lines: Sequence[Line], unit: float, *, log: bool) -> tuple[list[float], float]:
    """Return the offset of each line along the x axis (in log10 x on a logarithmic one), and the step in points.

    Lines without bars have offset 0. Offsets are less than half of the smallest gap, so that a point stays nearest to
    its true x.
    """
    barred = [line.label for line in lines if line.low]
    if len(barred) < 2:
        return [0.0] * len(lines), math.inf
    gaps = [_axis(right, log) - _axis(left, log) for line in lines for left, right in pairwise(line.x)]
    step = min([DODGE_STEP * unit, *(DODGE_WIDTH * gap / len(barred) for gap in gaps)])
    places = {label: step * (i - (len(barred) - 1) / 2) for i, label in enumerate(barred)}
    return [places.get(line.label, 0.0) for line in lines], step / unit


def offset_x(x: float, offset: float, *, log: bool) -> float:
    """Return an x moved along the axis by an offset from `bar_offsets`."""
    return float(x * 10**offset) if log else x + offset


def _axis(x: float, log: bool) -> float:
    return math.log10(x) if log else x


def panel_x_values(panel: ChartPanel) -> tuple[float, ...]:
    """Return every x of a panel, ascending."""
    return tuple(sorted({x for line in panel.lines for x in line.x}))


def x_limits(xs: Sequence[float], *, log: bool) -> tuple[float, float]:
    """Return the ends of an x axis that shows all of these values; the two ends differ."""
    low, high = (xs[0], xs[-1]) if xs else (1.0, 10.0)
    if low < high:
        return low, high
    half = max(abs(low), 1) / 2
    return (low / math.sqrt(10), low * math.sqrt(10)) if log else (low - half, low + half)


def axis_units_per_point(limits: tuple[float, float], points: float, *, log: bool) -> float:
    """Return the length of one typographic point in units of an x axis that is `points` long (log10 x if `log`)."""
    return (_axis(limits[1], log) - _axis(limits[0], log)) / points


def y_limits(panels: Sequence[ChartPanel], chart: Chart) -> tuple[float, float]:
    """Return the ends of a y axis that shows all points, bars, printed ranges and limits of panels, in the axis's unit.

    A linear axis starts at zero if the curves then still take more than half of it. An axis of percentages does
    not extend beyond 100 if no value does.
    """
    values = [y for panel in panels for line in panel.lines for y in (*line.y, *line.low, *line.high)]
    values += [end for panel in panels if panel.printed for end in panel.printed]
    values += [level for panel in panels for _, level in panel.limits]
    values += [chart.reference] if values and chart.reference is not None else []
    values = [float(chart.scale * value) for value in values]  # a page writes them into expressions
    if chart.log_y:
        values = [value for value in values if value > 0] or [1.0, 10.0]
        margin = (max(values) / min(values)) ** 0.05 if max(values) > min(values) else 2.0
        return min(values) / margin, max(values) * margin
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    margin = 0.05 * (high - low) or 0.1 * abs(high) or 1.0
    bottom = 0.0 if 0 <= low <= max(FROM_ZERO * high, margin) else low - margin
    top = 100.0 if chart.scale == 100 and high <= 100 < high + margin else high + margin
    return bottom, top


def round_ticks(low: float, high: float, least: int, most: int) -> list[float]:
    """Return ticks of a linear axis, multiples of 1, 2, 2.5 or 5 times a power of ten: the fewest from `least` on.

    Where no such step gives from `least` to `most` ticks, there are as many as a step gives of at most `most`.

    Examples
    --------
    >>> round_ticks(29.0, 98.0, 5, 8)
    [30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    """
    exponent = math.floor(math.log10(high - low))
    found: list[float] = []
    for power in (exponent, exponent - 1, exponent - 2):
        for factor in (5, 2.5, 2, 1):
            step = float(f"{factor}e{power}")
            first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
            if last - first >= most:
                return found
            found = [float(f"{i * step:.12g}") for i in range(first, last + 1)]
            if len(found) >= least:
                return found
    return found


def ends_and_ticks(low: float, high: float, least: int, most: int) -> tuple[list[float], list[float]]:
    """Return the ends of a linear axis that shows these numbers, and its ticks: one end is moved to have `least`."""
    margin = 0.03 * (high - low) or abs(high) / 10 or 1.0
    low, high = low - margin, high + margin
    ticks = round_ticks(low, high, least, most)
    if 1 < len(ticks) < least:
        before, after = 2 * ticks[0] - ticks[1], 2 * ticks[-1] - ticks[-2]
        low, high = (before, high) if low - before < after - high else (low, after)
        ticks = [tick for tick in (before, *ticks, after) if low <= tick <= high]
    return [low, high], ticks


def log_ticks(low: float, high: float) -> list[float]:
    """Return ticks of a logarithmic axis: powers of ten, with multiples of them if needed for three ticks.

    Of more than eight, every second or third is left.
    """
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for multiples in ((1,), (1, 2, 5), range(1, 10)):
        ticks = [float(f"{m}e{e}") for e in exponents for m in multiples if low <= float(f"{m}e{e}") <= high]
        if len(ticks) >= 3:
            return ticks[:: math.ceil(len(ticks) / MOST_ROUND_TICKS)]
    return ticks if len(ticks) > 1 else [float(low), float(high)]


def y_ticks(ends: tuple[float, float], height: float, *, log: bool) -> list[float]:
    """Return the ticks of a vertical axis that is `height` points long: five to eight, where there is room."""
    most = max(3, min(int(height / TICK_HEIGHT), MOST_ROUND_TICKS))
    return log_ticks(*ends) if log else round_ticks(*ends, min(LEAST_ROUND_TICKS, most), most)
