"""Figures of curves with error bars: a panel for each task or class, side by side, under one legend."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.analysis.charts.chart import MOST_TICKS
from benchmark.analysis.formatting.number_text import interval_text, number_text
from benchmark.report.curve_tables import axis_number_text, chart_decimals
from benchmark.report.drawing.spec import figure_spec, round_for_output, rows_data, side_by_side, spec_of, tooltips
from benchmark.report.drawing.theme import (
    LINE,
    MUTED,
    PAGE_WIDTH,
    WIDTH,
    legend_columns,
    series_style,
    text_size,
    wrap_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmark.analysis.charts.chart import Chart, ChartPanel
    from benchmark.report.drawing.theme import VegaSpec

AXIS_ROOM = 56.0  # pixels beside a panel for the numbers and the title of its vertical axis
#: Least width of a panel by that of the figure.
PANEL_WIDTH = {WIDTH: 200, PAGE_WIDTH: 280}
MOST_WIDTH, MOST_HEIGHT = 440.0, 260.0
BAR_STEP, BAR_SHARE = 3.0, 0.7  # most pixels between the bars of two lines, and share of the gap that all bars take
FROM_ZERO = 0.4  # a vertical axis whose lowest number is below this share of the highest starts at zero
#: Fewer values of x than these, in more than `MOST_SPARSE_PANELS` panels, are for a table.
LEAST_X, MOST_SPARSE_PANELS = 3, 4
LEAST_TICKS = 3


def curve_charts(charts: Sequence[Chart], width: int = WIDTH) -> dict[str, VegaSpec]:
    """Draw the charts that say more than their tables, by name: a label looks the same in all of them."""
    labels = dict.fromkeys(line.label for chart in charts for panel in chart.panels for line in panel.lines)
    return {chart.name: curve_chart(chart, width, tuple(labels)) for chart in charts if _is_drawn(chart)}


def _is_drawn(chart: Chart) -> bool:
    """Return whether a chart says more than its table, which has all panels below each other."""
    points = max(len(line.x) for panel in chart.panels for line in panel.lines)
    return points >= LEAST_X or len(chart.panels) <= MOST_SPARSE_PANELS


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
    panels = [panel for panel in chart.panels if panel.lines]
    panels = [panel for panel in panels if not panel.oracle] or panels
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    places = list(dict.fromkeys((*styled, *labels)))
    looks = {label: series_style(places.index(label)) for label in labels}
    columns = min(len(panels), width // PANEL_WIDTH[width])
    panel_width = min((width - 12 - 14 * (columns - 1)) / columns - AXIS_ROOM, MOST_WIDTH)
    drawn = [_panel(chart, panel, panels if chart.share_y else [panel], looks, panel_width, width) for panel in panels]
    bars = f"Bars: {chart.bars}." if chart.bars and any(line.low for each in panels for line in each.lines) else ""
    band = "Shaded: the range of the paper's figure." if any(panel.printed for panel in panels) else ""
    alt_text = f"{chart.title}: {chart.y_label} by {chart.x_label}, a line each for {', '.join(labels)}. {bars}".strip()
    notes, beside = [f"{bars} {band}".strip()], legend_columns(labels, width)
    return figure_spec(side_by_side(drawn, columns), width, chart.title, notes, alt_text, legend_columns=beside)


def _panel(
    chart: Chart,
    panel: ChartPanel,
    shared: Sequence[ChartPanel],
    looks: Mapping[str, Mapping[str, str]],
    width: float,
    across: int,
) -> VegaSpec:
    """Return one panel: from back to front its band, reference and limits, bars, lines and marks."""
    x, ends = _x(chart, panel, width), _ends(chart, shared)
    scale = alt.Scale(**_kind(log=chart.log_y), domain=ends, nice=not chart.log_y)
    height = min(MOST_HEIGHT, 0.62 * width)

    def y(name: str) -> alt.Y:
        ticks: dict[str, Any] = {"values": _log_ticks(ends)} if chart.log_y else {"tickCount": max(3, int(height / 30))}
        axis = alt.Axis(labelExpr=NUMBER, **ticks)
        title = wrap_text(chart.y_label, height, text_size(across))
        return alt.Y(name, type="quantitative", scale=scale, axis=axis, title=title)

    def series(name: str, channel: Any) -> Any:
        return channel(
            "series:N",
            scale=alt.Scale(domain=list(looks), range=[look[name] for look in looks.values()]),
        )

    stroke, points = series("stroke", alt.Stroke), _points(chart, panel, ends, width)
    data, layers = alt.Chart(rows_data(points)), list[alt.Chart]()
    if panel.printed:
        band = alt.Chart(rows_data([dict(zip(("low", "high"), _scaled(chart, panel.printed), strict=True))]))
        mark = band.mark_rect(color=LINE, opacity=0.5, clip=True, aria=False)
        layers.append(mark.encode(y("low"), alt.Y2("high"), x=alt.value(0), x2=alt.value("width")))
    limits = [("", chart.reference)] if chart.reference is not None else []
    for name, level in (*limits, *panel.limits):
        at = alt.Chart(rows_data([{"level": round_for_output(chart.scale, level), "name": name}]))
        layers.append(at.mark_rule(color=MUTED, strokeDash=[4, 3], aria=False).encode(y("level")))
        text = at.mark_text(align="left", baseline="bottom", dx=3, color=MUTED, fontSize=text_size(across))
        layers += [text.encode(y("level"), alt.Text("name:N"), x=alt.value(0))] if name else []
    moved: dict[str, Any] = {"xOffset": alt.expr("datum.dx")}
    if any(point["low"] is not None for point in points):
        bar = data.mark_rule(strokeWidth=1.2, clip=True, aria=False, **moved)
        layers.append(bar.encode(x, y("low"), alt.Y2("high"), stroke))
    layers.append(data.mark_line(strokeWidth=1.4, aria=False, **moved).encode(x, y("y"), stroke))
    tips = {"series": "series", "at": chart.x_label, "value_text": chart.y_label, "interval": chart.bars or "interval"}
    marks = data.mark_point(opacity=1, size=26, strokeWidth=1.2, **moved)
    fill, shape = series("fill", alt.Fill), series("shape", alt.Shape)
    layers.append(marks.encode(x, y("y"), stroke, fill, shape, tooltips(tips)))
    title = wrap_text(panel.title, width + AXIS_ROOM / 2, text_size(across))
    drawn = alt.layer(*layers).properties(width=width, height=height)
    return spec_of(drawn) | ({"title": {"text": title}} if title else {})


#: Vega expression that writes the number of a tick.
NUMBER = "format(datum.value, datum.value && abs(datum.value) < 0.001 ? '~e' : ',.12~g')"


def _log_ticks(ends: Sequence[float]) -> list[float]:
    """Return the powers of ten on a logarithmic axis, with their multiples by 2 and 5 where there are few."""
    low, high = (math.log10(end) for end in ends)
    exponents, ticks = range(math.floor(low), math.ceil(high) + 1), list[float]()
    for factors in ((1,), (1, 2, 5)):
        if len(ticks) < LEAST_TICKS:
            ticks = [float(f"{m}e{e}") for e in exponents for m in factors if ends[0] <= float(f"{m}e{e}") <= ends[1]]
    return ticks


def _x(chart: Chart, panel: ChartPanel, width: float) -> alt.X:
    """Return the horizontal axis: a tick for each x, unless there are too many or the chart wants round numbers."""
    xs = sorted({x for line in panel.lines for x in line.x})
    ticks: dict[str, Any] = {"tickCount": max(2, int(width / 60))}
    if len(xs) <= MOST_TICKS and not chart.round_x:
        ticks = {"values": xs}
    elif chart.log_x:
        ticks = {"values": _log_ticks((xs[0], xs[-1]))}
    axis = alt.Axis(grid=False, labelExpr=NUMBER, **ticks)
    single = xs[0] == xs[-1]
    scale = alt.Scale(**_kind(log=chart.log_x), nice=single, padding=8)
    if not single:
        scale.domain = [xs[0], xs[-1]]
    return alt.X("x", type="quantitative", scale=scale, axis=axis, title=chart.x_label)


def _kind(*, log: bool) -> dict[str, Any]:
    return {"type": "log"} if log else {"zero": False}


def _scaled(chart: Chart, numbers: Sequence[float]) -> list[float]:
    return [float(f"{chart.scale * number:.12g}") for number in numbers]


def _ends(chart: Chart, panels: Sequence[ChartPanel]) -> list[float]:
    """Return the ends of a vertical axis that shows all points, bars, printed ranges and limits of panels."""
    values = [y for panel in panels for line in panel.lines for y in (*line.y, *line.low, *line.high)]
    values += [end for panel in panels for end in panel.printed or ()]
    values += [level for panel in panels for _, level in panel.limits]
    values += [] if chart.reference is None else [chart.reference]
    shown = _scaled(chart, [value for value in values if value > 0 or not chart.log_y])
    low, high = min(shown), max(shown)
    return [0.0 if 0 <= low <= FROM_ZERO * high and not chart.log_y else low, high]


def _points(chart: Chart, panel: ChartPanel, ends: Sequence[float], width: float) -> list[dict[str, Any]]:
    """Return every point with its bar, for drawing and as formatted text; `dx` is its offset in pixels."""
    barred = [line.label for line in panel.lines if line.low]
    most = max(len(line.x) for line in panel.lines)
    step = min(BAR_STEP, BAR_SHARE * width / (max(most - 1, 1) * max(len(barred), 1)))
    rows, decimals = list[dict[str, Any]](), chart_decimals(chart)
    for line in panel.lines:
        offset = step * (barred.index(line.label) - (len(barred) - 1) / 2) if line.label in barred else 0.0
        missing = (math.nan,) * len(line.x)
        for at, value, low, high in zip(line.x, line.y, line.low or missing, line.high or missing, strict=True):
            row: dict[str, Any] = {"series": line.label, "x": round_for_output(1, at), "at": axis_number_text(at)}
            row |= {"y": round_for_output(chart.scale, value), "dx": round(offset, 2)}
            row |= {"low": round_for_output(chart.scale, low), "high": round_for_output(chart.scale, high)}
            row |= {"value_text": number_text(chart.scale * value, decimals)}
            row |= {"interval": interval_text(row["low"], row["high"], decimals)}
            if chart.log_y and row["low"] is not None:  # a bar that reaches zero ends below the panel
                row["low"] = max(row["low"], ends[0] / 10)
            rows.append(row)
    return rows
