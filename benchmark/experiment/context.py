"""The store, progress, threads and other processes of a run, none of which its configuration sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from benchmark.system.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmark.experiment.plan import PlannedTask, Setting, StoreUnit
    from benchmark.experiment.store import Store, StoreEntry


class Executor(Protocol):
    """Computes units of a task that the store lacks: in this process, a process of users' code, or on a cluster."""

    def solved(
        self, task: PlannedTask, missing: Sequence[tuple[Setting, StoreUnit]]
    ) -> Iterator[tuple[str, StoreEntry | str]]:
        """Yield each finished unit's key with its result, or why it failed; the next executor gets the others."""


@dataclass(frozen=True)
class RunContext:
    """Resources of a run that its configuration does not set.

    Parameters
    ----------
    store : Store
        Stores results by the content from which they are computed.
    observer : Observer
        Gets the progress of the run.
    jobs : int
        Threads.
    download : bool
        Whether a missing corpus may be downloaded.
    elsewhere : Executor, optional
        Computes on workers what it can, before this machine computes the rest.
    """

    store: Store
    observer: Observer = field(default_factory=Observer)
    jobs: int = 1
    download: bool = True
    elsewhere: Executor | None = None
