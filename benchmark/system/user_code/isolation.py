"""Undo changes that a plug-in's code makes to the process, so that no other result depends on them.

Settings are restored. A replaced function or class of the standard library, of an installed package or of this package
is restored as well, and raises an error, because the plug-in's numbers were computed with it.
"""

from __future__ import annotations

import contextlib
import gc
import locale
import operator
import os
import random
import signal
import sys
import threading
import time
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NoReturn, TextIO

#: Packages and modules whose public functions and classes plug-ins must not replace.
_SHARED = frozenset(
    [
        *("builtins", "os", "posixpath", "math", "random", "json", "io", "time", "copy", "itertools", "functools"),
        *("collections", "warnings", "pathlib", "re", "csv", "hashlib", "struct", "string", "operator", "statistics"),
        *("datetime", "decimal", "threading", "subprocess", "tempfile", "shutil", "zlib", "gzip", "zipfile", "pickle"),
        *("numpy", "scipy", "sklearn", "pandas", "numba", "libsvm", "yaml", "pyarrow", "pydantic", "benchmark"),
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
    """Restore attributes of `sys` that are settings; the process can't be ended by `os._exit`."""
    lists, streams = ("path", "meta_path", "path_hooks"), ("stdin", "stdout", "stderr", "__stdout__", "__stderr__")
    before: list[tuple[Any, str, Any]] = [
        *((sys, name, getattr(sys, name)) for name in (*lists, *streams, "excepthook", "unraisablehook")),
        (os, "_exit", os._exit),
    ]
    copies = [(value, list(value)) for _, _, value in before if isinstance(value, list)]
    flag = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # imported modules are digested by their source
    if sys.stderr is not None:
        sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = _Stream(sys.stderr)  # type: ignore[assignment,misc]
    os._exit = _exit_of(os._exit)  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.dont_write_bytecode = flag
        for module, name, value in before:
            setattr(module, name, value)
        for value, items in copies:
            value[:] = items


def _exit_of(leave: Callable[[int], NoReturn]) -> Callable[[int], NoReturn]:
    """Return `os._exit` for forked processes alone: that of a run would lose its results without a word."""
    own = os.getpid()

    def leave_forked(status: int) -> NoReturn:
        if os.getpid() != own:
            leave(status)
        raise SystemExit(status)

    return leave_forked


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
    """Restore the environment, with the time zone, and the current folder, unless that is gone."""
    before, folder, mask = dict(os.environ), _current_folder(), os.umask(0o077)
    os.umask(mask)
    try:
        yield
    finally:
        if dict(os.environ) != before:
            os.environ.clear()
            os.environ.update(before)
            if hasattr(time, "tzset"):
                time.tzset()
        if folder and _current_folder() != folder:
            os.chdir(folder)
        os.umask(mask)


def _current_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return ""


@contextlib.contextmanager
def _descriptors() -> Iterator[None]:
    """Send to standard error what is written to standard output's descriptor, by compiled code or another process.

    Both descriptors are what they were in the end, even if they were closed.
    """
    try:
        kept = {number: os.dup(number) for number in (1, 2)}
    except OSError:  # one is closed already
        yield
        return
    _flush()
    os.dup2(2, 1)
    try:
        yield
    finally:
        _flush()
        for number, copy in kept.items():
            os.dup2(copy, number)
            os.close(copy)


def _flush() -> None:
    for stream in (sys.__stdout__, sys.stdout):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # full, closed, or none
            stream.flush()  # type: ignore[union-attr]


@contextlib.contextmanager
def _locale() -> Iterator[None]:
    before = locale.setlocale(locale.LC_ALL)
    try:
        yield
    finally:
        if locale.setlocale(locale.LC_ALL) != before:
            locale.setlocale(locale.LC_ALL, before)


@contextlib.contextmanager
def _limits() -> Iterator[None]:
    recursion, switch, collected = sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled()
    traces, profile, digits = sys.gettrace(), sys.getprofile(), sys.get_int_max_str_digits()
    try:
        yield
    finally:
        sys.setrecursionlimit(recursion)
        sys.setswitchinterval(switch)
        sys.set_int_max_str_digits(digits)
        (gc.enable if collected else gc.disable)()
        if sys.gettrace() is not traces:
            sys.settrace(traces)
        if sys.getprofile() is not profile:  # cProfile's can't be set again
            sys.setprofile(profile)


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Restore handlers of signals, and stop an alarm."""
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in ([signal.SIGINT, signal.SIGTERM] if main else [])}
    alarm = signal.getitimer(signal.ITIMER_REAL) if hasattr(signal, "getitimer") else (0.0, 0.0)
    try:
        yield
    finally:
        if not alarm[0] and hasattr(signal, "alarm"):
            signal.alarm(0)
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


@contextlib.contextmanager
def _options() -> Iterator[None]:
    """Restore options of libraries that have been imported."""
    printed = np.get_printoptions()
    sklearn = sys.modules.get("sklearn")
    options = {} if sklearn is None else sklearn.get_config()
    try:
        yield
    finally:
        np.set_printoptions(**printed)
        if sklearn is not None:
            sklearn.set_config(**options)


#: In the order of their beginning; they end in the opposite one.
_SETTINGS = (
    *(_modules, _descriptors, _attributes, _environment, _locale, _limits, _signals, _random, _options),
    *(warnings.catch_warnings, np.errstate),
)
