"""Resources of work on this machine: the store, threads, and a folder for machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.experiment.context import RunContext
from benchmark.experiment.store import Store
from benchmark.system.numba_jit import ensure_numba_cache
from benchmark.system.threads import n_processors

if TYPE_CHECKING:
    from benchmark.system.observer import Observer


def local_context(
    observer: Observer, jobs: int = 0, *, download: bool = True, store: Store | None = None
) -> RunContext:
    """Return the resources of work on this machine; 0 jobs are threads on all processors.

    Results are kept in the user's store by default.
    """
    ensure_numba_cache(observer.note)
    return RunContext(store or Store(warn=observer.note), observer, jobs or n_processors(), download)
