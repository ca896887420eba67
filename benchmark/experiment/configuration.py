"""Read and check configurations, and select parts of an experiment."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.config.cells import subset_experiment
from benchmark.config.experiment import check_experiment, read_config
from benchmark.corpora.user.user_corpus import UserCorpus, check_user_card, user_card_path, user_card_yaml
from benchmark.papers.load import check_published, published_papers, unknown_cell
from benchmark.plugins.discovery import registries_for
from benchmark.system.atomic_files import write_atomically
from benchmark.system.errors import ConfigError
from benchmark.system.yaml_source import Node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.config.model import Experiment


def load_experiment(path: Path) -> Experiment:
    """Read and check a configuration.

    Raises
    ------
    ConfigError
        With file, line, the error, the nearest valid name and the allowed values.
    """
    return _checked(read_config(path))


def load_checked(path: Path) -> Experiment:
    """Read a configuration and check all that can be checked without data."""
    experiment = load_experiment(path)
    check_published(experiment, path.parent)
    reader = user_corpus_of(experiment)
    if reader is not None:
        check_user_card(reader, path)
    return experiment


def load_all_checked(paths: Sequence[Path]) -> list[Experiment]:
    """Check several configurations, and that none would overwrite another's results."""
    experiments = [load_checked(path) for path in paths]
    for name, times in Counter(experiment.name for experiment in experiments).items():
        if times > 1:
            problem = f"two of these configurations are named {name!r}: one would overwrite the other's results"
            raise ConfigError(problem)
    return experiments


def experiment_from_mapping(raw: dict[str, Any], name: str) -> Experiment:
    """Check a configuration in plain data, which errors call by a name."""
    return _checked(Node.of_data(raw, name))


def experiment_of_manifest(manifest: dict[str, Any], folder: Path) -> Experiment:
    """Check the configuration that the manifest of a run's folder holds; relative paths start where they did then.

    Raises
    ------
    ConfigError
        If this version refuses the configuration, a plug-in's file is missing, or code that it names isn't trusted.
    """
    from benchmark.experiment.run_folder import MANIFEST_FILE  # noqa: PLC0415 - what reads runs, `validate` doesn't

    folders = [facts["base"] for facts in manifest["variants"].values() if "base" in facts]
    name = "/".join([*folders[:1], f"{manifest['name']}.yaml"])
    records = manifest.get("plugins", [])
    files = dict.fromkeys(each["file"] for each in records if each["file"] and each["kind"] != "pipelines")
    pipelines = {each["name"]: Path(each["file"]) for each in records if each["kind"] == "pipelines"}
    node = Node.of_data(manifest["config"] | ({"plugins": [*files]} if files else {}), name)
    known = registries_for(node, [folder / MANIFEST_FILE], pipelines)
    return check_experiment(node, known, published_papers())


def changed_plugin(manifest: dict[str, Any], experiment: Experiment) -> str:
    """Return the file of the first plug-in's component that has changed since a run, or "" if none has."""
    for each in manifest.get("plugins", []):
        origin = getattr(experiment.registries, each["kind"]).origins.get(each["name"])
        if origin is None or origin.digest != each["digest"]:
            return each["file"] or f"the plug-in of {each['name']!r}"
    return ""


def _checked(node: Node) -> Experiment:
    """Check a configuration that has been read."""
    return check_experiment(node, registries_for(node), published_papers())


def select_cells(experiment: Experiment, patterns: Sequence[str]) -> Experiment:
    """Return the experiment with only the cells whose ids match a shell pattern; without patterns, all of it.

    Raises
    ------
    ConfigError
        If a pattern matches no cell.
    """
    chosen = set[str]()
    for pattern in patterns:
        named = {name for name in experiment.ids if fnmatchcase(name, pattern)}
        if not named:
            raise ConfigError(unknown_cell(pattern, experiment))
        chosen |= named
    return subset_experiment(experiment, chosen, patterns) if patterns else experiment


def user_corpus_of(experiment: Experiment) -> UserCorpus | None:
    """Return the reader of a user's own corpus; None for the corpora of the package."""
    reader = next(iter(experiment.variants.values())).collection.reader
    return reader if isinstance(reader, UserCorpus) else None


def write_card(path: Path) -> Path:
    """Write the card of a user's own corpus as it is now; raise ConfigError if the corpus has one already."""
    reader = user_corpus_of(load_experiment(path))
    if reader is None:
        raise ConfigError(f"{path}: its corpus has a card or needs none: only the corpora files and counts get one")
    write_atomically(user_card_path(path), user_card_yaml(reader).encode())
    return user_card_path(path)
