"""Steps that several commands share: plan an experiment, read options of workers, and output a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.cli.errors import echo
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchmark.cli.output import CommandOutput
    from benchmark.cli.terminal import ProgressObserver
    from benchmark.commands.plan import Plan
    from benchmark.config.model import Experiment
    from benchmark.config.schema import ParallelSection
    from benchmark.experiment.run import RunResult


def plan_experiment(experiment: Experiment, *, jobs: int, download: bool, with_pilot: bool) -> Plan:
    """Return the plan of an experiment, with progress on standard error."""
    from benchmark.cli.terminal import ProgressObserver
    from benchmark.commands.context import local_context
    from benchmark.commands.plan import plan_run

    with ProgressObserver(experiment.name) as observer:
        return plan_run(experiment, local_context(observer, jobs, download=download), with_pilot=with_pilot)


def progress_of_command(answer: CommandOutput, *, verbose: bool) -> ProgressObserver:
    """Return the progress observer of a command, silent if the command is quiet."""
    from benchmark.cli.terminal import ProgressObserver

    return ProgressObserver("starting", verbose=verbose, silent=answer.quiet)


def workers_from_options(dask: str | None, max_workers: int | None) -> ParallelSection | None:
    """Return the workers that --dask and --max-workers ask for; None without --dask."""
    if dask is None:
        if max_workers is not None:
            raise ConfigError("--max-workers limits the workers of --dask: add --dask")
        return None
    from benchmark.workers.cluster import parse_dask_option

    return parse_dask_option(dask, max_workers)


def output_run(answer: CommandOutput, done: RunResult, *, whole: bool = False) -> None:
    """Add a run to the answer: tables (all cells if `whole`) and a sentence as text, its frames as data."""
    from rich.text import Text

    from benchmark.analysis.summary import SUMMARY_TABLES
    from benchmark.cli.terminal import file_link
    from benchmark.experiment.run_folder import configuration_of_run, read_manifest
    from benchmark.report.escapes import escape_controls
    from benchmark.report.html.page import PAGE_FILE
    from benchmark.report.terminal import RunOnTerminal, next_step, run_sentence
    from benchmark.system.memory import lifetime_peak_memory

    summary, peak, (stored, cells) = done.summary, lifetime_peak_memory(), done.results.from_store
    closing = run_sentence(summary, stored=stored, seconds=done.seconds, peak=peak, folder=done.folder)
    data: dict[str, Any] = {"name": summary.name, "title": summary.title, "folder": str(done.folder)}
    data |= {"seconds": done.seconds, "peak_bytes": peak, "from_store": stored, "cells": cells}
    data |= {"failures": dict(summary.failures), "notes": summary.notes}
    data |= {name: getattr(summary, name).to_dict("records") for name in SUMMARY_TABLES if name != "confusions"}
    answer.give("runs", data, RunOnTerminal(summary, done.folder, whole), "", sentence=closing)
    answer.show(file_link("open", done.folder / PAGE_FILE))
    following = next_step(summary, done.folder, configuration_of_run(read_manifest(done.folder)))
    answer.show(Text(f"Next: {escape_controls(following)}", no_wrap=True, overflow="ignore"))


def write_page_of_runs(
    experiments: Sequence[Experiment],
    page: Path,
    write: Callable[[list[RunResult]], str],
    *,
    overwrite: bool,
    jobs: int,
    verbose: bool,
    download: bool,
) -> None:
    """Run experiments, write a page of them, and print the line that `write` returns; exit 1 if a cell failed."""
    from benchmark.cli.terminal import ProgressObserver
    from benchmark.commands.run_all import run_all
    from benchmark.experiment.run import check_folder_writable

    check_folder_writable(page.parent)
    with ProgressObserver("starting", verbose=verbose) as observer:
        done = list(run_all(experiments, None, observer, overwrite=overwrite, jobs=jobs, download=download))
        observer.begin("writing the page")
        sentence = write(done)
    echo(sentence)
    if any(each.summary.failures for each in done):
        raise SystemExit(1)
