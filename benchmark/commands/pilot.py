"""Pilot runs on two shares of the documents, to extrapolate the seconds of a run on all documents.

Pilot runs call the functions of a run, with fewer documents. Part of the seconds is constant; the rest grows with a
power of the number of documents that depends on the kind of method.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.splits import Split
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import TaskExecutor
from benchmark.kernels import is_elementwise_kernel
from benchmark.methods.kernel_machines import KernelSvm
from benchmark.methods.matrix_cache import SINGLE_USE_FRACTION, MatrixCache, memory_budget
from benchmark.methods.one_vs_rest import LinearOneVsRest
from benchmark.methods.problem import Problem
from benchmark.methods.split_data import training_rows_of
from benchmark.system.row_blocks import blas_threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.experiment.batches import Batch
    from benchmark.experiment.settings import Setting, StoreUnit
    from benchmark.experiment.store import Store

    Seconds = NDArray[np.float64]

#: The larger pilot trains on at most `MAX_PILOT_DOCUMENTS` documents and at most `MAX_PILOT_SHARE` of them all, the
#: smaller on `PILOT_RATIO` times fewer.
MAX_PILOT_DOCUMENTS, MAX_PILOT_SHARE, PILOT_RATIO = 1200, 1 / 3, 4
#: Least number of training documents of each class, and largest number of kinds of batches that are timed.
MIN_PER_CLASS, MAX_TIMED_KINDS = 6, 60
#: Powers of the number of documents with which seconds grow, in addition to a constant part. Without the constant, one
#: power through both pilots would estimate a fifth of the time for 20 Newsgroups.
KERNEL_POWER, POINT_POWER = 1.75, 1.25


def wall_and_cpu_seconds() -> Seconds:
    """Return wall-clock and CPU seconds, shape (2,); other programs affect only the former."""
    return np.array([time.perf_counter(), time.process_time()])


def estimate_seconds(batches: Sequence[Batch], jobs: int, store: Store) -> Seconds:
    """Return the estimated seconds of batches, shape (2,), from the model a + c · documents ** power.

    The smaller pilot runs twice: the first also loads libraries, as a run does once.
    """
    sizes = [len(split.train) for batch in batches for job in batch.jobs for split in job.splits]
    large = min(MAX_PILOT_SHARE, MAX_PILOT_DOCUMENTS / max(sizes, default=1))
    for setting in {id(part.method): part for batch in batches for part, _ in batch.parts}.values():
        setting.compile()  # the run finds the machine code on disk
    first, less, more = (
        _tried(batches, share, jobs, store) for share in (large / PILOT_RATIO, large / PILOT_RATIO, large)
    )
    estimate = np.maximum(sum(first.values(), np.zeros(2)) - sum(less.values(), np.zeros(2)), 0)
    for power, seconds in more.items():
        estimate += extrapolate_seconds(less[power], seconds, large, power)
    return estimate


def extrapolate_seconds(less: Seconds, more: Seconds, large: float, power: float) -> Seconds:
    """Return the seconds of all documents, from those of a share (`more`) and of a `PILOT_RATIO`-th of it (`less`).

    Seconds are linear in documents ** power, with a slope and a constant that aren't negative.
    """
    growing = np.clip((more - less) / (1 - PILOT_RATIO**-power), 0, more)
    return np.asarray(more + growing * (large**-power - 1))


def _tried(batches: Sequence[Batch], share: float, jobs: int, store: Store) -> dict[float, Seconds]:
    """Time some batches on a share of their documents; return the estimated seconds of all batches by power.

    For the same methods on several splits, two splits are timed: the first computes what all others share.
    """
    counts, seconds = Counter(map(_kind, batches)), dict[Any, list[Any]]()
    chosen = dict.fromkeys([*counts][:: -(-len(counts) // MAX_TIMED_KINDS) or 1], 2)
    tasks: dict[Any, list[Batch]] = {}
    for batch in batches:
        if chosen.get(_kind(batch), 0):
            chosen[_kind(batch)] -= 1
            tasks.setdefault(batch.parts[0][0].place.of_task, []).append(batch)
    bench = MatrixCache(
        jobs, int(memory_budget() * share**2)
    )  # matrices too large to store in a run aren't stored here
    walk = TaskExecutor(RunContext(store), bench)
    with blas_threads(jobs):
        for of_task in tasks.values():
            for batch in subsample_batches(of_task, share):
                started = wall_and_cpu_seconds()
                walk.results_of(batch)
                seconds.setdefault(_kind(batch), [batch]).append(wall_and_cpu_seconds() - started)
    bench.release()
    weight = len(counts) / max(1, len(chosen))
    by_power = {power: np.zeros(2) for power in (KERNEL_POWER, POINT_POWER)}
    for key, (batch, first, *rest) in seconds.items():
        power = POINT_POWER if batch.parts[0][0].classifies_points else KERNEL_POWER
        by_power[power] += weight * (first + (counts[key] - 1) * [first, *rest][-1])
    return by_power


def _kind(batch: Batch) -> tuple[Any, ...]:
    """Return a key that is equal for batches of the same methods on different splits."""
    return tuple(point.place for point, _ in batch.parts)


def subsample_rows(rows: NDArray[np.intp], members: NDArray[np.bool_], share: float, few: int) -> NDArray[np.intp]:
    """Return a random share of `rows`, with at least `few` of each class; every call draws the same documents.

    `members` are the class indicators of all documents, shape (n, k).
    """
    shuffled = rows[np.argsort(np.random.default_rng(0).random(len(members))[rows])]
    of_classes = [shuffled[members[shuffled, code]][:few] for code in range(members.shape[1])]
    return np.unique(np.concatenate([shuffled[: int(np.ceil(share * len(rows)))], *of_classes]))


def subsample_batches(batches: Sequence[Batch], share: float) -> list[Batch]:
    """Return the batches of a task on a share of its documents, at least `MIN_PER_CLASS` of each class to train on."""
    some = batches[0].parts[0][0].problem
    drawn: dict[int, list[NDArray[np.intp]]] = {}
    for split in (split for batch in batches for job in batch.jobs for split in job.splits):
        drawn[id(split)] = [
            subsample_rows(rows, some.members, share, few)
            for rows, few in ((split.train, MIN_PER_CLASS), (split.test, 0))
        ]
    all_ = subsample_rows(np.arange(len(some.documents)), some.members, share, 0)
    rows = np.unique(np.concatenate([all_, *(part for both in drawn.values() for part in both)]))
    made: dict[int, Split] = {}  # the same object for equal splits: methods are computed together on one

    def small(split: Split, train: NDArray[np.intp], test: NDArray[np.intp]) -> Split:
        """Return the split on the drawn documents."""
        smaller = Split(split.name, np.searchsorted(rows, train), np.searchsorted(rows, test), split.number)
        return made.setdefault(id(split), smaller)

    def small_job(job: StoreUnit) -> StoreUnit:
        """Return the job on the drawn documents."""
        inner = []
        for split, folds in zip(job.splits, job.inner, strict=True):
            train, _ = drawn[id(split)]
            smaller = [small(f, np.intersect1d(f.train, train), np.intersect1d(f.test, train)) for f in folds]
            inner.append(tuple(smaller))
        return replace(job, splits=tuple(small(split, *drawn[id(split)]) for split in job.splits), inner=tuple(inner))

    @cache
    def problem(whole: Problem) -> Problem:
        """Return the problem with the drawn documents only."""
        counts = replace(whole.counts, documents=whole.documents.take(rows), matrix=whole.counts.matrix[rows])
        trained = None if whole.trained is None else np.flatnonzero(np.isin(rows, whole.trained))
        texts = None if whole.texts is None else whole.texts.take(rows)
        return Problem(counts, f"{len(rows)} of {whole.key}", whole.seed, trained, whole.pruning, texts)

    def part(point: Setting, jobs: Sequence[StoreUnit]) -> tuple[Setting, tuple[StoreUnit, ...]]:
        # Not alone: otherwise a method that fails on a few documents would be checked for degenerate predictions.
        return replace(point, problem=problem(point.problem), alone=False), tuple(map(small_job, jobs))

    return [replace(batch, parts=tuple(part(*each) for each in batch.parts)) for batch in batches]


def peak_batch_bytes(batch: Batch, jobs: int) -> float:
    """Return the peak bytes of a batch: weights, inner products, kernel matrices, and their rows in LIBSVM's caches.

    Weights are copied for training and testing. Inner products larger than the budget are never stored. Kernels of
    one-vs-one machines are computed by tiles. A cache stores float32 values for half of the documents, those that may
    be support vectors.
    """
    point, own = batch.parts[0]
    spec, problem, split, budget = point.method.spec, point.problem, own[0].splits[0], memory_budget()
    weights, n, train = 4 * 12.0 * len(problem.counts.matrix.data), len(problem.documents), len(split.train)
    if spec.kernel is None:
        return weights
    if point.method.batched:
        return weights + 2 * 8.0 * n**2
    joined = isinstance(point.method, KernelSvm) and point.method.joins(point.terms) is not None
    shared = is_elementwise_kernel(spec.kernel.cls) and not isinstance(point.method, LinearOneVsRest)
    products = 8.0 * train * (train + len(split.test))
    if shared:
        trained = len(training_rows_of([split]) if problem.trained is None else problem.trained)
        products = 8.0 * n * (n if spec.representation.dirichlet else trained)
        products *= products <= (budget // SINGLE_USE_FRACTION if batch.once and joined else budget)
    kernel, largest = 8.0 * train**2, float(train)
    if joined:
        sizes = np.sort(np.bincount(problem.documents.labels[split.train])).astype(np.float64)
        largest = float(sizes[-2:].sum())
        kernel = min(budget / 4, 8 * float(sizes @ sizes) * len(batch.parts)) + min(budget / 2, 8 * jobs * largest**2)
    cache_bytes = float(getattr(spec.classifier.build(), "cache_mb", 0)) * 2**20
    return weights + products + kernel + jobs * min(cache_bytes, 2 * largest**2)
