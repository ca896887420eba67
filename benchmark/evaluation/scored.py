"""The scores of an experiment, computed once, whatever the sample is: what tables, verdicts and figures read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.metrics import values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.outcomes import Outcome
    from benchmark.evaluation.sample import Sample
    from benchmark.evaluation.significance import TestResult

#: The fold that stands for the cell: the mean over its splits, or its one split.
WHOLE = "all"
SCORES = ("cell", "fold", "metric", "value", "low", "high", "n", "ties")
#: What a row's cell is made of; size and terms are missing where they are no axes.
KEYS = ("variant", "task", "of_class", "method", "choice", "size", "terms", "what")


@dataclass(frozen=True, eq=False)
class CellScores:
    """What one cell scored on every split.

    Parameters
    ----------
    cell : str
    folds : tuple of str
        Names of the splits; empty where the cell is of none.
    values : mapping of str to float64 array, shape (splits,)
        By metric; shares are fractions.
    n, ties : int arrays, shape (splits,)
        Documents tested, and decisions that fell on the boundary.
    outcome : Outcome or None
        The decisions themselves; None of what is computed from scores, or is no prediction.
    known : mapping of str to Estimate
        By metric, an estimate that comes from elsewhere than the splits: a bootstrap of all documents, a count.
    recorded : mapping of (metric, fold, cell) to Estimate
        Of metrics of plug-ins in a run that is read from its folder: the score of a fold, `WHOLE` for all, where the
        cell is ""; else the difference to the score of that cell.
    """

    cell: str
    folds: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]
    n: NDArray[np.int64]
    ties: NDArray[np.int64]
    outcome: Outcome | None = None
    known: Mapping[str, Estimate] = field(default_factory=dict)
    recorded: Mapping[tuple[str, str, str], Estimate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for metric, values in self.values.items():
            if values.shape != (len(self.folds),) or not values.size or not np.isfinite(values).all():
                raise ValueError(f"{self.cell!r}: {metric} must be finite on each of {len(self.folds)} splits")

    def has(self, metric: str) -> bool:
        """Whether there is a score of this metric."""
        return metric in self.values or metric in self.known

    def has_counts(self, metric: str) -> bool:
        """Return whether the metric can be computed from counts of decisions."""
        metrics = {} if self.outcome is None else self.outcome.known
        return metric in metrics and metrics[metric].of is not None

    def named(self, cell: str) -> CellScores:
        """The same scores under another name."""
        return replace(self, cell=cell, outcome=None if self.outcome is None else replace(self.outcome, cell=cell))

    def of_class(self, position: int) -> CellScores:
        """The scores of one class by itself, of a cell that is of predictions on all of them."""
        if self.outcome is None:
            raise ValueError(f"{self.cell!r} is of no predictions, of which each class could be scored by itself")
        whole, tallies = self.outcome, self.outcome.tallies.only(position)
        values = values_of(tallies, several=whole.several, of_class=True, known=whole.known)
        outcome = replace(whole, of_class=position)
        return CellScores(self.cell, self.folds, values, tallies.documents, whole.ties(position), outcome)


@dataclass(frozen=True, eq=False)
class Scored:
    """All scores of an experiment; the frames, whose intervals take longer than all else, are made when asked for.

    Parameters
    ----------
    cells : mapping of cell id to CellScores
        Cells that have a score, in table order; and the numbers of measures that are no cells.
    samples : mapping of cell id to Sample
    chosen : mapping of cell id to intp array, shape (splits,)
        Which candidate each split uses.
    frames : callable
        Makes `frame` and `drawn`.
    """

    cells: Mapping[str, CellScores]
    samples: Mapping[str, Sample]
    chosen: Mapping[str, NDArray[np.intp]]
    frames: Callable[[], tuple[pd.DataFrame, pd.DataFrame]]

    @cached_property
    def _frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        return self.frames()

    @property
    def frame(self) -> pd.DataFrame:
        """Columns `SCORES`, `KEYS` and the name of the kernel, or of what stands for it.

        A row for each cell, metric and split, and one for the cell, whose fold is `WHOLE`.
        """
        return self._frames[0]

    @property
    def drawn(self) -> pd.DataFrame:
        """The same columns, and one for each parameter or number that is the horizontal axis of a figure.

        Of what figures show and no table does, such as seconds on the clock, and single classes.
        """
        return self._frames[1]

    def has(self, metric: str, *cells: str) -> bool:
        """Whether all these cells have a score of this metric."""
        return all(cell in self.cells and self.cells[cell].has(metric) for cell in cells)

    def estimate(self, cell: str, metric: str) -> Estimate:
        """The score of a cell, with its interval."""
        return self.samples[cell].estimate(self.cells[cell], metric)

    def difference(self, a: str, b: str, metric: str) -> Estimate:
        """The score of a less that of b; a ValueError says why they can't be paired."""
        return self._sample(a, b).difference(self.cells[a], self.cells[b], metric)

    def ratio(self, a: str, b: str, metric: str) -> Estimate:
        """The score of a over that of b; a ValueError says why there is none."""
        return self._sample(a, b).ratio(self.cells[a], self.cells[b], metric)

    def sign_z(self, a: str, b: str) -> Estimate:
        """Z of the micro sign test; a ValueError says why there is none."""
        return self._sample(a, b).sign_z(self.cells[a], self.cells[b])

    def test(self, name: str, a: str, b: str, metric: str) -> TestResult:
        """The test of this name; a ValueError says why the cells can't be paired."""
        return self._sample(a, b).test(name, self.cells[a], self.cells[b], metric)

    def tests(self, a: str, b: str, metrics: Sequence[str]) -> list[TestResult]:
        """Every valid test; a ValueError says why the cells can't be paired."""
        return self._sample(a, b).tests(self.cells[a], self.cells[b], metrics)

    def _sample(self, a: str, b: str) -> Sample:
        if self.samples[a] != self.samples[b]:
            raise ValueError(f"{a!r} and {b!r} are tested under protocols with different samples: they can't be paired")
        return self.samples[a]
