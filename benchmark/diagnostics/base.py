"""Base class of diagnostics: compute numbers, curves and notes from the counts of a variant."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from benchmark.config.model import BASE_VARIANT, Cell
from benchmark.evaluation.outcomes import Estimate
from benchmark.methods.problem import Problem
from benchmark.representation.weighting import normalize_rows
from benchmark.system.checks import check_parameters
from benchmark.system.tags import Tags, tags_of
from benchmark.system.user_classes import is_builtin, source_location

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec, Representation, Variant
    from benchmark.evaluation.metrics import DiagnosticMetric
    from benchmark.system.checks import Allowed
    from benchmark.text.counts import Counts

    Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class DiagnosticContext:
    """Input of a diagnostic.

    Parameters
    ----------
    counts : Counts
        Counts of all documents of the variant.
    variant : Variant
    seed : int
        Seed of the experiment.
    jobs : int
        Number of threads.
    once : callable
        ``once(content, compute)`` returns the arrays that the store has for `content`, or else calls ``compute()`` and
        stores its arrays. `content`, as JSON, is all that decides the arrays beside the counts.
    """

    counts: Counts
    variant: Variant
    seed: int
    jobs: int
    once: Callable[[Mapping[str, Any], Callable[[], Arrays]], Arrays]

    def methods(self) -> Iterator[tuple[str, MethodSpec]]:
        """Yield the label and the specification of each method with one candidate, on the words of the variant."""
        for entry in self.variant.entries:
            spec, *others = entry.candidates
            if not others and spec.text in (None, self.variant.collection.text):
                yield entry.label, spec

    def points(self, representation: Representation, rows: NDArray[np.intp] | slice = slice(None)) -> sp.csr_array:
        """Return normalized points of some documents; weightings learn from all."""
        everything = np.arange(len(self.counts.documents)) if representation.learns else None
        weighting = Problem(self.counts, "", self.seed).weighting(representation, everything)
        return normalize_rows(weighting.transform(self.counts.matrix[rows]), representation.normalization)


@dataclass(frozen=True)
class DiagnosticRow:
    """A number with its interval.

    Parameters
    ----------
    cell : str
        The row of the number: one of the diagnostic's `rows`, the id of one of its cells, or a method of the variant,
        which shows the number beside its scores. If the tags set `only_with_published`, any name of a published value.
    metric : str
        One of the `metrics` that the diagnostic declares.
    estimate : Estimate
        The value and its interval, in the unit of the metric.
    """

    cell: str
    metric: str
    estimate: Estimate

    @classmethod
    def exact(cls, cell: str, metrics: Sequence[DiagnosticMetric], values: Iterable[float], n: int) -> list[Self]:
        """Return the rows of a cell's numbers, one of each metric, each as of `without_interval`."""
        return [cls.without_interval(cell, metric.name, x, n) for metric, x in zip(metrics, values, strict=True)]

    @classmethod
    def without_interval(cls, cell: str, metric: str, value: float, n: int) -> Self:
        """Return the row of a number that is counted or computed exactly.

        Parameters
        ----------
        cell, metric : str
            As of the row.
        value : float
            The number, in the unit of the metric.
        n : int
            Number of documents, or of what else was counted.

        Returns
        -------
        DiagnosticRow
            Its interval is the number itself.
        """
        return cls(cell, metric, Estimate(float(value), float(value), float(value), n, "count"))


@dataclass(frozen=True)
class CurvePoint:
    """A point of a curve that only a figure shows: a value against the parameter `axis` of the diagnostic.

    Parameters
    ----------
    axis : str
        The diagnostic's parameter along x.
    x : float
        The value of this parameter.
    method : str
        One of the diagnostic's `rows` or `kinds`.
    of_class : str
        A class; "" for all documents together.
    metric : str
        One of the `metrics` that the diagnostic declares.
    value : float
        The number, in the unit of the metric.
    """

    axis: str
    x: float
    method: str
    of_class: str
    metric: str
    value: float


@dataclass(frozen=True)
class DiagnosticNumbers:
    """The numbers of one variant.

    Parameters
    ----------
    rows : tuple of DiagnosticRow
        Numbers for tables, which are compared with published values.
    points : tuple of CurvePoint
        Numbers for figures alone.
    notes : tuple of str
        Lines that stand below the numbers.
    arrays : dict of str to array
        Arrays of numbers or text that a figure of this package reads.
    """

    rows: tuple[DiagnosticRow, ...] = ()
    points: tuple[CurvePoint, ...] = ()
    notes: tuple[str, ...] = ()
    arrays: Arrays = field(default_factory=dict)


class Diagnostic(ABC):
    """Base class of diagnostics, numbers that are no predictions.

    The constructor's parameters are those that a configuration can set. A subclass declares `metrics` and defines
    `compute`, which runs once per variant. It names its rows in `rows`, or in `kinds` if each has a number for every
    class. Values that its parameters may have stand in `allowed`, or are checked by its own `check`.

    Attributes
    ----------
    metrics : tuple of DiagnosticMetric
        Names and units of the numbers.
    tags : Tags
        `base_only`, `only_with_published`, `stored` and `labels` apply to diagnostics.
    """

    #: The metrics of the numbers. A number of any other metric is an error.
    metrics: ClassVar[tuple[DiagnosticMetric, ...]] = ()
    #: Values that parameters may have.
    allowed: ClassVar[Allowed] = {}
    tags: ClassVar[Tags] = Tags()

    def check(self) -> None:
        """Refuse parameters outside their range.

        Raises
        ------
        ValueError
            If a parameter is outside its range.
        """
        check_parameters(self, self.allowed)

    @property
    def kinds(self) -> Sequence[str]:
        """Names of its rows that have a number for every class."""
        return ()

    @property
    def rows(self) -> Sequence[str]:
        """Names of its rows that are of all documents together; `DiagnosticRow.cell` is one of these."""
        return ()

    def cells(self, variant: str, classes: Sequence[str]) -> tuple[Cell, ...]:
        """Return a cell for each of `rows`, and for each kind and class, ``table-skl-trade``.

        Parameters
        ----------
        variant : str
            Name of the variant.
        classes : sequence of str
            Classes of its documents.

        Returns
        -------
        tuple of Cell
            Length len(rows) + len(kinds) × len(classes).
        """
        whole = (Cell("-".join([*_prefix(variant), name]), variant, "", name, "diagnostic") for name in self.rows)
        by_class = (
            Cell(class_row_id(variant, kind, name), variant, "", kind, "diagnostic", name)
            for kind in self.kinds
            for name in classes
        )
        return (*whole, *by_class)

    @abstractmethod
    def compute(self, context: DiagnosticContext) -> DiagnosticNumbers:
        """Compute the numbers of one variant.

        Parameters
        ----------
        context : DiagnosticContext
            Counts, variant, seed, threads and store. The counts must not be changed.

        Returns
        -------
        DiagnosticNumbers
            Finite numbers of the declared `metrics`, at most one per row and metric.

        Raises
        ------
        ValueError, FloatingPointError
            If the diagnostic is not defined for these documents.
        """


def compute_checked(diagnostic: Diagnostic, context: DiagnosticContext, *, whole: bool = True) -> DiagnosticNumbers:
    """Compute the numbers of a diagnostic for one variant, and check those of a plug-in against its declarations.

    Parameters
    ----------
    diagnostic : Diagnostic
    context : DiagnosticContext
    whole : bool
        Whether the experiment has all cells of the variant. In a part of an experiment, rows aren't checked.

    Raises
    ------
    ValueError
        If a metric isn't declared, a row isn't known, or a number isn't finite.
    """
    numbers = diagnostic.compute(context)
    if not is_builtin(type(diagnostic)) and (problem := _problem_with(diagnostic, numbers, context.variant, whole)):
        raise ValueError(f"{source_location(type(diagnostic), short=True)}: {problem}")
    return numbers


def _problem_with(diagnostic: Diagnostic, numbers: Any, variant: Variant, whole: bool) -> str:
    """Return the first error in the numbers of a diagnostic for one variant, in a line; "" if there is none."""
    if not isinstance(numbers, DiagnosticNumbers):
        return f"compute returns {type(numbers).__name__}, not DiagnosticNumbers"
    declared = {metric.name for metric in diagnostic.metrics}
    # Where terms are selected, a method has a cell for each number of them, and none for all.
    known = {*diagnostic.rows, *(entry.label for entry in variant.entries if not variant.terms)}
    known |= {cell.id for cell in diagnostic.cells(variant.name, variant.collection.classes)}
    any_row = not whole or tags_of(diagnostic).only_with_published
    named = [(row.cell, row.metric) for row in numbers.rows]
    for point in numbers.points:
        of_class = class_row_id(variant.name, point.method, point.of_class) if point.of_class else point.method
        named.append((of_class, point.metric))
    for cell, metric in named:
        if metric not in declared:
            return f"gives the metric {metric!r}, which it doesn't declare: add it to `metrics` of the class"
        if not any_row and cell not in known:
            return f"gives {metric!r} of {cell!r}, which is no row: name it in `rows` or `kinds`"
    for row in numbers.rows:
        value, low, high = row.estimate.value, row.estimate.low, row.estimate.high
        if not math.isfinite(value) or math.isinf(low) or math.isinf(high):
            problem = f"gives {row.metric!r} of {row.cell!r} as {value}, {low} to {high}"
            return f"{problem}: the number must be finite, its interval too, or NaN"
    return ""


def _prefix(variant: str) -> list[str]:
    return [] if variant == BASE_VARIANT else [variant]


def class_row_id(variant: str, kind: str, of_class: str) -> str:
    """Return the id of the row of one class."""
    return "-".join([*_prefix(variant), "table", kind, of_class])
