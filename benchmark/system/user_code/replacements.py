"""Undo a plug-in's replacements of functions, classes and methods that other code uses, and refuse its results."""

from __future__ import annotations

import operator
import sys
from types import ModuleType
from typing import Any

#: Packages and modules whose public functions and classes plug-ins must not replace.
_SHARED = frozenset(
    [
        *("builtins", "os", "posixpath", "math", "random", "json", "io", "time", "copy", "itertools", "functools"),
        *("collections", "warnings", "pathlib", "re", "csv", "hashlib", "struct", "string", "operator", "statistics"),
        *("datetime", "decimal", "threading", "subprocess", "tempfile", "shutil", "zlib", "gzip", "zipfile", "pickle"),
        *("numpy", "scipy", "sklearn", "pandas", "numba", "libsvm", "yaml", "pyarrow", "pydantic", "benchmark"),
    ]
)
#: Modules of whose classes plug-ins must not replace methods either: those of the walk from counts to predictions.
_SHARED_CLASSES = ("benchmark.", "scipy.sparse.", "sklearn.base")
_ABSENT = object()


class PatchedError(Exception):
    """Plug-in that replaced a function or class of a shared module."""


class SharedCode:
    """Functions, classes and methods that other code uses, as they are before a plug-in's code runs.

    These are the public functions and classes of `_SHARED`, and the methods of `_SHARED_CLASSES`. A plug-in's numbers
    are computed with what it replaced, so that none is taken.
    """

    def __init__(self) -> None:
        self._modules, self._removed = _shared(), list[str]()
        self._methods = _methods(self._modules)

    def note_removed(self) -> None:
        """Note which modules were removed, before they are restored."""
        self._removed = [name for name in self._modules if name not in sys.modules]

    def restore(self) -> None:
        """Restore what was replaced; PatchedError names it."""
        replaced = [(module, name) for module, before in self._modules.items() for name in _replaced(module, before)]
        for module, name in replaced:
            setattr(sys.modules[module], name, self._modules[module][name])
        patched = [name for cls, before in self._methods.items() for name in _restore_methods(cls, before)]
        if replaced or patched or self._removed:
            named = sorted({*self._removed, *patched, *(f"{module}.{name}" for module, name in replaced)})
            names = ", ".join(named[:3])
            raise PatchedError(f"it replaces {names}, which other code uses; subclass or wrap it instead")


def _shared() -> dict[str, dict[str, Any]]:
    """Return the attributes of shared modules, by module and name."""
    return {
        name: dict(vars(module))
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in _SHARED and type(module) is ModuleType
    }


def _replaced(module: str, before: dict[str, Any]) -> list[str]:
    """Return the names of a module's public functions and classes that were replaced."""
    now = vars(sys.modules[module])
    if all(map(operator.is_, map(now.get, before), before.values())):
        return []
    return [
        name
        for name, value in before.items()
        if name[:1] != "_" and callable(value) and now.get(name) is not value and not _compiled(now.get(name))
    ]


def _methods(shared: dict[str, dict[str, Any]]) -> dict[type, dict[str, Any]]:
    """Return the attributes of the classes of `_SHARED_CLASSES`."""
    modules = (each for name, each in shared.items() if f"{name}.".startswith(_SHARED_CLASSES))
    classes = {value for module in modules for value in module.values() if isinstance(value, type)}
    return {cls: dict(vars(cls)) for cls in classes if f"{cls.__module__}.".startswith(_SHARED_CLASSES)}


def _is_method(value: Any) -> bool:
    return callable(value) or isinstance(value, property | classmethod | staticmethod)


def _inherited(cls: type, name: str) -> Any:
    return next((vars(base)[name] for base in cls.__mro__[1:] if name in vars(base)), None)


def _restore_methods(cls: type, before: dict[str, Any]) -> list[str]:
    """Restore the methods of a class that were replaced, removed or added; return their names."""
    now = dict(vars(cls))
    if now.keys() == before.keys() and all(map(operator.is_, now.values(), before.values())):
        return []
    names = [name for name in {**before, **now} if before.get(name, _ABSENT) is not now.get(name, _ABSENT)]
    # An attribute that is added may hide a method of a base.
    names = [name for name in names if any(map(_is_method, (before.get(name), now.get(name), _inherited(cls, name))))]
    for name in names:
        if name in before:
            setattr(cls, name, before[name])
        else:
            delattr(cls, name)
    return [f"{cls.__module__}.{cls.__qualname__}.{name}" for name in names]


def _compiled(value: Any) -> bool:
    """Test whether a function is compiled: this package and numba replace functions when they are first called."""
    return type(value).__module__.startswith("numba") or getattr(value, "__module__", "").startswith("numba")
