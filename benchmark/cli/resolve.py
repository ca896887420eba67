"""Short names of runs on the command line: ``webkb`` is results/runs/webkb."""

from __future__ import annotations

from pathlib import Path

from benchmark.system.errors import ConfigError, did_you_mean


def resolve_run(path: Path) -> Path:
    """Return the folder of a run from its path, or its name among the runs; ConfigError if there is none."""
    from benchmark.experiment.run import RUNS_FOLDER

    if path.exists():
        return path
    top = path.parent if path.name != str(path) else RUNS_FOLDER
    names = sorted(run.name for run in top.iterdir() if run.is_dir()) if top.is_dir() else []
    if path.name in names:  # among the runs, since a path that is there was returned above
        return RUNS_FOLDER / path.name
    raise ConfigError(
        f"{path}: there is no such folder, and no run of this name in {top}{did_you_mean(path.name, names)}"
    )
