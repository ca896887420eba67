"""Figures of curves with error bars: a panel for each task or class, side by side, under one legend."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.analysis.formatting.table import PLAIN
from benchmark.report.curve_tables import axis_number_text, chart_decimals
from benchmark.report.drawing.altair_charts import rows_data, spec_of
from benchmark.report.drawing.spec import (
    MUTED,
    PAGE_WIDTH,
    TEXT_SIZES,
    WIDTH,
    figure_spec,
    legend_columns,
    round_for_output,
    series_style,
    side_by_side,
    wrap_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from benchmark.analysis.figures import Chart
    from benchmark.report.drawing.spec import VegaSpec

MOST_TICKS = 10  # with at most this many x values, every value has a tick
AXIS_ROOM = 56.0  # pixels beside a panel for the numbers and the title of its vertical axis
#: Least width of a panel by that of the figure.
PANEL_WIDTH = {WIDTH: 200, PAGE_WIDTH: 280}
MOST_WIDTH, MOST_HEIGHT = 440.0, 260.0
BAR_STEP = 3.0  # pixels between the bars of two lines
FROM_ZERO = 0.4  # a vertical axis whose lowest number is below this share of the highest starts at zero
#: Fewer values of x than these, in more than `MOST_SPARSE_PANELS` panels, are for a table.
LEAST_X, MOST_SPARSE_PANELS = 3, 4
#: Vega expression that writes the number of a tick.
NUMBER = "format(datum.value, datum.value && abs(datum.value) < 0.001 ? '~e' : ',.12~g')"


def curve_charts(charts: Sequence[Chart], width: int = WIDTH) -> dict[str, VegaSpec]:
    """Draw the charts that say more than their tables, by name: a label looks the same in all of them."""
    labels = dict.fromkeys(label for chart in charts for label in chart.points["series"])
    return {chart.name: curve_chart(chart, width, tuple(labels)) for chart in charts if _is_drawn(chart)}


def _is_drawn(chart: Chart) -> bool:
    """Return whether a chart says more than its table, which has all panels below each other."""
    most = chart.points.groupby(["panel", "series"])["x"].size().max()
    return bool(most >= LEAST_X) or len(chart.panels) <= MOST_SPARSE_PANELS


def curve_chart(chart: Chart, width: int = WIDTH, styled: Sequence[str] = ()) -> VegaSpec:
    """Draw the panels of a chart: a label has the same colour and shape in each of them.

    Panels of parameters that were chosen on the test documents are drawn only where there are no others. Where several
    lines have bars, the lines are moved sideways around their true x, so that no bar hides another.

    Parameters
    ----------
    chart : Chart
    width : int
        A key of `theme.TEXT_SIZES`.
    styled : sequence of str
        Labels of all charts that are shown together: their order decides how each looks.
    """
    titles = [title for title in chart.panels if title not in chart.oracle] or chart.panels
    points = chart.points[chart.points["panel"].isin(titles)]
    labels = list(dict.fromkeys(points["series"]))
    order = list(dict.fromkeys((*styled, *labels)))
    looks = {label: series_style(order.index(label)) for label in labels}
    columns = min(len(titles), width // PANEL_WIDTH[width])
    across = min((width - 12 - 14 * (columns - 1)) / columns - AXIS_ROOM, MOST_WIDTH)
    panels = []
    for title in titles:
        panel = points[points["panel"] == title]
        ends = _ends(chart, points if chart.share_y else panel)
        panels.append(_panel(chart, title, panel, ends, looks, across, TEXT_SIZES[width]))
    bars = f"Bars: {chart.bars}." if chart.bars and points["low"].notna().any() else ""
    alt_text = f"{chart.title}: {chart.y_label} by {chart.x_label}, a line each for {', '.join(labels)}. {bars}".strip()
    beside = legend_columns(labels, width)
    return figure_spec(side_by_side(panels, columns), width, chart.title, [bars], alt_text, legend_columns=beside)


def _panel(
    chart: Chart,
    title: str,
    points: pd.DataFrame,
    ends: list[float],
    looks: Mapping[str, Mapping[str, str]],
    width: float,
    size: int,
) -> VegaSpec:
    """Return one panel: from back to front its reference, bars, lines and marks."""
    height = min(MOST_HEIGHT, 0.62 * width)
    ticks: dict[str, Any] = {"values": _log_ticks(ends)} if chart.log_y else {"tickCount": max(3, int(height / 30))}
    vertical: dict[str, Any] = {"type": "quantitative", "axis": alt.Axis(labelExpr=NUMBER, **ticks)}
    vertical["scale"] = alt.Scale(**_kind(log=chart.log_y), domain=ends, nice=not chart.log_y)
    vertical["title"] = wrap_text(chart.y_label, height, size)
    y, y2, x = alt.Y("y", **vertical), alt.Y2("high"), _x(chart, sorted(set(points["x"])), width)
    low = alt.Y("low", **vertical)
    scales = {
        name: alt.Scale(domain=list(looks), range=[look[name] for look in looks.values()])
        for name in ("stroke", "fill", "shape")
    }
    stroke = alt.Stroke("series:N", scale=scales["stroke"])
    layers = list[alt.Chart]()
    if chart.reference is not None:
        at = alt.Chart(rows_data([{"y": round_for_output(chart.scale, chart.reference)}]))
        layers.append(at.mark_rule(color=MUTED, strokeDash=[4, 3], aria=False).encode(y))
    data, moved = alt.Chart(rows_data(_rows(chart, points, ends))), dict[str, Any](xOffset=alt.expr("datum.dx"))
    if points["low"].notna().any():
        layers.append(data.mark_rule(strokeWidth=1.2, clip=True, aria=False, **moved).encode(x, low, y2, stroke))
    layers.append(data.mark_line(strokeWidth=1.4, aria=False, **moved).encode(x, y, stroke))
    tips = {"series": "series", "at": chart.x_label, "value_text": chart.y_label, "interval": chart.bars or "interval"}
    tooltips = [alt.Tooltip(name, type="nominal", title=text) for name, text in tips.items()]
    fill, shape = alt.Fill("series:N", scale=scales["fill"]), alt.Shape("series:N", scale=scales["shape"])
    marks = data.mark_point(opacity=1, size=26, strokeWidth=1.2, **moved)
    layers.append(marks.encode(x, y, stroke, fill, shape, tooltips))
    head = wrap_text(title, width + AXIS_ROOM / 2, size)
    drawn = alt.layer(*layers).properties(width=width, height=height)
    return spec_of(drawn) | ({"title": {"text": head}} if head else {})


def _log_ticks(ends: Sequence[float]) -> list[float]:
    """Return the powers of ten on a logarithmic axis, or where there are few, also their multiples by 2 and 5."""
    low, high = (math.log10(end) for end in ends)
    factors = (1,) if high - low > 2 else (1, 2, 5)
    ticks = (float(f"{m}e{e}") for e in range(math.floor(low), math.ceil(high) + 1) for m in factors)
    return [tick for tick in ticks if ends[0] <= tick <= ends[1]]


def _x(chart: Chart, xs: Sequence[float], width: float) -> alt.X:
    """Return the horizontal axis: a tick for each x, unless there are too many or the chart wants round numbers."""
    ticks: dict[str, Any] = {"tickCount": max(2, int(width / 60))}
    if len(xs) <= MOST_TICKS and not chart.round_x:
        ticks = {"values": xs}
    elif chart.log_x:
        ticks = {"values": _log_ticks((xs[0], xs[-1]))}
    scale = alt.Scale(**_kind(log=chart.log_x), nice=xs[0] == xs[-1], padding=8)
    if xs[0] < xs[-1]:
        scale.domain = [xs[0], xs[-1]]
    axis = alt.Axis(grid=False, labelExpr=NUMBER, **ticks)
    return alt.X("x", type="quantitative", scale=scale, axis=axis, title=chart.x_label)


def _kind(*, log: bool) -> dict[str, Any]:
    return {"type": "log"} if log else {"zero": False}


def _ends(chart: Chart, points: pd.DataFrame) -> list[float]:
    """Return the ends of a vertical axis that shows these points and their bars."""
    values = [*points[["y", "low", "high"]].to_numpy(dtype=float).ravel()]
    values += [] if chart.reference is None else [chart.reference]
    shown = [value for value in values if value > 0 or (not chart.log_y and not math.isnan(value))]
    low, high = (float(f"{chart.scale * end:.12g}") for end in (min(shown), max(shown)))
    return [0.0 if 0 <= low <= FROM_ZERO * high and not chart.log_y else low, high]


def _rows(chart: Chart, points: pd.DataFrame, ends: Sequence[float]) -> list[dict[str, Any]]:
    """Return every point with its bar, for drawing and as formatted text; `dx` is its offset in pixels."""
    barred = list(dict.fromkeys(points["series"][points["low"].notna()]))
    offsets = {label: BAR_STEP * (i - (len(barred) - 1) / 2) for i, label in enumerate(barred)}
    rows, unit = list[dict[str, Any]](), replace(PLAIN, decimals=chart_decimals(chart))
    for _, series, x, *numbers in points.itertuples(index=False):
        y, low, high = (round_for_output(chart.scale, number) for number in numbers)
        row = {"series": series, "x": round_for_output(1, x), "at": axis_number_text(x), "y": y, "high": high}
        # A bar that reaches zero ends below a logarithmic panel.
        row["low"] = max(low, ends[0] / 10) if chart.log_y and low is not None else low
        row["dx"] = offsets.get(series, 0.0)
        rows.append(row | {"value_text": unit.text(y), "interval": unit.interval(low, high)})
    return rows
