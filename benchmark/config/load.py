"""A file, with the files it extends, to one YAML document in which every value still knows its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.config.source import YamlSource, did_you_mean, read_yaml

if TYPE_CHECKING:
    from pathlib import Path

#: What says which configuration a file is: it isn't taken over from the file that it extends.
OWN = ("name", "title", "paper", "explains", "notes", "extends")


def read_config(path: Path) -> YamlSource:
    """Read a configuration; where it ``extends: other``, the other file's with what this one says otherwise.

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
        raise source.error(("extends",), f"extends is {name!r}: must be the name of a configuration beside this one")
    other = path.with_name(name if name.endswith(".yaml") else f"{name}.yaml")
    if other.resolve() in (path.resolve(), *(each.resolve() for each in below)):
        raise source.error(("extends",), f"extends: {name} goes round in a circle")
    if not other.exists():
        hint = did_you_mean(name, [each.stem for each in sorted(path.parent.glob("*.yaml"))])
        raise source.error(("extends",), f"there is no configuration {name!r} beside this one{hint}")
    inherited = _read(other, (*below, path))
    for key in OWN:
        inherited.data.pop(key, None)
    if source.data.get("base") is False:  # of the configuration itself, which isn't run
        inherited.data.pop("expect", None)
    merged = inherited.overlaid(source)
    merged.data.pop("extends", None)
    return merged
