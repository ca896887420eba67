"""A table of any values, shown by commands that report on something other than a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TerminalTable:
    """A table for the terminal, with the text that is printed if it has no rows."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    empty: str = "none"
