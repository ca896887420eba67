"""Dask workers of a run: submit groups of units, collect results, and compute the rest here if the cluster fails."""

from __future__ import annotations

import logging
import signal
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from benchmark.experiment.plan import plan_batches
from benchmark.experiment.store import INSTALL_CLUSTER
from benchmark.system.errors import BenchError, ConfigError, one_line
from benchmark.system.threads import n_processors
from benchmark.workers.worker import compute_group, pack_task, passed_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmark.experiment.plan import Batch, PlannedTask, SettingUnit, UnitResult
    from benchmark.experiment.store import Store
    from benchmark.system.observer import Observer

#: Seconds to wait for a scheduler and a first worker, for a result before the scheduler is asked, and to close.
CONNECT_TIMEOUT, QUIET_SECONDS, CLOSE_TIMEOUT = 30.0, 10.0, 5.0
#: Loggers to silence: a broken connection is reported by a note.
_LOGS = ("distributed", "asyncio", "tornado")


def group_units(task: PlannedTask, missing: Sequence[SettingUnit]) -> list[tuple[str, ...]]:
    """Divide the missing units of a task, by their keys: those that share a matrix or classifiers go to one worker."""
    by_split = task.problem.multilabel

    def group_key(batch: Batch) -> tuple[Any, ...]:
        setting, units = batch.parts[0]
        if by_split:
            return setting.problem.key, setting.key.size, units[0].splits[0].name
        return setting.problem.key, *(setting.key if setting.classifies_points else setting.shares)

    groups = groupby(plan_batches(missing, by_split=by_split), group_key)
    return [tuple(unit.key for batch in together for unit in batch.units) for _, together in groups]


class DaskExecutor:
    """Workers that compute an experiment; see `experiment.executors.Executor`.

    If the cluster fails in any way, this process computes the rest, and a note says so.

    Parameters
    ----------
    dask : str
        ``local``, ``local:4``, the address of a scheduler, or its file.
    store : Store
        The run's store, which workers may share.
    jobs : int
        Threads per worker; 0 uses all processors, divided equally between the workers of this machine.
    observer : Observer
        Receiver of notes and progress.
    """

    def __init__(self, dask: str, store: Store, jobs: int, observer: Observer) -> None:
        self._store, self._observer = store, observer
        name, _, number = dask.partition(":")
        self._address, here = ("", n_processors()) if name == "local" else (dask, 0)
        if here and number and not (number.isdecimal() and int(number)):
            raise ConfigError(f"--dask is {dask!r}: must have a number of processes, such as local:4")
        self._n_local = int(number) if here and number else here
        self._threads = jobs or (max(1, here // self._n_local) if here else 0)
        self._client: Any = None
        self._local: Any = None
        self._failed = False

    def solved(self, task: PlannedTask, missing: Sequence[SettingUnit]) -> Iterator[UnitResult]:
        """Yield keys of units as their groups finish, each with its result or the reason of its failure."""
        try:
            if not self._failed:
                yield from self._computed(task, group_units(task, missing))
        except BenchError:
            raise
        except Exception as error:  # noqa: BLE001 - also any error of the computation
            self._observer.note(f"the Dask cluster failed ({_in_words(error)}); this process computes the rest")
            self._failed = True
            self.close()

    def _computed(self, task: PlannedTask, groups: list[tuple[str, ...]]) -> Iterator[UnitResult]:
        """Yield the results of groups as they are done."""
        if self._client is None:
            self._connect()
        from distributed import wait  # noqa: PLC0415 - as in `_connect`

        self._client.wait_for_workers(1, timeout=CONNECT_TIMEOUT)
        packed = pack_task(task.of_units({key for keys in groups for key in keys}), self._store, self._threads)
        with warnings.catch_warnings(action="ignore"):  # that the counts are large
            sent = self._client.submit(passed_on, packed, pure=False)
        work = partial(self._client.submit, compute_group, sent, pure=False)
        running = {work(group) for group in groups}
        while running:
            try:
                done = wait(running, timeout=QUIET_SECONDS, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                # With a time-out, which wait_for_workers has for workers, and not for a scheduler that is stopped.
                known = self._client.sync(self._client.scheduler.identity, callback_timeout=QUIET_SECONDS)
                if not known["workers"]:
                    raise RuntimeError("no worker is left") from None
                continue
            running -= done
            for kind, value in chain.from_iterable(future.result() for future in done):
                if kind == "solved":
                    yield value
                elif kind == "detail":
                    self._observer.detail(value)

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
            raise ConfigError(f"--dask needs Dask: {INSTALL_CLUSTER}") from None
        for name in _LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            if not self._address:
                self._observer.now("starting processes")
                how = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": "127.0.0.1:0"}
                with _uninterrupted():
                    self._local = LocalCluster(n_workers=self._n_local, silence_logs=logging.CRITICAL, **how)
            by_file = self._address.endswith(".json")
            named = {"scheduler_file": self._address} if by_file else {"address": self._local or self._address}
            self._client = Client(timeout=CONNECT_TIMEOUT, **named)
        except (OSError, ValueError, RuntimeError) as error:
            here = "without --dask the run uses this process alone"
            raise BenchError(
                f"no Dask scheduler answers at {self._address or 'this machine'}: {_in_words(error)}; {here}"
            ) from None

    def close(self) -> None:
        """Close the client, which gives up the submitted groups, and local processes."""
        for each in (self._client, self._local):
            with suppress(Exception):  # a broken connection, or none
                each.close(timeout=CLOSE_TIMEOUT)
        self._client = self._local = None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Start processes that ignore the terminal's interrupt: this process ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _in_words(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}")
