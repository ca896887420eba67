"""Scores of one cell, and the columns of tables of scores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.outcomes import outcome_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.outcomes import Outcome
    from benchmark.system.arrays import Array

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
    values: Mapping[str, Array]
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

    def can_score(self, metric: str) -> bool:
        """Return whether the metric can be computed from the predictions, or their decision values."""
        return self.outcome is not None and self.outcome.can_score(metric)

    def named(self, cell: str) -> CellScores:
        """Return the same scores under another cell's name."""
        return replace(self, cell=cell, outcome=None if self.outcome is None else replace(self.outcome, cell=cell))

    def of_class(self, position: int) -> CellScores:
        """Return the scores of one class, computed from predictions on all classes."""
        if self.outcome is None:
            raise ValueError(f"{self.cell!r} has no predictions, so its classes can't be scored one by one")
        outcome = replace(self.outcome, of_class=position)
        tested, ties = outcome.tallies.documents, self.outcome.ties(position)
        return CellScores(self.cell, self.folds, outcome_scores(outcome), tested, ties, outcome)


def mean_scores(name: str, cells: Sequence[CellScores]) -> CellScores:
    """Return the mean scores of cells on the splits that they share, of each metric that all have."""
    first, ties = cells[0], np.sum([each.ties for each in cells], axis=0)
    shared = [metric for metric in first.values if all(metric in each.values for each in cells)]
    values = {metric: np.mean([each.values[metric] for each in cells], axis=0) for metric in shared}
    return CellScores(name, first.folds, values, first.n, ties)
