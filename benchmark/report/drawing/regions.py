"""Figures of decision regions: predicted class over a space, decision boundaries and training points."""

from __future__ import annotations

import base64
import math
from itertools import pairwise
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import altair as alt
import numpy as np

from benchmark.report.drawing.contours import delaunay_triangles, indexed_png, region_mask, zero_lines
from benchmark.report.drawing.key import LegendEntry, legend_spec
from benchmark.report.drawing.spec import concat_parts, figure_spec, round_for_output, rows_data, spec_of, title_spec
from benchmark.report.drawing.theme import (
    INK,
    MUTED,
    OURS,
    PANEL_TITLE,
    PAPER,
    PUBLISHED,
    TEXT_COLOUR,
    WIDTH,
    wrap_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.analysis.charts.region_charts import RegionFigure, RegionPanel
    from benchmark.report.drawing.theme import VegaSpec

    Array = NDArray[np.float64]

HEIGHT = math.sqrt(0.75)  # height of the triangle with side 1
REGION_SIDE = {"simplex": 180.0, "half-plane": 160.0}  # length in points of one unit on both axes
#: Points between panels: both rows are 7 inches wide, with the numbers below each panel.
REGION_SPACING = {"simplex": 40.0, "half-plane": 8.0}
#: Ends of the axes of the triangle, with room for the names of its corners.
FRAME = ((-0.1, 1.1), (-0.08, HEIGHT + 0.1))
PIXELS = 2  # pixels of the image of regions for each typographic point
#: Colours of the regions; their lightness differs, so that they can be told apart without colour.
TINTS = ("#b9dcf0", "#fdecd6")
MARKS = ({"shape": "circle", "fill": OURS, "size": 15}, {"shape": "triangle-up", "fill": PUBLISHED, "size": 20})
REGION_COLUMNS = 2  # panels side by side
DECISION_BOUNDARY_STYLE: dict[str, Any] = {"color": INK, "strokeWidth": 1.5}
BEST_BOUNDARY_STYLE: dict[str, Any] = {"color": MUTED, "strokeWidth": 1.0, "strokeDash": [4, 2.5]}
CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.5, HEIGHT))


def region_chart(figure: RegionFigure, width: float = WIDTH) -> VegaSpec:
    """Draw each method's regions in two colours, its boundary, the best possible boundary, and the training points.

    The panels of a row are side by side where the figure is 7 inches wide, and else below each other.
    """
    columns = REGION_COLUMNS if width >= WIDTH else 1
    strips = []
    for letter, row in zip(ascii_lowercase, figure.rows, strict=False):
        heading = title_spec([f"({letter}) {row[0].row}"], anchor="start", fontWeight="bold", offset=8)
        # All panels of a row have the same grid, and triangulation takes as long as the rest of a panel.
        triangles, spacing = delaunay_triangles(figure_positions(row[0].grid)), REGION_SPACING[_space(row[0])]
        strips.append(
            concat_parts(
                [_panel(panel, triangles, width) for panel in row], columns=columns, spacing=spacing, **heading
            )
        )
    legend = legend_spec(_legend(figure.rows[0][0].classes), width - 20)
    column = concat_parts([concat_parts(strips, spacing=12, center=True), legend], center=True)
    n = sum(map(len, figure.rows))
    parts = "regions, decision boundary, best possible boundary and training points"
    return figure_spec(figure.title, [column], f"{figure.title}: {parts} of {n} methods", width)


def _space(panel: RegionPanel) -> str:
    return "simplex" if len(panel.axes) == 3 else "half-plane"


def figure_positions(points: Array) -> Array:
    """Return the positions of points in the figure, shape (m, 2).

    Points (μ, σ) are unchanged; θ is mapped to the triangle with corners (0,0), (1,0), (½,√¾).
    """
    if points.shape[1] == 2:
        return points
    return np.column_stack([points[:, 1] + points[:, 2] / 2, HEIGHT * points[:, 2]])


def _panel(panel: RegionPanel, triangles: NDArray[np.int32], most: float) -> VegaSpec:
    """Return the panel of one method, with its name above and its caption below."""
    x, y, (width, height) = _axes(panel)
    space, points = figure_positions(panel.grid), figure_positions(panel.points)
    layers = [_regions(panel, x, y)]
    for codes, line in ((panel.likelier, BEST_BOUNDARY_STYLE), (panel.predicted, DECISION_BOUNDARY_STYLE)):
        layers += _lines(zero_lines(space, triangles, 1.0 - 2.0 * codes), x, y, **line)
    layers += _corners(panel, x, y) if _space(panel) == "simplex" else []
    for label, (name, mark) in enumerate(zip(panel.classes, MARKS, strict=True)):
        rows = _rows(points[panel.labels == label], what=f"{name}: training point")
        look: Any = {"stroke": PAPER, "strokeWidth": 0.4, "opacity": 1, **mark}
        layers += [alt.Chart(rows_data(rows)).mark_point(**look).encode(x, y)] if rows else []
    drawing = spec_of(alt.layer(*layers).properties(width=width, height=height)) | title_spec([panel.title])
    caption = wrap_text(panel.caption, most - 44, TEXT_COLOUR)
    return concat_parts([drawing], **title_spec(caption, orient="bottom", fontSize=TEXT_COLOUR, offset=4))


def _axes(panel: RegionPanel) -> tuple[alt.X, alt.Y, tuple[float, float]]:
    """Return the axes, which have the same unit length, and their lengths in points."""
    space = _space(panel)
    plane, side = space == "half-plane", REGION_SIDE[space]
    low, high = (float(end) for end in (panel.grid[:, 1].min(), panel.grid[:, 1].max()))
    ends = ((0.0, 1.0), (low, high)) if plane else FRAME
    ticks = [round(0.2 * i, 1) for i in range(6)]
    axes: list[Any] = []
    for name, channel, span, title in zip("xy", (alt.X, alt.Y), ends, panel.axes[:2], strict=True):
        values = [tick for tick in ticks if span[0] <= tick <= span[1]]
        axis = alt.Axis(values=values, grid=False, format=".1f") if plane else None
        scale = alt.Scale(domain=list(span), nice=False, zero=False)
        axes.append(channel(name, type="quantitative", scale=scale, axis=axis, title=title if plane else None))
    return axes[0], axes[1], (side * (ends[0][1] - ends[0][0]), side * (ends[1][1] - ends[1][0]))


def _rows(points: Array, **others: Any) -> list[dict[str, Any]]:
    return [{"x": round_for_output(1, x), "y": round_for_output(1, y), **others} for x, y in points]


def _regions(panel: RegionPanel, x: alt.X, y: alt.Y) -> alt.Chart:
    """Return the layer of the predicted class over the whole space, as one image."""
    points, side = figure_positions(panel.grid), REGION_SIDE[_space(panel)]
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    size = [round(float(PIXELS * side * extent)) for extent in (right - left, top - bottom)]
    colours = [tuple(bytes.fromhex(tint[1:])) for tint in TINTS]
    image = indexed_png(region_mask(points, 1.0 - 2.0 * panel.predicted, *size), colours)
    url = f"data:image/png;base64,{base64.b64encode(image).decode()}"
    place = _rows(np.array([[left, top]]), url=url)
    look: Any = {"width": side * (right - left), "height": side * (top - bottom), "aspect": False, "aria": False}
    layer = alt.Chart(rows_data(place)).mark_image(align="left", baseline="top", **look)
    encoded: alt.Chart = layer.encode(x, y, alt.Url("url:N"))
    return encoded


def _lines(lines: Sequence[Array], x: alt.X, y: alt.Y, **look: Any) -> list[alt.Chart]:
    """Return the layer of lines through points, or no layer without lines."""
    rows = [row | {"i": i} for n, line in enumerate(lines) for i, row in enumerate(_rows(line, line=n))]
    mark = alt.Chart(rows_data(rows)).mark_line(clip=True, aria=False, **look)
    return [mark.encode(x, y, alt.Detail("line:N"), alt.Order("i:Q"))] if rows else []


def _corners(panel: RegionPanel, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return the layers of the triangle and the names of its corners, with indices in a smaller font."""
    corners = np.array(CORNERS)
    edges = [
        {"x": float(a[0]), "y": float(a[1]), "x2": float(b[0]), "y2": float(b[1])}
        for a, b in pairwise([*corners, corners[0]])
    ]
    frame = alt.Chart(rows_data(edges)).mark_rule(color=INK, strokeWidth=0.8, strokeCap="round", aria=False)
    places = corners + 0.1 * (corners - corners.mean(axis=0))
    plain_names = [normalize("NFKC", name) for name in panel.axes]
    rows = [row | {"name": name[0], "number": name[1:]} for row, name in zip(_rows(places), plain_names, strict=True)]
    names = alt.Chart(rows_data(rows))
    letter = names.mark_text(dx=-2, fontSize=PANEL_TITLE, color=INK).encode(alt.Text("name:N"))
    number = names.mark_text(dx=3.5, dy=3, fontSize=0.7 * PANEL_TITLE, color=INK).encode(alt.Text("number:N"))
    return [frame.encode(x, y, alt.X2("x2"), alt.Y2("y2")), letter.encode(x, y), number.encode(x, y)]


def _legend(classes: Sequence[str]) -> list[LegendEntry]:
    entries = [
        LegendEntry(f"{name}: training point", PAPER, str(mark["fill"]), shape=str(mark["shape"]), size=30, width=0.4)
        for name, mark in zip(classes, MARKS, strict=True)
    ]
    entries.append(LegendEntry("decision boundary", INK, line="across", width=DECISION_BOUNDARY_STYLE["strokeWidth"]))
    tints = zip(classes, TINTS, strict=True)
    entries += [LegendEntry(f"predicted {name}", MUTED, tint, shape="square", size=90) for name, tint in tints]
    dash = tuple(BEST_BOUNDARY_STYLE["strokeDash"])
    return [
        *entries,
        LegendEntry(
            "best possible boundary", MUTED, line="across", dash=dash, width=BEST_BOUNDARY_STYLE["strokeWidth"]
        ),
    ]
