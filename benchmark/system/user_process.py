"""Processes that run users' code: what it changes, prints, leaks or kills ends with its process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import weakref
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.system.errors import BenchError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The module that the process runs, see `benchmark.workers.__main__`.
_MODULE = "benchmark.workers"
#: How long a process may take to end after its last message.
_SECONDS_TO_END = 2.0


class ProcessEndedError(BenchError):
    """A process of users' code ended by itself: by an exit, a crash or a signal."""


class UserProcess:
    """A process of users' code, in a session of its own: Ctrl-C doesn't reach it, and `close` kills all that is in it.

    Started by `subprocess`, neither forked (OpenMP) nor spawned (scripts without a guard). It reads requests from a
    pipe and ends when the pipe is closed; what it prints goes to standard error.
    """

    def __init__(self) -> None:
        path = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-P", "-B", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101, PT018 - pipes, above
        self._requests = Connection(os.dup(self._process.stdin.fileno()), readable=False)
        self._replies = Connection(os.dup(self._process.stdout.fileno()), writable=False)
        self._process.stdin.close()
        self._process.stdout.close()
        self.close = weakref.finalize(self, _end, self._process, self._requests, self._replies)

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def request(self, content: bytes) -> Iterator[tuple[str, Any]]:
        """Send a request, and yield the messages of the process until it has answered; an interruption ends it.

        Raises
        ------
        ProcessEndedError
            If the process ends before it has answered.
        """
        answered = False
        try:
            self._requests.send_bytes(content)
            while not answered:
                kind, value = self._replies.recv()
                answered = kind in ("done", "failed")
                yield kind, value
        except (EOFError, OSError):
            raise ProcessEndedError(self._reason()) from None
        finally:
            if not answered:
                self.close()

    def _reason(self) -> str:
        try:
            code = self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:  # its threads go on
            return "ended the work of its process"
        how = f"with exit code {code}" if code >= 0 else f"by the signal {signal.Signals(-code).name}"
        return f"ended its process, {how}"


def _end(process: subprocess.Popen[bytes], *pipes: Connection) -> None:
    """End a process and those that it started, at once."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for each in pipes:
        each.close()
