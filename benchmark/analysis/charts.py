"""Data of figures, before they are drawn: curves with error bars, and decision regions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

#: Columns of the points of a chart.
POINT_COLUMNS = ("panel", "series", "x", "y", "low", "high")


@dataclass(frozen=True, eq=False)
class Chart:
    """One figure of curves.

    Parameters
    ----------
    name : str
        Stem of the files of the figure.
    title, x_label, y_label : str
        Texts with units: "Training documents", "Test error (%)".
    points : DataFrame
        Columns `POINT_COLUMNS`: panels in reading order, then lines, then ascending x. Bars reach
        from `low` to `high`, which are missing where there is none.
    bars : str
        Meaning of the error bars in words, empty if no line has bars.
    scale : float
        Factor from the numbers to the unit of the axis: 100 for percent.
    log_x, log_y : bool
    round_x : bool
        Whether x is measured, not set: ticks are then round numbers, not the values.
    reference : float or None
        Value of y that means "no difference", drawn as a line: 1 for ratios, 0 for differences.
    share_y : bool
        Whether the panels share their vertical scale.
    measured : bool
        Whether the chart shows measured times. Such a chart is drawn but not written to tables, since equal results
        must give equal tables.
    oracle : frozenset of str
        Panels whose parameters were chosen on the test documents.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    points: pd.DataFrame = field(repr=False)
    bars: str = ""
    scale: float = 1.0
    log_x: bool = False
    round_x: bool = False
    log_y: bool = False
    reference: float | None = None
    share_y: bool = False
    measured: bool = False
    oracle: frozenset[str] = frozenset()

    @property
    def panels(self) -> list[str]:
        """Titles of the panels."""
        return list(dict.fromkeys(self.points["panel"]))


@dataclass(frozen=True, eq=False)
class RegionPanel:
    """One method's predictions over a whole space.

    Parameters
    ----------
    title : str
        The method.
    row : str
        Heading shared by the panels of one row.
    axes : tuple of str
        Names of the d coordinates: x and y if d is 2, the corners of a triangle if d is 3.
    classes : tuple of str
        The two classes.
    grid : float64 array, shape (m, d)
        Points that cover the space.
    predicted, likelier : int arrays, shape (m,)
        Predicted class of each point of `grid`, and the class that is more likely there: 0 or 1.
    points : float64 array, shape (n, d)
        Training points.
    labels : int array, shape (n,)
        Class of each training point: 0 or 1.
    caption : str
        Text below the panel.
    """

    title: str
    row: str
    axes: tuple[str, ...]
    classes: tuple[str, ...]
    grid: NDArray[np.float64]
    predicted: NDArray[Any]
    likelier: NDArray[Any]
    points: NDArray[np.float64]
    labels: NDArray[Any]
    caption: str


@dataclass(frozen=True)
class RegionFigure:
    """A figure of decision regions.

    Parameters
    ----------
    name : str
        Stem of its files.
    title : str
    rows : tuple of tuple of RegionPanel
    """

    name: str
    title: str
    rows: tuple[tuple[RegionPanel, ...], ...]
