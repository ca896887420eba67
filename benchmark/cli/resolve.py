"""Short names on the command line: ``webkb`` is configs/webkb.yaml, and results/runs/webkb."""

from __future__ import annotations

from pathlib import Path

from benchmark.system.errors import ConfigError, did_you_mean

CONFIG_FOLDER_NAME = Path("configs")


def resolve_config(path: Path) -> Path:
    """Return the path of a configuration, named by its path or by its name in configs/; else raise ConfigError."""
    if path.exists() or path.name != str(path) or path.suffix:
        return path
    names = sorted(config.stem for config in CONFIG_FOLDER_NAME.glob("*.yaml"))
    if str(path) in names:
        return CONFIG_FOLDER_NAME / f"{path}.yaml"
    raise ConfigError(
        f"{path}: there is no such file, and no configuration of this name in {CONFIG_FOLDER_NAME}{_near(path, names)}"
    )


def resolve_run(path: Path) -> Path:
    """Return the folder of a run from its path, or its name among the runs; ConfigError if there is none."""
    from benchmark.experiment.run import RUNS_FOLDER

    if path.exists():
        return path
    top = path.parent if path.name != str(path) else RUNS_FOLDER
    names = sorted(run.name for run in top.iterdir() if run.is_dir()) if top.is_dir() else []
    if top == RUNS_FOLDER and path.name in names:
        return RUNS_FOLDER / path.name
    raise ConfigError(f"{path}: there is no such folder, and no run of this name in {top}{_near(path, names)}")


def _near(path: Path, names: list[str]) -> str:
    return did_you_mean(path.name, names)
