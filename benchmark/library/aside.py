"""Pictures of several runs, drawn while the next is computed."""

from __future__ import annotations

import signal
from concurrent.futures import BrokenExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from benchmark.experiment.session import picture_in, picture_key
from benchmark.experiment.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future, ProcessPoolExecutor
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
        self._asked: list[Future[None]] = []
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def keep(self, summary: Summary, folder: Path) -> Keep:
        """What gives the pictures of a run: from the store, here, or, of more than a few that are new, none yet."""
        here = partial(picture_in, self._store)
        if len(summary.charts) <= FEW or not self._store.writable:
            return here

        def later(draw: Draw, given: Any, told: str) -> Mapping[str, bytes]:
            if self._store.has(picture_key(draw, told)):
                return here(draw, given, told)
            if self._pool is None:
                from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - slow, and seldom
                from multiprocessing import get_context  # noqa: PLC0415

                quiet = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)  # who interrupts means the run
                self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=quiet)
            place = self._store.folder, self._store.limit
            try:
                self._asked.append(self._pool.submit(_put_picture, *place, draw, given, told))
            except BrokenExecutor:
                return here(draw, given, told)
            self._unfinished[folder] = summary
            return {}

        return later

    def finish(self) -> None:
        """Wait for what is drawn, and write it; what couldn't be is drawn now."""
        from benchmark.report.files import write_all  # noqa: PLC0415 - draws pictures, which are seldom new

        for each in self._asked:
            each.exception()
        for folder, summary in self._unfinished.items():
            write_all(summary, folder, partial(picture_in, self._store))


def _put_picture(folder: Path | str, limit: int, draw: Draw, given: Any, told: str) -> None:
    picture_in(Store(folder, limit), draw, given, told)
