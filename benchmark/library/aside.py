"""Pictures of several runs, drawn while the next is computed: ``python -m benchmark.library.aside`` is who draws."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from benchmark.experiment.session import picture_in, picture_key
from benchmark.experiment.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmark.report.contents import Summary
    from benchmark.report.files import Draw, Keep

#: Pictures of a run that take less time than another process to start.
FEW = 8


class Aside:
    """Draws pictures of several runs in a process of its own, which puts them into the store: the next run goes on.

    Parameters
    ----------
    store : Store
        Nothing is drawn aside for one that can't be written.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._unfinished: dict[Path, Summary] = {}
        self._sender = ThreadPoolExecutor(1)  # a pipe takes no more than who reads it has room for
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._close()

    def keep(self, summary: Summary, folder: Path) -> Keep:
        """What gives the pictures of a run: from the store, here, or, of more than a few that are new, none yet."""
        here = partial(picture_in, self._store)
        if len(summary.charts) <= FEW or not self._store.writable:
            return here

        def later(draw: Draw, given: Any, told: str) -> Mapping[str, bytes]:
            if self._store.has(picture_key(draw, told)):
                return here(draw, given, told)
            self._unfinished[folder] = summary
            self._sender.submit(self._send, pickle.dumps((self._store.folder, self._store.limit, draw, given, told)))
            return {}

        return later

    def finish(self) -> None:
        """Wait for what is drawn, and write it; what couldn't be is drawn now."""
        from benchmark.report.files import write_all  # noqa: PLC0415 - draws pictures, which are seldom new

        self._close()
        for folder, summary in self._unfinished.items():
            write_all(summary, folder, partial(picture_in, self._store))

    def _send(self, asked: bytes) -> None:
        if self._process is None:
            command = [sys.executable, "-m", "benchmark.library.aside"]
            how: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            # A session of its own: who interrupts means the run.
            self._process = subprocess.Popen(command, start_new_session=True, **how)  # noqa: S603 - of ours
        if self._process.stdin is not None:
            self._process.stdin.write(asked)
            self._process.stdin.flush()

    def _close(self) -> None:
        """Have no more drawn, and wait for the last."""
        self._sender.shutdown()
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.wait()


def main() -> None:
    """Draw what standard input asks for, into the store, until it ends."""
    with suppress(EOFError):
        while True:
            folder, limit, *picture = pickle.load(sys.stdin.buffer)  # noqa: S301 - what `Aside` wrote
            picture_in(Store(folder, limit), *picture)


if __name__ == "__main__":
    main()
