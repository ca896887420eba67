"""Charts to pictures: small multiples of curves with error bars, which a page shows one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.report.charts import MOST_TICKS
from benchmark.report.curve_tables import chart_decimals, plain_number
from benchmark.report.drawing.axes import NUMBER, dodges, log_ticks, moved, unit_of_print, x_limits, y_limits
from benchmark.report.drawing.key import BAND, Entry, key_spec
from benchmark.report.drawing.spec import (
    FIT,
    Picture,
    beside,
    page_spec,
    plain,
    rows_data,
    spec_of,
    titled,
    tooltips,
    whole,
)
from benchmark.report.drawing.theme import (
    LEADING,
    MOST_LABELS,
    MUTED,
    NARROW,
    PANEL_TITLE,
    TEXT,
    WASH,
    WIDTH,
    look_of,
    text_width,
    wrapped,
)
from benchmark.report.numbers import interval, number

if TYPE_CHECKING:
    from benchmark.report.charts import Chart, Line, Panel
    from benchmark.report.drawing.theme import Spec

PANEL_HEIGHT = {1: 180.0, 2: 120.0, 3: 92.0}  # points, by panels side by side
SMALL_PANEL_HEIGHT, MOST_HEIGHT = 80.0, 520.0  # of the panels of one column
PAGE_HEIGHT, PAGE_WIDTH = 240, 400  # of a panel of a page; its true width is the reader's
MARGIN, SPACING = 7.0, 14.0  # points beside the outermost points, and between panels


@dataclass(frozen=True)
class Room:
    """The room that one panel has: a page's, or that of a cell of a file's grid.

    Parameters
    ----------
    width, height : float
    page : bool
    shared : tuple of Panel
        Panels that share its vertical scale.
    x_labels, y_labels : bool
        Whether its axes have numbers.
    titles : tuple of str
        Its own title, and those of its axes.
    """

    width: float
    height: float
    page: bool
    shared: tuple[Panel, ...]
    x_labels: bool = True
    y_labels: bool = True
    titles: tuple[str, str, str] = ("", "", "")


def curve_pictures(chart: Chart) -> list[Picture]:
    """Draw one picture a panel, of the same series in the same colours, for a page."""
    labels, found = _labels(chart), []
    for i, panel in enumerate(chart.panels):
        title = panel.title.replace("\n", ", ") or chart.title
        alt_text = f"{title}: {chart.y_label} by {chart.x_label}, a line each for {', '.join(labels)}."
        room = Room(PAGE_WIDTH, PAGE_HEIGHT, True, (panel,), titles=("", chart.x_label, chart.y_label))
        spec = page_spec(_PanelView(chart, panel, labels, room).spec)
        found.append(Picture(f"{chart.name}-{i}", title, alt_text, spec, labels, chart.measured))
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
    alike = len({_positions(panel) for panel in chart.panels}) == 1
    drawn = []
    for i, (panel, share) in enumerate(zip(chart.panels, shares, strict=True)):
        last, first = i + columns >= len(chart.panels), not i % columns
        room = Room(panel_width, height, False, share, last or not alike, first or not chart.share_y)
        drawn.append(_PanelView(chart, panel, labels, replace(room, titles=(panel.title, "", ""))).spec)
    grid = beside(drawn, columns=columns, spacing=SPACING)
    x_lines = wrapped(chart.x_label, 0.9 * width, PANEL_TITLE)
    grid = beside(
        [beside([grid], **titled(x_lines, orient="bottom", offset=4))], **titled(y_lines, orient="left", offset=4)
    )
    keys = [key_spec(entries, inner) for entries in _legends(chart, labels) if entries]
    return whole(chart.title, [grid, *keys], _alt(chart, labels), width)


def _alt(chart: Chart, labels: tuple[str, ...]) -> str:
    return f"{chart.title}: {chart.y_label} by {chart.x_label}, a line each for {', '.join(labels)}."


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


def _positions(panel: Panel) -> tuple[float, ...]:
    return tuple(sorted({x for line in panel.lines for x in line.x}))


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


@dataclass(frozen=True)
class _PanelView:
    """One panel, drawn into its room."""

    chart: Chart
    panel: Panel
    labels: tuple[str, ...]
    room: Room

    @property
    def spec(self) -> Spec:
        """The panel with its title; a page gives it its width, and fades the lines that aren't picked."""
        room, drawn = self.room, alt.layer(*self._layers()).properties(height=self.room.height)
        if room.page:
            picked = alt.param(name="picked", value=None)
            return spec_of(drawn.properties(width="container", autosize=FIT).add_params(picked))
        title = titled(wrapped(room.titles[0], room.width + 15, PANEL_TITLE))
        return spec_of(drawn.properties(width=room.width)) | title

    def _layers(self) -> list[alt.Chart]:
        """The band, bars, lines and marks of the panel, from back to front."""
        chart, room, rows = self.chart, self.room, self.points
        if not rows:
            rows = [{"series": "", "x": self.x_ends[0], "y": self.y_ends[0], "low": None}]
        barred = [row for row in rows if row["low"] is not None]
        colour = self._series("stroke", alt.Stroke)
        data, layers = alt.Chart(rows_data(rows)), list[alt.Chart]()
        if self.panel.printed:
            layers.append(self._band())
        if barred:
            layers += self._bars(barred, colour)
        if self.panel.lines:
            tips = {
                "series": "series",
                "at": chart.x_label,
                "told": chart.y_label,
                "interval": chart.bars or "interval",
            }
            dash, fill, shape = (
                self._series(name, channel)
                for name, channel in (("dash", alt.StrokeDash), ("fill", alt.Fill), ("shape", alt.Shape))
            )
            marks: dict[str, Any] = {"size": 50 if room.page else 20, "strokeWidth": 1.2 if room.page else 0.9}
            line = data.mark_line(strokeWidth=2 if room.page else 1.2, aria=False)
            layers.append(line.encode(self.x, self._y("y"), colour, dash, **self._faded()))
            points = data.mark_point(opacity=1, **marks)
            layers.append(points.encode(self.x, self._y("y"), colour, fill, shape, tooltips(tips), **self._faded()))
        else:
            text = data.mark_text(text="no points", fontStyle="italic", color=MUTED, aria=False)
            layers.append(text.encode(x=alt.value(alt.expr("width / 2")), y=alt.value(alt.expr("height / 2"))))
            layers.append(data.mark_point(opacity=0, aria=False).encode(self.x, self._y("y")))
        return layers

    @cached_property
    def x_ends(self) -> tuple[float, float]:
        """The first and last x."""
        return x_limits(_positions(self.panel), log=self.chart.log_x)

    @cached_property
    def y_ends(self) -> tuple[float, float]:
        """The ends of the vertical scale."""
        return y_limits(self.room.shared, self.chart)

    @cached_property
    def _unit(self) -> float:
        return unit_of_print(self.x_ends, self.room.width - 2 * MARGIN, log=self.chart.log_x)

    @cached_property
    def _dodged(self) -> tuple[list[float], float]:
        return dodges(self.panel.lines, self._unit, log=self.chart.log_x)

    @cached_property
    def points(self) -> list[dict[str, Any]]:
        """Every point with its bar, where it is drawn and as it is written."""
        chart, found = self.chart, []
        decimals = chart_decimals(chart)
        # A bar that reaches zero leaves the panel of a logarithmic axis below.
        bottom = self.y_ends[0] / 10 if chart.log_y else -math.inf
        for line, offset in zip(self.panel.lines, self._dodged[0], strict=True):
            missing = (math.nan,) * len(line.x)
            for at, value, low, high in zip(line.x, line.y, line.low or missing, line.high or missing, strict=True):
                ends = plain(chart.scale, low), plain(chart.scale, high)
                row: dict[str, Any] = {"series": line.label, "x": plain(1, moved(at, offset, log=chart.log_x))}
                row |= {"y": plain(chart.scale, value), "at": plain_number(at)}
                row |= dict(
                    zip(("low", "high"), (None if end is None else max(end, bottom) for end in ends), strict=True)
                )
                row |= {"told": number(chart.scale * value, decimals), "interval": interval(*ends, decimals)}
                found.append(row)
        return found

    @property
    def x(self) -> alt.X:
        """The horizontal axis: a tick for each x, unless they are many or are to be round numbers."""
        chart, room, xs = self.chart, self.room, _positions(self.panel)
        # In points: lines that stand aside need some more beyond the outermost x.
        padding = MARGIN + max(map(abs, self._dodged[0]), default=0.0) / self._unit
        ticks: Any = list(xs)
        if not xs or chart.round_x or len(xs) > MOST_TICKS:
            ticks = log_ticks(*self.x_ends) if chart.log_x else alt.Undefined
        axis = alt.Axis(
            values=ticks, grid=False, labelExpr=NUMBER, labelOverlap="greedy", labelSeparation=4, labels=room.x_labels
        )
        if ticks is alt.Undefined:
            axis.tickCount = max(3, int(room.width / 45))
        kind: Any = "log" if chart.log_x else "linear"
        scale = alt.Scale(type=kind, domain=list(self.x_ends), nice=False, padding=padding)
        if not chart.log_x:
            scale.zero = False  # which a logarithmic axis has none of
        return alt.X("x", type="quantitative", scale=scale, axis=axis, title=_named(room.titles[1]))

    def _y(self, name: str) -> alt.Y:
        chart, room = self.chart, self.room
        kind: Any = "log" if chart.log_y else "linear"
        scale = alt.Scale(type=kind, domain=list(self.y_ends), nice=False)
        axis = alt.Axis(labelExpr=NUMBER, labels=room.y_labels, labelOverlap="greedy", domain=True)
        if chart.log_y:
            axis.values = log_ticks(*self.y_ends)
        else:
            axis.tickCount = max(3, int(room.height / 28))
            scale.zero = False
        return alt.Y(name, type="quantitative", scale=scale, axis=axis, title=_named(room.titles[2]))

    def _series(self, name: str, channel: Any) -> Any:
        """Return how a channel shows the label of a line."""
        looks = [look_of(i)[name] for i in range(len(self.labels))]
        return channel("series:N", scale=alt.Scale(domain=list(self.labels), range=looks), legend=None)

    def _faded(self) -> dict[str, Any]:
        """Return that lines other than the picked one are faint, on a page."""
        chosen = "picked == null || picked == datum.series"
        return {"opacity": alt.condition(chosen, alt.value(1), alt.value(0.12))} if self.room.page else {}

    def _bars(self, rows: list[dict[str, Any]], colour: Any) -> list[alt.Chart]:
        """Draw the bars with their ends, thin enough for the points of print to the next line's."""
        data, step = alt.Chart(rows_data(rows)), self._dodged[1]
        width = max(0.25, min(0.9, 0.6 * step)) * (1.4 if self.room.page else 1)
        look: dict[str, Any] = {"clip": True, "aria": False, "opacity": 1}
        bar = data.mark_rule(strokeWidth=width, **look).encode(self.x, self._y("low"), alt.Y2("high"), colour)
        caps = data.mark_tick(orient="horizontal", size=min(3.6, 0.84 * step), thickness=width, **look)
        found = [bar, *(caps.encode(self.x, self._y(end), colour) for end in ("low", "high"))]
        return [each.encode(**self._faded()) for each in found]

    def _band(self) -> alt.Chart:
        """Draw the range of the paper's figure over the whole width."""
        ends = [max(self.chart.scale * end, self.y_ends[0]) for end in self.panel.printed or ()]
        rows = [{"low": plain(1, ends[0]), "high": plain(1, ends[1])}]
        mark: alt.Chart = alt.Chart(rows_data(rows)).mark_rect(
            color=WASH if self.room.page else BAND.fill, opacity=1, aria=False
        )
        found: alt.Chart = mark.encode(self._y("low"), alt.Y2("high"), x=alt.value(0), x2=alt.value("width"))
        return found


def _named(text: str) -> Any:
    return text or None
