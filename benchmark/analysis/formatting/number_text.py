"""Formatting of numbers: decimals, signs, intervals, p-values, and a dash for missing ones."""

from __future__ import annotations

import math
from typing import Any

MISSING_TEXT = "–"
SMALLEST_P = 1e-4


def is_missing(value: Any) -> bool:
    """Test whether a number of a frame is missing (None or NaN)."""
    return value is None or value != value  # noqa: PLR0124  NaN of any float type differs from itself


def number_text(value: Any, decimals: int = 2, sign: str = "") -> str:
    """Write a number with fixed decimals and a true minus, never "−0.00", or a dash if it is missing.

    Examples
    --------
    >>> number_text(70.3), number_text(-0.001, sign="+"), number_text(-2), number_text(None)
    ('70.30', '+0.00', '−2.00', '–')
    """
    if is_missing(value):
        return MISSING_TEXT
    return format(round(float(value), decimals) + 0.0, f"{sign}.{decimals}f").replace("-", "−")


def two_digits_text(value: Any) -> str:
    """Write seconds or gigabytes with two significant digits at least, or a dash if they are missing.

    Examples
    --------
    >>> two_digits_text(0.0123), two_digits_text(3.456), two_digits_text(171.2), two_digits_text(1e-5)
    ('0.012', '3.5', '171', '<0.001')
    """
    if is_missing(value):
        return MISSING_TEXT
    return "<0.001" if value < 0.0005 else f"{value:,.{max(0, 1 - math.floor(math.log10(value)))}f}"


def p_text(p_value: Any, note: Any = "") -> str:
    """Write a p-value with three significant digits, or why there is none.

    Examples
    --------
    >>> p_text(3e-9), p_text(0.03125), p_text(None, "smallest p 0.125")
    ('<0.0001', '0.0312', 'not testable (smallest p 0.125)')
    """
    if not is_missing(p_value):
        return f"<{SMALLEST_P:.4f}" if float(p_value) < SMALLEST_P else f"{float(p_value):.3g}"
    reason = "" if is_missing(note) else str(note)
    if reason.startswith("not testable"):
        return reason
    return f"not testable ({reason})" if reason else "not testable"


def setting_text(value: Any) -> str:
    """Write a value of a configuration without Python's notation.

    Examples
    --------
    >>> setting_text(True), setting_text(None), setting_text(["cornell", "texas"]), setting_text({"k": 5})
    ('yes', 'none', 'cornell, texas', 'k 5')
    """
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, dict):
        return ", ".join(f"{key} {setting_text(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(setting_text, value)) or "none"
    return str(value)


def printed_decimals(published: str) -> int:
    """Return the decimals for numbers beside a published value: those of that value, at least two."""
    return max(2, len(published.partition(".")[2]))
