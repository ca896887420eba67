"""Who is told how a run goes on."""

from __future__ import annotations


class Observer:
    """Who is told how a run goes on; this one keeps it to itself."""

    def plan(self, steps: int) -> None:
        """Say how many steps more the run has."""

    def step(self, done: str) -> None:
        """A step is done."""

    def note(self, message: str) -> None:
        """Something the user should know."""

    def detail(self, text: str) -> None:
        """Something that only who asks for it should see."""
