"""Processes that run users' code: what it changes, prints, leaks or kills ends with its process.

Classes go there by file and name, and plain data comes back.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from multiprocessing import Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.plugins.pipelines import TextPipeline
from benchmark.system.errors import BenchError, ConfigError, DataError
from benchmark.system.user_classes import registered_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection

#: What a user's class is found by in another process: its file or distribution, its kind, and its name.
ClassName = tuple[str, str, str]
#: The module that the process runs, see `benchmark.workers.processes`.
_MODULE = "benchmark.workers.processes"
#: How long a process may take to end after its last message.
_SECONDS_TO_END = 2.0


class ProcessEndedError(BenchError):
    """A process of users' code ended by itself: by an exit, a crash or a signal."""


class UserTracebackError(Exception):
    """Traceback of a user's code in its process, as text."""


class _Pickler(pickle.Pickler):
    """Pickler that refers to users' classes and pipelines by their names."""

    def persistent_id(self, obj: Any) -> ClassName | None:
        if (found := registered_as(obj)) is not None:
            return (found[0].name, *found[1:])
        return ("", "pipelines", obj.path) if isinstance(obj, type) and issubclass(obj, TextPipeline) else None


def pickle_by_name(content: object) -> bytes:
    """Pickle a task, or a call; refer to a user's class, or a pipeline, by its name."""
    file = io.BytesIO()
    _Pickler(file).dump(content)
    return file.getvalue()


class UserProcess:
    """A process of users' code, in a session of its own: Ctrl-C doesn't reach it, and `close` kills all that is in it.

    Started at the first request, and at the next one after its end, by `subprocess`: neither forked (OpenMP) nor
    spawned (scripts without a guard). It ends when its pipe is closed; what it prints goes to standard error.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def _start(self) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
        self._pipe, other = Pipe()
        with other:
            process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-P", "-B", "-u", "-m", _MODULE, str(other.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=2,
                env={"OMP_WAIT_POLICY": "passive", **os.environ, "PYTHONPATH": path},
                pass_fds=[other.fileno()],
                start_new_session=True,
            )
        self._end = weakref.finalize(self, _end, process, self._pipe)
        return process

    def request(self, content: bytes) -> Iterator[tuple[str, Any]]:
        """Send a request, and yield the messages of the process until it has answered; an interruption ends it.

        Raises
        ------
        ProcessEndedError
            If the process ends before it has answered.
        """
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = self._start()
        answered = False
        try:
            self._pipe.send_bytes(content)
            while not answered:
                kind, value = self._pipe.recv()
                answered = kind in ("done", "failed")
                yield kind, value
        except (EOFError, OSError):
            raise ProcessEndedError(_reason(self._process)) from None
        finally:
            if not answered:
                self.close()

    def call(
        self, target: ClassName | type, constructed_with: Any, method: str, args: Any, kwargs: Any, location: str
    ) -> Any:
        """Return what a method or property of an object returns, or the function itself where `method` is "".

        Parameters
        ----------
        target : ClassName or type
            The class, or the name of a metric.
        constructed_with : (tuple, dict)
            Arguments of the constructor.
        method : str
        args, kwargs : tuple, dict
            Arguments of the method.
        location : str
            Where the component is, for errors.

        Raises
        ------
        ConfigError, DataError
            In one line, if the code raises an error or ends its process.
        """
        content = pickle_by_name(("call", target, constructed_with, method, args, kwargs, location))
        try:
            with self._lock:
                *_, (kind, value) = self.request(content)
        except ProcessEndedError as error:
            raise ConfigError(f"{location}: {error}") from None
        if kind == "failed":
            name, message, details = value
            raise (DataError if name == "DataError" else ConfigError)(message) from UserTracebackError(details)
        return value

    def close(self) -> None:
        """End the process, and those that it started; the next request starts another."""
        if self._process is not None:
            self._end()


def _reason(process: subprocess.Popen[bytes]) -> str:
    """Return how a process ended its work."""
    try:
        code = process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:  # its threads go on
        return "ended the work of its process"
    how = f"with exit code {code}" if code >= 0 else f"by the signal {signal.Signals(-code).name}"
    return f"ended its process, {how}"


def _end(process: subprocess.Popen[bytes], pipe: Connection) -> None:
    """End a process and those that it started, at once."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    pipe.close()


def in_process(component: type[Any], names: Iterable[str], process: UserProcess, location: str) -> type[Any]:
    """Return a subclass whose methods and properties of these names run in a process of users' code."""
    content: dict[str, Any] = {key: getattr(component, key) for key in ("__module__", "__qualname__", "__doc__")}
    if component.__init__ is not object.__init__:
        build = component.__init__

        @functools.wraps(build)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            object.__setattr__(self, "_constructor_arguments", (args, kwargs))
            build(self, *args, **kwargs)

        content["__init__"] = init

    def remote(name: str) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            constructed_with: Any = getattr(self, "_constructor_arguments", ((), {}))
            return process.call(component, constructed_with, name, args, kwargs, location)

        return call

    for name in names:
        attribute = inspect.getattr_static(component, name, None)
        if callable(attribute):
            content[name] = functools.wraps(attribute)(remote(name))
        elif isinstance(attribute, property | functools.cached_property):
            content[name] = property(remote(name))
    return type(component.__name__, (component,), content)
