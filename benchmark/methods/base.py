"""Protocol of a method: train on the splits of a task and predict its test documents."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from benchmark.evaluation.predictions import TIMERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.text.counts import Counts


@dataclass(frozen=True, eq=False)
class Problem:
    """The documents of one task under one variant, before they are split.

    Parameters
    ----------
    counts : Counts
        Term counts of the task's documents; labels are positions in the task's classes.
    key : str
        Digest of everything that determines `counts`.
    seed : int
        Seed of the experiment.
    trained : intp array, optional
        Rows of the documents that any split of the experiment trains on, ascending; inner products have a column for
        each.
    """

    counts: Counts
    key: str
    seed: int
    trained: NDArray[np.intp] | None = None

    @property
    def documents(self) -> Documents:
        """The task's documents."""
        return self.counts.documents

    @property
    def several(self) -> bool:
        """True if a document may have several classes, or none."""
        return self.documents.topics is not None

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """Class indicators of each document, shape (n, k)."""
        documents = self.documents
        if documents.topics is not None:
            return documents.topics
        return np.asarray(documents.labels[:, None] == np.arange(len(documents.classes)))


class Method(Protocol):
    """Representation, optional kernel and classifier for the documents of one problem."""

    @property
    def batched(self) -> bool:
        """True if the splits of a setting are solved together and stored as one entry."""

    @property
    def uses_seed(self) -> bool:
        """True if predictions depend on the problem's seed."""

    @property
    def spec(self) -> MethodSpec:
        """Specification of the method, from the configuration."""

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on the training documents of each split and predict its test documents.

        Parameters
        ----------
        problem : Problem
        splits : sequence of Split
        terms : int or None
            Number of terms to select; None for all.
        bench : MatrixCache

        Returns
        -------
        list of SettingPredictions
            One for each split.

        Raises
        ------
        ValueError, FloatingPointError
            If the method can't be used on these documents.
        """

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: MatrixCache) -> FittedMethod:
        """Train on the training documents of a split, as `solve` does, and return the trained method.

        Raises
        ------
        ValueError, FloatingPointError
            If the method can't be used on these documents, or has no trained state that can be saved.
        """


class Stopwatch:
    """Timer of the parts that `TIMERS` names."""

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(TIMERS, 0.0)
        self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """Add the time since the last lap to `part`."""
        now = time.perf_counter()
        self._seconds[part] += now - self._last
        self._last = now

    def book(self, part: str, seconds: float) -> None:
        """Add seconds that were measured elsewhere to `part`, and discard the time since the last lap."""
        self._seconds[part] += seconds
        self._last = time.perf_counter()

    def seconds(self, *parts: str) -> NDArray[np.float64]:
        """Return the seconds of each of `TIMERS`, shape (6,), with 0 for those not among `parts`, if any are named."""
        return np.array([self._seconds[part] if not parts or part in parts else 0.0 for part in TIMERS])
