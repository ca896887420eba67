"""The process of users' code: answers requests from a pipe until it is closed, see `benchmark.system.user_process`."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from multiprocessing.connection import Connection

from benchmark.system.threads import let_openmp_threads_sleep


def main() -> None:
    """Answer requests; what users' code prints goes to standard error, and its standard input is empty."""
    requests, replies = Connection(os.dup(0), writable=False), Connection(os.dup(1), readable=False)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    let_openmp_threads_sleep()
    from benchmark.experiment.code_digest import code_version  # noqa: PLC0415 - after standard output is that of errors
    from benchmark.workers.worker import answer_request  # noqa: PLC0415

    code_version()  # recorded with times; users' code may change where modules are looked for

    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        """Pass on requests; end all processes of this session once nobody waits for an answer."""
        try:
            while True:
                waiting.put(requests.recv_bytes())
        except (EOFError, OSError):
            if hasattr(os, "killpg"):
                os.killpg(0, signal.SIGKILL)
            os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    process = os.getpid()

    def send(content: bytes) -> None:
        if os.getpid() != process:  # of a process that users' code forked
            os._exit(0)
        replies.send_bytes(content)

    while True:
        answer_request(waiting.get(), send)


if __name__ == "__main__":
    main()
