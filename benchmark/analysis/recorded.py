"""Numbers that a run folder records beside predictions, so that reports don't need the code that computed them.

These are the selected candidates, the estimates of plug-in metrics, and the values of diagnostics.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from benchmark.analysis.predictions_file import decode_table, encode_rows
from benchmark.diagnostics.base import CurvePoint, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.cell_scores import ALL_SPLITS
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.metrics import METRICS
from benchmark.evaluation.predictions import ESTIMATES_TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from benchmark.config.model import Experiment
    from benchmark.evaluation.score_table import ScoreTable

_TEXTS = ("variant", "diagnostic", "cell", "of_class", "other", "split", "metric", "axis", "method", "interval")
#: Columns of the file; a value that a row doesn't have is missing.
_SCHEMA = pa.schema(
    dict.fromkeys(_TEXTS, pa.string()) | dict.fromkeys(("x", "value", "low", "high"), pa.float64()) | {"n": pa.int64()}
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


def encode_estimates(recorded: RecordedNumbers) -> bytes:
    """Return the content of the file of numbers that are not computed from predictions."""
    return encode_rows(_rows(recorded), _SCHEMA)


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
    """Return the numbers that the file of estimates and the manifest record.

    Raises
    ------
    ValueError
        If the file is damaged.
    """
    estimates: EstimatesByCell = {}
    measured: dict[tuple[str, str], tuple[list[DiagnosticRow], list[CurvePoint]]] = {}
    try:
        for row in decode_table(content).to_pylist():
            row |= {name: row[name] or "" for name in _TEXTS}
            estimate = Estimate(row["value"], row["low"], row["high"], row["n"], row["interval"])
            if not row["diagnostic"]:
                estimates.setdefault(row["cell"], {})[row["metric"], row["split"], row["other"]] = estimate
                continue
            numbers, points = measured.setdefault((row["diagnostic"], row["variant"]), ([], []))
            if row["axis"]:
                points.append(CurvePoint(*(row[name] for name in CurvePoint.__dataclass_fields__)))
            else:
                numbers.append(DiagnosticRow(row["cell"], row["metric"], estimate))
    except (pa.ArrowException, KeyError, TypeError) as error:
        raise ValueError(f"{ESTIMATES_TABLE} can't be read: {error}") from None
    each = ((*key, DiagnosticNumbers(tuple(numbers), tuple(points))) for key, (numbers, points) in measured.items())
    return RecordedNumbers(chosen, estimates, tuple(each), notes)
