"""Rows of published values in the unit in which their metric is shown."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from benchmark.analysis.formatting.units import display_factor, display_unit
from benchmark.diagnostics import DIAGNOSTIC_METRICS

#: Numbers of a row of a published value that are in the unit of that value.
_IN_PUBLISHED_UNIT = ("value", "low", "high", "between_low", "between_high", "widest")


def in_shown_unit(row: dict[Any, Any]) -> dict[Any, Any]:
    """Return a row of a published value in the unit in which its metric is shown: a fraction in percent.

    The digits are as printed, with the decimal point moved.
    """
    factor = display_factor(row["unit"], row["metric"], DIAGNOSTIC_METRICS)
    if factor == 1:
        return row
    moved = Decimal(row["published"]).scaleb(round(math.log10(factor)))
    numbers = {name: factor * row[name] for name in _IN_PUBLISHED_UNIT if name in row}
    unit = display_unit(row["metric"], DIAGNOSTIC_METRICS).name
    return row | numbers | {"published": f"{moved:f}", "unit": unit}
