"""Digest the code that decides a result: the modules of its components, and every module that these import in turn.

A module counts by the bytes of its source, a library by its version. A user's class that is `stored` counts by the
Python files of its folder, the files that it names in `reads`, and what these files import. Where an import takes a
name from a package's ``__init__``, the module that defines the name counts, so that a registry doesn't make every
result depend on every component.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.plugins.import_paths import distributions_of, module_file
from benchmark.plugins.trust import code_digest_of_folder, importable_files
from benchmark.system.errors import ConfigError
from benchmark.system.tags import tags_of
from benchmark.system.user_classes import PACKAGE, is_builtin, is_installed, plugin_of, source_location

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE_ROOT = Path(__file__).parents[1]
distribution_version = cache(metadata.version)


def code_digest(*components: Any) -> str:
    """Return the sha256 of all code that classes, functions or modules depend on, as it was at program start."""
    modules, users = {_module_of(each) for each in components}, set[str]()
    for each in components:
        if not is_builtin(each) and not _is_installed(each) and is_stored(each):
            files, imported = _user_code(each)
            users.add(files)
            modules |= imported
    return _digest(frozenset(modules), frozenset(users))


def is_stored(component: Any) -> bool:
    """Return whether results of a class are stored: of this package, of an installed one, or that says so."""
    return is_builtin(component) or _is_installed(component) or tags_of(component).stored


def _is_installed(component: Any) -> bool:
    file = module_file(component.__module__)
    return file is not None and is_installed(file)


def _user_code(component: Any) -> tuple[str, set[str]]:
    """Return the digest of a user's class as it is now, and the modules that its files import.

    Raises
    ------
    ConfigError
        If a file that it names in `reads` can't be read.
    """
    plugin = plugin_of(component)
    file = plugin.file if plugin else module_file(component.__module__)
    place = source_location(component, short=True)
    if file is None:
        raise ConfigError(f"{place}: it has no file, so that its results can't be stored")
    try:
        digest = code_digest_of_folder(file, getattr(component, "reads", ()))
    except OSError as error:
        problem = f"a file that its results depend on can't be read: {error.filename}: {error.strerror}"
        raise ConfigError(f"{place}: {problem}") from None
    sources = [each.read_bytes() for each in importable_files(file) if each.suffix == ".py"]
    return digest, {_defined_in(*each) for source in sources for each in _imports_of(source)}


def imported_modules(*components: Any) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the modules of this package that components depend on, and of the others."""
    return _reached(frozenset(_module_of(each) for each in components))


def _module_of(component: Any) -> str:
    return str(getattr(component, "__module__", None) or component.__name__)


def _name(path: Path) -> str:
    words = [PACKAGE, *path.relative_to(PACKAGE_ROOT).with_suffix("").parts]
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


#: The source of every module of this package, as it was when the program started.
MODULE_SOURCES = {_name(path): path.read_bytes() for path in sorted(PACKAGE_ROOT.rglob("*.py"))}
_PACKAGES = frozenset(_name(path) for path in PACKAGE_ROOT.rglob("__init__.py"))


@cache
def _digest(modules: frozenset[str], users: frozenset[str]) -> str:
    ours, others = _reached(modules)
    digest = hashlib.sha256()
    for name in sorted(ours):
        digest.update(f"{name} {hashlib.sha256(MODULE_SOURCES[name]).hexdigest()}\n".encode())
    for library in sorted({name for other in others for name in distributions_of(other)[:1]}):
        digest.update(f"{library} {distribution_version(library)}\n".encode())
    for files in sorted(users):
        digest.update(f"{files}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


@cache
def _reached(modules: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Follow imports; return the modules of this package that are reached, and the top-level names of all others."""
    waiting, ours, others = list(modules), set[str](), set[str]()
    while waiting:
        module = waiting.pop()
        if module not in MODULE_SOURCES:
            others.add(module.partition(".")[0])
        elif module not in ours:
            ours.add(module)
            waiting += (_defined_in(*each) for each in _imports(module))
    return frozenset(ours), frozenset(others)


@cache
def _imports(module: str) -> tuple[tuple[str, str, str], ...]:
    return tuple(_imports_of(MODULE_SOURCES[module]))


def _imports_of(source: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield each import of a source: the module, the name that is taken from it, and the name that it has here."""
    for node in _within(ast.parse(source).body):
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                yield node.module or "", alias.name, alias.asname or alias.name
            else:
                yield alias.name, "", ""


def _within(nodes: Iterable[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield import statements, also in functions; skip those for the type checker alone, which never run."""
    for node in nodes:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from _within(node.orelse)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        else:  # statements stand in these lists, and expressions hold none
            for name in ("body", "orelse", "handlers", "finalbody", "cases"):
                yield from _within(getattr(node, name, ()))


def _defined_in(module: str, name: str, _: str = "") -> str:
    """Return the module that defines what is imported as `name` from a module or package."""
    if f"{module}.{name}" in MODULE_SOURCES:
        return f"{module}.{name}"
    for inner, inner_name, known_as in _imports(module) if module in _PACKAGES else ():
        if known_as == name != "":
            return _defined_in(inner, inner_name)
    return module
