"""An experiment as workers are sent it, and what a worker does: solve points, and put what they give into the store."""

from __future__ import annotations

import io
import pickle
import tempfile
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.blocks import blas_threads
from benchmark.compiled import ensure_usable
from benchmark.environment import share_machine
from benchmark.errors import BenchError
from benchmark.experiment.context import RunContext
from benchmark.experiment.kernel_cache import KernelCache
from benchmark.experiment.manifest import versions
from benchmark.experiment.reading import Read
from benchmark.experiment.runner import Walk, works_of
from benchmark.experiment.session import default_jobs
from benchmark.experiment.store import Store, key_of
from benchmark.foreign import files_of, loaded_again, named_by
from benchmark.methods.workbench import Workbench
from benchmark.observer import Observer
from benchmark.plugins.gathering import SHIPPED, with_plugins
from benchmark.text.counts import unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from benchmark.config.model import Experiment, Text
    from benchmark.experiment.store import Entry
    from benchmark.experiment.work import TaskWork
    from benchmark.text.counts import Counts

#: One group at a time: the cores of a process have one owner, however many threads Dask has in it.
_ALONE = threading.Lock()
#: The experiment that was sent last, with its counts and its store, by its key; and the tasks that were worked on last.
_STUDIES: dict[str, tuple[Experiment, dict[str, Read], _Telling]] = {}
_WORKS: dict[tuple[str, str, str], TaskWork] = {}
MOST_WORKS = 4
#: Where plug-ins are written to, for as long as this process lives.
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


class Abandoned(Exception):  # noqa: N818 - nothing went wrong
    """Nobody waits for it any more."""


@dataclass(frozen=True)
class Sent:
    """An experiment without its corpus: that is in the store, as counts.

    Parameters
    ----------
    key : str
    content : bytes
        Pickled: the experiment, and the store's keys of its counts. Unpickled where the versions are the sender's.
    plugins : mapping
        The files that its components are from, see `foreign.files_of`.
    versions : dict of str to str
        Of what the sender computes with.
    store : str
        Its address.
    limit : int
        Bytes that the store may have.
    jobs : int
        Threads; 0 takes all processors.
    """

    key: str
    content: bytes = field(repr=False)
    plugins: Mapping[str, Mapping[str, bytes]] = field(repr=False)
    versions: dict[str, str] = field(repr=False)
    store: str
    limit: int
    jobs: int


def sent(study: Experiment, read: Mapping[str, Read], store: Store, jobs: int) -> Sent:
    """What workers need to solve any point of an experiment."""
    files = {
        origin.file for _, registry in study.registries.each() for origin in registry.origins.values() if origin.file
    }
    keys = {name: (each.key, {text: key for text, (_, key) in each.texts.items()}) for name, each in read.items()}
    variants = {  # what reads the corpus may hold all that it has seen of it
        name: replace(each, collection=replace(each.collection, loaded=None)) for name, each in study.variants.items()
    }
    slim = replace(study, variants=variants, measures=(), known=SHIPPED, raw={})
    content, plugins = _pickled((slim, keys)), files_of(sorted(files))
    told = {"content": content.hex(), "plugins": repr(plugins), "store": [store.address, store.limit], "of": versions()}
    return Sent(key_of(**told), content, plugins, versions(), store.address, store.limit, jobs)


def on_a_worker(given: Sent, variant: str, task: str, keys: Collection[str]) -> dict[str, Any]:
    """Solve some jobs of a task, on a worker of Dask, and keep what they give in the store; see `solve`."""
    from distributed import get_worker  # noqa: PLC0415 - only workers have it

    worker = get_worker()
    name = worker.get_current_task()

    def wanted(_: str) -> bool:
        state = worker.state.tasks.get(name)
        return state is not None and state.state != "cancelled"

    return solve(given, variant, task, frozenset(keys), wanted)


def solve(given: Sent, variant: str, task: str, keys: frozenset[str], told: Callable[[str], bool]) -> dict[str, Any]:
    """Solve some jobs of a task and keep what they give.

    Parameters
    ----------
    given : Sent
    variant, task : str
    keys : frozenset of str
        Those of the jobs.
    told : callable
        Told of every key that was kept; says whether anyone still waits for the others.

    Returns
    -------
    dict
        Reasons of what ``failed``, by key; keys that are ``lost``, since the store can't be written; ``notes``, and
        ``details``, see `Observer`.

    Raises
    ------
    BenchError
        If this process would compute something else than the sender, or has no way to its store.
    """
    notes, details, jobs = list[str](), list[str](), given.jobs or default_jobs()
    with _ALONE:
        study, read, store = _known(given)
        store.tell(told, notes.append)
        whole = _work(given.key, study, read, variant, task)
        points = [replace(p, jobs=tuple(job for job in p.jobs if job.key in keys)) for p in whole.points]
        work = replace(whole, points=tuple(point for point in points if point.jobs))
        if {job.key for point in work.points for job in point.jobs} != keys:
            raise BenchError("a worker names results otherwise: its code of simplexbench isn't that of this machine")
        observer = _Details(details)
        bench = Workbench(jobs, cached=KernelCache(store, observer.note))
        walk = Walk(RunContext(store, observer, jobs), bench)
        try:
            with blas_threads(jobs):
                walk.solve(work)
        finally:
            bench.release()
        lacking = [(job.key, point.place) for point in work.points for job in point.jobs if not store.has(job.key)]
    failed = {key: walk.failed[place] for key, place in lacking if place in walk.failed}
    lost = [key for key, place in lacking if place not in walk.failed]
    return {"failed": failed, "lost": lost, "notes": notes, "details": details}


def refuse_others(expected: Mapping[str, str]) -> None:
    """Refuse to compute with other versions than the sender's: results would bear other names."""
    here = versions()
    differing = {name: each for name, each in expected.items() if here.get(name) != each}
    others = [f"{name} {here.get(name, 'none')}, not {each}" for name, each in differing.items()]
    if others:
        raise BenchError(f"a worker computes with {', '.join(others)}: it needs the versions of this machine")


def _known(given: Sent) -> tuple[Experiment, dict[str, Read], _Telling]:
    """What was sent, its counts, and its store: asked for once."""
    if given.key not in _STUDIES:
        refuse_others(given.versions)
        share_machine()
        _STUDIES.clear()
        _WORKS.clear()
        store = _Telling(given.store if "://" in given.store else Path(given.store), given.limit)
        ensure_usable(lambda _: None)
        study, keys = _unpickled(given)
        counts: dict[str, Counts] = {}
        read = {name: _read(store, *each, counts) for name, each in keys.items()}
        _STUDIES[given.key] = study, read, store
    return _STUDIES[given.key]


def _work(key: str, study: Experiment, read: Mapping[str, Read], variant: str, task: str) -> TaskWork:
    """All of a task, as the sender has it."""
    if (key, variant, task) not in _WORKS:
        whole = study.variants[variant]
        own = replace(whole, tasks=tuple(each for each in whole.tasks if each.name == task))
        (_WORKS[key, variant, task],) = works_of(replace(study, variants={variant: own}), read)
        if len(_WORKS) > MOST_WORKS:
            del _WORKS[next(iter(_WORKS))]
    return _WORKS[key, variant, task]


def _pickled(content: object) -> bytes:
    """Pickle an experiment; a plug-in's class by the name that its plug-in gives it."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, obj: Any) -> tuple[str, str, str] | None:
            return named_by(obj)

    file = io.BytesIO()
    Pickler(file).dump(content)
    return file.getvalue()


def _unpickled(given: Sent) -> tuple[Experiment, dict[str, tuple[str, dict[Text, str]]]]:
    plugins = {}
    if given.plugins:
        _FOLDERS.append(tempfile.TemporaryDirectory(prefix="simplexbench-"))
        plugins = loaded_again(given.plugins, Path(_FOLDERS[-1].name))
    known = with_plugins(Path(each.name) for each in plugins.values())

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, pid: tuple[str, str, str]) -> Any:
            """Return the class that a plug-in names so here."""
            return getattr(known, pid[1])[pid[2]]

    found: tuple[Experiment, Any] = Unpickler(io.BytesIO(given.content)).load()
    return found


def _read(store: Store, key: str, texts: Mapping[Text, str], known: dict[str, Counts]) -> Read:
    """The counts of a variant from the store; those of the same key are held once."""

    def of(key: str) -> Counts:
        if key not in known:
            entry = store.get(key)
            if entry is None:
                missing = "the counts of the documents aren't there: it must be a folder, or an address, that all share"
                raise BenchError(f"a worker has no way to the store {store.address}: {missing}")
            known[key] = unpacked(entry.arrays, entry.facts)
        return known[key]

    counts = of(key)
    own = {text: (replace(of(each), documents=counts.documents), each) for text, each in texts.items()}
    return Read(counts, key, {}, own)


class _Telling(Store):
    """A store that tells of each entry that it keeps, so that another process may read it."""

    def tell(self, told: Callable[[str], bool], warn: Callable[[str], None]) -> None:
        """Whom, from now on; and try again to keep what could not be kept before."""
        self._told, self._warn, self.writable = told, warn, True

    def put(self, key: str, entry: Entry) -> bool:
        """Keep an entry; Abandoned where nobody waits for what comes after it."""
        kept = super().put(key, entry)
        if kept and not self._told(key):
            raise Abandoned
        return kept


class _Details(Observer):
    """Keeps what only who asks for it should see; why a point failed is in the reply."""

    def __init__(self, details: list[str]) -> None:
        self._details = details

    def detail(self, text: str) -> None:
        """Keep it."""
        self._details.append(text)
