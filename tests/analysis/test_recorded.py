"""Numbers that a run records come back as they were, and each stands in its column."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchmark.analysis.formatting.number_text import is_missing
from benchmark.analysis.recorded import (
    RECORD_NUMBER_COLUMNS,
    RECORD_TEXT_COLUMNS,
    RecordedNumbers,
    record_from_rows,
    record_numbers,
    rows_from_record,
)
from benchmark.config.model import BASE_VARIANT, ComparedPair
from benchmark.diagnostics.base import CurvePoint, DiagnosticNumbers, DiagnosticRow
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.sampling_model import sampling_of

if TYPE_CHECKING:
    from tests.analysis.conftest import Made

ESTIMATES = {
    "a": {
        ("mine", "all", ""): Estimate(0.1, 0.2, 0.3, 4, "bootstrap"),
        ("mine", "s-1", ""): Estimate(0.5, 0.6, 0.7, 8, "wilson"),
        ("mine", "all", "b"): Estimate(0.9, 1.0, 1.1, 12, "bonett-price"),
    },
    "b": {("other", "all", ""): Estimate(1.3, 1.4, 1.5, 16, "bootstrap")},
}
DIAGNOSTICS = (
    (
        "level",
        "base",
        DiagnosticNumbers(
            (DiagnosticRow("r", "deep", Estimate(2.1, 2.2, 2.3, 24, "count")),),
            (CurvePoint("x-axis", 0.25, "m", "c", "deep", 3.5), CurvePoint("x-axis", 0.5, "m", "", "deep", 4.5)),
        ),
    ),
    ("level", "few", DiagnosticNumbers((DiagnosticRow("r", "deep", Estimate(5.1, 5.2, 5.3, 54, "count")),))),
    ("second", "base", DiagnosticNumbers((), (CurvePoint("y", 1.0, "m", "", "wide", 2.0),))),
)


def test_what_is_recorded_comes_back() -> None:
    chosen = {"a": np.array([1, 2])}
    given = RecordedNumbers(chosen, ESTIMATES, DIAGNOSTICS, ("a note",))
    rows = rows_from_record(given)
    assert all(set(row) == {*RECORD_TEXT_COLUMNS, *RECORD_NUMBER_COLUMNS, "n", "interval"} for row in rows)
    found = record_from_rows(rows, chosen, ("a note",))
    assert (found.chosen, found.estimates, found.diagnostics, found.notes) == (
        chosen,
        ESTIMATES,
        DIAGNOSTICS,
        ("a note",),
    )


def test_each_number_stands_in_its_column() -> None:
    rows = rows_from_record(RecordedNumbers({}, ESTIMATES, DIAGNOSTICS))
    kinds = {column for row in rows for column, value in row.items() if not is_missing(value) and value != ""}
    assert kinds == {*RECORD_TEXT_COLUMNS, *RECORD_NUMBER_COLUMNS, "n", "interval"}
    curve = next(row for row in rows if row["axis"] == "x-axis")
    assert (curve["variant"], curve["diagnostic"], curve["method"], curve["of_class"]) == ("base", "level", "m", "c")
    assert (curve["x"], curve["value"], curve["metric"], curve["cell"], curve["n"]) == (0.25, 3.5, "deep", "", 0)
    pair = next(row for row in rows if row["other"])
    assert (pair["cell"], pair["other"], pair["split"], pair["value"], pair["low"]) == ("a", "b", "all", 0.9, 1.0)


def test_metrics_of_this_package_are_not_recorded(drawn: Made) -> None:
    experiment, _, scored = drawn
    found = record_numbers(experiment, scored, DIAGNOSTICS, ("a note",))
    assert found.estimates == {}
    assert (found.chosen, found.diagnostics, found.notes) == (scored.chosen, DIAGNOSTICS, ("a note",))


def test_a_pair_that_cannot_be_paired_leaves_the_others(drawn: Made) -> None:
    """The error, as the score of a plug-in."""
    experiment, _, scored = drawn
    values = {name: {**each.values, "mine": each.values["error"]} for name, each in scored.cells.items()}
    small, large = ([name for name in scored.cells if name.endswith(f"-{size}")] for size in (50, 100))
    others = dict.fromkeys(large, sampling_of(experiment.variants[BASE_VARIANT].protocol.tags, 5))
    cells = {name: replace(each, values=values[name]) for name, each in scored.cells.items()}
    own = replace(scored, cells=cells, samples={**scored.samples, **others})
    pairs = ((small[0], large[0]), (small[0], "gone"), (small[1], small[0]), (large[0], large[1]))
    compare = tuple(ComparedPair(a, b, "") for a, b in pairs)
    mine = replace(experiment, scorers={"mine": experiment.scorers["error"]}, compare=compare)
    found = record_numbers(mine, own, (), ()).estimates
    assert found.keys() == own.cells.keys()
    for name, scores in own.cells.items():
        of_cell = {key: estimate for key, estimate in found[name].items() if not key[2]}
        assert of_cell.keys() == {("mine", fold, "") for fold in ("all", *scores.folds)}
        assert of_cell["mine", "all", ""] == own.estimate(name, "error")
        assert [of_cell["mine", fold, ""].value for fold in scores.folds] == list(scores.values["error"])
    recorded = {(a, key[2]): each for a, numbers in found.items() for key, each in numbers.items() if key[2]}
    assert recorded == {(a, b): own.difference(a, b, "error") for a, b in pairs[2:]}
