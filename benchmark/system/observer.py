"""Progress of a run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Observer:
    """Progress callbacks; this base class ignores them."""

    def begin(self, title: str) -> None:
        """Report that the next run begins, or the work after the last run."""

    def end(self, line: str) -> None:
        """Report that a run ended, in a line where it is one of several."""

    def plan(self, steps: int, later: int = 0) -> None:
        """Add `steps` to the number of steps; about `later` more will be added afterwards."""

    def step(self, done: str, *, stored: bool = False) -> None:
        """Report that a step is done, or that its result was in the store."""

    def now(self, doing: str) -> None:
        """Report the work that begins now."""

    def note(self, message: str) -> None:
        """Report something that every user should know."""

    def detail(self, text: str) -> None:
        """Report a detail, shown only on request."""


class LineObserver(Observer):
    """Progress of one run in lines of text, the fewer the longer it takes: one in a second, later one in a tenth of it.

    Parameters
    ----------
    say : callable, optional
        Called with each line.
    warn : callable
        Called with what every user should know.
    """

    def __init__(self, say: Callable[[str], object] | None, warn: Callable[[str], object]) -> None:
        self._say, self._warn = say, warn
        self._steps = self._later = self._done = 0
        self._began = self._last = time.perf_counter()

    def plan(self, steps: int, later: int = 0) -> None:
        """Add `steps` to the number of steps; `later` estimates how many will be added after them."""
        self._steps, self._later = self._steps + steps, later

    def step(self, done: str, *, stored: bool = False) -> None:  # noqa: ARG002 - a step is a step
        """Report a step, if the last line is long enough ago, or no step is left."""
        self._done += 1
        now, whole = time.perf_counter(), max(self._done, self._steps + self._later)
        if self._say is not None and (self._done == whole or now - self._last >= max(1.0, (now - self._began) / 10)):
            self._last = now
            self._say(f"{self._done:,} of {whole:,} steps: {done}")

    def note(self, message: str) -> None:
        """Warn of something that every user should know."""
        self._warn(message)
