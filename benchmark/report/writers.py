"""Writers of tables: terminal, Markdown, CSV and LaTeX; `templates/parts.html.j2` writes HTML."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from rich import table as rich
from rich.text import Text

from benchmark.analysis.formatting.table import WHOLE_TEXT
from benchmark.analysis.formatting.units import is_missing
from benchmark.report.escapes import csv_cell, escape_controls, latex_text, markdown_text
from benchmark.report.verdict_signs import verdict_tone

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from rich.console import Console, ConsoleOptions, RenderResult

    from benchmark.analysis.formatting.table import Table

#: Characters in a line of a terminal's table, however wide the terminal.
MAX_TERMINAL_COLUMNS = 120
#: Styles of verdicts, by tone.
_STYLES = {"good": "green", "half": "yellow", "bad": "red", "open": ""}


@dataclass(frozen=True)
class TerminalTable:
    """Table for the terminal, laid out when it is printed: with the columns that there is room for.

    Colour only repeats the text.
    """

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the title, the table and its notes; a sentence if there are no rows."""
        if not self.table.rows:
            yield plain_text(f"{self.table.title}: {self.table.empty}")
            return
        shown = self.table.fitted(min(options.max_width, MAX_TERMINAL_COLUMNS))
        if shown.title:
            yield plain_text(shown.title, style="bold")
        whole = [max(map(len, column)) <= WHOLE_TEXT for column in zip(*shown.texts, strict=True)]
        # Ids and numbers never wrap: where they alone need more than a line, it is longer rather than cut.
        too_wide = all(whole) and shown.width > options.max_width
        lines = rich.Table(box=None, pad_edge=False, width=shown.width if too_wide else None)
        for column, is_whole in zip(shown.columns, whole, strict=True):
            lines.add_column(
                plain_text(column.name), justify="right" if column.unit else "left", overflow="fold", no_wrap=is_whole
            )
        for row in shown.texts:
            styles = (
                _STYLES[verdict_tone(text)] if column.verdict else ""
                for column, text in zip(shown.columns, row, strict=True)
            )
            lines.add_row(*map(plain_text, row, styles))
        yield lines
        if shown.notes:
            yield plain_text(shown.notes, style="dim")


def plain_text(text: str, style: str = "") -> Text:
    """Return text for the terminal, in which rich reads no markup."""
    return Text(escape_controls(text), style=style)


def markdown_table(table: Table) -> str:
    """Return a table as Markdown, padded so that it also reads as plain text."""
    lines = [[markdown_text(text) for text in line] for line in (table.header, *table.texts)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    right = [column.unit is not None for column in table.columns]
    rule = ["-" * (w - 1) + ":" if is_right else ":" + "-" * (w - 1) for w, is_right in zip(widths, right, strict=True)]
    padded = [
        [text.rjust(w) if is_right else text.ljust(w) for text, w, is_right in zip(line, widths, right, strict=True)]
        for line in lines
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:]))


def latex_table(table: Table, label: str) -> str:
    """Return a table as LaTeX, which needs the package booktabs."""
    import pandas as pd  # noqa: PLC0415 - slow to import, and most tables are not LaTeX

    escaped = [[latex_text(text) for text in row] for row in (table.header, *table.texts)]
    written: str = (
        pd.DataFrame(escaped[1:], columns=escaped[0])
        .style.hide(axis="index")
        .to_latex(
            hrules=True,
            position_float="centering",
            caption=latex_text(table.title),
            label=f"tab:{re.sub('[^A-Za-z0-9-]', '-', label)}",
            column_format="".join("r" if column.unit else "l" for column in table.columns),
        )
    )
    return written.rstrip("\n")


def frame_csv(frame: pd.DataFrame, columns: Iterable[str]) -> str:
    """Return these columns of a frame as CSV, in full precision."""
    columns = tuple(columns)
    return csv_text(columns, zip(*(frame[name] for name in columns), strict=True))


def csv_text(header: Iterable[str] | None, rows: Iterable[Iterable[Any]], *, quoted: bool = False) -> str:
    """Return CSV with LF line ends and floats of 12 significant digits, since machines differ in later digits.

    `quoted` puts every field in quotes; otherwise only fields that need them. Rows that continue an earlier text pass
    None as `header`. Control characters and texts that a spreadsheet would take for formulas are escaped by `csv_cell`.
    """
    lines: list[str] = []
    # With its default line ends, csv quotes names that contain a carriage return, as some WebKB names do.
    file: Any = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n") + "\n"))
    writer = csv.writer(file, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    if header is not None:
        writer.writerow(map(csv_cell, header))
    writer.writerows([_csv_field(value) for value in row] for row in rows)
    return "".join(lines)


def _csv_field(value: Any) -> str:
    if is_missing(value):
        return ""
    return f"{value + 0.0:.12g}" if isinstance(value, float) else csv_cell(str(value))  # + 0.0: no "-0"
