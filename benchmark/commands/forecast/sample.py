"""Samples of planned tasks: the same settings and splits on fewer documents, for pilot runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.predictions import TIMERS, SettingPredictions
from benchmark.evaluation.splits import Split
from benchmark.experiment.batches import plan_batches, unit_splits
from benchmark.experiment.settings import pack_predictions
from benchmark.methods.kernel_machines import PerSplit
from benchmark.methods.problem import Problem
from benchmark.methods.wrappers.fusion import FusedMethod
from benchmark.text.strings import joined_texts

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.experiment.batches import Batch
    from benchmark.experiment.context import LoadedVariant
    from benchmark.experiment.settings import PlannedTask, Setting, StoreUnit
    from benchmark.experiment.store import StoreEntry
    from benchmark.text.strings import Texts

    Rows = NDArray[np.intp]

#: Kinds of methods, by how their seconds and memory may grow: with all pairs of documents, or nearly linearly.
KERNEL_GROUP, POINT_GROUP = "kernels", "points"
#: Largest power of the documents with which seconds of methods without a kernel grow: a pass over the documents is
#: linear, and solvers take more passes where classes are hard to tell. LIBLINEAR's powers were 1.0 to 1.5.
POINT_POWER = 1.5
#: Training documents of the smallest sample, about.
MIN_DOCUMENTS = 300
#: Training documents of each class that a sample has at least; with inner folds, which need some in each.
MIN_PER_CLASS, MIN_PER_CLASS_WITH_FOLDS = 2, 6
#: Largest number of kinds of batches that a pilot computes, and batches of each kind: the first of several computes
#: what the others share.
MAX_KINDS, MAX_BATCHES = 60, 2
#: Jobs of a batch that a pilot computes for each setting: linear methods solve all their splits in one batch.
MAX_JOBS = 2


@dataclass(frozen=True, eq=False)
class PilotBatch:
    """A batch that pilots compute, and all batches that it stands for.

    Parameters
    ----------
    kind : tuple
        Equal for batches of the same settings on different splits.
    group : str
        `KERNEL_GROUP` or `POINT_GROUP`.
    jobs : tuple of str
        Keys of the jobs that pilots compute.
    """

    kind: tuple[Any, ...]
    group: str
    jobs: tuple[str, ...]


def batch_kind(batch: Batch) -> tuple[Any, ...]:
    """Return a key that is equal for batches of the same settings on different splits."""
    return tuple(point.place for point, _ in batch.parts)


def batch_group(batch: Batch) -> str:
    """Return whether a batch computes kernels or points."""
    return POINT_GROUP if batch.parts[0][0].classifies_points else KERNEL_GROUP


def missing_batches(works: Sequence[PlannedTask], left: Container[str]) -> list[Batch]:
    """Return the batches of the jobs that are left, by key, as a run plans them."""
    found: list[Batch] = []
    for work in works:
        todo = [(point, job) for point in work.points for job in point.jobs if job.key in left]
        found += plan_batches(todo, by_split=work.problem.multilabel)
    return found


def choose_pilots(batches: Sequence[Batch]) -> list[PilotBatch]:
    """Choose the batches that pilots compute: the first of each kind, of as many kinds as `MAX_KINDS`."""
    kinds = [*dict.fromkeys(map(batch_kind, batches))]
    chosen = dict.fromkeys(kinds[:: -(-len(kinds) // MAX_KINDS) or 1], MAX_BATCHES)
    found = []
    for batch in batches:
        kind = batch_kind(batch)
        if chosen.get(kind, 0):
            chosen[kind] -= 1
            jobs = tuple(job.key for _, own in batch.parts for job in own[:MAX_JOBS])
            found.append(PilotBatch(kind, batch_group(batch), jobs))
    return found


def sample_rows(rows: Rows, members: NDArray[np.bool_], share: float, few: int) -> Rows:
    """Return a random share of `rows`, with at least `few` of each class; every call draws the same documents.

    `members` are the class indicators of all documents, shape (n, k).
    """
    shuffled = rows[np.argsort(np.random.default_rng(0).random(len(members))[rows])]
    of_classes = [shuffled[members[shuffled, code]][:few] for code in range(members.shape[1])]
    return np.unique(np.concatenate([shuffled[: int(np.ceil(share * len(rows)))], *of_classes]))


def smallest_share(works: Sequence[PlannedTask], largest: float) -> float:
    """Return the share of the smallest sample: a fourth, a sixteenth, … of `largest`, or `largest` itself.

    It has about `MIN_DOCUMENTS` training documents, and not fewer than the classes need.
    """
    share = largest
    for work in works:
        n = max(len(split.train) for each in work.splits.values() for split in each)
        needed = max(MIN_DOCUMENTS, MIN_PER_CLASS * len(work.problem.documents.classes)) / n
        while share / 4 >= needed:
            share /= 4
    return share


def sample_counts(read: Mapping[str, LoadedVariant]) -> tuple[dict[str, LoadedVariant], float]:
    """Return each variant with a few documents of each class and their words, for diagnostics.

    Returns
    -------
    (dict of str to LoadedVariant, float)
        The largest ratio of the words of a variant to those that are left is the second.
    """
    few, growth = {}, 1.0
    for name, variant in read.items():
        counts, members = variant.counts, Problem(variant.counts, "", 0).members
        rows = sample_rows(np.arange(len(members)), members, 0, MIN_PER_CLASS_WITH_FOLDS)
        words = np.unique(counts.matrix[rows].indices)
        some = replace(
            counts,
            documents=counts.documents.take(rows),
            matrix=counts.matrix[rows][:, words],
            vocabulary=tuple(counts.vocabulary[word] for word in words),
            block_of=counts.block_of[words],
        )
        few[name] = replace(variant, counts=some, facts=dict(variant.facts), texts={}, strings={})
        growth = max(growth, len(counts.vocabulary) / max(1, len(words)))
    return few, growth


def sample_task(work: PlannedTask, share: float) -> PlannedTask:
    """Return a task on a share of its documents, with some of each class to train on.

    Settings, jobs and their keys are those of the whole task.
    """
    whole, splits = work.problem, [split for each in work.splits.values() for split in each]
    inner = any(folds for point in work.points for job in point.jobs for folds in job.inner)
    few = MIN_PER_CLASS_WITH_FOLDS if inner else MIN_PER_CLASS
    drawn = {
        id(split): (
            sample_rows(split.train, whole.members, share, few),
            sample_rows(split.test, whole.members, share, 0),
        )
        for split in splits
    }
    parts = [
        sample_rows(np.arange(len(whole.documents)), whole.members, share, 0),
        *(r for p in drawn.values() for r in p),
    ]
    rows = np.unique(np.concatenate(parts))
    made: dict[int, Split] = {}  # the same object for equal splits: methods are computed together on one

    def small(split: Split, train: Rows, test: Rows) -> Split:
        """Return a split on the drawn documents."""
        smaller = Split(split.name, np.searchsorted(rows, train), np.searchsorted(rows, test), split.number)
        return made.setdefault(id(split), smaller)

    def small_job(job: StoreUnit) -> StoreUnit:
        """Return a job on the drawn documents."""
        folds_of = []
        for split, folds in zip(job.splits, job.inner, strict=True):
            train, _ = drawn[id(split)]
            smaller = [small(f, np.intersect1d(f.train, train), np.intersect1d(f.test, train)) for f in folds]
            folds_of.append(tuple(smaller))
        return replace(job, splits=tuple(small(s, *drawn[id(s)]) for s in job.splits), inner=tuple(folds_of))

    problem = cache(lambda whole: _sample_problem(whole, rows))

    def small_point(point: Setting) -> Setting:
        """Return a setting on the drawn documents; not alone, or it would be checked for degenerate predictions."""
        method = _with_smaller_cache(point.method, share)
        if isinstance(method, FusedMethod):
            method = replace(method, problems=tuple(map(problem, method.problems)))
        jobs = tuple(map(small_job, point.jobs))
        return replace(point, problem=problem(point.problem), method=method, jobs=jobs, alone=False)

    of_sizes = {size: tuple(small(split, *drawn[id(split)]) for split in each) for size, each in work.splits.items()}
    return replace(work, problem=problem(whole), splits=of_sizes, points=tuple(map(small_point, work.points)))


def _with_smaller_cache(method: Any, share: float) -> Any:
    """Return a method whose solver's cache holds the same share of a kernel as in the run, if it has one."""
    if not isinstance(method, PerSplit) or "cache_mb" not in method.spec.classifier.resolved:
        return method
    classifier = method.spec.classifier
    given = {**classifier.given, "cache_mb": classifier.resolved["cache_mb"] * share**2}
    return replace(method, spec=replace(method.spec, classifier=replace(classifier, given=given)))


def _sample_problem(whole: Problem, rows: Rows) -> Problem:
    """Return a problem with the documents at `rows` alone."""
    counts = replace(whole.counts, documents=whole.documents.take(rows), matrix=whole.counts.matrix[rows])
    trained = None if whole.trained is None else np.flatnonzero(np.isin(rows, whole.trained))
    texts = None if whole.texts is None else _sample_texts(whole.texts, rows)
    return Problem(counts, f"{len(rows)} of {whole.key}", whole.seed, trained, whole.pruning, texts)


def _sample_texts(texts: Texts, rows: Rows) -> Texts:
    """Return the texts at `rows`, without the bytes of the others."""
    some = texts.take(rows)
    return type(texts)(*joined_texts(some.strings()), some.key)


def job_sizes(job: StoreUnit, group: str) -> NDArray[np.float64]:
    """Return what a job's seconds may grow with, shape (2,).

    They are its documents, to train and to test on, summed over its splits and their folds; and for kernels the number
    of pairs of a document and a training document, for points the documents to the power of `POINT_POWER`.
    """
    sizes = np.array([(len(split.train), len(split.test)) for split in unit_splits([job])], dtype=np.float64)
    documents = sizes.sum(axis=1)
    steep = sizes[:, 0] * documents if group == KERNEL_GROUP else documents**POINT_POWER
    return np.array([documents.sum(), steep.sum()])


def made_up_entries(works: Iterable[PlannedTask], computed: frozenset[str]) -> dict[str, StoreEntry]:
    """Return artificial predictions of every job that a pilot doesn't compute: the true classes of other documents."""
    found = dict[str, "StoreEntry"]()
    for work in works:
        truth = work.documents.truth
        for number, point in enumerate(work.points):
            for job in point.jobs:
                if job.key in computed:
                    continue
                parts = [np.roll(truth[split.test], number, axis=0) for split in job.splits]
                predictions = SettingPredictions.joined(
                    [SettingPredictions.of_split(p, np.zeros(p.shape, bool), np.ones(len(TIMERS))) for p in parts]
                )
                counts = np.zeros((len(parts), 3 * len(work.documents.classes) + 1), dtype=np.int64)
                inner = counts if any(job.inner) else predictions.inner
                found[job.key] = pack_predictions(replace(predictions, inner=inner))
    return found
