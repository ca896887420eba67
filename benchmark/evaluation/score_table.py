"""Scores of an experiment, computed once and read by tables, verdicts and figures, whatever the sample."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.metrics import metric_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.outcomes import Outcome
    from benchmark.evaluation.sampling_model import SamplingModel
    from benchmark.evaluation.significance import TestResult

#: Fold name of a cell's score over all splits: their mean, or the score of a single split.
ALL_SPLITS = "all"
SCORE_COLUMNS = ("cell", "fold", "metric", "value", "low", "high", "n", "ties")
#: Columns that describe a row's cell; size and terms are missing where they are not axes.
CELL_COLUMNS = ("variant", "task", "of_class", "method", "choice", "size", "terms", "what")


@dataclass(frozen=True, eq=False)
class CellScores:
    """Scores of one cell on every split.

    Parameters
    ----------
    cell : str
    folds : tuple of str
        Names of the splits; empty for a cell without splits.
    values : mapping of str to float64 array, shape (splits,)
        Scores by metric; shares are fractions.
    n, ties : int arrays, shape (splits,)
        Numbers of tested documents and of tied decisions.
    outcome : Outcome or None
        The predictions themselves; None for a cell that is computed from scores or makes no predictions.
    known : mapping of str to Estimate
        Estimates by metric that are not computed from the splits: a bootstrap of all documents, a count.
    recorded : mapping of (metric, fold, cell) to Estimate
        Estimates of plug-in metrics, in a run that is read from its folder. Where the cell is "", the score of a fold
        (`ALL_SPLITS` for all); else the difference to the score of that cell.
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
        """Return whether the cell has a score of this metric."""
        return metric in self.values or metric in self.known

    def has_counts(self, metric: str) -> bool:
        """Return whether the metric can be computed from counts of decisions."""
        metrics = {} if self.outcome is None else self.outcome.known
        return metric in metrics and metrics[metric].of is not None

    def named(self, cell: str) -> CellScores:
        """Return the same scores under another cell's name."""
        return replace(self, cell=cell, outcome=None if self.outcome is None else replace(self.outcome, cell=cell))

    def of_class(self, position: int) -> CellScores:
        """Return the scores of one class, computed from predictions on all classes."""
        if self.outcome is None:
            raise ValueError(f"{self.cell!r} has no predictions, so its classes can't be scored one by one")
        whole, tallies = self.outcome, self.outcome.tallies.only(position)
        values = metric_values(tallies, several=whole.several, of_class=True, known=whole.known)
        outcome = replace(whole, of_class=position)
        return CellScores(self.cell, self.folds, values, tallies.documents, whole.ties(position), outcome)


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """All scores of an experiment; the frames, whose intervals are slow to compute, are made at first access.

    Parameters
    ----------
    cells : mapping of cell id to CellScores
        Cells that have a score, in table order, and the diagnostics that are not cells.
    samples : mapping of cell id to Sample
    chosen : mapping of cell id to intp array, shape (splits,)
        Index of the candidate that each split uses.
    frames : callable
        Function that computes `frame` and `drawn`.
    """

    cells: Mapping[str, CellScores]
    samples: Mapping[str, SamplingModel]
    chosen: Mapping[str, NDArray[np.intp]]
    frames: Callable[[], tuple[pd.DataFrame, pd.DataFrame]]

    @cached_property
    def _frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        return self.frames()

    @property
    def frame(self) -> pd.DataFrame:
        """Scores of tables: `SCORE_COLUMNS`, `CELL_COLUMNS`, and the kernel, or else the feature map or classifier.

        It has a row for each cell, metric and split, and one for each cell and metric whose fold is `ALL_SPLITS`.
        """
        return self._frames[0]

    @property
    def drawn(self) -> pd.DataFrame:
        """Scores that only figures show, such as seconds on the clock and single classes.

        It has the columns of `frame`, and one for each parameter or number on the horizontal axis of a figure.
        """
        return self._frames[1]

    def has(self, metric: str, *cells: str) -> bool:
        """Return whether all these cells have a score of this metric."""
        return all(cell in self.cells and self.cells[cell].has(metric) for cell in cells)

    def estimate(self, cell: str, metric: str) -> Estimate:
        """Return the score of a cell, with its interval."""
        return self.samples[cell].estimate(self.cells[cell], metric)

    def difference(self, a: str, b: str, metric: str) -> Estimate:
        """Return the score of a minus that of b; raise ValueError if they can't be paired."""
        return self._sample(a, b).difference(self.cells[a], self.cells[b], metric)

    def ratio(self, a: str, b: str, metric: str) -> Estimate:
        """Return the score of a divided by that of b; raise ValueError if it has no interval."""
        return self._sample(a, b).ratio(self.cells[a], self.cells[b], metric)

    def sign_z(self, a: str, b: str) -> Estimate:
        """Return Z of the micro sign test; raise ValueError if it is not defined."""
        return self._sample(a, b).sign_z(self.cells[a], self.cells[b])

    def test(self, name: str, a: str, b: str, metric: str) -> TestResult:
        """Run the test of this name; raise ValueError if the cells can't be paired."""
        return self._sample(a, b).test(name, self.cells[a], self.cells[b], metric)

    def tests(self, a: str, b: str, metrics: Sequence[str]) -> list[TestResult]:
        """Run every valid test; raise ValueError if the cells can't be paired."""
        return self._sample(a, b).tests(self.cells[a], self.cells[b], metrics)

    def _sample(self, a: str, b: str) -> SamplingModel:
        if self.samples[a] != self.samples[b]:
            raise ValueError(f"{a!r} and {b!r} are tested under protocols with different samples: they can't be paired")
        return self.samples[a]
