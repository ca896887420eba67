"""Messages: the nearest name, values and lines of a bounded length, and no more problems than one reads."""

from __future__ import annotations

import pytest

from benchmark.system.errors import (
    MAX_NAMES,
    MAX_PROBLEMS,
    MAX_VALUE_LENGTH,
    combine_errors,
    did_you_mean,
    one_line,
    quote_value,
)


@pytest.mark.parametrize(
    ("name", "allowed", "expected"),
    [
        ("smrt", ["none", "smart"], "; did you mean 'smart'?"),
        ("c", ["t", "C"], "; did you mean 'C'?"),  # no letter in common but for its case
        ("STRASSE", ["street", "straße"], "; did you mean 'straße'?"),
        ("zzz", ["none", "smart"], ""),
        ("ab", ["cb", "xyz"], "; did you mean 'cb'?"),
        ("abc", ["axx", "xyz"], ""),
        ("x", [], ""),
        ("last", [*map(str, range(MAX_NAMES - 1)), "last"], "; did you mean 'last'?"),
        ("last", [*map(str, range(MAX_NAMES)), "last"], ""),
    ],
)
def test_the_nearest_name_is_proposed(name: str, allowed: list[str], expected: str) -> None:
    assert did_you_mean(name, allowed) == expected


def test_a_long_value_is_cut_in_its_middle() -> None:
    assert quote_value("a" * (MAX_VALUE_LENGTH - 2)) == repr("a" * (MAX_VALUE_LENGTH - 2))
    found = quote_value("a" * MAX_VALUE_LENGTH + "b" * MAX_VALUE_LENGTH)
    assert found == f"'{'a' * (MAX_VALUE_LENGTH // 2 - 1)} … {'b' * (MAX_VALUE_LENGTH // 2 - 1)}'"
    assert quote_value([1, "x"]) == "[1, 'x']"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("plain – text", "plain – text"),
        ("two\nlines", "two\\nlines"),
        ("a\x1b[31mb\x07", "a\\x1b[31mb\\x07"),
        ("a\u202eb", "a\\u202eb"),
        ("it's \\ here\t", "it's \\ here\\t"),
    ],
)
def test_a_message_is_one_line(message: str, expected: str) -> None:
    assert one_line(message) == expected


@pytest.mark.parametrize(
    ("n", "more", "others"), [(2, 0, 0), (MAX_PROBLEMS, 0, 0), (MAX_PROBLEMS + 3, 0, 3), (1, 4, 4), (21, 1200, 1201)]
)
def test_problems_are_listed_once_each_and_no_more_than_twenty(n: int, more: int, others: int) -> None:
    lines = str(combine_errors([*(f"p{i}" for i in range(n)), "p0"], more)).splitlines()
    kept = min(n, MAX_PROBLEMS)
    assert lines[:kept] == [f"p{i}" for i in range(kept)]
    assert lines[kept:] == ([f"… and {others:,} more problems"] if others else [])
