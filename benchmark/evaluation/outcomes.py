"""What one cell decided on every tested document of every split: the form in which cells are scored and paired."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.metrics import METRICS, Tallies, stacked, tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.evaluation.metrics import Metric

    Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one cell of an experiment decided.

    Parameters
    ----------
    cell : str
        Name of the cell, "tf-l1-ngd".
    documents : int array, shape (n,)
        Number of the tested document; occurs once a split that tests it.
    folds : int array, shape (n,)
        Number of the split that tested it.
    truth, predicted : int arrays, shape (n,), or bool arrays, shape (n, k)
        Class indices, from 0 to n_classes - 1; or which classes a document has, and which it was given.
    n_classes : int
    of_class : int or None
        The class that is scored by itself; None for all of them together.
    tied : bool array, of the shape of `truth`, or None
        Decisions whose first place was shared, or whose value was exactly 0; None where it isn't known.
    known : mapping of str to Metric
        What it can be scored by.
    """

    cell: str
    documents: Ints
    folds: Ints
    truth: NDArray[Any]
    predicted: NDArray[Any]
    n_classes: int
    of_class: int | None = None
    tied: NDArray[np.bool_] | None = None
    known: Mapping[str, Metric] = field(default_factory=lambda: METRICS)

    def __post_init__(self) -> None:
        rows = {array.shape[:1] for array in (self.documents, self.folds, self.truth, self.predicted)}
        if len(rows) != 1 or self.truth.shape != self.predicted.shape or not self.truth.size:
            raise ValueError(f"{self.cell!r}: documents, folds, truth and predicted have shapes {sorted(rows)}")
        if self.several:
            if (
                self.truth.dtype != np.bool_
                or self.predicted.dtype != np.bool_
                or self.truth.shape[1] != self.n_classes
            ):
                raise ValueError(f"{self.cell!r}: decisions on several classes are booleans, one a class")
        elif not all(part.min() >= 0 and part.max() < self.n_classes for part in (self.truth, self.predicted)):
            raise ValueError(f"class indices of {self.cell!r} must lie between 0 and {self.n_classes - 1}")

    @property
    def several(self) -> bool:
        """Whether a document may have several classes, or none."""
        return self.truth.ndim == 2

    @cached_property
    def correct(self) -> NDArray[np.bool_]:
        """Whether each decision is right, of the shape of `truth`."""
        return np.asarray(self.truth == self.predicted)

    @cached_property
    def repeats_documents(self) -> bool:
        """Whether a document is tested by more than one split, as random subsets do."""
        return bool(np.unique(self.documents).size < self.documents.size)

    @cached_property
    def rows(self) -> tuple[NDArray[np.intp], ...]:
        """Positions that belong to each split, split by split."""
        return tuple(np.flatnonzero(self.folds == fold) for fold in np.unique(self.folds))

    @cached_property
    def tallies(self) -> Tallies:
        """Counts of the class or classes that are scored, the first axis being the splits."""
        whole = stacked(tally(self.truth[rows], self.predicted[rows], self.n_classes) for rows in self.rows)
        return whole if self.of_class is None else whole.only(self.of_class)

    @cached_property
    def parts(self) -> tuple[Outcome, ...]:
        """The outcome of each split alone."""
        return tuple(self._part(rows) for rows in self.rows)

    def _part(self, rows: NDArray[np.intp]) -> Outcome:
        names = ("documents", "folds", "truth", "predicted", *(() if self.tied is None else ("tied",)))
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def ties(self, of_class: int | None) -> NDArray[np.int64]:
        """Ties of each split: of all decisions, of those on the documents of one class, or on that class."""
        tied = np.zeros(self.truth.shape, dtype=bool) if self.tied is None else self.tied
        if of_class is not None:
            tied = tied[:, of_class] if self.several else tied & (self.truth == of_class)
        return np.array([np.count_nonzero(tied[rows]) for rows in self.rows], dtype=np.int64)

    def counted(self) -> NDArray[np.bool_]:
        """Which rows are of the class that is scored, shape (n,); all of them where no class is scored by itself."""
        if self.of_class is None:
            return np.ones(len(self.documents), dtype=bool)
        return np.asarray(self.truth[:, self.of_class] if self.several else self.truth == self.of_class)


def fold_scores(outcome: Outcome, metric: str) -> NDArray[np.float64]:
    """The metric on each split, in the order of the splits; the score of a cell is their mean."""
    return outcome.known[metric].scores(outcome.tallies)


def check_same_documents(a: Outcome, b: Outcome) -> None:
    """Refuse to pair outcomes that are not of the same documents in the same order.

    Raises
    ------
    ValueError
        Which names what they differ in.
    """
    for name in ("documents", "folds", "truth"):
        if not np.array_equal(getattr(a, name), getattr(b, name)):
            raise ValueError(f"{a.cell!r} and {b.cell!r} differ in {name}: only the same test documents can be paired")
    if a.of_class != b.of_class:
        raise ValueError(f"{a.cell!r} and {b.cell!r} are scores of different classes")
