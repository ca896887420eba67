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

    from benchmark.boundaries.machines import Boundary
    from benchmark.boundaries.samples import Array

NAME = "figure"  # stem of its files
COLUMNS = 2  # panels side by side: the flat kernel and the curved one
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
WRONG: dict[str, Any] = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 7,
    "markerfacecolor": "none",
    "markeredgecolor": DARK,
    "markeredgewidth": 0.8,
}
BORDER: dict[str, Any] = {"linewidths": 1.5, "colors": DARK}
OPTIMAL: dict[str, Any] = {"linewidths": 1.0, "colors": FAINT, "linestyles": "dashed"}
CORNERS = (("θ₁", 0.0, 0.0), ("θ₂", 1.0, 0.0), ("θ₃", 0.5, HEIGHT))
SPACE_NAMES = {"simplex": "Trinomials θ on the 2-simplex", "half-plane": "Normals N(μ, σ²) on the upper half plane"}
KERNEL_NAMES = {
    "gaussian": "Gaussian kernel",
    "diffusion": "Diffusion kernel",
    "heat": "Exact heat kernel",
    "hyperbolic": "Hyperbolic heat kernel",
}


def region_rows(boundaries: Sequence[Boundary]) -> list[Sequence[Boundary]]:
    """Machines, in reading order, to the rows of the picture; ValueError if one is not full, or of two spaces."""
    rows = [boundaries[i : i + COLUMNS] for i in range(0, len(boundaries), COLUMNS)]
    if not rows or len(rows[-1]) < COLUMNS:
        raise ValueError(f"the picture {NAME!r} needs full rows of {COLUMNS} panels, not {len(boundaries)}")
    if any(len({each.space for each in row}) > 1 for row in rows):
        raise ValueError(f"the picture {NAME!r} has a row with panels of different spaces")
    return rows


def region_picture(title: str, rows: Sequence[Sequence[Boundary]], note: str = "") -> Figure:
    """Draw each machine's regions in two tints, their border, the training points, and rings around the errors.

    The rows are those of `region_rows`; the note stands below the legend.
    """
    heights = [ROW[row[0].space] for row in rows]
    total, ratios = TITLE + sum(heights) + LEGEND, [TITLE, *heights, LEGEND]
    with house_style():
        # No layout engine: its solver gives other last digits each time, and the file other bytes.
        figure = Figure(figsize=(WIDTH, total))
        FigureCanvasAgg(figure)
        figure.suptitle(title, fontsize=11, y=1 - 0.1 / total, va="top")
        strips = figure.subfigures(len(ratios), 1, squeeze=False, height_ratios=ratios)[1:, 0]
        for letter, strip, row in zip(ascii_lowercase, strips, rows, strict=False):
            space = row[0].space
            strip.suptitle(f"({letter}) {SPACE_NAMES[space]}", fontsize=9.5, fontweight="bold", x=0.01, ha="left")
            panels = strip.subplots(1, COLUMNS, squeeze=False, gridspec_kw=EDGES[space])[0]
            for axes, each in zip(panels, row, strict=True):
                _draw_panel(axes, each)
        strips[-1].legend(handles=_legend(), loc="upper center", ncols=4, fontsize=8, **COMPACT)
        strips[-1].text(0.5, 0.04, note, fontsize=8, color=FAINT, ha="center", va="bottom")
    return figure


def drawn(points: Array) -> Array:
    """Where points are drawn, shape (m, 2): (μ, σ) as they are, θ in the triangle with corners (0,0), (1,0), (½,√¾)."""
    if points.shape[1] == 2:
        return points
    return np.column_stack([points[:, 1] + points[:, 2] / 2, HEIGHT * points[:, 2]])


def _panel_title(result: Boundary) -> str:
    parameter = f"t = {result.t:g}"
    if result.kernel == "gaussian":
        parameter += f" (σ² = {2 * result.t:g})"
    elif result.geometry == "fisher" and result.kernel == "hyperbolic":
        parameter += " (Fisher metric)"
    return f"{KERNEL_NAMES[result.kernel]}, {parameter}"


def _draw_panel(axes: Axes, result: Boundary) -> None:
    triangles = Triangulation(*drawn(result.grid).T)
    # The upper level must exceed all values, and the lower be below: far more than any decision value.
    axes.tricontourf(triangles, result.decisions, levels=[-1e300, 0.0, 1e300], colors=TINTS[::-1], zorder=1)
    _draw_zero(axes, triangles, result.optimal, OPTIMAL)
    _draw_zero(axes, triangles, result.decisions, BORDER)
    points = drawn(result.points)
    axes.plot(*points[result.errors].T, label="wrong", zorder=5, clip_on=False, **WRONG)
    for label, marker in enumerate(MARKERS):
        own = points[result.labels == label]
        axes.plot(*own.T, label=str(label), zorder=4, clip_on=False, **(POINT | marker))
    axes.set_title(_panel_title(result), fontsize=9)
    _frame(axes, result)
    axes.text(0.5, BELOW[result.space], _facts(result), transform=axes.transAxes, ha="center", va="top", fontsize=8)


def _draw_zero(axes: Axes, triangles: Triangulation, values: Array, style: dict[str, Any]) -> None:
    if values.min() < 0 < values.max():  # matplotlib warns of a level that isn't there
        axes.tricontour(triangles, values, levels=[0.0], zorder=3, **style)


def _facts(result: Boundary) -> str:
    support = f"{result.n_support} of {len(result.points)} points are support vectors"
    return f"Test accuracy {100 * result.accuracy:.1f} %; {support}"


def _frame(axes: Axes, result: Boundary) -> None:
    axes.set_aspect("equal")
    if result.space == "half-plane":
        lowest, highest = result.grid[:, 1].min(), result.grid[:, 1].max()
        axes.set(xlim=(0, 1), ylim=(lowest, highest), xlabel="mean μ", ylabel="standard deviation σ")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MultipleLocator(0.2))
        axes.spines["left"].set_visible(True)
        return
    axes.set(xlim=(-0.1, 1.1), ylim=(-0.09, HEIGHT + 0.09), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    corners = np.array([(x, y) for _, x, y in CORNERS])
    axes.fill(*corners.T, fill=False, edgecolor=DARK, linewidth=0.8, zorder=3)
    centre = corners.mean(axis=0)
    for (name, *_), corner in zip(CORNERS, corners, strict=True):
        x, y = corner + 0.1 * (corner - centre)
        axes.text(x, y, name, ha="center", va="center", fontsize=10)


def _legend() -> list[Any]:
    classes: list[Any] = []
    for name, marker, tint in zip(("class 1", "class 2"), MARKERS, TINTS, strict=True):
        classes.append(Line2D([], [], label=f"{name}: training point", **(POINT | marker)))
        classes.append(Patch(facecolor=tint, edgecolor=FAINT, linewidth=0.5, label=f"decided for {name}"))
    lines = [
        Line2D([], [], color=DARK, linewidth=1.5, label="decision boundary"),
        Line2D([], [], color=FAINT, linewidth=1.0, linestyle="dashed", label="best possible boundary"),
    ]
    return [*classes, *lines, Line2D([], [], label="training error", **WRONG)]
