"""What a run computes, tried on a share of the documents and on a larger one, to what it takes on all of them.

Everything is computed by the runner's own functions, on fewer documents. Some of the seconds are the same for any
number of them, the rest grows with a power that the kind of method has.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.blocks import blas_threads
from benchmark.evaluation.splits import Split
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import Walk
from benchmark.kernels import elementwise
from benchmark.methods.base import Problem
from benchmark.methods.category_machines import LinearCategories
from benchmark.methods.kernel_machines import KernelMachine
from benchmark.methods.weights import trained_by
from benchmark.methods.workbench import ONCE, Workbench, memory_budget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmark.experiment.batches import Batch
    from benchmark.experiment.store import Store
    from benchmark.experiment.work import Job, PointWork

    Seconds = NDArray[np.float64]

#: The larger trial trains on so many documents, and at most this share of them; the smaller on so many times fewer.
TRAINED, LARGEST, GROWTH = 1200, 1 / 3, 4
#: Documents of each class that are trained on at least; kinds of batches that are tried at most.
FEW, KINDS = 6, 60
#: The powers of the documents that seconds grow with, beside those that are the same for any number. Without these, one
#: power through both trials would give 20 Newsgroups a fifth of what it takes.
KERNELS, POINTS = 1.75, 1.25


def clock() -> Seconds:
    """Seconds on the clock and of the processors, shape (2,); the former also pass by what else the machine does."""
    return np.array([time.perf_counter(), time.process_time()])


def seconds_of(batches: Sequence[Batch], jobs: int, store: Store) -> Seconds:
    """Seconds that batches take, as on a share of the documents they take a + c · documents ** power.

    The smaller trial is done twice: the first also loads libraries, as a run does once.
    """
    sizes = [len(split.train) for batch in batches for job in batch.jobs for split in job.splits]
    large = min(LARGEST, TRAINED / max(sizes, default=1))
    first, less, more = (_tried(batches, share, jobs, store) for share in (large / GROWTH, large / GROWTH, large))
    found = np.maximum(sum(first.values(), np.zeros(2)) - sum(less.values(), np.zeros(2)), 0)
    for power, seconds in more.items():
        found += extrapolated(less[power], seconds, large, power)
    return found


def extrapolated(less: Seconds, more: Seconds, large: float, power: float) -> Seconds:
    """Seconds of all documents, given those of a `GROWTH`-th of a large share and of this share itself.

    They lie on a line in documents ** power, which doesn't fall and leaves nothing below zero.
    """
    growing = np.clip((more - less) / (1 - GROWTH**-power), 0, more)
    return np.asarray(more + growing * (large**-power - 1))


def _tried(batches: Sequence[Batch], share: float, jobs: int, store: Store) -> dict[float, Seconds]:
    """Compute some batches on a share of their documents: seconds of all, by the power that they grow with.

    Of the same methods on several splits there are tried two: the first makes what the others then find.
    """
    counts, seconds = Counter(map(_kind, batches)), dict[Any, list[Any]]()
    chosen = dict.fromkeys([*counts][:: -(-len(counts) // KINDS) or 1], 2)
    tasks: dict[Any, list[Batch]] = {}
    for batch in batches:
        if chosen.get(_kind(batch), 0):
            chosen[_kind(batch)] -= 1
            tasks.setdefault(batch.parts[0][0].place.of_task, []).append(batch)
    bench = Workbench(jobs, int(memory_budget() * share**2))  # what a run doesn't hold isn't held here
    walk = Walk(RunContext(store), bench)
    with blas_threads(jobs):
        for own in tasks.values():
            for batch in sampled(own, share):
                started = clock()
                walk.results_of(batch)
                seconds.setdefault(_kind(batch), [batch]).append(clock() - started)
    bench.release()
    weight = len(counts) / max(1, len(chosen))
    found = {power: np.zeros(2) for power in (KERNELS, POINTS)}
    for key, (batch, first, *rest) in seconds.items():
        power = POINTS if batch.parts[0][0].classifies_points else KERNELS
        found[power] += weight * (first + (counts[key] - 1) * [first, *rest][-1])
    return found


def _kind(batch: Batch) -> tuple[Any, ...]:
    """Return the same for batches of the same methods, on whatever split."""
    return tuple(point.place for point, _ in batch.parts)


def thinned(rows: NDArray[np.intp], members: NDArray[np.bool_], share: float, few: int) -> NDArray[np.intp]:
    """A share of some documents, drawn once and for all, with a few of each class; `members` has the classes of all."""
    own = rows[np.argsort(np.random.default_rng(0).random(len(members))[rows])]
    of_each = [own[members[own, code]][:few] for code in range(members.shape[1])]
    return np.unique(np.concatenate([own[: int(np.ceil(share * len(rows)))], *of_each]))


def sampled(batches: Sequence[Batch], share: float) -> list[Batch]:
    """Return batches of a task on a share of its documents, with a `FEW` of each class to train on."""
    some = batches[0].parts[0][0].problem
    kept: dict[int, list[NDArray[np.intp]]] = {}
    for split in (split for batch in batches for job in batch.jobs for split in job.splits):
        kept[id(split)] = [
            thinned(rows, some.members, share, few) for rows, few in ((split.train, FEW), (split.test, 0))
        ]
    all_ = thinned(np.arange(len(some.documents)), some.members, share, 0)
    rows = np.unique(np.concatenate([all_, *(each for both in kept.values() for each in both)]))
    made: dict[int, Split] = {}  # one of each: methods are computed together on the same

    def small(split: Split, train: NDArray[np.intp], test: NDArray[np.intp]) -> Split:
        own = Split(split.name, np.searchsorted(rows, train), np.searchsorted(rows, test), split.number)
        return made.setdefault(id(split), own)

    def small_job(job: Job) -> Job:
        inner = []
        for split, folds in zip(job.splits, job.inner, strict=True):
            train, _ = kept[id(split)]
            own = [small(f, np.intersect1d(f.train, train), np.intersect1d(f.test, train)) for f in folds]
            inner.append(tuple(own))
        return replace(job, splits=tuple(small(split, *kept[id(split)]) for split in job.splits), inner=tuple(inner))

    @cache
    def problem(whole: Problem) -> Problem:
        counts = replace(whole.counts, documents=whole.documents.take(rows), matrix=whole.counts.matrix[rows])
        trained = None if whole.trained is None else np.flatnonzero(np.isin(rows, whole.trained))
        return Problem(counts, f"{len(rows)} of {whole.key}", whole.seed, trained)

    def part(point: PointWork, jobs: Sequence[Job]) -> tuple[PointWork, tuple[Job, ...]]:
        # Not alone: a method that sees nothing in a few documents would be asked why, which no run does.
        return replace(point, problem=problem(point.problem), alone=False), tuple(map(small_job, jobs))

    return [replace(batch, parts=tuple(part(*each) for each in batch.parts)) for batch in batches]


def held(batch: Batch, jobs: int) -> float:
    """Bytes that a batch holds at most: weights, inner products, kernel matrices, and rows of these in LIBSVM's caches.

    Weights are copied for what is trained on and tested. Inner products larger than the budget are never held. Kernels
    of one-vs-one machines are tiles. A cache keeps float32, of the half of the documents that may be support vectors.
    """
    point, own = batch.parts[0]
    spec, problem, split, budget = point.method.spec, point.problem, own[0].splits[0], memory_budget()
    weights, n, train = 4 * 12.0 * len(problem.counts.matrix.data), len(problem.documents), len(split.train)
    if spec.kernel is None:
        return weights
    if point.method.batched:
        return weights + 2 * 8.0 * n**2
    joined = isinstance(point.method, KernelMachine) and point.method.joins(point.terms) is not None
    shared = elementwise(spec.kernel.cls) and not isinstance(point.method, LinearCategories)
    products = 8.0 * train * (train + len(split.test))
    if shared:
        trained = len(trained_by([split]) if problem.trained is None else problem.trained)
        products = 8.0 * n * (n if spec.representation.dirichlet else trained)
        products *= products <= (budget // ONCE if batch.once and joined else budget)
    kernel, largest = 8.0 * train**2, float(train)
    if joined:
        sizes = np.sort(np.bincount(problem.documents.labels[split.train])).astype(np.float64)
        largest = float(sizes[-2:].sum())
        kernel = min(budget / 4, 8 * float(sizes @ sizes) * len(batch.parts)) + min(budget / 2, 8 * jobs * largest**2)
    cache_bytes = float(getattr(spec.classifier.build(), "cache_mb", 0)) * 2**20
    return weights + products + kernel + jobs * min(cache_bytes, 2 * largest**2)
