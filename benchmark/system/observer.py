"""Progress of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Observer:
    """Progress callbacks; this base class ignores them."""

    def expect(self, cells: Sequence[int]) -> None:
        """Report the number of cells of each run that follows."""

    def begin(self, title: str) -> None:
        """Report that the next run begins, or the work after the last run."""

    def end(self, line: str) -> None:
        """Report that a run ended, in a line."""

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
