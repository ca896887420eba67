"""Figures of decision regions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.analysis.charts import RegionFigure, RegionPanel
from benchmark.analysis.formatting.labels import component_label
from benchmark.analysis.model_selection import selected_predictions
from benchmark.config.model import method_of
from benchmark.system.string_arrays import split_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.analysis.scoring import RunPredictions

COORDINATES_DIAGNOSTIC = "coordinates"


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
