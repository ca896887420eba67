"""Plan of a run: what it would compute, what is in the store, and the time, memory and disk space of the rest."""

from __future__ import annotations

import math
import shutil
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from benchmark.analysis.scoring import RunPredictions
from benchmark.commands.forecast.estimate import LEARNING, forecast_run
from benchmark.commands.forecast.pilot import clock
from benchmark.commands.forecast.sample import missing_batches
from benchmark.corpora.assemble import select_documents
from benchmark.corpora.user.user_files import UserFiles
from benchmark.evaluation.predictions import TIMERS, Predictions
from benchmark.experiment.context import LoadedVariant, RunContext
from benchmark.experiment.counting import counts_key, describe_counts
from benchmark.experiment.runner import plan_tasks, read_variants
from benchmark.system.memory import free_memory, peak_memory, reset_peak_memory
from benchmark.system.threads import n_processors
from benchmark.text.counts import Counts
from benchmark.text.vocabulary import count_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.commands.forecast.estimate import Forecast
    from benchmark.commands.forecast.pilot import Seconds
    from benchmark.config.model import Collection, Experiment
    from benchmark.corpora.corpus import StreamedCorpus
    from benchmark.experiment.batches import Batch
    from benchmark.experiment.settings import PlannedTask, Setting
    from benchmark.experiment.store import Store

#: Bytes of a user's files that are counted for a plan; the rest of a larger file is assumed to be like its beginning.
MAX_COUNTED_BYTES = 20_000_000


@dataclass(frozen=True)
class Plan:
    """Plan of a run.

    Parameters
    ----------
    rows : list of (str, int, int)
        Name of each curve or cell, the number of its store entries, and how many of them the store has.
    together : list of (str, int)
        Curves or cells that are computed together on a split, and the number of splits.
    from_store : (int, int)
        Number of cells that the store has, and number of all cells.
    forecast : Forecast or None
        None without a pilot run.
    warnings : list of str
        Shortages of memory or disk space, with remedies.
    free_bytes : float
        Memory that a run may take.
    """

    rows: list[tuple[str, int, int]]
    together: list[tuple[str, int]] = field(default_factory=list)
    from_store: tuple[int, int] = (0, 0)
    forecast: Forecast | None = None
    warnings: list[str] = field(default_factory=list)
    free_bytes: float = math.inf


def plan_run(experiment: Experiment, context: RunContext, *, with_pilot: bool = True) -> Plan:
    """Count the documents, unless the store has the counts, and time the methods on a share of them.

    The counts are stored, so that a run doesn't count again. Only the beginning of a user's large files is counted.

    Parameters
    ----------
    experiment : Experiment
    context : RunContext
    with_pilot : bool
        Train the methods on a share of the documents, to forecast seconds and memory; else only list what would be
        computed.

    Returns
    -------
    Plan

    Raises
    ------
    DataError, ConfigError
        As a run does before training.
    """
    store, loaded = context.store, _resident()
    read, reading = _read(experiment, context)
    started, works = clock(), list(plan_tasks(experiment, read))
    left = {job.key for work in works for point in work.points for job in point.jobs if not store.has(job.key)}
    reading = reading + clock() - started
    missing = missing_batches(works, left)
    rows, together = _rows(works, left), _together(missing)
    if not with_pilot:
        return Plan(rows, together)
    took, free = (reading, max(0.0, _resident() - loaded)), free_memory() + _resident()
    forecast = forecast_run(experiment, read, works, left, context, took, min(_kept(missing), store.limit))
    points = (point for work in works for point in work.points)
    stored = {point.place for point in points if not left.intersection(job.key for job in point.jobs)}
    from_store = RunPredictions(experiment, Predictions({}, {}, {}), {}, {}, context.jobs, stored).from_store
    return Plan(rows, together, from_store, forecast, _warnings(forecast, free, store, context.jobs), free)


def _rows(works: Sequence[PlannedTask], left: set[str]) -> list[tuple[str, int, int]]:
    """List each curve or cell with the number of its entries, and how many of them the store has."""
    entries, lacking = Counter[str](), Counter[str]()
    for point in (point for work in works for point in work.points):
        entries[_curve(point)] += len(point.jobs)
        lacking[_curve(point)] += sum(job.key in left for job in point.jobs)
    return [(name, n, n - lacking[name]) for name, n in entries.items()]


def _together(missing: Sequence[Batch]) -> list[tuple[str, int]]:
    """List the curves or cells that are computed together, and the number of splits."""
    joined = [batch.parts for batch in missing if len(batch.parts) > 1]
    return [*Counter(", ".join(dict.fromkeys(_curve(point) for point, _ in parts)) for parts in joined).items()]


def _curve(point: Setting) -> str:
    """Return the name of a point's curve or cell."""
    return "-".join(word for word in point.place[:3] if word not in ("", "base"))


def forecast_text(found: Plan) -> str:
    """Return the time and memory of a run in a sentence; "" without a forecast."""
    if found.forecast is None:
        return ""
    stored, cells = found.from_store
    run, rest = ("A run", f"; {stored:,} of {cells:,} cells are in the store") if stored else ("A first run", "")
    seconds, now = _time(sum(found.forecast.seconds.values())), ""
    if not math.isnan(found.forecast.load):
        now = f" while the machine is as busy as now (load {found.forecast.load:.1f}, {n_processors()} processors)"
    return f"{run} takes about {needs_text(found)}; {seconds} on the clock{now}{rest}."


def forecast_rows(found: Plan) -> list[tuple[str, str, str, str]]:
    """Return part, processor seconds, seconds on the clock and peak megabytes of each part of a run, and of all."""
    if found.forecast is None:
        return []
    cpu, seconds, memory = found.forecast.cpu, found.forecast.seconds, found.forecast.memory
    rows = [(part, f"{cpu[part]:.1f}", f"{seconds[part]:.1f}", f"{memory[part] / 1e6:,.0f}") for part in cpu]
    whole = f"{sum(cpu.values()):.1f}", f"{sum(seconds.values()):.1f}", f"{found.forecast.peak / 1e6:,.0f}"
    return [*rows, ("in all", *whole)]


def needs_text(found: Plan) -> str:
    """Return the processor time and the memory of a run; memory that isn't free is said; "" without a forecast."""
    if found.forecast is None:
        return ""
    cpu, peak = sum(found.forecast.cpu.values()), found.forecast.peak
    scarce = f", of which {_gigabytes(found.free_bytes)} are free" if peak > found.free_bytes else ""
    return f"{_time(cpu)} of processor time and {_gigabytes(peak)}{scarce}"


def _time(seconds: float) -> str:
    """Return a time as text, with two digits: an estimate isn't more precise."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{_rounded(seconds / size)} {unit}"
    return f"{_rounded(seconds)} s"


def _gigabytes(n_bytes: float) -> str:
    """Return bytes as gigabytes, with two digits."""
    return f"{_rounded(n_bytes / 1e9)} GB"


def _rounded(number: float) -> str:
    """Return a number with two significant digits."""
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:.1f}"


def _warnings(forecast: Forecast, free: float, store: Store, jobs: int) -> list[str]:
    """Return warnings about shortages of memory and disk space."""
    warnings = []
    if forecast.peak > free:
        remedies = ["take fewer documents or classes"]
        if forecast.memory[LEARNING] > max(free, forecast.peak / 2):
            remedies.append("`linear-svm` instead of a kernel, whose matrix grows with the square of the documents")
            remedies.append(
                "a smaller BENCH_MEMORY_GB, so that inner products and kernels are computed again instead of stored"
            )
        if jobs > 1:
            remedies.append("--jobs 1")
        shortage = f"the run needs {_gigabytes(forecast.peak)} of memory, and {_gigabytes(free)} are free"
        warnings.append(f"{shortage}: {', or '.join(remedies)}")
    if not store.local:
        return warnings
    top = Path(store.address)
    place = next(folder for folder in (top, *top.parents) if folder.exists())
    room = shutil.disk_usage(place).free
    if forecast.disk > room:
        shortage = f"the run stores {_gigabytes(forecast.disk)} in {store.folder}, and {_gigabytes(room)} are free"
        warnings.append(
            f"{shortage}: remove stored results (`bench cache clear`), or name another folder in BENCH_CACHE"
        )
    return warnings


def _resident() -> float:
    """Return the resident bytes, or 0 where the system doesn't report them, and reset the peak."""
    reset_peak_memory()
    return float(np.nan_to_num(peak_memory()))


def _kept(lacked: list[Batch]) -> float:
    """Return the bytes of the predictions that the store will get, as `pack` writes them.

    A prediction has a class of 16 bits and a tie of one bit; where documents may have several classes, each class has
    one bit for the prediction and one for the tie. Each split also has its seconds.
    """
    n_bytes = 0.0
    for point, jobs in (part for batch in lacked for part in batch.parts):
        of_document = len(point.problem.documents.classes) / 4 if point.problem.multilabel else 2 + 1 / 8
        n_bytes += sum(len(split.test) * of_document + 8 * len(TIMERS) for job in jobs for split in job.splits)
    return n_bytes


# --- Reading, and files that are too large to count for a plan ---


def _read(experiment: Experiment, context: RunContext) -> tuple[Mapping[str, LoadedVariant], Seconds]:
    """Read and count the documents; return the variants, and the seconds of a run, which reads stored counts if any."""
    if _large(experiment, context):
        stand_ins = {name: _stand_in(variant.collection, context) for name, variant in experiment.variants.items()}
        took = np.sum([seconds for _, seconds in stand_ins.values()], axis=0)
        return {name: read for name, (read, _) in stand_ins.items()}, took
    read_variants(experiment, context)
    started = clock()  # now from the store, as a run will
    return read_variants(experiment, context), clock() - started


def _large(experiment: Experiment, context: RunContext) -> bool:
    """Return whether a variant reads large user files that aren't counted yet."""
    for collection in (variant.collection for variant in experiment.variants.values()):
        reader = collection.reader
        if isinstance(reader, UserFiles) and _bytes(reader) > MAX_COUNTED_BYTES:
            source = reader.locate(download=False, notify=context.observer.note, progress=False)
            if not context.store.has(counts_key(collection, source)):
                return True
    return False


def _bytes(reader: UserFiles) -> int:
    """Return the size of the files of a corpus."""
    names = [reader.path] if isinstance(reader.path, str) else list(reader.path.values())
    paths = [reader.base / Path(name).expanduser() for name in names]
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return sum(file.stat().st_size for file in files if file.is_file())


def _stand_in(collection: Collection, context: RunContext) -> tuple[LoadedVariant, Seconds]:
    """Return all documents with repeated counts of each class's first documents, and the seconds of counting all.

    A file may be sorted by class, or by the part whose vocabulary is counted. Such a file is read to its end, as it was
    to determine the classes.
    """
    reader = cast("UserFiles", collection.reader)
    source = reader.locate(download=False, notify=context.observer.note, progress=False)
    corpus: StreamedCorpus = select_documents(reader.load(source), list(collection.classes), collection.exclude)
    documents, share = corpus.documents, min(1.0, MAX_COUNTED_BYTES / _bytes(reader))
    rows: NDArray[np.intp] = np.empty(len(documents), dtype=np.intp)
    counted = documents.parts == (*documents.part_names, collection.pruning.group).index(collection.pruning.group)
    kinds = 2 * documents.labels + counted
    for kind in np.unique(kinds):
        of_kind = np.flatnonzero(kinds == kind)
        rows[of_kind] = np.resize(of_kind[: int(np.ceil(share * len(of_kind)))], len(of_kind))
    some, rows = np.unique(rows, return_inverse=True)
    started, part = clock(), corpus.take(some)
    texts = list(part)
    read, started = clock() - started, clock()
    in_memory = replace(part, rows=np.arange(len(some)), texts=lambda: iter(texts))
    first = count_terms(in_memory, collection.lexing, collection.pruning, context.jobs)
    took = read * (corpus.rows[-1] + 1) / (part.rows[-1] + 1) + (clock() - started) * len(documents) / len(some)
    counts = Counts(documents, first.matrix[rows], first.vocabulary)
    return LoadedVariant(counts, counts_key(collection, source), describe_counts(counts, reader.facts()), {}), took
