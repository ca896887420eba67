"""Workers of Dask: what each is sent, what comes back, and when what is left is done by this process."""

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
from benchmark.errors import BenchError, ConfigError, in_a_line
from benchmark.experiment.batches import batches
from benchmark.experiment.session import default_jobs
from benchmark.experiment.store import Store, key_of
from benchmark.folders import CLUSTER, within
from benchmark.parallel.worker import Abandoned, on_a_worker, sent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.experiment.batches import Batch
    from benchmark.experiment.reading import Read
    from benchmark.experiment.work import Job, PointWork, TaskWork
    from benchmark.observer import Observer

#: Seconds: to wait for a result, between questions to the scheduler, for its answer, for a worker, for a scheduler at
#: first, and for all to end.
TICK, ASKING, ANSWER, PATIENCE, TO_CONNECT, CLOSING = 0.5, 1.0, 5.0, 30.0, 30.0, 5.0
#: Seconds between looks for what a worker has kept: as long as a network's folder may be out of date.
LOOKS = (0.0, 0.1, 0.5, 2.0, 5.0, 10.0, 20.0)
#: How often a group is tried again where a worker fails, and processes are started of which one dies meanwhile.
RETRIES, MOST_STARTS = 2, 3
#: Whose log of a broken connection nobody should read: what matters of it is told as notes.
_LOGS = ("distributed", "asyncio", "tornado")


def place_of(dask: str, at_most: int | None = None) -> ParallelSection:
    """What ``--dask`` says: ``local``, ``local:4``, the address of a scheduler, or its file."""
    name, _, number = dask.partition(":")
    if name != "local":
        return ParallelSection(dask_address=dask, n_jobs=at_most)
    if number and not number.isdecimal():
        raise ConfigError(f"--dask is {dask!r}: how many processes? such as local:4")
    return ParallelSection(n_jobs=int(number) if number else at_most)


@dataclass(frozen=True)
class Group:
    """Jobs that go to one worker, since they share a matrix, or the machines of a split."""

    variant: str
    task: str
    keys: tuple[str, ...]


def groups(work: TaskWork, missing: Sequence[tuple[PointWork, Job]]) -> list[Group]:
    """What is missing of a task, divided between workers."""
    by_split = work.problem.several

    def shared(batch: Batch) -> tuple[Any, ...]:
        point, jobs = batch.parts[0]
        if by_split:
            return point.problem.key, point.place.size, jobs[0].splits[0].name
        return point.problem.key, *(point.place if point.classifies_points else point.shares)

    own = groupby(batches(missing, by_split=by_split), shared)
    return [Group(work.variant, work.task, tuple(job.key for batch in each for job in batch.jobs)) for _, each in own]


class Cluster:
    """The workers that an experiment is brought to; see `experiment.runner.Elsewhere`.

    Whatever goes wrong with them, what is left is done by this process, and a line says so.

    Parameters
    ----------
    place : ParallelSection
    store : Store
        That all of them share.
    jobs : int
        Threads of a worker; 0 takes all processors, of which those on this machine have equal parts.
    observer : Observer
    """

    def __init__(self, place: ParallelSection, store: Store, jobs: int, observer: Observer) -> None:
        self._place, self._store, self._jobs, self._observer = place, store, jobs, observer
        self._client: Any = None
        self._local: Any = None
        self._blind = False
        self._troubles = dict[str, None]()
        self._waiting, self._running = deque[Group](), dict[Any, Group]()
        self._ready = dict[str, str]()
        self._heard = self._asked = self._employed = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            self._tell()
        self._close()
        if self._store.local:
            Store(self._store.folder)  # which removes what killed processes have left half written

    def begin(self, study: Experiment, read: Mapping[str, Read], works: Iterable[TaskWork]) -> list[TaskWork]:
        """Bring what the store lacks to the workers; the same work."""
        found = list(works)
        self._tell()
        self._cancel()
        self._ready.clear()
        for work in found:
            missing = [(p, job) for p in work.points for job in p.jobs if not self._store.has(job.key)]
            self._waiting += groups(work, missing)
        if self._place.n_jobs == 0:
            self._waiting.clear()
        if self._waiting:
            self._sent = sent(study, read, self._store, self._threads)
            if self._client is None:
                self._connect()
            self._heard = self._employed = time.monotonic()
            self._fill()
        return found

    def solved(self, missing: Sequence[tuple[PointWork, Job]]) -> Iterator[tuple[str, str]]:
        """Keys of jobs as each group is done, with the reason, or "", why one can't be."""
        self._tell()
        wanted = {job.key for _, job in missing}
        while True:
            for key in wanted & self._ready.keys():
                wanted.remove(key)
                reason = self._ready.pop(key)
                if not reason:
                    self._look_for(key)
                yield key, reason
            out = [*self._waiting, *self._running.values()]
            if all(wanted.isdisjoint(group.keys) for group in out):
                return
            self._fill()
            for future in self._done():
                self._take(future)
            self._ask()

    @property
    def _threads(self) -> int:
        """Threads of a worker."""
        if self._jobs or self._place.dask_address:
            return self._jobs
        return max(1, default_jobs() // self._n_local)

    @property
    def _n_local(self) -> int:
        return self._place.n_jobs or default_jobs()

    def _connect(self) -> None:
        """Start processes on this machine, or speak to a scheduler.

        Raises
        ------
        ConfigError
            If Dask isn't installed.
        BenchError
            If no scheduler answers.
        """
        try:
            from distributed import Client  # noqa: PLC0415 - only of those who ask for it
        except ImportError:
            raise ConfigError(f"--dask and parallel need Dask: {CLUSTER}") from None
        for name in _LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        address = self._place.dask_address
        try:
            if address is None:
                self._local = self._processes()
            by_file = str(address).endswith(".json")
            named = {"scheduler_file": address} if by_file else {"address": self._local or address}
            # Its own time doesn't pass for an address that accepts and says nothing.
            self._client = within(2 * TO_CONNECT, lambda: Client(timeout=TO_CONNECT, **named))
        except (OSError, ValueError) as error:
            here = "without --dask the run is done here"
            raise BenchError(
                f"no scheduler of Dask answers at {address or 'this machine'}: {_in_words(error)}; {here}"
            ) from None

    def _processes(self) -> Any:
        """Start processes on this machine; where one dies meanwhile, all of them again."""
        from distributed import LocalCluster  # noqa: PLC0415 - as in `_connect`

        self._observer.now("starting processes")
        how = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": "127.0.0.1:0"}
        for _ in range(MOST_STARTS):
            with _uninterrupted(), suppress(RuntimeError):
                return LocalCluster(n_workers=self._n_local, silence_logs=logging.CRITICAL, **how)
        raise BenchError(f"{self._n_local} processes can't be started: one of them dies, {MOST_STARTS} times")

    def _fill(self) -> None:
        """Send what waits, until as many groups are out as may be at once."""
        at_most = self._place.n_jobs or float("inf")
        while self._client is not None and self._waiting and len(self._running) < at_most:
            group = self._waiting.popleft()
            # Named by content: two who ask for the same at once wait for one worker.
            name = f"simplexbench-{key_of(keys=group.keys, store=self._store.address)}"
            words = self._sent, group.variant, group.task, group.keys
            future = self._client.submit(on_a_worker, *words, key=name, retries=RETRIES)
            self._running[future] = group

    def _done(self) -> list[Any]:
        """Wait for a moment; return what has ended, well or not."""
        from distributed import wait  # noqa: PLC0415 - as in `_connect`

        with suppress(Exception):  # of time, or of a connection that breaks: what is lost says so by itself
            wait([*self._running], timeout=TICK, return_when="FIRST_COMPLETED")
        return [future for future in self._running if future.status != "pending"]

    def _take(self, future: Any) -> None:
        """Take in the end of a group; what a worker couldn't do is left to this process."""
        group = self._running.pop(future, None)
        if group is None:  # all was given up meanwhile
            return
        try:
            told = within(self._place.silence, future.result)
        except BenchError:
            raise
        except Abandoned:  # by one that asked for the same, and has gone
            self._waiting.append(group)
        except Exception as error:  # noqa: BLE001 - an error of the computation's comes here, too
            if future.status in ("cancelled", "lost"):
                self._give_up("the connection to the scheduler of Dask broke")
            elif future.status == "finished":  # it is there, and doesn't come
                self._give_up(f"no answer of a worker of Dask came for {self._place.silence:g} s")
            else:
                self._troubles[f"a worker failed ({_in_words(error)}); what it had to do was done here"] = None
        else:
            self._heard = time.monotonic()
            self._ready |= {key: told["failed"].get(key, "") for key in group.keys if key not in told["lost"]}
            self._troubles.update(dict.fromkeys(told["notes"]))
            for text in told["details"]:
                self._observer.detail(text)

    def _ask(self) -> None:
        """Ask the scheduler of whom it has heard; finish here where nobody works on what was sent."""
        now, limit = time.monotonic(), self._place.silence
        if self._client is None or now - self._asked < ASKING:
            return
        self._asked = now

        def seen(names: list[str], dask_scheduler: Any) -> tuple[int, float]:
            tasks = [dask_scheduler.tasks[name] for name in names if name in dask_scheduler.tasks]
            heard = [task.processing_on.last_seen for task in tasks if task.processing_on is not None]
            return len(dask_scheduler.workers), time.time() - min(heard, default=time.time())

        names = [future.key for future in self._running]
        try:
            n_workers, silent = within(min(ANSWER, limit), lambda: self._client.run_on_scheduler(seen, names))
        except Exception:  # noqa: BLE001 - of a connection that breaks just now, or a scheduler that is stopped
            if time.monotonic() - self._heard > limit:
                self._give_up(f"nothing was heard of the scheduler of Dask for {limit:g} s")
            return
        self._heard = time.monotonic()
        if n_workers:
            self._employed = self._heard
        if silent > limit:
            self._give_up(f"nothing was heard of a worker of Dask for {limit:g} s")
        elif self._heard - self._employed > PATIENCE:
            self._give_up(f"no worker came for {PATIENCE:.0f} s")

    def _give_up(self, reason: str) -> None:
        """Leave all that isn't done to this process."""
        self._observer.note(f"{reason}; all that is left is done here")
        self._close()

    def _look_for(self, key: str) -> None:
        """A folder in a network may hide for a while what another machine has put there; who lists it sees it."""
        if not (self._place.dask_address and self._store.local) or self._blind:
            return
        for pause in LOOKS:
            if self._store.has(key):
                return
            time.sleep(pause)
            with suppress(OSError):
                list(self._store.path(key).parent.iterdir())
        self._blind = True
        self._observer.note(f"what workers keep in {self._store.address} isn't seen here; it is computed here again")

    def _tell(self) -> None:
        """Say what went wrong on workers and not here: an error that comes here, too, is told alone."""
        for trouble in self._troubles:
            self._observer.note(trouble)
        self._troubles.clear()

    def _cancel(self) -> None:
        """Take back what was sent."""
        out, client = [*self._running], self._client
        self._waiting.clear()
        self._running.clear()
        if out:
            with suppress(Exception):  # of a connection that is broken
                within(CLOSING, lambda: client.cancel(out))

    def _close(self) -> None:
        """Take back what was sent, and leave no process behind."""
        self._cancel()
        for each in (self._client, self._local):
            with suppress(Exception):  # of a connection that is broken, or that never was
                within(2 * CLOSING, lambda each=each: each.close(timeout=CLOSING))  # type: ignore[misc]
        self._client = self._local = None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let processes that are started meanwhile pass over the terminal's interrupt, too: this one ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _in_words(error: BaseException) -> str:
    return in_a_line(f"{type(error).__name__}: {error}")
