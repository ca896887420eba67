"""The store, progress, threads and workers of a run, none of which its configuration sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from benchmark.system.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmark.experiment.store import Store


class Executor(Protocol):
    """Computes units of a task that the store lacks: on this machine, or on a cluster."""

    def solved(self, task: Any, missing: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        """Yield each finished unit's key with its result, or why it failed; the next executor gets the others.

        Parameters
        ----------
        task : PlannedTask
            The types are those of `benchmark.experiment.plan`, which depends on this module.
        missing : sequence of StoreUnit
        """


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
    workers : Executor, optional
        Other machines that compute what they can.
    """

    store: Store
    observer: Observer = field(default_factory=Observer)
    jobs: int = 1
    download: bool = True
    workers: Executor | None = None
