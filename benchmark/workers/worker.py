"""Functions of Dask workers and of processes of users' code: compute units of a task, and answer requests."""

from __future__ import annotations

import io
import os
import pickle
import queue
import signal
import tempfile
import threading
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, Any

from benchmark.experiment.context import RunContext
from benchmark.experiment.executors import executors_here
from benchmark.experiment.plan import PlannedTask, method_code
from benchmark.experiment.runner import solve_task
from benchmark.experiment.store import KernelCache, Store
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.plugins.discovery import registries_with_plugins
from benchmark.plugins.loader import load_plugin, plugin_files, write_plugin_files
from benchmark.plugins.pipelines import imported_pipeline, pipeline_of_file
from benchmark.plugins.user_process import pickle_by_name
from benchmark.system.errors import BenchError
from benchmark.system.observer import Observer
from benchmark.system.row_blocks import blas_threads
from benchmark.system.threads import let_openmp_threads_sleep, n_processors
from benchmark.system.user_classes import locate_error, plugin_of, running_user_code_here

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from multiprocessing.connection import Connection

    from benchmark.config.registries import Registries
    from benchmark.plugins.user_process import ClassName

#: One group at a time: a group uses all threads of the process, however many threads Dask has in it.
_ALONE = threading.Lock()
#: Objects of users' classes, which a process of users' code calls.
_OBJECTS: dict[tuple[Any, str], Any] = {}


def pack_task(task: PlannedTask, store: Store, jobs: int) -> bytes:
    """Pickle a task for workers, which may be of another machine: with the files of its plug-ins."""
    named = {each for setting in task.settings for each in setting.user_classes}
    plugins = {plugin.name: plugin for plugin in map(plugin_of, named) if plugin is not None and plugin.file}
    files = {name: plugin_files(plugins[name]) for name in sorted(plugins)}
    return pickle.dumps((pickle_by_name((task, store, jobs)), pickle.dumps(files)))


def passed_on(packed: bytes) -> bytes:
    """Return a packed task, which Dask passes on to the workers of the groups, and makes again if one dies."""
    return packed


def compute_group(packed: bytes, keys: Collection[str]) -> list[tuple[str, Any]]:
    """Compute the units of these keys on a Dask worker; return the messages of `compute_task`."""
    messages = list[tuple[str, Any]]()
    with _ALONE:
        task, store, jobs = _unpacked(packed)
        compute_task(task.of_units(keys), store, jobs, lambda *message: messages.append(message))
    return messages


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> tuple[PlannedTask, Store, int]:
    """Return the task of `pack_task`, the store and the number of threads."""
    let_openmp_threads_sleep()
    content, files = pickle.loads(packed)  # noqa: S301 - of Dask, which runs what it is sent
    found: tuple[PlannedTask, Store, int] = unpickle_by_name(content, _written(files)[1])
    return found


@cache
def _written(files: bytes) -> tuple[tempfile.TemporaryDirectory[str], dict[str, Path]]:
    """Write plug-ins' files from another machine to a folder that lives as long as this process; return their paths."""
    folder = tempfile.TemporaryDirectory(prefix="simplexbench-")
    return folder, write_plugin_files(pickle.loads(files), Path(folder.name))  # noqa: S301 - as in `_unpacked`


def compute_task(task: PlannedTask, store: Store, jobs: int, send: Callable[[str, Any], object]) -> None:
    """Compute the units of a task, and store those that are to be stored.

    Parameters
    ----------
    task : PlannedTask
    store : Store
    jobs : int
        Number of threads; 0 uses all processors.
    send : callable
        Called with the kind and value of each message: "solved", with a key and its result (a StoreEntry) or the reason
        why there is none (str); "now", with the label of the work that begins; "detail", as of an `Observer`.

    Raises
    ------
    BenchError
        If the code that decides a result is another one than where the task was planned.
    """
    for setting in task.settings:
        if setting.code != method_code(setting.method.spec):
            problem = "a worker has other code than this machine, or the code was changed during the run"
            raise BenchError(f"{setting.key.name}: {problem}: make simplexbench, libraries and files the same")
    context = RunContext(store, _Sender(send), jobs or n_processors())
    matrices = MatrixCache(context.jobs, cached=KernelCache(store))
    try:
        with blas_threads(context.jobs):
            solve_task(task, context, executors_here(context, matrices), lambda *result: send("solved", result))
    finally:
        matrices.release()


def answer_requests(pipe: Connection) -> None:
    """Answer requests in a process of users' code, as `plugins.user_process.UserProcess` sends them, until it ends."""
    os.set_inheritable(pipe.fileno(), False)
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, requests), daemon=True).start()
    while True:
        _answer(requests.get(), pipe.send_bytes)


def _receive(pipe: Connection, requests: queue.SimpleQueue[bytes]) -> None:
    """Pass on requests; end all processes of this session once nobody waits for an answer."""
    try:
        while True:
            requests.put(pipe.recv_bytes())
    except (EOFError, OSError):
        os.killpg(0, signal.SIGKILL)


def _answer(content: bytes, send: Callable[[bytes], None]) -> None:
    """Compute units of a task, or call another component.

    Parameters
    ----------
    content : bytes
        Pickled by `plugins.user_process.pickle_by_name`.
    send : callable
        Called with each pickled message, a pair of its kind and value; the last one is "done" or "failed".
    """
    kind, request = "", list[Any]()  # what names a file that can't be imported here can't be read
    try:
        with running_user_code_here():
            kind, *request = unpickle_by_name(content, {})
            if kind == "solve":
                task, store, jobs = request
                compute_task(task, store, jobs, lambda *message: send(pickle.dumps(message)))
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
        return _component(target, {}).function(*args, **kwargs)
    key = target, repr(created)
    if key not in _OBJECTS:
        _OBJECTS[key] = target(*created[0], **created[1])
    attribute = getattr(_OBJECTS[key], method)
    found = attribute(*args, **kwargs) if callable(attribute) else attribute
    return list(found) if isinstance(found, Iterator) else found


def unpickle_by_name(content: bytes, paths: Mapping[str, Path]) -> Any:
    """Return what `pickle_by_name` pickled in a process of this user, with the classes of plug-ins at these paths."""

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
    """Return the registries with a plug-in's file; or those with installed packages, for the name of one."""
    return registries_with_plugins([path] if path.is_absolute() else [])


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
