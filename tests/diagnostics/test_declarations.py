"""Numbers of a diagnostic against its declarations: metrics, rows, points of curves, and arrays that can be stored."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmark.config.model import BASE_VARIANT
from benchmark.diagnostics.base import (
    CurvePoint,
    Diagnostic,
    DiagnosticArrays,
    DiagnosticContext,
    DiagnosticNumbers,
    DiagnosticRow,
    _problem_with,
    compute_checked,
)
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.metrics import DiagnosticMetric
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmark.diagnostics.base import DiagnosticResults

ONE = Estimate(1.0, 0.5, 1.5, 3, "count")


class Level(Diagnostic):
    """Numbers that a test gives, of documents together ("whole") and of each class ("own")."""

    metrics = (DiagnosticMetric("level", "nats"), DiagnosticMetric("depth", "nats"))

    def __init__(self, told: Any, arrays: Any = None) -> None:
        self.told, self.arrays = told, {} if arrays is None else arrays
        self.asked = list[str]()

    @property
    def rows(self) -> Sequence[str]:
        return ("whole",)

    @property
    def kinds(self) -> Sequence[str]:
        return ("own",)

    def compute(self, context: DiagnosticContext) -> Any:
        return self.arrays

    def numbers(self, found: DiagnosticArrays) -> Any:
        self.asked.append(found.variant)
        return self.told

    def notes(self, reading: DiagnosticResults) -> Iterable[str]:
        return ()


def row(cell: Any = "whole", metric: str = "level", estimate: Any = ONE) -> DiagnosticNumbers:
    return DiagnosticNumbers((DiagnosticRow(cell, metric, estimate),))


def point(method: str, of_class: str = "", metric: str = "level") -> DiagnosticNumbers:
    return DiagnosticNumbers(points=(CurvePoint("smoothing", 1.0, method, of_class, metric, 2.0),))


def problem(told: Any, arrays: Any = None, variant: str = BASE_VARIANT, rows: Any = ("whole", "table-own-a")) -> str:
    found = DiagnosticArrays(variant, {} if arrays is None else arrays)
    return _problem_with(Level(told), found, rows)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (row(metric="weight"), "gives the metric 'weight', which it doesn't declare: add it to `metrics`"),
        *(
            (row(estimate=replace(ONE, **{end: wrong})), f"of 'whole' as {'.*' if end == 'value' else '1.0'}")
            for end in ("value", "low", "high")
            for wrong in (math.inf, -math.inf, *((math.nan,) if end == "value" else ()))
        ),
        (row("part"), "gives 'level' of 'part', which is no row: .* (known: 'table-own-a', 'whole')"),
        (point("part"), "gives 'level' of 'part', which is no row"),
        (point("own", "b"), "gives 'level' of 'table-own-b', which is no row"),
        (point("whole", metric="weight"), "gives the metric 'weight', which it doesn't declare"),
    ],
)
def test_the_first_error_is_named(told: Any, words: str) -> None:
    assert re.match(".*" + re.escape(words).replace(re.escape(".*"), ".*"), problem(told))


@pytest.mark.parametrize(
    "arrays",
    [
        {"n": [1]},
        {"n": np.array([None])},
        {"n": np.zeros(2, dtype=[("a", float)])},
        {"good": np.zeros(1), "n": 1.0},
    ],
)
def test_what_is_no_array_cannot_be_stored(arrays: Mapping[Any, Any]) -> None:
    name = list(arrays)[-1]
    assert problem(row(), arrays) == (
        f"compute returns {name!r}, which is no array of numbers or text, so it can't be stored"
    )


def test_cells_have_the_name_of_their_variant() -> None:
    base, few = (Level(None).cells(name, ("a", "b")) for name in (BASE_VARIANT, "few"))
    assert [cell.id for cell in base] == ["whole", "table-own-a", "table-own-b"]
    assert [cell.id for cell in few] == ["few-whole", "few-table-own-a", "few-table-own-b"]
    assert [(cell.variant, cell.method, cell.of_class, cell.what) for cell in few] == [
        ("few", "whole", "", "diagnostic"),
        ("few", "own", "a", "diagnostic"),
        ("few", "own", "b", "diagnostic"),
    ]


def test_numbers_are_checked_as_those_of_their_variant() -> None:
    experiment = small_experiment(methods=["mnb"], variants={"few": {"text": {"min_occurrences": 50}}})
    counts: Any = None
    for name, variant in experiment.variants.items():
        asked = Level(row("part"), {"n": np.zeros(1)})
        context = DiagnosticContext(counts, variant, 0, 1, lambda _, compute: compute())
        assert compute_checked(asked, context, whole=False) is asked.arrays  # a part of an experiment lacks rows
        with pytest.raises(ValueError, match=r"test_declarations.py:\d+.*'part', which is no row"):
            compute_checked(asked, context)
        assert asked.asked == [name, name]
