"""A configuration to predictions, through all stages; results of earlier runs come from the store.

A method with a user's code is computed by a process of its own, one of an installed library by a process that such
methods share, and all others by this process, unless there are workers (see `workers.processes`).
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from itertools import product
from traceback import format_exception
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from benchmark.analysis.scoring import RunPredictions
from benchmark.config.model import BASE_VARIANT
from benchmark.diagnostics.base import DiagnosticContext, DiagnosticNumbers, compute_checked
from benchmark.evaluation.predictions import (
    NEAR_DUPLICATES,
    SHARED_GROUPS,
    Predictions,
    SettingKey,
    SettingPredictions,
    SplitKey,
    TaskDocuments,
    TaskKey,
    TestedSplit,
)
from benchmark.experiment.code_digest import imported_modules, is_stored
from benchmark.experiment.counting import read_variants
from benchmark.experiment.plan import StoreUnit, plan_batches, plan_task, unpack_predictions
from benchmark.experiment.store import StoreEntry
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.plugins.user_process import ProcessEndedError, UserProcess, pickle_by_name
from benchmark.system.errors import BenchError, ConfigError, DataError
from benchmark.system.memory import peak_memory, reset_peak_memory
from benchmark.system.numba_jit import compile_all
from benchmark.system.row_blocks import blas_threads
from benchmark.system.user_classes import (
    guarded,
    is_builtin,
    locate_error,
    plugin_of,
    runs_user_code_here,
    source_location,
)
from benchmark.text.duplicates import near_duplicates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.diagnostics.base import Arrays
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.counting import LoadedVariant
    from benchmark.experiment.plan import Batch, PlannedTask, Setting
    from benchmark.experiment.store import Store

#: A unit's predictions as stored, or the reason why there are none.
UnitResult: TypeAlias = StoreEntry | str
#: The largest number of splits that are searched; repeated draws from one collection are not searched.
MAX_DUPLICATE_SPLITS = 20


def run_experiment(experiment: Experiment, context: RunContext) -> RunPredictions:
    """Compute every setting that the store lacks, by workers where that is possible, or here.

    Raises
    ------
    DataError
        If the corpus is missing or isn't the one its card and the configuration describe.
    ConfigError
        If a variant has fewer words than terms to select; nothing is trained then.
    """
    read = read_variants(experiment, context)
    tasks, local = list(plan_tasks(experiment, read)), LocalExecutor(context)
    predictions, failures, from_store = Predictions({}, {}, {}, {}), dict[str, str](), set[SettingKey]()
    if unstored := dict.fromkeys(each.key.method for task in tasks for each in task.settings if not each.stored):
        line = "computed in each run, since their code says no `stored = True`"
        context.observer.note(f"{line}: {', '.join(unstored)}")
    # One owner of the cores at a time: threads of ours run LIBSVM and the links; methods see to numba's.
    with blas_threads(context.jobs):
        for later, task in zip(reversed(range(len(tasks))), tasks, strict=True):
            context.observer.plan(len(task.units), later=later * len(task.units))  # tasks have about as many each
            key, documents = TaskKey(task.variant, task.task), task.problem.documents
            splits, near = tested_splits(task, search=not predictions.tasks)
            if not predictions.tasks:
                read[task.variant].facts["near_duplicates"] = near
            truth = documents.labels if documents.topics is None else documents.topics
            predictions.tasks[key] = TaskDocuments(documents.ids, documents.classes, truth)
            predictions.splits.update({SplitKey(*key, size): each for size, each in splits.items()})
            solved = list(solve_task(task, context, local))
            results, known = {key: result for key, result, _ in solved}, {key for key, _, stored in solved if stored}
            for setting, units in task.settings.items():
                entries = [results[unit.key] for unit in units]
                if reasons := [entry for entry in entries if isinstance(entry, str)]:
                    failures[setting.key.name] = reasons[0]
                    continue
                unpacked = [unpack_predictions(entry) for entry in entries if isinstance(entry, StoreEntry)]
                predictions.settings[setting.key] = SettingPredictions.joined(unpacked)
                if known.issuperset(unit.key for unit in units):
                    from_store.add(setting.key)
        local.matrices.release()
        diagnostics, failed = compute_diagnostics(experiment, read, context)
    predictions.diagnostics.update({(name, variant): each.arrays for name, variant, each in diagnostics})
    facts = {name: variant.facts for name, variant in read.items()}
    return RunPredictions(experiment, predictions, failures | failed, facts, context.jobs, from_store, diagnostics)


def plan_tasks(experiment: Experiment, read: Mapping[str, LoadedVariant]) -> Iterator[PlannedTask]:
    """Yield the settings to compute, task by task."""
    for name, variant in experiment.variants.items():
        for task in variant.tasks:
            yield plan_task(experiment, variant, task, read[name])


def tested_splits(
    task: PlannedTask, *, search: bool
) -> tuple[dict[int | None, tuple[TestedSplit, ...]], list[dict[str, Any]]]:
    """Return the splits of every size as scores see them.

    If `search`, also return the number of each split's test documents with a near-duplicate among its training
    documents, with an example; nothing if there are many splits, or points, which have no words in common.
    """
    members, ids, groups = task.problem.members, task.problem.documents.ids, task.problem.documents.groups
    matrix = task.problem.counts.matrix
    search &= sum(map(len, task.splits.values())) <= MAX_DUPLICATE_SPLITS and matrix.dtype.kind != "f"
    found, near = defaultdict[int | None, tuple[TestedSplit, ...]](tuple), list[dict[str, Any]]()
    for size, split in ((size, split) for size, splits in task.splits.items() for split in splits):
        leaks = {}
        if search:
            like, _ = near_duplicates(matrix, split.train, split.test)
            which = np.flatnonzero(like >= 0)
            leaks[NEAR_DUPLICATES] = split.test[which]
            pairs = [[ids[split.test[n]], ids[like[n]]] for n in which[:1]]
            near.append({"split": split.name, "near": len(which), "such_as": pairs})
        if groups is not None:
            leaks[SHARED_GROUPS] = split.test[np.isin(groups[split.test], groups[split.train])]
        trained = members[split.train].sum(axis=0, dtype=np.int64)
        found[size] += (TestedSplit(split.name, split.test, trained, leaks),)
    return dict(found), near


# --- Settings ---


def solve_task(task: PlannedTask, context: RunContext, local: LocalExecutor) -> Iterator[tuple[str, UnitResult, bool]]:
    """Compute the units of a task that the store lacks, and store those that are to be stored.

    Parameters
    ----------
    task : PlannedTask
    context : RunContext
    local : LocalExecutor
        Gets the units that the workers of the run, if there are any, have left.

    Yields
    ------
    str, StoreEntry or str, bool
        Each unit's key, its result or the reason why there is none, and whether the result was in the store.
    """
    store, observer = context.store, context.observer
    units, failed = defaultdict[str, list[StoreUnit]](list), set[SettingKey]()
    for unit in task.units:  # several settings may have the same key
        units[unit.key].append(unit)
    left = {key: unit for key, (unit, *_) in units.items()}

    def done(key: str, result: UnitResult, *, stored: bool) -> tuple[str, UnitResult, bool]:
        del left[key]
        for unit in units[key]:
            if isinstance(result, str) and unit.setting.key not in failed:
                failed.add(unit.setting.key)
                observer.note(f"{unit.setting.key.name} failed: {result}")
            observer.step(unit.label, stored=stored)
        return key, result, stored

    for key, unit in list(left.items()):
        if unit.setting.stored and (entry := store.get(key)) is not None:
            yield done(key, entry, stored=True)
    for executor in filter(None, (context.workers, local)):
        for key, result in executor.solved(task, list(left.values())) if left else ():
            if not isinstance(result, str) and left[key].setting.stored and not store.has(key):
                store.put(key, result)
            yield done(key, result, stored=False)


class LocalExecutor:
    """Computes units on this machine; see `Executor`.

    Parameters
    ----------
    context : RunContext

    Attributes
    ----------
    matrices : MatrixCache
        Matrices of the methods that this process computes.
    """

    def __init__(self, context: RunContext) -> None:
        self._context, self.matrices = context, MatrixCache(context.jobs, cached=context.store.cached_arrays)
        self._process, self._process_name = UserProcess(), ""  # one at a time is in memory

    def solved(self, task: PlannedTask, missing: Sequence[StoreUnit]) -> Iterator[tuple[str, UnitResult]]:
        """Yield the key of each unit with its result, or the reason why its setting failed."""
        here, processes = list[StoreUnit](), defaultdict[str, dict[str, StoreUnit]](dict)
        for unit in missing:
            if unit.setting.user_classes and not runs_user_code_here():
                processes[_process_name(unit.setting)][unit.key] = unit
            else:
                here.append(unit)
        for name, left in processes.items():
            if name != self._process_name:
                self._process.close()
                self._process_name = name
            while left:
                yield from self._solved_in_process(task, left)
        for batch in plan_batches(here):
            yield from self._solved_here(batch)

    def _solved_in_process(self, task: PlannedTask, left: dict[str, StoreUnit]) -> Iterator[tuple[str, UnitResult]]:
        """Compute units in a process; if that ends, the method fails that it was at."""
        context, settings = self._context, {unit.label: unit.setting for unit in left.values()}
        current, reason = next(iter(settings.values())), "its process gave no result"
        request = pickle_by_name(("solve", task.of_units(left), context.store, context.jobs))
        try:
            for kind, value in self._process.request(request):
                if kind == "now":
                    current = settings[value]
                    context.observer.now(value)
                elif kind == "solved":
                    del left[value[0]]
                    yield value
                elif kind == "detail":
                    context.observer.detail(value)
                elif kind == "failed":
                    of_ours, reason, details = value
                    if of_ours:  # of none of the methods
                        raise BenchError(reason)
                    context.observer.detail(details)
        except ProcessEndedError as error:
            reason = f"{source_location(current.user_classes[-1], short=True)}: {error}"
        for key in [key for key, unit in left.items() if unit.setting.key.method == current.key.method]:
            del left[key]
            yield key, reason

    def _solved_here(self, batch: Batch) -> Iterator[tuple[str, UnitResult]]:
        """Yield the keys of units with their predictions as stored, or the reason why there are none."""
        settings = {unit.setting: None for unit in batch.units}
        self._context.observer.now(batch.units[0].label)
        if any(setting.classifies_points for setting in settings):
            self.matrices.release()  # earlier methods' matrices would count as this method's memory
        reset_peak_memory()
        classes = [each for setting in settings for each in setting.classes]
        compile_all(imported_modules(*classes, MatrixCache)[0])  # before a clock is started
        try:
            solved = batch.solve(self.matrices)
        except BaseException as error:
            of_user = batch.units[0].setting.user_classes and not isinstance(error, KeyboardInterrupt | MemoryError)
            if not (of_user or isinstance(error, DataError)):  # of a method's own file, such as its vectors
                raise
            solved = [(unit, error) for unit in batch.units]
        memory, errors = peak_memory(), {id(found): found for _, found in solved if isinstance(found, BaseException)}
        for each in errors.values() if any(setting.user_classes for setting in settings) else ():
            self._context.observer.detail("".join(format_exception(each)))  # for the author of the code
        for unit, found in solved:
            if isinstance(found, BaseException):
                yield unit.key, self._reason(unit, found)
            elif unit.keeps_values and found[0].values is None:
                yield unit.key, "it has no decision value for each class, which a ranking metric needs"
            else:
                yield unit.key, unit.entry(found, memory)

    def _reason(self, unit: StoreUnit, error: BaseException) -> str:
        """Return an error of a method in a line, with the line of the user's code that raised it."""
        place, classes = "", unit.setting.user_classes
        if classes and not isinstance(error, ValueError | FloatingPointError | BenchError):
            place = source_location(classes[-1], short=True)
        reason = locate_error(error, place, short=True) or str(error)
        of_one = len(unit.splits) == 1 and not unit.setting.classifies_points
        return f"{unit.splits[0].name}: {reason}" if of_one else reason


def _process_name(setting: Setting) -> str:
    """Return a name of the process of a setting: its method's, or "" of the libraries'."""
    if any(plugin_of(each) is not None or not is_stored(each) for each in setting.user_classes):
        return setting.key.method
    return ""


# --- Diagnostics ---


def compute_diagnostics(
    experiment: Experiment, read: Mapping[str, LoadedVariant], context: RunContext
) -> tuple[tuple[tuple[str, str, DiagnosticNumbers], ...], dict[str, str]]:
    """Compute every diagnostic on every variant; return numbers with both names, and errors by label."""
    found = list[tuple[str, str, DiagnosticNumbers]]()
    failures: dict[str, str] = {}
    for component, variant in product(experiment.diagnostics, experiment.variants.values()):
        if variant.name != BASE_VARIANT and component.tags.base_only:
            continue
        context.observer.plan(1)
        counts, key, cls = read[variant.name].counts, read[variant.name].key, component.cls
        named = (part.cls for entry in variant.entries for spec in entry.candidates for part in spec.components)
        users = (each for each in named if not is_builtin(each))
        once = partial(_arrays_of_counts, context.store, component.name, [cls, *users], key)
        shown = variant if is_builtin(cls) else variant.without_corpus
        described = DiagnosticContext(counts, shown, experiment.seed, context.jobs, once)
        label = component.name if variant.name == BASE_VARIANT else f"{variant.name}-{component.name}"
        compile_all(imported_modules(cls)[0])
        try:
            with guarded([cls], ValueError, short=True):
                numbers = compute_checked(component.build(), described, whole=not experiment.only)
            found.append((component.name, variant.name, numbers))
        except (ValueError, FloatingPointError, RuntimeError, ConfigError) as error:
            failures[label] = str(error)
            context.observer.note(f"{label} failed: {error}")
        context.observer.step(label)
    return tuple(found), failures


def _arrays_of_counts(
    store: Store, about: str, components: Sequence[type], counts: str, content: Mapping[str, Any], *compute: Any
) -> Arrays:
    return store.cached_arrays(about, components, {"counts": counts, **content}, *compute)
