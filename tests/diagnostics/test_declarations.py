"""Numbers of a diagnostic against its declarations: metrics, rows, points of curves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from benchmark.config.model import BASE_VARIANT
from benchmark.diagnostics.base import (
    CurvePoint,
    Diagnostic,
    DiagnosticContext,
    DiagnosticNumbers,
    DiagnosticRow,
    compute_checked,
)
from benchmark.evaluation.metrics import DiagnosticMetric
from benchmark.evaluation.outcomes import Estimate
from tests.builders import small_experiment

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE = Estimate(1.0, 0.5, 1.5, 3, "count")
VARIANTS = small_experiment(methods=["mnb"], variants={"few": {"text": {"min_occurrences": 50}}}).variants


class Level(Diagnostic):
    """Numbers that a test gives, of documents together ("whole") and of each class ("own")."""

    metrics = (DiagnosticMetric("level", "nats"), DiagnosticMetric("depth", "nats"))

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    @property
    def rows(self) -> Sequence[str]:
        return ("whole",)

    @property
    def kinds(self) -> Sequence[str]:
        return ("own",)

    def compute(self, context: DiagnosticContext) -> Any:
        return self.numbers


def row(cell: str = "whole", metric: str = "level", **wrong: float) -> DiagnosticNumbers:
    return DiagnosticNumbers((DiagnosticRow(cell, metric, replace(ONE, **wrong)),))


def point(method: str, of_class: str = "", metric: str = "level") -> DiagnosticNumbers:
    return DiagnosticNumbers(points=(CurvePoint("smoothing", 1.0, method, of_class, metric, 2.0),))


def checked(numbers: Any, variant: str = BASE_VARIANT, *, whole: bool = True) -> Any:
    counts: Any = None
    context = DiagnosticContext(counts, VARIANTS[variant], 0, 1, lambda _, compute: compute())
    return compute_checked(Level(numbers), context, whole=whole)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (row(metric="weight"), "gives the metric 'weight', which it doesn't declare: add it to `metrics` of the class"),
        (point("whole", metric="weight"), "gives the metric 'weight', which it doesn't declare"),
        (row(value=math.nan), "of 'whole' as "),
        (row(high=math.inf), "of 'whole' as 1.0"),
        (row("table-own-b"), "gives 'level' of 'table-own-b', which is no row: name it in `rows` or `kinds`"),
        (point("own", "b"), "gives 'level' of 'table-own-b', which is no row"),
        ({"level": 1.0}, "compute returns dict, not DiagnosticNumbers"),
    ],
)
def test_the_first_error_is_named_with_the_line_of_the_class(numbers: Any, said: str) -> None:
    with pytest.raises(ValueError, match=r"test_declarations\.py:\d+") as caught:
        checked(numbers)
    assert said in str(caught.value)


@pytest.mark.parametrize(("name", "prefix"), [(BASE_VARIANT, ""), ("few", "few-")])
def test_rows_are_those_of_the_variant_and_of_its_methods_where_the_experiment_is_whole(name: str, prefix: str) -> None:
    cells = Level(row()).cells(name, ("a", "b"))
    assert [cell.id for cell in cells] == [f"{prefix}{each}" for each in ("whole", "table-own-a", "table-own-b")]
    assert {(cell.variant, cell.what) for cell in cells} == {(name, "diagnostic")}
    assert [(cell.method, cell.of_class) for cell in cells] == [("whole", ""), ("own", "a"), ("own", "b")]
    for cell in ("whole", "mnb", f"{prefix}table-own-course"):
        checked(row(cell), name)
    assert checked(row("part"), name, whole=False) == row("part")  # a part of an experiment lacks rows
    with pytest.raises(ValueError, match="'part', which is no row"):
        checked(row("part"), name)
