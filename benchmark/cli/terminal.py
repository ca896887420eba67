"""How the command line talks: progress on standard error, tables on standard output."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from benchmark.observer import Observer
from benchmark.report.escapes import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.text import Text

T = TypeVar("T")

#: Characters in a line of a file or pipe: more than any table has.
_UNBROKEN = 1000
#: Characters of the longest id that is kept in one piece.
_WHOLE = 40


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


class ProgressObserver(Observer):
    """Shows how runs go on: on a terminal a bar over all of them, with ``--verbose`` lines, else one each of several.

    Parameters
    ----------
    title : str
        What is being done.
    verbose, silent : bool
        Whether to say each step, or nothing but notes.
    """

    def __init__(self, title: str, *, verbose: bool = False, silent: bool = False) -> None:
        self._console = _PlainConsole(stderr=True)
        self._verbose, self._silent = verbose, silent
        self._started = time.perf_counter()
        self._pace = Pace()
        whole = Column(no_wrap=True)
        self._bar = Progress(
            TextColumn("{task.fields[title]}", table_column=whole),
            BarColumn(12),
            TextColumn("{task.percentage:>3.0f}%", table_column=whole),
            TimeElapsedColumn(whole),
            TextColumn("{task.fields[left]}", table_column=whole),
            TextColumn("{task.description}", style="dim", table_column=Column(no_wrap=True, overflow="ellipsis")),
            console=self._console,
            transient=True,
            redirect_stdout=False,
            disable=silent or verbose or not self._console.is_terminal,
        )
        self._task = self._bar.add_task("loading", total=None, title=title, left="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def expect(self, cells: Sequence[int]) -> None:
        """So many runs, of so many cells each."""
        self._pace.expect(cells)

    def begin(self, title: str) -> None:
        """Go on to the next run, or to what comes after the last."""
        self._bar.update(self._task, title=title, description="reading")
        self._bar.start()

    def end(self, told: str) -> None:
        """A run is done, and the bar away until the next; of several, each has a line."""
        self._bar.stop()
        done, runs = self._pace.end()
        if runs > 1 and not self._silent:
            self._say(f"{told} ({done} of {runs})", "dim")

    def between(self, found: Iterable[T]) -> Iterator[T]:
        """Give what is found, one after the other, to be printed while the bar is away."""
        for each in found:
            self._bar.stop()
            yield each
            self._bar.start()

    def now(self, doing: str) -> None:
        """What is being done."""
        self._bar.update(self._task, description=printable(doing))

    def plan(self, steps: int, later: int = 0) -> None:
        """So many steps more, and after these about so many that will be told of then."""
        self._pace.plan(steps, later)

    def step(self, done: str, *, stored: bool = False) -> None:
        """Advance by one."""
        self._pace.step(stored=stored)
        left = self._pace.left()
        told = "" if left is None else f"about {timedelta(seconds=round(left))} left"
        self._bar.update(self._task, description=printable(done), left=told, completed=self._pace.share, total=1.0)
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


class Pace:
    """How far several runs are, and how long the rest takes at the pace so far.

    A run weighs by its cells, a step of it by the steps that it has; what the store has takes no time, and of what is
    to come as large a part is taken to be in the store as of what was.

    Parameters
    ----------
    clock : callable
        Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock, self._started = clock, clock()
        self._cells, self._ended = [1], 0
        self._steps = self._later = self._done = 0
        self._all_steps = self._all_stored = 0

    def expect(self, cells: Sequence[int]) -> None:
        """So many cells, run by run."""
        self._cells = list(cells)

    def plan(self, steps: int, later: int) -> None:
        """So many steps of this run more than were planned, and about so many to be planned yet."""
        self._steps, self._later = self._steps + steps, later

    def step(self, *, stored: bool) -> None:
        """One step more of this run."""
        self._done += 1
        self._all_steps += 1
        self._all_stored += stored

    def end(self) -> tuple[int, int]:
        """A run is done; how many are, and how many there are."""
        self._ended += 1
        self._steps = self._later = self._done = 0
        return self._ended, len(self._cells)

    @property
    def share(self) -> float:
        """The part of all runs that is done, by their cells."""
        steps = self._steps + self._later
        now = self._cells[self._ended] * self._done / steps if steps and self._ended < len(self._cells) else 0.0
        return min(1.0, (sum(self._cells[: self._ended]) + now) / max(1, sum(self._cells)))

    def left(self) -> float | None:
        """Seconds of all that is to come; None before a step had to be computed, and where no step is known of."""
        computed = self._all_steps - self._all_stored
        if not computed or self._ended >= len(self._cells):
            return None
        here = self._steps - self._done  # what the store has of a task comes first: these are to be computed
        cells = sum(self._cells) * self.share
        then = self._later + sum(self._cells[self._ended + 1 :]) * self._all_steps / max(cells, 1e-9)
        left = here + then * computed / self._all_steps
        return (self._clock() - self._started) / computed * left if left > 0 else None


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> Table:
    """A plain table; columns of numbers are right-aligned."""
    body = [[_shown(value) for value in row] for row in rows]
    grid = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for index, name in enumerate(header):
        numeric = bool(body) and all(_is_numeric(row[index]) for row in body)
        # An id or a number stays whole where there are words that can be folded.
        whole = all(" " not in row[index] and len(row[index]) <= _WHOLE for row in body)
        grid.add_column(name, justify="right" if numeric else "left", overflow="fold", no_wrap=whole)
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
