"""Output of commands: lines, tables, and what a run has found."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from benchmark.report.escapes import escape_controls
from benchmark.system.errors import MAX_MESSAGE_LENGTH, shorten

if TYPE_CHECKING:
    from rich.console import RenderableType

    from benchmark.analysis.formatting.table import Table
    from benchmark.experiment.run import RunResult


def echo(text: object, *, err: bool = False) -> None:
    """Print a line; on standard error, lines are shortened, and output that it can't take is dropped."""
    printable = escape_controls(str(text))
    if not err:
        print(printable, flush=True)  # noqa: T201
        return
    with suppress(OSError):
        shortened = (shorten(line, MAX_MESSAGE_LENGTH) for line in printable.split("\n"))
        print("\n".join(shortened), file=sys.stderr, flush=True)  # noqa: T201


def show(*parts: RenderableType) -> None:
    """Print what rich lays out."""
    from benchmark.cli.terminal import stdout_console

    for part in parts:
        stdout_console().print(part, crop=False)


def show_answer(*parts: str | Table) -> None:
    """Print sentences and tables with a blank line between them; a table without rows is a sentence."""
    from benchmark.report.writers import TerminalTable

    for i, part in enumerate(parts):
        if i:
            echo("")
        if isinstance(part, str):
            echo(part)
        else:
            show(TerminalTable(part))


def show_run(done: RunResult, *, whole: bool = False, quiet: bool = False, following: str = "") -> None:
    """Print the tables of a run (all cells if `whole`), its sentence, and the next step; if `quiet`, the sentence.

    The next step is what suits the summary, unless another one is `following`.
    """
    from benchmark.experiment.run_folder import configuration_of_run, read_manifest
    from benchmark.report.html.page import PAGE_FILE
    from benchmark.report.terminal import RunOnTerminal, next_step, run_sentence
    from benchmark.system.memory import lifetime_peak_memory

    summary, peak, stored = done.summary, lifetime_peak_memory(), len(done.results.stored_cells)
    closing = run_sentence(summary, stored=stored, seconds=done.seconds, peak=peak, folder=done.folder)
    if quiet:
        echo(closing)
        return
    show(RunOnTerminal(summary, done.folder, whole), "")
    following = following or next_step(summary, done.folder, configuration_of_run(read_manifest(done.folder)))
    echo(f"{closing}\nopen {done.folder / PAGE_FILE}\nNext: {following}")
