"""What a run works with, whatever its configuration says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from benchmark.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmark.config.model import Experiment
    from benchmark.experiment.reading import Read
    from benchmark.experiment.store import Store
    from benchmark.experiment.work import Job, PointWork, TaskWork


class Elsewhere(Protocol):
    """Other processes that compute what the store lacks, and put it there."""

    def begin(self, study: Experiment, read: Mapping[str, Read], works: Iterable[TaskWork]) -> Iterable[TaskWork]:
        """Start to compute the settings of all tasks; yield the tasks unchanged."""

    def solved(self, missing: Sequence[tuple[PointWork, Job]]) -> Iterator[tuple[str, str]]:
        """Yield each finished job's key with its error, or ""; the run computes the jobs that are not yielded."""


@dataclass(frozen=True)
class RunContext:
    """What a run works with, whatever its configuration says.

    Parameters
    ----------
    store : Store
        Keeps results by the content that they are made of.
    observer : Observer
        Is told how far the run is.
    jobs : int
        Threads.
    download : bool
        Whether a corpus that isn't here may be downloaded.
    elsewhere : Elsewhere or None
        Other processes that compute, too.
    """

    store: Store
    observer: Observer = field(default_factory=Observer)
    jobs: int = 1
    download: bool = True
    elsewhere: Elsewhere | None = None
