"""Numbers that a run folder records beside predictions, so that reports don't need the code that computed them.

These are the selected candidates, the estimates of plug-in metrics, and the values of diagnostics.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

from benchmark.analysis.predictions_file import decode_rows, encode_rows
from benchmark.diagnostics.base import CurvePoint, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from benchmark.config.model import Experiment
    from benchmark.evaluation.score_table import ScoreTable

#: Columns of the file; a value that a row doesn't have is missing.
_COLUMNS = (
    *("variant", "diagnostic", "cell", "of_class", "other", "split", "metric", "axis", "method", "interval"),
    *("x", "value", "low", "high", "n"),
)

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
    """Return the numbers that a run records: the scores and differences of plug-in metrics are among them."""
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
    return RecordedNumbers(scored.chosen, found, measured, notes)


def encode_estimates(recorded: RecordedNumbers) -> bytes:
    """Return the content of the file of numbers that are not computed from predictions."""
    return encode_rows(_rows(recorded), _COLUMNS)


def _rows(recorded: RecordedNumbers) -> Iterator[dict[str, Any]]:
    for cell, estimates in recorded.estimates.items():
        for (metric, split, other), estimate in estimates.items():
            yield {"cell": cell, "metric": metric, "split": split, "other": other, **_numbers(estimate)}
    for diagnostic, variant, each in recorded.diagnostics:
        of = {"variant": variant, "diagnostic": diagnostic}
        for row in each.rows:
            yield {**of, "cell": row.cell, "metric": row.metric, **_numbers(row.estimate)}
        yield from ({**of, **vars(point), "n": 0} for point in each.points)


def _numbers(estimate: Estimate) -> dict[str, Any]:
    ends = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return ends | {"n": estimate.n, "interval": estimate.method}


def decode_estimates(content: bytes, chosen: Mapping[str, NDArray[np.intp]], notes: tuple[str, ...]) -> RecordedNumbers:
    """Return the numbers that the file of estimates and the manifest record."""
    estimates: EstimatesByCell = {}
    measured: dict[tuple[str, str], tuple[list[DiagnosticRow], list[CurvePoint]]] = {}
    for row in decode_rows(content):
        estimate = Estimate(*(row[name] for name in ("value", "low", "high", "n", "interval")))
        if row["diagnostic"] is None:
            estimates.setdefault(row["cell"], {})[row["metric"], row["split"], row["other"]] = estimate
            continue
        numbers, points = measured.setdefault((row["diagnostic"], row["variant"]), ([], []))
        if row["axis"] is not None:
            points.append(CurvePoint(*(row[name] for name in CurvePoint.__dataclass_fields__)))
        else:
            numbers.append(DiagnosticRow(row["cell"], row["metric"], estimate))
    each = ((*key, DiagnosticNumbers(tuple(numbers), tuple(points))) for key, (numbers, points) in measured.items())
    return RecordedNumbers(chosen, estimates, tuple(each), notes)
