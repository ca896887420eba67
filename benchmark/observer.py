"""Who is told how a run goes on."""

from __future__ import annotations


class Observer:
    """Who is told how a run goes on; this one keeps it to itself."""

    def plan(self, steps: int, later: int = 0) -> None:
        """Say how many steps more the run has, and about how many will be told of after these."""

    def step(self, done: str, *, stored: bool = False) -> None:
        """A step is done, or the store had what it gives."""

    def now(self, doing: str) -> None:
        """Say what is being done from here on."""

    def note(self, message: str) -> None:
        """Something the user should know."""

    def detail(self, text: str) -> None:
        """Something that only who asks for it should see."""
