"""The errors that are for the person at the keyboard: one clear message each, and the exit code it gives."""

from __future__ import annotations

import difflib
from itertools import islice
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


#: Problems of one file that are listed, names that a suggestion is looked for among or that are listed as allowed.
MOST_PROBLEMS, MOST_NAMES = 20, 1000
#: Characters of a message, and of a value in it.
LONGEST, LONGEST_VALUE = 5000, 200


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the nearest allowed name, or nothing if none is near."""
    nearest = difflib.get_close_matches(name, list(islice(allowed, MOST_NAMES)), n=1, cutoff=0.5)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def unknown(what: str, name: object, allowed: Sequence[str]) -> str:
    """The message for a name that isn't one of `allowed`."""
    named = ", ".join(allowed[:MOST_NAMES])
    return f"unknown {what} {quoted(name)}{did_you_mean(str(name), allowed)} (allowed: {named})"


def quoted(value: object) -> str:
    """A value as an error quotes it: the beginning and end of a long one."""
    return _cut(repr(value), LONGEST_VALUE)


def in_a_line(message: str) -> str:
    """A message without what would break its line or drive a terminal: such characters as their escapes."""
    plain = message if message.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    return _cut(plain, LONGEST)


def together(problems: Iterable[object], more: int = 0) -> ConfigError:
    """One error of several problems: the first twenty different ones, a line each, and how many `more` there are."""
    lines = list(dict.fromkeys(map(str, problems)))
    more += max(0, len(lines) - MOST_PROBLEMS)
    return ConfigError("\n".join([*lines[:MOST_PROBLEMS], *([f"… and {more:,} more problems"] if more else [])]))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"
