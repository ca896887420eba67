"""Which candidate of its method each split of a cell uses, and what the cell then decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.choice import ORACLE, by_inner, by_test
from benchmark.evaluation.metrics import METRICS, defined, more_is_better, stacked, tally
from benchmark.evaluation.predictions import Given

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.model import Cell, Experiment, MethodEntry
    from benchmark.evaluation.predictions import PointKey, Predictions


def entry_of(study: Experiment, cell: Cell) -> MethodEntry:
    """The method of a cell."""
    return next(entry for entry in study.variants[cell.variant].entries if entry.label == cell.method)


def chosen(study: Experiment, predictions: Predictions, cell: Cell) -> NDArray[np.intp] | None:
    """Index into the candidates for each split of a point; None where one of them has no predictions.

    With one candidate there is nothing to choose. "oracle" chooses once for the whole curve, over the sizes at which
    every candidate has predictions, by the main metric on the test documents; "cross-validation" for each split.
    """
    each, known = range(len(entry_of(study, cell).candidates)), predictions.points
    points = [known[key] for key in (_key(cell, index, cell.size) for index in each) if key in known]
    if len(points) < len(each):
        return None
    n_splits = len(points[0].given)
    if len(each) == 1:
        return np.zeros(n_splits, dtype=np.intp)
    if cell.choice == ORACLE:
        sizes = study.variants[cell.variant].sizes
        common = [size for size in sizes if all(_key(cell, index, size) in known for index in each)]
        losses = [[_losses(study, predictions, _key(cell, index, size)) for size in common] for index in each]
        return np.full(n_splits, by_test(losses), dtype=np.intp)
    if any(len(point.inner) != n_splits for point in points):
        return None
    return by_inner(np.stack([point.inner for point in points]))


def decided(predictions: Predictions, cell: Cell, candidates: NDArray[np.intp]) -> Given:
    """What the chosen candidates decided, split by split."""
    points = [predictions.points[_key(cell, int(index), cell.size)] for index in candidates]
    return Given(
        tuple(point.given[split] for split, point in enumerate(points)),
        tuple(point.tied[split] for split, point in enumerate(points)),
        np.stack([point.seconds[split] for split, point in enumerate(points)]),
        np.array([point.memory[split] for split, point in enumerate(points)]),
        np.empty(0),
    )


def _key(cell: Cell, index: int, size: int | None) -> PointKey:
    return (cell.variant, cell.task, cell.method, index, size, cell.terms)


def _losses(study: Experiment, predictions: Predictions, key: PointKey) -> NDArray[np.float64]:
    """What is to be small, of each split of a point: the main metric, or what it lacks to 1."""
    documents, splits = predictions.tasks[key[:2]], predictions.splits[key[0], key[1], key[4]]
    of_all = (each for each in study.metrics if defined(each, several=documents.several, of_class=False))
    metric = next(of_all, "macro-f1" if documents.several else "error")
    k, given = len(documents.classes), predictions.points[key].given
    counts = stacked(tally(documents.truth[split.test], own, k) for split, own in zip(splits, given, strict=True))
    values = METRICS[metric].of(counts)
    return 1 - values if more_is_better(metric) else values
