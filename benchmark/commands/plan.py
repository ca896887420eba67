"""Plan of a run: what it would compute, what is in the store, and the time, memory and disk space of the rest."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from benchmark.analysis.scoring import RunPredictions
from benchmark.analysis.summarize import summarize
from benchmark.commands import pilot
from benchmark.commands.pilot import wall_and_cpu_seconds
from benchmark.config.model import Experiment
from benchmark.config.subset import subset_experiment
from benchmark.corpora.assemble import select_documents
from benchmark.corpora.user.user_files import UserFiles
from benchmark.evaluation.predictions import NO_INNER_FOLDS, TIMERS, Predictions, SettingPredictions, SplitKey, TaskKey
from benchmark.experiment.batches import plan_batches
from benchmark.experiment.context import LoadedVariant, RunContext
from benchmark.experiment.counting import counts_key, describe_counts
from benchmark.experiment.runner import compute_diagnostics, plan_tasks, read_variants
from benchmark.experiment.store import Store
from benchmark.methods.problem import Problem
from benchmark.system.memory import free_memory, peak_memory, reset_peak_memory
from benchmark.text.counts import Counts
from benchmark.text.vocabulary import count_terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.commands.pilot import Seconds
    from benchmark.config.model import Collection, Experiment
    from benchmark.corpora.corpus import StreamedCorpus
    from benchmark.evaluation.predictions import SettingKey
    from benchmark.experiment.batches import Batch
    from benchmark.experiment.settings import PlannedTask, Setting, StoreUnit

RUN_PARTS = ("start", "reading and counting", "training and deciding", "scoring and tables")
START, READING, LEARNING, SCORING = RUN_PARTS
#: Bytes of a user's files that are counted for a plan; the rest of a larger file is assumed to be like its beginning.
MAX_COUNTED_BYTES = 20_000_000
#: Cells that are scored to estimate the time of scoring.
MAX_SCORED_CELLS = 150


@dataclass(frozen=True)
class Forecast:
    """Estimated time, memory and disk space of a run.

    Parameters
    ----------
    seconds : dict of str to float
        Wall-clock seconds by `RUN_PARTS`.
    cpu : dict of str to float
        CPU seconds by `RUN_PARTS`, summed over processors.
    memory : dict of str to float
        Bytes that each part adds to the peak of resident memory.
    disk : float
        Bytes by which the store grows.
    """

    seconds: dict[str, float]
    cpu: dict[str, float]
    memory: dict[str, float]
    disk: float

    @property
    def peak(self) -> float:
        """Peak of resident memory, in bytes."""
        return sum(self.memory.values())


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
    """

    rows: list[tuple[str, int, int]]
    together: list[tuple[str, int]] = field(default_factory=list)
    from_store: tuple[int, int] = (0, 0)
    forecast: Forecast | None = None
    warnings: list[str] = field(default_factory=list)


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
    store, jobs = context.store, context.jobs
    loaded, start = _resident(), np.full(2, wall_and_cpu_seconds()[1])  # loading the libraries uses one processor
    read, reading = _read(experiment, context)
    started, works = wall_and_cpu_seconds(), list(plan_tasks(experiment, read))
    points = [point for work in works for point in work.points]
    left = {point.place: [job for job in point.jobs if not store.has(job.key)] for point in points}
    reading += wall_and_cpu_seconds() - started
    missing: list[Batch] = []
    for work in works:
        todo = [(point, job) for point in work.points for job in left[point.place]]
        missing += plan_batches(todo, by_split=work.problem.multilabel)
    rows, together = _rows(points, left), _together(missing)
    if not with_pilot:
        return Plan(rows, together)
    free, counted = free_memory() + loaded, _resident()
    with tempfile.TemporaryDirectory(prefix="simplexbench-") as name:
        learning = pilot.estimate_seconds(missing, jobs, Store(Path(name) / "store", limit=10**12))
        measured, measuring = _measured(experiment, read, store, jobs)
        learned, matrices = _resident(), max((pilot.peak_batch_bytes(batch, jobs) for batch in missing), default=0.0)
        stored = {place for place, jobs_left in left.items() if not jobs_left}
        facts = {name: each.facts for name, each in read.items()}
        run = RunPredictions(experiment, _made_up(works, measured), {}, facts, jobs, stored)
        took = start, reading, learning + measuring, _scoring(run, Path(name) / "tables")
        grown = max(0.0, learned - counted), max(0.0, counted - loaded), matrices, peak_memory() - learned - matrices
    seconds, cpu = (dict(zip(RUN_PARTS, map(float, each), strict=True)) for each in zip(*took, strict=True))
    memory = {part: max(0.0, n_bytes) for part, n_bytes in zip(RUN_PARTS, grown, strict=True)}
    memory[START] += loaded
    forecast = Forecast(seconds, cpu, memory, min(_kept(missing), store.limit))
    return Plan(rows, together, run.from_store, forecast, _warnings(forecast, free, store, jobs))


def _rows(points: list[Setting], left: Mapping[SettingKey, list[StoreUnit]]) -> list[tuple[str, int, int]]:
    """List each curve or cell with the number of its entries, and how many of them the store has."""
    entries, lacking = Counter[str](), Counter[str]()
    for point in points:
        entries[_curve(point)] += len(point.jobs)
        lacking[_curve(point)] += len(left[point.place])
    return [(name, n, n - lacking[name]) for name, n in entries.items()]


def _together(missing: list[Batch]) -> list[tuple[str, int]]:
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
    return (
        f"{run} takes about {_time(sum(found.forecast.seconds.values()))} and {_gigabytes(found.forecast.peak)}{rest}."
    )


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
        if forecast.memory[LEARNING] > forecast.peak / 4:
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


def _measured(
    experiment: Experiment, read: Mapping[str, LoadedVariant], store: Store, jobs: int
) -> tuple[dict[tuple[str, str], Any], Seconds]:
    """Return the diagnostics' results on a few documents, and their seconds scaled to the whole vocabulary."""
    few, growth, read_only = {}, 1.0, Store(store.folder, limit=0)  # reads entries, and stores nothing
    for name, variant in read.items():
        counts, members = variant.counts, Problem(variant.counts, "", 0).members
        rows = pilot.subsample_rows(np.arange(len(members)), members, 0, pilot.MIN_PER_CLASS)
        words = np.unique(counts.matrix[rows].indices)
        terms = {"vocabulary": tuple(counts.vocabulary[word] for word in words), "block_of": counts.block_of[words]}
        some = replace(counts, documents=counts.documents.take(rows), matrix=counts.matrix[rows][:, words], **terms)
        few[name], growth = (some, variant.key), max(growth, len(counts.vocabulary) / max(1, len(words)))
    started = wall_and_cpu_seconds()
    measured, _ = compute_diagnostics(experiment, few, RunContext(read_only, jobs=jobs))
    return measured, (wall_and_cpu_seconds() - started) * growth


def _made_up(works: list[PlannedTask], measured: dict[tuple[str, str], Any]) -> Predictions:
    """Return artificial predictions, to time their scoring: the true classes of other documents."""
    predictions = Predictions({}, {}, {}, measured)
    for work in works:
        predictions.tasks[TaskKey(work.variant, work.task)] = work.documents
        predictions.splits.update({SplitKey(work.variant, work.task, size): splits for size, splits in work.tested()})
        for number, point in enumerate(work.points):
            splits = [split for job in point.jobs for split in job.splits]
            labels = [np.roll(work.documents.truth[split.test], number, axis=0) for split in splits]
            by_split = [
                SettingPredictions.of_split(part, np.zeros(part.shape, bool), np.ones(len(TIMERS))) for part in labels
            ]
            counts = np.zeros((len(by_split), 3 * len(work.documents.classes) + 1), dtype=np.int64)
            inner = counts if any(point.jobs[0].inner) else NO_INNER_FOLDS
            predictions.settings[point.place] = replace(SettingPredictions.joined(by_split), inner=inner)
    return predictions


def _scoring(run: RunPredictions, folder: Path) -> Seconds:
    """Score some of the cells, write tables and pictures, and return the estimated seconds for all cells."""
    from benchmark.report.files import write_report_files  # noqa: PLC0415 - a plan without pilot runs draws nothing
    from benchmark.report.html.page import write_page  # noqa: PLC0415

    ids = run.experiment.ids
    some = (
        subset_experiment(run.experiment, ids[:: len(ids) // MAX_SCORED_CELLS], ())
        if len(ids) > MAX_SCORED_CELLS
        else run.experiment
    )
    started = wall_and_cpu_seconds()
    summary = summarize(replace(run, experiment=some))
    write_report_files(summary, folder)
    write_page(summary, folder, {})
    return (wall_and_cpu_seconds() - started) * len(ids) / len(some.ids)


# --- Reading, and files that are too large to count for a plan ---


def _read(experiment: Experiment, context: RunContext) -> tuple[Mapping[str, LoadedVariant], Seconds]:
    """Read and count the documents; return the variants, and the seconds of a run, which reads stored counts if any."""
    if _large(experiment, context):
        stand_ins = {name: _stand_in(variant.collection, context) for name, variant in experiment.variants.items()}
        took = np.sum([seconds for _, seconds in stand_ins.values()], axis=0)
        return {name: read for name, (read, _) in stand_ins.items()}, took
    read_variants(experiment, context)
    started = wall_and_cpu_seconds()  # now from the store, as a run will
    return read_variants(experiment, context), wall_and_cpu_seconds() - started


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
    started, part = wall_and_cpu_seconds(), corpus.take(some)
    texts = list(part)
    read, started = wall_and_cpu_seconds() - started, wall_and_cpu_seconds()
    in_memory = replace(part, rows=np.arange(len(some)), texts=lambda: iter(texts))
    first = count_terms(in_memory, collection.lexing, collection.pruning, context.jobs)
    took = read * (corpus.rows[-1] + 1) / (part.rows[-1] + 1) + (wall_and_cpu_seconds() - started) * len(
        documents
    ) / len(some)
    counts = Counts(documents, first.matrix[rows], first.vocabulary)
    return LoadedVariant(counts, counts_key(collection, source), describe_counts(counts, reader.facts()), {}), took
