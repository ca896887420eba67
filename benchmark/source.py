"""YAML text to plain data that remembers on which line each value stands, for errors that point there."""

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

from benchmark.errors import ConfigError, did_you_mean, in_a_line, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

Location = tuple[str | int, ...]

#: What is read of a file: bytes, values with those that aliases stand for, keys counted too, and levels of nesting.
MOST_BYTES, MOST_VALUES, DEEPEST = 1_000_000, 10_000, 50
#: Whole numbers are less: seeds have up to 128 bits.
LARGEST = 2**128
#: What YAML doesn't allow in a file isn't allowed as an escape in quotes either.
UNPRINTABLE = Reader.NON_PRINTABLE


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
        return ConfigError(f"{name}:{line}: {in_a_line(message)}" if line else f"{name}: {in_a_line(message)}")

    def folder(self, location: Location) -> Path:
        """The folder of the file that a location stands in."""
        return Path(self.files.get(self._nearest(location), self.name)).parent

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
        merged = YamlSource(over.name, _copied(self.data))
        instead, said, whole = set[Location](), list[Location](), set[Location]()
        _lay_over(merged.data, over.data, (), (instead, said, whole))
        below = [place for place in self.lines if not _at_or_below(place, instead)]
        above = dict.fromkeys([*said, *(place for place in over.lines if _at_or_below(place, whole))])
        merged.lines = {place: self.lines[place] for place in below}
        merged.files = {place: self.files[place] for place in below if place in self.files}
        if self.name != over.name:
            merged.files |= {place: self.files.get(place, self.name) for place in below if place}
            merged.lines[()] = over.lines.get((), 0)  # what both lack is missing in the file that was named
        merged.lines |= {place: over.line(place) for place in above}
        merged.files |= {place: over.files.get(place, over.name) for place in above}
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


class _TooMuchError(yaml.MarkedYAMLError):
    """YAML that says more than is read."""


class _Loader(Composer, SafeConstructor, Resolver):
    """Plain text, numbers, dates, lists and mappings, of which no more are made than may be read.

    What an alias stands for is counted before anything is made of it, merged keys (<<) included: nine lines of aliases
    of aliases come to a billion values.
    """

    def __init__(self, text: str) -> None:
        for part in (Composer, SafeConstructor, Resolver):
            part.__init__(self)
        self.events: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)  # in C it takes a fifth of the time
        self.check_event, self.get_event = self.events.check_event, self.events.get_event
        self.peek_event = self.events.peek_event
        self._values = self._level = self._deepest = 0
        self._anchored: dict[yaml.Node, tuple[int, int]] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> Any:
        """The next node; the values below anchors are counted, and how many levels they have."""
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
                problem = f"the alias *{event.anchor} stands within what it stands for"
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
        if self._deepest > DEEPEST:
            raise _TooMuchError(None, None, f"is nested too deeply: more than {DEEPEST} levels", mark)
        if self._values > MOST_VALUES:
            said = f"comes to {self._values:,} values, aliases in full, or more: at most {MOST_VALUES:,} are read"
            raise _TooMuchError(None, None, said, mark)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Plain data from a node; an error at its line where it isn't what it looks like, or what its tag says."""
        problem = f"is no {node.tag.rpartition(':')[2]}"
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, int) and abs(value) >= LARGEST:
                raise _TooMuchError(None, None, f"{quoted(node.value)} is too large a number", node.start_mark)
            if value is not None or node.value in ("", "~", "null", "Null", "NULL"):
                return value
        except ValueError as error:
            problem = f"is none of what it looks like ({error}); put text in quotes"
        except (ArithmeticError, AttributeError, LookupError):
            pass  # what PyYAML makes of a value that its tag or its looks belie
        raise yaml.constructor.ConstructorError(None, None, f"{quoted(node.value)} {problem}", node.start_mark)


#: Sets, pairs and bytes are nothing that a configuration could say.
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
        If it is no regular file, can't be read, isn't YAML, isn't a mapping, says more than is read, or names a key
        twice (YAML itself would keep the last).
    """
    text = _text(path)
    source = YamlSource(str(path), None)
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is not None:
            _note_lines(node, (), source)  # before PyYAML mixes merged keys (<<) with a mapping's own
            source.data = loader.construct_document(node)
    except _TooMuchError as error:
        raise ConfigError(f"{path}{_line(error)}: {error.problem}") from None
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"{path}{_line(error)}: is not valid YAML: {error.problem or error.context}") from None
    except ValueError as error:  # PyYAML without its C part makes characters of numbers that are none
        raise ConfigError(f"{path}:{loader.events.line + 1}: is not valid YAML: {error}") from None
    if not isinstance(source.data, dict):
        found = "is empty; it" if node is None else "holds no mapping; it"
        raise ConfigError(f"{path}: {found} must be a mapping of keys such as name, corpus and methods")
    return source


def _text(path: Path) -> str:
    """What a regular file holds; a pipe or device is refused before it is opened, which could wait for ever."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            inside = [str(file) for file in sorted(path.glob("*.yaml"))]
            hint = f"; name a file in it, such as {inside[0]}" if inside else ""
            raise ConfigError(f"{path}: is a folder, not a YAML file{hint}")
        if not stat.S_ISREG(mode):
            raise ConfigError(f"{path}: is a pipe or device, not a YAML file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            number = content.count(b"\n") + 1
            raise ConfigError(f"{path}:{number}: more than {MOST_BYTES:,} bytes end here, and no more are read")
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


def _lay_over(
    target: Any, given: Any, location: Location, places: tuple[set[Location], list[Location], set[Location]]
) -> None:
    """Merge a mapping into another; note what is no more as it was, what is said now, and of that what stands whole."""
    instead, said, whole = places
    for key, value in given.items():
        place = (*location, key)
        below = target.get(key)
        if isinstance(below, str) and isinstance(value, dict) and "name" not in value:
            below = target[key] = {"name": below}
        if not isinstance(below, dict) or not isinstance(value, dict) or "name" in value:
            instead.add(place)
        if value is None:
            target.pop(key, None)
            continue
        said.append(place)
        if isinstance(value, dict) and "name" not in value:
            target[key] = below if isinstance(below, dict) else {}
            _lay_over(target[key], value, place, places)
        else:
            whole.add(place)
            target[key] = _copied(value)


def _at_or_below(place: Location, places: set[Location]) -> bool:
    return any(place[:n] in places for n in range(1, len(place) + 1))


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
