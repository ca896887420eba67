"""What the sample is: the tested documents, or the draws of training documents. The protocol decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from benchmark.evaluation.by_documents import ByDocuments
from benchmark.evaluation.by_draws import ByDraws
from benchmark.evaluation.protocols import RandomSubsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.evaluation.intervals import Estimate
    from benchmark.evaluation.scores import CellScores
    from benchmark.evaluation.significance import TestResult


class Sample(Protocol):
    """How the scores of cells are estimated and compared; a ValueError says why two cells can't be paired."""

    @property
    def words(self) -> str:
        """What is the sample, and which intervals and tests follow from it."""

    @property
    def bars(self) -> str:
        """What error bars of scores are."""

    @property
    def bars_of_difference(self) -> str:
        """What error bars of differences are."""

    @property
    def bars_of_ratio(self) -> str:
        """What error bars of ratios are."""

    def estimate(self, scores: CellScores, metric: str) -> Estimate:
        """The score of a cell: the mean over its splits, with its 95% interval."""

    def part(self, scores: CellScores, metric: str, fold: int) -> Estimate:
        """The score of one split, by its position."""

    def difference(self, a: CellScores, b: CellScores, metric: str) -> Estimate:
        """Score of a less that of b, with the 95% interval of paired data."""

    def ratio(self, a: CellScores, b: CellScores, metric: str) -> Estimate:
        """Score of a over that of b."""

    def sign_z(self, a: CellScores, b: CellScores) -> Estimate:
        """Z of the micro sign test of a against b."""

    def test(self, name: str, a: CellScores, b: CellScores, metric: str) -> TestResult:
        """The test of this name, a key of `significance.TESTS`; "not testable" where the sample doesn't allow it."""

    def tests(self, a: CellScores, b: CellScores, metrics: Sequence[str]) -> list[TestResult]:
        """Every test that is valid, uncorrected; the first metric is the main one."""


def sample_of(protocol: type, seed: int) -> Sample:
    """The draws, of a protocol that draws training documents repeatedly; the tested documents of any other.

    Parameters
    ----------
    protocol : type
        Its class, as `PROTOCOLS` has it.
    seed : int
        Of the bootstrap.
    """
    return ByDraws(seed) if issubclass(protocol, RandomSubsets) else ByDocuments(seed)
