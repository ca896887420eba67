"""What a run would compute, how much of it the store has, and what the rest takes: seconds, memory and disk."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from benchmark.config.model import Experiment
from benchmark.corpora.assemble import select
from benchmark.corpora.files import OwnFiles
from benchmark.environment import forget_peak, free_memory, peak_bytes
from benchmark.evaluation.predictions import CLOCKS, Given, Predictions
from benchmark.experiment.batches import batches
from benchmark.experiment.context import RunContext
from benchmark.experiment.kinds import summary_of
from benchmark.experiment.overlap import MOST_SPLITS, seen_before
from benchmark.experiment.reading import Read, counts_key, described
from benchmark.experiment.runner import measure, read_variants, works_of
from benchmark.experiment.store import Store
from benchmark.findings.part import part_of
from benchmark.findings.scoring import Run
from benchmark.library import trial
from benchmark.library.trial import clock
from benchmark.text.counts import Counts
from benchmark.text.vocabulary import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.boundaries.config import Boundaries
    from benchmark.config.model import Collection, Study
    from benchmark.corpora.corpus import StreamedCorpus
    from benchmark.evaluation.predictions import PointKey
    from benchmark.experiment.work import Job, PointWork, TaskWork
    from benchmark.library.trial import Piece, Seconds
    from benchmark.observer import Observer

RUN_PARTS = ("start", "reading and counting", "inner products", "training and deciding", "scoring and tables")
START, READING, PRODUCTS, LEARNING, SCORING = RUN_PARTS
#: Bytes of one's own text that are counted to plan; what is larger is taken to go on as it begins.
READ = 20_000_000
#: Cells that are scored on trial, panels that are drawn, documents that are compared, and of each class measured.
SCORED, DRAWN, COMPARED, MEASURED = 150, 4, 2000, 10


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


def plan(
    study: Study, store: Store, observer: Observer, *, jobs: int = 1, download: bool = True, quick: bool = False
) -> Plan:
    """Read and count the documents, unless the store has them, and try the methods on a sample of these.

    The counts are kept, so that a run doesn't count again; of large files of one's own, only the beginning is counted.

    Parameters
    ----------
    study, store, observer, jobs, download
        As of a run.
    quick : bool
        List what would be computed, and try nothing.

    Raises
    ------
    DataError, ConfigError
        As a run does, before it trains anything.
    """
    if not isinstance(study, Experiment):
        from benchmark.boundaries.run import BOUNDARIES  # noqa: PLC0415 - as in `experiment.kinds`

        return Plan(BOUNDARIES.plan(cast("Boundaries", study)))
    rehearsal = _Rehearsal(study, store, jobs)
    rehearsal.read(observer, download=download)
    rows: dict[str, list[int]] = {}
    for work in rehearsal.works:
        for point in work.points:
            row = rows.setdefault(_curve(point), [0, 0])
            row[0] += len(point.jobs)
            row[1] += len(point.jobs) - len(rehearsal.missing.get(point.place, ()))
    listed = [(name, n, stored) for name, (n, stored) in rows.items()]
    together = Counter(
        ", ".join(dict.fromkeys(_curve(point) for point, _ in batch.parts))
        for work in rehearsal.works
        for batch in batches(rehearsal.left(work), by_split=work.problem.several)
        if len(batch.parts) > 1
    )
    if quick:
        return Plan(listed, [*together.items()])
    free = free_memory() + rehearsal.resident[START]
    forecast, from_store = rehearsal.forecast()
    return Plan(listed, [*together.items()], from_store, forecast, _warnings(forecast, free, store, jobs))


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
        if forecast.memory[PRODUCTS] + forecast.memory[LEARNING] > forecast.peak / 4:
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


class _Rehearsal:
    """Does a little of each part of a run, and keeps what that took."""

    def __init__(self, study: Experiment, store: Store, jobs: int) -> None:
        self.study, self.store, self.jobs = study, store, jobs
        # Loading the libraries, which keeps one processor busy.
        self.seconds: dict[str, Seconds] = {START: np.full(2, clock()[1])}
        self.resident = {START: _resident()}
        self.works: list[TaskWork] = []
        self.missing: dict[PointKey, list[Job]] = {}
        self._read: Mapping[str, Read] = {}

    def read(self, observer: Observer, *, download: bool) -> None:
        """Read and count, and find out what the store lacks."""
        unread = np.zeros(2)
        if _large(self.study, self.store, observer):
            variants = self.study.variants.items()
            stand_ins = {name: _stand_in(each.collection, observer, self.jobs) for name, each in variants}
            self._read = {name: each for name, (each, _) in stand_ins.items()}
            unread = sum((took for _, took in stand_ins.values()), unread)
        else:
            read_variants(self.study, RunContext(self.store, observer, self.jobs, download))
        started = clock()
        if not self._read:  # now from the store, as a run will
            self._read = read_variants(self.study, RunContext(self.store, observer, self.jobs, download))
        self.works = list(works_of(self.study, self._read))
        for point in (point for work in self.works for point in work.points):
            left = [job for job in point.jobs if not self.store.has(job.key)]
            if left:
                self.missing[point.place] = left
        self.seconds[READING] = clock() - started + unread
        self.resident[READING] = _resident()

    def left(self, work: TaskWork) -> list[tuple[PointWork, Job]]:
        """Return what the store lacks of a task."""
        return [(point, job) for point in work.points for job in self.missing.get(point.place, ())]

    def forecast(self) -> tuple[Forecast, tuple[int, int]]:
        """What a run takes; and the cells that the store has, and all."""
        with tempfile.TemporaryDirectory(prefix="simplexbench-") as name:
            memory = self._learn(Path(name))
            (measured, failed), held = self._measure()
            memory[LEARNING] = max(memory[LEARNING], held - memory[PRODUCTS])  # matrices are let go before
            self.resident[LEARNING] = _resident()
            from_store = self._score(Path(name), measured, failed)
        resident, matrices = self.resident, sum(memory.values())
        memory |= {
            START: resident[START] + max(0.0, resident[LEARNING] - resident[READING]),
            READING: max(0.0, resident[READING] - resident[START]),
            SCORING: max(0.0, peak_bytes() - resident[LEARNING] - matrices),
        }
        seconds, cpu = ({part: float(self.seconds[part][which]) for part in RUN_PARTS} for which in (0, 1))
        return Forecast(seconds, cpu, {part: memory[part] for part in RUN_PARTS}, self._kept()), from_store

    def _kept(self) -> float:
        """Bytes of the decisions that the store is given, as `pack` writes them: a class of 16 bits and a tie of one.

        Of several classes, a bit for each of both; and the seconds of each split.
        """
        found = 0.0
        for point in (p for work in self.works for p in work.points if p.place in self.missing):
            of_document = len(point.problem.documents.classes) / 4 if point.problem.several else 2 + 1 / 8
            splits = [split for job in self.missing[point.place] for split in job.splits]
            found += sum(len(split.test) * of_document + 8 * len(CLOCKS) for split in splits)
        return min(found, self.store.limit)

    def _learn(self, folder: Path) -> dict[str, float]:
        """Try the methods: bytes of matrices by part."""
        candidates = list(dict.fromkeys(place[:4] for place in self.missing))
        chosen = set(candidates[:: -(-len(candidates) // trial.MOST_TRIED) or 1])
        some = {place: jobs for place, jobs in self.missing.items() if place[:4] in chosen}
        n = max((len(work.problem.documents) for work in self.works), default=1)
        trials: list[tuple[float, float, dict[PointKey, list[Piece]]]] = []
        budget = max(trial.BUDGET, trial.OF_EACH_METHOD * len(chosen))
        for share in trial.shares(n, trials, budget) if some else ():
            started, taken = clock(), dict[Any, Any]()
            for work in self.works:
                small = trial.sampled(work, some, share)
                if small is not None:
                    taken |= trial.tried(work, small, self.jobs, folder / str(len(trials)))
            trials.append((share, float((clock() - started)[1]), taken))
        one, two = (found for _, _, found in trials[-2:]) if trials else ({}, {})
        # Noise is extrapolated with the rest: what has as many steps is added up before.
        sums = defaultdict[tuple[str, float, float], Any](lambda: np.zeros((2, 2)))
        held, beside = np.zeros(2), 0.0
        for point in (p for work in self.works for p in work.points if p.place in one and p.place in two):
            n_splits = sum(len(job.splits) for job in some[point.place])
            before, last = one[point.place], two[point.place]
            both = [trial.whole(point, n_splits, pieces) for pieces in (before, last)]
            for part in both[0]:
                name = PRODUCTS if part == "products" else LEARNING
                power = trial.PRODUCTS if part == "products" else 1.0
                steps = before[0].steps[part] ** power, last[0].steps[part] ** power
                sums[name, *steps] += np.array([each[part] for each in both])
            sizes = np.array([[p.held[part] / p.steps[part] for part in ("products", "kernel")] for p in last])
            held, beside = np.maximum(held, sizes.max(axis=0)), max(beside, trial.beside(point, self.jobs))
        weight = len(candidates) / max(1, len(chosen))
        self.seconds |= {PRODUCTS: np.zeros(2), LEARNING: np.zeros(2)}
        if trials:  # what the first trial took beyond its like: libraries that methods load
            self.seconds[LEARNING] += max(0.0, trials[0][1] - trials[1][1])
        for (name, a, b), (less, more) in sums.items():
            self.seconds[name] = self.seconds[name] + weight * trial.on_a_line((a, less), (b, more))
        return {PRODUCTS: float(held[0]), LEARNING: float(held[1]) + beside}

    def _measure(self) -> tuple[tuple[dict[tuple[str, str], Any], dict[str, str]], float]:
        """What measures find out of a few documents, and the bytes that they hold; they work word by word."""
        peeking = Store(self.store.folder, limit=0)  # reads, and keeps nothing
        few = {name: _few(each.counts) for name, each in self._read.items()}
        counts = {name: (few[name], each.key) for name, each in self._read.items()}
        times = max(len(each.counts.vocabulary) / len(few[name].vocabulary) for name, each in self._read.items())
        resident, started = _resident(), clock()
        found = measure(self.study, counts, RunContext(peeking, jobs=self.jobs))
        self.seconds[LEARNING] = self.seconds[LEARNING] + (clock() - started) * times
        return found, max(0.0, peak_bytes() - resident) * times

    def _score(self, folder: Path, measured: dict[tuple[str, str], Any], failed: dict[str, str]) -> tuple[int, int]:
        """Score decisions that nobody made, most of them right, and draw a few panels; the cells from the store."""
        from benchmark.report.drawing.style import png_bytes, svg_bytes  # noqa: PLC0415 - a quick plan draws nothing
        from benchmark.report.files import figures_of, write_all  # noqa: PLC0415
        from benchmark.report.html.page import write_page  # noqa: PLC0415

        random, predictions = np.random.default_rng(0), Predictions({}, {}, {}, dict(measured))
        for work in self.works:
            predictions.tasks[work.variant, work.task] = work.documents
            predictions.splits.update({(work.variant, work.task, size): splits for size, splits in work.tested()})
            predictions.points.update({point.place: _made_up(point, work, random) for point in work.points})
        study, facts = self.study, {name: each.facts for name, each in self._read.items()}
        some = part_of(study, study.ids[:: -(-len(study.ids) // SCORED)], ()) if len(study.ids) > SCORED else study
        seen, started = self._look_for_duplicates(), clock()
        summary = summary_of(Run(some, predictions, failed, facts, self.jobs))
        scored, started = (clock() - started) * len(study.ids) / len(some.ids), clock()
        panels = sum(len(chart.panels) for chart in summary.charts)
        drawn = tuple(replace(chart, panels=chart.panels[:DRAWN]) for chart in summary.charts[:1])
        summary = replace(summary, charts=drawn)
        write_all(summary, folder / "tables")
        write_page(summary, folder / "tables", {})
        self.seconds[SCORING] = seen + scored + clock() - started
        n_drawn = sum(len(chart.panels) for chart in drawn)
        if panels > n_drawn:  # the first took the loading of what draws
            started = clock()
            for figure in figures_of(summary).values():
                png_bytes(figure)
                svg_bytes(figure)
            self.seconds[SCORING] = self.seconds[SCORING] + (clock() - started) * (panels / n_drawn - 1)
        stored = {point.place for work in self.works for point in work.points}.difference(self.missing)
        return Run(study, predictions, {}, facts, stored=stored).from_store

    def _look_for_duplicates(self) -> Seconds:
        """What near-duplicates of the first task take: they are looked for document by document, and split by split."""
        work = self.works[0]
        n, n_splits = len(work.problem.documents), sum(len(splits) for splits in work.splits.values())
        small = trial.sampled(work, {point.place: list(point.jobs) for point in work.points}, min(1.0, COMPARED / n))
        if small is None or n_splits > MOST_SPLITS:
            return np.zeros(2)
        started, some = clock(), sum(len(splits) for splits in small.splits.values())
        seen_before(small, Store(self.store.folder, limit=0))
        return (clock() - started) * n / len(small.problem.documents) * n_splits / some


def _resident() -> float:
    """Bytes that are resident now; 0 where the system doesn't tell. The peak is forgotten."""
    forget_peak()
    return float(np.nan_to_num(peak_bytes()))


def _made_up(point: PointWork, work: TaskWork, random: np.random.Generator) -> Given:
    documents, given = work.documents, list[Any]()
    splits = [split for job in point.jobs for split in job.splits]
    for split in splits:
        truth = documents.truth[split.test]
        other = ~truth if documents.several else random.integers(len(documents.classes), size=len(truth))
        wrong = random.random(truth.shape) < (0.2 / len(documents.classes) if documents.several else 0.2)
        given.append(np.where(wrong, other, truth).astype(truth.dtype))
    tied, n = tuple(np.zeros(each.shape, dtype=bool) for each in given), len(splits)
    inner = np.zeros(n if any(point.jobs[0].inner[:1]) else 0)
    return Given(tuple(given), tied, np.ones((n, len(CLOCKS))), np.ones(n), inner)


def _few(counts: Counts) -> Counts:
    """A few documents of each class, over the words that they have."""
    documents = counts.documents
    of = documents.labels if documents.topics is None else documents.topics.argmax(axis=1)
    rows = np.sort(np.concatenate([np.flatnonzero(of == code)[:MEASURED] for code in np.unique(of)]))
    matrix = counts.matrix[rows]
    kept = np.unique(matrix.indices)
    return Counts(documents.take(rows), matrix[:, kept], tuple(counts.vocabulary[column] for column in kept))


# --- Files that are too large to be counted for a plan ---


def _large(study: Experiment, store: Store, observer: Observer) -> bool:
    """Whether a variant's own files are large, and not counted yet."""
    for collection in (variant.collection for variant in study.variants.values()):
        reader = collection.reader
        if isinstance(reader, OwnFiles) and _bytes(reader) > READ:
            source = reader.locate(download=False, notify=observer.note, progress=False)
            if not store.has(counts_key(collection, source)):
                return True
    return False


def _bytes(reader: OwnFiles) -> int:
    given = [reader.path] if isinstance(reader.path, str) else list(reader.path.values())
    paths = [reader.base / Path(each).expanduser() for each in given]
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return sum(file.stat().st_size for file in files if file.is_file())


def _stand_in(collection: Collection, observer: Observer, jobs: int) -> tuple[Read, Seconds]:
    """All documents with the counts of the first of each class; and what counting all takes.

    A file may be sorted, by class or by the side of a split that is counted: then it is read to its end, as it was to
    find the classes.
    """
    reader = cast("OwnFiles", collection.reader)
    source = reader.locate(download=False, notify=observer.note, progress=False)
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
    first = count(held, collection.lexing, collection.pruning, jobs)
    took = read * (corpus.rows[-1] + 1) / (part.rows[-1] + 1) + (clock() - started) * len(documents) / len(some)
    counts = Counts(documents, first.matrix[rows], first.vocabulary)
    return Read(counts, counts_key(collection, source), described(counts, reader.facts()), {}), took
