"""Plan of a run: what it would compute, what is in the store, and roughly the processor time and memory of the rest."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmark.analysis.formatting.number_text import MISSING_TEXT, two_digits_text
from benchmark.analysis.formatting.table import Table
from benchmark.config.collection import outline_documents
from benchmark.evaluation.splits import Split
from benchmark.experiment.context import LoadedVariant
from benchmark.experiment.counting import counts_key
from benchmark.experiment.plan import Batch, plan_batches, unit_splits
from benchmark.experiment.runner import plan_tasks, read_variants
from benchmark.methods.matrix_cache import SINGLE_USE_FRACTION, MatrixCache, memory_budget
from benchmark.methods.problem import Problem
from benchmark.methods.wrappers.fusion import FusedMethod
from benchmark.system.errors import DataError
from benchmark.system.memory import free_memory, peak_memory
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads
from benchmark.text.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import Experiment, MethodSpec, TextSettings
    from benchmark.corpora.corpus import Documents
    from benchmark.experiment.context import RunContext
    from benchmark.experiment.plan import Setting

#: Training documents of a sample that a batch is timed on, and of each of its classes at least.
SAMPLE_DOCUMENTS, MIN_PER_CLASS = 500, 6
#: Distinct terms of the vocabulary and of a document, where documents aren't counted yet.
MADE_VOCABULARY, MADE_TERMS = 10_000, 100


@dataclass(frozen=True)
class Plan:
    """Plan of a run.

    Parameters
    ----------
    rows : list of (str, int, int)
        Name of each curve or cell, the number of its store entries, and how many of them the store has.
    batches : list of (str, int, float)
        Curves or cells that are computed together, their fits that the store lacks, and the processor seconds of those:
        NaN where no time was measured.
    memory : float
        Bytes that the run takes.
    free_bytes : float
        Memory that a run may take.
    jobs : int
        Threads.
    """

    rows: list[tuple[str, int, int]]
    batches: list[tuple[str, int, float]] = field(default_factory=list)
    memory: float = 0.0
    free_bytes: float = math.inf
    jobs: int = 1

    @property
    def seconds(self) -> float:
        """Processor seconds of all batches that were timed."""
        return math.fsum(seconds for *_, seconds in self.batches if not math.isnan(seconds))

    @property
    def warnings(self) -> list[str]:
        """Remedies, if the run needs more memory than is free."""
        if self.memory <= self.free_bytes:
            return []
        remedies = "take fewer documents, `linear-svm` instead of a kernel, or a smaller BENCH_MEMORY_GB"
        jobs = " or --jobs 1" if self.jobs > 1 else ""
        return [f"the run needs {_gigabytes(self.memory)} of memory, and {_free(self)}: {remedies}{jobs}"]


def plan_run(experiment: Experiment, context: RunContext, *, with_pilot: bool = True) -> Plan:
    """List what a run would compute, and time a batch of each method on a sample of the documents.

    Documents that the store has no counts of aren't read: their numbers by class and part are those that are known
    without, nothing of them is stored, and methods are timed on random counts.

    Parameters
    ----------
    experiment : Experiment
    context : RunContext
    with_pilot : bool
        Whether to train the methods on a sample; else seconds are NaN.

    Returns
    -------
    Plan

    Raises
    ------
    DataError, ConfigError
        As a run does before training.
    """
    counted = _is_counted(experiment, context)
    read = read_variants(experiment, context) if counted else dict(_outlines(experiment))
    works = list(plan_tasks(experiment, read))
    entries, lacking, kinds = Counter[str](), Counter[str](), defaultdict[str, list[Batch]](list)
    for work in works:
        units = [(point, job) for point in work.settings for job in point.units]
        missing = [(point, job) for point, job in units if not (counted and context.store.has(job.key))]
        entries.update(_curve(point) for point, _ in units)
        lacking.update(_curve(point) for point, _ in missing)
        for batch in plan_batches(missing, by_split=work.problem.multilabel):
            kinds[", ".join(dict.fromkeys(_curve(point) for point, _ in batch.parts))].append(batch)
    memory, free = 0.0, free_memory() + float(np.nan_to_num(peak_memory()))
    if kinds:
        memory = float(np.nan_to_num(peak_memory()))
        memory += max(_matrix_bytes(batch, context.jobs) for batches in kinds.values() for batch in batches)
    matrices, timed = MatrixCache(context.jobs), []
    with blas_threads(context.jobs):
        for name, batches in kinds.items():
            fits = sum(len(unit_splits(jobs)) for batch in batches for _, jobs in batch.parts)
            timed.append((name, fits, _batch_seconds(batches, matrices) if with_pilot else math.nan))
    rows = [(name, n, n - lacking[name]) for name, n in entries.items()]
    return Plan(rows, timed, memory, free, context.jobs)


def _is_counted(experiment: Experiment, context: RunContext) -> bool:
    """Return whether the store has the counts of every variant; a user's corpus is read each time."""
    for collection in (variant.collection for variant in experiment.variants.values()):
        if is_builtin(type(collection.reader)):
            try:
                source = collection.reader.locate(download=False, notify=context.observer.note)
            except DataError:
                return False
            if not context.store.has(counts_key(collection, source)):
                return False
    return True


def _outlines(experiment: Experiment) -> Iterator[tuple[str, LoadedVariant]]:
    """Yield the documents of each variant as they are known without being read, with no counts."""
    for name, variant in experiment.variants.items():
        documents = outline_documents(variant.collection)
        if documents.topics is not None and not documents.topics.any():
            cycle = np.arange(len(documents)) % len(documents.classes)
            documents = replace(documents, topics=np.eye(len(documents.classes), dtype=np.bool_)[cycle])
        texts = {text: (_uncounted(documents, text), str(text)) for text in (variant.collection.text, *variant.texts)}
        yield name, LoadedVariant(*texts[variant.collection.text], {}, texts)


def _uncounted(documents: Documents, text: TextSettings) -> Counts:
    """Return counts of which all are 0, in the blocks that a text has."""
    words, n_blocks = tuple(map(str, range(MADE_VOCABULARY))), len(text.lexing.blocks)
    block_of = (np.arange(len(words)) * n_blocks // len(words)).astype(np.int32)
    matrix = sp.csr_array((len(documents), len(words)), dtype=np.int32)
    return Counts(documents, matrix, words, 0, text.lexing.blocks, block_of)


def plan_tables(planned: Plan) -> list[Table]:
    """Return a table of what a run would compute, and one of what is computed together."""
    batches = [(name, fits, format_seconds(seconds)) for name, fits, seconds in planned.batches]
    together = [Table.of("", ("computed together", "fits", "processor time"), batches)]
    return [Table.of("", ("what", "entries", "in the store"), planned.rows), *(together if batches else [])]


def plan_sentence(planned: Plan) -> str:
    """Return the time and memory of what is missing in a sentence."""
    if not planned.batches:
        return "The store has every result."
    untimed = [name for name, _, seconds in planned.batches if math.isnan(seconds)]
    if len(untimed) == len(planned.batches):
        return f"A run takes about {_gigabytes(planned.memory)} of memory."
    but = f" Not timed: {', '.join(untimed)}." if untimed else ""
    return f"Training and predicting take about {needs_text(planned)}, a rough estimate: up to 4 times off.{but}"


def needs_text(planned: Plan) -> str:
    """Return the processor time and the memory of a run, and what is free where that is less."""
    scarce = f", of which {_free(planned)}" if planned.memory > planned.free_bytes else ""
    return f"{format_seconds(planned.seconds)} of processor time and {_gigabytes(planned.memory)}{scarce}"


def format_seconds(seconds: float) -> str:
    """Return a time as text, with two digits: an estimate isn't more precise."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{two_digits_text(seconds / size)} {unit}"
    return MISSING_TEXT if math.isnan(seconds) else f"{two_digits_text(seconds)} s"


def _gigabytes(n_bytes: float) -> str:
    """Return bytes as gigabytes, with two digits."""
    return f"{two_digits_text(n_bytes / 1e9)} GB"


def _free(planned: Plan) -> str:
    """Return the free memory in words."""
    return f"{_gigabytes(planned.free_bytes)} are free"


def _curve(point: Setting) -> str:
    """Return the name of a point's curve or cell."""
    return "-".join(word for word in point.key[:3] if word not in ("", "base"))


def _has_kernel(spec: MethodSpec) -> bool:
    """Return whether a method, or a method that it fuses, computes a kernel matrix."""
    return spec.kernel is not None or (spec.fused is not None and any(map(_has_kernel, spec.fused.members)))


def _matrix_bytes(batch: Batch, jobs: int) -> float:
    """Return the bytes of a batch's inner products and of the kernel values that its SVMs are trained on.

    Inner products beyond the budget are computed by tiles. One-vs-one SVMs read the values of two classes at a time.
    """
    point, units = batch.parts[0]
    if not _has_kernel(point.method.spec):
        return 0.0
    problem, budget = point.problem, memory_budget()
    columns = len(problem.documents) if problem.trained is None else len(problem.trained)
    products = min(8.0 * len(problem.documents) * columns, budget // SINGLE_USE_FRACTION if batch.once else budget)
    values = 0.0
    for split in unit_splits(units):
        if problem.multilabel or point.method.spec.classifier.resolved.get("scheme") != "one-vs-one":
            values = max(values, 8.0 * len(split.train) ** 2)
        else:
            two = np.sort(problem.members[split.train].sum(axis=0))[-2:].sum()
            values = max(values, min(8.0 * two**2 * jobs, max(budget / 2, 8.0 * two**2)))
    return products + values


# --- Timing on samples ---


def _batch_seconds(batches: Sequence[Batch], matrices: MatrixCache) -> float:
    """Return the processor seconds of batches of the same methods; NaN where they can't be timed.

    The first batch is computed on samples of two splits: the second takes from the first what all splits of the
    documents share. Beyond those of a few documents, seconds grow with the pairs of documents where there is a kernel,
    else with the documents.
    """
    if any(point.user_classes for point, _ in batches[0].parts):
        return math.nan  # a user's code, which may print or end the process
    problem = batches[0].parts[0][0].problem
    same = [batch for batch in batches if batch.parts[0][0].problem is problem]
    splits = [split for batch in same for job in batch.parts[0][1] for split in job.splits][:2]
    kernel = any(_has_kernel(point.method.spec) for point, _ in batches[0].parts)
    (tiny,) = _samples(batches[0], splits[:1], 0.0)
    _solve(tiny, matrices)  # functions are compiled and loaded
    samples = _samples(batches[0], splits, SAMPLE_DOCUMENTS / len(splits[0].train))
    fixed, *taken = [_solve(each, matrices) for each in (tiny, *samples)]
    matrices.release()
    problems = {each.parts[0][0].problem.key: each for each in batches}.values()
    whole, once = _growth(batches, samples[-1:], kernel), _growth(problems, samples[:1], kernel)
    seconds = fixed * len(batches) + max(0.0, taken[-1] - fixed) * whole + max(0.0, taken[0] - taken[-1]) * once
    return math.nan if math.isnan(fixed + sum(taken)) else seconds


def _solve(batch: Batch, matrices: MatrixCache) -> float:
    """Return the processor seconds of a batch; NaN if it fails."""
    started = time.process_time()
    failed = [part for part in batch.solve(matrices) if isinstance(part, Exception)]
    return math.nan if failed else time.process_time() - started


def _growth(batches: Iterable[Batch], samples: Iterable[Batch], kernel: bool) -> float:
    """Return the documents of all fits as a multiple of those of samples; with a kernel, their pairs."""
    sizes = []
    for each in (batches, samples):
        splits = [split for batch in each for _, jobs in batch.parts for split in unit_splits(jobs)]
        sizes.append(sum((len(s.train) + len(s.test)) * (len(s.train) if kernel else 1) for s in splits))
    return sizes[0] / sizes[1]


def _samples(batch: Batch, splits: Sequence[Split], share: float) -> list[Batch]:
    """Return a batch on a share of the documents of each split."""
    members = batch.parts[0][0].problem.members
    trained = [_sample_rows(split.train, members, share, MIN_PER_CLASS) for split in splits]
    tested = [_sample_rows(split.test, members, share, 1) for split in splits]
    rows = np.unique(np.concatenate([*trained, *tested]))
    problem = cache(lambda whole: _sample_problem(whole, rows))
    points = []
    for point, _ in batch.parts:
        method: Any = point.method
        if isinstance(method, FusedMethod):
            units = tuple(map(problem, method.problems))
            method = FusedMethod(method.spec, method.methods, units, batched=method.batched)
        points.append(replace(point, problem=problem(point.problem), method=method))
    samples = []
    for split, *drawn in zip(splits, trained, tested, strict=True):
        train, test = (np.searchsorted(rows, each) for each in drawn)
        small = (Split(split.name, train, test, split.number),)
        jobs = [replace(units[0], splits=small, inner=((),)) for _, units in batch.parts]
        samples.append(replace(batch, parts=tuple((point, (job,)) for point, job in zip(points, jobs, strict=True))))
    return samples


def _sample_rows(rows: NDArray[np.intp], members: NDArray[np.bool_], share: float, few: int) -> NDArray[np.intp]:
    """Return a random share of `rows`, with at least `few` of each class, if there are as many."""
    drawn = np.random.default_rng(0).permutation(rows)
    of_classes = [drawn[members[drawn, code]][:few] for code in range(members.shape[1])]
    return np.unique(np.concatenate([drawn[: math.ceil(share * len(rows))], *of_classes]))


def _sample_problem(whole: Problem, rows: NDArray[np.intp]) -> Problem:
    """Return a problem with the documents at `rows` alone."""
    matrix = whole.counts.matrix[rows] if whole.counts.matrix.nnz else _random_counts(whole.members[rows])
    counts = replace(whole.counts, documents=whole.documents.take(rows), matrix=matrix)
    trained = None if whole.trained is None else np.flatnonzero(np.isin(rows, whole.trained))
    texts = None if whole.texts is None else whole.texts.take(rows)
    return Problem(counts, f"{len(rows)} of {whole.key}", whole.seed, trained, whole.pruning, texts)


def _random_counts(members: NDArray[np.bool_]) -> sp.csr_array:
    """Return counts of documents: half of their terms are frequent ones of all documents, half of their classes."""
    rng, (n, k) = np.random.default_rng(0), members.shape
    ranks = (MADE_VOCABULARY ** rng.random((n, MADE_TERMS))).astype(np.intp)  # by Zipf's law
    of_class = members.argmax(axis=1) * (MADE_VOCABULARY // k)
    ranks[:, ::2] += of_class[:, None]
    columns = ranks.ravel() % MADE_VOCABULARY
    rows = np.repeat(np.arange(n), MADE_TERMS)
    made = sp.csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=(n, MADE_VOCABULARY))
    made.sum_duplicates()
    return made
