"""The table: how values are written, which columns stay, and what a machine reads."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchmark.analysis.formatting.table import PLAIN, Column, Table
from benchmark.analysis.formatting.units import DISPLAY_UNITS

PERCENT = DISPLAY_UNITS["percent"]


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (Column("words"), "two words", "two words"),
        (Column("words"), "", "–"),
        (Column("words"), None, "–"),
        (Column("words"), True, "True"),
        (Column("score", PERCENT), 0.70301, "70.30"),
        (Column("score", PERCENT), math.nan, "–"),
        (Column("score", PERCENT), "1.0*", "1.0*"),
        (Column("score", PERCENT), (0.6, 0.8), "[60.00, 80.00]"),
        (Column("score", PERCENT), (None, 0.8), "–"),
        (Column("gap", PERCENT, "+"), -0.0123, "−1.23"),
        (Column("gap", PERCENT, "+"), (-0.01, 0.02), "[−1.00, +2.00]"),
        (Column("gap", PERCENT, "+"), -1e-9, "+0.00"),
        (Column("documents", PLAIN), 4199, "4,199"),
    ],
)
def test_a_value_is_written_in_the_unit_of_its_column(column: Column, value: Any, text: str) -> None:
    assert column.text(value) == text


def test_the_finest_details_go_first_with_the_notes_of_their_columns() -> None:
    columns = (
        Column("cell"),
        Column("a", PLAIN, detail=1),
        Column("b", PLAIN, detail=2, note="b: why"),
        Column("c", PLAIN),
    )
    table = Table.of("t", columns, [("x", 1, 2, 3)], "All.")
    assert [table.fitted(width).header for width in (13, 12, 7, 1)] == [
        ("cell", "a", "b", "c"),
        ("cell", "a", "c"),
        ("cell", "c"),
        ("cell", "c"),
    ]
    assert (table.notes, table.fitted(1).notes) == ("All. b: why", "All.")
