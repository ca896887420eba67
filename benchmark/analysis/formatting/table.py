"""Table: columns with names, units and directions, and rows, which every output writes in the same words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.units import MISSING_TEXT, Unit, is_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Unit of columns whose numbers are written already, or are counts.
PLAIN = Unit("", 1.0, "")
#: Detail from which a page shows a column on demand.
ON_DEMAND = 10
#: Characters of a text that a line has room for; longer texts may wrap.
WHOLE_TEXT = 40


@dataclass(frozen=True)
class Column:
    """Column of a table.

    Parameters
    ----------
    name : str
        Head, with the unit of the numbers: "accuracy %".
    unit : Unit, optional
        Unit of numbers, which are aligned at their ends; None for words.
    sign : str
        "+" for differences.
    more_is_better : bool, optional
        Direction of a score.
    detail : int
        How early an output with little room leaves the column out: the highest first, 0 never. Pages show those from
        `ON_DEMAND` on demand.
    measured : bool
        Whether the numbers are measured times or memory, which differ from run to run.
    verdict : bool
        Whether the words are verdicts, which have a sign and a colour.
    note : str
        Meaning of the column, for outputs that show it.
    """

    name: str
    unit: Unit | None = None
    sign: str = ""
    more_is_better: bool | None = None
    detail: int = 0
    measured: bool = False
    verdict: bool = False
    note: str = ""

    def text(self, value: Any) -> str:
        """Write a value: text as it is, a number or an interval (low, high) in the unit, a dash for none."""
        unit = self.unit or PLAIN
        if isinstance(value, tuple):
            low, high = value
            return unit.interval(low, high, self.sign)
        if is_missing(value) or value == "":
            return MISSING_TEXT
        if isinstance(value, str):
            return value
        if isinstance(value, Integral) and not isinstance(value, bool):
            return f"{int(value):,}"
        return unit.text(value, self.sign) if self.unit else str(value)

    def scaled(self, value: Any) -> Any:
        """Return a number or an interval in the unit, and any other value as it is."""
        if self.unit is None or self.unit.scale == 1 or isinstance(value, str) or value is None:
            return value
        return [self.scaled(end) for end in value] if isinstance(value, tuple) else self.unit.scale * value


@dataclass(frozen=True)
class Table:
    """Table of words and numbers.

    Parameters
    ----------
    title : str
    columns : tuple of Column
    rows : tuple of tuple
        Rows of values, each as long as `columns`: texts, numbers as in the frames, intervals (low, high), or None.
    note : str
        What its terms mean, below the table.
    empty : str
        What is said in place of a table without rows.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""
    empty: str = "none"

    @classmethod
    def of(cls, title: str, header: Iterable[Any], rows: Iterable[Any], note: str = "", empty: str = "none") -> Table:
        """Return a table of rows, each a sequence, or a mapping by the names of columns.

        A column of which `header` has only the name, has numbers if all values are. Of mappings, columns that none has
        are left out.
        """
        named = [Column(each) if isinstance(each, str) else each for each in header]
        listed = list(rows)
        mapped = bool(listed) and isinstance(listed[0], Mapping)
        body = tuple(tuple(map(row.get, (each.name for each in named))) if mapped else tuple(row) for row in listed)
        values = list(zip(*body, strict=True)) if body else [()] * len(named)
        columns = (
            replace(column, unit=PLAIN) if column.unit is None and _are_numbers(each) else column
            for column, each in zip(named, values, strict=True)
        )
        table = cls(title, tuple(columns), body, note, empty)
        return table.filled() if mapped else table

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Rows as text."""
        return tuple(
            tuple(column.text(value) for column, value in zip(self.columns, row, strict=True)) for row in self.rows
        )

    @property
    def notes(self) -> str:
        """The note of the table and those of its columns."""
        return " ".join(filter(None, dict.fromkeys((self.note, *(column.note for column in self.columns)))))

    @property
    def records(self) -> list[dict[str, Any]]:
        """Rows as values by the names of the columns, numbers in the units of the columns."""
        return [
            {column.name: column.scaled(value) for column, value in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]

    @property
    def width(self) -> int:
        """Characters in a line, with two spaces between columns, if long texts wrap."""
        columns = zip(self.header, *self.texts, strict=True)
        return sum(min(max(map(len, column)), max(WHOLE_TEXT, len(column[0]))) + 2 for column in columns) - 2

    def without(self, *names: str) -> Table:
        """Return the table without these columns."""
        places = [i for i, name in enumerate(self.header) if name not in names]
        columns, *rows = (tuple(row[i] for i in places) for row in (self.columns, *self.rows))
        return replace(self, columns=columns, rows=tuple(rows))

    def filled(self) -> Table:
        """Return the table without columns that are empty in every row."""
        empty = (set(column) <= {MISSING_TEXT} for column in zip(*self.texts, strict=True)) if self.rows else ()
        return self.without(*(name for name, none in zip(self.header, empty, strict=False) if none))

    def fitted(self, width: int) -> Table:
        """Return the table without columns of details, the finest first, until a line has room."""
        table = self
        for detail in sorted({column.detail for column in self.columns} - {0}, reverse=True):
            if table.width > width:
                table = table.without(*(column.name for column in self.columns if column.detail == detail))
        return table


def _are_numbers(values: Sequence[Any]) -> bool:
    """Test whether values are numbers and intervals; missing ones may stand between them."""
    found = [value for value in values if not (is_missing(value) or value == "")]
    return bool(found) and not any(isinstance(value, str | bool) for value in found)
