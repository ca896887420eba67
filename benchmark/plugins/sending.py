"""Calls of users' code in a process of its own: classes go there by file and name, and plain data comes back."""

from __future__ import annotations

import functools
import inspect
import io
import pickle
import threading
from typing import TYPE_CHECKING, Any

from benchmark.evaluation.metrics import Metric
from benchmark.plugins.pipelines import imported_pipeline_name
from benchmark.system.errors import ConfigError, DataError
from benchmark.system.user_classes import plugin_name_of
from benchmark.system.user_process import ProcessEndedError, UserProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: What a user's class is found by in another process: its file or distribution, its kind, and its name.
ClassName = tuple[str, str, str]


class UserTracebackError(Exception):
    """Traceback of a user's code in its process, as text."""


class _Pickler(pickle.Pickler):
    """Pickler that refers to users' classes, metrics and pipelines by their names."""

    def persistent_id(self, obj: Any) -> ClassName | None:
        if isinstance(obj, Metric):
            return getattr(obj.function, "named", None)
        return plugin_name_of(obj) or imported_pipeline_name(obj)


def pickle_by_name(content: object) -> bytes:
    """Pickle an experiment, or parts of one; refer to a user's class, or a pipeline, by its name."""
    file = io.BytesIO()
    _Pickler(file).dump(content)
    return file.getvalue()


class UserCalls:
    """Calls of protocols, corpora, metrics and diagnostics of users in one process, started at the first call."""

    def __init__(self) -> None:
        self._process: UserProcess | None = None
        self._lock = threading.Lock()

    def __call__(
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
        with self._lock:
            if self._process is None or self._process.ended:
                self._process = UserProcess()
            try:
                *_, (kind, value) = self._process.request(content)
            except ProcessEndedError as error:
                raise ConfigError(f"{location}: {error}") from None
        if kind == "failed":
            name, message, details = value
            raise (DataError if name == "DataError" else ConfigError)(message) from UserTracebackError(details)
        return value

    def close(self) -> None:
        """End the process; the next call starts another."""
        if self._process is not None:
            self._process.close()


def in_process(component: type[Any], names: Iterable[str], calls: UserCalls, location: str) -> type[Any]:
    """Return a subclass whose methods and properties of these names run in the process of `calls`."""
    content: dict[str, Any] = {key: getattr(component, key) for key in ("__module__", "__qualname__", "__doc__")}
    if component.__init__ is not object.__init__:
        build = component.__init__

        @functools.wraps(build)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            object.__setattr__(self, "_constructor_arguments", (args, kwargs))
            build(self, *args, **kwargs)

        content["__init__"] = init
    for name in names:
        attribute = inspect.getattr_static(component, name, None)
        if callable(attribute):
            content[name] = functools.wraps(attribute)(_remote(component, name, calls, location))
        elif isinstance(attribute, property | functools.cached_property):
            content[name] = property(_remote(component, name, calls, location))
    return type(component.__name__, (component,), content)


def _remote(component: type[Any], name: str, calls: UserCalls, location: str) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        constructed_with: Any = getattr(self, "_constructor_arguments", ((), {}))
        return calls(component, constructed_with, name, args, kwargs, location)

    return call
