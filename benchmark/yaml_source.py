"""YAML text to plain data that remembers on which line each value stands, for errors that point there."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Location = tuple[str | int, ...]


@dataclass
class YamlSource:
    """A YAML document and where its values stand.

    Parameters
    ----------
    name : str
        How errors call the file.
    data : Any
        What the document says, as plain Python data.
    lines : dict of Location to int
        The line (from 1) of each key's or item's location, e.g. ``("cells", 0, "kernel")``.
    """

    name: str
    data: Any
    lines: dict[Location, int] = field(default_factory=dict)

    def error(self, location: Location, message: str) -> ConfigError:
        """A ConfigError that begins with file, line and the place in the document."""
        while location not in self.lines and location:
            location = location[:-1]
        line = self.lines.get(location)
        place = f"{self.name}:{line}" if line else self.name
        return ConfigError(f"{place}: {message}")


def read_yaml(path: Path) -> YamlSource:
    """Read one YAML document.

    Raises
    ------
    ConfigError
        If the file can't be read, isn't YAML, isn't a mapping, or names a key twice (YAML itself would keep the last).
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        near = [str(other) for other in sorted(Path(path.parent or ".").glob("*.yaml"))]
        hint = did_you_mean(str(path), near)
        raise ConfigError(f"{path}: can't be read: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text (byte {error.start})") from None
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        source = YamlSource(str(path), yaml.safe_load(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{line}: is not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is not valid YAML: {error}") from None
    if not isinstance(source.data, dict):
        raise ConfigError(f"{path}: must be a mapping of keys such as name, corpus and cells")
    _note_lines(node, (), source)
    return source


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the nearest allowed name, or nothing if none is near."""
    nearest = difflib.get_close_matches(name, list(allowed), n=1, cutoff=0.5)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def unknown(what: str, name: object, allowed: Sequence[str]) -> str:
    """The message for a name that isn't one of `allowed`."""
    return f"unknown {what} {name!r}{did_you_mean(str(name), allowed)} (allowed: {', '.join(allowed)})"


def _note_lines(node: Any, location: Location, source: YamlSource) -> None:
    source.lines.setdefault(location, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                source.lines[(*location, key.value)] = key.start_mark.line + 1
                raise source.error((*location, key.value), f"the key {key.value!r} is given twice")
            seen.add(key.value)
            source.lines[(*location, key.value)] = key.start_mark.line + 1
            _note_lines(value, (*location, key.value), source)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _note_lines(item, (*location, index), source)
