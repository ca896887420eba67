"""Who is told how a run goes on."""

from __future__ import annotations

from typing import Protocol


class Observer(Protocol):
    """Who is told how a run goes on."""

    def plan(self, steps: int) -> None:
        """Say how many steps more the run has."""

    def step(self, done: str) -> None:
        """A step is done."""

    def note(self, message: str) -> None:
        """Something the user should know."""


class Silent:
    """An observer that says nothing."""

    def plan(self, steps: int) -> None:
        """Nothing."""

    def step(self, done: str) -> None:
        """Nothing."""

    def note(self, message: str) -> None:
        """Nothing."""
