"""The experiment of a finished run, run again from its folder alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmark.commands.compare import compare_run_folders
from benchmark.commands.context import local_context
from benchmark.experiment.configuration import experiment_of_manifest, select_cells
from benchmark.experiment.run import run_and_write, run_folders
from benchmark.experiment.run_folder import MANIFEST_FILE, read_manifest, read_run
from benchmark.experiment.store import Store
from benchmark.system.errors import ConfigError

if TYPE_CHECKING:
    from benchmark.analysis.formatting.table import Table
    from benchmark.system.observer import Observer


def run_again(
    folder: Path,
    out: Path | None,
    observer: Observer,
    *,
    overwrite: bool = False,
    jobs: int = 0,
    download: bool = True,
) -> tuple[str, list[Table], bool]:
    """Run the experiment of a run's folder again, and compare both runs: as `compare_run_folders` does.

    Nothing is taken from the store, whose results could be those of the first run. Workers that the configuration
    names are not used.

    Parameters
    ----------
    folder : Path
        Folder of a finished run.
    out : Path or None
        Folder for the new run; None to keep nothing of it.
    observer : Observer
    overwrite : bool
        Whether `out` may hold other files.
    jobs : int
        Number of threads; 0 uses all processors.
    download : bool
        Whether to download a corpus that isn't there.

    Raises
    ------
    ConfigError
        If this version refuses the configuration, code that it names isn't trusted, or `out` holds the run itself.
    DataError
        If the folder is damaged or of another format, or the corpus has gone or fails its checks.
    """
    if not (folder / MANIFEST_FILE).exists():
        wanted = "name a configuration, or the folder of a finished run"
        raise ConfigError(f"{folder}: holds no run ({MANIFEST_FILE} is missing); {wanted}")
    read_run(folder)
    manifest = read_manifest(folder)
    experiment = select_cells(experiment_of_manifest(manifest, folder), manifest.get("only", ()))
    # The paths of plug-ins are absolute here, and would be a difference; other processes have another store.
    experiment = replace(experiment, raw=manifest["config"], parallel=None)
    if out is not None:
        if out.resolve() == folder.resolve():
            raise ConfigError(f"{out}: holds the run that would be run again; name another folder with --out")
        run_folders([experiment], out, overwrite=overwrite)
    observer.expect([len(experiment.ids)])
    observer.begin(experiment.name)
    with TemporaryDirectory(prefix="bench-run-") as temporary:
        store = Store(f"{temporary}/store", warn=observer.note)
        context = local_context(observer, jobs, download=download, store=store)
        done = run_and_write(experiment, context, out or Path(temporary, "run"))
        observer.now("comparing both runs")
        sentence, tables, equal = compare_run_folders(folder, done.folder, ("then", "now"))
    return f"{experiment.name}, run again: {sentence}", tables, equal
