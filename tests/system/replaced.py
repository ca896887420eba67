"""Functions and classes that a test replaces."""

from __future__ import annotations

NUMBER = 1


def told() -> str:
    """Return a word."""
    return "told"


def _hidden() -> str:
    return "hidden"


class Base:
    """Class with a method of each kind."""

    def told(self) -> str:
        """Return a word."""
        return "told"

    @property
    def size(self) -> int:
        """A number."""
        return 1

    @staticmethod
    def made() -> str:
        """Return a word."""
        return "made"


class Derived(Base):
    """Class that has all from its base."""
