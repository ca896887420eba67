"""Numbers that a run folder records beside predictions, so that reports don't need the code that computed them.

These are the selected candidates, the estimates of plug-in metrics, and the values of diagnostics.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.diagnostics.base import CurvePoint, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from benchmark.config.model import Experiment
    from benchmark.evaluation.score_table import ScoreTable

#: Text and number columns of the table of recorded numbers; a text that doesn't apply is "".
RECORD_TEXT_COLUMNS = ("variant", "diagnostic", "cell", "of_class", "other", "split", "metric", "axis", "method")
RECORD_NUMBER_COLUMNS = ("x", "value", "low", "high")

#: Estimates by cell, then by (metric, fold, other cell), see `CellScores.recorded`.
EstimatesByCell = dict[str, dict[tuple[str, str, str], Estimate]]


@dataclass(frozen=True, eq=False)
class RecordedNumbers:
    """Numbers of a run that can't be computed from its predictions by this package alone.

    Parameters
    ----------
    chosen : mapping of cell id to intp array, shape (splits,)
        Index of the candidate that each split uses.
    estimates : mapping of cell id to mapping
        Estimates of plug-in metrics, see `CellScores.recorded`.
    diagnostics : sequence of (diagnostic, variant, DiagnosticNumbers)
        Values of the diagnostics.
    notes : tuple of str
        Notes on the diagnostics.
    """

    chosen: Mapping[str, NDArray[np.intp]]
    estimates: EstimatesByCell
    diagnostics: tuple[tuple[str, str, DiagnosticNumbers], ...]
    notes: tuple[str, ...] = field(default=())


def record_numbers(
    experiment: Experiment,
    scored: ScoreTable,
    measured: tuple[tuple[str, str, DiagnosticNumbers], ...],
    notes: tuple[str, ...],
) -> RecordedNumbers:
    """Return the numbers that a run records."""
    return RecordedNumbers(scored.chosen, _of_plugins(experiment, scored), measured, notes)


def _of_plugins(experiment: Experiment, scored: ScoreTable) -> EstimatesByCell:
    """Return the scores and differences of plug-in metrics."""
    found: EstimatesByCell = {}
    metrics = [name for name in experiment.scorers if name not in METRICS]
    for metric, (name, scores) in product(metrics, scored.cells.items()):
        if metric in scores.values:
            known, sample = found.setdefault(name, {}), scored.samples[name]
            known[metric, ALL_SPLITS, ""] = sample.estimate(scores, metric)
            for position, fold in enumerate(scores.folds):
                known[metric, fold, ""] = sample.part(scores, metric, position)
    for metric, pair in product(metrics, experiment.compare):
        if scored.has(metric, pair.a, pair.b):
            try:
                found[pair.a][metric, ALL_SPLITS, pair.b] = scored.difference(pair.a, pair.b, metric)
            except ValueError:  # the cells can't be paired, as a note states
                continue
    return found


def rows_from_record(recorded: RecordedNumbers) -> list[dict[str, Any]]:
    """Return estimates and diagnostics as rows: text columns, number columns, n and kind of interval."""
    return [
        dict.fromkeys(RECORD_TEXT_COLUMNS, "") | dict.fromkeys(RECORD_NUMBER_COLUMNS, np.nan) | row
        for row in _rows(recorded)
    ]


def _rows(recorded: RecordedNumbers) -> Iterator[dict[str, Any]]:
    for cell, estimates in recorded.estimates.items():
        for (metric, split, other), estimate in estimates.items():
            yield {"cell": cell, "metric": metric, "split": split, "other": other, **_numbers(estimate)}
    for diagnostic, variant, each in recorded.diagnostics:
        of = {"variant": variant, "diagnostic": diagnostic}
        for row in each.rows:
            yield {**of, "cell": row.cell, "metric": row.metric, **_numbers(row.estimate)}
        for point in each.points:
            names = {"axis": point.axis, "method": point.method, "of_class": point.of_class, "metric": point.metric}
            yield {**of, **names, "x": point.x, "value": point.value, "n": 0, "interval": ""}


def _numbers(estimate: Estimate) -> dict[str, Any]:
    ends = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return ends | {"n": estimate.n, "interval": estimate.method}


def record_from_rows(
    rows: list[dict[str, Any]], chosen: Mapping[str, NDArray[np.intp]], notes: tuple[str, ...]
) -> RecordedNumbers:
    """Return the numbers that the rows of a run folder record."""
    estimates: EstimatesByCell = {}
    measured: dict[tuple[str, str], tuple[list[DiagnosticRow], list[CurvePoint]]] = {}
    for row in rows:
        estimate = Estimate(row["value"], row["low"], row["high"], row["n"], row["interval"])
        if not row["diagnostic"]:
            estimates.setdefault(row["cell"], {})[row["metric"], row["split"], row["other"]] = estimate
            continue
        numbers, points = measured.setdefault((row["diagnostic"], row["variant"]), ([], []))
        if row["axis"]:
            values = (row[name] for name in ("axis", "x", "method", "of_class", "metric", "value"))
            points.append(CurvePoint(*values))
        else:
            numbers.append(DiagnosticRow(row["cell"], row["metric"], estimate))
    each = ((*key, DiagnosticNumbers(tuple(numbers), tuple(points))) for key, (numbers, points) in measured.items())
    return RecordedNumbers(chosen, estimates, tuple(each), notes)
