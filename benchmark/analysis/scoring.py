"""Scoring of every cell on every split, once, in one frame that tables, verdicts and figures read."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.costs import time_metrics
from benchmark.analysis.model_selection import select_candidates, selected_predictions, split_losses
from benchmark.analysis.score_rows import score_frames
from benchmark.config.model import ALL_CLASSES
from benchmark.config.subset import settings_of_cell
from benchmark.diagnostics.base import diagnostic_numbers
from benchmark.evaluation.cell_scores import CellScores
from benchmark.evaluation.metrics import TIME_METRICS
from benchmark.evaluation.outcomes import Outcome, outcome_scores
from benchmark.evaluation.sampling_model import sampling_of
from benchmark.evaluation.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from benchmark.analysis.recorded import RecordedNumbers
    from benchmark.config.model import Cell, Experiment
    from benchmark.diagnostics.base import DiagnosticNumbers
    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.predictions import Predictions, SettingKey, SplitKey, TaskKey


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
    recorded : RecordedNumbers or None
        Numbers that the folder of a finished run records; None for a run that computes these numbers itself.
    """

    experiment: Experiment
    predictions: Predictions
    failures: dict[str, str]
    facts: dict[str, dict[str, Any]]
    jobs: int = 1
    stored: Collection[SettingKey] = ()
    recorded: RecordedNumbers | None = None

    @cached_property
    def scored(self) -> ScoreTable:
        """Scores, computed once."""
        return score_cells(self.experiment, self.predictions, self.jobs, self.recorded, self.diagnostics)

    @cached_property
    def diagnostics(self) -> tuple[tuple[str, str, DiagnosticNumbers], ...]:
        """Numbers of the diagnostics, each with the names of the diagnostic and of the variant."""
        if self.recorded is not None:
            return self.recorded.diagnostics
        return tuple(diagnostic_numbers(self.experiment.diagnostics, self.predictions))

    @property
    def stored_cells(self) -> tuple[str, ...]:
        """Cells of methods that were read from the store."""
        known = set(self.stored)
        return tuple(cell.id for cell in self._of_methods if known.issuperset(settings_of_cell(self.experiment, cell)))

    @property
    def from_store(self) -> tuple[int, int]:
        """Number of cells that were read from the store, and number of all cells of methods."""
        return len(self.stored_cells) if self.stored else 0, len(self._of_methods)

    @property
    def _of_methods(self) -> list[Cell]:
        return [cell for cell in self.experiment.cells if cell.what != "diagnostic"]

    @property
    def tested(self) -> frozenset[tuple[str, ...]]:
        """Tested documents, by corpus and name."""
        corpora = {name: variant.collection.corpus for name, variant in self.experiment.variants.items()}
        return frozenset(
            (corpora[key.variant], self.predictions.tasks[key.of_task].ids[row])
            for key, splits in self.predictions.splits.items()
            for split in splits
            for row in split.test
        )


def score_cells(
    experiment: Experiment,
    predictions: Predictions,
    jobs: int = 1,
    recorded: RecordedNumbers | None = None,
    measured: Iterable[tuple[str, str, DiagnosticNumbers]] | None = None,
) -> ScoreTable:
    """Score every cell that has predictions, and add the diagnostics."""
    measured = tuple(diagnostic_numbers(experiment.diagnostics, predictions) if measured is None else measured)
    of_variant = {
        name: sampling_of(variant.protocol.tags, experiment.seed) for name, variant in experiment.variants.items()
    }
    samples = {cell.id: of_variant[cell.variant] for cell in experiment.cells}
    numbering, losses = _Numbering(predictions), cache(partial(split_losses, experiment, predictions))
    found: dict[str, CellScores] = {}
    choices: dict[str, NDArray[np.intp]] = {}
    points: dict[Cell, tuple[NDArray[np.intp], CellScores]] = {}
    for cell in experiment.cells:
        if cell.what == "point":
            whole = replace(cell, id="", of_class="")
            if whole not in points:
                own = None if recorded is None else recorded.chosen.get(cell.id)
                own = select_candidates(experiment, predictions, cell, losses) if own is None else own
                if own is None:
                    continue
                points[whole] = own, _point(experiment, predictions, numbering, whole, own)
            choices[cell.id], scores = points[whole]
            found[cell.id] = _with_recorded(_named(cell, scores, numbering), recorded)
    found |= _gains(experiment, found)
    for variant, each in _measured(experiment, measured):
        alike = [
            cell for cell in experiment.cells if (cell.variant, cell.method) == (variant, each.cell) and _has(cell)
        ]
        if not alike:
            samples.setdefault(each.cell, of_variant[variant])
            found[each.cell] = each
        for cell in alike:  # a method's number applies to all terms and classes
            if cell.what == "diagnostic":
                found[cell.id] = replace(each, cell=cell.id)
            elif cell.id in found and cell.terms is None and cell.of_class in ("", ALL_CLASSES):
                found[cell.id] = replace(found[cell.id], known={**found[cell.id].known, **each.known})
    cells = {cell.id: found[cell.id] for cell in experiment.cells if cell.id in found}
    cells |= found
    of_classes = {task: numbering.classes(task) for task in predictions.tasks}
    frames = partial(score_frames, experiment, measured, cells, samples, of_classes, jobs)
    return ScoreTable(cells, samples, choices, frames)


class _Numbering:
    """Integer codes of documents, classes and splits that agree between variants, so that their cells can be paired.

    Documents of two tasks get different codes, and are never paired.
    """

    def __init__(self, predictions: Predictions) -> None:
        self._predictions = predictions
        self._documents: dict[tuple[str, str], int] = {}
        self._folds: dict[str, int] = {}
        self._classes: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}
        self._tested: dict[SplitKey, tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]] = {}
        for (_, task), documents in predictions.tasks.items():
            self._classes.setdefault((task, frozenset(documents.classes)), documents.classes)
        self._ids = {
            key: np.array([self._documents.setdefault((key.task, name), len(self._documents)) for name in each.ids])
            for key, each in predictions.tasks.items()
        }

    def classes(self, key: TaskKey) -> tuple[str, ...]:
        """Return a task's classes, in the order of the first variant with the same classes."""
        return self._classes[key.task, frozenset(self._predictions.tasks[key].classes)]

    def tested(self, key: SplitKey) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]:
        """Return the codes of documents, splits and true classes of all tested documents, split after split."""
        if key not in self._tested:
            task, splits = self._predictions.tasks[key.of_task], self._predictions.splits[key]
            rows = np.concatenate([split.test for split in splits])
            numbers = [self._folds.setdefault(split.name, len(self._folds)) for split in splits]
            folds = np.repeat(np.array(numbers), [len(split.test) for split in splits])
            truth = self.renamed(key.of_task, task.truth[rows])
            self._tested[key] = self._ids[key.of_task][rows], folds, truth
        return self._tested[key]

    def renamed(self, key: TaskKey, decisions: NDArray[Any]) -> NDArray[Any]:
        """Return predictions recoded to the order of `classes`."""
        order = np.array([self.classes(key).index(name) for name in self._predictions.tasks[key].classes], np.int16)
        return decisions[:, np.argsort(order)] if decisions.ndim == 2 else order[decisions]


# --- Cells ---


def _point(
    experiment: Experiment, predictions: Predictions, numbering: _Numbering, cell: Cell, candidates: NDArray[np.intp]
) -> CellScores:
    """Return the scores of a cell on all classes together."""
    task, splits = predictions.tasks[cell.of_task], predictions.splits[cell.of_splits]
    found = selected_predictions(predictions, cell, candidates)
    documents, folds, truth = numbering.tested(cell.of_splits)
    predicted, tied = numbering.renamed(cell.of_task, found.predicted), found.tied
    if task.multilabel:  # ties of several classes are by class, too
        tied = numbering.renamed(cell.of_task, tied)
    k, known = len(task.classes), experiment.scorers
    values = None if found.values is None else numbering.renamed(cell.of_task, found.values)
    outcome = Outcome(cell.id, documents, folds, truth, predicted, k, tied=tied, known=known, values=values)
    return CellScores(
        cell.id,
        tuple(split.name for split in splits),
        outcome_scores(outcome) | time_metrics(experiment, cell, found, k if task.multilabel else 1),
        np.array([len(split.test) for split in splits]),
        outcome.ties(None),
        outcome,
    )


def _named(cell: Cell, scores: CellScores, numbering: _Numbering) -> CellScores:
    """Return the scores under the cell's name, restricted to its class if it has one."""
    if cell.of_class not in ("", ALL_CLASSES):
        scores = scores.of_class(numbering.classes(cell.of_task).index(cell.of_class))
    return scores.named(cell.id)


def _gains(experiment: Experiment, cells: Mapping[str, CellScores]) -> dict[str, CellScores]:
    """Return the gains of the last training size over the first, between draws of the same number."""
    points = {_curve(cell, cell.size): cell.id for cell in experiment.cells if cell.what == "point"}
    found = {}
    for cell in experiment.cells:
        if cell.what == "gain":
            sizes = experiment.variants[cell.variant].sizes
            ends = [points.get(_curve(cell, size)) for size in (sizes[-1], sizes[0])]
            last, first = (cells.get(end or "") for end in ends)
            if last is not None and first is not None and last.folds == first.folds:
                values = {
                    name: last.values[name] - first.values[name] for name in last.values if name not in TIME_METRICS
                }
                # A tie may change either score; the last size has the smaller test set.
                found[cell.id] = CellScores(cell.id, last.folds, values, last.n, last.ties + first.ties)
    return found


def _has(cell: Cell) -> bool:
    """Return whether a diagnostic's number may belong to a cell: a method's cell, or a diagnostic's row."""
    return cell.what == "point" or (cell.what == "diagnostic" and not cell.of_class)


def _curve(cell: Cell, size: int | None) -> tuple[Any, ...]:
    return (cell.variant, cell.task, cell.method, cell.of_class, cell.choice, cell.terms, size)


def _with_recorded(scores: CellScores, recorded: RecordedNumbers | None) -> CellScores:
    """Return the scores of a cell with the recorded scores of plug-in metrics."""
    known = None if recorded is None else recorded.estimates.get(scores.cell)
    if not known:
        return scores
    metrics = dict.fromkeys(metric for metric, _, _ in known)
    values = {metric: np.array([known[metric, fold, ""].value for fold in scores.folds]) for metric in metrics}
    return replace(scores, values={**scores.values, **values}, recorded=known)


def _measured(
    experiment: Experiment, measured: Iterable[tuple[str, str, DiagnosticNumbers]]
) -> Iterator[tuple[str, CellScores]]:
    """Yield the diagnostics as scores; numbers of the same name are metrics of one cell."""
    found: dict[tuple[str, str], dict[str, Estimate]] = defaultdict(dict)
    for _, variant, each in measured:
        for row in each.rows:
            if row.cell not in experiment.left_out:
                found[variant, row.cell][row.metric] = row.estimate
    for (variant, cell), known in found.items():
        n = next(iter(known.values())).n
        yield variant, CellScores(cell, (), {}, np.array([n]), np.zeros(1, dtype=np.int64), known=known)
