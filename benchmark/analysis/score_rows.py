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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.config.components import Component
    from benchmark.config.model import Cell, Experiment, MethodSpec, Variant
    from benchmark.diagnostics.base import DiagnosticNumbers
    from benchmark.evaluation.cell_scores import CellScores
    from benchmark.evaluation.predictions import TaskKey
    from benchmark.evaluation.sampling_model import SamplingModel

    Row = dict[str, Any]

#: Axes that are columns of the frame; any other axis of a figure is a parameter of its methods or a score.
_AXES = ("size", "terms")


def score_frames(
    experiment: Experiment,
    measured: Iterable[tuple[str, str, DiagnosticNumbers]],
    cells: Mapping[str, CellScores],
    samples: Mapping[str, SamplingModel],
    classes: Mapping[TaskKey, tuple[str, ...]],
    jobs: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the frame of tables, and that of figures alone: times, other metrics, single classes, other axes.

    Parameters
    ----------
    experiment : Experiment
    measured : iterable of (diagnostic, variant, DiagnosticNumbers)
    cells, samples : mappings of cell id to CellScores and to Sample
    classes : mapping of (variant, task) to tuple of str
        Classes in the order of the outcomes' codes.
    jobs : int
        Number of threads.
    """

    def rows(cell: Cell, metrics: Iterable[str]) -> Iterator[Row]:
        return _rows(cell, cells.get(cell.id), samples[cell.id], metrics)

    quantities = experiment.quantities
    shown = [metric for metric in (*experiment.metrics, *quantities) if not is_time_metric(metric, quantities)]
    drawn = list(dict.fromkeys(metric for figure in experiment.figures for metric in figure.y))
    axes = list(dict.fromkeys(figure.x for figure in experiment.figures if figure.x and figure.x not in _AXES))
    more = [row for cell in experiment.cells for row in rows(cell, [metric for metric in drawn if metric not in shown])]
    for metric in drawn:
        for cell in experiment.cells if _by_class(experiment, metric) else ():
            scores = cells.get(cell.id)
            if scores is not None and scores.outcome is not None:
                for position, name in enumerate(classes[cell.of_task]):
                    of_class = replace(cell, of_class=name)
                    more += _rows(of_class, scores.of_class(position), samples[cell.id], [metric])
    for axis in axes:
        along = _along(axis, experiment, cells, samples)
        more += [row | {axis: value} for cell, value in along for row in rows(cell, drawn)]
    with ThreadPoolExecutor(jobs) as pool:  # mostly bootstrap sampling, which runs in parallel
        tables = [row for own in pool.map(lambda cell: list(rows(cell, shown)), experiment.cells) for row in own]
    kernels = {cell.id: _kernel(experiment, cell) for cell in experiment.cells}
    return _frame(tables, kernels), _frame([*more, *_measured(experiment, measured)], kernels, axes)


def _rows(cell: Cell, scores: CellScores | None, sample: SamplingModel, metrics: Iterable[str]) -> Iterator[Row]:
    """Yield for each metric of the cell a row for each split, and one for the cell."""
    if scores is None:
        return
    had = [metric for metric in metrics if scores.has(metric)]
    # Split by split, since the metrics of one split share its bootstrap resamples.
    parts = [{m: sample.part(scores, m, i) for m in had if m not in scores.known} for i in range(len(scores.folds))]
    whole = {metric: sample.estimate(scores, metric) for metric in had}
    for metric in had:
        for position, own in enumerate(parts if metric not in scores.known else ()):
            part, n, ties = own[metric], int(scores.n[position]), int(scores.ties[position])
            yield _row(cell, scores.folds[position], metric, (part.value, part.low, part.high, n, ties))
        all_of = whole[metric]
        yield _row(cell, ALL_SPLITS, metric, (all_of.value, all_of.low, all_of.high, all_of.n, int(scores.ties.sum())))


def _frame(rows: list[Row], kernels: Mapping[str, str], axes: Sequence[str] = ()) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=[*SCORE_COLUMNS, *CELL_COLUMNS, *axes])
    return table.astype({"size": "Int64", "terms": "Int64"}).assign(kernel=table["cell"].map(kernels))


def _row(cell: Cell, fold: str, metric: str, numbers: tuple[float, float, float, int, int]) -> Row:
    """Return a row of the frame: the scores and the columns that describe the cell."""
    keys = {name: getattr(cell, name) for name in CELL_COLUMNS}
    return dict(zip(SCORE_COLUMNS, (cell.id, fold, metric, *numbers), strict=True)) | keys


def _by_class(experiment: Experiment, metric: str) -> bool:
    """Return whether a figure shows single classes of an experiment whose cells pool all classes."""
    figures = (figure for figure in experiment.figures if metric in figure.y)
    named = (column for figure in figures for column in (*figure.panel, figure.line, *figure.where))
    return not experiment.by_class and metric in experiment.scorers and "of_class" in named


def _along(
    axis: str, experiment: Experiment, cells: Mapping[str, CellScores], samples: Mapping[str, SamplingModel]
) -> Iterator[tuple[Cell, float]]:
    """Yield cells with their score or method parameter of an axis, infinite for methods without the parameter.

    Only variants that differ from the first in that parameter alone are included.
    """
    first = next(iter(experiment.variants.values()))
    alike = {name for name, each in experiment.variants.items() if _without(axis, each) == _without(axis, first)}
    for cell in experiment.cells:
        scores = cells.get(cell.id)
        if scores is not None and cell.variant in alike and cell.what == "point":
            has = scores.has(axis)
            yield cell, samples[cell.id].estimate(scores, axis).value if has else _parameter(axis, experiment, cell)


def _parameter(axis: str, experiment: Experiment, cell: Cell) -> float:
    found = {
        key: value for part in _parts(method_of(experiment, cell).candidates[0]) for key, value in part.resolved.items()
    }
    value = found.get(axis)
    return math.inf if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


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
            *({**each.resolved, axis: None} for each in _parts(spec)),
        )
        for entry in variant.entries
        for spec in entry.candidates
    ]
    return (variant.collection, variant.tasks, variant.protocol.resolved, variant.sizes, variant.terms, entries)


def _measured(experiment: Experiment, measured: Iterable[tuple[str, str, DiagnosticNumbers]]) -> Iterator[Row]:
    """Yield the rows of the lines that diagnostics draw; they have no intervals."""
    cells = {(cell.variant, cell.method, cell.of_class): cell for cell in experiment.cells if cell.what == "diagnostic"}
    for _, variant, each in measured:
        for point in each.points:
            cell = cells.get((variant, point.method, point.of_class))
            if cell is not None:
                yield _row(cell, ALL_SPLITS, point.metric, (point.value, math.nan, math.nan, 0, 0)) | {
                    point.axis: point.x
                }
