"""What a measure is: it computes arrays from a variant's counts, and says which rows, notes and lines they make."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.config.model import BASE, Cell
from benchmark.evaluation.intervals import Estimate
from benchmark.foreign import place_of
from benchmark.registries import shipped
from benchmark.tags import Tags, tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.config.model import Variant
    from benchmark.evaluation.metrics import MeasuredQuantity
    from benchmark.evaluation.predictions import Predictions
    from benchmark.text.counts import Counts

    Arrays = dict[str, NDArray[Any]]

#: Rows that an error names.
_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Context:
    """What a measure computes from.

    Parameters
    ----------
    counts : Counts
        Of all documents of the variant.
    variant : Variant
    seed : int
        Of the experiment.
    jobs : int
        Threads.
    once : callable
        Of (content, compute): arrays that the store has, or else computes now and keeps; `content` is all that decides
        them beside the counts.
    """

    counts: Counts
    variant: Variant
    seed: int
    jobs: int
    once: Callable[[Mapping[str, Any], Callable[[], Arrays]], Arrays]


@dataclass(frozen=True)
class Measured:
    """A number with its interval.

    Parameters
    ----------
    cell : str
        The row that it stands in: one of the measure's own `rows`, the id of one of its own cells, or a method of the
        variant, beside whose scores it stands. If its tags say `only_beside_prints`, any name that printed numbers
        have.
    metric : str
        One of those that the measure declares in `metrics`.
    estimate : Estimate
    """

    cell: str
    metric: str
    estimate: Estimate


@dataclass(frozen=True)
class Point:
    """A point of a line that only a figure shows: a number against the parameter `axis` of the measure."""

    axis: str
    x: float
    method: str
    of_class: str
    metric: str
    value: float


@dataclass(frozen=True)
class Told:
    """What the arrays of one variant tell: numbers that are judged, points, and seconds by what was done."""

    rows: tuple[Measured, ...] = ()
    points: tuple[Point, ...] = ()
    timings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Found:
    """What a measure found out about one variant."""

    variant: str
    arrays: Arrays


@dataclass(frozen=True, eq=False)
class Reading:
    """What a measure found out about every variant, beside the numbers that a paper prints, by name of cell."""

    found: Sequence[Found]
    printed: Mapping[str, float]


class Measure(ABC):
    """One measure; its parameters are its constructor's."""

    #: The metrics of its numbers. A number of any other metric is an error.
    metrics: ClassVar[tuple[MeasuredQuantity, ...]] = ()
    tags: ClassVar[Tags] = Tags()

    @property
    def kinds(self) -> Sequence[str]:
        """What it measures of every class: a row of the scores each. Other numbers have cells of a paper's alone."""
        return ()

    @property
    def rows(self) -> Sequence[str]:
        """Names of its rows of the scores that are of all documents together; in `Measured` they are the cell."""
        return ()

    def cells(self, variant: str, classes: Sequence[str]) -> tuple[Cell, ...]:
        """Return a row of the scores for each of `rows`, and for each kind and class, ``table-skl-trade``."""
        whole = (Cell("-".join([*_prefix(variant), name]), variant, "", name, "measure") for name in self.rows)
        by_class = (
            Cell(cell_id(variant, kind, name), variant, "", kind, "measure", name)
            for kind in self.kinds
            for name in classes
        )
        return (*whole, *by_class)

    @abstractmethod
    def compute(self, context: Context) -> Arrays:
        """Compute the arrays of one variant.

        Raises
        ------
        ValueError, FloatingPointError
            If it is not defined for these documents.
        """

    @abstractmethod
    def told(self, found: Found) -> Told:
        """Return the numbers of one variant, made from its arrays."""

    @abstractmethod
    def notes(self, reading: Reading) -> Iterable[str]:
        """Return notes that stand below the numbers."""


def told(measures: Iterable[Component], predictions: Predictions) -> Iterator[tuple[str, str, Told]]:
    """Yield the numbers of each diagnostic for each variant, with the names of both."""
    for component in measures:
        measure: Measure = component.build()
        for (name, variant), arrays in predictions.measured.items():
            if name == component.name:
                yield name, variant, measure.told(Found(variant, arrays))


def computed(measure: Measure, context: Context, *, whole: bool = True) -> Arrays:
    """Return what a measure computes of one variant, once its numbers are found to be as it declares.

    Parameters
    ----------
    measure : Measure
    context : Context
    whole : bool
        Whether all cells of the variant are there. In a part of an experiment, numbers of the others are left out.

    Raises
    ------
    ValueError
        If a metric isn't declared, a row isn't known, a number isn't finite, or an array can't be stored.
    """
    arrays = measure.compute(context)
    rows = rows_of(measure, context.variant) if whole else None
    if problem := problem_with(measure, Found(context.variant.name, arrays), rows):
        raise ValueError(problem if shipped(type(measure)) else f"{place_of(type(measure), short=True)}: {problem}")
    return arrays


def problem_with(measure: Measure, found: Found, rows: Collection[str] | None = None) -> str:
    """Return what is wrong with the numbers that a measure gives of one variant, in a line; "" if nothing is.

    Parameters
    ----------
    measure : Measure
    found : Found
    rows : collection of str, optional
        Cells that its numbers may have, see `rows_of`; by default any.
    """
    if not isinstance(found.arrays, dict):
        return f"compute must return a dict of arrays, not {type(found.arrays).__name__}"
    for name, array in found.arrays.items():
        if not isinstance(name, str) or not isinstance(array, np.ndarray) or array.dtype.kind in "OV":
            return f"compute returns {name!r}, which is no array of numbers or text, so it can't be stored"
    given = measure.told(found)
    if not isinstance(given, Told):
        return f"told must return a Told, not {type(given).__name__}"
    declared = {quantity.name for quantity in measure.metrics}
    seen = set[tuple[str, str]]()
    for each in given.rows:
        problem = _wrong_metric(each.metric, declared) or _wrong_row(each, rows)
        if not problem and (each.cell, each.metric) in seen:
            problem = f"gives {each.metric!r} of {each.cell!r} twice"
        if problem:
            return problem
        seen.add((each.cell, each.metric))
    problems = (_wrong_metric(p.metric, declared) or _wrong_point(p, found.variant, rows) for p in given.points)
    return next(filter(None, problems), "")


def rows_of(measure: Measure, variant: Variant) -> set[str] | None:
    """Return the cells that the numbers of a measure may have under a variant; None if they may be any."""
    if tags_of(measure).only_beside_prints:
        return None
    own = (cell.id for cell in measure.cells(variant.name, variant.collection.classes))
    # Where terms are selected, a method has a cell for each number of them, and none for all.
    methods = () if variant.terms else (entry.label for entry in variant.entries)
    return {*own, *measure.rows, *methods}


def _wrong_metric(metric: Any, declared: Collection[str]) -> str:
    if metric in declared:
        return ""
    known = f"it declares {', '.join(map(repr, sorted(declared)))}" if declared else "it declares none"
    return f"gives the metric {metric!r}, which it doesn't declare: add it to `metrics` of the class ({known})"


def _wrong_row(given: Measured, rows: Collection[str] | None) -> str:
    cell, estimate = given.cell, given.estimate
    if not isinstance(cell, str) or not cell:
        return f"gives {given.metric!r} of the cell {cell!r}: must be the name of a row"
    if not isinstance(estimate, Estimate):
        return f"gives {given.metric!r} of {cell!r} as {type(estimate).__name__}: must be an Estimate"
    if not math.isfinite(estimate.value) or math.isinf(estimate.low) or math.isinf(estimate.high):
        ends = f"{estimate.value}, {estimate.low} to {estimate.high}"
        return f"gives {given.metric!r} of {cell!r} as {ends}: the number must be finite, its interval too, or NaN"
    if rows is not None and cell not in rows:
        known = ", ".join(map(repr, sorted(rows)[:_SHOWN])) + (", …" if len(rows) > _SHOWN else "")
        return f"gives {given.metric!r} of {cell!r}, which is no row: name it in `rows` of the class (known: {known})"
    return ""


def _wrong_point(point: Point, variant: str, rows: Collection[str] | None) -> str:
    row = cell_id(variant, point.method, point.of_class) if point.of_class else point.method
    if rows is None or row in rows:
        return ""
    return f"gives a point of {row!r}, which is no row: name it in `kinds` or `rows` of the class"


def _prefix(variant: str) -> list[str]:
    return [] if variant == BASE else [variant]


def cell_id(variant: str, kind: str, of_class: str) -> str:
    """Return the id of the row of one class."""
    return "-".join([*_prefix(variant), "table", kind, of_class])
