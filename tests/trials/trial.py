"""What a family of trials is, and what all of them share: chance with a seed, borrowed tests, folders made once."""

from __future__ import annotations

import fcntl
import functools
import runpy
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

TESTS = Path(__file__).parents[1]
REPOSITORY = TESTS.parent
#: More than any message needs: a person reads it.
LONGEST_LINE, MOST_LINES = 10_000, 30


class Skipped(Exception):  # noqa: N818 - nothing went wrong
    """This machine can't make the trial; the message says why."""


@dataclass(frozen=True)
class Family:
    """Trials of one kind.

    Parameters
    ----------
    name : str
    tries : str
        What they try, in a line.
    trial : callable
        A trial's number, which is also its seed, to what failed, a short first line first; None where nothing did.
    full, slice : int
        How many there are, and how many of them continuous integration makes: the first ones.
    limit : float
        Seconds that one may take.
    alone : bool
        Whether nothing may run beside it: it measures, or takes all processors.
    """

    name: str
    tries: str
    trial: Callable[[int], str | None]
    full: int
    slice: int
    limit: float = 30
    alone: bool = False


def in_turn(*trials: Callable[[int], str | None]) -> Callable[[int], str | None]:
    """One kind of trial after the other; each is given its own numbers, from 0."""

    def trial(number: int) -> str | None:
        turn, place = divmod(number, len(trials))
        mine = trials[place]
        return mine(turn * trials.count(mine) + trials[:place].count(mine))

    return trial


def chance(family: str, number: int) -> Random:
    """Random numbers of a trial's own, the same on every machine."""
    return Random(f"{family} {number}")


@functools.cache
def borrowed(module: str) -> dict[str, Any]:
    """What a module of the tests defines, such as "corpora/conftest": its helpers, its small corpora."""
    return runpy.run_path(str(TESTS / f"{module}.py"))


def once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` fills once, whichever process comes first; it goes with the other temporary files."""
    folder = Path(tempfile.gettempdir()) / name
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            part = Path(tempfile.mkdtemp())
            make(part)
            part.rename(folder)
    return folder


def unclear(message: str) -> str | None:
    """Why a message is none for a person at a terminal; None for a clear one."""
    lines = message.splitlines()
    if not message.strip():
        return "an empty message"
    if "Traceback (most recent call last)" in message:
        return f"a traceback:\n{message}"
    if len(lines) > MOST_LINES or max(map(len, lines)) > LONGEST_LINE:
        return (
            f"a message of {len(lines):,} lines, the longest of {max(map(len, lines)):,} characters:\n{message[:500]}"
        )
    try:
        message.encode()
    except UnicodeEncodeError as error:
        return f"a message that can't be written ({error.reason}): {message[:500]!a}"
    return None
