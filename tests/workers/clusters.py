"""A scheduler and workers of Dask in processes of their own, and what is compared of runs on them."""

from __future__ import annotations

import re
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.system.observer import Observer
from tests.processes import Process

if TYPE_CHECKING:
    from collections.abc import Callable

#: Dask is quiet, and no process of its own watches over a worker: the tests see to both.
QUIET = {"DASK_LOGGING__DISTRIBUTED": "critical"}
#: What alone may know when a run was made, and what clock and memory said.
OF_THE_MOMENT = ("manifest.json", "timings.parquet", "costs.csv")
PAGE, MEASURED = "report.html", re.compile(rb'(<[^>]* class="[^"]*\bmeasured">)[^<]*')


def contents_of(folder: Path) -> dict[str, bytes]:
    """Files of a run that must be the same wherever it was computed."""
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in OF_THE_MOMENT}
    return found | {PAGE: MEASURED.sub(rb"\1", found[PAGE])}


class Notebook(Observer):
    """Writes everything down; `at_step` is called with the number of each step."""

    def __init__(self) -> None:
        self.planned = 0
        self.steps: list[str] = []
        self.notes: list[str] = []
        self.details: list[str] = []
        self.at_step: Callable[[int], Any] = lambda _: None

    def plan(self, steps: int, later: int = 0) -> None:
        self.planned += steps

    def step(self, done: str, *, stored: bool = False) -> None:
        self.steps.append(done)
        self.at_step(len(self.steps))

    def note(self, message: str) -> None:
        self.notes.append(message)

    def detail(self, text: str) -> None:
        self.details.append(text)


class Dask:
    """A scheduler, and as many workers as are asked for."""

    def __init__(self) -> None:
        self.workers = list[Process]()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self.start_scheduler()

    def _start(self, *words: str, **variables: str) -> Process:
        code = "from dask.__main__ import main; main()"
        return Process(*words, code=code, variables={**QUIET, **variables})

    def start_scheduler(self) -> None:
        where = "--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard"
        self.scheduler = self._start("scheduler", *where)

    def employ(self, number: int, **variables: str) -> None:
        """Let there be so many workers that live."""
        self.workers = [each for each in self.workers if each.returncode is None]
        for worker in self.workers[number:]:
            self.kill(worker)
        del self.workers[number:]
        words = "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"
        self.workers += [self._start(*words, **variables) for _ in range(number - len(self.workers))]
        self.wait_for(number)

    def wait_for(self, number: int) -> None:
        """Wait until the scheduler knows of so many workers."""
        from distributed import Client  # noqa: PLC0415 - the tests are skipped without it

        try:
            client = Client(self.address, timeout=30)
        except AssertionError:  # the thread of its loop had ten seconds to start
            client = Client(self.address, timeout=30)
        with client:
            deadline = time.monotonic() + 30
            while len(client.scheduler_info()["workers"]) != number:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def kill(self, process: Process) -> None:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        process.finish()

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            self.kill(process)
        self.workers.clear()

    def begin_anew(self) -> None:
        self.end()
        self.start_scheduler()


def children(pid: int) -> set[int]:
    """Processes below one, and below these."""
    found = set[int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            own = path.read_text().rpartition(")")[2].split()
            if int(own[1]) == pid:
                found |= {int(path.parent.name)} | children(int(path.parent.name))
    return found
