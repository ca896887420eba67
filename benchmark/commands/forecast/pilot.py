"""Pilot runs in a process of their own: the tasks of a run on samples of the documents, by the functions of a run.

``python -m benchmark.commands.forecast.pilot`` reads samples from standard input and writes measurements to standard
output. It is started by `PilotProcess`, so that memory and the time to start are those of a fresh process.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np

from benchmark.commands.forecast.sample import made_up_entries
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import cached_pictures, write_results
from benchmark.experiment.runner import run_tasks
from benchmark.experiment.store import Store
from benchmark.plugins.sending import pickle_by_name
from benchmark.system.errors import BenchError, one_line
from benchmark.system.memory import peak_memory, reset_peak_memory
from benchmark.system.numba_jit import ensure_numba_cache
from benchmark.system.observer import Observer
from benchmark.system.threads import let_openmp_threads_sleep
from benchmark.system.user_classes import running_user_code_here
from benchmark.workers.worker import unpickle_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.config.model import Experiment
    from benchmark.experiment.context import LoadedVariant
    from benchmark.experiment.settings import PlannedTask
    from benchmark.experiment.store import StoreEntry
    from benchmark.report.files import FigureSpec, Render

    Seconds = NDArray[np.float64]

_LENGTH = struct.Struct("<Q")
#: Bytes from which glibc gives freed memory back at once. A pilot's arrays are small enough to be kept otherwise, those
#: of the run aren't.
MMAP_THRESHOLD = "1048576"


def clock() -> Seconds:
    """Return processor seconds and wall-clock seconds, shape (2,); other programs affect only the latter.

    The former have those of finished child processes, which draw pictures.
    """
    children = os.times()
    cpu = time.process_time() + children.children_user + children.children_system
    return np.array([cpu, time.perf_counter()])


@dataclass(frozen=True)
class Span:
    """Part of a pilot run: processor and wall-clock seconds, shape (2,), and the peak of resident bytes."""

    seconds: Seconds
    memory: float


@dataclass(frozen=True)
class Measurement:
    """What a pilot run took.

    Parameters
    ----------
    batches : dict of str to Span
        By the label of a batch's first job.
    diagnostics : Span
    rest : Span
        Everything else: near-duplicates, scores, tests, tables and the run folder.
    pictures : Span
        Nothing where none were drawn.
    base : float
        Resident bytes before the pilot run.
    """

    batches: dict[str, Span]
    diagnostics: Span
    rest: Span
    pictures: Span
    base: float

    @property
    def seconds(self) -> Seconds:
        """Processor and wall-clock seconds of the pilot run without pictures, shape (2,)."""
        parts = [self.diagnostics, self.rest, *self.batches.values()]
        return np.asarray(np.sum([part.seconds for part in parts], axis=0))


class PilotProcess:
    """Process that runs pilots, one after the other.

    Parameters
    ----------
    experiment : Experiment
    context : RunContext
        Its number of threads, and its store, which is only read.
    folder : Path
        Folder for the stores and run folders of the pilots.

    Attributes
    ----------
    start : Span
        What a process takes to load the libraries.
    """

    def __init__(self, experiment: Experiment, context: RunContext, folder: Path) -> None:
        self._experiment = _without_corpora(experiment)
        self._errors = (folder / "errors").open("w+b")
        self._process = subprocess.Popen(  # noqa: S603 - this module
            # -P: no module of the current folder
            [sys.executable, "-P", "-m", __name__, str(folder), str(context.store.address), str(context.jobs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "MALLOC_MMAP_THRESHOLD_": MMAP_THRESHOLD},
        )
        self.start = _span(self._answer())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def run(
        self,
        works: list[PlannedTask],
        computed: frozenset[str],
        counts: Mapping[str, LoadedVariant],
        budget: float,
        *,
        pictures: bool = False,
    ) -> Measurement:
        """Run tasks and return what that took.

        Parameters
        ----------
        works : list of PlannedTask
            Tasks on a sample of the documents.
        computed : frozenset of str
            Keys of the jobs to compute; the others have artificial predictions.
        counts : mapping of str to LoadedVariant
            Counts of each variant, for diagnostics.
        budget : float
            Bytes that matrices may take, see `methods.matrix_cache.memory_budget`.
        pictures : bool
            Draw the figures, too. They take the same for any number of documents.

        Raises
        ------
        BenchError
            If the process ends early, with the reason.
        """
        what = {"works": works, "computed": computed, "counts": counts, "budget": budget, "pictures": pictures}
        content = pickle_by_name({"experiment": self._experiment, **what})
        try:
            _write(self._process.stdin, content)  # type: ignore[arg-type]
        except BrokenPipeError:
            raise self._ended() from None
        found = self._answer()
        spans = {label: _span(each) for label, each in found["batches"].items()}
        parts = {part: _span(found[part]) for part in ("diagnostics", "rest", "pictures")}
        return Measurement(spans, **parts, base=found["base"])

    def _answer(self) -> Any:
        """Return the next answer of the process."""
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise self._ended()
        return json.loads(line)

    def _ended(self) -> BenchError:
        """Return the error of a process that ended early."""
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"status {self._process.returncode}"
        return BenchError(f"a pilot run failed: {one_line(why)}")


def _without_corpora(experiment: Experiment) -> Experiment:
    """Return an experiment whose readers, which may hold a corpus, are left out."""
    variants = {
        name: replace(each, collection=replace(each.collection, loaded=None))
        for name, each in experiment.variants.items()
    }
    return replace(experiment, variants=variants)


def _span(found: list[float]) -> Span:
    return Span(np.array(found[:2]), found[2])


# --- In the process ---


class PilotObserver(Observer):
    """Observer that measures each batch between its beginning and its first finished job."""

    def __init__(self) -> None:
        self.batches: dict[str, list[float]] = {}
        self.diagnostics, self.rest, self.pictures = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        self._label, self._planned = "", False
        self._since = clock()

    def now(self, doing: str) -> None:
        """Start to measure a batch, or the scores."""
        self._book(self.rest)
        self._label = doing

    def plan(self, steps: int, later: int = 0) -> None:  # noqa: ARG002 - as in `Observer`
        """Note that a diagnostic may begin."""
        self._book(self.rest)
        self._planned = True

    def step(self, done: str, *, stored: bool = False) -> None:
        """Finish a batch or a diagnostic."""
        if stored:
            self._planned = False
        elif self._label == done:
            self._book(self.batches.setdefault(done, [0.0, 0.0, 0.0]))
            self._label, self._planned = "", False
        elif self._planned and not self._label:
            self._book(self.diagnostics)
            self._planned = False

    def draw(self, store: Store, specs: Mapping[str, FigureSpec]) -> dict[str, dict[str, bytes]]:
        """Draw and measure figures, which another process draws."""
        self._book(self.rest)
        found = cached_pictures(store, specs)
        self._book(self.pictures)
        return found

    def finish(self) -> dict[str, Any]:
        """Return all measurements."""
        self._book(self.rest)
        return {part: getattr(self, part) for part in ("batches", "diagnostics", "rest", "pictures")}

    def _book(self, to: list[float]) -> None:
        """Add the seconds since the last call, and the peak of memory, to a part of the run."""
        took = clock() - self._since
        to[:] = [to[0] + took[0], to[1] + took[1], max(to[2], peak_memory())]
        reset_peak_memory()
        self._since = clock()


class PilotStore(Store):
    """Store with some entries in memory, and those of another store, which is only read."""

    def __init__(self, folder: Path, entries: Mapping[str, StoreEntry], other: Store) -> None:
        super().__init__(folder, limit=10**12)
        self._entries, self._other = entries, other

    def get(self, key: str) -> StoreEntry | None:
        """Return an entry, from memory if it is there."""
        return self._entries.get(key) or super().get(key) or self._other.get(key)


def measure_pilot(
    experiment: Experiment,
    works: list[PlannedTask],
    computed: frozenset[str],
    counts: Mapping[str, LoadedVariant],
    context: RunContext,
    folder: Path,
    *,
    pictures: bool = False,
) -> dict[str, Any]:
    """Run tasks as `run_and_write` does, without reading a corpus, and return the measurements."""
    store = PilotStore(folder / "store", made_up_entries(works, computed), context.store)
    observer = PilotObserver()
    context = replace(context, store=store, observer=observer)
    results = run_tasks(experiment, counts, works, context)
    render: Render = partial(observer.draw, store) if pictures else lambda _: {}
    write_results(results, context, folder / "run", time.perf_counter(), render)
    return observer.finish()


def main() -> None:
    """Answer samples with measurements until standard input ends."""
    folder, address, jobs = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    context = RunContext(Store(address, limit=0), jobs=jobs)
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what a plug-in prints is no answer
        ensure_numba_cache(lambda _: None)
        print(json.dumps([time.process_time(), time.process_time(), peak_memory()]), file=answers, flush=True)
        while (content := _read(sys.stdin.buffer)) is not None:
            base = release_memory()
            what: dict[str, Any] = unpickle_by_name(content, {})
            del content
            os.environ["BENCH_MEMORY_GB"] = str(what.pop("budget") / 1e9)
            with tempfile.TemporaryDirectory(dir=folder) as own, running_user_code_here():
                found = measure_pilot(**what, context=context, folder=Path(own))
            del what
            print(json.dumps(found | {"base": base}), file=answers, flush=True)


def release_memory() -> float:
    """Give freed memory back to the system; return the bytes that are resident then."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    reset_peak_memory()
    return peak_memory()


def _write(file: BinaryIO, content: bytes) -> None:
    file.write(_LENGTH.pack(len(content)) + content)
    file.flush()


def _read(file: BinaryIO) -> bytes | None:
    head = file.read(_LENGTH.size)
    return file.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else None


if __name__ == "__main__":
    let_openmp_threads_sleep()
    main()
