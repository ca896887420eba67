"""Figures of decision regions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.findings.choosing import decided, entry_of
from benchmark.findings.in_words import described
from benchmark.names import parted
from benchmark.report.regions import RegionFigure, RegionPanel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.findings.scoring import Run

MEASURE = "coordinates"


def region_figures(run: Run) -> tuple[RegionFigure, ...]:
    """Return the figures of regions whose rows all have panels."""
    found = []
    for figure in run.study.figures if run.predictions.settings else ():
        rows = tuple(tuple(_panels(run, name)) for name in figure.regions)
        if rows and all(rows):
            found.append(RegionFigure(figure.name, figure.title or run.study.title, rows))
    return tuple(found)


def _panels(run: Run, variant: str) -> Iterator[RegionPanel]:
    """Yield a panel for each cell of a variant that has predictions."""
    arrays = run.predictions.measured.get((MEASURE, variant))
    cells = [cell for cell in run.study.cells if cell.variant == variant and cell.what == "point"]
    for cell in cells:
        candidates = run.scored.chosen.get(cell.id)
        documents = run.predictions.tasks.get(cell.of_task)
        # `bench plan` computes coordinates of some documents, but predictions of all.
        if arrays is None or candidates is None or documents is None or len(arrays["points"]) != len(documents.ids):
            continue
        points, (split, *_) = arrays["points"], run.predictions.splits[cell.of_splits]
        group = run.study.variants[variant].protocol.resolved.get("train", "train")
        trained = np.flatnonzero(arrays["groups"] == parted(arrays["group_names"]).index(group))
        kernel = entry_of(run.study, cell).candidates[int(candidates[0])].kernel
        right = run.scored.cells[cell.id].values.get("accuracy")
        share = "" if right is None else f"Agreement with the best boundary: {100 * right.mean():.1f} % of the space"
        yield RegionPanel(
            cell.method if kernel is None else described(kernel),
            variant,
            parted(arrays["names"]),
            documents.classes,
            points[split.test],
            decided(run.predictions, cell, candidates).split(0).predicted,
            documents.truth[split.test],
            points[trained],
            documents.truth[trained],
            share,
        )
