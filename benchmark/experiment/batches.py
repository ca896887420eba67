"""Batches of settings that are computed together, planned as data that a plan prints and workers receive."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from benchmark.methods.svm_method import solve_jointly
from benchmark.methods.wrappers.fusion import FusedMethod, solve_fusions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmark.evaluation.predictions import SettingKey, SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.experiment.settings import Setting, StoreUnit
    from benchmark.methods.matrix_cache import MatrixCache

_T = TypeVar("_T")
#: A setting, with some of its units.
Part: TypeAlias = "tuple[Setting, tuple[StoreUnit, ...]]"


@dataclass(frozen=True, eq=False)
class Batch:
    """Jobs that are computed at once: some of one setting, or one of each of several settings on the same split.

    Parameters
    ----------
    parts : tuple of (Setting, tuple of StoreUnit)
        Settings with their jobs; several settings share inner products.
    once : bool
        Whether no other split needs the inner products, so that large matrices are never stored.
    """

    parts: tuple[Part, ...]
    once: bool = False

    @property
    def jobs(self) -> tuple[StoreUnit, ...]:
        """The jobs of all parts."""
        return tuple(job for _, jobs in self.parts for job in jobs)

    def solve(self, bench: MatrixCache) -> list[list[SettingPredictions] | Exception]:
        """Compute each part: predictions by split, then those of the inner folds, or the exception that it raised."""
        first = self.parts[0][0]
        machines = [(point.method, unit_splits(jobs)) for point, jobs in self.parts]
        try:
            if isinstance(first.method, FusedMethod):
                return solve_fusions(machines, first.problem, first.terms, bench)  # type: ignore[arg-type]
            if first.method.joins(first.problem, first.terms) is not None:
                return solve_jointly(machines, first.problem, first.terms, bench, once=self.once)  # type: ignore[arg-type]
            return [method.solve(first.problem, splits, first.terms, bench) for method, splits in machines]
        except (ValueError, FloatingPointError) as error:  # an error in what the parts share
            return [error] * len(self.parts)


def unit_splits(jobs: Iterable[StoreUnit]) -> list[Split]:
    """Return all splits of some jobs: for each job its splits, then the folds of their training documents."""
    return [split for job in jobs for split in (*job.splits, *(fold for folds in job.inner for fold in folds))]


def plan_batches(missing: Sequence[tuple[Setting, StoreUnit]], *, by_split: bool) -> list[Batch]:
    """Plan the batches, in the order that lets methods share matrices and models.

    A batch is one job, so that a stopped run continues after it; or all jobs of a setting, where points are
    classified and splits are solved side by side; or the jobs on one split whose SVMs share inner products, or whose
    fusions share methods.

    Parameters
    ----------
    missing : sequence of (Setting, StoreUnit)
    by_split : bool
        Whether methods share the models of a split, so that all methods compute one split before the next.
    """
    splits = defaultdict[str, set[int]](set)
    for point, job in missing:
        splits[point.problem.key] |= {id(split) for split in unit_splits([job])}
    joined: dict[Any, list[Part]] = {}
    for number, (point, jobs) in enumerate(_ordered(missing, by_split=by_split)):
        joins = point.method.joins(point.problem, point.terms)
        same = number if joins is None else (point.problem.key, joins, point.terms, id(jobs[0].splits[0]))
        joined.setdefault(same, []).append((point, jobs))
    return [Batch(tuple(parts), len(splits[parts[0][0].problem.key]) == 1) for parts in joined.values()]


def _ordered(missing: Sequence[tuple[Setting, StoreUnit]], *, by_split: bool) -> list[Part]:
    if by_split:
        by_text = _together(missing, lambda each: each[0].problem.key)
        ordered = _together(by_text, lambda each: (each[0].place.size, each[1].splits[0].name))
        return [(point, (job,)) for point, job in ordered]
    points: dict[SettingKey, tuple[Setting, list[StoreUnit]]] = {}
    for point, job in missing:
        points.setdefault(point.place, (point, []))[1].append(job)
    by_base = _together(points.values(), lambda each: each[0].shares)
    found: list[Part] = []
    for point, jobs in _together(by_base, lambda each: each[0].problem.key):
        found += [(point, tuple(jobs))] if point.classifies_points else [(point, (job,)) for job in jobs]
    return found


def _together(items: Iterable[_T], key: Callable[[_T], Any]) -> list[_T]:
    """Return the items grouped by key, keys in order of first appearance."""
    found: dict[Any, list[_T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return [item for own in found.values() for item in own]
