"""Data of a triangle whose points a reader can move: their images on the sphere, distances, and decision regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.analysis.charts import RegionFigure, RegionPanel

SIMPLEX_TEXT = (
    "Each point of the triangle is a multinomial with three outcomes. The map θ ↦ 2√θ puts it on a sphere of radius 2, "
    "where lengths are those of the Fisher information metric. Drag p or q, or move them with the arrow keys."
)


def simplex_data(figure: RegionFigure) -> dict[str, Any]:
    """Return what the script draws of the methods of a figure whose space is the triangle; {} if there are none."""
    panels = [panel for row in figure.rows for panel in row if panel.grid.shape[1] == 3]
    steps = {_steps(panel) for panel in panels}
    if len(steps) != 1 or None in steps:
        return {}
    (n,) = steps
    first = panels[0]
    points = [[*(round(float(x), 4) for x in at), int(of)] for at, of in zip(first.points, first.labels, strict=True)]
    return {
        "steps": n,
        "corners": list(first.axes),
        "classes": list(first.classes),
        "kernels": [{"title": panel.title, "rows": _switches(panel.grid, panel.predicted, n)} for panel in panels],
        "likelier": _switches(first.grid, first.likelier, n),
        "points": points,
    }


def _steps(panel: RegionPanel) -> int | None:
    """Return the steps along an edge of a grid that covers the triangle evenly; None for other points."""
    n = round((2 * len(panel.grid) + 0.25) ** 0.5 - 1.5)
    places = np.round(panel.grid * n)
    whole = len(np.unique(places, axis=0)) == len(panel.grid) == (n + 1) * (n + 2) // 2
    return n if whole and np.allclose(places / n, panel.grid) else None


def _switches(grid: NDArray[np.float64], classes: NDArray[Any], n: int | None) -> list[list[int]]:
    """Return for each row k/n of the third coordinate where the class changes along the second, in steps of 1/n.

    Left of the first change is class 0.
    """
    if n is None:
        return []
    j, k = np.round(grid[:, 1:] * n).astype(int).T
    table = np.zeros((n + 1, n + 2), dtype=int)
    table[k, j + 1] = classes
    return [np.flatnonzero(np.diff(table[row, : n - row + 2])).tolist() for row in range(n + 1)]
