"""Run experiments one after the other, here or on the workers that they name."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from benchmark.commands.context import local_context
from benchmark.experiment.run import run_and_write, run_folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmark.config.model import Experiment
    from benchmark.config.schema import ParallelSection
    from benchmark.experiment.context import RemoteExecutor
    from benchmark.experiment.run import RunResult
    from benchmark.system.observer import Observer

RESUME_HINT = "results so far are stored, and the same command continues from there"


def run_all(
    experiments: Sequence[Experiment],
    out: Path | None,
    observer: Observer,
    *,
    overwrite: bool = False,
    jobs: int = 0,
    download: bool = True,
    workers: ParallelSection | None = None,
) -> Iterator[RunResult]:
    """Yield finished runs, one after the other; experiments with the same workers share them.

    Parameters
    ----------
    experiments : sequence of Experiment
    out : Path or None
        Folder of the results; several experiments get a subfolder each. None for results/runs/<name>.
    observer : Observer
        Gets the number of cells of each run, its beginning and its end.
    overwrite : bool
        Whether to write to folders that hold other files.
    jobs : int
        Number of threads of each process; 0 uses all processors of its machine.
    download : bool
        Whether to download a corpus that isn't there yet.
    workers : ParallelSection, optional
        Replaces the workers that the configurations name.

    Raises
    ------
    BenchError
        As `run_and_write` does. A KeyboardInterrupt says that the same command continues from the store.
    """
    folders = run_folders(list(experiments), out, overwrite=overwrite)
    observer.expect([len(experiment.ids) for experiment in experiments])
    local = local_context(observer, jobs, download=download)
    executors: dict[str, RemoteExecutor] = {}
    with ExitStack() as stack:
        for experiment, folder in zip(experiments, folders, strict=True):
            observer.begin(experiment.name)
            named = workers or experiment.parallel
            if named is not None and repr(named) not in executors:
                from benchmark.workers.cluster import DaskExecutor  # noqa: PLC0415 - importing Dask takes a second

                executors[repr(named)] = stack.enter_context(DaskExecutor(named, local.store, jobs, observer))
            context = replace(local, elsewhere=executors.get(repr(named)))
            try:
                done = run_and_write(experiment, context, folder)
            except KeyboardInterrupt as stopped:
                if local.store.writable:
                    stopped.args = (RESUME_HINT,)
                raise
            experiment.registries.close()
            stored, cells = done.results.from_store
            observer.end(f"{experiment.name}: {done.seconds:.1f} s, {stored:,} of {cells:,} cells from the store")
            yield done
