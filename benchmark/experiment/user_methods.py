"""Methods with users' code: each is computed in a process of its own, those of installed libraries in one together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.experiment.code_digest import is_stored
from benchmark.experiment.payload import make_payload
from benchmark.plugins.sending import pickle_by_name
from benchmark.system.errors import BenchError
from benchmark.system.user_classes import plugin_of, user_place
from benchmark.system.user_process import ProcessEndedError, UserProcess

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.experiment.context import LoadedVariant, RunContext
    from benchmark.experiment.settings import PlannedTask, Setting, StoreUnit
    from benchmark.experiment.store import StoreEntry


class UserMethods:
    """Processes that compute the settings with users' code; see `experiment.context.Executor`.

    Parameters
    ----------
    experiment : Experiment
    read : mapping of str to LoadedVariant
    context : RunContext
    """

    def __init__(self, experiment: Experiment, read: Mapping[str, LoadedVariant], context: RunContext) -> None:
        self._experiment, self._read, self._context = experiment, read, context
        self._latest: tuple[str, UserProcess] | None = None

    def solved(
        self, work: PlannedTask, missing: Sequence[tuple[Setting, StoreUnit]]
    ) -> Iterator[tuple[str, StoreEntry | str]]:
        """Yield the keys of units as they are computed, each with its result or the reason of its failure."""
        processes: dict[str, dict[str, tuple[Setting, StoreUnit]]] = {}
        for point, unit in missing:
            if point.user_classes:
                processes.setdefault(_process_of(point), {})[unit.key] = point, unit
        for name, left in processes.items():
            while left:
                yield from self._computed(name, work, left)

    def _computed(
        self, name: str, work: PlannedTask, left: dict[str, tuple[Setting, StoreUnit]]
    ) -> Iterator[tuple[str, StoreEntry | str]]:
        """Compute units in a process; if that ends, the method fails that it was at."""
        observer, points = self._context.observer, {unit.label: point for point, unit in left.values()}
        current, reason = next(iter(points.values())), "its process gave no result"
        process = self._process(name)
        given = self._experiment, self._read, self._context.store, self._context.jobs
        request = pickle_by_name(("solve", make_payload(*given, with_files=False), work.variant, work.task, list(left)))
        try:
            for kind, value in process.request(request):
                if kind == "now":
                    current = points[value]
                    observer.now(value)
                elif kind == "solved":
                    del left[value[0]]
                    yield value
                elif kind == "detail":
                    observer.detail(value)
                elif kind == "failed":
                    of_ours, reason, details = value
                    if of_ours:  # of none of the methods
                        raise BenchError(reason)
                    observer.detail(details)
        except ProcessEndedError as error:
            reason = f"{user_place(current.user_classes[-1])}: {error}"
        for key in [key for key, (point, _) in left.items() if point.place.method == current.place.method]:
            del left[key]
            yield key, reason

    def _process(self, name: str) -> UserProcess:
        """Return the latest process if it has this name, or else another: one at a time is in memory."""
        if self._latest is not None:
            latest, process = self._latest
            if latest == name and not process.ended:
                return process
            process.close()
        self._latest = name, UserProcess()
        return self._latest[1]


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
