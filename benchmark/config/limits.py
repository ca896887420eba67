"""Limits on the size of a configuration, checked before its lists are expanded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from benchmark.system.errors import quote_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.system.yaml_source import Location, YamlSource

#: The largest number of cells, settings, splits or pairs.
MAX_NUMBERS = 100_000
COUNTED_METHODS = "methods or candidates"
#: The largest number of documents in all splits together, each a row number in memory: 0.8 GB.
MAX_SPLIT_ROWS = 100_000_000


def check_cell_name(name: Any, what: str, source: YamlSource, place: Location) -> None:
    """Refuse a name that can't be part of a cell's id."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9.-]{,99}", name):
        rule = "is made of a-z, 0-9, '.' and '-', at most 100, and begins with a letter or digit"
        if isinstance(name, bool):
            rule = "is text; YAML reads yes, no, on and off as true and false: put it in quotes"
        raise source.error(place, f"{quote_value(name)}: {what} {rule}")


def check_limit(number: int, what: str, source: YamlSource, *places: Location, most: int = MAX_NUMBERS) -> None:
    """Refuse a number above a limit, at the longest list at or below some locations, or else at the first location."""
    if number > most:
        lists = [each for place in places for each in _lists(source.data, place)]
        where = max(lists, key=lambda each: each[1], default=(places[0], 0))[0]
        raise source.error(where, f"this comes to {number:,} {what}: at most {most:,} are allowed")


def _lists(data: Any, place: Location) -> Iterator[tuple[Location, int]]:
    """Yield every list at or below a location, with its length."""
    for key in place:
        data = data.get(key) if isinstance(data, dict) else data[int(key)]
    waiting = [(place, data)]
    while waiting:
        where, value = waiting.pop()
        if isinstance(value, list):
            yield where, len(value)
            waiting += [((*where, index), item) for index, item in enumerate(value)]
        elif isinstance(value, dict):
            waiting += [((*where, key), item) for key, item in value.items()]
