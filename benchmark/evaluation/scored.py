"""The scores of an experiment, computed once: what tables, verdicts and figures read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.sample import Sample
    from benchmark.evaluation.scores import CellScores
    from benchmark.evaluation.significance import TestResult

#: The fold that stands for the cell: the mean over its splits, or its one split.
WHOLE = "all"
SCORES = ("cell", "fold", "metric", "value", "low", "high", "n", "ties")
#: What a row's cell is made of; size and terms are missing where they are no axes.
KEYS = ("variant", "task", "of_class", "method", "choice", "size", "terms", "what")


@dataclass(frozen=True, eq=False)
class Scored:
    """All scores of an experiment.

    Parameters
    ----------
    cells : mapping of cell id to CellScores
        Cells that have a score, in table order; and the numbers of measures that are no cells.
    samples : mapping of cell id to Sample
    chosen : mapping of cell id to intp array, shape (splits,)
        Which candidate each split uses.
    frame : DataFrame
        Columns `SCORES` and `KEYS`: a row for each cell, metric and split, and one for the cell, whose fold is `WHOLE`.
    drawn : DataFrame
        The same columns, and one for each parameter that is the horizontal axis of a figure: what figures show and no
        table does, such as seconds on the clock, and single classes.
    """

    cells: Mapping[str, CellScores]
    samples: Mapping[str, Sample]
    chosen: Mapping[str, NDArray[np.intp]]
    frame: pd.DataFrame
    drawn: pd.DataFrame

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
