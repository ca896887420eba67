"""Executors of this machine: this process, and a process of its own for each method with a user's code.

Installed libraries' methods share one process. See `workers.cluster` for Dask.
"""

from __future__ import annotations

from dataclasses import replace
from traceback import format_exception
from typing import TYPE_CHECKING

from benchmark.evaluation.predictions import SettingKey
from benchmark.experiment.code_digest import is_stored
from benchmark.experiment.plan import pack_predictions, plan_batches, predictions_of_unit
from benchmark.plugins.user_process import ProcessEndedError, UserProcess, pickle_by_name
from benchmark.system.errors import BenchError, DataError
from benchmark.system.memory import peak_memory, reset_peak_memory
from benchmark.system.user_classes import locate_error, plugin_of, runs_user_code_here, user_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.experiment.context import Executor, RunContext
    from benchmark.experiment.plan import Batch, Part, PlannedTask, Setting, SettingUnit, StoreUnit, UnitResult
    from benchmark.experiment.store import StoreEntry
    from benchmark.methods.matrix_cache import MatrixCache


def executors_here(context: RunContext, matrices: MatrixCache) -> list[Executor]:
    """Return the executors of this machine: processes of users' code, and this process."""
    local = LocalExecutor(context, matrices)
    return [local] if runs_user_code_here() else [ProcessExecutor(context), local]


class LocalExecutor:
    """Computes units in this process; see `Executor`.

    Parameters
    ----------
    context : RunContext
    matrices : MatrixCache
    """

    def __init__(self, context: RunContext, matrices: MatrixCache) -> None:
        self._observer, self._matrices = context.observer, matrices
        self._failed = dict[SettingKey, str]()

    def solved(self, task: PlannedTask, missing: Sequence[SettingUnit]) -> Iterator[UnitResult]:
        """Yield the key of each unit with its result, or the reason why its setting failed.

        Settings with the same text come one after the other, and among them those that share inner products. Where
        documents have several classes, methods share the models of a split, so all methods compute one split before the
        next.
        """
        for batch in plan_batches(missing, by_split=task.problem.multilabel):
            for setting, units in batch.parts:
                if setting.key in self._failed:
                    yield from ((unit.key, self._failed[setting.key]) for unit in units)
            parts = tuple(part for part in batch.parts if part[0].key not in self._failed)
            for (setting, units), decided in self._decided(replace(batch, parts=parts)) if parts else ():
                for unit, result in zip(units, self._results(setting, units, decided), strict=True):
                    if isinstance(result, str):
                        self._failed[setting.key] = result
                    yield unit.key, result

    def _decided(self, batch: Batch) -> Iterable[tuple[Part, list[SettingPredictions] | BaseException]]:
        """Return each part with its predictions, or the error that it raised."""
        self._observer.now(batch.units[0].label)
        if any(setting.classifies_points for setting, _ in batch.parts):
            self._matrices.release()  # earlier methods' matrices would count as this method's memory
        reset_peak_memory()
        for setting, _ in batch.parts:
            setting.compile()
        try:
            return zip(batch.parts, batch.solve(self._matrices), strict=True)
        except BaseException as error:
            of_user = batch.parts[0][0].user_classes and not isinstance(error, KeyboardInterrupt | MemoryError)
            if not (of_user or isinstance(error, DataError)):  # of a method's own file, such as its vectors
                raise
            return [(part, error) for part in batch.parts]

    def _results(
        self, setting: Setting, units: Sequence[StoreUnit], decided: list[SettingPredictions] | BaseException
    ) -> Iterator[StoreEntry | str]:
        """Yield the entry of each of a setting's units, or the reason why there is none."""
        memory, start, problem = peak_memory(), 0, ""
        if isinstance(decided, BaseException):
            problem, decided = self._reason(setting, units, decided), []
        for unit in units:
            stop = start + len(unit.splits) + sum(map(len, unit.inner))
            if problem:
                yield problem
            elif unit.keeps_values and decided[start].values is None:
                yield "it has no decision value for each class, which a ranking metric needs"
            else:
                yield pack_predictions(predictions_of_unit(unit, decided[start:stop], setting.problem, memory))
            start = stop

    def _reason(self, setting: Setting, units: Sequence[StoreUnit], error: BaseException) -> str:
        """Return an error of a method in a line, with the line of the user's code that raised it."""
        reason = locate_error(error, short=True)
        if setting.user_classes:  # the traceback is for its author
            self._observer.detail("".join(format_exception(error)))
            if not reason and not isinstance(error, ValueError | FloatingPointError | BenchError):
                reason = locate_error(error, user_place(setting.user_classes[-1]))
        reason = reason or str(error)
        return f"{units[0].splits[0].name}: {reason}" if len(units) == len(units[0].splits) == 1 else reason


class ProcessExecutor:
    """Computes the settings with users' code, each method in a process of its own; see `Executor`.

    Parameters
    ----------
    context : RunContext
    """

    def __init__(self, context: RunContext) -> None:
        self._context, self._name = context, ""
        self._process = UserProcess()  # one at a time is in memory

    def solved(self, task: PlannedTask, missing: Sequence[SettingUnit]) -> Iterator[UnitResult]:
        """Yield the keys of units as they are computed, each with its result or the reason of its failure."""
        processes: dict[str, dict[str, SettingUnit]] = {}
        for setting, unit in missing:
            if setting.user_classes:
                processes.setdefault(_process_of(setting), {})[unit.key] = setting, unit
        for name, left in processes.items():
            if name != self._name:
                self._process.close()
                self._name = name
            while left:
                yield from self._computed(task, left)

    def _computed(self, task: PlannedTask, left: dict[str, SettingUnit]) -> Iterator[UnitResult]:
        """Compute units in a process; if that ends, the method fails that it was at."""
        observer, settings = self._context.observer, {unit.label: setting for setting, unit in left.values()}
        current, reason = next(iter(settings.values())), "its process gave no result"
        request = pickle_by_name(("solve", task.of_units(left), self._context.store, self._context.jobs))
        try:
            for kind, value in self._process.request(request):
                if kind == "now":
                    current = settings[value]
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
        for key in [key for key, (setting, _) in left.items() if setting.key.method == current.key.method]:
            del left[key]
            yield key, reason


def _process_of(setting: Setting) -> str:
    """Return a name of the process of a setting: its method's, or "" of the libraries'."""
    if any(plugin_of(each) is not None or not is_stored(each) for each in setting.user_classes):
        return setting.key.method
    return ""
