"""Other processes that compute units of a task: workers of a Dask cluster, and the process of users' code.

A module of users' code runs here by `answer_requests`, which `plugins.user_process.UserProcess` starts.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from itertools import chain, groupby
from multiprocessing.connection import Connection
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, Any

from benchmark.experiment.context import RunContext
from benchmark.experiment.plan import PlannedTask, method_code, plan_batches
from benchmark.experiment.runner import LocalExecutor, solve_task
from benchmark.experiment.store import INSTALL_CLUSTER, Store
from benchmark.plugins.discovery import registries_for
from benchmark.plugins.loader import load_plugin, plugin_files, write_plugin_files
from benchmark.plugins.pipelines import imported_pipeline, pipeline_of_file
from benchmark.plugins.user_process import pickle_by_name
from benchmark.system.errors import BenchError, ConfigError, one_line
from benchmark.system.observer import Observer
from benchmark.system.row_blocks import blas_threads, n_processors
from benchmark.system.user_classes import locate_error, plugin_of, running_user_code_here
from benchmark.system.yaml_source import Node

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from benchmark.config.components import Registries
    from benchmark.experiment.plan import StoreUnit
    from benchmark.experiment.store import StoreEntry
    from benchmark.plugins.user_process import ClassName

#: Seconds to wait for a scheduler and a first worker, for a result before the scheduler is asked, and to close.
CONNECT_TIMEOUT, QUIET_SECONDS, CLOSE_TIMEOUT = 30.0, 10.0, 5.0
#: Loggers to silence: a broken connection is reported by a note.
_LOGS = ("distributed", "asyncio", "tornado")
#: One group at a time: a group uses all threads of the process, however many threads Dask has in it.
_ALONE = threading.Lock()
#: Objects of users' classes, which a process of users' code calls.
_OBJECTS: dict[tuple[Any, str], Any] = {}


def compute_task(
    task: PlannedTask, store: Store, jobs: int, observer: Observer
) -> Iterator[tuple[str, StoreEntry | str, bool]]:
    """Compute the units of a task, as `solve_task` does; 0 jobs are all processors.

    Raises
    ------
    BenchError
        If the code that decides a result is another one than where the task was planned.
    """
    for setting in task.settings:
        if setting.code != method_code(setting.method.spec):
            problem = "a worker has other code than this machine, or the code was changed during the run"
            raise BenchError(f"{setting.key.name}: {problem}")
    context = RunContext(store, observer, jobs or n_processors())
    with blas_threads(context.jobs):
        yield from solve_task(task, context, LocalExecutor(context))


# --- Dask ---


class DaskExecutor:
    """Workers that compute an experiment; see `experiment.context.Executor`.

    If the cluster fails in any way, this process computes the rest, and a note says so.

    Parameters
    ----------
    dask : str
        Address of a scheduler, or its file.
    store : Store
        The run's store, which workers may share.
    jobs : int
        Threads per worker; 0 uses all processors of its machine.
    observer : Observer
        Receiver of notes and progress.

    Raises
    ------
    ConfigError
        If Dask isn't installed.
    BenchError
        If no scheduler answers.
    """

    def __init__(self, dask: str, store: Store, jobs: int, observer: Observer) -> None:
        try:
            from distributed import Client  # noqa: PLC0415 - an optional dependency
        except ImportError:
            raise ConfigError(f"--dask needs Dask: {INSTALL_CLUSTER}") from None
        for name in _LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            named = {"scheduler_file" if dask.endswith(".json") else "address": dask}
            self._client: Any = Client(timeout=CONNECT_TIMEOUT, **named)
        except (OSError, ValueError, RuntimeError) as error:
            here = "without --dask the run uses this process alone"
            raise BenchError(f"no Dask scheduler answers at {dask}: {_in_words(error)}; {here}") from None
        self._store, self._jobs, self._observer = store, jobs, observer

    def solved(self, task: PlannedTask, missing: Sequence[StoreUnit]) -> Iterator[tuple[str, StoreEntry | str]]:
        """Yield keys of units as their groups finish, each with its result or the reason of its failure."""
        try:
            if self._client is not None:
                yield from self._solved(task, missing)
        except BenchError:
            raise
        except Exception as error:  # noqa: BLE001 - also any error of the computation
            self._observer.note(f"the Dask cluster failed ({_in_words(error)}); this process computes the rest")
            self.close()

    def _solved(self, task: PlannedTask, missing: Sequence[StoreUnit]) -> Iterator[tuple[str, StoreEntry | str]]:
        from distributed import wait  # noqa: PLC0415 - as above

        self._client.wait_for_workers(1, timeout=CONNECT_TIMEOUT)
        together = groupby(plan_batches(missing), lambda batch: batch.group)
        groups = [[unit.key for batch in batches for unit in batch.units] for _, batches in together]
        packed = pack_task(task.of_units(set(chain(*groups))), self._store, self._jobs)
        with warnings.catch_warnings(action="ignore"):  # that the counts are large
            sent = self._client.submit(passed_on, packed, pure=False)
        running = {self._client.submit(compute_group, sent, group, pure=False) for group in groups}
        while running:
            try:
                done = wait(running, timeout=QUIET_SECONDS, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                # With a time-out, which wait_for_workers has for workers, and not for a scheduler that is stopped.
                known = self._client.sync(self._client.scheduler.identity, callback_timeout=QUIET_SECONDS)
                if not known["workers"]:
                    raise RuntimeError("no worker is left") from None
                continue
            running -= done
            for future in done:
                yield from future.result().items()

    def close(self) -> None:
        """Close the client, which gives up the submitted groups."""
        with suppress(Exception):  # a broken connection, or none
            self._client.close(timeout=CLOSE_TIMEOUT)
        self._client = None


def _in_words(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}")


def pack_task(task: PlannedTask, store: Store, jobs: int) -> bytes:
    """Pickle a task for workers, which may be of another machine: with the files of its plug-ins."""
    named = (each for setting in task.settings for each in setting.user_classes)
    plugins = {plugin.name: plugin for plugin in map(plugin_of, named) if plugin is not None and plugin.file}
    files = {name: plugin_files(plugin) for name, plugin in plugins.items()}
    return pickle.dumps((files, pickle_by_name((task, store, jobs))))


def passed_on(packed: bytes) -> bytes:
    """Return a packed task, which Dask passes on to the workers of the groups, and makes again if one dies."""
    return packed


def compute_group(packed: bytes, keys: Collection[str]) -> dict[str, StoreEntry | str]:
    """Compute the units of these keys on a Dask worker, and return their results by key."""
    with _ALONE:
        _, (task, store, jobs) = _unpacked(packed)
        solved = compute_task(task.of_units(keys), store, jobs, Observer())
        return {key: result for key, result, _ in solved}


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> tuple[tempfile.TemporaryDirectory[str], tuple[PlannedTask, Store, int]]:
    """Return the task of `pack_task`, the store and the threads, and the folder with files from another machine."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # see `cli.main`
    files, content = pickle.loads(packed)  # noqa: S301 - of Dask, which runs what it is sent
    folder = tempfile.TemporaryDirectory(prefix="simplexbench-")
    return folder, unpickle_by_name(content, write_plugin_files(files, Path(folder.name)))


# --- The process of users' code ---


def answer_requests(pipe: Connection) -> None:
    """Answer the requests of `plugins.user_process.UserProcess`; end all processes of this session once it is gone."""
    os.set_inheritable(pipe.fileno(), False)
    try:
        while True:
            _answer(pipe.recv_bytes(), pipe.send_bytes)
    except (EOFError, OSError):
        os.killpg(0, signal.SIGKILL)


def _answer(content: bytes, send: Callable[[bytes], None]) -> None:
    """Compute units of a task, or call another component.

    Parameters
    ----------
    content : bytes
        Pickled by `plugins.user_process.pickle_by_name`.
    send : callable
        Called with each pickled message, a pair of its kind and value: "now", with the label of the work that begins;
        "detail", as of an `Observer`; "solved", with a key and its result; at the end "done" or "failed".
    """
    kind, request = "", list[Any]()  # what names a file that can't be imported here can't be read

    def tell(*message: Any) -> None:
        send(pickle.dumps(message))

    try:
        with running_user_code_here():
            kind, *request = unpickle_by_name(content, {})
            if kind == "solve":
                task, store, jobs = request
                for key, result, _ in compute_task(task, store, jobs, _Sender(tell)):
                    tell("solved", (key, result))
            answer = pickle.dumps(("done", _call(*request[:-1]) if kind == "call" else None))
    except BaseException as error:  # noqa: BLE001 - whatever a user's code raises
        name = type(error).__name__ if isinstance(error, BenchError) else ""
        called = kind == "call"
        message = str(error) if name else locate_error(error, request[-1] if called else "its code", short=not called)
        answer = pickle.dumps(("failed", (name, message, "".join(format_exception(error)))))
    send(answer)


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


# --- Users' classes by their names ---


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
    return registries_for(Node.of_data({"plugins": [str(path)] if path.is_absolute() else []}, "users' code"))


if __name__ == "__main__":
    answer_requests(Connection(int(sys.argv[1])))
