"""What each stored thing is named by: its inputs, every resolved parameter, and the code that decides its numbers.

What that code is follows from the imports: of the module in which a class or function stands, every definition that it
names counts, and whatever these name in turn, in any module of this package, or of a plug-in. A library that such code
imports counts by its version. Comments and docstrings decide no number, and don't count.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

import platformdirs

from benchmark.environment import write_whole
from benchmark.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PACKAGE = __name__.partition(".")[0]
ROOT = Path(__file__).parent
version = cache(metadata.version)


def code_digest(*roots: Any) -> str:
    """The sha256 of all code that some classes and functions of this package depend on, as it stood at the start."""
    return _digest(_names(roots))


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
    _state.cache_clear()


def dependencies(*roots: Any) -> tuple[frozenset[tuple[str, str]], frozenset[str]]:
    """The definitions (module, name) that some classes and functions depend on, and the libraries."""
    definitions, modules = _reached(_names(roots))
    return definitions, frozenset(_libraries(modules))


def _names(roots: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({(root.__module__, root.__qualname__.partition(".")[0]) for root in roots}))


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
#: How many states of the sources digests are kept of: of this package, with plug-ins and without.
_STATES = 8


@cache
def _refuse_edited() -> None:
    """Refuse to name results by code that was edited while it was imported: once that is done, edits do no harm."""
    now = _stamps()
    changed = [path for path in sorted(now.keys() | _AT_START.keys()) if now.get(path) != _AT_START.get(path)]
    if changed:
        raise BenchError(f"{changed[0]}: was changed while the program started; run it again")


@cache
def _digest(roots: tuple[tuple[str, str], ...]) -> str:
    _refuse_edited()
    key = " ".join(f"{module}:{name}" for module, name in roots)
    kept = _kept().get(_state(), {}).get(key)
    if kept and _libraries(kept["modules"]) == kept["libraries"]:
        return str(kept["digest"])
    definitions, modules = _reached(roots)
    libraries, digest = _libraries(modules), hashlib.sha256()
    for called, name, module in sorted((_called(module), name, module) for module, name in definitions):
        digest.update(f"{called}.{name}\n{_digest_of_one(module, name)}\n".encode())
    for library, number in libraries.items():
        digest.update(f"{library} {number}\n".encode())
    _keep(key, {"digest": digest.hexdigest(), "modules": sorted(modules), "libraries": libraries})
    return digest.hexdigest()


@cache
def _reached(roots: tuple[tuple[str, str], ...]) -> tuple[frozenset[tuple[str, str]], frozenset[str]]:
    """The definitions that some depend on, themselves among them, and the modules of others."""
    waiting, seen, others = list(roots), set(roots), set[str]()
    while waiting:
        module, name = waiting.pop()
        for other, what in _named_by(module, name):
            if other in SOURCES:
                target = _resolved(other, what)
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
            else:
                others.add(other.partition(".")[0])
    return frozenset(seen), frozenset(others)


def _libraries(modules: Iterable[str]) -> dict[str, str]:
    """The versions of the libraries that some modules belong to, by their names in order."""
    return {each: version(each) for each in sorted(frozenset().union(*map(_distribution, modules)))}


# --- Digests that an earlier process has made: to read all modules anew takes longer than a small run. ---


@cache
def _state() -> str:
    """A digest of every text that a digest may depend on, and of the Python that compiles them."""
    texts = [f"{module}\n{len(text)}\n{text}" for module, text in sorted(SOURCES.items())]
    return hashlib.sha256("\n".join([sys.version, *sorted(_BARE), *texts]).encode("utf-8", "surrogatepass")).hexdigest()


def _file() -> Path:
    return platformdirs.user_cache_path("simplexbench") / "code.json"


def _kept() -> dict[str, dict[str, Any]]:
    """What is known, by the state of the sources and the roots; nothing where the file can't be read or is damaged."""
    try:
        digest, _, text = _file().read_text(encoding="utf-8").partition("\n")
    except (OSError, ValueError):
        return {}
    found: dict[str, dict[str, Any]] = json.loads(text) if digest == hashlib.sha256(text.encode()).hexdigest() else {}
    return found


def _keep(key: str, found: dict[str, Any]) -> None:
    """Add a digest to what is known of the latest states."""
    kept = _kept()
    own = kept.pop(_state(), {}) | {key: found}
    text = json.dumps(dict([*kept.items(), (_state(), own)][-_STATES:]))
    with suppress(BenchError):  # it is found again
        write_whole(_file(), f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}".encode())


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
def _distribution(top: str) -> frozenset[str]:
    """The installed distribution that a module belongs to; none for the standard library."""
    if top in sys.stdlib_module_names:
        return frozenset()
    known = {"sklearn": "scikit-learn", "libsvm": "libsvm-official"}.get(top, top)
    try:
        version(known)
    except metadata.PackageNotFoundError:  # asking which of all installed files belong to it takes a third of a second
        return frozenset(metadata.packages_distributions().get(top, ())[:1])
    return frozenset({known})
