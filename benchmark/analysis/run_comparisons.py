"""Comparisons of finished runs: two cells of one run, or the common cells of two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.comparisons import main_metric, tested_metrics
from benchmark.analysis.document_predictions import document_predictions
from benchmark.analysis.formatting.terminal_table import TerminalTable
from benchmark.analysis.formatting.units import display_unit
from benchmark.evaluation.metrics import is_time_metric
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.analysis.document_predictions import DocumentPrediction
    from benchmark.analysis.formatting.units import Unit
    from benchmark.analysis.scoring import RunPredictions
    from benchmark.evaluation.score_table import ScoreTable


def compare_two_cells(run: RunPredictions, a: str, b: str) -> list[TerminalTable]:
    """Return the scores of two cells of a run, and every valid test of their difference.

    Raises
    ------
    ConfigError
        If a cell failed, or the cells were tested on different documents.
    """
    scored, tested = run.scored, tested_metrics(run.experiment)
    for name in (a, b):
        if name not in scored.cells:
            raise ConfigError(f"the cell {name!r} failed: {run.failures.get(name, 'it has no predictions')}")
    quantities = run.experiment.quantities
    shown = (metric for metric in (*tested, *quantities) if not is_time_metric(metric, quantities))
    metrics = [metric for metric in shown if scored.has(metric, a, b)]
    if not metrics:
        return [TerminalTable("Scores", (), [], f"{a} and {b} have no score in common")]
    try:
        scores = [_score_row(scored, metric, a, b, display_unit(metric, quantities)) for metric in metrics]
        tests = scored.tests(a, b, tested) if not set(metrics) <= quantities.keys() else []
    except ValueError as error:
        raise ConfigError(f"{error}: there is nothing to pair") from None
    rows: list[tuple[Any, ...]] = []
    for test in tests:
        p_value = test.note if test.p_value is None else f"{test.p_value:.3g}"
        rows.append((test.test, test.n, f"{test.statistic:.4f}", p_value, test.favours or "neither"))
    found = [TerminalTable("Scores", ("metric", a, b, "difference", "95% interval"), scores)]
    return [*found, TerminalTable("Tests", ("test", "n", "statistic", "p", "favours"), rows)] if rows else found


def compare_two_runs(one: RunPredictions, two: RunPredictions, names: tuple[str, str]) -> list[TerminalTable]:
    """Return the main scores of the cells common to two runs, and how many of their predictions differ."""
    metric, other = main_metric(one.experiment), main_metric(two.experiment)
    if metric != other:
        problem = f"the runs have different metrics, {metric} and {other}: nothing to compare"
        return [TerminalTable("Scores", (), [], problem)]
    unit, rows = display_unit(metric, one.experiment.quantities), list[tuple[Any, ...]]()
    others = {cell.id: cell for cell in two.experiment.cells}
    for cell in one.experiment.cells:
        if one.scored.has(metric, cell.id) and two.scored.has(metric, cell.id):
            values = [each.scored.estimate(cell.id, metric).value for each in (one, two)]
            changed = _changed(document_predictions(one, cell), document_predictions(two, others[cell.id]))
            rows.append((cell.id, *map(unit.text, values), unit.text(values[1] - values[0], "+"), *changed))
    shown = [f"{name} {unit.symbol}" for name in names]
    header = ("cell", *shown, "difference", "decisions in both", "decided otherwise")
    return [TerminalTable(metric.capitalize(), header, rows, "the runs have no cell in common")]


def _score_row(scored: ScoreTable, metric: str, a: str, b: str, unit: Unit) -> tuple[Any, ...]:
    gap, values = scored.difference(a, b, metric), [scored.estimate(name, metric).value for name in (a, b)]
    ends = f"{unit.text(gap.low, '+')} to {unit.text(gap.high, '+')}"
    head = f"{metric} {unit.symbol}".rstrip()
    return (head, *map(unit.text, values), unit.text(gap.value, "+"), ends if np.isfinite(gap.low) else "–")


def _changed(one: Iterable[DocumentPrediction], two: Iterable[DocumentPrediction]) -> tuple[int, int]:
    """Count the predictions, by split and document, that both runs have of a cell, and those that differ."""
    predicted, other = ({(each.fold, each.document): frozenset(each.given) for each in run} for run in (one, two))
    shared = predicted.keys() & other.keys()
    return len(shared), sum(predicted[key] != other[key] for key in shared)
