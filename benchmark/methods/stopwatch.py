"""Seconds of the parts of training and testing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.predictions import TIMERS

if TYPE_CHECKING:
    from numpy.typing import NDArray


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

    def seconds(self) -> NDArray[np.float64]:
        """Return the seconds of each of `TIMERS`, shape (6,)."""
        return np.array(list(self._seconds.values()))
