"""Charts to pictures of curves, one a panel, of the same series in the same colours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmark.report.charts import MOST_TICKS
from benchmark.report.curve_tables import chart_decimals, plain_number
from benchmark.report.html.picture import FIT, SERIES, WASH, Picture, Spec, plain, tooltip
from benchmark.report.numbers import interval, number

if TYPE_CHECKING:
    from benchmark.report.charts import Chart, Panel

DASHES = ([1, 0], [6, 2], [2, 2], [6, 2, 2, 2], [10, 3])


def curve_pictures(chart: Chart) -> list[Picture]:
    """One picture a panel, of the same series in the same colours; the paper's range as a band."""
    labels = tuple(dict.fromkeys(line.label for panel in chart.panels for line in panel.lines))
    found = []
    for i, panel in enumerate(chart.panels):
        title = panel.title.replace("\n", ", ") or chart.title
        alt = f"{title}: {chart.y_label} by {chart.x_label}, a line each for {', '.join(labels)}."
        spec = _panel_spec(chart, panel, labels)
        found.append(Picture(f"{chart.name}-{i}", title, alt, spec, labels, chart.measured))
    return found


def _panel_spec(chart: Chart, panel: Panel, labels: tuple[str, ...]) -> Spec:
    decimals, points = chart_decimals(chart), []
    for line in panel.lines:
        missing = (math.nan,) * len(line.x)
        for at, value, low, high in zip(line.x, line.y, line.low or missing, line.high or missing, strict=True):
            ends = {"low": plain(chart.scale, low), "high": plain(chart.scale, high)}
            told = {"at": plain_number(at), "told": number(chart.scale * value, decimals)}
            told["interval"] = interval(ends["low"], ends["high"], decimals)
            points.append({"series": line.label, "x": plain(1, at), "y": plain(chart.scale, value), **ends, **told})
    scale: Spec = {"domain": list(labels)}
    colour = scale | {"range": [f"var(--s{i % SERIES})" for i in range(len(labels))]}
    dash = scale | {"range": [DASHES[i % SERIES % len(DASHES)] for i in range(len(labels))]}
    titles = {"series": "series", "at": chart.x_label, "told": chart.y_label, "interval": chart.bars or "interval"}
    said = tooltip(titles)
    ticks = sorted({at for line in panel.lines for at in line.x})
    axis: Spec = {"grid": False, "labelOverlap": "greedy"} | ({"values": ticks} if len(ticks) <= MOST_TICKS else {})
    x: Spec = {"field": "x", "type": "quantitative", "title": chart.x_label, "axis": axis}
    x["scale"] = _scale(log=chart.log_x) | {"padding": 12, "nice": False}
    y: Spec = {"type": "quantitative", "title": chart.y_label, "scale": _scale(log=chart.log_y)}
    y["axis"] = {"gridOpacity": 0.4 if chart.log_y else 1}
    chosen = {"condition": {"test": "picked == null || picked == datum.series", "value": 1}, "value": 0.12}
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "strokeWidth": 1.5, "strokeOpacity": 0.5},
            "encoding": {"y": y | {"field": "low"}, "y2": {"field": "high"}, "tooltip": said},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                "y": y | {"field": "y"},
                "strokeDash": {"field": "series", "type": "nominal", "scale": dash, "legend": None},
            },
        },
        {
            "mark": {"type": "point", "filled": True, "size": 55},
            "encoding": {"y": y | {"field": "y"}, "tooltip": said},
        },
    ]
    if not any(line.low for line in panel.lines):
        del layers[0]
    if panel.printed:
        bottom, top = ({"datum": plain(chart.scale, end)} for end in panel.printed)
        band: Spec = {"y": y | bottom, "y2": top, "x": {"value": 0}, "x2": {"value": "width"}}
        layers.insert(
            0,
            {
                "mark": {"type": "rect", "aria": False},
                "encoding": band | {"opacity": {"value": 1}, "color": {"value": WASH}},
            },
        )
    return {
        "width": "container",
        "autosize": FIT,
        "height": 240,
        "params": [{"name": "picked", "value": None}],
        "data": {"values": points},
        "encoding": {
            "x": x,
            "color": {"field": "series", "type": "nominal", "scale": colour, "legend": None},
            "opacity": chosen,
        },
        "layer": layers,
    }


def _scale(*, log: bool) -> Spec:
    return {"type": "log"} if log else {"zero": False}
