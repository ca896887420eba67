"""Workers of Dask: which points go together to one of them, how many work at once, and what is done when they don't."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from benchmark.config.schema import ParallelSection
from benchmark.errors import BenchError, ConfigError, in_a_line
from benchmark.experiment.batches import batches
from benchmark.experiment.session import default_jobs
from benchmark.experiment.store import Store, key_of
from benchmark.folders import CLUSTER
from benchmark.parallel.worker import TOPIC, Abandoned, Sent, on_a_worker, sent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.experiment.batches import Batch
    from benchmark.experiment.runner import Read
    from benchmark.experiment.work import Job, PointWork, TaskWork
    from benchmark.observer import Observer

#: Seconds: to wait for news, for a worker, for a scheduler at first, for one that was lost, and for all to end.
TICK, PATIENCE, TO_CONNECT, TO_CONNECT_AGAIN, CLOSING = 0.5, 30.0, 30.0, 5.0, 5.0
#: Seconds between looks for what a worker has kept: as long as a network's folder may be out of date.
LOOKS = (0.0, 0.1, 0.5, 2.0, 5.0, 10.0, 20.0)
#: How often a connection that broke is made again, and processes are started of which one dies meanwhile.
MOST_AGAIN = 3


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
            return point.problem.key, point.place[4], jobs[0].splits[0].name
        return point.problem.key, *(point.place if point.classifies_points else point.shares)

    own = groupby(batches(missing, by_split=by_split), shared)
    return [Group(work.variant, work.task, tuple(job.key for batch in each for job in batch.jobs)) for _, each in own]


class Cluster:
    """The workers that an experiment is brought to; see `experiment.runner.Elsewhere`.

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
        self._lock = threading.RLock()
        self._blind = False
        self._n_workers, self._counted = 0, float("-inf")
        self._again, self._alone_since, self._troubles = 0, float("inf"), dict[str, None]()
        self._clear()

    def _clear(self) -> None:
        self._waiting, self._running = deque[Group](), dict[str, tuple[Any, Group]]()
        self._asked, self._pending, self._ready = frozenset[str](), set[str](), dict[str, str]()
        self._news: SimpleQueue[Any] = SimpleQueue()
        self._sent: Sent | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            self._tell()
        self._close()
        if self._store.local:
            Store(self._store.folder)  # which removes what killed processes have left half written

    def begin(self, study: Experiment, read: Mapping[str, Read], works: Iterable[TaskWork]) -> list[TaskWork]:
        """Bring what the store lacks to the workers, as many groups at once as there may be; the same work."""
        found = list(works)
        self._tell()
        self._clear()
        for work in found:
            missing = [(p, job) for p in work.points for job in p.jobs if not self._store.has(job.key)]
            self._waiting += groups(work, missing)
        self._asked = frozenset(key for group in self._waiting for key in group.keys)
        self._pending = set(self._asked)
        if self._waiting and self._place.n_jobs != 0:
            self._sent = sent(study, read, self._store, self._threads)
            if self._client is None:
                self._connect(TO_CONNECT)
            self._alone_since, self._counted = time.monotonic(), float("-inf")
            self._count()
            self._fill()
        return found

    def solved(self, missing: Sequence[tuple[PointWork, Job]]) -> Iterator[tuple[str, str]]:
        """Keys of jobs as each is done, with the reason, or "", why it can't be."""
        self._tell()
        wanted = {job.key for _, job in missing}
        while True:
            for key in wanted & self._ready.keys():
                wanted.remove(key)
                reason = self._ready.pop(key)
                if not reason:
                    self._look_for(key)
                yield key, reason
            if self._client is None or not wanted & self._pending:
                return
            with suppress(Empty):
                self._heed(self._news.get(timeout=TICK))
            self._count()
            self._fill()
            if not self._patient():
                self._give_up(wanted)

    @property
    def _threads(self) -> int:
        """Threads of a worker."""
        if self._jobs or self._place.dask_address:
            return self._jobs
        return max(1, default_jobs() // self._n_local)

    @property
    def _n_local(self) -> int:
        return self._place.n_jobs or default_jobs()

    def _connect(self, timeout: float) -> None:
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
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters of it is told as notes
        address = self._place.dask_address
        try:
            if address is None:
                self._local = self._processes()
            by_file = str(address).endswith(".json")
            named = {"scheduler_file": address} if by_file else {"address": self._local or address}
            self._client = Client(timeout=timeout, **named)
            self._client.subscribe_topic(TOPIC, self._hear)
        except (OSError, ValueError) as error:
            raise BenchError(
                f"no scheduler of Dask answers at {address or 'this machine'}: {_in_words(error)}"
            ) from None

    def _processes(self) -> Any:
        """Start processes on this machine; where one dies meanwhile, all of them again."""
        from distributed import LocalCluster  # noqa: PLC0415 - as in `_connect`

        self._observer.now("starting processes")
        how = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": "127.0.0.1:0"}
        for _ in range(MOST_AGAIN):
            with _uninterrupted(), suppress(RuntimeError):
                return LocalCluster(n_workers=self._n_local, silence_logs=logging.CRITICAL, **how)
        raise BenchError(f"{self._n_local} processes can't be started: one of them dies, {MOST_AGAIN} times")

    def _hear(self, event: tuple[float, Any]) -> None:
        self._news.put(event[1])

    def _count(self) -> None:
        """How many workers there are; asked twice a second, since their number decides how much goes out at once."""
        if self._client is None or time.monotonic() - self._counted < TICK:
            return
        try:
            self._n_workers, self._counted = len(self._client.nthreads()), time.monotonic()
        except (OSError, ValueError, RuntimeError, TypeError, AttributeError):  # of a connection that breaks just now
            self._n_workers = 0

    def _fill(self) -> None:
        """Send what waits, until as many groups are out as there are workers, or may be at once."""
        with self._lock:
            at_most = self._n_workers if self._place.n_jobs is None else min(self._n_workers, self._place.n_jobs)
            while self._client is not None and self._waiting and len(self._running) < at_most:
                group = self._waiting.popleft()
                # Named by content: two who ask for the same at once wait for one worker.
                name = f"{TOPIC}-{key_of(keys=group.keys, store=self._store.address)}"
                out = self._client.submit(on_a_worker, self._sent, group.variant, group.task, group.keys, key=name)
                self._running[name] = out, group
                out.add_done_callback(self._done)

    def _done(self, future: Any) -> None:
        """Take the end of a group from Dask's thread: the next one goes out, whatever is being done here."""
        with self._lock:
            out = self._running.get(future.key)
            if out is None or out[0] is not future:  # given up, or sent again
                return
            group = self._running.pop(future.key)[1]
            self._news.put((group, future))
            if future.status in ("finished", "error"):
                self._fill()
            else:
                self._waiting.appendleft(group)

    def _heed(self, news: Any) -> None:
        """Take in what a worker tells, or the end of a group."""
        if isinstance(news, str):
            self._know({news: ""})
        elif isinstance(news, dict):
            self._know(news["failed"])
            self._pending.difference_update(news["lost"])
            mine = not self._asked.isdisjoint(news["of"])  # all that are connected hear of all
            self._troubles.update(dict.fromkeys(news["notes"] if mine else ()))
            for text in news["details"] if mine else ():
                self._observer.detail(text)
        else:
            group, future = news
            if future.status == "finished":
                self._know(dict.fromkeys(group.keys, ""))
            elif future.status != "error":
                self._connect_again()
            elif isinstance(error := future.exception(), BenchError):
                raise error
            elif isinstance(error, Abandoned):  # by one that asked for the same, and has gone
                with self._lock:
                    self._waiting.appendleft(group)
            else:  # an error of the computation's comes here, too
                self._troubles[f"a worker failed ({_in_words(error)}); what it had to do was done here"] = None
                self._pending.difference_update(group.keys)

    def _know(self, reasons: Mapping[str, str]) -> None:
        for key in reasons.keys() & self._pending:
            self._pending.remove(key)
            self._ready[key] = reasons[key]

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

    def _patient(self) -> bool:
        """Whether there is a worker, or there was one a moment ago."""
        if self._n_workers:
            self._alone_since = time.monotonic()
        return time.monotonic() - self._alone_since < PATIENCE

    def _give_up(self, wanted: set[str]) -> None:
        """Leave to this process what no worker comes for; they may come for what is wanted next."""
        with self._lock:
            self._waiting = deque(group for group in self._waiting if wanted.isdisjoint(group.keys))
            for name, (future, group) in list(self._running.items()):
                if not wanted.isdisjoint(group.keys):
                    del self._running[name]
                    future.cancel()
            self._pending -= wanted
        self._troubles[f"no worker came for {PATIENCE:.0f} s; what they had to do was done here"] = None

    def _connect_again(self) -> None:
        """Bring to a scheduler again what it may have lost; where none answers, leave all to this process."""
        with self._lock:
            self._waiting.extendleft(group for _, group in self._running.values())
            self._running.clear()
            self._close()
            self._again += 1
            with suppress(BenchError):
                if self._again <= MOST_AGAIN:
                    return self._connect(TO_CONNECT_AGAIN)
            self._pending.clear()
            self._observer.note("the connection to the scheduler of Dask broke; all that is left is done here")
            return None

    def _tell(self) -> None:
        """Say what went wrong on workers and not here: an error that comes here, too, is told alone."""
        for trouble in self._troubles:
            self._observer.note(trouble)
        self._troubles.clear()

    def _close(self) -> None:
        """Cancel what was sent, and leave no process behind."""
        with self._lock:
            client, self._client, local, self._local = self._client, None, self._local, None
            out = [future for future, _ in self._running.values()]
            self._running.clear()
        with suppress(Exception):  # of a connection that is broken, or that never was
            client.cancel(out)
        for each in (client, local):
            with suppress(Exception):
                each.close(timeout=CLOSING)


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
