"""Functions of Dask workers and of processes of users' code: compute units of a payload, and answer requests."""

from __future__ import annotations

import io
import pickle
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.experiment.context import RunContext
from benchmark.experiment.executors import executors_here
from benchmark.experiment.plan import LoadedVariant, plan_task
from benchmark.experiment.runner import solve_task
from benchmark.experiment.store import KernelCache
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.plugins.discovery import registries_with_plugins
from benchmark.plugins.loader import load_plugin, write_plugin_files
from benchmark.plugins.pipelines import imported_pipeline, pipeline_of_file
from benchmark.system.errors import BenchError
from benchmark.system.observer import Observer
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads
from benchmark.system.threads import let_openmp_threads_sleep, n_processors
from benchmark.system.user_classes import locate_error, running_user_code_here, user_place

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from benchmark.config.components import Component
    from benchmark.config.model import Experiment
    from benchmark.config.registries import Registries
    from benchmark.experiment.executors import Payload
    from benchmark.experiment.plan import PlannedTask
    from benchmark.plugins.sending import ClassName

#: One group at a time: a group uses all threads of the process, however many threads Dask has in it.
_ALONE = threading.Lock()
#: Objects of users' classes, which a process of users' code calls.
_OBJECTS: dict[tuple[Any, str], Any] = {}
#: Folders of plug-in files, which live as long as this process.
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def passed_on(payload: bytes) -> bytes:
    """Return a pickled payload, which Dask passes on to the workers of the groups, and makes again if one dies."""
    return payload


def compute_group(payload: bytes, variant: str, task: str, keys: Collection[str]) -> list[tuple[str, Any]]:
    """Compute some units of a task on a Dask worker, of a pickled payload; return the messages of `compute_units`."""
    messages = list[tuple[str, Any]]()
    with _ALONE:
        unpickled = pickle.loads(payload)  # noqa: S301 - of Dask, which runs what it is sent
        compute_units(unpickled, variant, task, keys, lambda *message: messages.append(message))
    return messages


def compute_units(
    payload: Payload, variant: str, task: str, keys: Collection[str], send: Callable[[str, Any], object]
) -> None:
    """Compute units of a task, and store those that are to be stored.

    Parameters
    ----------
    payload : Payload
    variant, task : str
    keys : collection of str
        The units' keys in the store.
    send : callable
        Called with the kind and value of each message: "solved", with a key and its result (a StoreEntry) or the reason
        why there is none (str); "now", with the label of the work that begins; "detail", as of an `Observer`.

    Raises
    ------
    BenchError
        If this process would compute something else than the sender, or can't read the sender's store.
    """
    experiment, read = _unpacked(payload)
    whole = _task_of(payload, variant, task)
    settings = [replace(each, units=tuple(unit for unit in each.units if unit.key in keys)) for each in whole.settings]
    planned = replace(whole, settings=tuple(each for each in settings if each.units))
    if planned.units.keys() != set(keys):
        raise BenchError(_why_other_keys(experiment.variants[variant].protocol))
    context = RunContext(payload.store, _Sender(send), payload.jobs or n_processors())
    matrices = MatrixCache(context.jobs, cached=KernelCache(payload.store))
    try:
        with blas_threads(context.jobs):
            executors = executors_here(experiment, read, context, matrices)
            solve_task(planned, context, executors, lambda *result: send("solved", result))
    finally:
        matrices.release()


def _why_other_keys(protocol: Component) -> str:
    """Return why the keys of results are others here: a user's protocol that isn't seeded, or else other code."""
    if is_builtin(protocol.cls):
        return "a worker computes different keys for results: its simplexbench or a library differs from this machine's"
    problem = f"the protocol {protocol.name!r} returned other splits when it was called again"
    return f"{user_place(protocol.cls)}: {problem}: let it draw from a seed, and don't edit it during a run"


def answer_request(content: bytes, send: Callable[[bytes], None]) -> None:
    """Answer a request in a process of users' code: compute units of methods, or call another component.

    Parameters
    ----------
    content : bytes
        Pickled by `plugins.sending.pickle_by_name`.
    send : callable
        Called with each pickled message, a pair of its kind and value; the last one is "done" or "failed".
    """
    try:
        with running_user_code_here():
            kind, *request = unpickle_by_name(content, {})
            if kind == "solve":
                payload, variant, task, keys = request
                compute_units(payload, variant, task, keys, lambda *message: send(pickle.dumps(message)))
            answer = pickle.dumps(("done", _call(*request[:-1]) if kind == "call" else None))
    except BaseException as error:  # noqa: BLE001 - whatever a user's code raises
        name = type(error).__name__ if isinstance(error, BenchError) else ""
        called = kind == "call"
        message = str(error) if name else locate_error(error, request[-1] if called else "its code", short=not called)
        answer = pickle.dumps(("failed", (name, message, "".join(format_exception(error)))))
    send(answer)


def _call(target: Any, created: Any, method: str, args: Any, kwargs: Any) -> Any:
    """Return what a user's function, or a method or property of an object of a user's class, returns."""
    if not method:
        return np.asarray(_component(target, {}).function(*args, **kwargs))
    key = target, repr(created)
    if key not in _OBJECTS:
        _OBJECTS[key] = target(*created[0], **created[1])
    attribute = getattr(_OBJECTS[key], method)
    found = attribute(*args, **kwargs) if callable(attribute) else attribute
    return list(found) if isinstance(found, Iterator) else found


@lru_cache(maxsize=1)
def _unpacked(payload: Payload) -> tuple[Experiment, dict[str, LoadedVariant]]:
    """Return the experiment of a payload, and its counts and texts."""
    let_openmp_threads_sleep()

    plugins = pickle.loads(payload.plugins)  # noqa: S301 - as in `compute_group`
    found: tuple[Experiment, dict[str, LoadedVariant]] = unpickle_by_name(payload.content, plugins)
    return found


@lru_cache(maxsize=4)
def _task_of(payload: Payload, variant: str, task: str) -> PlannedTask:
    """Return a task with all its settings, as on the sender."""
    experiment, read = _unpacked(payload)
    whole = experiment.variants[variant]
    (named,) = (each for each in whole.tasks if each.name == task)
    return plan_task(experiment, whole, named, read[variant])


def unpickle_by_name(content: bytes, plugins: Mapping[str, Mapping[str, bytes]]) -> Any:
    """Return what `pickle_by_name` pickled in a process of this user, with the classes of these plug-ins' files."""
    paths = dict[str, Path]()
    if plugins:
        _FOLDERS.append(tempfile.TemporaryDirectory(prefix="simplexbench-"))
        paths = write_plugin_files(plugins, Path(_FOLDERS[-1].name))

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, pid: ClassName) -> Any:
            return _component(pid, paths)

    return Unpickler(io.BytesIO(content)).load()


def _component(name: ClassName, paths: Mapping[str, Path]) -> Any:
    """Return the component of a name here; `paths` has the places of files that came from another machine."""
    file, kind, component = name
    path = paths.get(file, Path(file))
    if kind == "pipelines":
        plugin = load_plugin(path, trusted=True) if file else None
        return imported_pipeline(component) if plugin is None else pipeline_of_file(plugin, component)
    return getattr(_registries(path), kind)[component]


@cache
def _registries(path: Path) -> Registries:
    """Return the registries with a plug-in's file."""
    return registries_with_plugins([path])


class _Sender(Observer):
    """Observer that sends what is done; notes of failures are made by the process that waits."""

    def __init__(self, tell: Callable[[str, Any], object]) -> None:
        self._tell = tell

    def now(self, doing: str) -> None:
        """Send the work that begins now."""
        self._tell("now", doing)

    def detail(self, text: str) -> None:
        """Send a detail."""
        self._tell("detail", text)
