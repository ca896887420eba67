"""Figures of decision regions: their boundaries in a space, and training points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
from scipy.spatial import Delaunay

from benchmark.report.drawing.altair_charts import rows_data, spec_of
from benchmark.report.drawing.spec import (
    INK,
    MUTED,
    OURS,
    PAPER,
    PUBLISHED,
    TEXT_SIZES,
    WIDTH,
    figure_spec,
    round_for_output,
    side_by_side,
    wrap_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.analysis.figures import RegionFigure, RegionPanel
    from benchmark.report.drawing.spec import VegaSpec

    Array = NDArray[np.float64]

HEIGHT = math.sqrt(0.75)  # height of the triangle with side 1
CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.5, HEIGHT))
#: Ends of the axes of the triangle, with room for the names of its corners.
FRAME = ((-0.12, 1.12), (-0.1, HEIGHT + 0.1))
MOST_ACROSS = 400.0  # pixels of a panel
SEGMENT = ("x", "y", "x2", "y2")
POINT_SHAPES = ("circle", "triangle-up")
NOTE = "Line: decision boundary. Grey line: best possible boundary. Marks: training points."


def region_chart(figure: RegionFigure, width: int = WIDTH) -> VegaSpec:
    """Draw each method's decision boundary, the best possible boundary, and the training points."""
    across = min((width - 26) / 2, MOST_ACROSS)
    panels = []
    for row in figure.rows:
        # All panels of a row have the same grid, and triangulation takes as long as the rest of a panel.
        triangles = np.asarray(Delaunay(figure_positions(row[0].grid)).simplices)
        panels += [_panel(panel, triangles, across, TEXT_SIZES[width]) for panel in row]
    parts = f"decision boundary, best possible boundary and training points of {len(panels)} methods"
    return figure_spec(side_by_side(panels, 2), width, figure.title, [NOTE], f"{figure.title}: {parts}")


def figure_positions(points: Array) -> Array:
    """Return the positions of points in the figure, shape (m, 2).

    Points (μ, σ) are unchanged; θ is mapped to the triangle with corners (0,0), (1,0), (½,√¾).
    """
    if points.shape[1] == 2:
        return points
    return np.column_stack([points[:, 1] + points[:, 2] / 2, HEIGHT * points[:, 2]])


def _panel(panel: RegionPanel, triangles: NDArray[np.int32], across: float, size: float) -> VegaSpec:
    """Return the panel of one method, with its name and its caption above."""
    plane = len(panel.axes) == 2
    space, points = figure_positions(panel.grid), figure_positions(panel.points)
    ends = tuple(zip(space.min(axis=0).tolist(), space.max(axis=0).tolist(), strict=True)) if plane else FRAME
    spans = [high - low for low, high in ends]
    width = across - 50  # beside the numbers and the title of an axis
    unit = width / spans[0]  # pixels of a unit of both axes
    x, y = _axes(panel, ends)
    layers = list[alt.Chart]()
    for codes, colour, stroke in ((panel.likelier, MUTED, 1.2), (panel.predicted, INK, 1.6)):
        layers += _segments(_boundary_segments(space, triangles, codes), x, y, colour, stroke)
    layers += [] if plane else _corners(panel, x, y, size)
    classes = list(panel.classes)
    rows = [row | {"class": classes[label]} for row, label in zip(_rows(points), panel.labels.tolist(), strict=True)]
    marks = alt.Chart(rows_data(rows)).mark_point(stroke=PAPER, strokeWidth=0.4, opacity=1, size=22)
    fill = alt.Fill("class:N", scale=alt.Scale(domain=classes, range=[OURS, PUBLISHED]))
    shape = alt.Shape("class:N", scale=alt.Scale(domain=classes, range=list(POINT_SHAPES)))
    layers += [marks.encode(x, y, fill, shape)] if rows else []
    drawn = alt.layer(*layers).properties(width=width, height=unit * spans[1])
    named = wrap_text(f"{panel.row}: {panel.title}", width, size)
    return spec_of(drawn) | {"title": {"text": named, "subtitle": wrap_text(panel.caption, width, size)}}


def _axes(panel: RegionPanel, ends: Sequence[tuple[float, float]]) -> tuple[alt.X, alt.Y]:
    """Return both axes; a triangle's are hidden."""
    axes: list[Any] = []
    for name, channel, span, title in zip("xy", (alt.X, alt.Y), ends, panel.axes[:2], strict=True):
        shown = alt.Axis(grid=False, tickCount=5) if len(panel.axes) == 2 else None
        scale = alt.Scale(domain=list(span), nice=False, zero=False)
        axes.append(channel(name, type="quantitative", scale=scale, axis=shown, title=title if shown else None))
    return axes[0], axes[1]


def _rows(points: Array, **others: Any) -> list[dict[str, Any]]:
    return [{"x": round_for_output(1, x), "y": round_for_output(1, y), **others} for x, y in points]


def _boundary_segments(points: Array, corners: NDArray[np.int32], codes: NDArray[Any]) -> Array:
    """Return the segments between the points of code 0 and those of code 1, as x, y, x2 and y2, shape (m, 4).

    They join the middles of the edges of triangles, whose `corners` are indices of points, shape (n, 3).
    """
    ones = codes[corners].sum(axis=1)
    crossed = corners[(ones == 1) | (ones == 2)]
    labels = codes[crossed]
    alone = np.argmax(labels == (labels.sum(axis=1, keepdims=True) == 1), axis=1)
    first, *others = np.take_along_axis(crossed, (alone[:, None] + np.arange(3)) % 3, axis=1).T
    return np.hstack([(points[first] + points[other]) / 2 for other in others])


def _segments(segments: Array, x: alt.X, y: alt.Y, colour: str, stroke: float) -> list[alt.Chart]:
    """Return the layer of segments, or no layer without any."""
    rows = [{name: round_for_output(1, end) for name, end in zip(SEGMENT, each, strict=True)} for each in segments]
    look: Any = {"clip": True, "aria": False, "color": colour, "strokeWidth": stroke, "strokeCap": "round"}
    return [alt.Chart(rows_data(rows)).mark_rule(**look).encode(x, y, alt.X2("x2"), alt.Y2("y2"))] if rows else []


def _corners(panel: RegionPanel, x: alt.X, y: alt.Y, size: float) -> list[alt.Chart]:
    """Return the layers of the triangle and the names of its corners."""
    corners = np.array(CORNERS)
    frame = _segments(np.hstack([corners, corners[[1, 2, 0]]]), x, y, INK, 0.8)
    places = corners + 0.1 * (corners - corners.mean(axis=0))
    rows = [row | {"name": name} for row, name in zip(_rows(places), panel.axes, strict=True)]
    names = alt.Chart(rows_data(rows)).mark_text(fontSize=size, color=INK)
    return [*frame, names.encode(x, y, alt.Text("name:N"))]
