"""Steps that several commands share: plan, run configurations one after the other, and output a run."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from benchmark.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmark.cli.answers import Answer
    from benchmark.cli.terminal import ProgressObserver
    from benchmark.config.model import Experiment
    from benchmark.config.schema import ParallelSection
    from benchmark.experiment.context import Elsewhere
    from benchmark.experiment.session import Finished
    from benchmark.library.planning import Plan

KEPT = "results so far are stored, and the same command continues from there"


def planned(config: Path, *, jobs: int, download: bool, quick: bool) -> tuple[Experiment, Plan]:
    """Return the experiment and its plan, and print a note where the machine is too small for it."""
    from benchmark.cli.terminal import ProgressObserver

    with ProgressObserver(config.stem) as observer:
        from benchmark.compiled import ensure_usable
        from benchmark.experiment.context import RunContext
        from benchmark.experiment.session import checked, default_jobs
        from benchmark.experiment.store import Store
        from benchmark.library.planning import plan

        study = checked(config)
        ensure_usable(observer.note)
        store = Store(warn=observer.note)
        result = plan(study, RunContext(store, observer, jobs or default_jobs(), download), quick=quick)
        for warning in result.warnings:
            observer.note(warning)
    return study, result


def observed(answer: Answer, *, verbose: bool) -> ProgressObserver:
    """Return the progress observer of a command, silent if the command is quiet."""
    from benchmark.cli.terminal import ProgressObserver

    return ProgressObserver("starting", verbose=verbose, silent=answer.quiet)


def placed(dask: str | None, at_most: int | None) -> ParallelSection | None:
    """Return the workers that --dask and --at-most ask for; None without --dask."""
    if dask is None:
        if at_most is not None:
            raise ConfigError("--at-most limits the workers of --dask: add --dask")
        return None
    from benchmark.parallel.cluster import place_of

    return place_of(dask, at_most)


def performed(
    studies: list[Experiment],
    out: Path | None,
    overwrite: bool,
    jobs: int,
    download: bool,
    observer: ProgressObserver,
    place: ParallelSection | None = None,
) -> Iterator[Finished]:
    """Yield finished runs, one after the other, on the workers of `place` or of the configuration.

    Several runs get a subfolder of --out each.
    """
    from benchmark.compiled import ensure_usable
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.session import default_jobs, folders_of, perform
    from benchmark.experiment.store import Store

    folders = folders_of(studies, out, overwrite=overwrite)
    ensure_usable(observer.note)
    observer.expect([len(study.ids) for study in studies])
    store = Store(warn=observer.note)
    clusters: dict[str, Elsewhere] = {}
    with ExitStack() as stack:
        for study, folder in zip(studies, folders, strict=True):
            observer.begin(study.name)
            workers = place or getattr(study, "parallel", None)
            if workers is not None and repr(workers) not in clusters:
                from benchmark.parallel.cluster import Cluster

                clusters[repr(workers)] = stack.enter_context(Cluster(workers, store, jobs, observer))
            context = RunContext(store, observer, jobs or default_jobs(), download, clusters.get(repr(workers)))
            try:
                done = perform(study, context, folder)
            except KeyboardInterrupt as stopped:
                if store.writable:
                    stopped.args = (KEPT,)
                raise
            stored, cells = done.results.from_store
            observer.end(f"{study.name}: {done.seconds:.1f} s, {stored:,} of {cells:,} cells from the store")
            yield done


def give_run(answer: Answer, done: Finished, *, whole: bool = False) -> None:
    """Add a run to the answer: tables (all cells if `whole`) and a sentence as text, its frames as data."""
    from benchmark.environment import highest_bytes
    from benchmark.report.contents import TABLES
    from benchmark.report.screen import TerminalTables, sentence

    summary, peak, (stored, cells) = done.summary, highest_bytes(), done.results.from_store
    closing = sentence(summary, stored=stored, seconds=done.seconds, peak=peak, folder=done.folder)
    data: dict[str, Any] = {"name": summary.name, "title": summary.title, "folder": str(done.folder)}
    data |= {"seconds": done.seconds, "peak_bytes": peak, "from_store": stored, "cells": cells}
    data |= {"failures": dict(summary.failures), "notes": summary.notes}
    data |= {name: getattr(summary, name).to_dict("records") for name in TABLES if name != "confusions"}
    answer.give("runs", data, TerminalTables(summary, done.folder, whole), "", sentence=closing)
