"""Read YAML into plain data with the line of each value, for errors that point to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from yaml.reader import Reader

from benchmark.system.errors import ConfigError, did_you_mean, one_line, quote_value

if TYPE_CHECKING:
    from collections.abc import Iterable

Location = tuple[str | int, ...]

#: Characters that YAML doesn't allow in a file.
UNPRINTABLE = Reader.NON_PRINTABLE


def escape_unprintable(name: str) -> str:
    """Return a name with characters that no YAML file can have as escapes."""
    return UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], name)


@dataclass
class YamlSource:
    """A YAML document, and the file and line of its values.

    Parameters
    ----------
    name : str
        Name of the file in errors.
    data : Any
        Content of the document, as plain Python data.
    marks : dict of Location to (str, int)
        File and line (from 1) of each key's or item's location, e.g. ``("methods", 0, "kernel")``. The file is another
        one where the document extends it.
    """

    name: str
    data: Any
    marks: dict[Location, tuple[str, int]] = field(default_factory=dict)

    def error(self, location: Location, message: str) -> ConfigError:
        """Return a ConfigError whose message begins with the file and the line of a location."""
        name, line = self._mark(location)
        if name != self.name:
            message = f"{message} (in {Path(self.name).name}, which extends this file)"
        return ConfigError(f"{name}:{line}: {one_line(message)}" if line else f"{name}: {one_line(message)}")

    def folder(self, location: Location) -> Path:
        """Return the folder of the file that a location is in."""
        return Path(self._mark(location)[0]).parent

    def line(self, location: Location) -> int:
        """Return the line of a location, or of the nearest location above it; 0 in a document without lines."""
        return self._mark(location)[1]

    def part(self, location: Location) -> YamlSource:
        """Return the value at a location as a document, with its lines."""
        data, n = self.data, len(location)
        for key in location:
            data = data[key]
        marks = {place[n:]: mark for place, mark in self.marks.items() if place[:n] == location}
        return YamlSource(self.name, data, marks)

    def overlaid(self, over: YamlSource) -> YamlSource:
        """Merge another document over this one, and return the result.

        Mappings are merged key by key, and null removes a key. Any other value replaces the old one, as does a mapping
        with the key `name`, which is another component. If the old value is text and the new one a mapping without
        `name`, the text becomes its name: ``svm`` and ``{C: 10}`` are one component.
        """
        marks = dict(self.marks)

        def merge(below: Any, value: Any, place: Location) -> Any:
            is_component = bool(place) and isinstance(value, dict) and "name" in value
            whole = is_component or not isinstance(value, dict)
            if isinstance(below, str) and not whole:
                below = {"name": below}
            if whole or not isinstance(below, dict):
                _drop(place, marks)
            if whole:
                marks.update({each: mark for each, mark in over.marks.items() if each[: len(place)] == place})
                return value
            if place or self.name != over.name:  # a key that both lack is reported for the file that extends
                marks[place] = over._mark(place)
            merged = dict(below) if isinstance(below, dict) else {}
            for key, each in value.items():
                if each is None:
                    merged.pop(key, None)
                    _drop((*place, key), marks)
                else:
                    merged[key] = merge(merged.get(key), each, (*place, key))
            return merged

        return YamlSource(over.name, merge(self.data, over.data, ()), marks)

    def without(self, keys: Iterable[str]) -> YamlSource:
        """Return the document without some of its top-level keys."""
        removed = frozenset(keys)
        data = {key: value for key, value in self.data.items() if key not in removed}
        marks = {place: mark for place, mark in self.marks.items() if not removed.intersection(place[:1])}
        return YamlSource(self.name, data, marks)

    def _mark(self, location: Location) -> tuple[str, int]:
        """Return file and line of a location, or of the nearest location above it."""
        while location not in self.marks and location:
            location = location[:-1]
        return self.marks.get(location, (self.name, 0))


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML loader whose errors in dates and numbers have their lines."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Build plain data from a node; raise an error at its line if a date or number isn't one."""
        try:
            return super().construct_object(node, deep)
        except ValueError as error:
            problem = f"{quote_value(node.value)} is not a valid {node.tag.rpartition(':')[2]} ({error})"
            raise yaml.MarkedYAMLError(problem=f"{problem}; put text in quotes", problem_mark=node.start_mark) from None


def read_yaml(path: Path) -> YamlSource:
    """Read one YAML document.

    Raises
    ------
    ConfigError
        If the file can't be read, isn't YAML, isn't a mapping, or has a key twice (YAML itself would keep the last).
    """
    text = _text(path)
    source = YamlSource(str(path), None)
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is not None:
            _note_lines(node, (), source)  # before PyYAML adds merged keys (<<) to a mapping
            source.data = loader.construct_document(node)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}{_explained(error, text)}") from None
    if not isinstance(source.data, dict):
        problem = "is empty; it" if node is None else "is not a mapping; it"
        raise ConfigError(f"{path}: {problem} must be a mapping of keys such as name, corpus and methods")
    return source


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except IsADirectoryError:
        inside = [str(file) for file in sorted(path.glob("*.yaml"))]
        hint = f"; name a file in it, such as {inside[0]}" if inside else ""
        raise ConfigError(f"{path}: is a folder, not a YAML file{hint}") from None
    except OSError as error:
        hint = did_you_mean(str(path), [str(other) for other in sorted(path.parent.glob("*.yaml")) if other != path])
        raise ConfigError(f"{path}: can't be read: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{number}: is not UTF-8 text (byte {error.start} of the file)") from None


def _explained(error: yaml.YAMLError, text: str) -> str:
    """Return the line of an error and what is wrong, mostly in libyaml's words."""
    if not isinstance(error, yaml.MarkedYAMLError):  # a character that isn't allowed
        return f": is not valid YAML: {one_line(str(error))}"
    problem, mark, start = error.problem or error.context or "", error.problem_mark, error.context_mark
    if "token" in problem and mark is not None and text.splitlines()[mark.line][mark.column :].startswith("\t"):
        problem = "a tab stands here: indent by spaces"
    elif error.context and start is not None:
        problem = f"{problem} {error.context} that begins in line {start.line + 1}"
    return f"{'' if mark is None else f':{mark.line + 1}'}: is not valid YAML: {problem}"


def _drop(place: Location, marks: dict[Location, tuple[str, int]]) -> None:
    """Remove the marks of a place and of all below it."""
    for each in [each for each in marks if each[: len(place)] == place]:
        del marks[each]


def _note_lines(node: Any, location: Location, source: YamlSource) -> None:
    source.marks.setdefault(location, (source.name, node.start_mark.line + 1))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue  # PyYAML refuses it
            place = (*location, key.value)
            source.marks[place] = source.name, key.start_mark.line + 1
            if key.value in seen:
                raise source.error(place, f"the key {key.value!r} is given twice")
            seen.add(key.value)
            _note_lines(value, place, source)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _note_lines(item, (*location, index), source)
