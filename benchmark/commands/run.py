"""Run experiments one after the other, and run the experiment of a finished run again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmark.experiment.configuration import experiment_of_manifest, select_cells
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import RUNS_FOLDER, run_and_write, run_folders
from benchmark.experiment.run_folder import read_manifest, read_run
from benchmark.experiment.store import Store
from benchmark.system.errors import ConfigError, did_you_mean
from benchmark.system.row_blocks import n_processors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmark.analysis.formatting.table import Table
    from benchmark.config.model import Experiment
    from benchmark.experiment.run import RunResult
    from benchmark.system.observer import Observer

RESUME_HINT = "results so far are stored, and the same command continues from there"


def local_context(observer: Observer, jobs: int = 0, *, download: bool = True) -> RunContext:
    """Return the resources of work on this machine with the user's store; 0 jobs are threads on all processors."""
    return RunContext(Store(warn=observer.note), observer, jobs or n_processors(), download)


def resolve_run(path: Path) -> Path:
    """Return the folder of a run from its path, or its name among the runs; ConfigError if there is none."""
    if path.exists():
        return path
    top = path.parent if path.name != str(path) else RUNS_FOLDER
    if (top / path.name).is_dir():
        return top / path.name
    near = did_you_mean(path.name, sorted(run.name for run in top.glob("*/")))
    raise ConfigError(f"{path}: there is no such folder, and no run of this name in {top}{near}")


def run_all(
    experiments: Sequence[Experiment], out: Path | None, context: RunContext, *, overwrite: bool = False
) -> Iterator[RunResult]:
    """Yield finished runs, one after the other; all share the workers.

    Parameters
    ----------
    experiments : sequence of Experiment
    out : Path or None
        Folder of the results; several experiments get a subfolder each. None for results/runs/<name>.
    context : RunContext
        Its observer gets the beginning and the end of each run.
    overwrite : bool
        Whether to write to folders that hold other files.

    Raises
    ------
    BenchError
        As `run_and_write` does. A KeyboardInterrupt says that the same command continues from the store.
    """
    folders = run_folders(list(experiments), out, overwrite=overwrite)
    for number, (experiment, folder) in enumerate(zip(experiments, folders, strict=True), start=1):
        context.observer.begin(experiment.name)
        try:
            done = run_and_write(experiment, context, folder)
        except KeyboardInterrupt as stopped:
            if context.store.writable:
                stopped.args = (RESUME_HINT,)
            raise
        experiment.registries.close()
        stored, cells = len(done.results.stored_cells), sum(cell.what != "diagnostic" for cell in experiment.cells)
        line = f"{experiment.name}: {done.seconds:.1f} s, {stored:,} of {cells:,} cells from the store"
        context.observer.end(f"{line} ({number} of {len(folders)})" if len(folders) > 1 else "")
        yield done


def run_again(
    folder: Path, out: Path | None, context: RunContext, *, overwrite: bool = False
) -> tuple[str, list[Table], bool]:
    """Run the experiment of a run's folder again, and compare both runs: as `compare_run_folders` does.

    Nothing is taken from the store, whose results could be those of the first run.

    Parameters
    ----------
    folder : Path
        Folder of a finished run.
    out : Path or None
        Folder for the new run; None to keep nothing of it.
    context : RunContext
    overwrite : bool
        Whether `out` may hold other files.

    Raises
    ------
    ConfigError
        If this version refuses the configuration, code that it names isn't trusted, or `out` holds the run itself.
    DataError
        If the folder is damaged or of another format, or the corpus has gone or fails its checks.
    """
    from benchmark.commands.compare import compare_run_folders  # noqa: PLC0415 - a plan needs none of it

    read_run(folder)
    manifest = read_manifest(folder)
    experiment = select_cells(experiment_of_manifest(manifest, folder), manifest.get("only", ()))
    # The paths of plug-ins are absolute here, and would be a difference.
    experiment = replace(experiment, raw=manifest["config"])
    if out is not None:
        if out.resolve() == folder.resolve():
            raise ConfigError(f"{out}: holds the run that would be run again; name another folder with --out")
        run_folders([experiment], out, overwrite=overwrite)
    context.observer.begin(experiment.name)
    with TemporaryDirectory(prefix="bench-run-") as temporary:
        fresh = replace(context, store=Store(f"{temporary}/store", warn=context.observer.note))
        done = run_and_write(experiment, fresh, out or Path(temporary, "run"))
        context.observer.now("comparing both runs")
        sentence, tables, equal = compare_run_folders(folder, done.folder, ("then", "now"))
    return f"{experiment.name}, run again: {sentence}", tables, equal
