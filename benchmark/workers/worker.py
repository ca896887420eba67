"""Workers of a run: the payload that they are sent, and the function that computes points and stores their results."""

from __future__ import annotations

import io
import pickle
import tempfile
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.experiment.context import LoadedVariant, RunContext
from benchmark.experiment.counting import texts_of_entry
from benchmark.experiment.kernel_cache import KernelCache
from benchmark.experiment.manifest import library_versions
from benchmark.experiment.runner import TaskExecutor, plan_tasks
from benchmark.experiment.store import Store, store_key
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.plugins.discovery import BUILTIN_REGISTRIES, names_component, registries_with_plugins
from benchmark.plugins.loader import plugin_files, reload_plugins
from benchmark.plugins.pipelines import imported_pipeline, imported_pipeline_name, pipeline_of_file
from benchmark.system.errors import BenchError
from benchmark.system.numba_jit import ensure_numba_cache
from benchmark.system.observer import Observer
from benchmark.system.plugin_code import plugin_name_of
from benchmark.system.row_blocks import blas_threads
from benchmark.system.threads import let_openmp_threads_sleep, n_processors
from benchmark.text.counts import counts_from_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from benchmark.config.model import Experiment, TextSettings
    from benchmark.experiment.settings import PlannedTask
    from benchmark.experiment.store import StoreEntry
    from benchmark.text.counts import Counts

#: One group at a time: a group uses all threads of the process, however many threads Dask has in it.
_ALONE = threading.Lock()
#: The last experiment received, with its counts and store, by its key; and the last tasks worked on.
_EXPERIMENTS: dict[str, tuple[Experiment, dict[str, LoadedVariant], _NotifyingStore]] = {}
_WORKS: dict[tuple[str, str, str], PlannedTask] = {}
MAX_CACHED_TASKS = 4
#: For each variant the store's keys of its counts, of methods' own counts, and of their texts.
_CountKeys = dict[str, tuple[str, dict["TextSettings", str], dict["TextSettings", str]]]
#: Folders of plug-in files, which live as long as this process.
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """No run waits for the result any more."""


@dataclass(frozen=True)
class Payload:
    """Experiment without its corpus, whose counts are in the store.

    Parameters
    ----------
    key : str
        Digest of the other fields.
    content : bytes
        Pickled experiment, and the store's keys of its counts. Unpickled only if the versions equal the sender's.
    plugins : mapping
        Files of the plug-in components, see `plugins.loader.plugin_files`.
    versions : dict of str to str
        Versions of Python and libraries on the sender.
    store : str
        Address of the store.
    limit : int
        Size limit of the store, in bytes.
    jobs : int
        Number of threads; 0 uses all processors.
    """

    key: str
    content: bytes = field(repr=False)
    plugins: Mapping[str, Mapping[str, bytes]] = field(repr=False)
    versions: dict[str, str] = field(repr=False)
    store: str
    limit: int
    jobs: int


def make_payload(experiment: Experiment, read: Mapping[str, LoadedVariant], store: Store, jobs: int) -> Payload:
    """Return the payload from which workers can compute any setting of an experiment."""
    keys = {
        name: (
            each.key,
            {text: key for text, (_, key) in each.texts.items()},
            {text: own.key for text, own in each.strings.items()},
        )
        for name, each in read.items()
    }
    variants = {  # a corpus reader may have the whole corpus in memory
        name: replace(each, collection=replace(each.collection, loaded=None))
        for name, each in experiment.variants.items()
    }
    slim = replace(experiment, variants=variants, diagnostics=(), known=BUILTIN_REGISTRIES, raw={})
    content, plugins = pickle_content((slim, keys)), files_of_plugins(experiment)
    facts = {
        "content": content.hex(),
        "plugins": repr(plugins),
        "store": [store.address, store.limit],
        "of": library_versions(),
    }
    return Payload(store_key(**facts), content, plugins, library_versions(), store.address, store.limit, jobs)


def compute_on_worker(given: Payload, variant: str, task: str, keys: Collection[str]) -> dict[str, Any]:
    """Compute some jobs of a task on a Dask worker, and store the results; see `compute_units`."""
    from distributed import get_worker  # noqa: PLC0415 - imported on workers only

    worker = get_worker()
    name = worker.get_current_task()

    def is_wanted(_: str) -> bool:
        state = worker.state.tasks.get(name)
        return state is not None and state.state != "cancelled"

    return compute_units(given, variant, task, frozenset(keys), is_wanted)


def compute_units(
    given: Payload, variant: str, task: str, keys: frozenset[str], told: Callable[[str], bool]
) -> dict[str, Any]:
    """Compute some jobs of a task and store the results.

    Parameters
    ----------
    given : Payload
        Payload of the experiment.
    variant, task : str
        Names of the variant and task.
    keys : frozenset of str
        Store keys of the jobs.
    told : callable
        Called with each stored key; returns True while a run waits for the other keys.

    Returns
    -------
    dict
        ``failed``: reasons by key; ``lost``: keys that the store couldn't take; ``notes`` and ``details``: messages,
        see `Observer`.

    Raises
    ------
    BenchError
        If this process would compute something else than the sender, or can't read the sender's store.
    """
    notes, details, jobs = list[str](), list[str](), given.jobs or n_processors()
    with _ALONE:
        experiment, read, store = _unpacked_payload(given)
        store.tell(told, notes.append)
        full = _work(given.key, experiment, read, variant, task)
        points = [replace(p, jobs=tuple(job for job in p.jobs if job.key in keys)) for p in full.points]
        work = replace(full, points=tuple(point for point in points if point.jobs))
        if {job.key for point in work.points for job in point.jobs} != keys:
            raise BenchError(
                "a worker computes different keys for results: its simplexbench code differs from that of this machine"
            )
        observer = _Details(details)
        bench = MatrixCache(jobs, cached=KernelCache(store, observer.note))
        walk = TaskExecutor(RunContext(store, observer, jobs), bench)
        try:
            with blas_threads(jobs):
                walk.solve(work)
        finally:
            bench.release()
        lacking = [(job.key, point.place) for point in work.points for job in point.jobs if not store.has(job.key)]
    failed = {key: walk.failed[place] for key, place in lacking if place in walk.failed}
    lost = [key for key, place in lacking if place not in walk.failed]
    return {"failed": failed, "lost": lost, "notes": notes, "details": details}


def check_versions(expected: Mapping[str, str]) -> None:
    """Raise BenchError if the versions differ from the sender's: results would have other keys."""
    here = library_versions()
    differing = {name: each for name, each in expected.items() if here.get(name) != each}
    others = [f"{name} {here.get(name, 'none')}, not {each}" for name, each in differing.items()]
    if others:
        raise BenchError(f"a worker computes with {', '.join(others)}: it needs the versions of this machine")


def _unpacked_payload(payload: Payload) -> tuple[Experiment, dict[str, LoadedVariant], _NotifyingStore]:
    """Return the experiment of a payload, its counts, and its store; unpack them once."""
    if payload.key not in _EXPERIMENTS:
        check_versions(payload.versions)
        let_openmp_threads_sleep()
        _EXPERIMENTS.clear()
        _WORKS.clear()
        store = _NotifyingStore(payload.store if "://" in payload.store else Path(payload.store), payload.limit)
        ensure_numba_cache(lambda _: None)
        unpickled: tuple[Experiment, _CountKeys] = unpickle_content(payload.content, payload.plugins)
        experiment, keys = unpickled
        counts: dict[str, Counts] = {}
        read = {name: _read(store, *each, counts) for name, each in keys.items()}
        _EXPERIMENTS[payload.key] = experiment, read, store
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


def files_of_plugins(experiment: Experiment) -> dict[str, dict[str, bytes]]:
    """Return the files of the plug-ins that an experiment names, see `plugins.loader.plugin_files`."""
    files = {
        origin.file
        for registry in (*dict(experiment.registries.each()).values(), experiment.registries.pipelines)
        for origin in registry.origins.values()
        if origin.file
    }
    return plugin_files(sorted(files))


def pickle_content(content: object) -> bytes:
    """Pickle an experiment, or parts of one; refer to a plug-in's class, or a pipeline, by its name."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> tuple[str, str, str] | None:
            return plugin_name_of(obj) or imported_pipeline_name(obj)

    file = io.BytesIO()
    Pickler(file).dump(content)
    return file.getvalue()


def unpickle_content(content: bytes, plugins: Mapping[str, Mapping[str, bytes]]) -> Any:
    """Return what `pickle_content` pickled in a process of this user, with the classes of these plug-ins' files."""
    loaded = {}
    if plugins:
        _FOLDERS.append(tempfile.TemporaryDirectory(prefix="simplexbench-"))
        loaded = reload_plugins(plugins, Path(_FOLDERS[-1].name))
    known = registries_with_plugins(Path(each.name) for each in loaded.values() if names_component(each))

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, pid: tuple[str, str, str]) -> Any:
            """Return the class that is registered by this name here."""
            file, kind, name = pid
            if kind == "pipelines":
                return pipeline_of_file(loaded[file], name) if file else imported_pipeline(name)
            return getattr(known, kind)[name]

    return Unpickler(io.BytesIO(content)).load()


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


class _NotifyingStore(Store):
    """Store that reports each stored entry, so that another process can read it."""

    def tell(self, on_stored: Callable[[str], bool], warn: Callable[[str], None]) -> None:
        """Set the callbacks, and try again to write to a store that could not be written before."""
        self._on_stored, self._warn, self.writable = on_stored, warn, True

    def put(self, key: str, entry: StoreEntry) -> bool:
        """Store an entry; raise Abandoned if no run waits for the next one."""
        stored = super().put(key, entry)
        if stored and not self._on_stored(key):
            raise Cancelled
        return stored


class _Details(Observer):
    """Observer that collects details; the reply of the worker has the reasons of failed points."""

    def __init__(self, details: list[str]) -> None:
        self._details = details

    def detail(self, text: str) -> None:
        """Append a detail."""
        self._details.append(text)
