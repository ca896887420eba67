"""The store, progress, threads and workers of a run, none of which its configuration sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmark.system.observer import Observer

if TYPE_CHECKING:
    from benchmark.experiment.executors import Executor
    from benchmark.experiment.store import Store


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
