"""A file and the files it extends to one document in which every value has its file and line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.system.errors import did_you_mean, quote_value
from benchmark.system.shipped_files import CONFIGS_FOLDER, find_shipped, shipped_files
from benchmark.system.yaml_source import read_yaml

if TYPE_CHECKING:
    from benchmark.system.yaml_source import Node

#: Keys that a file doesn't inherit from the file that it extends, since they identify a configuration.
FILE_KEYS = ("name", "title", "paper", "sensitivity_of", "notes", "tuned_to_published", "readings", "extends")

#: The largest number of characters of a file's name.
MAX_NAME_LENGTH = 100


def read_config(path: Path) -> Node:
    """Read a configuration; where it ``extends: other``, merge it into the other file.

    Raises
    ------
    ConfigError
        If a file can't be read, isn't YAML, or extends itself.
    """
    return _read(path, ())


def _read(path: Path, below: tuple[Path, ...]) -> Node:
    node = read_yaml(path, str(below[0]) if below else "")
    if "extends" not in node:
        return node
    extends = node["extends"]
    name = extends.value
    if not isinstance(name, str) or not name or Path(name).name != name or len(name) > MAX_NAME_LENGTH:
        raise extends.error(f"extends is {quote_value(name)}: must name a configuration in the same folder")
    other = path.with_name(name if name.endswith(".yaml") else f"{name}.yaml")
    if not other.exists():
        other = find_shipped(CONFIGS_FOLDER, other.name)
    if not other.exists():
        near = [each.stem for each in (*sorted(path.parent.glob("*.yaml")), *shipped_files(CONFIGS_FOLDER, "*.yaml"))]
        raise extends.error(f"no configuration {name!r} in the same folder or in the package{did_you_mean(name, near)}")
    if other.resolve() in (path.resolve(), *(each.resolve() for each in below)):
        raise extends.error(f"extends: {name} goes round in a circle")
    # Where the extended file isn't run, nor are the numbers expected that describe it.
    not_taken = (*FILE_KEYS, "expect") if node["run_base"].value is False else FILE_KEYS
    return _read(other, (*below, path)).without(*not_taken).merged(node.without("extends"))
