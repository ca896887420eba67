"""How many trials there are, how long each may take, and which messages are clear."""

from __future__ import annotations

import functools
import os
import signal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, seed, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: Whether the trials are a few of each family (`make trials SLICE=1`).
SLICE = bool(os.environ.get("SLICE"))
#: Which trials are made: another seed makes other ones (`make trials MINUTES=60` makes a slice of one after the other).
SEED = int(os.environ.get("SEED") or 0)
#: More than any message needs: a person reads it.
LONGEST_LINE, MOST_LINES = 10_000, 30
TRACEBACK = "Traceback (most recent call last)"


class Made:
    """Counts the trials that this process has made."""

    number = 0


def share(full: int, of_slice: int) -> int:
    """Return how many trials to make."""
    return of_slice if SLICE else full


def numbers(full: int, of_slice: int) -> range:
    """Return the numbers of the trials to make, which seed their random choices."""
    n = share(full, of_slice)
    return range(SEED * n, (SEED + 1) * n)


def some(cases: Sequence[Any], of_slice: int) -> list[Any]:
    """Return all cases, or so many in a slice: with the next seed, those that follow."""
    n = share(len(cases), of_slice)
    return [cases[number % len(cases)] for number in range(SEED * n, (SEED + 1) * n)]


def mostly_slow(cases: Iterable[Any], quick: int) -> list[Any]:
    """Return a test's parameters: so many of the cases, evenly spread, as they are, and the others marked as slow.

    A case is a parameter, or a tuple of several. In a slice of the trials there are no others.
    """
    rows = [each if isinstance(each, tuple) else (each,) for each in cases]
    chosen = {round(number * (len(rows) - 1) / max(quick - 1, 1)) for number in range(quick)}
    made = [pytest.param(*row, marks=() if at in chosen else pytest.mark.slow) for at, row in enumerate(rows)]
    return [made[at] for at in range(len(made)) if at in chosen or not SLICE]


def examples(full: int, of_slice: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make so many examples of a property, the same ones each time with the same seed."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    how = settings(
        max_examples=share(full, of_slice),
        derandomize=not SEED,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=slow,
    )
    return lambda test: how(seed(SEED)(test) if SEED else test)


def trial(seconds: int = 30) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Count each call of a function, and raise TimeoutError in one that takes more seconds."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"no end after {seconds} s")

    def decorate(make: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(make)
        def counted(*args: Any, **how: Any) -> None:
            signal.signal(signal.SIGALRM, late)
            signal.alarm(seconds)
            try:
                make(*args, **how)
            except Exception:
                Made.number += 1
                raise
            else:
                Made.number += 1
            finally:  # what hypothesis or pytest breaks off, before anything was tried, doesn't count
                signal.alarm(0)

        return counted

    return decorate


def chance(family: str, number: int) -> Random:
    """Return random numbers of a trial's own, the same on every machine."""
    return Random(f"{family} {number}")  # noqa: S311 - it keeps no secret


def assert_clear(message: str) -> None:
    """Fail unless a person at a terminal can read the message."""
    lines = message.splitlines()
    assert message.strip()
    assert TRACEBACK not in message
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= LONGEST_LINE
    message.encode()
