"""What a figure of decision regions shows: a panel for each method, of the points of a plane or a triangle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RegionPanel:
    """One method's decisions all over a space.

    Parameters
    ----------
    title : str
        The method.
    row : str
        What the panels of its row have in common.
    axes : tuple of str
        Names of the d coordinates: of 2 they are x and y, of 3 the corners of a triangle.
    classes : tuple of str
        The two classes.
    grid : float64 array, shape (m, d)
        Points all over the space.
    predicted, likelier : int arrays, shape (m,)
        The class that each gets, and the one that is likelier there: 0 or 1.
    points : float64 array, shape (n, d)
        Training points.
    labels : int array, shape (n,)
        Their classes.
    caption : str
        Below the panel.
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
