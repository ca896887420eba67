"""A configuration to predictions, through all stages; results of earlier runs come from the store."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial
from traceback import format_exception
from typing import TYPE_CHECKING, Any

from benchmark.analysis.scoring import RunPredictions
from benchmark.config.model import BASE_VARIANT
from benchmark.corpora.reader import LastCorpus
from benchmark.diagnostics.base import DiagnosticContext, compute_checked
from benchmark.evaluation.predictions import Predictions, SettingKey, SettingPredictions, SplitKey, TaskKey
from benchmark.experiment.batches import Batch, Part, plan_batches, unit_splits
from benchmark.experiment.code_digest import code_digest, imported_modules, is_stored
from benchmark.experiment.context import LoadedVariant
from benchmark.experiment.counting import (
    check_expectations,
    describe_counts,
    document_strings,
    read_counts,
    term_facts,
    text_counts,
)
from benchmark.experiment.kernel_cache import KernelCache
from benchmark.experiment.near_duplicates import find_near_duplicates
from benchmark.experiment.settings import (
    component_classes,
    pack_predictions,
    predictions_of_unit,
    setting_name,
    unpack_predictions,
)
from benchmark.experiment.store import StoreEntry, store_key
from benchmark.experiment.task_planning import plan_task
from benchmark.experiment.user_methods import UserMethods, computed_each_run
from benchmark.methods.degenerate import degenerate_predictions_reason
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.split_data import SplitData
from benchmark.system.errors import BenchError, ConfigError, DataError
from benchmark.system.memory import peak_memory, reset_peak_memory
from benchmark.system.numba_jit import compile_all
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads
from benchmark.system.tags import tags_of
from benchmark.system.user_classes import guarded, locate_error, runs_user_code_here, user_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from benchmark.config.model import Experiment
    from benchmark.diagnostics.base import Arrays, Diagnostic
    from benchmark.experiment.context import Executor, RunContext
    from benchmark.experiment.settings import PlannedTask, Setting, StoreUnit
    from benchmark.experiment.store import Store
    from benchmark.text.counts import Counts


def run_experiment(experiment: Experiment, context: RunContext) -> RunPredictions:
    """Compute every setting that the store lacks, here or in other processes.

    Raises
    ------
    DataError
        If the corpus is missing or isn't the one its card and the configuration describe.
    ConfigError
        If a variant has fewer words than terms to select; nothing is trained then.
    """
    read = read_variants(experiment, context)
    tasks, elsewhere = list(plan_tasks(experiment, read)), context.elsewhere
    predictions, failures, stored = Predictions({}, {}, {}, {}), dict[str, str](), set[SettingKey]()
    left = sum(len(variant.tasks) for variant in experiment.variants.values())
    cache = KernelCache(context.store)
    bench = MatrixCache(context.jobs, cached=cache)
    if elsewhere is not None:
        elsewhere.begin(experiment, read, tasks)
    executors = [*([elsewhere] if elsewhere else []), *executors_here(experiment, read, context, bench)]
    if line := computed_each_run(tasks):
        context.observer.note(line)
    # One owner of the cores at a time: threads of ours run LIBSVM and the links; methods see to numba's.
    with blas_threads(context.jobs):
        for work in tasks:
            steps, left = sum(len(point.jobs) for point in work.points), left - 1
            context.observer.plan(steps, later=left * steps)  # tasks have about as many each
            near: list[NDArray[np.intp]] = []
            if not predictions.tasks:
                read[work.variant].facts["near_duplicates"], near = find_near_duplicates(work, context.store)
            predictions.tasks[TaskKey(work.variant, work.task)] = work.documents
            for size, each in work.tested(near):
                predictions.splits[SplitKey(work.variant, work.task, size)] = each
            found, known = solve_task(work, context, executors)
            for point in work.points:
                results = [found[job.key] for job in point.jobs]
                if reasons := [each for each in results if isinstance(each, str)]:
                    failures[setting_name(point.place)] = reasons[0]
                    continue
                units = zip(results, point.jobs, strict=True)
                own = [unpack_predictions(each, job, work.problem) for each, job in units]  # type: ignore[arg-type]
                predictions.settings[point.place] = SettingPredictions.joined(own)
                if known.issuperset(job.key for job in point.jobs):
                    stored.add(point.place)
        bench.release()
        if cache.n_found:
            context.observer.note(store_note(cache.n_found))
        measured, failed = compute_diagnostics(
            experiment, {name: (r.counts, r.key) for name, r in read.items()}, context
        )
    predictions.diagnostics.update(measured)
    facts = {name: each.facts for name, each in read.items()}
    return RunPredictions(experiment, predictions, failures | failed, facts, context.jobs, stored)


def read_variants(experiment: Experiment, context: RunContext) -> dict[str, LoadedVariant]:
    """Read and check the counts of every variant; variants with the same documents and words share them."""
    shared: dict[str, tuple[Counts, dict[str, Any]]] = {}
    held: dict[str, tuple[Counts, str]] = {}
    found, last = {}, LastCorpus()
    for name, variant in experiment.variants.items():
        counts, source, key = read_counts(variant.collection, context, last)
        counts, facts = shared.setdefault(key, (counts, describe_counts(counts, source)))
        check_expectations(experiment, variant, counts)
        own = text_counts(experiment, variant, counts, context, last)
        texts = {text: held.setdefault(each[1], each) for text, each in own.items()}
        if texts:
            facts = facts | {"texts": [text.flat | term_facts(each) for text, (each, _) in texts.items()]}
        strings = document_strings(experiment, variant, context, last)
        found[name] = LoadedVariant(counts, key, facts, texts, strings)
    return found


def plan_tasks(experiment: Experiment, read: Mapping[str, LoadedVariant]) -> Iterator[PlannedTask]:
    """Yield the settings to compute, task by task."""
    for name, variant in experiment.variants.items():
        for task in variant.tasks:
            own = read[name]
            yield plan_task(experiment, variant, task, own.counts, own.key, own.texts, own.strings)


def executors_here(
    experiment: Experiment, read: Mapping[str, LoadedVariant], context: RunContext, bench: MatrixCache
) -> list[Executor]:
    """Return the executors of this machine: processes of users' code, and this process."""
    local = LocalExecutor(context, bench)
    return [local] if runs_user_code_here() else [UserMethods(experiment, read, context), local]


def solve_task(
    work: PlannedTask,
    context: RunContext,
    executors: Iterable[Executor],
    tell: Callable[[str, StoreEntry | str], object] = lambda *_: None,
) -> tuple[dict[str, StoreEntry | str], set[str]]:
    """Compute the units of a task that the store lacks, and store those that are to be stored.

    Parameters
    ----------
    work : PlannedTask
    context : RunContext
    executors : iterable of Executor
        Each gets the units that those before it have left.
    tell : callable
        Called with each unit's key, and its result or the reason why there is none.

    Returns
    -------
    dict of str to StoreEntry or str
        Results by key.
    set of str
        Keys of those that were in the store.
    """
    store, observer, units = context.store, context.observer, work.units
    results: dict[str, StoreEntry | str] = {}
    failed = set[SettingKey]()

    def note(key: str, result: StoreEntry | str, *, stored: bool) -> None:
        results[key] = result
        for point, job in units[key]:
            if isinstance(result, str) and point.place not in failed:
                failed.add(point.place)
                observer.note(f"{setting_name(point.place)} failed: {result}")
            observer.step(job.label, stored=stored)
        tell(key, result)

    for key, ((point, _), *_) in units.items():
        entry = store.get(key) if point.stored else None
        if entry is not None:
            note(key, entry, stored=True)
    known = set(results)
    for executor in executors:
        missing = [own[0] for key, own in units.items() if key not in results]
        for key, result in executor.solved(work, missing) if missing else ():
            if not isinstance(result, str) and units[key][0][0].stored and not store.has(key):
                store.put(key, result)
            note(key, result, stored=False)
    return results, known


class LocalExecutor:
    """Computes units in this process; see `Executor`.

    Parameters
    ----------
    context : RunContext
    bench : MatrixCache
    """

    def __init__(self, context: RunContext, bench: MatrixCache) -> None:
        self._observer, self._bench = context.observer, bench

    def solved(
        self, work: PlannedTask, missing: Sequence[tuple[Setting, StoreUnit]]
    ) -> Iterator[tuple[str, StoreEntry | str]]:
        """Yield the key of each unit with its result, or the reason why its setting failed.

        Settings with the same text come one after the other, and among them those that share inner products. Where
        documents have several classes, methods share the models of a split, so all methods compute one split before the
        next.
        """
        waiting, failed = deque(plan_batches(missing, by_split=work.problem.multilabel)), dict[SettingKey, str]()
        while waiting:
            batch = waiting.popleft()
            for point, jobs in batch.parts:
                if point.place in failed:
                    yield from ((job.key, failed[point.place]) for job in jobs)
            parts = tuple(part for part in batch.parts if part[0].place not in failed)
            for (point, jobs), decided in self._decided(replace(batch, parts=parts)) if parts else ():
                if isinstance(decided, BaseException) and len(jobs) > 1:  # results before the first failure are stored
                    waiting.extendleft(Batch(((point, (job,)),)) for job in reversed(jobs))
                    continue
                for job, result in zip(jobs, self._results(point, jobs, decided), strict=True):
                    if isinstance(result, str):
                        failed[point.place] = result
                    yield job.key, result

    def _decided(self, batch: Batch) -> Iterable[tuple[Part, list[SettingPredictions] | BaseException]]:
        """Compute a batch; return each part with its predictions, or the error that it raised."""
        self._observer.now(batch.jobs[0].label)
        if any(point.classifies_points for point, _ in batch.parts):
            self._bench.release_matrices()  # earlier methods' matrices would count as this method's memory
        reset_peak_memory()
        for point, _ in batch.parts:
            point.compile()
        try:
            return zip(batch.parts, batch.solve(self._bench), strict=True)
        except BaseException as error:
            of_user = batch.parts[0][0].user_classes and not isinstance(error, KeyboardInterrupt | MemoryError)
            if not (of_user or isinstance(error, DataError)):  # of a method's own file, such as its vectors
                raise
            return [(part, error) for part in batch.parts]

    def _results(
        self, point: Setting, jobs: Sequence[StoreUnit], decided: list[SettingPredictions] | BaseException
    ) -> Iterator[StoreEntry | str]:
        """Yield the entry of each of a setting's jobs, or the reason why there is none."""
        problem, memory, start = self._problem(point, jobs, decided), peak_memory(), 0
        for job in jobs:
            stop = start + len(job.splits) + sum(map(len, job.inner))
            if problem or isinstance(decided, BaseException):
                yield problem
            elif job.keeps_values and decided[start].values is None:
                yield "it has no decision value for each class, which a ranking metric needs"
            else:
                yield pack_predictions(predictions_of_unit(job, decided[start:stop], point.problem, memory))
            start = stop

    def _problem(
        self, point: Setting, jobs: Sequence[StoreUnit], decided: list[SettingPredictions] | BaseException
    ) -> str:
        """Return why the predictions of a setting aren't there, or can't be used; "" where they can."""
        parts, splits = point.user_classes, unit_splits(jobs)
        if isinstance(decided, BaseException):
            reason = _reason(decided, parts)
            if parts:  # the traceback is for its author
                self._observer.detail("".join(format_exception(decided)))
            return f"{splits[0].name}: {reason}" if len(jobs[0].splits) == 1 else reason
        # A degenerate candidate is no error: the choice among candidates needs the scores of all.
        for split, own in zip(splits, decided, strict=True) if point.alone else ():
            work = SplitData(
                point.problem.over_terms_of(split.train), split, splits, point.terms, point.aggregate, self._bench
            )
            if blind := degenerate_predictions_reason(point.method.spec, work, own):
                return f"{f'{user_place(parts[-1])}: ' if parts else ''}{split.name}: {blind}"
        return ""


def _reason(error: BaseException, classes: Sequence[type]) -> str:
    """Return an error of a method in a line, with the line of the user's code that raised it."""
    if located := locate_error(error, short=True):
        return located
    if not classes or isinstance(error, ValueError | FloatingPointError | BenchError):
        return str(error)
    return locate_error(error, user_place(classes[-1]))


def store_note(n: int) -> str:
    """Return the line that reports how many kernel results came from the store."""
    return f"{n:,} of the kernels' matrices, models and hyperplanes came from the store."


def cached_arrays(
    store: Store,
    components: Sequence[type],
    counts: str,
    content: Mapping[str, Any],
    compute: Callable[[], Arrays],
) -> Arrays:
    """Return the arrays that the store has for this content, counts and code, or else compute and store them.

    The components are a diagnostic, and the users' classes of the variant that it is computed for.
    """
    if not all(map(is_stored, components)):
        return compute()
    key = store_key(stage="diagnostics", code=code_digest(*components), counts=counts, **content)
    entry = store.get(key)
    if entry is None:
        entry = StoreEntry(compute())
        store.put(key, entry)
    return entry.arrays


def compute_diagnostics(
    experiment: Experiment, read: Mapping[str, tuple[Counts, str]], context: RunContext
) -> tuple[dict[tuple[str, str], Arrays], dict[str, str]]:
    """Compute every diagnostic on every variant; return arrays by (diagnostic, variant), and errors by label.

    Parameters
    ----------
    read : mapping of variant to (Counts, str)
        The counts, and the digest of all that decides them.
    """
    found: dict[tuple[str, str], Arrays] = {}
    failures: dict[str, str] = {}
    for name, variant, built in _each(experiment):
        context.observer.plan(1)
        counts, key = read[variant]
        specs = (spec for entry in experiment.variants[variant].entries for spec in entry.candidates)
        classes = [cls for spec in specs for cls in component_classes(spec)]
        parts = (type(built), *(each for each in classes if not is_builtin(each)))
        kept = partial(cached_arrays, context.store, parts, key)
        described = experiment.variants[variant]
        if not is_builtin(type(built)):
            described = described.without_corpus
        given = DiagnosticContext(counts, described, experiment.seed, context.jobs, kept)
        label = name if variant == BASE_VARIANT else f"{variant}-{name}"
        compile_all(imported_modules(type(built))[0])
        try:
            with guarded([] if is_builtin(type(built)) else [type(built)], ValueError, short=True):
                found[name, variant] = compute_checked(built, given, whole=not experiment.only)
        except (ValueError, FloatingPointError, RuntimeError, ConfigError) as error:
            failures[label] = str(error)
            context.observer.note(f"{label} failed: {failures[label]}")
        context.observer.step(label)
    return found, failures


def _each(experiment: Experiment) -> Iterator[tuple[str, str, Diagnostic]]:
    for component in experiment.diagnostics:
        built: Diagnostic = component.build()
        for variant in experiment.variants:
            if variant == BASE_VARIANT or not tags_of(built).base_only:
                yield component.name, variant, built
