"""A configuration to predictions, through all stages; results of earlier runs come from the store."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from traceback import format_exception
from typing import TYPE_CHECKING, Any

from benchmark.analysis.scoring import RunPredictions
from benchmark.config.model import BASE_VARIANT
from benchmark.corpora.reader import LastCorpus
from benchmark.diagnostics.base import DiagnosticContext, compute_checked
from benchmark.evaluation.predictions import Predictions, SettingKey, SettingPredictions, SplitKey, TaskKey
from benchmark.experiment.batches import Batch, plan_batches, unit_splits
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
from benchmark.experiment.settings import component_classes, pack_predictions, predictions_of_unit, unpack_predictions
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
    from benchmark.experiment.context import RemoteExecutor, RunContext
    from benchmark.experiment.settings import PlannedTask, Setting, StoreUnit
    from benchmark.experiment.store import Store
    from benchmark.methods.problem import Problem
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
    works: Iterable[PlannedTask] = plan_tasks(experiment, read)
    predictions, failures, stored = Predictions({}, {}, {}, {}), dict[str, str](), set[SettingKey]()
    left = sum(len(variant.tasks) for variant in experiment.variants.values())
    cache = KernelCache(context.store)
    bench, elsewhere = MatrixCache(context.jobs, cached=cache), context.elsewhere
    tasks = list(works if elsewhere is None else elsewhere.begin(experiment, read, works))
    users = None if runs_user_code_here() else UserMethods(experiment, read, tasks, context)
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
            walk = TaskExecutor(context, bench, users)
            found, failed = walk.solve(work)
            predictions.settings.update(found)
            failures |= failed
            stored |= walk.stored
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
        strings = document_strings(experiment, variant, counts, context, last)
        found[name] = LoadedVariant(counts, key, facts, texts, strings)
    return found


def plan_tasks(experiment: Experiment, read: Mapping[str, LoadedVariant]) -> Iterator[PlannedTask]:
    """Yield the settings to compute, task by task."""
    for name, variant in experiment.variants.items():
        for task in variant.tasks:
            own = read[name]
            yield plan_task(experiment, variant, task, own.counts, own.key, own.texts, own.strings)


class TaskExecutor:
    """Compute the settings of a task that the store lacks; `stored` are those it had, `failed` the errors of others.

    Parameters
    ----------
    context : RunContext
    bench : MatrixCache
    users : UserMethods, optional
        Processes of the settings with users' code; by default they are computed here.
    keep : callable, optional
        Gets each computed setting, with the key and entry of a unit; by default those that are stored are stored.
    """

    def __init__(
        self,
        context: RunContext,
        bench: MatrixCache,
        users: UserMethods | None = None,
        keep: Callable[[Setting, str, StoreEntry], object] | None = None,
    ) -> None:
        self._store, self._observer, self._elsewhere = context.store, context.observer, context.elsewhere
        self._bench, self._users = bench, users
        self._keep = keep or partial(store_result, context.store)
        self.stored: set[SettingKey] = set()
        self.failed: dict[SettingKey, str] = {}

    def solve(self, work: PlannedTask) -> tuple[dict[SettingKey, SettingPredictions], dict[str, str]]:
        """Return the predictions of every setting of the task, and the errors of those that failed.

        Settings with the same text come one after the other, and among them those that share inner products. Where
        documents have several classes, methods share the models of a split, so all methods compute one split before the
        next.
        """
        by_split = work.problem.multilabel
        todo = [(point, job) for point in work.points for job in point.jobs]
        results: dict[str, SettingPredictions] = {}
        missing = []
        for point, job in todo:
            entry = self._store.get(job.key) if point.stored else None
            if entry is None:
                missing.append((point, job))
                continue
            results[job.key] = unpack_predictions(entry, job, work.problem)
            self._observer.step(job.label, stored=True)
        self.stored = {point.place for point in work.points} - {point.place for point, _ in missing}
        for executor in (self._elsewhere, self._users):
            if executor is not None:
                others = [each for each in missing if each[1].key not in results]
                results |= self._brought(executor, others, work.problem)
        left = [each for each in missing if each[1].key not in results]
        for batch in plan_batches(left, by_split=by_split):
            parts = tuple(part for part in batch.parts if part[0].place not in self.failed)
            if parts:
                self._observer.now(parts[0][1][0].label)
                for (point, _), found in zip(parts, self.results_of(replace(batch, parts=parts)), strict=True):
                    if isinstance(found, str):
                        self._fail(point, found)
                    else:
                        results |= found
            for job in batch.jobs:
                self._observer.step(job.label)
        done = {
            point.place: SettingPredictions.joined([results[job.key] for job in point.jobs])
            for point in work.points
            if point.place not in self.failed
        }
        return done, {setting_name(place): reason for place, reason in self.failed.items()}

    def _fail(self, point: Setting, reason: str) -> None:
        if point.place not in self.failed:
            self.failed[point.place] = reason
            self._observer.note(f"{setting_name(point.place)} failed: {reason}")

    def _brought(
        self, executor: RemoteExecutor | UserMethods, missing: Sequence[tuple[Setting, StoreUnit]], problem: Problem
    ) -> dict[str, SettingPredictions]:
        """Collect what other processes computed; settings fail for which they give a reason."""
        found: dict[str, SettingPredictions] = {}
        wanted = {job.key: (point, job) for point, job in missing if point.place not in self.failed}
        for key, result in executor.solved(list(wanted.values())) if wanted else ():
            point, job = wanted[key]
            if isinstance(result, str):
                self._fail(point, result)
                continue
            self._keep(point, key, result)
            found[key] = unpack_predictions(result, job, problem)
            self._observer.step(job.label)
        return found

    def results_of(self, batch: Batch) -> list[dict[str, SettingPredictions] | str]:
        """Compute and store a batch; return for each part its results by key, or the reason why it failed."""
        if any(point.classifies_points for point, _ in batch.parts):
            self._bench.release_matrices()  # earlier methods' matrices would count as this method's memory
        reset_peak_memory()
        for point, _ in batch.parts:
            point.compile()
        decided: Sequence[list[SettingPredictions] | BaseException]
        try:
            decided = batch.solve(self._bench)
        except BaseException as error:
            of_user = batch.parts[0][0].user_classes and not isinstance(error, KeyboardInterrupt | MemoryError)
            if not (of_user or isinstance(error, DataError)):  # of a method's own file, such as its vectors
                raise
            decided = [error] * len(batch.parts)
        memory = peak_memory()
        return [self._kept(*part, own, memory) for part, own in zip(batch.parts, decided, strict=True)]

    def _kept(
        self,
        point: Setting,
        jobs: Sequence[StoreUnit],
        decided: list[SettingPredictions] | BaseException,
        memory: float,
    ) -> dict[str, SettingPredictions] | str:
        """Store the results of a setting's jobs and return them by key, or return the reason why they failed."""
        parts, splits = point.user_classes, unit_splits(jobs)
        if isinstance(decided, BaseException):
            if len(jobs) > 1:
                return self._one_by_one(point, jobs)
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
        found, start = dict[str, SettingPredictions](), 0
        for job in jobs:
            stop = start + len(job.splits) + sum(map(len, job.inner))
            try:
                found[job.key] = predictions_of_unit(job, decided[start:stop], point.problem, memory)
            except ValueError as error:
                return str(error)
            self._keep(point, job.key, pack_predictions(found[job.key]))
            start = stop
        return found

    def _one_by_one(self, point: Setting, jobs: Sequence[StoreUnit]) -> dict[str, SettingPredictions] | str:
        """Compute the jobs of a setting one by one; results before the first failure stay in the store."""
        found: dict[str, SettingPredictions] = {}
        for job in jobs:
            (own,) = self.results_of(Batch(((point, (job,)),)))
            if isinstance(own, str):
                return own
            found |= own
        return found


def _reason(error: BaseException, classes: Sequence[type]) -> str:
    """Return an error of a method in a line, with the line of the user's code that raised it."""
    if located := locate_error(error, short=True):
        return located
    if not classes or isinstance(error, ValueError | FloatingPointError | BenchError):
        return str(error)
    return locate_error(error, user_place(classes[-1]))


def store_result(store: Store, point: Setting, key: str, entry: StoreEntry) -> None:
    """Store a unit's result if those of its setting are stored, and another process hasn't done so."""
    if point.stored and not store.has(key):
        store.put(key, entry)


def store_note(n: int) -> str:
    """Return the line that reports how many kernel results came from the store."""
    return f"{n:,} of the kernels' matrices, models and hyperplanes came from the store."


def setting_name(place: SettingKey) -> str:
    """Return the name of a setting in error messages: variant, task, method, size and terms."""
    variant, task, method, _, size, terms = place
    return "-".join(str(word) for word in (variant, task, method, size, terms) if word not in ("", "base", None))


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
