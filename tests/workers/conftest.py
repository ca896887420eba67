"""A scheduler and workers of Dask, and an S3 server, in processes of their own."""

from __future__ import annotations

import logging
import signal
import socket
import time
from typing import TYPE_CHECKING

import pytest

from tests.builders import Notebook
from tests.processes import Process

if TYPE_CHECKING:
    from collections.abc import Iterator


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


@pytest.fixture(scope="session")
def dask(bucket: str) -> Iterator[Dask]:
    """A scheduler whose workers see the bucket, too."""
    pytest.importorskip("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    found = Dask()
    yield found
    found.end()


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.fixture(scope="session")
def bucket() -> Iterator[str]:
    """The address of an empty bucket, with a name of its own: all servers of a process share their buckets."""
    moto, s3fs = pytest.importorskip("moto.server"), pytest.importorskip("s3fs")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    given = {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_DEFAULT_REGION": "us-east-1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (given | dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "test")).items():
            patch.setenv(name, value)
        name = f"bucket-{port}"
        s3fs.S3FileSystem().mkdir(name)
        yield f"s3://{name}"
    server.stop()
