"""What a method is: it is given a task's documents and splits, and gives decisions on the tested documents."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from benchmark.evaluation.predictions import CLOCKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.workbench import Workbench
    from benchmark.text.counts import Counts


@dataclass(frozen=True, eq=False)
class Problem:
    """The documents of one task under one variant, before they are split.

    Parameters
    ----------
    counts : Counts
        Of the task's documents alone; labels are positions in the task's classes.
    key : str
        Digest of all that `counts` come from.
    seed : int
        Of the experiment.
    trained : intp array, optional
        Documents that any split of the experiment trains on, ascending: inner products have columns for them.
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
        """Whether a document may have several classes, or none."""
        return self.documents.topics is not None

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """Which classes each document has, shape (n, k)."""
        documents = self.documents
        if documents.topics is not None:
            return documents.topics
        return np.asarray(documents.labels[:, None] == np.arange(len(documents.classes)))


class Method(Protocol):
    """A representation, a kernel or none, and a classifier, ready for the documents of one problem."""

    @property
    def batched(self) -> bool:
        """Whether the splits of a point are solved together, and kept as one entry of the store."""

    @property
    def uses_seed(self) -> bool:
        """Whether its decisions depend on the problem's seed."""

    @property
    def spec(self) -> MethodSpec:
        """What the configuration says of it."""

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: Workbench
    ) -> list[SettingPredictions]:
        """Train on each split's training documents and decide on those it tests.

        Parameters
        ----------
        problem : Problem
        splits : sequence of Split
        terms : int or None
            How many terms are selected; None for all.
        bench : Workbench

        Raises
        ------
        ValueError, FloatingPointError
            If the method can't be used on these documents.
        """

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: Workbench) -> FittedMethod:
        """Train on a split's training documents, as `solve` does, and keep what decides on any others.

        Raises
        ------
        ValueError, FloatingPointError
            If the method can't be used on these documents, or what it learns can't be kept.
        """


class Stopwatch:
    """Seconds by `CLOCKS`."""

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(CLOCKS, 0.0)
        self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        """Book the time since the last lap."""
        now = time.perf_counter()
        self._seconds[part] += now - self._last
        self._last = now

    def book(self, part: str, seconds: float) -> None:
        """Book seconds that were measured elsewhere, and none of the time since the last lap."""
        self._seconds[part] += seconds
        self._last = time.perf_counter()

    def seconds(self, *parts: str) -> NDArray[np.float64]:
        """All parts' seconds, those that aren't named as 0."""
        return np.array([self._seconds[part] if not parts or part in parts else 0.0 for part in CLOCKS])
