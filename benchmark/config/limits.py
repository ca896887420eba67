"""Names that can be part of a cell's id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from benchmark.system.errors import quote_value

if TYPE_CHECKING:
    from benchmark.system.yaml_source import Location, YamlSource


def check_cell_name(name: Any, what: str, source: YamlSource, place: Location) -> None:
    """Refuse a name that can't be part of a cell's id."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9][a-z0-9.-]{,99}", name):
        rule = "is made of a-z, 0-9, '.' and '-', at most 100, and begins with a letter or digit"
        if isinstance(name, bool):
            rule = "is text; YAML reads yes, no, on and off as true and false: put it in quotes"
        raise source.error(place, f"{quote_value(name)}: {what} {rule}")
