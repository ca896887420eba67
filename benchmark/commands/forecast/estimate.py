"""Forecast of a run's seconds and memory from pilot runs on samples of its documents."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmark.commands.forecast.growth import growth_terms
from benchmark.commands.forecast.pilot import PilotProcess
from benchmark.commands.forecast.pilot_plan import jobs_by_key, n_documents, plan_pilots
from benchmark.commands.forecast.sample import (
    KERNEL_GROUP,
    POINT_POWER,
    job_sizes,
    sample_counts,
    sample_task,
    smallest_share,
)
from benchmark.methods.matrix_cache import memory_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.commands.forecast.pilot import Measurement, Span
    from benchmark.commands.forecast.pilot_plan import PilotPlan
    from benchmark.config.model import Experiment
    from benchmark.experiment.context import LoadedVariant, RunContext
    from benchmark.experiment.settings import PlannedTask

    Array = NDArray[np.float64]

RUN_PARTS = ("start", "reading and counting", "training and deciding", "scoring and tables")
START, READING, LEARNING, SCORING = RUN_PARTS
#: Largest share of the documents in a pilot, and the largest step from one pilot to the next.
MAX_SHARE, MAX_STEP = 1 / 2, 4
#: Processor seconds that pilots may take together, or else this share of the forecast, up to a limit.
PILOT_SECONDS, PILOT_SHARE, MAX_PILOT_SECONDS = 15.0, 0.1, 40.0
#: Errors of a pilot's values: seconds, as a share and at least; bytes that an allocator may keep.
NOISE_SHARE, NOISE_SECONDS, NOISE_BYTES = 0.05, 0.02, 3e6
#: Announced growth of memory, as a multiple of the estimate: too little memory ends a run, too much only waits.
MEMORY_MARGIN = 1.15
#: What is neither a batch nor a picture: scores, tests, tables.
REST = "rest"


@dataclass(frozen=True)
class Forecast:
    """Estimated time, memory and disk space of a run.

    Parameters
    ----------
    seconds : dict of str to float
        Wall-clock seconds by `RUN_PARTS`, on a machine as busy as now.
    cpu : dict of str to float
        Processor seconds by `RUN_PARTS`, summed over processors.
    memory : dict of str to float
        Peak of resident bytes during each part.
    disk : float
        Bytes by which the store grows.
    load : float
        Processes that ran or waited on the machine in the last minute; NaN where unknown.
    processors : int
        Threads of the run.
    """

    seconds: dict[str, float]
    cpu: dict[str, float]
    memory: dict[str, float]
    disk: float
    load: float = float("nan")
    processors: int = 1

    @property
    def peak(self) -> float:
        """Peak of resident memory, in bytes."""
        return max(self.memory.values())


@dataclass(frozen=True, eq=False)
class PilotRun:
    """A pilot run: what it took, and the sizes of its sample as shares of the run's, for the groups that it computed.

    Parameters
    ----------
    values : dict of str to array, shape (2,)
        Processor and wall-clock seconds that all batches of a group, or `REST`, would take on the sample.
    sizes : dict of str to array, shape (2,)
        Sizes by group, linear and steep.
    memory : dict of str to float
        Bytes by which the peak of resident memory exceeds what was resident before, by group.
    base : float
        Resident bytes before the pilot.
    spent : dict of str to float
        Processor seconds of the pilot, by group.
    diagnostics : Span
        What the diagnostics took.
    """

    values: dict[str, Array]
    sizes: dict[str, Array]
    memory: dict[str, float]
    base: float
    spent: dict[str, float]
    diagnostics: Span


def pilot_run_of(
    plan: PilotPlan, works: Sequence[PlannedTask], measured: Measurement, groups: Collection[str]
) -> PilotRun:
    """Return a pilot run of some groups on sampled tasks, with the seconds of the batches that it leaves out."""
    jobs, share = jobs_by_key(works), n_documents(works) / n_documents(plan.works)
    values, sizes, memory, spent = {}, {}, {}, {}
    for group in groups:
        kinds = plan.groups[group]
        total, timed, peak = np.zeros(2), 0.0, 0.0
        for kind in kinds:
            of_all = sum(job_sizes(jobs[key], group)[0] for key in plan.jobs_of_kind[kind])
            for batch in (pilot for pilot in plan.pilots if pilot.kind == kind):
                spans = [
                    measured.batches[label] for key in batch.jobs if (label := jobs[key].label) in measured.batches
                ]
                seconds = np.sum([np.zeros(2), *(span.seconds for span in spans)], axis=0)
                size = sum(job_sizes(jobs[key], group)[0] for key in batch.jobs)
                total, timed, of_all = total + seconds, timed + seconds[0], of_all - size
                peak = max([peak, *(span.memory for span in spans)])
            total = total + seconds * of_all / size
        values[group], spent[group] = total * plan.weights[group], timed
        memory[group] = max(0.0, peak - measured.base)
        sizes[group] = plan.group_sizes(group, jobs) / plan.whole_sizes[group]
    values[REST], spent[REST] = measured.rest.seconds * plan.cells, float(measured.rest.seconds[0])
    memory[REST], sizes[REST] = max(0.0, measured.rest.memory - measured.base), np.array([share, share**POINT_POWER])
    return PilotRun(values, sizes, memory, measured.base, spent, measured.diagnostics)


def seconds_terms(runs: Sequence[PilotRun], group: str) -> Array:
    """Return what the processor seconds of a group are made of in the run, see `growth_terms`."""
    runs = [run for run in runs if group in run.values]
    sizes = np.array([run.sizes[group][: _n_sizes(group)] for run in runs])
    values = np.array([run.values[group][0] for run in runs])
    return growth_terms(sizes, values, np.maximum(NOISE_SHARE * values, NOISE_SECONDS))


def _n_sizes(group: str) -> int:
    """Return 2 for seconds that may grow faster than the documents, and 1 for those of scores and tables."""
    return 1 if group == REST else 2


def forecast_seconds(runs: Sequence[PilotRun], group: str) -> Array:
    """Return the processor and wall-clock seconds of a group in the run, shape (2,).

    The latter are in the same proportion as in the largest pilot.
    """
    cpu, last = float(seconds_terms(runs, group).sum()), last_run(runs, group).values[group]
    return np.array([cpu, cpu * last[1] / last[0] if last[0] else cpu])


def last_run(runs: Sequence[PilotRun], group: str) -> PilotRun:
    """Return the last pilot that computed a group."""
    return next(run for run in reversed(runs) if group in run.values)


def forecast_memory(runs: Sequence[PilotRun], group: str) -> float:
    """Return the peak of resident bytes of a group in the run.

    Only kernels grow with the pairs of documents. Most of `REST` are resamples of the distinct pairs of a true and a
    predicted class, which grow with the square root of the documents, about.
    """
    runs = [run for run in runs if group in run.values]
    sizes = np.array([run.sizes[group][: 2 if group == KERNEL_GROUP else 1] for run in runs])
    sizes = np.sqrt(sizes) if group == REST else sizes
    values = np.array([run.memory[group] for run in runs])
    growth = growth_terms(sizes, values, np.full(len(runs), NOISE_BYTES)).sum()
    return runs[0].base + MEMORY_MARGIN * float(growth)


def is_cheap(runs: Sequence[PilotRun], spent: float, step: float, groups: Collection[str]) -> bool:
    """Return whether a pilot of `groups` on `step` times as many documents as the last takes little.

    It is compared with what pilots `spent` and with what the run takes at most: where pilots leave open how steeply
    seconds grow, one more tells. After one pilot nothing is known of growth: the next must be cheap whether seconds
    grow linearly or as steeply as they can.
    """
    if len(runs) == 1:
        return all(_is_cheap_with_power(runs[0], spent, step, power) for power in (1.0, 2.0))
    following, whole = float(runs[-1].diagnostics.seconds[0]), 0.0
    for group in runs[0].spent:
        terms, last = seconds_terms(runs, group), last_run(runs, group)
        whole += max(float(terms.sum()), _steepest(runs, group))
        if group not in (*groups, REST):
            continue
        powers = np.array([1.0, 2.0 if group == KERNEL_GROUP else POINT_POWER])[: len(terms) - 1]
        grown = terms[0] + float(np.sum(terms[1:] * last.sizes[group][: len(powers)] * step**powers))
        following += last.spent[group] * grown / max(last.values[group][0], NOISE_SECONDS)
    return spent + following <= _limit(whole)


def _steepest(runs: Sequence[PilotRun], group: str) -> float:
    """Return what kernels take in the run, in processor seconds, if all of their growth is with the pairs of documents.

    It is 0 for other groups, and after one pilot.
    """
    first, last = runs[0], last_run(runs, group)
    if group != KERNEL_GROUP or first is last:
        return 0.0
    grown, steep = (last.values[group] - first.values[group])[0], (last.sizes[group] - first.sizes[group])[1]
    return float(grown / steep)


def _is_cheap_with_power(last: PilotRun, spent: float, step: float, power: float) -> bool:
    """Return whether a pilot is cheap if seconds of kernels grow with a power of the documents."""
    following, whole = float(last.diagnostics.seconds[0]), 0.0
    for group, timed in last.spent.items():
        own = {KERNEL_GROUP: power, REST: power - 1}.get(group, min(power, POINT_POWER))
        following += timed * step**own
        whole += last.values[group][0] * last.sizes[group][0] ** -own
    return spent + following <= _limit(whole)


def _limit(whole: float) -> float:
    """Return the processor seconds that pilots of a run may take together."""
    return max(PILOT_SECONDS, min(MAX_PILOT_SECONDS, PILOT_SHARE * whole))


def run_pilots(
    process: PilotProcess, plan: PilotPlan, few: Mapping[str, LoadedVariant], notify: Callable[[str], None]
) -> tuple[list[PilotRun], Array, Span]:
    """Run pilots on more and more documents while they are cheap, and on two samples at least.

    Where pilots of all groups are dear, those of kernels go on alone: their matrices may take most of a run's memory,
    and little of a small sample's. The first pilot runs twice: its first run also loads libraries and compiled code,
    and draws the pictures, as a run does once.

    Returns
    -------
    (list of PilotRun, float64 array of shape (2,), Span)
        The pilots, the processor and wall-clock seconds of the first use of libraries, and what the pictures took.
    """
    share, spent, runs = smallest_share(plan.works, MAX_SHARE / MAX_STEP), 0.0, list[PilotRun]()
    groups = tuple(plan.groups)
    cold: Measurement | None = None
    warm: Measurement | None = None
    while True:
        works = [sample_task(work, share) for work in plan.works]
        notify(f"pilot run on {n_documents(works):,} documents")
        asked = works, plan.computed(groups), few, memory_budget() * share**2
        cold = cold or process.run(*asked, pictures=True)
        measured = process.run(*asked)
        warm = warm or measured
        runs.append(pilot_run_of(plan, works, measured, groups))
        spent += float(measured.seconds[0])
        steps = [step for step in (MAX_STEP, 2) if share * step <= MAX_SHARE]
        kernels = tuple(group for group in groups if group == KERNEL_GROUP)
        sets = (groups, kernels) if kernels else (groups,)
        cheap = [(step, own) for own in sets for step in steps if is_cheap(runs, spent, step, own)]
        if not cheap and (len(runs) > 1 or not steps):
            return runs, np.maximum(cold.seconds - warm.seconds, 0), cold.pictures
        step, groups = cheap[0] if cheap else (steps[-1], groups)
        share *= step


def forecast_run(
    experiment: Experiment,
    read: Mapping[str, LoadedVariant],
    works: Sequence[PlannedTask],
    left: Container[str],
    context: RunContext,
    reading: tuple[Array, float],
    disk: float,
) -> Forecast:
    """Estimate what a run takes by pilots in a process of their own.

    Parameters
    ----------
    experiment : Experiment
    read : mapping of str to LoadedVariant
    works : sequence of PlannedTask
    left : container of str
        Keys of the jobs that the store lacks.
    context : RunContext
    reading : (float64 array of shape (2,), float)
        Processor and wall-clock seconds of reading the counts, and the bytes that they take.
    disk : float
        Bytes by which the store grows.

    Raises
    ------
    BenchError
        If a pilot run fails.
    """
    experiment, plan = plan_pilots(experiment, read, works, left)
    few, vocabulary = sample_counts(read)
    for setting in {id(part.method): part for batch in plan.represented for part, _ in batch.parts}.values():
        setting.compile()  # a run finds the machine code on disk
    with (
        tempfile.TemporaryDirectory(prefix="simplexbench-") as folder,
        PilotProcess(experiment, context, Path(folder)) as process,
    ):
        runs, first_use, pictures = run_pilots(process, plan, few, context.observer.now)
    learning = runs[-1].diagnostics.seconds * vocabulary
    for group in plan.groups:
        learning = learning + forecast_seconds(runs, group)
    scoring = forecast_seconds(runs, REST) + pictures.seconds * plan.cells
    took = process.start.seconds + first_use, reading[0], learning, scoring
    cpu, seconds = (dict(zip(RUN_PARTS, map(float, each), strict=True)) for each in zip(*took, strict=True))
    start = process.start.memory
    memory = {START: start, READING: start + reading[1]}
    memory[LEARNING] = max((forecast_memory(runs, group) for group in plan.groups), default=0.0)
    memory[SCORING] = max(forecast_memory(runs, REST), pictures.memory)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return Forecast(seconds, cpu, {part: memory[part] for part in RUN_PARTS}, disk, load, context.jobs)
