"""A scheduler and workers of Dask in processes of their own."""

from __future__ import annotations

import signal
import socket
import time

from tests.processes import Process


class Dask:
    """A scheduler, and as many workers as are asked for."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Start a scheduler without workers, at an address of its own."""
        self.workers = list[Process]()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")

    def _start(self, *words: str) -> Process:
        code = "from dask.__main__ import main; main()"
        return Process(*words, code=code, variables={"DASK_LOGGING__DISTRIBUTED": "critical"})

    def employ(self, number: int) -> None:
        """Let there be so many workers that live, and wait until the scheduler knows of them."""
        from distributed import Client  # noqa: PLC0415 - the tests are skipped without it

        self.workers = [each for each in self.workers if each.returncode is None]
        while len(self.workers) > number:
            self.kill(self.workers.pop())
        words = "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"
        self.workers += [self._start(*words) for _ in range(number - len(self.workers))]
        with Client(self.address, timeout=30) as client:
            deadline = time.monotonic() + 30
            while len(client.scheduler_info()["workers"]) != number:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def kill(self, process: Process) -> None:
        process.send_signal(signal.SIGKILL)
        process.finish()

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            self.kill(process)
        self.workers.clear()
