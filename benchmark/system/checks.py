"""Checks shared across the package: ranges, numbers in text, and digests of written data."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np
    from numpy.typing import NDArray


def check_within(name: str, values: NDArray[np.float64], lower: float, upper: float, slack: float = 0.0) -> None:
    """Raise ValueError unless all `values` lie in [lower, upper], up to `slack`; NaN raises as well."""
    if values.size == 0:
        return
    smallest, largest = values.min(), values.max()
    if not (smallest >= lower - slack and largest <= upper + slack):
        msg = f"{name} must lie in [{lower:g}, {upper:g}], but the values range over [{smallest}, {largest}]"
        raise ValueError(msg)


@dataclass(frozen=True)
class Range:
    """Finite numbers that a parameter may have.

    Parameters
    ----------
    low, high : float
    ends : bool
        Whether `low` and `high` themselves are allowed.
    whole : bool
        Whether numbers must be whole.
    """

    low: float = 0.0
    high: float = math.inf
    ends: bool = True
    whole: bool = False

    def __contains__(self, value: float) -> bool:
        inside = self.low <= value <= self.high if self.ends else self.low < value < self.high
        return inside and value < math.inf and (not self.whole or value % 1 == 0)

    def __str__(self) -> str:
        """Return what a value must be, for messages."""
        kind = "a whole number" if self.whole else "a number"
        if self.high == math.inf:
            return f"{kind} of at least {self.low:g}" if self.ends else "a positive number"
        return f"{kind} {'from' if self.ends else 'between'} {self.low:g} {'to' if self.ends else 'and'} {self.high:g}"


#: Values that parameters may have, by name: a range of numbers, or names.
Allowed: TypeAlias = "Mapping[str, Range | Collection[Any]]"
POSITIVE, NOT_NEGATIVE, FRACTION = Range(ends=False), Range(), Range(0, 1)
DIMENSION = Range(1, whole=True)


def check_value(name: str, value: Any, allowed: Range | Collection[Any]) -> None:
    """Raise ValueError unless a value is in a range, or one of some values."""
    if value not in allowed:
        rule = allowed if isinstance(allowed, Range) else f"one of {', '.join(map(str, allowed))}"
        raise ValueError(f"{name} must be {rule}, not {value!r}")


def check_parameters(estimator: object, allowed: Allowed) -> None:
    """Raise ValueError unless these parameters, or each of their items, have values that are allowed."""
    for name, values in allowed.items():
        stated = getattr(estimator, name)
        for value in stated if isinstance(stated, list | tuple) else [stated]:
            check_value(name, value, values)


def digest_without_itself(facts: dict[str, Any]) -> str:
    """Compute the sha256 of plain data without their key "digest"."""
    rest = json.loads(json.dumps({key: value for key, value in facts.items() if key != "digest"}))
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def json_bytes(data: Any) -> bytes:
    """Encode plain data as indented JSON in UTF-8; lone surrogates, as in names that aren't UTF-8, as escapes."""
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def as_list(value: Any) -> Any:
    """Return a list unchanged, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]


def is_number(text: str) -> bool:
    """Test whether a text is a number in Python."""
    try:
        float(text)
    except ValueError:
        return False
    return True
