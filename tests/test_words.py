"""Names are defined once, and docstrings begin with verbs: what a reader of the code can count on."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Largest number of modules in a room without sub-rooms.
MAX_MODULES = 18
PACKAGE = Path(__file__).parents[1] / "benchmark"
MODULES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
#: First words of docstrings. Another verb is added to the file.
VERBS = frozenset(Path(__file__).with_name("verbs.txt").read_text(encoding="ascii").split())


def public_names(module: ast.Module) -> Iterator[str]:
    """The functions, classes and constants that a module defines at its top level."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_each_public_name_is_defined_once() -> None:
    """The functions of the command line are called as its commands are."""
    places = defaultdict(list)
    for path, module in MODULES.items():
        commands = path.parent.name == "cli"
        functions = {node.name for node in module.body if isinstance(node, ast.FunctionDef)} if commands else set()
        for name in public_names(module):
            if not name.startswith("_") and name not in functions:
                places[name].append(str(path.relative_to(PACKAGE)))
    assert not {name: where for name, where in places.items() if len(where) > 1}


def is_property(function: ast.FunctionDef) -> bool:
    return any("property" in ast.unparse(each) for each in function.decorator_list)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_docstrings_of_functions_begin_with_a_verb(path: Path) -> None:
    for node in ast.walk(MODULES[path]):
        if isinstance(node, ast.FunctionDef) and not is_property(node) and (text := ast.get_docstring(node)):
            first = text.split(maxsplit=1)[0].strip(".,:;`")
            assert first in VERBS, f"{node.name}, line {node.lineno}: {first!r} is no verb"


def test_no_room_is_too_large() -> None:
    numbers = Counter(path.parent for path in MODULES if path.stem != "__init__")
    assert not {str(room): number for room, number in numbers.items() if number > MAX_MODULES}
