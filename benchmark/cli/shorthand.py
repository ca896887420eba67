"""Short names on the command line: ``webkb`` is configs/webkb.yaml, and results/runs/webkb."""

from __future__ import annotations

from pathlib import Path

from benchmark.errors import ConfigError, did_you_mean

CONFIGS = Path("configs")


def config_named(path: Path) -> Path:
    """A configuration by its path, or else by its name among `CONFIGS`; ConfigError for a name that none has."""
    if path.exists() or path.name != str(path) or path.suffix:
        return path
    names = sorted(each.stem for each in CONFIGS.glob("*.yaml"))
    if str(path) in names:
        return CONFIGS / f"{path}.yaml"
    raise ConfigError(f"{path}: there is no such file, and none of this name in {CONFIGS}{_near(path, names)}")


def run_named(path: Path) -> Path:
    """The folder of a run by its path, or else by its name among the runs; ConfigError where there is none."""
    from benchmark.experiment.session import RUNS

    if path.exists():
        return path
    top = path.parent if path.name != str(path) else RUNS
    names = sorted(each.name for each in top.iterdir() if each.is_dir()) if top.is_dir() else []
    if top == RUNS and path.name in names:
        return RUNS / path.name
    raise ConfigError(f"{path}: there is no such folder, and no run of this name in {top}{_near(path, names)}")


def _near(path: Path, names: list[str]) -> str:
    return did_you_mean(path.name, names)
