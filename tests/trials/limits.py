"""How many examples a trial makes, and which messages are clear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from collections.abc import Iterable

#: More than any message needs: a person reads it.
LONGEST_LINE, MOST_LINES = 10_000, 30
TRACEBACK = "Traceback (most recent call last)"


def examples(number: int, *, shrink: bool = True) -> settings:
    """Return settings for so many examples where the profile makes 100, and as many fewer or more as it does.

    What depends on the moment, or starts processes, isn't shrunk.
    """
    return settings(
        max_examples=max(1, number * settings.default.max_examples // 100),
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.differing_executors],
        phases=settings.default.phases if shrink else [Phase.explicit, Phase.generate],
    )


def mostly_slow(cases: Iterable[Any], quick: int) -> list[Any]:
    """Return a test's parameters: so many of the cases, evenly spread, as they are, and the others marked as slow.

    A case is a parameter, or a tuple of several.
    """
    rows = [each if isinstance(each, tuple) else (each,) for each in cases]
    chosen = {round(number * (len(rows) - 1) / max(quick - 1, 1)) for number in range(quick)}
    return [pytest.param(*row, marks=() if at in chosen else pytest.mark.slow) for at, row in enumerate(rows)]


def assert_clear(message: str) -> None:
    """Fail unless a person at a terminal can read the message."""
    lines = message.splitlines()
    assert message.strip()
    assert TRACEBACK not in message
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= LONGEST_LINE
    message.encode()
