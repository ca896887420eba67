"""A configuration to predictions, through all stages; results of earlier runs come from the store."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.scoring import RunPredictions
from benchmark.config.model import BASE_VARIANT
from benchmark.diagnostics.base import DiagnosticContext, DiagnosticNumbers, compute_checked
from benchmark.evaluation.predictions import Predictions, SettingKey, SettingPredictions, SplitKey, TaskKey
from benchmark.experiment.code_digest import code_digest, imported_modules, is_stored
from benchmark.experiment.counting import read_variants
from benchmark.experiment.executors import executors_here
from benchmark.experiment.plan import component_classes, plan_task, rows_digest, unpack_predictions
from benchmark.experiment.store import KernelCache, StoreEntry, store_key
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.system.errors import ConfigError
from benchmark.system.numba_jit import compile_all
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads
from benchmark.system.tags import tags_of
from benchmark.system.user_classes import guarded
from benchmark.text.duplicates import near_duplicates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import Experiment
    from benchmark.diagnostics.base import Arrays, Diagnostic
    from benchmark.evaluation.splits import Split
    from benchmark.experiment.context import Executor, RunContext
    from benchmark.experiment.counting import LoadedVariant
    from benchmark.experiment.plan import PlannedTask
    from benchmark.experiment.store import Store

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
    tasks = list(plan_tasks(experiment, read))
    predictions, failures, stored = Predictions({}, {}, {}, {}), dict[str, str](), set[SettingKey]()
    left = sum(len(variant.tasks) for variant in experiment.variants.values())
    cache = KernelCache(context.store)
    matrices = MatrixCache(context.jobs, cached=cache)
    executors = [*filter(None, [context.workers]), *executors_here(context, matrices)]
    if unstored := dict.fromkeys(each.key.method for task in tasks for each in task.settings if not each.stored):
        line = "computed in each run, since their code says no `stored = True`"
        context.observer.note(f"{line}: {', '.join(unstored)}")
    # One owner of the cores at a time: threads of ours run LIBSVM and the links; methods see to numba's.
    with blas_threads(context.jobs):
        for task in tasks:
            steps, left = sum(len(setting.units) for setting in task.settings), left - 1
            context.observer.plan(steps, later=left * steps)  # tasks have about as many each
            near: list[NDArray[np.intp]] = []
            if not predictions.tasks:
                read[task.variant].facts["near_duplicates"], near = find_near_duplicates(task, context.store)
            predictions.tasks[TaskKey(task.variant, task.task)] = task.documents
            for size, splits in task.tested(near):
                predictions.splits[SplitKey(task.variant, task.task, size)] = splits
            results, known = solve_task(task, context, executors)
            for setting in task.settings:
                entries = [results[unit.key] for unit in setting.units]
                if reasons := [entry for entry in entries if isinstance(entry, str)]:
                    failures[setting.key.name] = reasons[0]
                    continue
                unpacked = [unpack_predictions(entry) for entry in entries if isinstance(entry, StoreEntry)]
                predictions.settings[setting.key] = SettingPredictions.joined(unpacked)
                if known.issuperset(unit.key for unit in setting.units):
                    stored.add(setting.key)
        matrices.release()
        if cache.n_found:
            context.observer.note(f"{cache.n_found:,} of the kernels' models came from the store.")
        diagnostics, failed = compute_diagnostics(experiment, read, context)
    predictions.diagnostics.update({(name, variant): each.arrays for name, variant, each in diagnostics})
    facts = {name: variant.facts for name, variant in read.items()}
    return RunPredictions(experiment, predictions, failures | failed, facts, context.jobs, stored, diagnostics)


def plan_tasks(experiment: Experiment, read: Mapping[str, LoadedVariant]) -> Iterator[PlannedTask]:
    """Yield the settings to compute, task by task."""
    for name, variant in experiment.variants.items():
        for task in variant.tasks:
            yield plan_task(experiment, variant, task, read[name])


def solve_task(
    task: PlannedTask,
    context: RunContext,
    executors: Iterable[Executor],
    on_result: Callable[[str, StoreEntry | str], object] = lambda *_: None,
) -> tuple[dict[str, StoreEntry | str], set[str]]:
    """Compute the units of a task that the store lacks, and store those that are to be stored.

    Parameters
    ----------
    task : PlannedTask
    context : RunContext
    executors : iterable of Executor
        Each gets the units that those before it have left.
    on_result : callable
        Called with each unit's key, and its result or the reason why there is none.

    Returns
    -------
    dict of str to StoreEntry or str
        Results by key.
    set of str
        Keys of those that were in the store.
    """
    store, observer, units = context.store, context.observer, task.units
    results: dict[str, StoreEntry | str] = {}
    failed = set[SettingKey]()

    def note(key: str, result: StoreEntry | str, *, stored: bool) -> None:
        results[key] = result
        for setting, unit in units[key]:
            if isinstance(result, str) and setting.key not in failed:
                failed.add(setting.key)
                observer.note(f"{setting.key.name} failed: {result}")
            observer.step(unit.label, stored=stored)
        on_result(key, result)

    for key, ((setting, _), *_) in units.items():
        entry = store.get(key) if setting.stored else None
        if entry is not None:
            note(key, entry, stored=True)
    known = set(results)
    for executor in executors:
        missing = [listed[0] for key, listed in units.items() if key not in results]
        for key, result in executor.solved(task, missing) if missing else ():
            if not isinstance(result, str) and units[key][0][0].stored and not store.has(key):
                store.put(key, result)
            note(key, result, stored=False)
    return results, known


def find_near_duplicates(task: PlannedTask, store: Store) -> tuple[list[dict[str, Any]], list[NDArray[np.intp]]]:
    """Find each split's test documents with a near-duplicate among its training documents.

    Returns
    -------
    list of dict
        Number of each split, with an example; empty if no split was searched.
    list of intp array
        Rows of these documents in each split.
    """
    splits = [split for each in task.splits.values() for split in each]
    matrix, ids = task.problem.counts.matrix, task.problem.documents.ids
    if len(splits) > MAX_DUPLICATE_SPLITS or matrix.dtype.kind == "f":  # points have no words in common
        return [], []

    def searched(split: Split) -> StoreEntry:
        return StoreEntry({"like": near_duplicates(matrix, split.train, split.test)[0]})

    found, rows_of = [], []
    for split in splits:
        content = {"problem": task.problem.key, "rows": rows_digest(split)}
        key = store_key(stage="near-duplicates", code=code_digest(near_duplicates), **content)
        like = store.cached(key, partial(searched, split)).arrays["like"]
        which = np.flatnonzero(like >= 0)
        rows_of.append(split.test[which])
        pairs = [[ids[split.test[n]], ids[like[n]]] for n in which[:1]]
        found.append({"split": split.name, "near": len(which), "such_as": pairs})
    return found, rows_of


def compute_diagnostics(
    experiment: Experiment, read: Mapping[str, LoadedVariant], context: RunContext
) -> tuple[tuple[tuple[str, str, DiagnosticNumbers], ...], dict[str, str]]:
    """Compute every diagnostic on every variant; return numbers with both names, and errors by label."""
    found = list[tuple[str, str, DiagnosticNumbers]]()
    failures: dict[str, str] = {}
    for name, variant_name, built in diagnostics_of(experiment):
        context.observer.plan(1)
        loaded, variant = read[variant_name], experiment.variants[variant_name]
        classes = [cls for entry in variant.entries for spec in entry.candidates for cls in component_classes(spec)]
        parts = [type(built), *(each for each in classes if not is_builtin(each))]
        shown = variant if is_builtin(type(built)) else variant.without_corpus
        once = partial(_cached_arrays, context.store, parts, loaded.key)
        described = DiagnosticContext(loaded.counts, shown, experiment.seed, context.jobs, once)
        label = name if variant_name == BASE_VARIANT else f"{variant_name}-{name}"
        compile_all(imported_modules(type(built))[0])
        try:
            with guarded([type(built)], ValueError, short=True):
                found.append((name, variant_name, compute_checked(built, described, whole=not experiment.only)))
        except (ValueError, FloatingPointError, RuntimeError, ConfigError) as error:
            failures[label] = str(error)
            context.observer.note(f"{label} failed: {error}")
        context.observer.step(label)
    return tuple(found), failures


def diagnostics_of(experiment: Experiment) -> Iterator[tuple[str, str, Diagnostic]]:
    """Yield name, variant and object of each diagnostic to compute."""
    for component in experiment.diagnostics:
        built: Diagnostic = component.build()
        for variant in experiment.variants:
            if variant == BASE_VARIANT or not tags_of(built).base_only:
                yield component.name, variant, built


def _cached_arrays(
    store: Store, components: Sequence[type], counts: str, content: Mapping[str, Any], compute: Callable[[], Arrays]
) -> Arrays:
    """Return the arrays that the store has for this content, counts and code, or else compute and store them.

    The components are a diagnostic, and the users' classes of the variant that it is computed for.
    """
    if not all(map(is_stored, components)):
        return compute()
    key = store_key(stage="diagnostics", code=code_digest(*components), counts=counts, **content)
    return store.cached(key, lambda: StoreEntry(compute())).arrays
