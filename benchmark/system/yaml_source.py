"""Read YAML into plain data with the line of each value, for errors that point to it."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.reader import Reader
from yaml.resolver import Resolver

from benchmark.system.checks import may_block
from benchmark.system.errors import ConfigError, did_you_mean, one_line, quote_value
from benchmark.system.yaml_problems import explain_yaml_error

if TYPE_CHECKING:
    from collections.abc import Iterable

Location = tuple[str | int, ...]

#: Limits of a file: bytes, values (with keys, and with aliases expanded), and levels of nesting.
MAX_YAML_BYTES, MAX_YAML_VALUES, MAX_DEPTH = 1_000_000, 10_000, 50
#: Whole numbers must be smaller: seeds have up to 128 bits.
MAX_INTEGER = 2**128
#: Characters that YAML doesn't allow in a file; they aren't allowed as escapes in quotes either.
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
        merged = YamlSource(over.name, _copied(self.data))
        replaced, stated, whole = set[Location](), list[Location](), set[Location]()
        _merge(merged.data, over.data, (), (replaced, stated, whole))
        merged.marks = {place: mark for place, mark in self.marks.items() if not _at_or_below(place, replaced)}
        merged.marks |= {place: over._mark(place) for place in stated}
        merged.marks |= {place: mark for place, mark in over.marks.items() if _at_or_below(place, whole)}
        if self.name != over.name:  # a key that both lack is reported for the file that extends
            merged.marks[()] = over._mark(())
        return merged

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


class _TooMuchError(yaml.MarkedYAMLError):
    """YAML beyond the limits of this module."""


class _Loader(Composer, SafeConstructor, Resolver):
    """YAML loader for plain text, numbers, dates, lists and mappings, with limits on values and nesting.

    The values of an alias and of merged keys (<<) are counted before they are built: nine lines of aliases of aliases
    expand to a billion values.
    """

    def __init__(self, text: str) -> None:
        for part in (Composer, SafeConstructor, Resolver):
            part.__init__(self)
        self.events: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)  # libyaml takes a fifth of the time
        self.check_event, self.get_event = self.events.check_event, self.events.get_event
        self.peek_event = self.events.peek_event
        self._values = self._level = self._deepest = 0
        self._anchored: dict[yaml.Node, tuple[int, int]] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> Any:
        """Compose the next node, and count the values and levels below anchors."""
        event: Any = self.peek_event()
        before, deepest = self._values, self._deepest
        self._level, self._deepest = self._level + 1, 0
        mark = event.start_mark
        alias = isinstance(event, yaml.AliasEvent)
        if not alias:
            self._count(1, 1, mark)
        node: Any = super().compose_node(parent, index)
        if alias:
            if node not in self._anchored:
                problem = f"the alias *{event.anchor} refers to a value that contains it"
                raise yaml.composer.ComposerError(None, None, problem, mark)
            self._count(*self._anchored[node], mark)
        elif event.anchor:
            self._anchored[node] = self._values - before, self._deepest - self._level + 1
        if isinstance(node, yaml.ScalarNode) and (found := UNPRINTABLE.search(node.value)):
            problem = f"it holds the character {ord(found[0]):#04x}"
            raise yaml.composer.ComposerError(None, None, problem, mark)
        self._level, self._deepest = self._level - 1, max(deepest, self._deepest)
        return node

    def _count(self, values: int, levels: int, mark: Any) -> None:
        self._values += values
        self._deepest = max(self._deepest, self._level + levels - 1)
        if self._deepest > MAX_DEPTH:
            raise _TooMuchError(None, None, f"is nested too deeply: more than {MAX_DEPTH} levels", mark)
        if self._values > MAX_YAML_VALUES:
            problem = (
                f"has {self._values:,} values or more, with aliases expanded; at most {MAX_YAML_VALUES:,} are allowed"
            )
            raise _TooMuchError(None, None, problem, mark)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Build plain data from a node; raise an error at its line if the value doesn't fit its form or tag."""
        problem = f"is not a valid {node.tag.rpartition(':')[2]}"
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, int) and abs(value) >= MAX_INTEGER:
                raise _TooMuchError(None, None, f"{quote_value(node.value)} is too large a number", node.start_mark)
            if value is not None or node.value in ("", "~", "null", "Null", "NULL"):
                return value
        except ValueError as error:
            problem += f" ({error}); put text in quotes"
        except (ArithmeticError, AttributeError, LookupError):
            pass  # PyYAML raises these for a value that doesn't fit its tag or form
        raise yaml.constructor.ConstructorError(None, None, f"{quote_value(node.value)} {problem}", node.start_mark)


#: Sets, pairs and bytes have no meaning in a configuration.
_Loader.yaml_constructors = {
    tag: make
    for tag, make in SafeConstructor.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] in ("null", "bool", "int", "float", "timestamp", "str", "seq", "map")
}


def read_yaml(path: Path) -> YamlSource:
    """Read one YAML document of at most a megabyte.

    Raises
    ------
    ConfigError
        If the file isn't regular, can't be read, isn't YAML, isn't a mapping, exceeds the limits, or has a key twice
        (YAML itself would keep the last).
    """
    text = _text(path)
    source = YamlSource(str(path), None)
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is not None:
            _note_lines(node, (), source)  # before PyYAML adds merged keys (<<) to a mapping
            source.data = loader.construct_document(node)
    except _TooMuchError as error:
        raise ConfigError(f"{path}{_line(error)}: {error.problem}") from None
    except yaml.MarkedYAMLError as error:
        line, problem = explain_yaml_error(error, text)
        raise ConfigError(f"{path}{f':{line}' if line else ''}: is not valid YAML: {problem}") from None
    except ValueError as error:  # PyYAML without libyaml decodes invalid numbers of characters
        raise ConfigError(f"{path}:{loader.events.line + 1}: is not valid YAML: {error}") from None
    if not isinstance(source.data, dict):
        problem = "is empty; it" if node is None else "is not a mapping; it"
        raise ConfigError(f"{path}: {problem} must be a mapping of keys such as name, corpus and methods")
    return source


def _text(path: Path) -> str:
    """Read the text of a regular file; a pipe or device is refused unopened, because opening it could block."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            inside = [str(file) for file in sorted(path.glob("*.yaml"))]
            hint = f"; name a file in it, such as {inside[0]}" if inside else ""
            raise ConfigError(f"{path}: is a folder, not a YAML file{hint}")
        if may_block(mode):
            raise ConfigError(f"{path}: is a pipe or device, not a YAML file")
        with path.open("rb") as file:
            content = file.read(MAX_YAML_BYTES + 1)
        if len(content) > MAX_YAML_BYTES:
            number = content.count(b"\n") + 1
            raise ConfigError(
                f"{path}:{number}: the file is larger than {MAX_YAML_BYTES:,} bytes, which end on this line"
            )
        text = content.decode("utf-8")
    except OSError as error:
        hint = did_you_mean(str(path), [str(other) for other in sorted(path.parent.glob("*.yaml")) if other != path])
        raise ConfigError(f"{path}: can't be read: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{number}: is not UTF-8 text (byte {error.start} of the file)") from None
    if found := UNPRINTABLE.search(text):
        number = text[: found.start()].count("\n") + 1
        raise ConfigError(f"{path}:{number}: is not valid YAML: it holds the character {ord(found[0]):#04x}")
    return text


def _line(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    return f":{mark.line + 1}" if mark else ""


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _merge(
    target: Any, over: Any, location: Location, places: tuple[set[Location], list[Location], set[Location]]
) -> None:
    """Merge the mapping `over` into `target`; note the places replaced, stated, and taken whole."""
    replaced, stated, whole = places
    for key, value in over.items():
        place = (*location, key)
        below = target.get(key)
        if isinstance(below, str) and isinstance(value, dict) and "name" not in value:
            below = target[key] = {"name": below}
        if not isinstance(below, dict) or not isinstance(value, dict) or "name" in value:
            replaced.add(place)
        if value is None:
            target.pop(key, None)
            continue
        stated.append(place)
        if isinstance(value, dict) and "name" not in value:
            target[key] = below if isinstance(below, dict) else {}
            _merge(target[key], value, place, places)
        else:
            whole.add(place)
            target[key] = _copied(value)


def _at_or_below(place: Location, places: set[Location]) -> bool:
    return any(place[:n] in places for n in range(1, len(place) + 1))


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
