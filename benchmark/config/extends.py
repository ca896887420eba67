"""A file and the files it extends to one YAML document in which every value has its line number."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.system.errors import did_you_mean, quote_value
from benchmark.system.shipped_files import CONFIGS_FOLDER, find_shipped, shipped_files
from benchmark.system.yaml_source import read_yaml

if TYPE_CHECKING:
    from benchmark.system.yaml_source import YamlSource

#: Keys that a file doesn't inherit from the file that it extends, since they identify a configuration.
FILE_KEYS = ("name", "title", "paper", "sensitivity_of", "notes", "tuned_to_published", "readings", "extends")

#: The largest number of characters of a file's name.
MAX_NAME_LENGTH = 100


def read_config(path: Path) -> YamlSource:
    """Read a configuration; where it ``extends: other``, merge it into the other file.

    Raises
    ------
    ConfigError
        If a file can't be read, isn't YAML, or extends itself.
    """
    return _read(path, ())


def _read(path: Path, below: tuple[Path, ...]) -> YamlSource:
    source = read_yaml(path)
    if "extends" not in source.data:
        return source
    name = source.data["extends"]
    if not isinstance(name, str):
        raise source.error(
            ("extends",), f"extends is {quote_value(name)}: must be the name of a configuration in the same folder"
        )
    if not name or Path(name).name != name or len(name) > MAX_NAME_LENGTH:
        raise source.error(
            ("extends",), f"extends is {quote_value(name)}: must name a configuration in the same folder"
        )
    other = path.with_name(name if name.endswith(".yaml") else f"{name}.yaml")
    if not other.exists():
        other = find_shipped(CONFIGS_FOLDER, other.name)
    if not other.exists():
        near = [each.stem for each in (*sorted(path.parent.glob("*.yaml")), *shipped_files(CONFIGS_FOLDER, "*.yaml"))]
        hint = did_you_mean(name, near)
        raise source.error(
            ("extends",), f"there is no configuration {name!r} in the same folder or in the package{hint}"
        )
    if other.resolve() in (path.resolve(), *(each.resolve() for each in below)):
        raise source.error(("extends",), f"extends: {name} goes round in a circle")
    not_taken: tuple[str, ...] = FILE_KEYS
    if source.data.get("run_base") is False:  # `expect` describes the configuration itself, which isn't run
        not_taken = (*FILE_KEYS, "expect")
    return _read(other, (*below, path)).without(not_taken).overlaid(source.without(["extends"]))
