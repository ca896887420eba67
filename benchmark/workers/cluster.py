"""Dask workers of a run: submit groups of jobs, collect results, and fall back to this process."""

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
from benchmark.experiment.storage import INSTALL_CLUSTER, call_with_timeout
from benchmark.experiment.store import Store, StoreEntry, store_key
from benchmark.system.errors import BenchError, ConfigError, one_line
from benchmark.system.threads import n_processors
from benchmark.workers.worker import Cancelled, compute_on_worker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.experiment.batches import Batch
    from benchmark.experiment.context import LoadedVariant
    from benchmark.experiment.settings import PlannedTask, Setting, StoreUnit
    from benchmark.system.observer import Observer

#: Seconds: wait for a result, interval between queries to the scheduler, wait for its answer, for a worker, for the
#: first connection to a scheduler, and for all to close.
RESULT_WAIT, SCHEDULER_INTERVAL, SCHEDULER_TIMEOUT, WORKER_TIMEOUT, CONNECT_TIMEOUT, CLOSE_TIMEOUT = (
    0.5,
    1.0,
    5.0,
    30.0,
    30.0,
    5.0,
)
#: Seconds between looks for an entry that a worker has stored: a network folder may be out of date that long.
STORE_RETRY_DELAYS = (0.0, 0.1, 0.5, 2.0, 5.0, 10.0, 20.0)
#: Retries of a group after a worker fails, and attempts to start processes, since one may die at the start.
WORKER_RETRIES, MAX_START_ATTEMPTS = 2, 3
#: Loggers to silence: a broken connection is reported by notes.
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
    """Workers that compute an experiment; see `experiment.runner.Elsewhere`.

    If workers or the connection fail, this process computes the rest, and a note says so.

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
        self._blind = False
        self._troubles = dict[str, None]()
        self._waiting, self._running = deque[JobGroup](), dict[Any, JobGroup]()
        self._ready = dict[str, str]()
        self.entries = dict[str, StoreEntry]()
        self._heard = self._asked = self._employed = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            self._tell()
        self._close()
        if self._store.local:
            Store(self._store.folder)  # opening removes the partial files of killed processes

    def begin(
        self, experiment: Experiment, read: Mapping[str, LoadedVariant], works: Iterable[PlannedTask]
    ) -> list[PlannedTask]:
        """Submit the jobs that the store lacks to the workers; return the tasks as a list."""
        tasks = list(works)
        self._tell()
        self._cancel()
        self._ready.clear()
        for work in tasks:
            missing = [(p, job) for p in work.points for job in p.jobs if not self._store.has(job.key)]
            self._waiting += group_jobs(work, missing)
        if self._place.n_jobs == 0:
            self._waiting.clear()
        if self._waiting:
            self._sent = make_payload(experiment, read, self._store, self._threads)
            if self._client is None:
                self._connect()
            self._heard = self._employed = time.monotonic()
            self._fill()
        return tasks

    def solved(self, missing: Sequence[tuple[Setting, StoreUnit]]) -> Iterator[tuple[str, str]]:
        """Yield keys of jobs as their groups finish, each with the reason of its failure, or ""."""
        self._tell()
        pending = {job.key for _, job in missing}
        while True:
            for key in pending & self._ready.keys():
                pending.remove(key)
                reason = self._ready.pop(key)
                if not reason and key not in self.entries:
                    self._look_for(key)
                yield key, reason
            submitted = [*self._waiting, *self._running.values()]
            if all(pending.isdisjoint(group.keys) for group in submitted):
                return
            self._fill()
            for future in self._done():
                self._take(future)
            self._ask()

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
            from distributed import Client  # noqa: PLC0415 - an optional dependency
        except ImportError:
            raise ConfigError(f"--dask and parallel need Dask: {INSTALL_CLUSTER}") from None
        for name in _LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        address = self._place.dask_address
        try:
            if address is None:
                self._local = self._processes()
            by_file = str(address).endswith(".json")
            named = {"scheduler_file": address} if by_file else {"address": self._local or address}
            # The client's timeout doesn't apply to an address that accepts a connection and sends nothing.
            self._client = call_with_timeout(2 * CONNECT_TIMEOUT, lambda: Client(timeout=CONNECT_TIMEOUT, **named))
        except (OSError, ValueError) as error:
            here = "without --dask the run uses this process alone"
            raise BenchError(
                f"no Dask scheduler answers at {address or 'this machine'}: {_in_words(error)}; {here}"
            ) from None

    def _processes(self) -> Any:
        """Start processes on this machine; if one dies at the start, start all again."""
        from distributed import LocalCluster  # noqa: PLC0415 - as in `_connect`

        self._observer.now("starting processes")
        how = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": "127.0.0.1:0"}
        for _ in range(MAX_START_ATTEMPTS):
            with _uninterrupted(), suppress(RuntimeError):
                return LocalCluster(n_workers=self._n_local, silence_logs=logging.CRITICAL, **how)
        raise BenchError(
            f"can't start {self._n_local} processes: one of them died in each of {MAX_START_ATTEMPTS} attempts"
        )

    def _fill(self) -> None:
        """Submit waiting groups, up to the maximum number of workers."""
        at_most = self._place.n_jobs or float("inf")
        while self._client is not None and self._waiting and len(self._running) < at_most:
            group = self._waiting.popleft()
            # Named by content: two runs that ask for the same group at once wait for one worker.
            name = f"simplexbench-{store_key(keys=group.keys, store=self._store.address)}"
            arguments = self._sent, group.variant, group.task, group.keys
            future = self._client.submit(compute_on_worker, *arguments, key=name, retries=WORKER_RETRIES)
            self._running[future] = group

    def _done(self) -> list[Any]:
        """Wait for a moment; return the futures that have ended or failed."""
        from distributed import wait  # noqa: PLC0415 - as in `_connect`

        with suppress(Exception):  # timeout or broken connection: the status of the futures shows it
            wait([*self._running], timeout=RESULT_WAIT, return_when="FIRST_COMPLETED")
        return [future for future in self._running if future.status != "pending"]

    def _take(self, future: Any) -> None:
        """Process the end of a group; jobs that a worker couldn't do are left to this process."""
        group = self._running.pop(future, None)
        if group is None:  # all groups were given up meanwhile
            return
        try:
            reply = call_with_timeout(self._place.silence, future.result)
        except BenchError:
            raise
        except Cancelled:  # by another run with the same group, which has ended
            self._waiting.append(group)
        except Exception as error:  # noqa: BLE001 - also any error of the computation
            if future.status in ("cancelled", "lost"):
                self._give_up("lost the connection to the Dask scheduler")
            elif future.status == "finished":  # the result exists, but doesn't arrive
                self._give_up(f"no Dask worker returned its result for {self._place.silence:g} s")
            else:
                self._troubles[f"a worker failed ({_in_words(error)}); this process did its work"] = None
        else:
            self._heard = time.monotonic()
            self.entries |= reply["entries"]
            self._ready |= {key: reply["failed"].get(key, "") for key in group.keys if key not in reply["lost"]}
            self._troubles.update(dict.fromkeys(reply["notes"]))
            for text in reply["details"]:
                self._observer.detail(text)

    def _ask(self) -> None:
        """Ask the scheduler for its workers; compute the rest here if none works on the submitted groups."""
        now, limit = time.monotonic(), self._place.silence
        if self._client is None or now - self._asked < SCHEDULER_INTERVAL:
            return
        self._asked = now

        def seen(names: list[str], dask_scheduler: Any) -> tuple[int, float]:
            running = [dask_scheduler.tasks[name] for name in names if name in dask_scheduler.tasks]
            heard = [task.processing_on.last_seen for task in running if task.processing_on is not None]
            return len(dask_scheduler.workers), time.time() - min(heard, default=time.time())

        names = [future.key for future in self._running]
        try:
            n_workers, silent = call_with_timeout(
                min(SCHEDULER_TIMEOUT, limit), lambda: self._client.run_on_scheduler(seen, names)
            )
        except Exception:  # noqa: BLE001 - a broken connection, or a stopped scheduler
            if time.monotonic() - self._heard > limit:
                self._give_up(f"no message from the Dask scheduler for {limit:g} s")
            return
        self._heard = time.monotonic()
        if n_workers:
            self._employed = self._heard
        if silent > limit:
            self._give_up(f"no message from a Dask worker for {limit:g} s")
        elif self._heard - self._employed > WORKER_TIMEOUT:
            self._give_up(f"no worker connected for {WORKER_TIMEOUT:.0f} s")

    def _give_up(self, reason: str) -> None:
        """Leave all unfinished work to this process."""
        self._observer.note(f"{reason}; this process computes the rest")
        self._close()

    def _look_for(self, key: str) -> None:
        """Wait until an entry of another machine appears: listing a network folder refreshes it."""
        if not (self._place.dask_address and self._store.local) or self._blind:
            return
        for pause in STORE_RETRY_DELAYS:
            if self._store.has(key):
                return
            time.sleep(pause)
            with suppress(OSError):
                list(self._store.path(key).parent.iterdir())
        self._blind = True
        self._observer.note(
            f"entries that workers store in {self._store.address} aren't visible here; this process computes them again"
        )

    def _tell(self) -> None:
        """Print the troubles of workers as notes; after an error of this process they are not printed."""
        for trouble in self._troubles:
            self._observer.note(trouble)
        self._troubles.clear()

    def _cancel(self) -> None:
        """Cancel the submitted groups."""
        futures, client = [*self._running], self._client
        self._waiting.clear()
        self._running.clear()
        if futures:
            with suppress(Exception):  # a broken connection
                call_with_timeout(CLOSE_TIMEOUT, lambda: client.cancel(futures))

    def _close(self) -> None:
        """Cancel the submitted groups, and close the client and local processes."""
        self._cancel()
        for each in (self._client, self._local):
            with suppress(Exception):  # a broken connection, or none
                call_with_timeout(2 * CLOSE_TIMEOUT, lambda each=each: each.close(timeout=CLOSE_TIMEOUT))  # type: ignore[misc]
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
