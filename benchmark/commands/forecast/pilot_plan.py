"""What pilot runs compute of a run, and what it stands for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.commands.forecast.sample import batch_group, batch_kind, choose_pilots, job_sizes, missing_batches
from benchmark.config.subset import subset_experiment
from benchmark.experiment.runner import plan_tasks

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.commands.forecast.sample import PilotBatch
    from benchmark.config.model import Experiment
    from benchmark.experiment.batches import Batch
    from benchmark.experiment.context import LoadedVariant
    from benchmark.experiment.settings import PlannedTask, StoreUnit

    Array = NDArray[np.float64]

#: Cells of a pilot; of an experiment with more, some stand for all.
MAX_CELLS = 150


@dataclass(frozen=True, eq=False)
class PilotPlan:
    """The batches that pilots compute, and all batches that a run computes.

    Parameters
    ----------
    works : sequence of PlannedTask
        Tasks of the pilots, with all their documents.
    pilots : sequence of PilotBatch
        The batches to compute.
    represented : sequence of Batch
        Batches of the same kinds, among them those to compute.
    missing : sequence of Batch
        All batches of the run.
    cells : float
        Number of cells of the run, as a multiple of those of the pilots.
    """

    works: Sequence[PlannedTask]
    pilots: Sequence[PilotBatch]
    represented: Sequence[Batch]
    missing: Sequence[Batch]
    cells: float

    def computed(self, groups: Collection[str]) -> frozenset[str]:
        """Return the keys of the jobs of these groups that pilots compute."""
        return frozenset(key for pilot in self.pilots if pilot.group in groups for key in pilot.jobs)

    @cached_property
    def jobs_of_kind(self) -> dict[tuple[Any, ...], list[str]]:
        """Keys of all jobs of each kind of batch that pilots compute."""
        found = defaultdict[tuple[Any, ...], list[str]](list)
        for batch in self.represented:
            found[batch_kind(batch)] += [job.key for job in batch.jobs]
        return {kind: found[kind] for kind in dict.fromkeys(pilot.kind for pilot in self.pilots)}

    @cached_property
    def groups(self) -> dict[str, list[tuple[Any, ...]]]:
        """The kinds of each group."""
        found = defaultdict[str, list[tuple[Any, ...]]](list)
        for kind, group in {pilot.kind: pilot.group for pilot in self.pilots}.items():
            found[group].append(kind)
        return dict(found)

    def group_sizes(self, group: str, jobs: Mapping[str, StoreUnit]) -> Array:
        """Return the sizes of all jobs of the group's kinds, see `job_sizes`."""
        keys = [key for kind in self.groups[group] for key in self.jobs_of_kind[kind]]
        return np.asarray(np.sum([job_sizes(jobs[key], group) for key in keys], axis=0))

    @cached_property
    def whole_sizes(self) -> dict[str, Array]:
        """Sizes of each group in the run, for the kinds that pilots compute."""
        jobs = jobs_by_key(self.works)
        return {group: self.group_sizes(group, jobs) for group in self.groups}

    @cached_property
    def weights(self) -> dict[str, float]:
        """For each group, the documents of all its batches as a multiple of those of the kinds that pilots compute."""
        totals = defaultdict[str, float](float)
        for batch in self.missing:
            totals[batch_group(batch)] += sum(job_sizes(job, batch_group(batch))[0] for job in batch.jobs)
        return {group: totals[group] / self.whole_sizes[group][0] for group in self.groups}


def jobs_by_key(works: Sequence[PlannedTask]) -> dict[str, StoreUnit]:
    """Return the jobs of tasks by key."""
    return {job.key: job for work in works for point in work.points for job in point.jobs}


def n_documents(works: Sequence[PlannedTask]) -> int:
    """Return the number of documents of all tasks."""
    return sum(len(work.problem.documents) for work in works)


def plan_pilots(
    experiment: Experiment, read: Mapping[str, LoadedVariant], works: Sequence[PlannedTask], left: Container[str]
) -> tuple[Experiment, PilotPlan]:
    """Choose what pilots compute, of the jobs whose keys are `left`; return the experiment with their cells, too."""
    ids, missing = experiment.ids, missing_batches(works, left)
    if len(ids) > MAX_CELLS:
        step = -(-len(ids) // MAX_CELLS)
        experiment = subset_experiment(experiment, set(ids[::step]), ("*",))
        works = list(plan_tasks(experiment, read))
    represented = missing_batches(works, left)
    pilots = choose_pilots(represented)
    return experiment, PilotPlan(works, pilots, represented, missing, len(ids) / len(experiment.ids))
