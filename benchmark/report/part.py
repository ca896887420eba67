"""What a command shows that is no run: a table of any values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Part:
    """A table to show in the terminal, or what to say if it has no rows."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    empty: str = "none"
