"""Numbers of a diagnostic against its declarations: metrics, rows, points of curves, and arrays that can be stored."""

from __future__ import annotations

import math
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
    compute_checked,
)
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.metrics import DiagnosticMetric
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE = Estimate(1.0, 0.5, 1.5, 3, "count")
VARIANTS = small_experiment(methods=["mnb"], variants={"few": {"text": {"min_occurrences": 50}}}).variants


class Level(Diagnostic):
    """Numbers that a test gives, of documents together ("whole") and of each class ("own")."""

    metrics = (DiagnosticMetric("level", "nats"), DiagnosticMetric("depth", "nats"))

    def __init__(self, numbers: DiagnosticNumbers, arrays: Any) -> None:
        self.told, self.arrays = numbers, arrays

    @property
    def rows(self) -> Sequence[str]:
        return ("whole",)

    @property
    def kinds(self) -> Sequence[str]:
        return ("own",)

    def compute(self, context: DiagnosticContext) -> Any:
        return self.arrays

    def numbers(self, found: DiagnosticArrays) -> DiagnosticNumbers:
        return self.told


def row(cell: str = "whole", metric: str = "level", **wrong: float) -> DiagnosticNumbers:
    return DiagnosticNumbers((DiagnosticRow(cell, metric, replace(ONE, **wrong)),))


def point(method: str, of_class: str = "", metric: str = "level") -> DiagnosticNumbers:
    return DiagnosticNumbers(points=(CurvePoint("smoothing", 1.0, method, of_class, metric, 2.0),))


def checked(numbers: DiagnosticNumbers, arrays: Any = None, variant: str = BASE_VARIANT, *, whole: bool = True) -> Any:
    counts: Any = None
    context = DiagnosticContext(counts, VARIANTS[variant], 0, 1, lambda _, compute: compute())
    return compute_checked(Level(numbers, {} if arrays is None else arrays), context, whole=whole)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (row(metric="weight"), "gives the metric 'weight', which it doesn't declare: add it to `metrics` of the class"),
        (point("whole", metric="weight"), "gives the metric 'weight', which it doesn't declare"),
        (row(value=math.nan), "of 'whole' as "),
        (row(high=math.inf), "of 'whole' as 1.0"),
        (row("table-own-b"), "gives 'level' of 'table-own-b', which is no row: name it in `rows` or `kinds`"),
        (point("own", "b"), "gives 'level' of 'table-own-b', which is no row"),
    ],
)
def test_the_first_error_is_named_with_the_line_of_the_class(numbers: DiagnosticNumbers, said: str) -> None:
    with pytest.raises(ValueError, match=r"test_declarations\.py:\d+") as caught:
        checked(numbers)
    assert said in str(caught.value)


def test_what_is_no_array_cannot_be_stored() -> None:
    with pytest.raises(ValueError, match="compute returns 'n', which is no array of numbers or text, so it can't be"):
        checked(row(), {"good": np.zeros(1), "n": [1]})


def test_rows_are_those_of_the_variant_and_of_its_methods_where_the_experiment_is_whole() -> None:
    for name, prefix in ((BASE_VARIANT, ""), ("few", "few-")):
        cells = Level(row(), {}).cells(name, ("a", "b"))
        assert [cell.id for cell in cells] == [f"{prefix}{each}" for each in ("whole", "table-own-a", "table-own-b")]
        assert {(cell.variant, cell.what) for cell in cells} == {(name, "diagnostic")}
        assert [(cell.method, cell.of_class) for cell in cells] == [("whole", ""), ("own", "a"), ("own", "b")]
        for cell in ("whole", "mnb", f"{prefix}table-own-course"):
            checked(row(cell), variant=name)
        arrays = {"n": np.zeros(1)}
        assert checked(row("part"), arrays, name, whole=False) is arrays  # a part of an experiment lacks rows
        with pytest.raises(ValueError, match="'part', which is no row"):
            checked(row("part"), variant=name)
