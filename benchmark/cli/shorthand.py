"""Short names on the command line: ``webkb`` is configs/webkb.yaml, and results/runs/webkb."""

from __future__ import annotations

from pathlib import Path

from benchmark.errors import ConfigError, did_you_mean

CONFIGS = Path("configs")


def config_named(path: Path) -> Path:
    """Return the path of a configuration from its path, or its name in `CONFIGS`; ConfigError if there is none."""
    if path.exists() or path.name != str(path) or path.suffix:
        return path
    names = sorted(config.stem for config in CONFIGS.glob("*.yaml"))
    if str(path) in names:
        return CONFIGS / f"{path}.yaml"
    raise ConfigError(
        f"{path}: there is no such file, and no configuration of this name in {CONFIGS}{_near(path, names)}"
    )


def run_named(path: Path) -> Path:
    """Return the folder of a run from its path, or its name among the runs; ConfigError if there is none."""
    from benchmark.experiment.session import RUNS

    if path.exists():
        return path
    top = path.parent if path.name != str(path) else RUNS
    names = sorted(run.name for run in top.iterdir() if run.is_dir()) if top.is_dir() else []
    if top == RUNS and path.name in names:
        return RUNS / path.name
    raise ConfigError(f"{path}: there is no such folder, and no run of this name in {top}{_near(path, names)}")


def _near(path: Path, names: list[str]) -> str:
    return did_you_mean(path.name, names)
