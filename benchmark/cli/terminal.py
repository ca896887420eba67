"""Terminal output: progress of work on standard error, tables on standard output."""

from __future__ import annotations

import sys
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

from benchmark.report.escapes import escape_controls
from benchmark.system.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from benchmark.experiment.context import RunContext

#: Characters in a line of a file or pipe: more than any table has.
_UNBROKEN = 1000


class _PlainConsole(Console):
    """Console that prints text literally, with control characters escaped, since names may contain some."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return the printable text of a string, before layout."""
        return super().render_str(escape_controls(text), **options)


def stdout_console() -> Console:
    """Return a console on standard output; a file or pipe gets each row of a table in one line."""
    width = None if sys.stdout.isatty() else _UNBROKEN
    return _PlainConsole(width=width)


class ProgressObserver(Observer):
    """Progress of runs: one bar on a terminal, a line per step with ``--verbose``, a line per run if there are several.

    Parameters
    ----------
    title : str
        Title of the bar.
    verbose, silent : bool
        Print each step, or only notes.
    """

    def __init__(self, title: str, *, verbose: bool = False, silent: bool = False) -> None:
        self._console = _PlainConsole(stderr=True)
        self._verbose, self._silent = verbose, silent
        self._started = time.perf_counter()
        self._steps = self._done = 0  # of this run
        self._bar = Progress(
            *("{task.fields[title]}", BarColumn(12), TaskProgressColumn(), TimeRemainingColumn(compact=True)),
            "{task.description}",
            console=self._console,
            transient=True,
            redirect_stdout=False,
            disable=silent or verbose or not self._console.is_terminal,
        )
        self._task = self._bar.add_task("loading", total=None, title=title)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, title: str) -> None:
        """Start the next run, or the work after the last run."""
        self._bar.update(self._task, title=title, description="reading")
        self._bar.start()

    def end(self, line: str) -> None:
        """Hide the bar at the end of a run, and print the line."""
        self._bar.stop()
        self._steps = self._done = 0
        if line and not self._silent:
            self._say(line, "dim")

    def now(self, doing: str) -> None:
        """Show the current step."""
        self._bar.update(self._task, description=escape_controls(doing))

    def plan(self, steps: int, later: int = 0) -> None:
        """Add `steps` to the number of steps; `later` estimates how many will be added after them."""
        self._steps += steps
        self._bar.update(self._task, total=self._steps + later)

    def step(self, done: str, *, stored: bool = False) -> None:  # noqa: ARG002 - the bar counts both alike
        """Advance the bar by one step."""
        self._done += 1
        self._bar.update(self._task, description=escape_controls(done), completed=self._done)
        if self._verbose:
            self._say(f"{time.perf_counter() - self._started:7.1f} s  {done}", "dim")

    def note(self, message: str) -> None:
        """Print a note above the bar."""
        self._say(message, "yellow")

    def detail(self, text: str) -> None:
        """Print a detail with ``--verbose``."""
        if self._verbose:
            self._say(text, "dim")

    def _say(self, message: str, style: str) -> None:
        self._console.print(message, style=style, soft_wrap=True)


@contextmanager
def working(
    title: str = "starting",
    jobs: int = 0,
    *,
    download: bool = True,
    dask: str | None = None,
    verbose: bool = False,
    quiet: bool = False,
) -> Iterator[RunContext]:
    """Show the progress of work on this machine, or on Dask workers, and yield its resources.

    Parameters
    ----------
    title : str
        Title of the bar.
    jobs : int
        Number of threads of each process; 0 uses all processors of its machine.
    download : bool
        Whether to download a corpus that isn't there.
    dask : str, optional
        Address or file of the scheduler of the workers.
    verbose, quiet : bool
        Print each step, or only notes.
    """
    from benchmark.commands.run import local_context

    with ProgressObserver(title, verbose=verbose, silent=quiet) as observer:
        context = local_context(observer, jobs, download=download)
        if dask is None:
            yield context
            return
        from benchmark.workers.processes import DaskExecutor

        with closing(DaskExecutor(dask, context.store, jobs, observer)) as executor:
            yield replace(context, workers=executor)
