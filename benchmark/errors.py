"""Errors for the user: a message that the command line prints, and an exit code."""

from __future__ import annotations

import difflib
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class BenchError(Exception):
    """Problem that the user can correct; the command line prints its message without a traceback."""

    exit_code = 1


class ConfigError(BenchError):
    """Invalid configuration; raised before any work is done."""

    exit_code = 2


class DataError(BenchError):
    """Corpus that is missing, damaged, or differs from its dataset card."""

    exit_code = 3


#: Largest number of problems listed for one file, and of names searched for a suggestion or listed as allowed.
MOST_PROBLEMS, MOST_NAMES = 20, 1000
#: Largest number of characters of a message, and of a value in it.
LONGEST, LONGEST_VALUE = 5000, 200


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest allowed name, or "" if none is similar."""
    nearest = difflib.get_close_matches(name, list(islice(allowed, MOST_NAMES)), n=1, cutoff=0.5)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def unknown(what: str, name: object, allowed: Sequence[str]) -> str:
    """Return the message for a name that isn't one of `allowed`."""
    named = ", ".join(allowed[:MOST_NAMES])
    return f"unknown {what} {quoted(name)}{did_you_mean(str(name), allowed)} (allowed: {named})"


def quoted(value: object) -> str:
    """Format a value for an error message; of a long value only the beginning and end."""
    return _cut(repr(value), LONGEST_VALUE)


def in_a_line(message: str) -> str:
    """Escape line breaks and control characters in a message, and shorten it if it is too long."""
    plain = message if message.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    return _cut(plain, LONGEST)


def together(problems: Iterable[object], more: int = 0) -> ConfigError:
    """Combine problems in one error: the first twenty distinct ones, one per line, and the number of others."""
    lines = list(dict.fromkeys(map(str, problems)))
    more += max(0, len(lines) - MOST_PROBLEMS)
    return ConfigError("\n".join([*lines[:MOST_PROBLEMS], *([f"… and {more:,} more problems"] if more else [])]))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"
