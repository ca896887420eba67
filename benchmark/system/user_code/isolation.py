"""Undo changes that a plug-in's code makes to the process, so that no other result depends on them.

Settings are restored. A replaced function or class of the standard library, of an installed package or of this package
is restored as well, and raises an error, because the plug-in's numbers were computed with it.
"""

from __future__ import annotations

import contextlib
import operator
import os
import random
import signal
import sys
import threading
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

#: Packages and modules whose public functions and classes plug-ins must not replace.
_SHARED = frozenset(
    [
        *("builtins", "os", "posixpath", "math", "random", "json", "io", "time", "copy", "itertools", "functools"),
        *("collections", "warnings", "pathlib", "numpy", "scipy", "sklearn", "pandas", "numba", "libsvm", "benchmark"),
    ]
)


class PatchedError(Exception):
    """Plug-in that replaced a function or class of a shared module."""


class _Stream:
    """Stream that a plug-in can't close; its output goes to standard error, which never has results."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream)

    def close(self) -> None:
        """Leave the stream open."""


@contextlib.contextmanager
def restore_process_state() -> Iterator[None]:
    """Restore at the end all settings that a plug-in's code may have changed.

    Global random generators start from the same seed each time, so that no result depends on earlier draws.

    Raises
    ------
    PatchedError
        If a function or class of `_SHARED` was replaced; it is restored.
    """
    shared, removed = _shared(), []
    try:
        with contextlib.ExitStack() as stack:
            for restore in _SETTINGS:
                stack.enter_context(restore())
            random.seed(0)
            np.random.seed(0)  # noqa: NPY002 - the global state is meant
            try:
                yield
            finally:
                removed = [name for name in shared if name not in sys.modules]
    finally:
        replaced = [(module, name) for module, before in shared.items() for name in _replaced(module, before)]
        for module, name in replaced:
            setattr(sys.modules[module], name, shared[module][name])
        if replaced or removed:
            named = sorted({*removed, *(f"{module}.{name}" for module, name in replaced)})
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


def _compiled(value: Any) -> bool:
    """Test whether a function is compiled: this package and numba replace functions when they are first called."""
    return type(value).__module__.startswith("numba") or getattr(value, "__module__", "").startswith("numba")


@contextlib.contextmanager
def _attributes() -> Iterator[None]:
    """Restore attributes of `sys` that are settings."""
    places = [(sys, name) for name in ("path", "meta_path", "path_hooks", "stdin", "stdout", "stderr", "excepthook")]
    before = [(module, name, getattr(module, name)) for module, name in places]
    copies = [(value, list(value)) for _, _, value in before if isinstance(value, list)]
    flag = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # imported modules are digested by their source
    if sys.stderr is not None:
        sys.stdout = sys.stderr = _Stream(sys.stderr)
    try:
        yield
    finally:
        sys.dont_write_bytecode = flag
        for module, name, value in before:
            setattr(module, name, value)
        for value, items in copies:
            value[:] = items


@contextlib.contextmanager
def _modules() -> Iterator[None]:
    """Restore modules that were removed from `sys.modules`, or replaced there."""
    before = dict(sys.modules)
    try:
        yield
    finally:
        sys.modules.update(before)


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    before, folder = dict(os.environ), os.getcwd()  # noqa: PTH109
    try:
        yield
    finally:
        if dict(os.environ) != before:
            os.environ.clear()
            os.environ.update(before)
        if os.getcwd() != folder:  # noqa: PTH109
            os.chdir(folder)


@contextlib.contextmanager
def _limits() -> Iterator[None]:
    recursion, switch = sys.getrecursionlimit(), sys.getswitchinterval()
    traces, profile = sys.gettrace(), sys.getprofile()
    try:
        yield
    finally:
        sys.setrecursionlimit(recursion)
        sys.setswitchinterval(switch)
        if sys.gettrace() is not traces:
            sys.settrace(traces)
        if sys.getprofile() is not profile:  # cProfile's can't be set again
            sys.setprofile(profile)


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    handled = [signal.SIGINT, signal.SIGTERM] if threading.current_thread() is threading.main_thread() else []
    before = {number: signal.getsignal(number) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _random() -> Iterator[None]:
    before, numbers = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numbers)  # noqa: NPY002


_SETTINGS = (_modules, _attributes, _environment, _limits, _signals, _random, warnings.catch_warnings, np.errstate)
