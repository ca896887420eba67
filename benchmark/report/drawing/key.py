"""Legends, laid out in the fewest rows that fit a width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmark.report.drawing.spec import rows_data, spec_of
from benchmark.report.drawing.theme import INK, LEADING, TEXT_COLOUR, text_width, wrap_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.report.drawing.theme import VegaSpec

HANDLE, LEGEND_MARK_WIDTH, PAD, LEGEND_GAP = (
    30.0,
    12.0,
    5.0,
    16.0,
)  # points: line sample, mark sample, space to the text, to the next entry
LEGEND_ROW_HEIGHT, CAP = 14.0, 4.0


@dataclass(frozen=True)
class LegendEntry:
    """One entry of a legend.

    Parameters
    ----------
    label : str
    stroke, fill : str
        Colours.
    line : {"", "across", "upright"}
        Line of the sample: none, a curve, or an error bar.
    shape : str
        Mark of the sample: "square" for a patch, "" for none.
    dash : sequence of float
    size, width : float
        Area of the mark, and width of the line.
    """

    label: str
    stroke: str
    fill: str = "transparent"
    line: str = ""
    shape: str = ""
    dash: Sequence[float] = (1, 0)
    size: float = 24.0
    width: float = 1.2


def legend_spec(entries: Sequence[LegendEntry], width: float) -> VegaSpec:
    """Draw a legend that is read row by row, with columns of about equal length."""
    handle = HANDLE if any(entry.line == "across" for entry in entries) else LEGEND_MARK_WIDTH
    beside = handle + PAD + LEGEND_GAP
    texts = [wrap_text(entry.label, width - beside, TEXT_COLOUR) for entry in entries]
    widths = [max(text_width(line, TEXT_COLOUR) for line in text) if text else 0.0 for text in texts]
    n = len(entries)
    rows = next(rows for rows in range(1, n + 1) if rows == n or _across(widths, -(-n // rows), beside) <= width)
    columns = -(-n // rows)
    widest = [max(widths[i::columns]) for i in range(columns)]
    lefts = [sum(widest[:i]) + i * beside for i in range(columns)]
    points, top = [], LEGEND_ROW_HEIGHT / 2
    for first in range(0, n, columns):
        for i in range(first, min(first + columns, n)):
            entry, x = entries[i], lefts[i - first]
            look: dict[str, Any] = {"stroke": entry.stroke, "fill": entry.fill, "dash": list(entry.dash)}
            look |= {"shape": entry.shape, "line": entry.line, "size": entry.size, "width": entry.width}
            place = {"x": x, "x2": x + handle, "mid": x + handle / 2, "at": x + handle + PAD}
            points.append(look | place | {"y": top, "up": top - 5, "down": top + 5, "label": texts[i] or [""]})
        top += LEGEND_ROW_HEIGHT + TEXT_COLOUR * LEADING * (max(map(len, texts[first : first + columns])) - 1)
    across, high = _across(widths, columns, beside), top - LEGEND_ROW_HEIGHT / 2
    chart = alt.layer(*_layers(points, across, high))
    return spec_of(chart.properties(width=across, height=high))


def _across(widths: Sequence[float], columns: int, beside: float) -> float:
    """Return the width in points of this many columns, with `beside` points for the sample and gap of each text."""
    return sum(max(widths[i::columns]) + beside for i in range(min(columns, len(widths)))) - LEGEND_GAP


def _layers(points: list[dict[str, Any]], width: float, height: float) -> list[alt.Chart]:
    """Return the layers of lines, marks and texts, placed in typographic points."""

    def x(name: str) -> alt.X:
        return alt.X(name, type="quantitative", axis=None, scale=alt.Scale(domain=[0, width], nice=False))

    def y(name: str) -> alt.Y:
        return alt.Y(name, type="quantitative", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))

    def those(name: str, *values: str) -> alt.Chart | None:
        chosen = [point for point in points if point[name] in values or (not values and point[name])]
        return alt.Chart(rows_data(chosen)) if chosen else None

    stroke = alt.Stroke("stroke:N", scale=None)
    dash, thick = alt.StrokeDash("dash:N", scale=None), alt.StrokeWidth("width:Q", scale=None)
    layers: list[alt.Chart] = []
    if curves := those("line", "across"):
        layers.append(curves.mark_rule().encode(x("x"), y("y"), alt.X2("x2"), stroke, dash, thick))
    if bars := those("line", "upright"):
        layers.append(bars.mark_rule().encode(x("mid"), y("up"), alt.Y2("down"), stroke, thick))
        caps = bars.mark_tick(orient="horizontal", size=CAP, thickness=1, opacity=1)
        layers += [caps.encode(x("mid"), y(end), stroke) for end in ("up", "down")]
    if marks := those("shape"):
        fill, shape = alt.Fill("fill:N", scale=None), alt.Shape("shape:N", scale=None)
        mark = marks.mark_point(opacity=1, strokeWidth=1)
        layers.append(mark.encode(x("mid"), y("y"), stroke, fill, shape, alt.Size("size:Q", scale=None)))
    text = alt.Chart(rows_data(points)).mark_text(
        align="left", baseline="middle", fontSize=TEXT_COLOUR, color=INK, lineHeight=TEXT_COLOUR * LEADING
    )
    return [*layers, text.encode(x("at"), y("y"), alt.Text("label:N"))]


PUBLISHED_RANGE_ENTRY = LegendEntry("range of the paper's figure", "#c9ced4", "#ececec", shape="square", size=90)
