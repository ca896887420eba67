"""Read and check configurations, and select parts of an experiment."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from benchmark.config import subset
from benchmark.config.experiment import check_experiment
from benchmark.config.extends import read_config
from benchmark.experiment.run_folder import MANIFEST_FILE
from benchmark.papers.load import published_papers, unknown_cell
from benchmark.plugins.discovery import registries_for
from benchmark.plugins.records import with_plugin_paths
from benchmark.system.errors import ConfigError
from benchmark.system.yaml_source import YamlSource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmark.config.model import Experiment


def load_experiment(path: Path) -> Experiment:
    """Read and check a configuration.

    Raises
    ------
    ConfigError
        With file, line, the error, the nearest valid name and the allowed values.
    """
    return check_source(read_config(path))


def experiment_from_mapping(raw: dict[str, Any], name: str) -> Experiment:
    """Check a configuration in plain data, which errors call by a name."""
    return check_source(YamlSource(name, raw))


def experiment_of_manifest(manifest: dict[str, Any], folder: Path) -> Experiment:
    """Check the configuration that the manifest of a run's folder holds; relative paths start where they did then.

    Raises
    ------
    ConfigError
        If this version refuses the configuration, a plug-in's file is missing, or code that it names isn't trusted.
    """
    folders = [facts["base"] for facts in manifest["variants"].values() if "base" in facts]
    name = "/".join([*folders[:1], f"{manifest['name']}.yaml"])
    source = YamlSource(name, with_plugin_paths(manifest["config"], manifest.get("plugins", [])))
    return check_source(source, received=[folder / MANIFEST_FILE])


def check_source(source: YamlSource, received: Sequence[Path] = ()) -> Experiment:
    """Check a configuration that has been read; `received` as for `registries_for`."""
    return check_experiment(source, registries_for(source, received), published_papers())


def select_cells(experiment: Experiment, patterns: Sequence[str]) -> Experiment:
    """Return the experiment with only the cells whose ids match a shell pattern; without patterns, all of it.

    Raises
    ------
    ConfigError
        If a pattern matches no cell.
    """
    ids = {pattern: [name for name in experiment.ids if fnmatchcase(name, pattern)] for pattern in patterns}
    for pattern, own in ids.items():
        if not own:
            raise ConfigError(unknown_cell(pattern, experiment))
    return (
        subset.subset_experiment(experiment, {name for own in ids.values() for name in own}, patterns)
        if patterns
        else experiment
    )
