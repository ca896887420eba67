"""Figures of decision regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.formatting.labels import component_label
from benchmark.analysis.model_selection import selected_predictions
from benchmark.config.model import method_of
from benchmark.system.string_arrays import split_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmark.analysis.scoring import RunPredictions

COORDINATES_DIAGNOSTIC = "coordinates"


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


def decision_region_figures(run: RunPredictions) -> tuple[RegionFigure, ...]:
    """Return the figures of regions whose rows all have panels."""
    found = []
    for figure in run.experiment.figures if run.predictions.settings else ():
        rows = tuple(tuple(_panels(run, name)) for name in figure.regions)
        if rows and all(rows):
            found.append(RegionFigure(figure.name, figure.title or run.experiment.title, rows))
    return tuple(found)


def _panels(run: RunPredictions, variant: str) -> Iterator[RegionPanel]:
    """Yield a panel for each cell of a variant that has predictions."""
    arrays = run.predictions.diagnostics.get((COORDINATES_DIAGNOSTIC, variant))
    cells = [cell for cell in run.experiment.cells if cell.variant == variant and cell.what == "point"]
    for cell in cells:
        candidates = run.scored.chosen.get(cell.id)
        documents = run.predictions.tasks.get(cell.of_task)
        if arrays is None or candidates is None or documents is None:
            continue
        points, (split, *_) = arrays["points"], run.predictions.splits[cell.of_splits]
        group = run.experiment.variants[variant].protocol.resolved.get("train", "train")
        trained = np.flatnonzero(arrays["parts"] == split_names(arrays["part_names"]).index(group))
        kernel = method_of(run.experiment, cell).candidates[int(candidates[0])].kernel
        right = run.scored.cells[cell.id].values.get("accuracy")
        share = "" if right is None else f"Agreement with the best boundary: {100 * right.mean():.1f}% of the space"
        yield RegionPanel(
            cell.method if kernel is None else component_label(kernel),
            variant,
            split_names(arrays["names"]),
            documents.classes,
            points[split.test],
            selected_predictions(run.predictions, cell, candidates).split(0).predicted,
            documents.truth[split.test],
            points[trained],
            documents.truth[trained],
            share,
        )
