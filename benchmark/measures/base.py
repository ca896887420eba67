"""What a measure is: it computes arrays from a variant's counts, and says which rows, notes and lines they make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.classifiers.divergence_bayes import DivergenceBayes
from benchmark.config.model import BASE, Cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.config.model import Variant
    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.predictions import Predictions
    from benchmark.text.counts import Counts

    Arrays = dict[str, NDArray[Any]]


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

    The cell is one of the experiment's, a method of the variant, beside whose scores it stands, or a name that printed
    numbers have for it.
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

    #: Whether it is of the configuration itself alone, not of its variants.
    base_only: ClassVar[bool] = False

    @property
    def kinds(self) -> Sequence[str]:
        """What it measures of every class: a row of the scores each. Other numbers have cells of a paper's alone."""
        return ()

    def cells(self, variant: str, classes: Sequence[str]) -> tuple[Cell, ...]:
        """A row of the scores for each kind and class, ``table-skl-trade``."""
        return tuple(
            Cell(cell_id(variant, kind, name), variant, "", kind, "measure", name)
            for kind in self.kinds
            for name in classes
        )

    @abstractmethod
    def compute(self, context: Context) -> Arrays:
        """All that it finds out about one variant.

        Raises
        ------
        ValueError, FloatingPointError
            If it is not defined for these documents.
        """

    @abstractmethod
    def told(self, found: Found) -> Told:
        """What it found out about one variant, as numbers."""

    @abstractmethod
    def notes(self, reading: Reading) -> Iterable[str]:
        """What a reader of the numbers has to know."""


def told(measures: Iterable[Component], predictions: Predictions) -> Iterator[tuple[str, str, Told]]:
    """What each measure found out about each variant, by the names of both."""
    for component in measures:
        measure: Measure = component.build()
        for (name, variant), arrays in predictions.measured.items():
            if name == component.name:
                yield name, variant, measure.told(Found(variant, arrays))


def cell_id(variant: str, kind: str, of_class: str) -> str:
    """The row of one class."""
    return "-".join([*([] if variant == BASE else [variant]), "table", kind, of_class])


def divergence_bayes(variant: Variant) -> DivergenceBayes:
    """The variant's naive Bayes in its KL form, untrained: its smoothing, prior and length are the measure's, too.

    Raises
    ------
    ValueError
        If no method of the variant is of this kind.
    """
    for entry in variant.entries:
        classifier = entry.candidates[0].classifier
        if classifier.cls is DivergenceBayes:
            built: DivergenceBayes = classifier.build()
            return built
    raise ValueError("centroids are those of the classifier divergence-bayes, which no method here names")
