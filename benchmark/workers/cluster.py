"""Dask workers of a run: submit groups of jobs, collect results, and compute the rest here if the cluster fails."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

from benchmark.config.schema import ParallelSection
from benchmark.experiment.batches import plan_batches
from benchmark.experiment.payload import make_payload
from benchmark.experiment.store import INSTALL_CLUSTER, StoreEntry
from benchmark.system.errors import BenchError, ConfigError, one_line
from benchmark.system.threads import n_processors
from benchmark.workers.worker import compute_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.experiment.batches import Batch
    from benchmark.experiment.context import LoadedVariant
    from benchmark.experiment.settings import PlannedTask, Setting, StoreUnit
    from benchmark.experiment.store import Store
    from benchmark.system.observer import Observer

#: Seconds to wait for a scheduler and a first worker, between results before the scheduler is asked, and to close.
CONNECT_TIMEOUT, QUIET_SECONDS, CLOSE_TIMEOUT = 30.0, 10.0, 5.0
#: Seconds between looks for an entry that a worker has stored: a network folder may be out of date that long.
STORE_RETRY_DELAYS = (0.0, 0.5, 5.0, 30.0)
#: Loggers to silence: a broken connection is reported by a note.
_LOGS = ("distributed", "asyncio", "tornado")


def parse_dask_option(dask: str, at_most: int | None = None) -> ParallelSection:
    """Parse ``--dask``: ``local``, ``local:4``, the address of a scheduler, or its file."""
    name, _, number = dask.partition(":")
    if name != "local":
        return ParallelSection(dask_address=dask, n_jobs=at_most)
    if number and not number.isdecimal():
        raise ConfigError(f"--dask is {dask!r}: must have a number of processes, such as local:4")
    return ParallelSection(n_jobs=int(number) if number else at_most)


@dataclass(frozen=True)
class JobGroup:
    """Jobs for one worker, since they share a matrix or the classifiers of a split."""

    variant: str
    task: str
    keys: tuple[str, ...]


def group_jobs(work: PlannedTask, missing: Sequence[tuple[Setting, StoreUnit]]) -> list[JobGroup]:
    """Divide the missing jobs of a task between workers."""
    by_split = work.problem.multilabel

    def group_key(batch: Batch) -> tuple[Any, ...]:
        point, jobs = batch.parts[0]
        if by_split:
            return point.problem.key, point.place.size, jobs[0].splits[0].name
        return point.problem.key, *(point.place if point.classifies_points else point.shares)

    batch_groups = groupby(plan_batches(missing, by_split=by_split), group_key)
    return [
        JobGroup(work.variant, work.task, tuple(job.key for batch in together for job in batch.jobs))
        for _, together in batch_groups
    ]


class DaskExecutor:
    """Workers that compute an experiment; see `experiment.context.RemoteExecutor`.

    If the cluster fails in any way, this process computes the rest, and a note says so.

    Parameters
    ----------
    place : ParallelSection
        Scheduler address, or number of local processes.
    store : Store
        Store that all workers share.
    jobs : int
        Threads per worker; 0 uses all processors, divided equally between the workers of this machine.
    observer : Observer
        Receiver of notes and progress.
    """

    def __init__(self, place: ParallelSection, store: Store, jobs: int, observer: Observer) -> None:
        self._place, self._store, self._jobs, self._observer = place, store, jobs, observer
        self._client: Any = None
        self._local: Any = None
        self._failed = False
        self._waiting, self._running = deque[JobGroup](), dict[Any, JobGroup]()
        self._finished, self._noted = dict[str, str](), set[str]()
        self.entries = dict[str, StoreEntry]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def begin(
        self, experiment: Experiment, read: Mapping[str, LoadedVariant], works: Iterable[PlannedTask]
    ) -> list[PlannedTask]:
        """Plan the groups of jobs that the store lacks, and connect to the workers; return the tasks as a list."""
        tasks = list(works)
        self._waiting.clear()
        self._finished.clear()
        if self._failed or self._place.n_jobs == 0:
            return tasks
        for work in tasks:
            missing = [(p, job) for p in work.points for job in p.jobs if not self._store.has(job.key)]
            self._waiting += group_jobs(work, missing)
        if self._waiting:
            self._payload = make_payload(experiment, read, self._store, self._threads)
            if self._client is None:
                self._connect()
            with self._finishing_here():
                self._client.wait_for_workers(1, timeout=CONNECT_TIMEOUT)
                self._submit()
        return tasks

    def solved(self, missing: Sequence[tuple[Setting, StoreUnit]]) -> Iterator[tuple[str, str]]:
        """Yield keys of jobs as their groups finish, each with the reason of its failure, or ""."""
        pending = {job.key for _, job in missing}
        while True:
            for key in pending & self._finished.keys():
                pending.remove(key)
                yield key, self._finished.pop(key)
            if all(pending.isdisjoint(group.keys) for group in (*self._waiting, *self._running.values())):
                return
            with self._finishing_here():
                self._submit()
                self._collect()

    @property
    def _threads(self) -> int:
        """Number of threads of a worker."""
        if self._jobs or self._place.dask_address:
            return self._jobs
        return max(1, n_processors() // self._n_local)

    @property
    def _n_local(self) -> int:
        return self._place.n_jobs or n_processors()

    def _connect(self) -> None:
        """Start processes on this machine, or connect to a scheduler.

        Raises
        ------
        ConfigError
            If Dask isn't installed.
        BenchError
            If no scheduler answers.
        """
        try:
            from distributed import Client, LocalCluster  # noqa: PLC0415 - an optional dependency
        except ImportError:
            raise ConfigError(f"--dask and parallel need Dask: {INSTALL_CLUSTER}") from None
        for name in _LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        address = self._place.dask_address
        try:
            if address is None:
                self._observer.now("starting processes")
                how = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": "127.0.0.1:0"}
                with _uninterrupted():
                    self._local = LocalCluster(n_workers=self._n_local, silence_logs=logging.CRITICAL, **how)
            by_file = str(address).endswith(".json")
            named = {"scheduler_file": address} if by_file else {"address": self._local or address}
            self._client = Client(timeout=CONNECT_TIMEOUT, **named)
        except (OSError, ValueError, RuntimeError) as error:
            here = "without --dask the run uses this process alone"
            raise BenchError(
                f"no Dask scheduler answers at {address or 'this machine'}: {_in_words(error)}; {here}"
            ) from None

    def _submit(self) -> None:
        """Submit waiting groups, up to the maximum number of workers."""
        at_most = self._place.n_jobs or float("inf")
        while self._waiting and len(self._running) < at_most:
            group = self._waiting.popleft()
            arguments = self._payload, group.variant, group.task, group.keys
            self._running[self._client.submit(compute_units, *arguments, pure=False)] = group

    def _collect(self) -> None:
        """Wait for a group, and take the replies of all that are done; see that there is a worker if none is."""
        from distributed import wait  # noqa: PLC0415 - as in `_connect`

        try:
            done = wait([*self._running], timeout=QUIET_SECONDS, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            known = self._client.sync(self._client.scheduler.identity, callback_timeout=QUIET_SECONDS)
            if not known["workers"]:
                raise RuntimeError("no worker is left") from None
            return
        for future in done:
            group, reply = self._running[future], future.result()
            del self._running[future]
            stored = [key for key in group.keys if key not in reply["lost"]]
            self.entries |= reply["entries"]
            self._see_stored([key for key in stored if key not in reply["failed"] and key not in self.entries])
            self._finished |= {key: reply["failed"].get(key, "") for key in stored}
            for note in reply["notes"]:
                if note not in self._noted:
                    self._observer.note(note)
            self._noted.update(reply["notes"])
            for text in reply["details"]:
                self._observer.detail(text)

    def _see_stored(self, keys: Sequence[str]) -> None:
        """Wait until entries of another machine appear: listing a network folder refreshes it."""
        for pause in STORE_RETRY_DELAYS if self._place.dask_address and self._store.local else ():
            hidden = [key for key in keys if not self._store.has(key)]
            if not hidden:
                return
            time.sleep(pause)
            with suppress(OSError):
                list(self._store.path(hidden[0]).parent.iterdir())
        if self._place.dask_address and not all(map(self._store.has, keys)):
            raise RuntimeError(f"entries that workers store in {self._store.address} aren't visible here")

    @contextmanager
    def _finishing_here(self) -> Iterator[None]:
        """Leave all unfinished work to this process after any error of the cluster."""
        try:
            yield
        except BenchError:
            raise
        except Exception as error:  # noqa: BLE001 - also any error of the computation
            self._observer.note(f"the Dask cluster failed ({_in_words(error)}); this process computes the rest")
            self._failed = True
            self._close()

    def _close(self) -> None:
        """Give up the submitted groups, and close the client and local processes."""
        self._waiting.clear()
        self._running.clear()
        for each in (self._client, self._local):
            with suppress(Exception):  # a broken connection, or none
                each.close(timeout=CLOSE_TIMEOUT)
        self._client = self._local = None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Start processes that ignore the terminal's interrupt: this process ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _in_words(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}")
