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
MAX_PROBLEMS, MAX_NAMES = 20, 1000
#: Largest number of characters of a line of a message, and of a value in it.
MAX_MESSAGE_LENGTH, MAX_VALUE_LENGTH = 1000, 200
#: Largest number of characters of a list of allowed names: two lines of a terminal.
MAX_LISTED_LENGTH = 160


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?`` for the nearest allowed name, or "" if none is similar."""
    names = {each.casefold(): each for each in islice(allowed, MAX_NAMES)}
    nearest = difflib.get_close_matches(name.casefold(), names, n=1, cutoff=0.5)
    return f"; did you mean {names[nearest[0]]!r}?" if nearest else ""


def unknown_name(what: str, name: object, allowed: Sequence[str], *, listed: bool = True) -> str:
    """Return the message for a name that isn't one of `allowed`, which are listed if `listed` is true."""
    names = list(allowed[:MAX_NAMES])
    unknown = f"unknown {what} {quote_value(name)}{did_you_mean(str(name), names)}"
    if not listed:
        return unknown
    known = f"allowed: {', '.join(names)}"
    if len(known) > MAX_LISTED_LENGTH:
        nearest = difflib.get_close_matches(str(name), names, n=5, cutoff=0)
        known = f"nearest of {len(allowed)} that are allowed: {', '.join(nearest)}"
    return f"{unknown} ({known})"


def quote_value(value: object) -> str:
    """Format a value for an error message; of a long value only the beginning and end."""
    return shorten(repr(value), MAX_VALUE_LENGTH)


def one_line(message: str) -> str:
    """Escape line breaks and control characters in a message, and shorten it if it is too long."""
    plain = message if message.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    return shorten(plain, MAX_MESSAGE_LENGTH)


def combine_errors(problems: Iterable[object]) -> ConfigError:
    """Combine problems in one error: the first twenty distinct ones, one per line, and the number of others."""
    lines = list(dict.fromkeys(map(str, problems)))
    more = [f"… and {len(lines) - MAX_PROBLEMS:,} more problems"] if len(lines) > MAX_PROBLEMS else []
    return ConfigError("\n".join([*lines[:MAX_PROBLEMS], *more]))


def shorten(text: str, most: int) -> str:
    """Return a text of at most so many characters and an ellipsis: its beginning and its end."""
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"
