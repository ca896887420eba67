"""The scores of one cell, split by split, whatever the sample is: what is estimated, compared and tested."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.metrics import METRICS, defined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.metrics import Tallies
    from benchmark.evaluation.outcomes import Outcome


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
    """

    cell: str
    folds: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]
    n: NDArray[np.int64]
    ties: NDArray[np.int64]
    outcome: Outcome | None = None
    known: Mapping[str, Estimate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for metric, values in self.values.items():
            if values.shape != (len(self.folds),) or not values.size or not np.isfinite(values).all():
                raise ValueError(f"{self.cell!r}: {metric} must be finite on each of {len(self.folds)} splits")

    def has(self, metric: str) -> bool:
        """Whether there is a score of this metric."""
        return metric in self.values or metric in self.known

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics that it is scored by."""
        return (*self.values, *(metric for metric in self.known if metric not in self.values))


def values_of(tallies: Tallies, *, several: bool, of_class: bool) -> dict[str, NDArray[np.float64]]:
    """Every metric that is defined of such decisions, on each split.

    Parameters
    ----------
    tallies : Tallies
        Of shape (splits, k); of one class by itself, (splits, 1).
    several : bool
        Whether documents may have several classes, or none.
    of_class : bool
        Whether they are of one class by itself.
    """
    names = [name for name in METRICS if defined(name, several=several, of_class=of_class)]
    return {name: METRICS[name].of(tallies) for name in names}
