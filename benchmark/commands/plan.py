"""Plan of a run: what it would compute, what is in the store, and roughly the processor time and memory of the rest."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from benchmark.analysis.formatting.table import Table
from benchmark.analysis.formatting.units import MISSING_TEXT, two_digits_text
from benchmark.evaluation.splits import Split
from benchmark.experiment.counting import read_variants
from benchmark.experiment.plan import Batch, plan_batches
from benchmark.experiment.runner import plan_tasks
from benchmark.methods.matrix_cache import MatrixCache, memory_budget
from benchmark.methods.problem import Problem
from benchmark.system.memory import free_memory, peak_memory
from benchmark.system.row_blocks import blas_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmark.config.model import Experiment, MethodSpec
    from benchmark.experiment.context import RunContext

#: Documents that a batch is timed on, and few ones whose time is that of no document.
SAMPLE_DOCUMENTS, FEW_DOCUMENTS = 1000, 40


@dataclass(frozen=True)
class Plan:
    """Plan of a run.

    Parameters
    ----------
    entries, stored : int
        Number of the run's results, and how many of them the store has.
    batches : list of (str, int, float)
        Cells that are computed together, their fits in all variants and tasks that the store lacks, and the processor
        seconds of those: NaN where no time was measured.
    memory : float
        Bytes that the run takes.
    free_bytes : float
        Memory that a run may take.
    """

    entries: int
    stored: int
    batches: list[tuple[str, int, float]] = field(default_factory=list)
    memory: float = 0.0
    free_bytes: float = math.inf

    @property
    def seconds(self) -> float:
        """Processor seconds of all batches that were timed."""
        return math.fsum(seconds for *_, seconds in self.batches if not math.isnan(seconds))

    @property
    def warning(self) -> str:
        """A line with a remedy if the run needs more memory than is free, else ""."""
        if self.memory <= self.free_bytes:
            return ""
        needed, free = (f"{two_digits_text(n_bytes / 1e9)} GB" for n_bytes in (self.memory, self.free_bytes))
        remedies = "take fewer documents, `linear-svm` instead of a kernel, --jobs 1, or a smaller BENCH_MEMORY_GB"
        return f"the run needs {needed} of memory, and {free} are free: {remedies}"


def plan_run(experiment: Experiment, context: RunContext, *, with_pilot: bool = True) -> Plan:
    """List what a run would compute, and time a batch of each method on some of its documents.

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
    entries, stored, kinds = 0, 0, defaultdict[str, list[Batch]](list)
    for work in plan_tasks(experiment, read_variants(experiment, context)):
        missing = [unit for unit in work.units if not context.store.has(unit.key)]
        entries, stored = entries + len(work.units), stored + len(work.units) - len(missing)
        for batch in plan_batches(missing):
            kinds[", ".join(dict.fromkeys(unit.setting.key.method for unit in batch.units))].append(batch)
    peak = float(np.nan_to_num(peak_memory()))
    matrices_at_once = [_matrix_bytes(batch, context.jobs) for batches in kinds.values() for batch in batches]
    memory = peak + max(matrices_at_once) if kinds else 0.0
    matrices, timed = MatrixCache(1), []
    with blas_threads(1):  # threads that wait for each other would count as processor time
        for name, batches in kinds.items():
            fits = sum(len(unit.all_splits) for batch in batches for unit in batch.units)
            timed.append((name, fits, _batch_seconds(batches, matrices) if with_pilot else math.nan))
    return Plan(entries, stored, timed, memory, free_memory() + peak)


def plan_table(planned: Plan) -> Table:
    """Return a table of what is computed together."""
    batches = [(name, fits, format_seconds(seconds)) for name, fits, seconds in planned.batches]
    return Table.of("", ("computed together", "fits", "processor time"), batches)


def plan_sentence(planned: Plan) -> str:
    """Return the time and memory of what is missing in a sentence."""
    has = f"The store has {planned.stored:,} of {planned.entries:,} results."
    if not planned.batches:
        return has
    memory, untimed = two_digits_text(planned.memory / 1e9), [name for name, _, s in planned.batches if math.isnan(s)]
    if len(untimed) == len(planned.batches):
        return f"{has} The others take about {memory} GB of memory."
    needs = f"The others take about {format_seconds(planned.seconds)} of processor time and {memory} GB of memory"
    but = f" Not timed: {', '.join(untimed)}." if untimed else ""
    return f"{has} {needs}, a rough estimate, up to 4 times off.{but}"


def format_seconds(seconds: float) -> str:
    """Return a time as text, with two digits: an estimate isn't more precise."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{two_digits_text(seconds / size)} {unit}"
    return MISSING_TEXT if math.isnan(seconds) else f"{two_digits_text(seconds)} s"


def _has_kernel(spec: MethodSpec) -> bool:
    """Return whether a method, or a method that it fuses, computes a kernel matrix."""
    return spec.kernel is not None or (spec.fused is not None and any(map(_has_kernel, spec.fused.members)))


def _matrix_bytes(batch: Batch, jobs: int) -> float:
    """Return the bytes of a batch's inner products and of the kernel values that its SVMs are trained on.

    Inner products beyond the budget are computed by tiles. One-vs-one SVMs read the values of two classes at a time.
    """
    units = batch.parts[0]
    point, splits = units[0].setting, [split for unit in units for split in unit.all_splits]
    if not _has_kernel(point.method.spec):
        return 0.0
    problem, n = point.problem, len(point.problem.documents)
    products = min(8.0 * n * (n if problem.trained is None else len(problem.trained)), memory_budget())
    if problem.multilabel or point.method.spec.classifier.resolved.get("scheme") != "one-vs-one":
        return products + 8.0 * max(len(split.train) for split in splits) ** 2
    two = max(np.sort(problem.members[split.train].sum(axis=0))[-2:].sum() for split in splits)
    return products + 8.0 * float(two) ** 2 * jobs


# --- Timing on a sample ---


def _batch_seconds(batches: Sequence[Batch], matrices: MatrixCache) -> float:
    """Return the processor seconds of batches of the same methods; NaN where they can't be timed.

    Beyond those of a few documents, seconds grow with the pairs of documents where there is a kernel, else with the
    documents. A user's code isn't timed, since it may print or end the process, and neither are fused methods.
    """
    settings = [unit.setting for unit in batches[0].units]
    if any(setting.user_classes or setting.method.spec.fused for setting in settings):
        return math.nan
    kernel = any(_has_kernel(setting.method.spec) for setting in settings)
    few, sample = _sample(batches[0], FEW_DOCUMENTS), _sample(batches[0], SAMPLE_DOCUMENTS)
    _solve(few, matrices)  # compiles and loads functions
    fixed, timed = _solve(few, matrices), _solve(sample, matrices)
    matrices.release()
    return fixed * len(batches) + max(0.0, timed - fixed) / _size([sample], kernel) * _size(batches, kernel)


def _solve(batch: Batch, matrices: MatrixCache) -> float:
    """Return the processor seconds of a batch; NaN if it fails."""
    started = time.process_time()
    failed = [found for _, found in batch.solve(matrices) if isinstance(found, Exception)]
    return math.nan if failed else time.process_time() - started


def _size(batches: Iterable[Batch], kernel: bool) -> float:
    """Return the number of documents of all fits; with a kernel, of their pairs."""
    splits = [split for batch in batches for unit in batch.units for split in unit.all_splits]
    return sum((len(s.train) + len(s.test)) * (len(s.train) if kernel else 1) for s in splits)


def _sample(batch: Batch, n: int) -> Batch:
    """Return a batch on a split of about n of its documents, as many of each class as there are."""
    n = max(n, 8 * len(batch.units[0].setting.problem.documents.classes))
    part_of, parts = cache(partial(_part_of, n=n)), []
    for unit, *_ in batch.parts:
        part = part_of(unit.setting.problem)
        n_train, rows = 3 * len(part.documents) // 4, np.arange(len(part.documents))
        split = Split("sample", rows[:n_train], rows[n_train:], 0)
        parts.append((replace(unit, setting=replace(unit.setting, problem=part), splits=(split,), inner=((),)),))
    return replace(batch, parts=tuple(parts))


def _part_of(whole: Problem, n: int) -> Problem:
    """Return n random documents: one of each class, then another of each, and so on."""
    order = np.random.default_rng(0).permutation(len(whole.documents))
    codes = whole.members[order].argmax(axis=1)
    rows = order[np.argsort(pd.Series(codes).groupby(codes).cumcount(), kind="stable")[:n]]
    counts = replace(whole.counts, documents=whole.documents.take(rows), matrix=whole.counts.matrix[rows])
    texts = whole.texts and whole.texts.take(rows)
    return Problem(counts, f"{n} documents of {whole.key}", whole.seed, None, whole.pruning, texts)
