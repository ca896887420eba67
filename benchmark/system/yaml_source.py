"""Read YAML into nodes: values with their file and line, for errors that point to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benchmark.system.errors import ConfigError, did_you_mean, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


@dataclass(frozen=True, eq=False)
class Node:
    """A value of a YAML document, with its file and line.

    Parameters
    ----------
    value : Any
        Plain Python data.
    file : str
        Name of the file in errors.
    line : int
        Line of the value's key or item, from 1; 0 in data without lines.
    children : mapping of str or int to Node
        Values of a mapping by key, or items of a list by index.
    extended_by : str
        The file that was read, where it extends `file`; else "".
    """

    value: Any
    file: str
    line: int = 0
    children: Mapping[Any, Node] = field(default_factory=dict, repr=False)
    extended_by: str = ""

    @classmethod
    def of_data(cls, value: Any, file: str) -> Node:
        """Return plain data as a node without lines."""
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return cls(value, file, children={key: cls.of_data(each, file) for key, each in pairs})

    def __getitem__(self, key: str | int) -> Node:
        """Return the value of a key or index; where there is none, a node without value on this line."""
        return self.children.get(key) or replace(self, value=None, children={})

    def __contains__(self, key: str | int) -> bool:
        """Return whether a mapping has a key, or a list an index."""
        return key in self.children

    def __iter__(self) -> Iterator[Node]:
        """Iterate over the items of a list, or the values of a mapping."""
        return iter(self.children.values())

    def each(self) -> list[Node]:
        """Return the items of a list, or the node itself as the only one."""
        return list(self) if isinstance(self.value, list) else [self]

    def at(self, keys: Iterable[Any]) -> Node:
        """Return the node below these keys; keys that don't exist, such as names of types, are left out."""
        found = self
        for key in keys:
            found = found.children.get(key, found)
        return found

    def walk(self) -> Iterator[Node]:
        """Yield the node and all below it."""
        yield self
        for each in self:
            yield from each.walk()

    def error(self, message: str) -> ConfigError:
        """Return a ConfigError whose message begins with file and line."""
        if self.extended_by:
            message = f"{message} (in {Path(self.extended_by).name}, which extends this file)"
        return ConfigError(f"{self.file}{f':{self.line}' if self.line else ''}: {one_line(message)}")

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return Path(self.file).parent

    def with_children(self, children: Mapping[Any, Node]) -> Node:
        """Return a mapping with other values, at the same place."""
        return replace(self, value={key: each.value for key, each in children.items()}, children=children)

    def without(self, *keys: str) -> Node:
        """Return a mapping without some of its keys."""
        return self.with_children({key: each for key, each in self.children.items() if key not in keys})

    def merged(self, over: Node) -> Node:
        """Merge another node over this one, and return the result.

        Mappings are merged key by key, and null removes a key. Any other value replaces the old one, as does a mapping
        with the key `name`, which is another component. If the old value is text and the new one a mapping without
        `name`, the text becomes its name: ``svm`` and ``{C: 10}`` are one component.
        """
        children = dict(self.children if isinstance(self.value, dict) else {})
        if isinstance(self.value, str):
            children["name"] = self
        for key, each in over.children.items():
            if each.value is None:
                children.pop(key, None)
            elif not isinstance(each.value, dict) or "name" in each:
                children[key] = each
            else:
                children[key] = self[key].merged(each)
        return over.with_children(children)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML loader that makes nodes."""

    def __init__(self, text: str, file: str, extended_by: str) -> None:
        super().__init__(text)
        self._empty = Node(None, file, extended_by=extended_by)
        self._built: dict[int, Node] = {}

    def build(self, node: yaml.Node, line: int) -> Node:
        """Return a value with all below it.

        Raises
        ------
        ConfigError
            At a key that is given twice or is no text, a date or a number that isn't one.
        """
        if id(node) not in self._built:  # an alias is the node that it names
            children: dict[Any, Node] = {}
            try:
                if node.tag == "tag:yaml.org,2002:seq":
                    children = {n: self.build(item, item.start_mark.line + 1) for n, item in enumerate(node.value)}
                    value: Any = [each.value for each in children.values()]
                elif node.tag == "tag:yaml.org,2002:map":
                    children = self._values(node)
                    value = {key: each.value for key, each in children.items()}
                else:
                    value = self.construct_object(node, deep=True)
            except ValueError as error:
                where = replace(self._empty, line=node.start_mark.line + 1)
                raise where.error(f"is not valid YAML: {error}; put text in quotes") from None
            self._built[id(node)] = replace(self._empty, value=value, children=children)
        return replace(self._built[id(node)], line=line)

    def _values(self, node: yaml.Node) -> dict[Any, Node]:
        seen: set[str] = set()
        for key, _ in node.value:
            where = replace(self._empty, line=key.start_mark.line + 1)
            if not isinstance(key, yaml.ScalarNode):
                raise where.error("a key must be text, not a list or a mapping: put it in quotes")
            if key.value in seen:
                raise where.error(f"the key {key.value!r} is given twice")
            seen.add(key.value)
        self.flatten_mapping(node)
        pairs = [(self.construct_object(key, deep=True), key, value) for key, value in node.value]
        return {name: self.build(value, key.start_mark.line + 1) for name, key, value in pairs}


def read_yaml(path: Path, extended_by: str = "") -> Node:
    """Read one YAML document.

    Parameters
    ----------
    path : Path
    extended_by : str, optional
        The file that extends this one, for errors.

    Raises
    ------
    ConfigError
        If the file can't be read, isn't YAML, isn't a mapping, or has a key twice (YAML itself would keep the last).
    """
    try:
        loader = _Loader(_text(path), str(path), extended_by)
        node = loader.get_single_node()
        found = None if node is None else loader.build(node, node.start_mark.line + 1)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}{_explained(error)}") from None
    except RecursionError:
        raise ConfigError(f"{path}: an alias stands inside of what it names, or values are nested too deeply") from None
    if found is None or not isinstance(found.value, dict):
        hint = "" if path.suffix in (".yaml", ".yml") else f"; for a table, `bench init {path}` writes a configuration"
        raise ConfigError(f"{path}: must be a mapping of keys such as name, corpus and methods{hint}")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        near = did_you_mean(str(path), map(str, sorted(path.parent.glob("*.yaml")))) if not path.exists() else ""
        raise ConfigError(f"{path}: can't be read: {error.strerror}{near}") from None
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}:{number}: is not UTF-8 text (byte {error.start} of the file)") from None


def _explained(error: yaml.YAMLError) -> str:
    """Return the line of an error and what is wrong, in libyaml's words."""
    if not isinstance(error, yaml.MarkedYAMLError):  # a character that isn't allowed
        return f": is not valid YAML: {one_line(str(error))}"
    problem, mark, start = error.problem or error.context or "", error.problem_mark, error.context_mark
    if error.context and start is not None:
        problem = f"{problem} {error.context} that begins in line {start.line + 1}"
    return f"{'' if mark is None else f':{mark.line + 1}'}: is not valid YAML: {problem}"
