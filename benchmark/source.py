"""YAML text to plain data that remembers on which line each value stands, for errors that point there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

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
        The line (from 1) of each key's or item's location, e.g. ``("methods", 0, "kernel")``.
    files : dict of Location to str
        The file of each location that stands in another one: what a document extends.
    """

    name: str
    data: Any
    lines: dict[Location, int] = field(default_factory=dict)
    files: dict[Location, str] = field(default_factory=dict)

    def error(self, location: Location, message: str) -> ConfigError:
        """A ConfigError that begins with file, line and the place in the document."""
        place = self._nearest(location)
        line, name = self.lines.get(place, 0), self.files.get(place, self.name)
        return ConfigError(f"{name}:{line}: {message}" if line else f"{name}: {message}")

    def line(self, location: Location) -> int:
        """The line of a location, or of the nearest thing that holds it; 0 in a document without lines."""
        return self.lines.get(self._nearest(location), 0)

    def part(self, location: Location) -> YamlSource:
        """What stands at a location, as a document of its own that still knows its lines."""
        data = self.data
        for key in location:
            data = data[key]
        n = len(location)
        lines = {place[n:]: line for place, line in self.lines.items() if place[:n] == location}
        files = {place[n:]: name for place, name in self.files.items() if place[:n] == location}
        return YamlSource(self.name, data, lines, files)

    def overlaid(self, over: YamlSource) -> YamlSource:
        """The document with what `over` says otherwise.

        Mappings are merged key by key, null takes a key away, and anything else stands in place of what was there, as
        does a mapping with a name of its own: another component. Text that a mapping without a name is laid over is
        that mapping's name: ``svm`` and ``{C: 10}`` are one component.
        """
        merged = YamlSource(over.name, _copied(self.data), dict(self.lines), dict(self.files))
        if self.name != over.name:
            merged.files |= {place: self.files.get(place, self.name) for place in self.lines if place}
            merged.lines[()] = over.lines.get((), 0)  # what both lack is missing in the file that was named
        _lay_over(merged, over, ())
        return merged

    def without(self, keys: Iterable[str]) -> YamlSource:
        """The document without some of its top-level keys."""
        gone = frozenset(keys)
        lines = {place: line for place, line in self.lines.items() if not (place and place[0] in gone)}
        files = {place: name for place, name in self.files.items() if not (place and place[0] in gone)}
        return YamlSource(self.name, {key: value for key, value in self.data.items() if key not in gone}, lines, files)

    def _nearest(self, location: Location) -> Location:
        while location not in self.lines and location:
            location = location[:-1]
        return location


class _Loader(yaml.SafeLoader):
    """Gives a line also to values that look like a date or a number and are none, such as 2024-13-45."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """Plain data from a node."""
        try:
            return super().construct_object(node, deep)
        except ValueError as error:
            problem = f"{node.value!r} is none of what it looks like ({error}); put text in quotes"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def read_yaml(path: Path) -> YamlSource:
    """Read one YAML document.

    Raises
    ------
    ConfigError
        If the file can't be read, isn't YAML, isn't a mapping, or names a key twice (YAML itself would keep the last).
    """
    try:
        text = path.read_text(encoding="utf-8")
    except IsADirectoryError:
        inside = [str(file) for file in sorted(path.glob("*.yaml"))]
        hint = f"; name a file in it, such as {inside[0]}" if inside else ""
        raise ConfigError(f"{path}: is a folder, not a YAML file{hint}") from None
    except OSError as error:
        hint = did_you_mean(str(path), [str(other) for other in sorted(path.parent.glob("*.yaml"))])
        raise ConfigError(f"{path}: can't be read: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{number}: is not UTF-8 text (byte {error.start} of the file)") from None
    source = YamlSource(str(path), None)
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is not None:
            _note_lines(node, (), source)  # before PyYAML mixes merged keys (<<) with a mapping's own
            source.data = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{line}: is not valid YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        number = text[: error.position].count("\n") + 1
        problem = f"is not valid YAML: it holds the character {error.character:#04x}"
        raise ConfigError(f"{path}:{number}: {problem}") from None
    except RecursionError:
        raise ConfigError(f"{path}: is nested too deeply, or an anchor (&name) holds its own alias (*name)") from None
    if not isinstance(source.data, dict):
        found = "is empty; it" if node is None else "holds no mapping; it"
        raise ConfigError(f"{path}: {found} must be a mapping of keys such as name, corpus and methods")
    return source


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _lay_over(merged: YamlSource, over: YamlSource, location: Location) -> None:
    """Merge what `over` has at a location into what `merged` has there; both hold mappings at it."""
    target, given = merged.data, over.data
    for key in location:
        target, given = target[key], given[key]
    for key, value in given.items():
        place = (*location, key)
        below = target.get(key)
        if isinstance(below, str) and isinstance(value, dict) and "name" not in value:
            below = target[key] = {"name": below}
        if isinstance(value, dict) and "name" not in value:
            if not isinstance(below, dict):
                _forget(merged, place)
                target[key] = {}
            _lay_over(merged, over, place)
        else:
            _forget(merged, place)
            if value is None:
                target.pop(key, None)
                continue
            target[key] = _copied(value)
            _note(merged, over, place)
        merged.lines[place] = over.lines.get(place, 0)
        merged.files[place] = over.files.get(place, over.name)


def _forget(merged: YamlSource, place: Location) -> None:
    for marks in (merged.lines, merged.files):
        for other in [mark for mark in marks if mark[: len(place)] == place]:
            del marks[other]


def _note(merged: YamlSource, over: YamlSource, place: Location) -> None:
    for other, line in over.lines.items():
        if other[: len(place)] == place:
            merged.lines[other] = line
            merged.files[other] = over.files.get(other, over.name)


def _note_lines(node: Any, location: Location, source: YamlSource) -> None:
    source.lines.setdefault(location, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue  # PyYAML refuses it
            if key.value in seen:
                source.lines[(*location, key.value)] = key.start_mark.line + 1
                raise source.error((*location, key.value), f"the key {key.value!r} is given twice")
            seen.add(key.value)
            source.lines[(*location, key.value)] = key.start_mark.line + 1
            _note_lines(value, (*location, key.value), source)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _note_lines(item, (*location, index), source)
