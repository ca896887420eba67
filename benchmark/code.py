"""What each stored thing is named by: its inputs, every resolved parameter, and the code that decides its numbers.

What that code is follows from the imports: of the module in which a class or function stands, every definition that it
names counts, and whatever these name in turn, in any module of this package, or of a plug-in. A library that such code
imports counts by its version. Comments and docstrings decide no number, and don't count.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

from benchmark.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PACKAGE = __name__.partition(".")[0]
ROOT = Path(__file__).parent
version = cache(metadata.version)


def code_digest(*roots: Any) -> str:
    """The sha256 of all code that some classes and functions of this package depend on, as it stood at the start."""
    return _digest(*dependencies(*roots))


def forget_trees() -> None:
    """Let go of the syntax trees, some megabytes; the digests that were made of them are kept."""
    _parsed.cache_clear()
    _within.cache_clear()


def add_modules(modules: Mapping[str, str], package: str = "") -> None:
    """Let code that isn't this package's count by its text.

    Parameters
    ----------
    modules : mapping of str to str
        Text by the name of the module.
    package : str
        Of modules that import each other by their bare names: what stands before each of them here. No digest has it.
    """
    SOURCES.update({f"{package}.{name}" if package else name: text for name, text in modules.items()})
    if package:
        SOURCES[package] = ""
        _BARE.add(package)


def dependencies(*roots: Any) -> tuple[frozenset[tuple[str, str]], frozenset[str]]:
    """The definitions (module, name) that some classes and functions depend on, and the libraries."""
    return _reached(tuple(sorted({(root.__module__, root.__qualname__.partition(".")[0]) for root in roots})))


@dataclass(frozen=True)
class _Module:
    """A source file: what each name at its top level is defined by, or imported from.

    Parameters
    ----------
    definitions : dict of str to list of ast nodes
    imports : dict of str to (module, name or None)
    always : list of ast nodes
        What is run on import and defines nothing.
    """

    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    always: list[ast.stmt] = field(default_factory=list)


def _sources() -> dict[str, str]:
    """Every module of the package by name; read when this module is imported, before any of them can be edited."""
    found = {}
    for path in _files():
        words = [PACKAGE, *path.relative_to(ROOT).with_suffix("").parts]
        found[".".join(words[:-1] if words[-1] == "__init__" else words)] = path.read_text(encoding="utf-8")
    return found


def _files() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def _stamps() -> dict[Path, tuple[int, int]]:
    """When each source file was last written, and its size."""
    return {path: (stat.st_mtime_ns, stat.st_size) for path in _files() for stat in [path.stat()]}


_AT_START = _stamps()
SOURCES = _sources()
#: Packages whose modules import each other by their bare names.
_BARE: set[str] = set()


@cache
def _refuse_edited() -> None:
    """Refuse to name results by code that was edited while it was imported: once that is done, edits do no harm."""
    now = _stamps()
    changed = [path for path in sorted(now.keys() | _AT_START.keys()) if now.get(path) != _AT_START.get(path)]
    if changed:
        raise BenchError(f"{changed[0]}: was changed while the program started; run it again")


@cache
def _digest(definitions: frozenset[tuple[str, str]], libraries: frozenset[str]) -> str:
    _refuse_edited()
    digest = hashlib.sha256()
    for called, name, module in sorted((_called(module), name, module) for module, name in definitions):
        digest.update(f"{called}.{name}\n{_digest_of_one(module, name)}\n".encode())
    for library in sorted(libraries):
        digest.update(f"{library} {version(library)}\n".encode())
    return digest.hexdigest()


@cache
def _reached(roots: tuple[tuple[str, str], ...]) -> tuple[frozenset[tuple[str, str]], frozenset[str]]:
    waiting, seen, libraries = list(roots), set(roots), set[str]()
    while waiting:
        module, name = waiting.pop()
        for other, what in _named_by(module, name):
            if other in SOURCES:
                target = _resolved(other, what)
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
            else:
                libraries |= _distribution(other)
    return frozenset(seen), frozenset(libraries)


def _resolved(module: str, name: str | None) -> tuple[str, str]:
    """Where a name that is imported from a module is defined: a package may only hand it on. "" is all of a module."""
    while name is not None:
        parsed = _parsed(module)
        if name in parsed.definitions:
            return module, name
        if name in parsed.imports:
            module, name = parsed.imports[name]
            if module not in SOURCES:
                return module, ""
        elif f"{module}.{name}" in SOURCES:
            module, name = f"{module}.{name}", None
        else:
            return module, ""
    return module, ""


@cache
def _named_by(module: str, name: str) -> frozenset[tuple[str, str | None]]:
    """What one definition, or all of a module, names: definitions beside it, and what is imported."""
    if module not in SOURCES:
        return frozenset({(module, None)})
    parsed = _parsed(module)
    found: set[tuple[str, str | None]] = set()
    for inner in _within(module, name):
        if isinstance(inner, ast.Name):
            if inner.id in parsed.imports:
                found.add(parsed.imports[inner.id])
            elif inner.id in parsed.definitions and inner.id != name:
                found.add((module, inner.id))
        elif isinstance(inner, ast.Import | ast.ImportFrom):
            found |= set(_imported(inner, module).values())
    for inner in _below(parsed.always) if name else ():
        if isinstance(inner, ast.Name) and inner.id in parsed.imports:
            found.add(parsed.imports[inner.id])
    return frozenset(found)


def _nodes(parsed: _Module, name: str) -> list[ast.stmt]:
    if name:
        return parsed.definitions.get(name, [])
    return [*parsed.always, *(node for nodes in parsed.definitions.values() for node in nodes)]


@cache
def _within(module: str, name: str) -> list[ast.AST]:
    """All nodes of one definition, or of all of a module."""
    return _below(_nodes(_parsed(module), name))


def _below(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """These nodes and all in them, as `ast.walk` gives of one, in half the time."""
    found = list(nodes)
    for node in found:  # it grows meanwhile
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
    return found


@cache
def _digest_of_one(module: str, name: str) -> str:
    """The sha256 of what a definition compiles to without docstrings, and of what its module runs on import."""
    if module not in SOURCES:
        return ""
    parsed = _parsed(module)
    nodes = _nodes(parsed, name) + (parsed.always if name else [])
    for inner in [*_within(module, name), *(_below(parsed.always) if name else ())]:
        if "lineno" in vars(inner):  # lines decide on no-operations
            vars(inner).update(lineno=1, end_lineno=1, col_offset=0, end_col_offset=0)
    compiled = compile(ast.Module(nodes, []), "", "exec", annotations.compiler_flag, True, 2)
    return hashlib.sha256(_spelled(compiled).encode("utf-8", "surrogatepass")).hexdigest()


def _spelled(part: object) -> str:
    """A code object, or a constant in one, without where it stands."""
    if isinstance(part, CodeType):
        names = (part.co_name, part.co_names, part.co_varnames, part.co_freevars, part.co_cellvars)
        numbers = (part.co_argcount, part.co_posonlyargcount, part.co_kwonlyargcount, part.co_flags)
        return f"{names}{numbers}{part.co_code!r}{part.co_exceptiontable!r}{_spelled(part.co_consts)}"
    if isinstance(part, tuple):
        return f"({', '.join(map(_spelled, part))})"
    return str(sorted(map(repr, part))) if isinstance(part, frozenset) else repr(part)


@cache
def _parsed(module: str) -> _Module:
    found = _Module()
    _collect(ast.parse(SOURCES[module]).body, module, found)
    return found


def _collect(body: Iterable[ast.stmt], module: str, found: _Module) -> None:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.imports.update(_imported(node, module))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.definitions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            for name in names:
                found.definitions.setdefault(name, []).append(node)
        elif isinstance(node, ast.If) and _for_types_only(node):
            continue  # a type decides no number
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            found.always.append(node)


def _called(module: str) -> str:
    """A module's name as its own code has it."""
    package, _, bare = module.partition(".")
    return bare if package in _BARE else module


def _for_types_only(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _imported(node: ast.Import | ast.ImportFrom, module: str) -> dict[str, tuple[str, str | None]]:
    """Names that an import statement binds, and what each is."""
    if isinstance(node, ast.Import):
        own = ((alias, _beside(alias.name, module)) for alias in node.names)
        return {alias.asname or alias.name.partition(".")[0]: (name, None) for alias, name in own}
    source = _beside(node.module or "", module)
    if node.level:
        package = any(other.startswith(f"{module}.") for other in SOURCES)
        here = module if package else module.rpartition(".")[0]
        source = importlib.util.resolve_name("." * node.level + (node.module or ""), here)
    return {alias.asname or alias.name: (source, alias.name) for alias in node.names}


def _beside(name: str, module: str) -> str:
    """A module as one beside it names it, in full."""
    package = module.partition(".")[0]
    return f"{package}.{name}" if package in _BARE and f"{package}.{name}" in SOURCES else name


@cache
def _distribution(module: str) -> frozenset[str]:
    """The installed distribution that a module belongs to; none for the standard library."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return frozenset()
    known = {"sklearn": "scikit-learn", "libsvm": "libsvm-official"}.get(top, top)
    try:
        version(known)
    except metadata.PackageNotFoundError:  # asking which of all installed files belong to it takes a third of a second
        return frozenset(metadata.packages_distributions().get(top, ())[:1])
    return frozenset({known})
