"""What a measure is: it computes arrays from a variant's counts, and says which rows, notes and lines they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from benchmark.classifiers.divergence_bayes import DivergenceBayes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import Variant
    from benchmark.evaluation.intervals import Estimate
    from benchmark.text.counts import Counts

    Arrays = dict[str, NDArray[Any]]


class Kept(Protocol):
    """The store, as a measure sees it: what was computed from the same content before."""

    def get(self, content: Mapping[str, Any]) -> Arrays | None:
        """The arrays, or None where they have to be computed."""

    def put(self, content: Mapping[str, Any], arrays: Arrays) -> None:
        """Keep them."""


@dataclass(frozen=True, eq=False)
class Context:
    """What a measure computes from.

    Parameters
    ----------
    counts : Counts
        Of all documents of the variant.
    key : str
        Digest of all that `counts` come from.
    variant : Variant
    seed : int
        Of the experiment.
    jobs : int
        Threads.
    kept : Kept
    """

    counts: Counts
    key: str
    variant: Variant
    seed: int
    jobs: int
    kept: Kept

    def once(self, content: Mapping[str, Any], compute: Callable[[], Arrays]) -> Arrays:
        """Arrays that the store has, or else computes now and keeps; `content` is all that decides them."""
        known = self.kept.get({"counts": self.key, **content})
        if known is None:
            known = compute()
            self.kept.put({"counts": self.key, **content}, known)
        return known


@dataclass(frozen=True)
class Measured:
    """A number with its interval. The cell is one of the experiment's, or a name that printed numbers have for it."""

    cell: str
    metric: str
    estimate: Estimate


@dataclass(frozen=True)
class Point:
    """A point of a line that only a figure shows: a number against a parameter of the measure.

    Parameters
    ----------
    axis : str
        Name of the parameter: "smoothing".
    x : float
    method, of_class, metric : str
    value : float
    """

    axis: str
    x: float
    method: str
    of_class: str
    metric: str
    value: float


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


class Measure(Protocol):
    """One measure; its parameters are its constructor's.

    What it does besides, it has of the protocols below, and of `config.model.WithCells`.
    """

    @property
    def base_only(self) -> bool:
        """Whether it is of the configuration itself alone, not of its variants."""

    @property
    def code(self) -> tuple[Any, ...]:
        """The classes and functions that decide its numbers; keys follow the imports from there."""

    def compute(self, context: Context) -> Arrays:
        """All that it finds out about one variant.

        Raises
        ------
        ValueError, FloatingPointError
            If it is not defined for these documents.
        """

    def notes(self, reading: Reading) -> Iterable[str]:
        """What a reader of the numbers has to know."""


@runtime_checkable
class WithRows(Protocol):
    """A measure whose numbers are judged: those of its cells, or of names that a paper has for others."""

    def rows(self, found: Found) -> tuple[Measured, ...]:
        """The numbers."""


@runtime_checkable
class WithPoints(Protocol):
    """A measure that figures show more of than tables."""

    def points(self, found: Found) -> tuple[Point, ...]:
        """The points of its lines."""


@runtime_checkable
class OnClock(Protocol):
    """A measure that takes the time."""

    def timings(self, found: Found) -> dict[str, dict[str, float]]:
        """Seconds by what was done, for the manifest."""


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


def words(names: Iterable[str]) -> NDArray[np.uint8]:
    """Names as an array; NUL stands between them."""
    return np.frombuffer("\0".join(names).encode(), dtype=np.uint8)


def names(array: NDArray[np.uint8]) -> tuple[str, ...]:
    """Names back from their array."""
    return tuple(array.tobytes().decode().split("\0"))
