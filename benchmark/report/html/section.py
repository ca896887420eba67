"""Section of a page: pictures and a table, with what a reader can do with them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from benchmark.report.verdict_signs import verdict_tone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmark.report.drawing.spec import Picture
    from benchmark.report.grids import TextTable

PAGE_FILE = "report.html"
#: Columns of verdicts, which have a sign and a colour.
VERDICT_COLUMNS = ("verdict", "by ours, strictly", "by the paper's criterion", "result")


@dataclass(frozen=True)
class PageSection:
    """One part of a page: pictures, then a table.

    Parameters
    ----------
    title : str
    pictures : tuple of Picture
    grid : TextTable or None
    file : str
        Name of the file beside the page that has the same numbers in full precision.
    measured : tuple of str
        Columns of measured times and memory.
    again : mapping of str to str
        Command that computes a cell again, by cell, for the table whose rows are cells.
    places : mapping of str to int
        Place of a row in the configuration, by its first field, where the rows are in another order.
    behind : frozenset of str
        Columns that are shown on demand.
    descending : frozenset of str
        Columns of which the first click on the head sorts the highest number first.
    keys : int
        Number of the first columns that name a row, in the table and in the pictures.
    folded : bool
        Whether the section is shown on demand.
    note : str
        Text below the pictures.
    columns : int
        Pictures side by side, if there is room.
    link : str
        Address of the page of the section's run.
    links : mapping of str to str
        Address that a row links to, by the first field of the row.
    squares : mapping of str to Any
        Data of the squares that the page's script adds to each row (see `html.mistakes`).
    simplex : mapping of str to Any
        Data of a triangle and a sphere that the page's script draws (see `html.simplex`).
    tried : mapping of str to tuple of str
        Lines that the verdict of a deviating row opens, by the first field of the row.
    anchor : str
        Name by which an address opens the section.
    says, lines : tuple of str
        Sentences above and below everything else.
    """

    title: str
    pictures: tuple[Picture, ...] = ()
    grid: TextTable | None = None
    file: str = ""
    measured: tuple[str, ...] = ()
    again: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)
    behind: frozenset[str] = frozenset()
    descending: frozenset[str] = frozenset()
    keys: int = 1
    folded: bool = False
    note: str = ""
    columns: int = 1
    link: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    squares: Mapping[str, Any] = field(default_factory=dict)
    simplex: Mapping[str, Any] = field(default_factory=dict)
    tried: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    anchor: str = ""
    says: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the section has nothing to show."""
        return not (self.pictures or self.simplex or (self.grid and self.grid.rows) or self.says or self.lines)

    @property
    def ordered(self) -> bool:
        """Whether a reader can choose between the order by score and that of the configuration."""
        return any(param["name"] == "order" for picture in self.pictures for param in picture.spec.get("params", ()))

    @property
    def scaled(self) -> bool:
        """Whether a reader can choose between one scale for all pictures and one for each."""
        return len(self.pictures) > 1 and any("own ? " in str(picture.spec) for picture in self.pictures)


def arrange_columns(grid: TextTable, first: Sequence[str], last: Sequence[str] = ()) -> TextTable:
    """Return the grid with the columns `first` after the names of rows, and the columns `last` at its end."""
    names = [*grid.header[:1], *(name for name in first if name in grid.header[1:])]
    rest = [name for name in grid.header if name not in (*names, *last)]
    order = [*names, *rest, *(name for name in last if name in grid.header and name not in names)]
    places = [grid.header.index(name) for name in order]
    header, *rows = (tuple(row[i] for i in places) for row in (grid.header, *grid.rows))
    return replace(grid, header=header, rows=tuple(rows))


def fill_repeated(grid: TextTable) -> TextTable:
    """Repeat the values of the first row of a group in its other rows, since a reader may sort the table."""
    rows: list[tuple[str, ...]] = []
    for row in grid.rows:
        above = rows[-1] if rows and (not row[0] or row[:2] == rows[-1][:2]) else row
        rows.append(tuple(text or over for text, over in zip(row, above, strict=True)))
    return replace(grid, rows=tuple(rows))


def column_tone(column: str, text: str) -> str:
    """Return the tone of a verdict, and "" for a column without verdicts."""
    return verdict_tone(text) if column in VERDICT_COLUMNS else ""
