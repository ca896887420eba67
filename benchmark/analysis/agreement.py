"""Agreement of two sets of predictions, of two runs, and of two cells of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from benchmark.analysis.comparisons import SPOKEN_TESTS, main_metric, tested_metrics
from benchmark.analysis.document_predictions import document_predictions
from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import capitalized, display_unit, metric_name, metric_with_unit, p_text
from benchmark.analysis.summarize import summarize
from benchmark.config.model import ComparedPair
from benchmark.evaluation.metrics import is_time_metric
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.analysis.summary import Summary
    from benchmark.config.model import Cell

    #: Predicted classes by split and document.
    Labels = Mapping[tuple[str, str], frozenset[str]]


@dataclass(frozen=True)
class Agreement:
    """How far two sets of predictions agree.

    Parameters
    ----------
    shared : int
        Predictions that both sets have.
    differing : tuple of (str, str)
        Splits and documents whose predicted classes differ.
    alone : tuple of (str, str)
        Splits and documents of which only one set has a prediction.
    """

    shared: int
    differing: tuple[tuple[str, str], ...]
    alone: tuple[tuple[str, str], ...] = ()

    @property
    def equal(self) -> bool:
        """Whether no prediction differs, and neither set has one that the other lacks."""
        return not self.differing and not self.alone


def agreement(a: Labels, b: Labels) -> Agreement:
    """Return how far two sets of predictions agree."""
    shared = [key for key in a if key in b]
    alone = (*(key for key in a if key not in b), *(key for key in b if key not in a))
    return Agreement(len(shared), tuple(key for key in shared if a[key] != b[key]), alone)


def predicted_classes(run: RunPredictions, cell: Cell | None, *, ties: bool = True) -> Labels:
    """Return the predictions of a cell, nothing for None; `ties` says whether to include those that a tie decided."""
    found = document_predictions(run, cell) if cell is not None else ()
    return {(each.fold, each.document): frozenset(each.predicted) for each in found if ties or not each.tied}


def run_agreements(one: RunPredictions, two: RunPredictions) -> dict[str, Agreement]:
    """Return the agreement of two runs on each cell that either of them has."""
    cells = [{cell.id: cell for cell in run.experiment.cells} for run in (one, two)]
    return {
        name: agreement(predicted_classes(one, cells[0].get(name)), predicted_classes(two, cells[1].get(name)))
        for name in dict.fromkeys([*cells[0], *cells[1]])
    }


def compare_two_runs(
    one: RunPredictions, two: RunPredictions, names: tuple[str, str], found: Mapping[str, Agreement]
) -> tuple[str, Table]:
    """Return how far two runs agree in one sentence, and the main scores of the cells that both have."""
    metric, quantities = main_metric(one.experiment), one.experiment.quantities
    unit, ids = display_unit(metric, quantities), [set(run.experiment.ids) for run in (one, two)]
    common = [cell for cell in found if cell in ids[0] & ids[1]]
    rows = list[tuple[Any, ...]]()
    for cell in (cell for cell in common if one.scored.has(metric, cell) and two.scored.has(metric, cell)):
        a, b = (run.scored.estimate(cell, metric).value for run in (one, two))
        rows.append((cell, a, b, b - a, found[cell].shared, len(found[cell].differing)))
    sentences = [f"{sum(found[cell].equal for cell in common)} of {len(common)} common cells agree in every prediction"]
    widest = max(rows, key=lambda row: abs(row[3]), default=("", 0, 0, 0))
    if widest[3]:
        sentences.append(f"the largest difference is {unit.ends([widest[3]])} ({widest[0]})")
    for ids_of, other, name in zip(ids, ids[::-1], names, strict=True):
        sentences += [f"{len(ids_of - other)} only in {name}"] if ids_of - other else []
    scores = (Column(f"{name} {unit.symbol}", unit) for name in names)
    header = ("cell", *scores, Column("difference", unit, "+"), "predictions of both", "different")
    title = capitalized(metric_name(metric, quantities))
    return f"{'; '.join(sentences)}.", Table.of(title, header, rows, empty="the runs have no score of the same cell")


def compare_two_cells(run: RunPredictions, a: str, b: str) -> list[Table]:
    """Return the scores of two cells of a run, and every valid test of their difference.

    Raises
    ------
    ConfigError
        If a cell failed, or the cells were tested on different documents.
    """
    scored, tested, quantities = run.scored, tested_metrics(run.experiment), run.experiment.quantities
    for name in (a, b):
        if name not in scored.cells:
            raise ConfigError(f"the cell {name!r} failed: {run.failures.get(name, 'it has no predictions')}")
    shown = (metric for metric in (*tested, *quantities) if not is_time_metric(metric, quantities))
    metrics = [metric for metric in shown if scored.has(metric, a, b)]
    try:
        tests = scored.tests(a, b, tested) if not set(metrics) <= quantities.keys() else []
    except ValueError as error:
        raise ConfigError(f"{error}: there is nothing to pair") from None
    rows = list[tuple[str, ...]]()
    for metric in metrics:
        try:
            gap = scored.difference(a, b, metric)
        except ValueError:  # a plug-in's metric, of a finished run: only planned pairs have its differences
            continue
        unit = display_unit(metric, quantities)
        scores = (unit.text(scored.estimate(cell, metric).value) for cell in (a, b))
        differs = unit.text(gap.value, "+"), unit.interval(gap.low, gap.high, "+")
        rows.append((metric_with_unit(metric, quantities), *scores, *differs))
    header = ("metric", *(Column(name, PLAIN) for name in (a, b, "difference", "95% interval")))
    tables = [Table.of("Scores", header, rows, empty=f"{a} and {b} have no score in common")]
    names = ("test", "n", Column("statistic", replace(PLAIN, decimals=4)), Column("p", PLAIN), "favours")
    of_tests = [
        (SPOKEN_TESTS.get(t.test, t.test).removeprefix("the "), t.n, t.statistic, p_text(t.p_value, t.note), t.favours)
        for t in tests
    ]
    return [*tables, Table.of("Tests", names, of_tests)] if of_tests else tables


def pair_summary(run: RunPredictions, a: str, b: str) -> Summary:
    """Return the summary of a run that compares two of its cells and nothing else."""
    cells = tuple(cell for cell in run.experiment.cells if cell.id in (a, b))
    changes: dict[str, Any] = {"cells": cells, "compare": (ComparedPair(a, b, ""),), "figures": (), "paper": None}
    part = replace(run.experiment, **changes, sensitivity_of=None)
    return replace(summarize(replace(run, experiment=part)), own_documents=False)
