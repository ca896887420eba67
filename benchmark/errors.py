"""The errors that are for the person at the keyboard: one clear message each, and the exit code it gives."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class BenchError(Exception):
    """A condition the user can mend; the command line prints the message without a traceback."""

    exit_code = 1


class ConfigError(BenchError):
    """A configuration that says something impossible; raised before any work is done."""

    exit_code = 2


class DataError(BenchError):
    """A corpus that is missing, damaged, or not the one its dataset card describes."""

    exit_code = 3


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the nearest allowed name, or nothing if none is near."""
    nearest = difflib.get_close_matches(name, list(allowed), n=1, cutoff=0.5)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def unknown(what: str, name: object, allowed: Sequence[str]) -> str:
    """The message for a name that isn't one of `allowed`."""
    return f"unknown {what} {name!r}{did_you_mean(str(name), allowed)} (allowed: {', '.join(allowed)})"
