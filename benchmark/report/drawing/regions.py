"""From decision values to a picture: regions, boundary and training points, on the triangle or the half plane."""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator
from matplotlib.tri import Triangulation

from benchmark.report.drawing.style import FAINT, OURS, PUBLISHED, WIDTH, house_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from benchmark.report.regions import RegionFigure, RegionPanel

    Array = NDArray[np.float64]

HEIGHT = math.sqrt(0.75)  # of the triangle with side 1
ROW = {"simplex": 3.05, "half-plane": 3.15}  # inches
EDGES: dict[str, dict[str, float]] = {
    "simplex": {"left": 0.02, "right": 0.98, "bottom": 0.06, "top": 0.85, "wspace": 0.04},
    "half-plane": {"left": 0.03, "right": 0.95, "bottom": 0.21, "top": 0.85, "wspace": 0.12},
}  # of the axes in their row
TITLE, LEGEND = 0.3, 0.65  # inches; the legend's with the note below it
COMPACT: dict[str, Any] = {"frameon": False, "columnspacing": 1.4, "handletextpad": 0.5}
BELOW = {"simplex": -0.02, "half-plane": -0.225}  # where the line below a panel stands, in heights of its axes
DARK = "#222222"
# Tints of unequal lightness, so that they differ without colour too.
TINTS = ("#b9dcf0", "#fdecd6")
MARKERS: tuple[dict[str, Any], ...] = (
    {"marker": "o", "color": OURS, "markersize": 3.6},
    {"marker": "^", "color": PUBLISHED, "markersize": 4.2},
)
POINT: dict[str, Any] = {"linestyle": "none", "markeredgecolor": "white", "markeredgewidth": 0.4}
BORDER: dict[str, Any] = {"linewidths": 1.5, "colors": DARK}
OPTIMAL: dict[str, Any] = {"linewidths": 1.0, "colors": FAINT, "linestyles": "dashed"}
CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.5, HEIGHT))


def region_picture(shown: RegionFigure) -> Figure:
    """Draw each method's regions in two tints, their border, and the training points."""
    heights = [ROW[_space(row[0])] for row in shown.rows]
    total, ratios = TITLE + sum(heights) + LEGEND, [TITLE, *heights, LEGEND]
    columns = max(map(len, shown.rows))
    with house_style():
        # No layout engine: its solver gives other last digits each time, and the file other bytes.
        figure = Figure(figsize=(WIDTH, total))
        FigureCanvasAgg(figure)
        figure.suptitle(shown.title, fontsize=11, y=1 - 0.1 / total, va="top")
        strips = figure.subfigures(len(ratios), 1, squeeze=False, height_ratios=ratios)[1:, 0]
        for letter, strip, row in zip(ascii_lowercase, strips, shown.rows, strict=False):
            strip.suptitle(f"({letter}) {row[0].row}", fontsize=9.5, fontweight="bold", x=0.01, ha="left")
            panels = strip.subplots(1, columns, squeeze=False, gridspec_kw=EDGES[_space(row[0])])[0]
            for axes, each in zip(panels, row, strict=False):
                _draw_panel(axes, each)
            for axes in panels[len(row) :]:
                axes.set_visible(False)
        strips[-1].legend(handles=_legend(shown.rows[0][0].classes), loc="upper center", ncols=3, fontsize=8, **COMPACT)
    return figure


def _space(panel: RegionPanel) -> str:
    return "simplex" if len(panel.axes) == 3 else "half-plane"


def drawn(points: Array) -> Array:
    """Where points are drawn, shape (m, 2): (μ, σ) as they are, θ in the triangle with corners (0,0), (1,0), (½,√¾)."""
    if points.shape[1] == 2:
        return points
    return np.column_stack([points[:, 1] + points[:, 2] / 2, HEIGHT * points[:, 2]])


def _draw_panel(axes: Axes, panel: RegionPanel) -> None:
    triangles = Triangulation(*drawn(panel.grid).T)
    decisions, optimal = 1.0 - 2.0 * panel.predicted, 1.0 - 2.0 * panel.likelier
    axes.tricontourf(triangles, decisions, levels=[-2.0, 0.0, 2.0], colors=TINTS[::-1], zorder=1)
    _draw_zero(axes, triangles, optimal, OPTIMAL)
    _draw_zero(axes, triangles, decisions, BORDER)
    points = drawn(panel.points)
    for label, marker in enumerate(MARKERS):
        own = points[panel.labels == label]
        axes.plot(*own.T, label=str(label), zorder=4, clip_on=False, **(POINT | marker))
    axes.set_title(panel.title, fontsize=9)
    _frame(axes, panel)
    axes.text(0.5, BELOW[_space(panel)], panel.caption, transform=axes.transAxes, ha="center", va="top", fontsize=8)


def _draw_zero(axes: Axes, triangles: Triangulation, values: Array, style: dict[str, Any]) -> None:
    if values.min() < 0 < values.max():  # matplotlib warns of a level that isn't there
        axes.tricontour(triangles, values, levels=[0.0], zorder=3, **style)


def _frame(axes: Axes, result: RegionPanel) -> None:
    axes.set_aspect("equal")
    if len(result.axes) == 2:
        lowest, highest = result.grid[:, 1].min(), result.grid[:, 1].max()
        axes.set(xlim=(0, 1), ylim=(lowest, highest), xlabel=result.axes[0], ylabel=result.axes[1])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MultipleLocator(0.2))
        axes.spines["left"].set_visible(True)
        return
    axes.set(xlim=(-0.1, 1.1), ylim=(-0.09, HEIGHT + 0.09), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    corners = np.array(CORNERS)
    axes.fill(*corners.T, fill=False, edgecolor=DARK, linewidth=0.8, zorder=3)
    centre = corners.mean(axis=0)
    for name, corner in zip(result.axes, corners, strict=True):
        x, y = corner + 0.1 * (corner - centre)
        axes.text(x, y, name, ha="center", va="center", fontsize=10)


def _legend(names: Sequence[str]) -> list[Any]:
    classes: list[Any] = []
    for name, marker, tint in zip(names, MARKERS, TINTS, strict=True):
        classes.append(Line2D([], [], label=f"{name}: training point", **(POINT | marker)))
        classes.append(Patch(facecolor=tint, edgecolor=FAINT, linewidth=0.5, label=f"decided for {name}"))
    lines = [
        Line2D([], [], color=DARK, linewidth=1.5, label="decision boundary"),
        Line2D([], [], color=FAINT, linewidth=1.0, linestyle="dashed", label="best possible boundary"),
    ]
    return [*classes, *lines]
