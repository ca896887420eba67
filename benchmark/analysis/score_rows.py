"""Rows of the tidy frame of scores: those that tables show, and those that only figures show."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.config.model import method_of
from benchmark.evaluation.cell_scores import ALL_SPLITS, CELL_COLUMNS, SCORE_COLUMNS
from benchmark.evaluation.metrics import is_time_metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchmark.config.components import Component
    from benchmark.config.model import Cell, Experiment, MethodSpec, Variant
    from benchmark.diagnostics.base import DiagnosticNumbers
    from benchmark.evaluation.cell_scores import CellScores
    from benchmark.evaluation.predictions import TaskKey
    from benchmark.evaluation.sampling_model import SamplingModel

    Row = dict[str, Any]


def score_frames(
    experiment: Experiment,
    measured: Iterable[tuple[str, str, DiagnosticNumbers]],
    cells: Mapping[str, CellScores],
    samples: Mapping[str, SamplingModel],
    classes: Mapping[TaskKey, tuple[str, ...]],
    jobs: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the frame of tables, and that of figures alone: times, other metrics, single classes, curves' points.

    An axis of a figure that is a parameter or a score is a column of both.

    Parameters
    ----------
    experiment : Experiment
    measured : iterable of (diagnostic, variant, DiagnosticNumbers)
    cells, samples : mappings of cell id to CellScores and to SamplingModel
    classes : mapping of (variant, task) to tuple of str
        Classes in the order of the outcomes' codes.
    jobs : int
        Number of threads.
    """
    quantities, scored = experiment.quantities, [cell for cell in experiment.cells if cell.id in cells]
    shown = [metric for metric in (*experiment.metrics, *quantities) if not is_time_metric(metric, quantities)]
    drawn = list(dict.fromkeys(metric for figure in experiment.figures for metric in figure.y))
    axes = [figure.x for figure in experiment.figures if figure.x and figure.x not in CELL_COLUMNS]
    kernels = {cell.id: _kernel(experiment, cell) for cell in experiment.cells}

    def rows(cell: Cell, metrics: Iterable[str]) -> list[Row]:
        return list(_rows(cell, cells[cell.id], samples[cell.id], metrics))

    def frame(rows: Iterable[Row]) -> pd.DataFrame:
        table = pd.DataFrame(rows, columns=list(dict.fromkeys((*SCORE_COLUMNS, *CELL_COLUMNS, *axes))))
        for axis in dict.fromkeys(axes):
            along = dict(_along(axis, experiment, cells, samples))
            table[axis] = table[axis].astype(float).fillna(table["cell"].map(along))
        return table.astype({"size": "Int64", "terms": "Int64"}).assign(kernel=table["cell"].map(kernels))

    others = [metric for metric in drawn if metric not in shown]
    more = [row for cell in scored for row in rows(cell, others)]
    by_class = [
        metric
        for figure in experiment.figures
        if not experiment.by_class and "of_class" in (*figure.panel, figure.line, *figure.where)
        for metric in figure.y
        if metric in experiment.scorers
    ]
    for cell in (cell for cell in scored if cells[cell.id].outcome is not None and by_class):
        for position, name in enumerate(classes[cell.of_task]):
            of_class = cells[cell.id].of_class(position)
            more += _rows(replace(cell, of_class=name), of_class, samples[cell.id], dict.fromkeys(by_class))
    with ThreadPoolExecutor(jobs) as pool:  # mostly bootstrap sampling, which runs in parallel
        tables = [row for table in pool.map(lambda cell: rows(cell, shown), scored) for row in table]
    return frame(tables), frame([*more, *_points(experiment, measured)])


def _rows(cell: Cell, scores: CellScores, sample: SamplingModel, metrics: Iterable[str]) -> Iterator[Row]:
    """Yield for each metric of the cell a row for each split, and one for the cell."""
    had = [metric for metric in metrics if scores.has(metric)]
    # Split by split, since the metrics of one split share its bootstrap resamples.
    parts = [{m: sample.part(scores, m, i) for m in had if m not in scores.known} for i in range(len(scores.folds))]
    for metric in had:
        for estimates, fold, n, ties in zip(parts, scores.folds, scores.n, scores.ties, strict=False):
            if metric in estimates:
                part = estimates[metric]
                yield _row(cell, fold, metric, part.value, part.low, part.high, int(n), int(ties))
        all_of = sample.estimate(scores, metric)
        ends, ties = (all_of.value, all_of.low, all_of.high), int(scores.ties.sum())
        yield _row(cell, ALL_SPLITS, metric, *ends, all_of.n, ties)


def _row(cell: Cell, *numbers: Any) -> Row:
    """Return a row of the frame: the scores and the columns that describe the cell."""
    keys = {name: getattr(cell, name) for name in CELL_COLUMNS}
    return dict(zip(SCORE_COLUMNS, (cell.id, *numbers), strict=True)) | keys


def _along(
    axis: str, experiment: Experiment, cells: Mapping[str, CellScores], samples: Mapping[str, SamplingModel]
) -> Iterator[tuple[str, float]]:
    """Yield cells with their score or method parameter of an axis, infinite for methods without the parameter.

    Only variants that differ from the first in that parameter alone are included.
    """
    first = next(iter(experiment.variants.values()))
    alike = {name for name, each in experiment.variants.items() if _without(axis, each) == _without(axis, first)}
    for cell in experiment.cells:
        if cell.id in cells and cell.variant in alike and cell.what == "point":
            scores, parts = cells[cell.id], _parts(method_of(experiment, cell).candidates[0])
            at = {key: value for part in parts for key, value in part.resolved.items()}.get(axis)
            known = isinstance(at, int | float) and not isinstance(at, bool)
            value = float(at) if known and at is not None else math.inf
            yield cell.id, samples[cell.id].estimate(scores, axis).value if scores.has(axis) else value


def _kernel(experiment: Experiment, cell: Cell) -> str:
    """Return the name of the kernel of a cell's method, or of its feature map, or else of its classifier."""
    if cell.what == "diagnostic":
        return cell.method
    spec = method_of(experiment, cell).candidates[0]
    return (spec.kernel or spec.representation.features or spec.classifier).name


def _parts(spec: MethodSpec) -> list[Component]:
    return [part for part in (spec.representation.features, spec.classifier, spec.kernel) if part is not None]


def _without(axis: str, variant: Variant) -> tuple[Any, ...]:
    """Return the settings that decide the numbers of a variant, except one parameter of its methods."""
    entries = [
        (
            entry.label,
            {**spec.representation.resolved, "features": None},
            [part.resolved | {axis: None} for part in _parts(spec)],
        )
        for entry in variant.entries
        for spec in entry.candidates
    ]
    return (variant.collection, variant.tasks, variant.protocol.resolved, variant.sizes, variant.terms, entries)


def _points(experiment: Experiment, measured: Iterable[tuple[str, str, DiagnosticNumbers]]) -> Iterator[Row]:
    """Yield the rows of the lines that diagnostics draw; they have no intervals."""
    cells = {(cell.variant, cell.method, cell.of_class): cell for cell in experiment.cells if cell.what == "diagnostic"}
    for _, variant, each in measured:
        for point in each.points:
            cell = cells.get((variant, point.method, point.of_class))
            if cell is not None:
                row = _row(cell, ALL_SPLITS, point.metric, point.value, math.nan, math.nan, 0, 0)
                yield row | {point.axis: point.x}
