"""Methods with users' code: each is computed in a process of its own, those of installed libraries in one together."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.experiment.code_digest import is_stored
from benchmark.experiment.payload import make_payload
from benchmark.experiment.store import Store, StoreEntry
from benchmark.plugins.sending import pickle_by_name
from benchmark.system.errors import BenchError
from benchmark.system.user_classes import plugin_of, user_place
from benchmark.system.user_process import ProcessEndedError, UserCodeError, UserProcess
from benchmark.text.counts import counts_to_arrays

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.experiment.context import LoadedVariant, RunContext
    from benchmark.experiment.settings import PlannedTask, Setting, StoreUnit
    from benchmark.text.counts import Counts


@dataclass(frozen=True, eq=False)
class _Unit:
    """A missing unit of a setting with users' code, and where it stands."""

    variant: str
    task: str
    key: str
    label: str
    setting: Setting

    @property
    def method(self) -> str:
        """The method's label."""
        return self.setting.place.method


class UserMethods:
    """Processes that compute the settings with users' code; see `experiment.context.RemoteExecutor`.

    Parameters
    ----------
    experiment : Experiment
    read : mapping of str to LoadedVariant
        Counts of each variant, which are sent by way of the store, or else of a temporary folder.
    works : iterable of PlannedTask
        All tasks: a method's process computes those of its settings that the store lacks in every task.
    context : RunContext
    """

    def __init__(
        self,
        experiment: Experiment,
        read: Mapping[str, LoadedVariant],
        works: Iterable[PlannedTask],
        context: RunContext,
    ) -> None:
        self._experiment, self._read, self._context = experiment, read, context
        self._results = dict[str, StoreEntry | str]()
        self._left = dict[str, dict[str, _Unit]]()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        for work in works:
            for point in work.points:
                for unit in point.jobs if point.user_classes else ():
                    if not (point.stored and context.store.has(unit.key)):
                        own = self._left.setdefault(_process_of(point), {})
                        own.setdefault(unit.key, _Unit(work.variant, work.task, unit.key, unit.label, point))

    def solved(self, missing: Sequence[tuple[Setting, StoreUnit]]) -> Iterator[tuple[str, StoreEntry | str]]:
        """Yield the keys of units as they are computed, each with its result or the reason of its failure."""
        waiting = {unit.key: _process_of(point) for point, unit in missing if point.user_classes}
        for process in dict.fromkeys(waiting.values()):
            for key in self._computed(self._left.pop(process, {})):
                if key in waiting:
                    del waiting[key]
                    yield key, self._results.pop(key)
        for key in [key for key in waiting if key in self._results]:
            yield key, self._results.pop(key)

    def _computed(self, left: dict[str, _Unit]) -> Iterator[str]:
        """Compute units in a process, and yield their keys; after its end, those of other methods in another one."""
        while left:
            current = next(iter(left.values()))
            try:
                for key, unit in self._answers(left):
                    current = unit
                    if key:
                        del left[key]
                        yield key
                reason = "its process gave no result"  # of units that it didn't know
            except UserCodeError as error:
                reason = str(error)
            except ProcessEndedError as error:
                reason = f"{user_place(current.setting.user_classes[-1])}: {error}"
            for key in [key for key, unit in left.items() if unit.method == current.method]:
                del left[key]
                self._results[key] = reason
                yield key

    def _answers(self, left: Mapping[str, _Unit]) -> Iterator[tuple[str, _Unit]]:
        """Yield the unit that the process begins with, with the key "", and each that it has finished, with its key."""
        tasks = [
            (variant, task, [each.key for each in units])
            for (variant, task), units in groupby(list(left.values()), lambda each: (each.variant, each.task))
        ]
        payload = make_payload(self._experiment, self._read, self._store(), self._context.jobs, with_files=False)
        known, by_label = dict(left), {each.label: each for each in left.values()}
        with UserProcess() as process:
            for kind, value in process.request(pickle_by_name(("solve", payload, tasks))):
                if kind == "now":
                    self._context.observer.now(value)
                    yield "", by_label[value]
                elif kind == "solved":
                    key, self._results[key] = value
                    yield key, known[key]
                elif kind == "detail":
                    self._context.observer.detail(value)
                elif kind == "failed":
                    name, message, details = value
                    if name:  # of none of the methods
                        raise BenchError(message)
                    self._context.observer.detail(details)
                    raise UserCodeError(message)

    def _store(self) -> Store:
        """Return the store, or else a temporary one, which has the counts and texts of all variants."""
        entries = dict[str, Callable[[], StoreEntry]]()
        for each in self._read.values():
            for counts, key in ((each.counts, each.key), *each.texts.values()):
                entries[key] = partial(_entry_of_counts, counts)
            for texts in each.strings.values():
                entries[texts.key] = partial(StoreEntry, {"data": texts.data, "bounds": texts.bounds})
        if all(map(self._context.store.has, entries)):
            return self._context.store
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="simplexbench-")
        store = Store(Path(self._folder.name), limit=1 << 62)
        for key, entry in entries.items():
            if not store.has(key):
                store.put(key, entry())
        return store


def _entry_of_counts(counts: Counts) -> StoreEntry:
    return StoreEntry(*counts_to_arrays(counts))


def _process_of(point: Setting) -> str:
    """Return a name of the process of a setting: its method's, or "" of the libraries'."""
    if any(plugin_of(each) is not None or not is_stored(each) for each in point.user_classes):
        return point.place.method
    return ""


def computed_each_run(works: Iterable[PlannedTask]) -> str:
    """Return the line that names the methods whose results aren't stored, or ""."""
    points = (point for work in works for point in work.points)
    names = dict.fromkeys(point.place.method for point in points if not point.stored)
    return f"computed in each run, since their code says no `stored = True`: {', '.join(names)}" if names else ""
