"""What a run would compute, how much of it the store has, and what the rest takes: seconds, memory and disk."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from benchmark.config.model import Experiment
from benchmark.corpora.assemble import select
from benchmark.corpora.files import OwnFiles
from benchmark.environment import forget_peak, free_memory, peak_bytes
from benchmark.evaluation.predictions import CLOCKS, Predictions, SettingPredictions, SplitKey, TaskKey
from benchmark.experiment.batches import batches
from benchmark.experiment.context import RunContext
from benchmark.experiment.reading import Read, counts_key, described
from benchmark.experiment.runner import measure, read_variants, works_of
from benchmark.experiment.store import Store
from benchmark.findings.part import part_of
from benchmark.findings.scoring import Run
from benchmark.findings.summary import summarized
from benchmark.library import trial
from benchmark.library.trial import clock
from benchmark.methods.base import Problem
from benchmark.text.counts import Counts
from benchmark.text.vocabulary import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.config.model import Collection, Experiment
    from benchmark.corpora.corpus import StreamedCorpus
    from benchmark.evaluation.predictions import SettingKey
    from benchmark.experiment.batches import Batch
    from benchmark.experiment.work import Job, PointWork, TaskWork
    from benchmark.library.trial import Seconds

RUN_PARTS = ("start", "reading and counting", "training and deciding", "scoring and tables")
START, READING, LEARNING, SCORING = RUN_PARTS
#: Bytes of one's own text that are counted to plan; what is larger is taken to go on as it begins.
READ = 20_000_000
#: Cells that are scored on trial.
SCORED = 150


@dataclass(frozen=True)
class Forecast:
    """What a run takes.

    Parameters
    ----------
    seconds : dict of str to float
        On the clock, by `RUN_PARTS`.
    cpu : dict of str to float
        The same of all processors together.
    memory : dict of str to float
        Bytes that each part adds to what is resident at the peak.
    disk : float
        Bytes that the store grows by.
    """

    seconds: dict[str, float]
    cpu: dict[str, float]
    memory: dict[str, float]
    disk: float

    @property
    def peak(self) -> float:
        """Resident bytes at the peak."""
        return sum(self.memory.values())


@dataclass(frozen=True)
class Plan:
    """What a run would compute.

    Parameters
    ----------
    rows : list of (str, int, int)
        Each curve or cell, its entries, and how many of them the store has.
    together : list of (str, int)
        Curves or cells that are computed together on a split, and on how many splits.
    from_store : (int, int)
        Cells that the store has, and cells.
    forecast : Forecast or None
        None where nothing was tried.
    warnings : list of str
        What the machine is too small for, and what to do about it.
    """

    rows: list[tuple[str, int, int]]
    together: list[tuple[str, int]] = field(default_factory=list)
    from_store: tuple[int, int] = (0, 0)
    forecast: Forecast | None = None
    warnings: list[str] = field(default_factory=list)


def plan(study: Experiment, context: RunContext, *, quick: bool = False) -> Plan:
    """Read and count the documents, unless the store has them, and try the methods on a share of these.

    The counts are kept, so that a run doesn't count again; of large files of one's own, only the beginning is counted.

    Parameters
    ----------
    study : Experiment
    context : RunContext
    quick : bool
        List what would be computed, and try nothing.

    Raises
    ------
    DataError, ConfigError
        As a run does, before it trains anything.
    """
    store, jobs = context.store, context.jobs
    loaded, start = _resident(), np.full(2, clock()[1])  # loading the libraries keeps one processor busy
    read, reading = _read(study, context)
    started, works = clock(), list(works_of(study, read))
    points = [point for work in works for point in work.points]
    left = {point.place: [job for job in point.jobs if not store.has(job.key)] for point in points}
    reading += clock() - started
    missing: list[Batch] = []
    for work in works:
        todo = [(point, job) for point in work.points for job in left[point.place]]
        missing += batches(todo, by_split=work.problem.several)
    rows, together = _rows(points, left), _together(missing)
    if quick:
        return Plan(rows, together)
    free, counted = free_memory() + loaded, _resident()
    with tempfile.TemporaryDirectory(prefix="simplexbench-") as name:
        learning = trial.seconds_of(missing, jobs, Store(Path(name) / "store", limit=10**12))
        measured, measuring = _measured(study, read, store, jobs)
        learned, matrices = _resident(), max((trial.held(batch, jobs) for batch in missing), default=0.0)
        stored = {place for place, jobs_left in left.items() if not jobs_left}
        facts = {name: each.facts for name, each in read.items()}
        run = Run(study, _made_up(works, measured), {}, facts, jobs, stored)
        took = start, reading, learning + measuring, _scoring(run, Path(name) / "tables")
        grown = max(0.0, learned - counted), max(0.0, counted - loaded), matrices, peak_bytes() - learned - matrices
    seconds, cpu = (dict(zip(RUN_PARTS, map(float, each), strict=True)) for each in zip(*took, strict=True))
    memory = {part: max(0.0, n_bytes) for part, n_bytes in zip(RUN_PARTS, grown, strict=True)}
    memory[START] += loaded
    forecast = Forecast(seconds, cpu, memory, min(_kept(missing), store.limit))
    return Plan(rows, together, run.from_store, forecast, _warnings(forecast, free, store, jobs))


def _rows(points: list[PointWork], left: Mapping[SettingKey, list[Job]]) -> list[tuple[str, int, int]]:
    """List each curve or cell with its entries, and how many of them the store has."""
    entries, lacking = Counter[str](), Counter[str]()
    for point in points:
        entries[_curve(point)] += len(point.jobs)
        lacking[_curve(point)] += len(left[point.place])
    return [(name, n, n - lacking[name]) for name, n in entries.items()]


def _together(missing: list[Batch]) -> list[tuple[str, int]]:
    """List what is computed together, and on how many splits."""
    joined = [batch.parts for batch in missing if len(batch.parts) > 1]
    return [*Counter(", ".join(dict.fromkeys(_curve(point) for point, _ in parts)) for parts in joined).items()]


def _curve(point: PointWork) -> str:
    """Name the curve or cell that a point is of."""
    return "-".join(word for word in point.place[:3] if word not in ("", "base"))


def in_words(found: Plan) -> str:
    """What a run takes, in a sentence; nothing where that wasn't tried."""
    if found.forecast is None:
        return ""
    stored, cells = found.from_store
    run, rest = ("A run", f"; {stored:,} of {cells:,} cells are in the store") if stored else ("A first run", "")
    return (
        f"{run} takes about {_time(sum(found.forecast.seconds.values()))} and {_gigabytes(found.forecast.peak)}{rest}."
    )


def _time(seconds: float) -> str:
    """To two digits: more would be untrue."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{_rounded(seconds / size)} {unit}"
    return f"{_rounded(seconds)} s"


def _gigabytes(n_bytes: float) -> str:
    return f"{_rounded(n_bytes / 1e9)} GB"


def _rounded(number: float) -> str:
    shown = float(f"{number:.2g}")
    return f"{shown:,.0f}" if shown >= 10 else f"{shown:.1f}"


def _warnings(forecast: Forecast, free: float, store: Store, jobs: int) -> list[str]:
    found = []
    if forecast.peak > free:
        does = ["take fewer documents or classes"]
        if forecast.memory[LEARNING] > forecast.peak / 4:
            does.append("`linear-svm` instead of a kernel, whose matrices grow with the documents' square")
            does.append(
                "a smaller BENCH_MEMORY_GB, which computes inner products and kernels again rather than hold them"
            )
        if jobs > 1:
            does.append("--jobs 1")
        missing = f"it takes {_gigabytes(forecast.peak)} of memory, and {_gigabytes(free)} are free"
        found.append(f"{missing}: {', or '.join(does)}")
    if not store.local:
        return found
    top = Path(store.address)
    place = next(each for each in (top, *top.parents) if each.exists())
    room = shutil.disk_usage(place).free
    if forecast.disk > room:
        full = f"it keeps {_gigabytes(forecast.disk)} in {store.folder}, and the disk has {_gigabytes(room)}"
        found.append(f"{full}: remove some of it (`bench cache clear`), or name another folder in BENCH_CACHE")
    return found


def _resident() -> float:
    """Return the bytes that are resident now; 0 where the system doesn't tell. The peak is forgotten."""
    forget_peak()
    return float(np.nan_to_num(peak_bytes()))


def _kept(lacked: list[Batch]) -> float:
    """Return the bytes of decisions that the store is given, as `pack` writes them: a class of 16 bits, a tie of one.

    Of several classes, a bit for each of both; and the seconds of each split.
    """
    found = 0.0
    for point, jobs in (part for batch in lacked for part in batch.parts):
        of_document = len(point.problem.documents.classes) / 4 if point.problem.several else 2 + 1 / 8
        found += sum(len(split.test) * of_document + 8 * len(CLOCKS) for job in jobs for split in job.splits)
    return found


def _measured(
    study: Experiment, read: Mapping[str, Read], store: Store, jobs: int
) -> tuple[dict[tuple[str, str], Any], Seconds]:
    """Return what measures find out of a few documents, and their seconds with all: they work word by word."""
    few, growth, peeking = {}, 1.0, Store(store.folder, limit=0)  # reads, and keeps nothing
    for name, each in read.items():
        counts, members = each.counts, Problem(each.counts, "", 0).members
        rows = trial.thinned(np.arange(len(members)), members, 0, trial.FEW)
        words = np.unique(counts.matrix[rows].indices)
        own = {"vocabulary": tuple(counts.vocabulary[word] for word in words), "block_of": counts.block_of[words]}
        some = replace(counts, documents=counts.documents.take(rows), matrix=counts.matrix[rows][:, words], **own)
        few[name], growth = (some, each.key), max(growth, len(counts.vocabulary) / max(1, len(words)))
    started = clock()
    found, _ = measure(study, few, RunContext(peeking, jobs=jobs))
    return found, (clock() - started) * growth


def _made_up(works: list[TaskWork], measured: dict[tuple[str, str], Any]) -> Predictions:
    """Return decisions that nobody made, to be scored: the true ones, of other documents."""
    predictions = Predictions({}, {}, {}, measured)
    for work in works:
        predictions.tasks[TaskKey(work.variant, work.task)] = work.documents
        predictions.splits.update({SplitKey(work.variant, work.task, size): splits for size, splits in work.tested()})
        for number, point in enumerate(work.points):
            splits = [split for job in point.jobs for split in job.splits]
            labels = [np.roll(work.documents.truth[split.test], number, axis=0) for split in splits]
            own = [
                SettingPredictions.of_split(each, np.zeros(each.shape, bool), np.ones(len(CLOCKS))) for each in labels
            ]
            inner = np.zeros(len(own) if any(point.jobs[0].inner) else 0)
            predictions.settings[point.place] = replace(SettingPredictions.joined(own), inner=inner)
    return predictions


def _scoring(run: Run, folder: Path) -> Seconds:
    """Score, write tables and pictures, and return the seconds; of many cells some."""
    from benchmark.report.files import write_all  # noqa: PLC0415 - a quick plan draws nothing
    from benchmark.report.html.page import write_page  # noqa: PLC0415

    ids = run.study.ids
    some = part_of(run.study, ids[:: len(ids) // SCORED], ()) if len(ids) > SCORED else run.study
    started = clock()
    summary = summarized(replace(run, study=some))
    write_all(summary, folder)
    write_page(summary, folder, {})
    return (clock() - started) * len(ids) / len(some.ids)


# --- Reading, and files that are too large to be counted for a plan ---


def _read(study: Experiment, context: RunContext) -> tuple[Mapping[str, Read], Seconds]:
    """Read and count; and how long a run then reads, which has the counts from the store, unless some are left."""
    if _large(study, context):
        found = {name: _stand_in(each.collection, context) for name, each in study.variants.items()}
        return {name: each for name, (each, _) in found.items()}, np.sum([took for _, took in found.values()], axis=0)
    read_variants(study, context)
    started = clock()  # now from the store, as a run will
    return read_variants(study, context), clock() - started


def _large(study: Experiment, context: RunContext) -> bool:
    """Whether a variant's own files are large, and not counted yet."""
    for collection in (variant.collection for variant in study.variants.values()):
        reader = collection.reader
        if isinstance(reader, OwnFiles) and _bytes(reader) > READ:
            source = reader.locate(download=False, notify=context.observer.note, progress=False)
            if not context.store.has(counts_key(collection, source)):
                return True
    return False


def _bytes(reader: OwnFiles) -> int:
    given = [reader.path] if isinstance(reader.path, str) else list(reader.path.values())
    paths = [reader.base / Path(each).expanduser() for each in given]
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return sum(file.stat().st_size for file in files if file.is_file())


def _stand_in(collection: Collection, context: RunContext) -> tuple[Read, Seconds]:
    """All documents with the counts of the first of each class; and what counting all takes.

    A file may be sorted, by class or by the side of a split that is counted: then it is read to its end, as it was to
    find the classes.
    """
    reader = cast("OwnFiles", collection.reader)
    source = reader.locate(download=False, notify=context.observer.note, progress=False)
    corpus: StreamedCorpus = select(reader.load(source), list(collection.classes), collection.exclude)
    documents, share = corpus.documents, min(1.0, READ / _bytes(reader))
    rows: NDArray[np.intp] = np.empty(len(documents), dtype=np.intp)
    counted = documents.groups == (*documents.group_names, collection.pruning.group).index(collection.pruning.group)
    kinds = 2 * documents.labels + counted
    for kind in np.unique(kinds):
        own = np.flatnonzero(kinds == kind)
        rows[own] = np.resize(own[: int(np.ceil(share * len(own)))], len(own))
    some, rows = np.unique(rows, return_inverse=True)
    started, part = clock(), corpus.take(some)
    texts = list(part)
    read, started = clock() - started, clock()
    held = replace(part, rows=np.arange(len(some)), texts=lambda: iter(texts))
    first = count(held, collection.lexing, collection.pruning, context.jobs)
    took = read * (corpus.rows[-1] + 1) / (part.rows[-1] + 1) + (clock() - started) * len(documents) / len(some)
    counts = Counts(documents, first.matrix[rows], first.vocabulary)
    return Read(counts, counts_key(collection, source), described(counts, reader.facts()), {}), took
