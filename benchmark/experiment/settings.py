"""Settings, their parts that have keys in the store, and their predictions as entries of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.metrics import tally_predictions
from benchmark.evaluation.predictions import (
    NEAR_DUPLICATES,
    NO_INNER_FOLDS,
    SHARED_GROUPS,
    SettingKey,
    SettingPredictions,
    TaskDocuments,
    TestedSplit,
)
from benchmark.experiment.code_digest import code_version, imported_modules, is_stored
from benchmark.experiment.store import StoreEntry
from benchmark.methods.split_data import products_key
from benchmark.system.numba_jit import compile_all
from benchmark.system.registries import is_builtin

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.splits import Split
    from benchmark.methods.base import Method
    from benchmark.methods.problem import Problem


@dataclass(frozen=True, eq=False)
class StoreUnit:
    """One entry of the store: a method on one split of a setting, or on all splits if it solves them together.

    Parameters
    ----------
    key : str
    label : str
        Its name in progress and error messages.
    splits : tuple of Split
    inner : tuple of tuple of Split
        The folds of each split's training documents; empty if nothing is chosen on folds.
    keeps_values : bool
        Whether decision values are stored, since a metric asks for them.
    """

    key: str
    label: str
    splits: tuple[Split, ...]
    inner: tuple[tuple[Split, ...], ...]
    keeps_values: bool = False


@dataclass(frozen=True, eq=False)
class Setting:
    """One candidate of a method with one training size and number of terms.

    Parameters
    ----------
    place : SettingKey
    method : Method
    problem : Problem
    terms : int or None
    jobs : tuple of StoreUnit
    alone : bool
        Whether the method has no other candidate.
    aggregate : str
        How the gains of the classes are combined, where terms are selected.
    """

    place: SettingKey
    method: Method
    problem: Problem
    terms: int | None
    jobs: tuple[StoreUnit, ...]
    alone: bool = True
    aggregate: str = "sum"

    def compile(self) -> None:
        """Compile the functions that the method may call, before a clock is started."""
        compile_all(imported_modules(*component_classes(self.method.spec), *_classes(self.method))[0])

    @property
    def classifies_points(self) -> bool:
        """Whether the method needs no kernel matrix."""
        return self.method.spec.kernel is None

    @cached_property
    def shares(self) -> tuple[Any, ...]:
        """A value that is equal for settings of a text that share a matrix of inner products."""
        return products_key(self.method.spec)

    @property
    def components(self) -> list[type]:
        """The classes that the method names."""
        return component_classes(self.method.spec)

    @property
    def user_classes(self) -> tuple[type, ...]:
        """The classes among them that aren't of this package; () for a method of this package."""
        return tuple(dict.fromkeys(each for each in self.components if not is_builtin(each)))

    @property
    def stored(self) -> bool:
        """Whether results are stored: all its classes are of this package or installed, or say so."""
        return all(map(is_stored, self.components))


@dataclass(frozen=True, eq=False)
class PlannedTask:
    """All settings of one task under one variant.

    Parameters
    ----------
    variant, task : str
    problem : Problem
    splits : dict of size to tuple of Split
    points : tuple of Setting
        In the order of the methods, sizes and numbers of terms.
    """

    variant: str
    task: str
    problem: Problem
    splits: dict[int | None, tuple[Split, ...]]
    points: tuple[Setting, ...]

    @property
    def units(self) -> dict[str, list[tuple[Setting, StoreUnit]]]:
        """The settings' units by their keys, which several settings may share."""
        found: dict[str, list[tuple[Setting, StoreUnit]]] = {}
        for point in self.points:
            for unit in point.jobs:
                found.setdefault(unit.key, []).append((point, unit))
        return found

    @property
    def documents(self) -> TaskDocuments:
        """The documents, as scores see them."""
        documents = self.problem.documents
        truth = documents.labels if documents.topics is None else documents.topics
        return TaskDocuments(documents.ids, documents.classes, truth)

    def tested(self, near: Iterable[NDArray[np.intp]] = ()) -> Iterator[tuple[int | None, tuple[TestedSplit, ...]]]:
        """Yield the splits of every size, as scores see them; `near` has each split's rows of near-duplicates."""
        members, rows = self.problem.members, iter(near)
        for size, splits in self.splits.items():
            counted = (members[split.train].sum(axis=0, dtype=np.int64) for split in splits)
            yield (
                size,
                tuple(
                    TestedSplit(s.name, s.test, n, self._leaks(s, next(rows, None)))
                    for s, n in zip(splits, counted, strict=True)
                ),
            )

    def _leaks(self, split: Split, near: NDArray[np.intp] | None) -> dict[str, NDArray[np.intp]]:
        groups, found = self.problem.documents.groups, {} if near is None else {NEAR_DUPLICATES: near}
        if groups is not None:
            found[SHARED_GROUPS] = split.test[np.isin(groups[split.test], groups[split.train])]
        return found


def setting_name(place: SettingKey) -> str:
    """Return the name of a setting in messages: variant, task, method, size and terms."""
    variant, task, method, _, size, terms = place
    return "-".join(str(word) for word in (variant, task, method, size, terms) if word not in ("", "base", None))


def predictions_of_unit(
    job: StoreUnit, found: Sequence[SettingPredictions], problem: Problem, memory: float
) -> SettingPredictions:
    """Return a unit's predictions by split, and the counts of those of its inner folds."""
    outer, rest = SettingPredictions.joined(found[: len(job.splits)]), iter(found[len(job.splits) :])
    warnings = SettingPredictions.joined(found).warnings if any(each.warnings for each in found) else ()
    counted = [fold_counts(list(islice(rest, len(folds))), folds, problem) for folds in job.inner if folds]
    n = len(outer.sizes)
    return replace(
        outer,
        values=outer.values if job.keeps_values else None,
        seconds=outer.seconds.round(6),
        memory=np.full(n, memory),
        inner=np.stack(counted) if counted else NO_INNER_FOLDS,
        versions=(code_version(),) * n,
        warnings=warnings,
    )


def fold_counts(found: Sequence[SettingPredictions], folds: Sequence[Split], problem: Problem) -> NDArray[np.int64]:
    """Count the predictions on folds by class, summed over the folds, as a row of `SettingPredictions.inner`."""
    truth = problem.members if problem.multilabel else problem.documents.labels
    total = np.zeros(3 * len(problem.documents.classes) + 1, dtype=np.int64)
    for fold, own in zip(folds, found, strict=True):
        counts = tally_predictions(truth[fold.test], own.predicted, len(problem.documents.classes))
        total += np.concatenate([counts.right, counts.assigned, counts.true, [counts.documents]])
    return total


def pack_predictions(found: SettingPredictions) -> StoreEntry:
    """Return a job's predictions as stored: one bit per class of multi-label predictions, and per tie."""
    multilabel = found.predicted.ndim == 2
    arrays = {
        "predicted": np.packbits(found.predicted, axis=1) if multilabel else found.predicted,
        "tied": np.packbits(found.tied),
        "seconds": found.seconds,
        "inner": found.inner,
        "memory": found.memory,
    }
    arrays |= {} if found.values is None else {"values": found.values}
    return StoreEntry(arrays, {"version": found.versions[0], "warnings": list(found.warnings)})


def unpack_predictions(entry: StoreEntry, job: StoreUnit, problem: Problem) -> SettingPredictions:
    """Return a job's predictions back from the store."""
    arrays, sizes = entry.arrays, tuple(len(split.test) for split in job.splits)
    n, k = sum(sizes), len(problem.documents.classes)
    predicted, shape = arrays["predicted"], (n, k) if problem.multilabel else (n,)
    if problem.multilabel:
        predicted = np.unpackbits(predicted, axis=1, count=k).astype(bool)
    tied = np.unpackbits(arrays["tied"], count=int(np.prod(shape))).astype(bool).reshape(shape)
    versions = (entry.facts["version"],) * len(sizes)
    rest = arrays["seconds"], arrays["memory"], arrays["inner"], versions
    warnings, values = tuple(entry.facts["warnings"]), arrays.get("values")
    return SettingPredictions(predicted, tied, sizes, *rest, warnings, values)


def _classes(method: Any) -> Iterator[type]:
    """Return the class of a method, and those of the methods that it wraps."""
    while method is not None:
        yield type(method)
        method = getattr(method, "method", None)


def component_classes(spec: MethodSpec) -> list[type]:
    """Return the classes that a configuration names for a method."""
    return [part.cls for part in spec.components]
