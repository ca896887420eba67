"""Scores of an experiment, computed once and read by tables, verdicts and figures, whatever the sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from benchmark.evaluation.outcomes import mean_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from benchmark.evaluation.outcomes import CellScores, Estimate
    from benchmark.evaluation.sampling_model import SamplingModel
    from benchmark.evaluation.significance import TestResult
    from benchmark.system.arrays import Indices


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """All scores of an experiment; the frames, whose intervals are slow to compute, are made at first access.

    Parameters
    ----------
    cells : mapping of cell id to CellScores
        Cells that have a score, in table order, and the diagnostics that are not cells.
    samples : mapping of cell id to SamplingModel
    chosen : mapping of cell id to intp array, shape (splits,)
        Index of the candidate that each split uses.
    frames : callable
        Function that computes `frame` and `drawn`.
    """

    cells: Mapping[str, CellScores]
    samples: Mapping[str, SamplingModel]
    chosen: Mapping[str, Indices]
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

    def with_mean(self, name: str, cells: Sequence[str]) -> ScoreTable:
        """Return the table with one more cell, the mean of cells that can be paired, on each split."""
        mean = mean_scores(name, [self.cells[cell] for cell in cells])
        return replace(self, cells={**self.cells, name: mean}, samples={**self.samples, name: self.samples[cells[0]]})

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
