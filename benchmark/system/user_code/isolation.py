"""Undo changes that a plug-in's code makes to the process, so that no other result depends on them.

Settings are restored; what is replaced in modules and classes, see `replacements`.
"""

from __future__ import annotations

import contextlib
import csv
import decimal
import gc
import locale
import os
import random
import signal
import sys
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.system.user_code.replacements import SharedCode

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NoReturn, TextIO


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
        If code was replaced that others use (`SharedCode`); it is restored.
    """
    shared, own, leave = SharedCode(), os.getpid(), os._exit
    try:
        with contextlib.ExitStack() as stack:
            for restore in _SETTINGS:
                stack.enter_context(restore())
            random.seed(0)
            np.random.seed(0)  # noqa: NPY002 - the global state is meant
            try:
                yield
            finally:
                if os.getpid() != own:  # a process that the plug-in forked: the run goes on in its own alone
                    leave(0)
                shared.note_removed()
    finally:
        shared.restore()


@contextlib.contextmanager
def _attributes() -> Iterator[None]:
    """Restore attributes of `sys` that are settings; the process can't be ended by `os._exit`."""
    lists = "path", "meta_path", "path_hooks", "argv"
    streams = "stdin", "stdout", "stderr", "__stdout__", "__stderr__"
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
    variables, folder, mask = os.environ, _current_folder(), os.umask(0o077)
    before = dict(variables)
    os.umask(mask)
    try:
        yield
    finally:
        os.environ = variables  # noqa: B003 - the one that it was
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

    These, and that of standard input, are what they were in the end, even if they were closed.
    """
    try:
        kept = {number: os.dup(number) for number in (0, 1, 2)}
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
    thresholds, longest = gc.get_threshold(), csv.field_size_limit()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        csv.field_size_limit(longest)
        sys.setrecursionlimit(recursion)
        sys.setswitchinterval(switch)
        sys.set_int_max_str_digits(digits)
        (gc.enable if collected else gc.disable)()
        if sys.gettrace() is not traces:
            sys.settrace(traces)
        if sys.getprofile() is not profile:  # cProfile's can't be set again
            sys.setprofile(profile)


@contextlib.contextmanager
def _resources() -> Iterator[None]:
    """Restore the limits that the system keeps to, such as the size of files, where a plug-in changed them."""
    if resource is None:
        yield
        return
    kinds = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
    before = {kind: resource.getrlimit(kind) for kind in dict.fromkeys(kinds)}
    try:
        yield
    finally:
        for kind, limits in before.items():
            if resource.getrlimit(kind) != limits:
                with contextlib.suppress(OSError, ValueError):  # a hard limit can't be raised again
                    resource.setrlimit(kind, limits)


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Restore handlers of signals, and stop an alarm."""
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in (signal.valid_signals() if main else [])}
    alarm = signal.getitimer(signal.ITIMER_REAL) if hasattr(signal, "getitimer") else (0.0, 0.0)
    try:
        yield
    finally:
        if not alarm[0] and hasattr(signal, "alarm"):
            signal.alarm(0)
        for number, handler in before.items():
            if handler is not None and signal.getsignal(number) is not handler:
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
    numba = vars(sys.modules["numba"].config) if "numba" in sys.modules else {}
    compiling = {name: value for name, value in numba.items() if name.isupper()}
    try:
        yield
    finally:
        numba.update(compiling)
        np.set_printoptions(**printed)
        if sklearn is not None:
            sklearn.set_config(**options)


#: In the order of their beginning; they end in the opposite one.
_SETTINGS = (
    *(_modules, _descriptors, _attributes, _environment, _locale, _limits, _resources, _signals, _random, _options),
    *(warnings.catch_warnings, np.errstate, decimal.localcontext),
)
