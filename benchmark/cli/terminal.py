"""How the command line talks: progress on standard error, tables on standard output."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from benchmark.observer import Observer
from benchmark.report.escapes import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.text import Text

    from benchmark.report.grids import Part

#: Characters in a line of a file or pipe: more than any table has.
_UNBROKEN = 1000


class _PlainConsole(Console):
    """Words as they stand, but for control characters: a name may hold some."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Give the text that a string is shown as, before it is laid out."""
        return super().render_str(printable(text), **options)


def output() -> Console:
    """Standard output, for words as they stand; a file or pipe gets each row of a table in one line."""
    width = None if sys.stdout.isatty() else _UNBROKEN
    return _PlainConsole(width=width)


def show(parts: Iterable[Part]) -> None:
    """Print each table under its title, or what is to say where it has no rows, and a line to part it from the next."""
    console = output()
    for part in parts:
        console.print(table(part.header, part.rows, part.title) if part.rows else f"{part.title}: {part.empty}")
        console.print()


class ProgressObserver(Observer):
    """Shows how a run goes on: a bar with the remaining time on a terminal, lines with ``--verbose``, else nothing."""

    def __init__(self, title: str, *, verbose: bool = False) -> None:
        self._console = _PlainConsole(stderr=True)
        self._verbose = verbose
        self._started = time.perf_counter()
        self._steps = 0
        self._bar = Progress(
            TextColumn("{task.fields[title]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.description}", style="dim"),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal or verbose,
        )
        self._task = self._bar.add_task("reading the corpus", total=None, title=title)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def plan(self, steps: int) -> None:
        """So many steps more."""
        self._steps += steps
        self._bar.update(self._task, total=self._steps)

    def step(self, done: str) -> None:
        """Advance by one."""
        self._bar.update(self._task, advance=1, description=printable(done))
        if self._verbose:
            self._say(f"{time.perf_counter() - self._started:7.1f} s  {done}", "dim")

    def note(self, message: str) -> None:
        """Say something that must be read, above the bar."""
        self._say(message, "yellow")

    def detail(self, text: str) -> None:
        """Say it with ``--verbose``."""
        if self._verbose:
            self._say(text, "dim")

    def _say(self, message: str, style: str) -> None:
        self._console.print(message, style=style, soft_wrap=True)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> Table:
    """A plain table; columns of numbers are right-aligned."""
    body = [[_shown(value) for value in row] for row in rows]
    grid = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for index, name in enumerate(header):
        numeric = bool(body) and all(_is_numeric(row[index]) for row in body)
        grid.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in body:
        grid.add_row(*row)
    return grid


def size(n_bytes: float) -> str:
    """Bytes as people read them.

    Examples
    --------
    >>> size(1_705_000_000)
    '1.7 GB'
    """
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} GB"


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _is_numeric(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace("%", "").strip("+-").isdigit() or not text
