"""Scoring of every cell on every split, once, in one frame that tables, verdicts and figures read."""

from __future__ import annotations

import math
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmark.analysis.model_selection import select_candidates, selected_predictions, split_losses
from benchmark.config.cells import settings_of_cell
from benchmark.config.model import ALL_CLASSES, method_of
from benchmark.evaluation.metrics import TIME_METRICS, is_time_metric
from benchmark.evaluation.outcomes import ALL_SPLITS, CELL_COLUMNS, SCORE_COLUMNS, CellScores, Outcome, outcome_scores
from benchmark.evaluation.predictions import METHOD_TIMERS, TIMERS
from benchmark.evaluation.sampling_model import sampling_of
from benchmark.evaluation.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from benchmark.analysis.predictions_file import EstimatesByCell, Measured
    from benchmark.config.components import Component
    from benchmark.config.model import Cell, Experiment, MethodSpec, Variant
    from benchmark.evaluation.outcomes import Estimate
    from benchmark.evaluation.predictions import Predictions, SettingKey, SettingPredictions, SplitKey, TaskKey
    from benchmark.evaluation.sampling_model import SamplingModel

    Row = dict[str, Any]

_TESTING = METHOD_TIMERS.index("testing")


@dataclass(frozen=True, eq=False)
class RunPredictions:
    """Predictions of a run, with its failures and its data.

    Parameters
    ----------
    experiment : Experiment
    predictions : Predictions
    failures : dict of str to str
        Reason by setting, named as in `Cell` ids, or by diagnostic.
    facts : dict of str to dict
        Facts of the corpus that was run on, by variant.
    jobs : int
        Number of threads that compute intervals.
    stored : collection of SettingKey
        Settings that were read from the store.
    diagnostics : tuple of (diagnostic, variant, DiagnosticNumbers)
        Numbers of the diagnostics, each with the names of the diagnostic and of the variant.
    chosen : mapping of cell id to intp array, shape (splits,)
        Index of the candidate that each split uses, as the folder of a finished run records it.
    recorded : mapping of cell id to mapping
        Estimates of plug-in metrics, see `CellScores.recorded`; empty for a run that computes them itself.
    """

    experiment: Experiment
    predictions: Predictions
    failures: dict[str, str]
    facts: dict[str, dict[str, Any]]
    jobs: int = 1
    stored: Collection[SettingKey] = ()
    diagnostics: Measured = ()
    chosen: Mapping[str, NDArray[np.intp]] = field(default_factory=dict)
    recorded: EstimatesByCell = field(default_factory=dict)

    @cached_property
    def scored(self) -> ScoreTable:
        """Scores, computed once."""
        return _score_table(self)

    @cached_property
    def stored_cells(self) -> tuple[str, ...]:
        """Cells of methods that were read from the store."""
        known, cells = set(self.stored), [cell for cell in self.experiment.cells if cell.what != "diagnostic"]
        return tuple(cell.id for cell in cells if known.issuperset(settings_of_cell(self.experiment, cell)))


def _score_table(run: RunPredictions) -> ScoreTable:
    """Score every cell that has predictions, and add the diagnostics."""
    experiment, numbering = run.experiment, _Numbering(run.predictions)
    sampling = {name: sampling_of(each.protocol.tags, experiment.seed) for name, each in experiment.variants.items()}
    samples = {cell.id: sampling[cell.variant] for cell in experiment.cells}
    losses = cache(partial(split_losses, experiment, run.predictions))
    found: dict[str, CellScores] = {}
    choices: dict[str, NDArray[np.intp]] = {}
    of_all_classes: dict[Cell, tuple[NDArray[np.intp], CellScores]] = {}
    for cell in (cell for cell in experiment.cells if cell.what == "point"):
        whole = replace(cell, id="", of_class="")
        if whole not in of_all_classes:
            chosen = run.chosen.get(cell.id)
            chosen = select_candidates(experiment, run.predictions, cell, losses) if chosen is None else chosen
            if chosen is None:
                continue
            of_all_classes[whole] = chosen, _score_point(run, numbering, whole, chosen)
        choices[cell.id], scores = of_all_classes[whole]
        if cell.of_class not in ("", ALL_CLASSES):
            scores = scores.of_class(numbering.classes(cell.of_task).index(cell.of_class))
        known = run.recorded.get(cell.id, {})  # scores of plug-in metrics
        values = {metric: np.array([known[metric, fold, ""].value for fold in scores.folds]) for metric, *_ in known}
        found[cell.id] = replace(scores, values={**scores.values, **values}, recorded=known).named(cell.id)  # noqa: PD011
    found |= _gains(experiment, found)
    for variant, name in _add_diagnostics(run, found):
        samples.setdefault(name, sampling[variant])
    cells = {cell.id: found[cell.id] for cell in experiment.cells if cell.id in found} | found
    return ScoreTable(cells, samples, choices, partial(_score_frames, run, cells, samples, numbering.classes))


class _Numbering:
    """Integer codes of documents, classes and splits that agree between variants, so that their cells can be paired.

    Documents of two tasks get different codes, and are never paired.
    """

    def __init__(self, predictions: Predictions) -> None:
        self._predictions, self._classes = predictions, dict[tuple[str, frozenset[str]], tuple[str, ...]]()
        documents, self._folds = dict[tuple[str, str], int](), dict[str, int]()
        for (_, task), each in predictions.tasks.items():
            self._classes.setdefault((task, frozenset(each.classes)), each.classes)
        self._ids = {
            key: np.array([documents.setdefault((key.task, name), len(documents)) for name in each.ids])
            for key, each in predictions.tasks.items()
        }
        self.tested = cache(self._tested)

    def classes(self, key: TaskKey) -> tuple[str, ...]:
        """Return a task's classes, in the order of the first variant with the same classes."""
        return self._classes[key.task, frozenset(self._predictions.tasks[key].classes)]

    def _tested(self, key: SplitKey) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]:
        """Return the codes of documents, splits and true classes of all tested documents, split after split."""
        splits = self._predictions.splits[key]
        rows = np.concatenate([split.test for split in splits])
        codes = [self._folds.setdefault(split.name, len(self._folds)) for split in splits]
        folds = np.repeat(np.array(codes), [len(split.test) for split in splits])
        truth = self._predictions.tasks[key.of_task].truth[rows]
        return self._ids[key.of_task][rows], folds, self.recoded(key.of_task, truth)

    def recoded(self, key: TaskKey, labels: NDArray[Any]) -> NDArray[Any]:
        """Return codes or columns of classes in the order of `classes`."""
        order = np.array([self.classes(key).index(name) for name in self._predictions.tasks[key].classes], np.int16)
        return labels[:, np.argsort(order)] if labels.ndim == 2 else order[labels]


def _score_point(run: RunPredictions, numbering: _Numbering, cell: Cell, candidates: NDArray[np.intp]) -> CellScores:
    """Return the scores of a cell on all classes together."""
    task, splits = run.predictions.tasks[cell.of_task], run.predictions.splits[cell.of_splits]
    found, recoded = selected_predictions(run.predictions, cell, candidates), partial(numbering.recoded, cell.of_task)
    tied = recoded(found.tied) if task.multilabel else found.tied  # ties of several classes are by class, too
    k, values = len(task.classes), None if found.values is None else recoded(found.values)  # noqa: PD011 - not a frame's
    known, tested = run.experiment.scorers, numbering.tested(cell.of_splits)
    outcome = Outcome(cell.id, *tested, recoded(found.predicted), k, tied=tied, known=known, values=values)
    scores = outcome_scores(outcome) | time_metrics(run.experiment, cell, found, k if task.multilabel else 1)
    sizes = np.array([len(split.test) for split in splits])
    return CellScores(cell.id, tuple(split.name for split in splits), scores, sizes, outcome.ties(None), outcome)


def time_metrics(
    experiment: Experiment, cell: Cell, found: SettingPredictions, n_classifiers: int
) -> dict[str, NDArray[np.float64]]:
    """Return the seconds of every split, by metric of `TIME_METRICS`.

    "seconds" is the time to train one classifier, including its kernel matrix and excluding feature extraction. Where
    each class has a binary classifier, these share what doesn't depend on the class: the inner products, which count
    whole, and as a rule one kernel matrix. Their training counts as if they had been trained one by one, as those of
    HP-TOP are. "seconds-with-features" adds the extraction. "seconds-in-all" is everything but testing, for all
    classifiers, as they were trained.

    Parameters
    ----------
    experiment : Experiment
    cell : Cell
    found : SettingPredictions
        Predictions of the cell; their seconds are those of all binary classifiers.
    n_classifiers : int
        Number of binary classifiers; 1 for a method that predicts one class per document.
    """
    kernel = method_of(experiment, cell).candidates[0].kernel
    matrices = n_classifiers if kernel is not None and kernel.tags.solved_by == "targets" else 1
    part = dict(zip(TIMERS, found.seconds.T, strict=True))
    training = np.where(part["machines"] > 0, part["machines"], part["training"])
    seconds = np.asarray(part["products"] + part["kernel"] / matrices + training / n_classifiers)
    return {
        "seconds": seconds,
        "seconds-with-features": seconds + part["extraction"],
        "seconds-in-all": np.asarray(np.delete(found.seconds[:, : len(METHOD_TIMERS)], _TESTING, axis=1).sum(axis=1)),
    }


def _gains(experiment: Experiment, cells: Mapping[str, CellScores]) -> dict[str, CellScores]:
    """Return the gains of the last training size over the first, between draws of the same number."""

    def at(cell: Cell, size: int | None) -> Cell:
        return replace(cell, id="", what="point", size=size)

    points = {at(cell, cell.size): cells.get(cell.id) for cell in experiment.cells if cell.what == "point"}
    found = {}
    for cell in (cell for cell in experiment.cells if cell.what == "gain"):
        sizes = experiment.variants[cell.variant].sizes
        last, first = (points.get(at(cell, size)) for size in (sizes[-1], sizes[0]))
        if last is not None and first is not None and last.folds == first.folds:
            ends = last.values, first.values  # noqa: PD011 - not a frame's
            values = {name: ends[0][name] - ends[1][name] for name in ends[0] if name not in TIME_METRICS}
            # A tie may change either score; the last size has the smaller test set.
            found[cell.id] = CellScores(cell.id, last.folds, values, last.n, last.ties + first.ties)
    return found


def _add_diagnostics(run: RunPredictions, found: dict[str, CellScores]) -> Iterator[tuple[str, str]]:
    """Add the numbers of diagnostics to the scores of cells; yield variant and name of those that are of no cell.

    Numbers of the same name are metrics of one cell; those of a method apply to all its terms and classes.
    """
    known: dict[tuple[str, str], dict[str, Estimate]] = defaultdict(dict)
    for _, variant, each in run.diagnostics:
        for row in (row for row in each.rows if row.cell not in run.experiment.left_out):
            known[variant, row.cell][row.metric] = row.estimate
    for (variant, name), estimates in known.items():
        n = next(iter(estimates.values())).n
        scores = CellScores(name, (), {}, np.array([n]), np.zeros(1, dtype=np.int64), known=estimates)
        of_method = [cell for cell in run.experiment.cells if (cell.variant, cell.method) == (variant, name)]
        own = [cell.id for cell in of_method if cell.what == "diagnostic" and not cell.of_class]
        points = [cell for cell in of_method if cell.what == "point"]
        found |= {cell: replace(scores, cell=cell) for cell in own}
        if not own and not points:
            found[name] = scores
            yield variant, name
        for cell in points:
            if cell.id in found and cell.terms is None and cell.of_class in ("", ALL_CLASSES):
                found[cell.id] = replace(found[cell.id], known={**found[cell.id].known, **estimates})


def _score_frames(
    run: RunPredictions,
    cells: Mapping[str, CellScores],
    samples: Mapping[str, SamplingModel],
    classes: Callable[[TaskKey], tuple[str, ...]],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the frame of tables, and that of figures alone: times, other metrics, single classes, curves' points.

    An axis of a figure that is a parameter or a score is a column of both. `classes` has the classes of a task in the
    order of the outcomes' codes.
    """
    experiment = run.experiment
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
        for position, name in enumerate(classes(cell.of_task)):
            of_class = cells[cell.id].of_class(position)
            more += _rows(replace(cell, of_class=name), of_class, samples[cell.id], dict.fromkeys(by_class))
    with ThreadPoolExecutor(run.jobs) as pool:  # mostly bootstrap sampling, which runs in parallel
        tables = [row for table in pool.map(lambda cell: rows(cell, shown), scored) for row in table]
    return frame(tables), frame([*more, *_points(run)])


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
            value = float(at) if isinstance(at, int | float) and not isinstance(at, bool) else math.inf
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
    entries = list[tuple[Any, ...]]()
    for label, spec in ((entry.label, spec) for entry in variant.entries for spec in entry.candidates):
        parts = [part.resolved | {axis: None} for part in _parts(spec)]
        entries.append((label, spec.representation.resolved | {"features": None}, parts))
    return (variant.collection, variant.tasks, variant.protocol.resolved, variant.sizes, variant.terms, entries)


def _points(run: RunPredictions) -> Iterator[Row]:
    """Yield the rows of the lines that diagnostics draw; they have no intervals."""
    of_diagnostics = (cell for cell in run.experiment.cells if cell.what == "diagnostic")
    cells = {(cell.variant, cell.method, cell.of_class): cell for cell in of_diagnostics}
    for _, variant, each in run.diagnostics:
        for point in each.points:
            cell = cells.get((variant, point.method, point.of_class))
            if cell is not None:
                row = _row(cell, ALL_SPLITS, point.metric, point.value, math.nan, math.nan, 0, 0)
                yield row | {point.axis: point.x}
