"""Agreement of two sets of predictions, of two runs, and of two cells of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmark.analysis.comparisons import SPOKEN_TESTS, main_metric, tested_metrics
from benchmark.analysis.document_predictions import label_frame
from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import capitalized, display_unit, metric_name, metric_with_unit, p_text
from benchmark.analysis.summarize import summarize
from benchmark.config.model import ComparedPair
from benchmark.evaluation.metrics import is_time_metric
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from benchmark.analysis.scoring import RunPredictions
    from benchmark.analysis.summary import Summary
    from benchmark.evaluation.significance import TestResult


def agreements(one: pd.DataFrame, two: pd.DataFrame) -> pd.DataFrame:
    """Return how far two frames of labels agree, see `label_frame`.

    Returns
    -------
    DataFrame
        A row for each cell of either frame. Of its predictions, `shared` are in both frames and `different` of them
        differ; `first` and `second` are in one frame alone.
    """
    one, two = (each.set_index(["group", "id"]).drop(columns="label") for each in (one, two))
    one, two = one.align(two)
    both = one.notna() & two.notna()
    marks = {"shared": both, "different": both & (one != two)}
    marks |= {"first": one.notna() & ~both, "second": two.notna() & ~both}
    return pd.DataFrame({name: each.sum() for name, each in marks.items()})


def compare_two_runs(one: RunPredictions, two: RunPredictions, names: tuple[str, str]) -> tuple[str, Table, bool]:
    """Compare two runs by the cells that both have.

    Returns
    -------
    sentence : str
        How far they agree.
    table : Table
        The main scores of the cells that both have.
    equal : bool
        Whether no prediction differs, and neither run has one that the other lacks.

    Raises
    ------
    ConfigError
        If no prediction is in both.
    """
    found = agreements(label_frame(one), label_frame(two))
    if not found["shared"].any():
        problem = "predict no document by cells of the same name: nothing to compare"
        raise ConfigError(f"{' and '.join(names)} {problem}")
    metric, quantities = main_metric(one.experiment), one.experiment.quantities
    unit, ids = display_unit(metric, quantities), [set(run.experiment.ids) for run in (one, two)]
    common, unequal = found[found.index.isin(ids[0] & ids[1])], found[["different", "first", "second"]].any(axis=1)
    rows = list[tuple[Any, ...]]()
    for cell in one.experiment.ids:
        if cell in common.index and one.scored.has(metric, cell) and two.scored.has(metric, cell):
            a, b = (run.scored.estimate(cell, metric).value for run in (one, two))
            rows.append((cell, a, b, b - a, common.loc[cell, "shared"], common.loc[cell, "different"]))
    sentences = [f"{(~unequal[common.index]).sum()} of {len(common)} common cells agree in every prediction"]
    for ids_of, other, name in zip(ids, ids[::-1], names, strict=True):
        sentences += [f"{len(ids_of - other)} only in {name}"] if ids_of - other else []
    scores = (Column(f"{name} {unit.symbol}", unit) for name in names)
    header = ("cell", *scores, Column("difference", unit, "+"), "predictions of both", "different")
    title = capitalized(metric_name(metric, quantities))
    table = Table.of(title, header, rows, empty="the runs have no score of the same cell")
    return f"{'; '.join(sentences)}.", table, not unequal.any()


def paired_tests(run: RunPredictions, a: str, b: str) -> list[TestResult]:
    """Return every valid test of two cells; ConfigError if one failed, or they were tested on different documents."""
    for name in (a, b):
        if name not in run.scored.cells:
            raise ConfigError(f"the cell {name!r} failed: {run.failures.get(name, 'it has no predictions')}")
    try:
        return run.scored.tests(a, b, tested_metrics(run.experiment))
    except ValueError as error:
        raise ConfigError(f"{error}: there is nothing to pair") from None


def compare_two_cells(run: RunPredictions, a: str, b: str) -> list[Table]:
    """Return the scores of two cells of a run, and every valid test of their difference.

    Raises
    ------
    ConfigError
        If a cell failed, or the cells were tested on different documents.
    """
    scored, quantities = run.scored, run.experiment.quantities
    shown = (
        metric for metric in (*tested_metrics(run.experiment), *quantities) if not is_time_metric(metric, quantities)
    )
    metrics = [metric for metric in shown if scored.has(metric, a, b)]
    tests = [] if metrics and set(metrics) <= quantities.keys() else paired_tests(run, a, b)
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
