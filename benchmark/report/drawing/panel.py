"""One panel of curves: its axes, band, bars, lines and marks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.analysis.charts.chart import MOST_TICKS
from benchmark.analysis.formatting.number_text import interval_text, number_text
from benchmark.report.curve_tables import axis_number_text, chart_decimals
from benchmark.report.drawing.axes import (
    MOST_ROUND_TICKS,
    axis_units_per_point,
    bar_offsets,
    log_ticks,
    number_expression,
    offset_x,
    panel_x_values,
    round_ticks,
    x_limits,
    y_limits,
    y_ticks,
)
from benchmark.report.drawing.key import PUBLISHED_RANGE_ENTRY
from benchmark.report.drawing.spec import FIT, round_for_output, rows_data, spec_of, title_spec, tooltips
from benchmark.report.drawing.theme import MUTED, PANEL_TITLE, TEXT_COLOUR, WASH, series_style, wrap_text

if TYPE_CHECKING:
    from benchmark.analysis.charts.chart import Chart, ChartPanel
    from benchmark.report.drawing.theme import VegaSpec

MARGIN = 7.0  # points of space left and right of the outermost x


@dataclass(frozen=True)
class PanelView:
    """View of one panel, for a page or as a part of a file.

    Parameters
    ----------
    chart : Chart
    panel : ChartPanel
    labels : tuple of str
        Labels of all lines of the chart; the position of a label decides its colour, dash and shape.
    shared : tuple of ChartPanel
        Panels that share the vertical scale; on a page, a reader can give the panel its own.
    width, height : float
        Size in points.
    page : bool
        Whether the view is for a page: with axis titles, the width of the window and selectable lines, without a title.
    x_labels, y_labels : bool
        Whether the axes have tick labels.
    """

    chart: Chart
    panel: ChartPanel
    labels: tuple[str, ...]
    shared: tuple[ChartPanel, ...]
    width: float
    height: float
    page: bool = False
    x_labels: bool = True
    y_labels: bool = True

    @property
    def spec(self) -> VegaSpec:
        """Specification of the panel, with its title in a file; on a page, lines that are not selected fade."""
        drawn = alt.layer(*self._layers()).properties(height=self.height)
        if self.page:
            chosen = alt.param(name="picked", value=None), alt.param(name="own", value=False)
            return spec_of(drawn.properties(width="container", autosize=FIT).add_params(*chosen))
        title = title_spec(wrap_text(self.panel.title, self.width + 15, PANEL_TITLE))
        return spec_of(drawn.properties(width=self.width)) | title

    def _layers(self) -> list[alt.Chart]:
        """Return the layers of band, bars, lines and marks, from back to front."""
        chart, rows = self.chart, self.points
        if not rows:
            rows = [{"series": "", "x": self.x_ends[0], "y": self.y_ends[0], "low": None}]
        barred = [row for row in rows if row["low"] is not None]
        colour = self._series("stroke", alt.Stroke)
        data, layers = alt.Chart(rows_data(rows)), list[alt.Chart]()
        if self.panel.printed:
            layers.append(self._band())
        if chart.reference is not None:
            level = round_for_output(chart.scale, chart.reference)
            meant = [{"level": level, "meaning": "same" if chart.reference else "no difference"}]
            line = alt.Chart(rows_data(meant)).mark_rule(color=MUTED, strokeDash=[4, 3], aria=False)
            layers.append(line.encode(self._y("level")))
        layers += self._limits() if self.panel.limits else []
        if barred:
            layers += self._bars(barred, colour)
        if self.panel.lines:
            tips = {"series": "series", "at": chart.x_label, "value_text": chart.y_label}
            tips["interval"] = chart.bars or "interval"
            dash, fill = self._series("dash", alt.StrokeDash), self._series("fill", alt.Fill)
            shape = self._series("shape", alt.Shape)
            line = data.mark_line(strokeWidth=2 if self.page else 1.2, aria=False)
            layers.append(line.encode(self.x, self._y("y"), colour, dash, **self._faded()))
            points = data.mark_point(opacity=1, size=50 if self.page else 20, strokeWidth=1.2 if self.page else 0.9)
            layers.append(points.encode(self.x, self._y("y"), colour, fill, shape, tooltips(tips), **self._faded()))
        else:
            text = data.mark_text(text="no points", fontStyle="italic", color=MUTED, aria=False)
            layers.append(text.encode(x=alt.value(alt.expr("width / 2")), y=alt.value(alt.expr("height / 2"))))
            layers.append(data.mark_point(opacity=0, aria=False).encode(self.x, self._y("y")))
        return layers

    @cached_property
    def x_ends(self) -> tuple[float, float]:
        """Ends of the horizontal scale."""
        return x_limits(panel_x_values(self.panel), log=self.chart.log_x)

    @cached_property
    def y_ends(self) -> tuple[float, float]:
        """Ends of the vertical scale."""
        return y_limits(self.shared, self.chart)

    @cached_property
    def _unit(self) -> float:
        return axis_units_per_point(self.x_ends, self.width - 2 * MARGIN, log=self.chart.log_x)

    @cached_property
    def _dodged(self) -> tuple[list[float], float]:
        return bar_offsets(self.panel.lines, self._unit, log=self.chart.log_x)

    @cached_property
    def points(self) -> list[dict[str, Any]]:
        """Every point with its bar, for drawing and as formatted text."""
        chart, rows = self.chart, []
        decimals = chart_decimals(chart)
        # On a logarithmic axis, a bar that reaches zero is clipped below the panel.
        bottom = self.y_ends[0] / 10 if chart.log_y else -math.inf
        for line, offset in zip(self.panel.lines, self._dodged[0], strict=True):
            missing = (math.nan,) * len(line.x)
            for at, value, low, high in zip(line.x, line.y, line.low or missing, line.high or missing, strict=True):
                ends = round_for_output(chart.scale, low), round_for_output(chart.scale, high)
                row: dict[str, Any] = {
                    "series": line.label,
                    "x": round_for_output(1, offset_x(at, offset, log=chart.log_x)),
                }
                row |= {"y": round_for_output(chart.scale, value), "at": axis_number_text(at)}
                row |= dict(
                    zip(("low", "high"), (None if end is None else max(end, bottom) for end in ends), strict=True)
                )
                row |= {
                    "value_text": number_text(chart.scale * value, decimals),
                    "interval": interval_text(*ends, decimals),
                }
                rows.append(row)
        return rows

    @property
    def x(self) -> alt.X:
        """Horizontal axis: a tick for each x, unless there are too many or the chart wants round numbers."""
        chart, xs = self.chart, panel_x_values(self.panel)
        # In points: lines that are moved sideways need more space beyond the outermost x.
        padding = MARGIN + max(map(abs, self._dodged[0]), default=0.0) / self._unit
        ticks = list(xs)
        if not xs or chart.round_x or len(xs) > MOST_TICKS:
            most = max(3, min(int(self.width / 45), MOST_ROUND_TICKS))
            ticks = log_ticks(*self.x_ends) if chart.log_x else round_ticks(*self.x_ends, min(4, most), most)
        axis = alt.Axis(
            values=ticks,
            grid=False,
            labelExpr=number_expression(ticks, log=chart.log_x),
            labelOverlap="greedy",
            labelSeparation=4,
            labels=self.x_labels,
        )
        scale = _scale(self.x_ends, log=chart.log_x, padding=padding)
        return alt.X("x", type="quantitative", scale=scale, axis=axis, title=chart.x_label if self.page else None)

    def _y(self, name: str) -> alt.Y:
        chart = self.chart
        scale, ticks = _scale(self.y_ends, log=chart.log_y), y_ticks(self.y_ends, self.height, log=chart.log_y)
        values: Any = ticks
        if self.page and len(self.shared) > 1:  # a reader chooses between the scale of all panels and its own
            ends = y_limits((self.panel,), chart)
            own_ticks = y_ticks(ends, self.height, log=chart.log_y)
            pairs = zip(ends, self.y_ends, strict=True)
            scale.domain = [alt.ExprRef(f"own ? {own!r} : {shared!r}") for own, shared in pairs]
            values, ticks = alt.ExprRef(f"own ? {own_ticks} : {ticks}"), [*ticks, *own_ticks]
        label = number_expression(ticks, log=chart.log_y)
        axis = alt.Axis(values=values, labelExpr=label, labels=self.y_labels, labelOverlap="greedy", domain=True)
        return alt.Y(name, type="quantitative", scale=scale, axis=axis, title=chart.y_label if self.page else None)

    def _series(self, name: str, channel: Any) -> Any:
        """Return the encoding of a line's label by a channel such as colour or dash."""
        looks = [series_style(i)[name] for i in range(len(self.labels))]
        return channel("series:N", scale=alt.Scale(domain=list(self.labels), range=looks), legend=None)

    def _faded(self) -> dict[str, Any]:
        """Return the opacity condition that fades all lines but the selected one; empty for files."""
        chosen = "picked == null || picked == datum.series"
        return {"opacity": alt.condition(chosen, alt.value(1), alt.value(0.12))} if self.page else {}

    def _bars(self, rows: list[dict[str, Any]], colour: Any) -> list[alt.Chart]:
        """Return the layers of bars and their caps, thin enough not to touch the bars of the next line."""
        data, step = alt.Chart(rows_data(rows)), self._dodged[1]
        width = max(0.25, min(0.9, 0.6 * step)) * (1.4 if self.page else 1)
        look: dict[str, Any] = {"clip": True, "aria": False, "opacity": 1}
        bar = data.mark_rule(strokeWidth=width, **look).encode(self.x, self._y("low"), alt.Y2("high"), colour)
        caps = data.mark_tick(orient="horizontal", size=min(3.6, 0.84 * step), thickness=width, **look)
        layers = [bar, *(caps.encode(self.x, self._y(end), colour) for end in ("low", "high"))]
        return [layer.encode(**self._faded()) for layer in layers]

    def _limits(self) -> list[alt.Chart]:
        """Return the layers of limits: a line across the panel each, with its name above its left end."""
        rows = [{"level": round_for_output(self.chart.scale, level), "name": name} for name, level in self.panel.limits]
        data = alt.Chart(rows_data(rows))
        line = data.mark_rule(color=MUTED, strokeDash=[4, 3], strokeWidth=0.8, aria=False)
        look: dict[str, Any] = {"align": "left", "baseline": "bottom", "dx": 3, "dy": -1, "color": MUTED}
        text = data.mark_text(fontSize=TEXT_COLOUR * (1.3 if self.page else 1), **look)
        return [line.encode(self._y("level")), text.encode(self._y("level"), alt.Text("name:N"), x=alt.value(0))]

    def _band(self) -> alt.Chart:
        """Return the layer of the range of the paper's figure, over the whole width."""
        ends = [max(self.chart.scale * end, self.y_ends[0]) for end in self.panel.printed or ()]
        rows = [{"low": round_for_output(1, ends[0]), "high": round_for_output(1, ends[1])}]
        mark: alt.Chart = alt.Chart(rows_data(rows)).mark_rect(
            color=WASH if self.page else PUBLISHED_RANGE_ENTRY.fill, opacity=1, aria=False
        )
        layer: alt.Chart = mark.encode(self._y("low"), alt.Y2("high"), x=alt.value(0), x2=alt.value("width"))
        return layer


def _scale(ends: tuple[float, float], *, log: bool, **others: Any) -> alt.Scale:
    """Return a scale with exactly these ends; a linear one does not start at zero by default."""
    linear: dict[str, Any] = {} if log else {"zero": False}
    return alt.Scale(type="log" if log else "linear", domain=list(ends), nice=False, **linear, **others)
