"""The settings that a configuration asks for, each a method on the splits of one task, keyed by their content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.subset import settings_of_cell
from benchmark.config.tasks import protocol_at_size
from benchmark.evaluation.predictions import SettingKey, SettingPredictions, TaskDocuments, TestedSplit
from benchmark.experiment.batches import Batch
from benchmark.experiment.code_digest import code_digest, code_version, imported_modules
from benchmark.experiment.store import StoreEntry, array_digest, store_key
from benchmark.methods.base import Problem
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.registry import build_method
from benchmark.methods.split_data import products_key, training_rows_of
from benchmark.system.numba_jit import compile_all
from benchmark.system.plugin_code import plugin_of
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import Experiment, MethodSpec, Task, TermSelection, TextSettings, Variant
    from benchmark.evaluation.protocols import EvaluationProtocol
    from benchmark.evaluation.splits import Split
    from benchmark.methods.base import Method
    from benchmark.text.counts import Counts


@dataclass(frozen=True, eq=False)
class StoreUnit:
    """One entry of the store: a method on one split of a setting, or on all splits if it solves them together.

    Parameters
    ----------
    key : str
    label : str
        Its name in progress and error messages.
    splits : tuple of Split
    inner : tuple of tuple of Split
        The folds of each split's training documents; empty if nothing is chosen on folds.
    """

    key: str
    label: str
    splits: tuple[Split, ...]
    inner: tuple[tuple[Split, ...], ...]


@dataclass(frozen=True, eq=False)
class Setting:
    """One candidate of a method with one training size and number of terms.

    Parameters
    ----------
    place : SettingKey
    method : Method
    problem : Problem
    terms : int or None
    shares : tuple
        Equal for settings of a text that share a matrix of inner products.
    classifies_points : bool
        Whether the method needs no kernel matrix.
    jobs : tuple of StoreUnit
    alone : bool
        Whether the method has no other candidate.
    over_classes : str
        How the gains of the classes are combined, where terms are selected.
    """

    place: SettingKey
    method: Method
    problem: Problem
    terms: int | None
    shares: tuple[Any, ...]
    classifies_points: bool
    jobs: tuple[StoreUnit, ...]
    alone: bool = True
    over_classes: str = "sum"

    def compile(self) -> None:
        """Compile the functions that the method may call, before a clock is started."""
        compile_all(imported_modules(*_components(self.method.spec), *_classes(self.method))[0])

    @property
    def plugin_part(self) -> type | None:
        """The method's plug-in class; None for a method of this package."""
        parts = (self.method.spec.kernel, self.method.spec.classifier)
        return next((part.cls for part in parts if part is not None and plugin_of(part.cls) is not None), None)


@dataclass(frozen=True, eq=False)
class PlannedTask:
    """All settings of one task under one variant.

    Parameters
    ----------
    variant, task : str
    problem : Problem
    splits : dict of size to tuple of Split
    points : tuple of Setting
        In the order of the methods, sizes and numbers of terms.
    """

    variant: str
    task: str
    problem: Problem
    splits: dict[int | None, tuple[Split, ...]]
    points: tuple[Setting, ...]

    @property
    def documents(self) -> TaskDocuments:
        """The documents, as scores see them."""
        documents = self.problem.documents
        truth = documents.labels if documents.topics is None else documents.topics
        return TaskDocuments(documents.ids, documents.classes, truth)

    def tested(self) -> Iterator[tuple[int | None, tuple[TestedSplit, ...]]]:
        """Yield the splits of every size, as scores see them."""
        members = self.problem.members
        for size, splits in self.splits.items():
            counted = (members[split.train].sum(axis=0, dtype=np.int64) for split in splits)
            yield size, tuple(TestedSplit(s.name, s.test, n) for s, n in zip(splits, counted, strict=True))


def plan_task(
    experiment: Experiment,
    variant: Variant,
    task: Task,
    counts: Counts,
    counts_id: str,
    texts: Mapping[TextSettings, tuple[Counts, str]] | None = None,
) -> PlannedTask:
    """Return all settings of one task and variant; `texts` holds the counts of methods with their own text."""
    wanted = (
        {place for cell in experiment.cells for place in settings_of_cell(experiment, cell)}
        if experiment.only
        else None
    )
    documents = counts.documents.of_classes(task.classes)[1]
    splits = {size: tuple(protocol_at_size(variant.protocol, size).splits(documents)) for size in variant.sizes}
    trained = training_rows_of([split for each in splits.values() for split in each])
    problem = _problem(task, counts, counts_id, experiment.seed, trained)
    own: dict[TextSettings | None, Problem] = {
        text: _problem(task, *read, experiment.seed, trained) for text, read in (texts or {}).items()
    }
    digest = cache(_rows_digest)
    protocol = None if experiment.inner is None else experiment.inner.build()
    inner_of = {size: tuple(_inner(split, problem, protocol) for split in splits[size]) for size in splits}
    points = []
    for entry in variant.entries:
        chosen = experiment.inner is not None and len(entry.candidates) > 1
        for index, spec in enumerate(entry.candidates):
            seen = own.get(spec.text, problem)
            method = build_method(spec, seen, variant.terms, draws=tags_of(variant.protocol.cls).draws)
            for size in variant.sizes:
                inner = inner_of[size] if chosen else tuple(() for _ in splits[size])
                for number in variant.numbers:
                    candidate = index if len(entry.candidates) > 1 else None
                    place = SettingKey(variant.name, task.name, entry.label, index, size, number)
                    if wanted is not None and place not in wanted:
                        continue
                    words = (variant.name, task.name, entry.label, candidate, size, number)
                    label = "-".join(str(word) for word in words if word not in ("", "base", None))
                    folds = list(zip(splits[size], inner, strict=True))
                    code = code_digest(variant.protocol.cls, *_components(spec), plan_task, Batch, MatrixCache)
                    jobs = _jobs(label, method, spec, seen, folds, variant.terms, number, digest, code)
                    how = method, seen, number, products_key(spec), spec.kernel is None
                    over_classes = variant.terms.over_classes if variant.terms else "sum"
                    points.append(Setting(place, *how, jobs, candidate is None, over_classes))
    return PlannedTask(variant.name, task.name, problem, splits, tuple(points))


def _problem(task: Task, counts: Counts, counts_id: str, seed: int, trained: NDArray[np.intp]) -> Problem:
    rows, documents = counts.documents.of_classes(task.classes)
    whole = len(rows) == len(counts.documents)
    own = replace(counts, documents=documents, matrix=counts.matrix if whole else counts.matrix[rows])
    truth = documents.labels if documents.topics is None else np.packbits(documents.topics, axis=1)
    key = store_key(counts=counts_id, rows=array_digest(rows.astype(np.int64), truth), classes=list(task.classes))
    return Problem(own, key, seed, trained)


def _inner(split: Split, problem: Problem, protocol: EvaluationProtocol | None) -> tuple[Split, ...]:
    """Return the folds of a split's training documents, as rows of the task."""
    if protocol is None:
        return ()
    train = problem.documents.take(split.train)
    made = protocol.splits(train)
    return tuple(type(split)(f.name, split.train[f.train], split.train[f.test], f.number) for f in made)


def _classes(method: Any) -> Iterator[type]:
    """Return the class of a method, and those of the methods that it wraps."""
    while method is not None:
        yield type(method)
        method = getattr(method, "method", None)


def _components(spec: MethodSpec) -> list[type]:
    """Return the classes that a configuration names for a method."""
    parts = (spec.representation.weighting, spec.representation.features, spec.kernel, spec.classifier)
    return [part.cls for part in parts if part is not None]


def _jobs(
    label: str,
    method: Method,
    spec: MethodSpec,
    problem: Problem,
    splits: list[tuple[Split, tuple[Split, ...]]],
    terms: TermSelection | None,
    number: int | None,
    digest: Callable[[Split], str],
    code: str,
) -> tuple[StoreUnit, ...]:
    """Return the jobs of a setting; `splits` pairs each split with the folds of its training documents."""
    content = {
        "stage": "decisions",
        "code": code,
        "problem": problem.key,
        "representation": spec.representation.resolved,
        "kernel": spec.kernel.resolved if spec.kernel else None,
        "classifier": spec.classifier.resolved,
        "terms": [number, terms.rank, terms.over_classes] if terms else None,
        **({"threshold": spec.threshold} if spec.threshold != "zero" else {}),
    }

    def job(name: str, own: list[tuple[Split, tuple[Split, ...]]]) -> StoreUnit:
        rows = [[digest(split), [digest(fold) for fold in folds]] for split, folds in own]
        seeds = [problem.seed, [split.number for split, _ in own]] if method.uses_seed else None
        key = store_key(rows=rows, seeds=seeds, **content)
        return StoreUnit(key, name, tuple(split for split, _ in own), tuple(folds for _, folds in own))

    if method.batched:
        return (job(label, splits),)
    return tuple(job(f"{label} · {each[0].name}", [each]) for each in splits)


def _rows_digest(split: Split) -> str:
    return array_digest(split.train.astype(np.int64), split.test.astype(np.int64))


def predictions_of_unit(
    job: StoreUnit, found: Sequence[SettingPredictions], problem: Problem, memory: float
) -> SettingPredictions:
    """Return a job's predictions: those of its splits, and the errors of those of their inner folds."""
    outer, rest = SettingPredictions.joined(found[: len(job.splits)]), iter(found[len(job.splits) :])
    errors = []
    for folds in job.inner:
        wrong = [_wrong(next(rest), fold, problem) for fold in folds]
        errors += [sum(n for n, _ in wrong) / max(1, sum(n for _, n in wrong))] if folds else []
    n = len(outer.sizes)
    return replace(
        outer,
        seconds=outer.seconds.round(6),
        memory=np.full(n, memory),
        inner=np.array(errors, dtype=np.float64),
        versions=(code_version(),) * n,
    )


def _wrong(found: SettingPredictions, fold: Split, problem: Problem) -> tuple[int, int]:
    """Count the wrong and all predictions on a fold's documents (and classes, if documents may have several)."""
    truth = problem.members[fold.test] if problem.several else problem.documents.labels[fold.test]
    return int(np.count_nonzero(found.predicted != truth)), truth.size


def pack_predictions(found: SettingPredictions) -> StoreEntry:
    """Return a job's predictions as stored: one bit per class of multi-label predictions, and per tie."""
    several = found.predicted.ndim == 2
    arrays = {
        "predicted": np.packbits(found.predicted, axis=1) if several else found.predicted,
        "tied": np.packbits(found.tied),
        "seconds": found.seconds,
        "inner": found.inner,
        "memory": found.memory,
    }
    return StoreEntry(arrays, {"version": found.versions[0]})


def unpack_predictions(entry: StoreEntry, job: StoreUnit, problem: Problem) -> SettingPredictions:
    """Return a job's predictions back from the store."""
    arrays, sizes = entry.arrays, tuple(len(split.test) for split in job.splits)
    n, k = sum(sizes), len(problem.documents.classes)
    predicted, shape = arrays["predicted"], (n, k) if problem.several else (n,)
    if problem.several:
        predicted = np.unpackbits(predicted, axis=1, count=k).astype(bool)
    tied = np.unpackbits(arrays["tied"], count=int(np.prod(shape))).astype(bool).reshape(shape)
    versions = (entry.facts["version"],) * len(sizes)
    return SettingPredictions(predicted, tied, sizes, arrays["seconds"], arrays["memory"], arrays["inner"], versions)
