"""Comparisons of finished runs: two cells of one run, or the common cells of two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import main_metric, tested_metrics
from benchmark.analysis.document_predictions import document_predictions
from benchmark.analysis.formatting.labels import label_cells
from benchmark.analysis.formatting.number_text import is_missing, number_text, p_text
from benchmark.analysis.formatting.terminal_table import TerminalTable
from benchmark.analysis.formatting.units import capitalized, display_unit, metric_name, metric_with_unit
from benchmark.analysis.notes import corpus_in_words
from benchmark.analysis.prose.main_finding import TEST_NAMES_IN_WORDS
from benchmark.analysis.summary import DIFFERENCES, SIGNIFICANCE, Summary, minimized_metrics, summary_table
from benchmark.evaluation.cell_scores import ALL_SPLITS, SCORE_COLUMNS
from benchmark.evaluation.metrics import is_time_metric
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmark.analysis.document_predictions import DocumentPrediction
    from benchmark.analysis.formatting.units import DeclaredMetrics
    from benchmark.analysis.scoring import RunPredictions
    from benchmark.evaluation.score_table import ScoreTable

_SCORE_NUMBERS = ("value", "low", "high", "n", "ties")


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
        scores = [_score_row(scored, metric, a, b, quantities) for metric in metrics]
        tests = scored.tests(a, b, tested) if not set(metrics) <= quantities.keys() else []
    except ValueError as error:
        raise ConfigError(f"{error}: there is nothing to pair") from None
    rows: list[tuple[Any, ...]] = []
    for test in tests:
        name = TEST_NAMES_IN_WORDS.get(test.test, test.test).removeprefix("the ")
        p_value = test.note if test.p_value is None else p_text(test.p_value)
        rows.append((name, test.n, number_text(test.statistic, 4), p_value, test.favours or "neither"))
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
    header = ("cell", *shown, "difference", "predictions of both", "different")
    title = capitalized(metric_name(metric, one.experiment.quantities))
    return [TerminalTable(title, header, rows, "the runs have no cell in common")]


def agreement_sentence(one: RunPredictions, two: RunPredictions, names: tuple[str, str]) -> str:
    """Write how many cells two runs share, how far these agree, and how many cells only one of the runs has."""
    ids = [set(run.experiment.ids) for run in (one, two)]
    alone = [f"{len(own - other)} only in {name}" for own, other, name in zip(ids, ids[::-1], names, strict=True)]
    alone = [text for text in alone if not text.startswith("0 ")]
    if main_metric(one.experiment) != main_metric(two.experiment) or ids[0].isdisjoint(ids[1]):
        return f"The runs have no score of the same cell in common: {len(ids[0])} and {len(ids[1])} cells."
    rows = [each for each in cell_agreements(one, two) if each.cell in ids[0] & ids[1]]
    same = sum(not each.other_predictions for each in rows)
    text = f"{same or 'None'} of the {len(rows)} cells that both runs have agree in every prediction"
    if len(rows) == 1:
        how = "agrees in every prediction" if same else "differs in some predictions"
        text = f"The one cell that both runs have {how}"
    unit = display_unit(main_metric(one.experiment), one.experiment.quantities)
    gaps = {row.cell: b - a for row in rows for a, b in [row.values] if a is not None and b is not None}
    widest = max(gaps, key=lambda cell: abs(gaps[cell]), default="")
    if widest and gaps[widest]:
        points = " points" if unit.name == "percent" else ""
        text += f"; the largest difference is {unit.text(gaps[widest], '+')}{points} ({widest})"
    return f"{'; '.join([text, *alone])}."


def pair_summary(run: RunPredictions, a: str, b: str) -> Summary:
    """Return the summary of a run that compares two of its cells and nothing else."""
    scored, metric = run.scored, main_metric(run.experiment)
    infos = [info for info in label_cells(run.experiment, scored, None) if info.id in (a, b)]
    frame = scored.frame[scored.frame["cell"].isin((a, b)) & (scored.frame["metric"] == metric)]
    gap = scored.difference(a, b, metric)
    tests = [
        [t.a, t.b, t.test, t.n, t.statistic, t.p_value, t.p_value, 1, t.note] for t in scored.tests(a, b, [metric])
    ]
    return Summary(
        name=run.experiment.name,
        title=run.experiment.title,
        paper=None,
        cells=tuple(sorted(infos, key=lambda info: info.id != a)),
        scores=frame[list(SCORE_COLUMNS)],
        differences=summary_table(DIFFERENCES, [[a, b, gap.value, gap.low, gap.high, gap.n]]),
        significance=summary_table(SIGNIFICANCE, tests),
        corpus=corpus_in_words(run.experiment),
        minimized=minimized_metrics(run.experiment),
        quantities=run.experiment.declared,
    )


@dataclass(frozen=True)
class CellAgreement:
    """How far two runs agree on a cell.

    Parameters
    ----------
    cell : str
    predictions, other_predictions : int
        Predictions by split and document that either run has, and those that differ or that one run lacks.
    numbers, other_numbers : int
        Numbers of the score frame that either run has, seconds left out, and those that differ in 12 digits, or that
        one run lacks.
    values : tuple of (float or None)
        Main score in the first and the second run, as a number of the score frame.
    """

    cell: str
    predictions: int
    other_predictions: int
    numbers: int
    other_numbers: int
    values: tuple[float | None, float | None]


def cell_agreements(one: RunPredictions, two: RunPredictions) -> list[CellAgreement]:
    """Return the agreement of two runs on each cell that either of them has."""
    metric = main_metric(one.experiment)
    numbers = [_numbers(run) for run in (one, two)]
    cells = [{cell.id: cell for cell in run.experiment.cells} for run in (one, two)]
    found = []
    for name in dict.fromkeys([*cells[0], *cells[1]]):
        predicted = [
            _predicted(document_predictions(run, own[name])) if name in own else {}
            for run, own in zip((one, two), cells, strict=True)
        ]
        rows = [own.get(name, {}) for own in numbers]
        values = [own.get((ALL_SPLITS, metric, "value")) for own in rows]
        found.append(
            CellAgreement(name, *_unlike(*predicted), *_unlike(*rows), (_number(values[0]), _number(values[1])))
        )
    return found


def _numbers(run: RunPredictions) -> dict[str, dict[tuple[str, str, str], str]]:
    """Return the numbers of each cell by fold, metric and column, with the digits that files have; none is a time."""
    found: dict[str, dict[tuple[str, str, str], str]] = {}
    for row in run.scored.frame.to_dict("records"):
        own = found.setdefault(str(row["cell"]), {})
        texts = {key: "" if is_missing(row[key]) else f"{row[key]:.12g}" for key in _SCORE_NUMBERS}
        own |= {(str(row["fold"]), str(row["metric"]), key): text for key, text in texts.items()}
    return found


def _number(text: str | None) -> float | None:
    return float(text) if text else None


def _unlike(one: dict[Any, Any], two: dict[Any, Any]) -> tuple[int, int]:
    """Count the keys of either mapping, and those whose values differ or that one of them lacks."""
    keys = one.keys() | two.keys()
    return len(keys), sum(key not in one or key not in two or one[key] != two[key] for key in keys)


def _predicted(cell: Iterable[DocumentPrediction]) -> dict[tuple[str, str], frozenset[str]]:
    """Return the predicted classes of a cell by split and document."""
    return {(each.fold, each.document): frozenset(each.given) for each in cell}


def _score_row(scored: ScoreTable, metric: str, a: str, b: str, declared: DeclaredMetrics) -> tuple[Any, ...]:
    unit = display_unit(metric, declared)
    gap, values = scored.difference(a, b, metric), [scored.estimate(name, metric).value for name in (a, b)]
    head = metric_with_unit(metric, unit, declared)
    return (head, *map(unit.text, values), unit.text(gap.value, "+"), unit.interval(gap.low, gap.high, "+"))


def _changed(one: Iterable[DocumentPrediction], two: Iterable[DocumentPrediction]) -> tuple[int, int]:
    """Count the predictions, by split and document, that both runs have of a cell, and those that differ."""
    predicted, other = _predicted(one), _predicted(two)
    shared = predicted.keys() & other.keys()
    return len(shared), sum(predicted[key] != other[key] for key in shared)
