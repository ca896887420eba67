"""What several commands do: plan, run one configuration after the other, and give what came of it."""

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

KEPT = "what was computed is kept, and the same command goes on from there"


def planned(config: Path, *, jobs: int, download: bool, quick: bool) -> tuple[Experiment, Plan]:
    """What a run would compute; what the machine is too small for is said."""
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
        found = plan(study, RunContext(store, observer, jobs or default_jobs(), download), quick=quick)
        for warning in found.warnings:
            observer.note(warning)
    return study, found


def observed(answer: Answer, *, verbose: bool) -> ProgressObserver:
    """The bar of a command; none of one that is quiet."""
    from benchmark.cli.terminal import ProgressObserver

    return ProgressObserver("starting", verbose=verbose, silent=answer.quiet)


def placed(dask: str | None, at_most: int | None) -> ParallelSection | None:
    """Which other processes --dask and --at-most ask for."""
    if dask is None:
        if at_most is not None:
            raise ConfigError("--at-most is of the workers that --dask names")
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
    """Run one after the other, each in the place given, or that it names; of several, each has a folder below --out."""
    from benchmark.compiled import ensure_usable
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.session import default_jobs, folders_of, perform
    from benchmark.experiment.store import Store

    folders = folders_of(studies, out, overwrite=overwrite)
    ensure_usable(observer.note)
    observer.expect([len(study.ids) for study in studies])
    store = Store(warn=observer.note)
    elsewhere: dict[str, Elsewhere] = {}
    with ExitStack() as stack:
        for study, folder in zip(studies, folders, strict=True):
            observer.begin(study.name)
            own = place or getattr(study, "parallel", None)
            if own is not None and repr(own) not in elsewhere:
                from benchmark.parallel.cluster import Cluster

                elsewhere[repr(own)] = stack.enter_context(Cluster(own, store, jobs, observer))
            context = RunContext(store, observer, jobs or default_jobs(), download, elsewhere.get(repr(own)))
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
    """Add a run: what a terminal shows of its tables, all cells if `whole`, and a sentence; as data, its frames."""
    from benchmark.environment import highest_bytes
    from benchmark.report.contents import TABLES
    from benchmark.report.screen import TerminalTables, sentence

    summary, peak, (stored, cells) = done.summary, highest_bytes(), done.results.from_store
    told = sentence(summary, stored=stored, seconds=done.seconds, peak=peak, folder=done.folder)
    data: dict[str, Any] = {"name": summary.name, "title": summary.title, "folder": str(done.folder)}
    data |= {"seconds": done.seconds, "peak_bytes": peak, "from_store": stored, "cells": cells}
    data |= {"failures": dict(summary.failures), "notes": summary.notes}
    data |= {name: getattr(summary, name).to_dict("records") for name in TABLES if name != "confusions"}
    answer.give("runs", data, TerminalTables(summary, done.folder, whole), "", sentence=told)
