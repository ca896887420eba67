"""Output of a command: text as it arises, one JSON document at the end, or sentences alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

from benchmark.cli.errors import echo
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import RenderableType

    from benchmark.analysis.formatting.table import Table
    from benchmark.experiment.run import RunResult


class CommandOutput:
    """Output of a command; with ``--json`` standard output gets one JSON document and nothing else.

    Parameters
    ----------
    quiet : bool
        Print sentences alone; errors go to standard error in any case.
    as_json : bool
        Collect everything, and print one JSON document at the end.

    Raises
    ------
    ConfigError
        If both are true.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        if quiet and as_json:
            raise ConfigError("--quiet and --json exclude each other: --json prints the whole output or nothing")
        self.quiet, self._as_json = quiet, as_json
        self._document: dict[str, list[Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._as_json and (kind is None or issubclass(kind, SystemExit)):
            echo(json.dumps(self._document, ensure_ascii=True, allow_nan=False))

    def give(self, key: str, data: Mapping[str, Any], *shown: RenderableType, sentence: str = "") -> None:
        """Append `data` and the sentence to the list `key` of the document, or print renderables and sentence."""
        extra = {"sentence": sentence} if sentence else {}
        self._document.setdefault(key, []).append(_to_json({**data, **extra}))
        self.show(*shown)
        if sentence and not self._as_json:
            echo(sentence)

    def show(self, *shown: RenderableType) -> None:
        """Print renderables that JSON and quiet output leave out."""
        if shown and not self._as_json and not self.quiet:
            from benchmark.cli.terminal import stdout_console

            for each in shown:
                stdout_console().print(each, crop=False)

    def answer(self, sentence: str, tables: Iterable[Table] = (), **data: Any) -> None:
        """Add the sentence that answers the command, and the tables below it."""
        self.give("answers", data, sentence=sentence)
        self.show("")
        self.tables(tables)

    def tables(self, parts: Iterable[Table], sentence: str = "") -> None:
        """Add tables under their titles, separated by a blank line; a table without rows is a sentence instead."""
        from benchmark.report.writers import TerminalTable

        for i, part in enumerate(parts):
            data = {"title": part.title, "rows": part.records}
            self.give("tables", data, *([""] if i else []), TerminalTable(part))
        if sentence:
            self.show("")
            self.give("answers", {}, sentence=sentence)

    def run(self, done: RunResult, *, whole: bool = False) -> None:
        """Add a run: tables (all cells if `whole`) and a sentence as text, its frames as data."""
        from benchmark.analysis.summary import SUMMARY_TABLES
        from benchmark.experiment.run_folder import configuration_of_run, read_manifest
        from benchmark.report.html.page import PAGE_FILE
        from benchmark.report.terminal import RunOnTerminal, next_step, run_sentence
        from benchmark.system.memory import lifetime_peak_memory

        summary, peak, (stored, cells) = done.summary, lifetime_peak_memory(), done.results.from_store
        closing = run_sentence(summary, stored=stored, seconds=done.seconds, peak=peak, folder=done.folder)
        data: dict[str, Any] = {"name": summary.name, "title": summary.title, "folder": str(done.folder)}
        data |= {"seconds": done.seconds, "peak_bytes": peak, "from_store": stored, "cells": cells}
        data |= {"failures": dict(summary.failures), "notes": summary.notes}
        data |= {name: getattr(summary, name).to_dict("records") for name in SUMMARY_TABLES if name != "confusions"}
        self.give("runs", data, RunOnTerminal(summary, done.folder, whole), "", sentence=closing)
        following = next_step(summary, done.folder, configuration_of_run(read_manifest(done.folder)))
        if not self.quiet and not self._as_json:
            echo(f"open {done.folder / PAGE_FILE}\nNext: {following}")


def _to_json(value: Any) -> Any:
    """Convert a value to JSON types: NaN and infinity to null, numpy numbers to Python's."""
    if isinstance(value, dict):
        return {str(key): _to_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(each) for each in value]
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)
