"""Data of a figure of decision regions: one panel for each method, on a plane or a triangle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
