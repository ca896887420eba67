"""Functions of Dask workers and of processes of users' code: compute units of a payload, and answer requests."""

from __future__ import annotations

import io
import pickle
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from traceback import format_exception
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.experiment.context import LoadedVariant, RunContext
from benchmark.experiment.counting import texts_of_entry
from benchmark.experiment.kernel_cache import KernelCache
from benchmark.experiment.manifest import library_versions
from benchmark.experiment.runner import TaskExecutor, plan_tasks
from benchmark.experiment.store import Store, StoreEntry
from benchmark.experiment.user_methods import UserMethods
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.plugins.discovery import registries_with_plugins
from benchmark.plugins.loader import load_plugin, write_plugin_files
from benchmark.plugins.pipelines import imported_pipeline, pipeline_of_file
from benchmark.plugins.sending import pickle_plain
from benchmark.system.errors import BenchError
from benchmark.system.numba_jit import ensure_numba_cache
from benchmark.system.observer import Observer
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads
from benchmark.system.threads import let_openmp_threads_sleep, n_processors
from benchmark.system.user_classes import locate_error, running_user_code_here, runs_user_code_here, user_place
from benchmark.text.counts import counts_from_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from benchmark.config.components import Component
    from benchmark.config.model import Experiment, TextSettings
    from benchmark.experiment.payload import Payload
    from benchmark.experiment.settings import PlannedTask, Setting
    from benchmark.plugins.sending import ClassName
    from benchmark.text.counts import Counts

#: One group at a time: a group uses all threads of the process, however many threads Dask has in it.
_ALONE = threading.Lock()
#: The last experiment received, with its counts, by its key; and the last tasks worked on.
_EXPERIMENTS: dict[str, tuple[Experiment, dict[str, LoadedVariant]]] = {}
_WORKS: dict[tuple[str, str, str], PlannedTask] = {}
MAX_CACHED_TASKS = 4
#: For each variant the store's keys of its counts, of methods' own counts, and of their texts.
_CountKeys = dict[str, tuple[str, dict["TextSettings", str], dict["TextSettings", str]]]
#: Users' components by their names, and objects of their classes, which a process of users' code calls.
_COMPONENTS: dict[ClassName, Any] = {}
_OBJECTS: dict[tuple[Any, str], Any] = {}
#: Folders of plug-in files, which live as long as this process.
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def compute_units(given: Payload, variant: str, task: str, keys: Collection[str]) -> dict[str, Any]:
    """Compute some jobs of a task on a Dask worker, and store the results.

    Parameters
    ----------
    given : Payload
        Payload of the experiment.
    variant, task : str
        Names of the variant and task.
    keys : collection of str
        Store keys of the jobs.

    Returns
    -------
    dict
        ``failed``: reasons by key; ``entries``: results by key that aren't stored, since they are of users' code;
        ``lost``: keys that the store couldn't take; ``notes`` and ``details``: messages, see `Observer`.

    Raises
    ------
    BenchError
        If this process would compute something else than the sender, or can't read the sender's store.
    """
    notes, details, entries = list[str](), list[str](), dict[str, StoreEntry]()

    def keep(point: Setting, key: str, entry: StoreEntry) -> None:
        if point.stored:
            store.put(key, entry)
        else:
            entries[key] = entry

    with _ALONE:
        store = _store(given, notes.append)
        experiment, read = _unpacked_payload(given, store)
        context = RunContext(store, _Details(details), given.jobs)
        work, failed = _solve(given, experiment, read, variant, task, frozenset(keys), context, keep)
        lacking = [job.key for point in work.points for job in point.jobs if job.key not in entries]
        lacking = [key for key in lacking if not store.has(key)]
    lost = [key for key in lacking if key not in failed]
    reasons = {key: reason for key, reason in failed.items() if key in lacking}
    return {"failed": reasons, "entries": entries, "lost": lost, "notes": notes, "details": details}


def _solve(
    given: Payload,
    experiment: Experiment,
    read: Mapping[str, LoadedVariant],
    variant: str,
    task: str,
    keys: frozenset[str],
    context: RunContext,
    keep: Callable[[Setting, str, StoreEntry], None],
) -> tuple[PlannedTask, dict[str, str]]:
    """Compute some jobs of a task; return them, and the reasons of those that failed, by key."""
    full, jobs = _work(given.key, experiment, read, variant, task), given.jobs or n_processors()
    points = [replace(p, jobs=tuple(job for job in p.jobs if job.key in keys)) for p in full.points]
    work = replace(full, points=tuple(point for point in points if point.jobs))
    if {job.key for point in work.points for job in point.jobs} != keys:
        raise BenchError(_why_other_keys(experiment.variants[variant].protocol))
    context = replace(context, jobs=jobs)
    users = None if runs_user_code_here() else UserMethods(experiment, read, [work], context)
    bench = MatrixCache(jobs, cached=KernelCache(context.store))
    walk = TaskExecutor(context, bench, users, keep)
    try:
        with blas_threads(jobs):
            walk.solve(work)
    finally:
        bench.release()
    return work, {job.key: walk.failed[p.place] for p in work.points for job in p.jobs if p.place in walk.failed}


def _why_other_keys(protocol: Component) -> str:
    """Return why the keys of results are others here: a user's protocol that isn't seeded, or else other code."""
    if is_builtin(protocol.cls):
        return "a worker computes different keys for results: its simplexbench code differs from that of this machine"
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
            answers = _solve_units(send, *request) if kind == "solve" else _call(*request[:-1])
            answer = pickle_plain(("done", answers))
    except BaseException as error:  # noqa: BLE001 - whatever a user's code raises
        name = type(error).__name__ if isinstance(error, BenchError) else ""
        message = str(error) if name else locate_error(error, request[-1] if kind == "call" else "its process")
        answer = pickle.dumps(("failed", (name, message, "".join(format_exception(error)))))
    send(answer)


def _solve_units(send: Callable[[bytes], None], given: Payload, tasks: Sequence[tuple[str, str, list[str]]]) -> int:
    """Compute units of several tasks, and send each result; return the number of tasks."""

    def tell(kind: str, value: Any) -> None:
        send(pickle.dumps((kind, value)))

    def keep(_: Setting, key: str, entry: StoreEntry) -> None:
        tell("solved", (key, entry.arrays, entry.facts))

    store = _store(given)
    experiment, read = _unpacked_payload(given, store)
    for variant, task, keys in tasks:
        context = RunContext(store, _Sender(tell), given.jobs)
        _, failed = _solve(given, experiment, read, variant, task, frozenset(keys), context, keep)
        for each in failed.items():
            tell("refused", each)
    return len(tasks)


def _call(target: Any, given: Any, method: str, args: Any, kwargs: Any) -> Any:
    """Return what a user's function, or a method or property of an object of a user's class, returns."""
    if not method:
        component = _component(target)
        function = component.function
        return np.asarray(function(*args, **kwargs))
    key = target, repr(given)
    if key not in _OBJECTS:
        _OBJECTS[key] = target(*given[0], **given[1])
    attribute = getattr(_OBJECTS[key], method)
    found = attribute(*args, **kwargs) if callable(attribute) else attribute
    return list(found) if isinstance(found, Iterator) else found


def check_versions(expected: Mapping[str, str]) -> None:
    """Raise BenchError if the versions differ from the sender's: results would have other keys."""
    here = library_versions()
    differing = {name: each for name, each in expected.items() if here.get(name) != each}
    others = [f"{name} {here.get(name, 'none')}, not {each}" for name, each in differing.items()]
    if others:
        raise BenchError(f"a worker computes with {', '.join(others)}: it needs the versions of this machine")


def _store(payload: Payload, warn: Callable[[str], None] = lambda _: None) -> Store:
    return Store(payload.store if "://" in payload.store else Path(payload.store), payload.limit, warn)


def _unpacked_payload(payload: Payload, store: Store) -> tuple[Experiment, dict[str, LoadedVariant]]:
    """Return the experiment of a payload and its counts; unpack them once."""
    if payload.key not in _EXPERIMENTS:
        check_versions(payload.versions)
        let_openmp_threads_sleep()
        _EXPERIMENTS.clear()
        _WORKS.clear()
        ensure_numba_cache(lambda _: None)
        unpickled: tuple[Experiment, _CountKeys] = unpickle_by_name(payload.content, payload.plugins)
        experiment, keys = unpickled
        counts: dict[str, Counts] = {}
        read = {name: _read(store, *each, counts) for name, each in keys.items()}
        _EXPERIMENTS[payload.key] = experiment, read
    return _EXPERIMENTS[payload.key]


def _work(key: str, experiment: Experiment, read: Mapping[str, LoadedVariant], variant: str, task: str) -> PlannedTask:
    """Return a task with all its points, as on the sender."""
    if (key, variant, task) not in _WORKS:
        whole = experiment.variants[variant]
        with_task = replace(whole, tasks=tuple(each for each in whole.tasks if each.name == task))
        (_WORKS[key, variant, task],) = plan_tasks(replace(experiment, variants={variant: with_task}), read)
        if len(_WORKS) > MAX_CACHED_TASKS:
            del _WORKS[next(iter(_WORKS))]
    return _WORKS[key, variant, task]


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


def _component(name: ClassName, paths: Mapping[str, Path] | None = None) -> Any:
    """Return the component of a name here; `paths` has the places of files that came from another machine."""
    file, kind, component = name
    path = (paths or {}).get(file, Path(file))
    if kind == "pipelines":
        plugin = load_plugin(path, trusted=True) if file else None
        return imported_pipeline(component) if plugin is None else pipeline_of_file(plugin, component)
    if name not in _COMPONENTS:
        known = registries_with_plugins([path] if path.is_absolute() else [])
        _COMPONENTS.update(
            {(file, each, own): found for each, registry in known.each() for own, found in registry.items()}
        )
    return _COMPONENTS[name]


def _read(
    store: Store,
    key: str,
    texts: Mapping[TextSettings, str],
    strings: Mapping[TextSettings, str],
    known: dict[str, Counts],
) -> LoadedVariant:
    """Load the counts of a variant from the store, once per key, and the texts that methods read."""

    def entry_of(key: str) -> StoreEntry:
        entry = store.get(key)
        if entry is None:
            shared = "the store must be a folder or an address that all workers share"
            raise BenchError(f"a worker can't read the counts from {store.address}: {shared}")
        return entry

    def of(key: str) -> Counts:
        if key not in known:
            entry = entry_of(key)
            known[key] = counts_from_arrays(entry.arrays, entry.facts)
        return known[key]

    counts = of(key)
    texts_read = {text: (replace(of(each), documents=counts.documents), each) for text, each in texts.items()}
    read = {each: texts_of_entry(entry_of(each), each) for each in set(strings.values())}
    return LoadedVariant(counts, key, {}, texts_read, {text: read[each] for text, each in strings.items()})


class _Details(Observer):
    """Observer that collects details; the reply of the worker has the reasons of failed points."""

    def __init__(self, details: list[str]) -> None:
        self._details = details

    def detail(self, text: str) -> None:
        """Append a detail."""
        self._details.append(text)


class _Sender(Observer):
    """Observer that sends what a process of users' code does."""

    def __init__(self, tell: Callable[[str, Any], None]) -> None:
        self._tell = tell

    def now(self, doing: str) -> None:
        """Send the work that begins now."""
        self._tell("now", doing)

    def note(self, message: str) -> None:
        """Send a note, but for those of failures: the process that waits makes them."""

    def detail(self, text: str) -> None:
        """Send a detail."""
        self._tell("detail", text)
