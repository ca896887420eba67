"""Section of a page: pictures and a table, with what a reader can do with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmark.analysis.formatting.table import ON_DEMAND

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.analysis.formatting.table import Table
    from benchmark.report.drawing.spec import Picture

PAGE_FILE = "report.html"


@dataclass(frozen=True)
class PageSection:
    """One part of a page: pictures, then a table.

    Parameters
    ----------
    title : str
    pictures : tuple of Picture
    grid : Table or None
    file : str
        Name of the file beside the page that has the same numbers in full precision.
    folded : bool
        Whether the section is shown on demand.
    links : mapping of str to str
        Address that a row links to, by the first field of the row.
    simplex : mapping of str to Any
        Data of a triangle and a sphere that the page's script draws (see `html.simplex`).
    tried : mapping of str to tuple of str
        Lines that the verdict of a deviating row opens, by the first field of the row.
    says, lines : tuple of str
        Sentences above and below everything else.
    """

    title: str
    pictures: tuple[Picture, ...] = ()
    grid: Table | None = None
    file: str = ""
    folded: bool = False
    links: Mapping[str, str] = field(default_factory=dict)
    simplex: Mapping[str, Any] = field(default_factory=dict)
    tried: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    says: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether the section has nothing to show."""
        return not (self.pictures or self.simplex or (self.grid and self.grid.rows) or self.says or self.lines)

    @property
    def details(self) -> bool:
        """Whether the table has columns that are shown on demand."""
        return self.grid is not None and any(column.detail >= ON_DEMAND for column in self.grid.columns)
