"""A sample of a run's own work, done on the clock, to what all of that work takes.

Each method is tried on some of the documents, by the code that runs it, at two sizes. The seconds of each part of its
work lie on a line in the number of steps, see `_steps`, which goes on to the documents that there are.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmark.blocks import blas_threads
from benchmark.evaluation.predictions import PARTS
from benchmark.evaluation.protocols import Split
from benchmark.experiment.batches import batches
from benchmark.experiment.context import RunContext
from benchmark.experiment.runner import Walk
from benchmark.experiment.store import Store
from benchmark.kernels import elementwise
from benchmark.methods.base import Problem
from benchmark.methods.category_machines import FisherMachines, LinearCategories
from benchmark.methods.weights import differs_by_split, trained_by
from benchmark.methods.workbench import Workbench, memory_budget
from benchmark.tags import tags_of
from benchmark.text.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from benchmark.evaluation.predictions import PointKey
    from benchmark.experiment.work import Job, PointWork, TaskWork

    Seconds = NDArray[np.float64]

#: Documents of the first trial, and how many times as many the next has. At least so many of them are such as a split
#: trains on, where it has them; and so many of each class.
FIRST, GROWTH, LEAST, OF_EACH = 200, 3, 0.75, 6
#: The powers of the training documents that LIBSVM's solver and hyperplanes take; and of their number, inner products:
#: caches hold fewer of many (of 19,000 documents, one took 1.9 to 2.6 times as long as of 2,000).
SOLVER, HYPERPLANES, PRODUCTS = 1.85, 1.35, 1.15
#: Seconds of the processors that the last trial may take, as those before it let expect, at least and for each
#: candidate of a method that is tried; how many are.
BUDGET, OF_EACH_METHOD, MOST_TRIED = 1.5, 0.15, 60


def clock() -> Seconds:
    """Seconds on the clock and of the processors, shape (2,); the former also pass by what else the machine does."""
    return np.array([time.perf_counter(), time.process_time()])


class Sizes(NamedTuple):
    """How much a method has to do on a split: documents of the task, columns of inner products, trained on, tested."""

    rows: int
    columns: int
    train: int
    test: int


class _Watched(Workbench):
    """A workbench that tells what its inner products take."""

    def __init__(self, jobs: int, budget: int) -> None:
        super().__init__(jobs, budget)
        self.spent, self.squares, self.taken = np.zeros(2), False, 0

    def products(self, *given: Any, **named: Any) -> Any:
        """As of a workbench."""
        self.squares = False
        with self._watched():
            return super().products(*given, **named)

    def smoothed(self, *given: Any) -> Any:
        """As of a workbench."""
        with self._watched():
            return super().smoothed(*given)

    def square(self, *given: Any) -> Any:
        """As of a workbench."""
        self.squares = True
        with self._watched():
            return super().square(*given)

    def _take(self, shape: tuple[int, int]) -> Any:
        self.taken = shape[0] * shape[1] * 8
        return super()._take(shape)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        before, started = self.spent, clock()
        yield
        self.spent = before + clock() - started  # not added to: `products` may ask for `smoothed`


@dataclass(frozen=True)
class Piece:
    """What a method took for some splits at once.

    Parameters
    ----------
    splits : int
    took : dict of part to float array, shape (2,)
        Seconds as of `clock`, by `PARTS`.
    steps : dict of part to float
        How many steps that takes, as a share of those with all documents.
    held : dict of part to int
        Bytes of the workbench's matrices that were made.
    """

    splits: int
    took: dict[str, Seconds]
    steps: dict[str, float]
    held: dict[str, int]


def sizes_of(work: TaskWork) -> dict[PointKey, Sizes]:
    """The sizes of each point's work on its first split."""
    n, trained = len(work.problem.documents), len(trained_by([each for own in work.splits.values() for each in own]))
    found = {}
    for point in work.points:
        split, spec = point.jobs[0].splits[0], point.method.spec
        columns = len(split.train) if differs_by_split(spec.representation) else trained
        if spec.representation.dirichlet or (point.method.batched and spec.kernel is not None):
            columns = n  # smoothed documents have every word; one kernel matrix serves all splits
        found[point.place] = Sizes(n, columns, len(split.train), len(split.test))
    return found


def _steps(point: PointWork, squares: bool, some: Sizes, all_: Sizes) -> dict[str, float]:
    """The steps of each part, as a share of those that all documents take.

    Inner products are made of every pair of a row and a column. A kernel matrix has a value for each pair of documents
    that are trained on, or, where one serves all splits, of all documents. LIBSVM's solver reads a row of it in each
    iteration, of which there are about as many as support vectors: training would be their square, too, but of more
    documents a smaller share support a machine (on text, powers of 1.6 to 1.9 were measured). A tested document is
    compared with each support vector, but for hyperplanes. Classifiers of points go over the words of each document;
    those that look for hyperplanes do so more often, the more documents there are (powers of 1.2 to 1.5).
    """
    rows, columns, train, test = (a / b for a, b in zip(some, all_, strict=True))
    if point.method.spec.kernel is None:
        takes = train**HYPERPLANES if tags_of(point.method.spec.classifier.cls).takes_features else train
        return {"extraction": rows, "products": 1.0, "kernel": 1.0, "training": takes, "testing": test}
    values = rows * rows if point.method.batched else train * train
    training = (rows * train if point.method.batched else train * train) ** (SOLVER / 2)
    products = train * train if squares else rows * columns
    testing = test if isinstance(point.method, LinearCategories | FisherMachines) else test * train
    return {"extraction": train, "products": products, "kernel": values, "training": training, "testing": testing}


# --- The sample ---


def sampled(work: TaskWork, missing: Mapping[PointKey, list[Job]], share: float) -> TaskWork | None:
    """The first two splits of each point that has some to do, on a share of the documents; None if none has.

    Every class keeps its share, and a few documents of each that a split trains on.
    """
    problem, thinned = work.problem, {}
    u = _evenly(problem.documents.labels)
    least = int(LEAST * share * len(problem.documents))

    def thin(rows: NDArray[np.intp], least: int, of_each: int) -> NDArray[np.intp]:
        own = rows[np.argsort(u[rows], kind="stable")]
        members = problem.members[own]
        few = [own[members[:, column]][:of_each] for column in range(members.shape[1])]
        return np.unique(np.concatenate([own[: max(int(np.ceil(share * len(rows))), least)], *few]))

    jobs = {p.place: _first_two(missing[p.place]) for p in work.points if p.place in missing}
    if not jobs:
        return None
    for own in jobs.values():
        for split in (split for job in own for split in job.splits):
            if id(split) not in thinned:
                thinned[id(split)] = thin(split.train, least, OF_EACH), thin(split.test, OF_EACH, 0)
    rows = np.unique(np.concatenate([each for both in thinned.values() for each in both]))

    parts: dict[int, Split] = {}  # one of each, as methods are solved together on one

    def part(split: Split, train: NDArray[np.intp], test: NDArray[np.intp]) -> Split:
        own = Split(split.name, np.searchsorted(rows, train), np.searchsorted(rows, test), split.number)
        return parts.setdefault(id(split), own)

    def small(job: Job) -> Job:
        inner = tuple(
            tuple(part(f, np.intersect1d(f.train, kept), np.intersect1d(f.test, kept)) for f in folds)
            for folds, kept in zip(job.inner, (thinned[id(split)][0] for split in job.splits), strict=True)
        )
        return replace(job, splits=tuple(part(split, *thinned[id(split)]) for split in job.splits), inner=inner)

    counts = Counts(problem.documents.take(rows), problem.counts.matrix[rows], problem.counts.vocabulary)
    trained = np.searchsorted(rows, np.unique(np.concatenate([train for train, _ in thinned.values()])))
    own_problem = Problem(counts, f"{len(rows)} of {problem.key}", problem.seed, trained)
    # Not alone: of a few documents a method may see nothing, and to find out why would take a matrix that no run makes.
    points = [
        replace(p, problem=own_problem, jobs=tuple(map(small, jobs[p.place])), alone=False)
        for p in work.points
        if p.place in jobs
    ]
    splits = {p.place[4]: tuple(split for job in p.jobs for split in job.splits) for p in points}
    return replace(work, problem=own_problem, splits=splits, points=tuple(points))


def _first_two(jobs: list[Job]) -> list[Job]:
    """The first two splits of some jobs."""
    return [replace(job, splits=job.splits[:2], inner=job.inner[:2]) for job in jobs[:2]]


def _evenly(labels: NDArray[np.int32]) -> NDArray[np.float64]:
    """Numbers between 0 and 1, shape (n,): below f are a share f of the documents of each class."""
    random = np.random.default_rng(0)
    order = np.lexsort((random.random(len(labels)), labels))
    sizes = np.unique(labels, return_counts=True)[1]
    u = np.empty(len(labels))
    u[order] = np.concatenate([(np.arange(size) + 0.5) / size for size in sizes])
    return u


# --- The trial ---


def tried(work: TaskWork, small: TaskWork, jobs: int, folder: Path) -> dict[PointKey, list[Piece]]:
    """What the sample of a task took, by point and in its order; points that can't be tried are missing."""
    all_, some = sizes_of(work), sizes_of(small)
    n_bytes, n_small = (max(each.rows * each.columns * 8 for each in sizes.values()) for sizes in (all_, some))
    # The matrices of a sample are streamed where those of all documents are.
    bench = _Watched(jobs, int(memory_budget() * n_small / n_bytes))
    walk, found = Walk(RunContext(Store(folder, limit=10**12)), bench), dict[Any, list[Piece]]()
    todo = [(point, job) for point in small.points for job in point.jobs]
    with blas_threads(jobs):
        for batch in batches(todo, by_split=small.problem.several):
            products, started, bench.taken = bench.spent, clock(), 0
            results = walk.results_of(batch)
            took, products = (each / len(batch.parts) for each in (clock() - started, bench.spent - products))
            for (point, own), given in zip(batch.parts, results, strict=True):
                if isinstance(given, str):
                    continue
                steps = _steps(point, bench.squares, some[point.place], all_[point.place])
                if not bench.taken:  # what is made by tiles later: points and their postings
                    steps["products"] = some[point.place].rows / all_[point.place].rows
                held = {"products": bench.taken, "kernel": bench.nodes.nbytes}
                decisions = [each for job in own for each in given[job.key].decisions]
                parts = _divided(point, np.sum([each.seconds for each in decisions], axis=0), took, products)
                found.setdefault(point.place, []).append(Piece(len(decisions), parts, steps, held))
    bench.release()
    return found


def _divided(point: PointWork, booked: Seconds, took: Seconds, products: Seconds) -> dict[str, Seconds]:
    """Seconds by part. Those of inner products are known; the others share the rest by what the method has booked."""
    shares = dict(zip(PARTS, booked, strict=False))
    shares["kernel"] -= min(shares["kernel"], max(0.0, products[0] - shares["products"]))  # products booked as such
    shares["products"] = 0.0
    rest = np.maximum(took - products, 0)
    if point.method.batched and point.method.spec.kernel is not None:
        # A kernel matrix that methods share is booked by each of them.
        shares["kernel"] = max(0.0, float(rest[0]) - shares["training"])
    whole = sum(shares.values()) or 1.0
    return {part: rest * share / whole for part, share in shares.items()} | {"products": products}


# --- From the sample to all ---


def shares(n: int, trials: Sequence[tuple[float, float, Any]], budget: float = BUDGET) -> Iterator[float]:
    """The shares of n documents to try, given the shares and seconds of the processors of those so far.

    The first loads libraries, and is done once more. The last is as large as the `budget`, in such seconds, allows:
    what a trial takes beyond what any takes grows with the square of the documents, at worst.
    """
    first = min(1.0, FIRST / n)
    yield first
    yield first
    if first < 1:
        yield min(1.0, first * float(np.clip(budget / trials[-1][1], 1.5, GROWTH)))
        (small, less, _), (large, more, _) = trials[-2:]
        slope = max((more - less) / (large**2 - small**2), more / (3 * large) ** 2)
        last = min(1.0, float(np.sqrt(large**2 + max(0.0, budget - more) / slope)))
        if last > 1.2 * large:
            yield last


def on_a_line(one: tuple[float, Seconds], two: tuple[float, Seconds]) -> Seconds:
    """Seconds of all steps, given those of two shares of them: on the line through both.

    At least what the second took, and at most as many times as much as there are more steps.
    """
    (a, less), (b, more) = one, two
    proportional = more / b
    if b < 1.2 * a:
        return proportional
    return np.asarray(np.minimum(proportional, more + np.maximum(more - less, 0) * (1 - b) / (b - a)))


def whole(point: PointWork, n_splits: int, pieces: Sequence[Piece]) -> dict[str, Seconds]:
    """Seconds of all splits of a point: of the first, and each other as of the second, or all as of those at once."""
    first = pieces[0]
    if len(pieces) > 1:
        return {part: took + (n_splits - 1) * pieces[1].took[part] for part, took in first.took.items()}
    once = {"products", "kernel"} if point.method.spec.kernel is not None else set()
    return {part: took * (1 if part in once else n_splits / first.splits) for part, took in first.took.items()}


def beside(point: PointWork, jobs: int) -> float:
    """Bytes that a point holds beside the workbench's matrices: weights of all documents, and LIBSVM's rows.

    Weights are copied for what is trained on, tested and turned to postings. LIBSVM keeps rows as float32, up to its
    cache, of those documents that may become support vectors: half of them, as a rule.
    """
    n_bytes = 4 * 12.0 * len(point.problem.counts.matrix.data)
    spec, split = point.method.spec, point.jobs[0].splits[0]
    if spec.kernel is None:
        return n_bytes * (3 + jobs) / 4
    if point.method.batched:  # the kernel between all documents, and what it is made from
        return n_bytes + 2 * 8.0 * len(point.problem.documents) ** 2
    if not elementwise(spec.kernel.cls):  # its rows, before they are LIBSVM's
        n_bytes += 8.0 * len(split.train) * (len(split.train) + len(split.test))
    machine = spec.classifier.build()
    sizes = np.sort(point.problem.members[split.train].sum(axis=0))
    one_vs_one = not point.problem.several and machine.scheme == "one-vs-one"
    largest = float(sizes[-2:].sum()) if one_vs_one else len(split.train)
    return n_bytes + jobs * min(float(machine.cache_mb) * 2**20, 4 * largest**2 / 2)
