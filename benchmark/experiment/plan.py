"""Plan a task: its settings, the units of the store that each consists of, and batches of units computed together."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import count, islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.cells import settings_of_cell
from benchmark.config.tasks import protocol_at_size
from benchmark.evaluation.metrics import tally_predictions
from benchmark.evaluation.predictions import NO_INNER_FOLDS, SettingKey, SettingPredictions
from benchmark.evaluation.splits import Split
from benchmark.experiment.code_digest import code_digest, is_stored
from benchmark.experiment.store import StoreEntry, array_digest, store_key
from benchmark.methods.base import solve_batch
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.problem import Problem
from benchmark.methods.split_data import products_key, training_rows_of
from benchmark.methods.wrappers import FusedMethod, build_method
from benchmark.system.tags import tags_of
from benchmark.system.user_classes import is_builtin

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import Experiment, MethodSpec, Task, TextSettings, Variant
    from benchmark.experiment.counting import LoadedVariant
    from benchmark.methods.base import Method
    from benchmark.text.counts import Counts


@dataclass(frozen=True, eq=False)
class Setting:
    """One candidate of a method with one training size and number of terms.

    Parameters
    ----------
    key : SettingKey
    method : Method
    problem : Problem
    code : str
        Digest of the code that decides its results.
    """

    key: SettingKey
    method: Method
    problem: Problem
    code: str

    @property
    def classes(self) -> list[type]:
        """The classes that the configuration names for its method."""
        return [part.cls for part in self.method.spec.components]

    @property
    def classifies_points(self) -> bool:
        """Whether the method needs no kernel matrix."""
        return self.method.spec.kernel is None

    @cached_property
    def shares(self) -> tuple[Any, ...]:
        """A value that is equal for settings of a text that share a matrix of inner products."""
        return products_key(self.method.spec)

    @property
    def user_classes(self) -> tuple[type, ...]:
        """The classes of its configuration that aren't of this package; () for a method of this package."""
        return tuple(dict.fromkeys(each for each in self.classes if not is_builtin(each)))

    @property
    def stored(self) -> bool:
        """Whether results are stored: all its classes are of this package or installed, or say so."""
        return all(map(is_stored, self.classes))


@dataclass(frozen=True, eq=False)
class StoreUnit:
    """One entry of the store: a method on one split of a setting, or on all splits if it solves them together.

    Parameters
    ----------
    key : str
    label : str
        Its name in progress and error messages.
    setting : Setting
    splits : tuple of Split
    inner : tuple of tuple of Split
        The folds of each split's training documents; empty if nothing is chosen on folds.
    keeps_values : bool
        Whether decision values are stored, since a metric asks for them.
    """

    key: str
    label: str
    setting: Setting
    splits: tuple[Split, ...]
    inner: tuple[tuple[Split, ...], ...]
    keeps_values: bool = False

    @property
    def all_splits(self) -> list[Split]:
        """Its splits, then the folds of their training documents."""
        return [*self.splits, *(fold for folds in self.inner for fold in folds)]

    def entry(self, predictions: Sequence[SettingPredictions], memory: float) -> StoreEntry:
        """Return its predictions by split, and the error counts of its inner folds, as they are stored."""
        outer, rest = SettingPredictions.joined(predictions[: len(self.splits)]), iter(predictions[len(self.splits) :])
        of_folds = [(list(islice(rest, len(folds))), folds) for folds in self.inner if folds]
        counted = [fold_counts(*each, self.setting.problem) for each in of_folds]
        values = vars(outer) | {
            "values": outer.values if self.keeps_values else None,
            "seconds": outer.seconds.round(6),
            "memory": np.full(len(outer.sizes), memory),
            "inner": np.stack(counted) if counted else NO_INNER_FOLDS,
            "warnings": tuple(dict.fromkeys(text for each in predictions for text in each.warnings)),
        }
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return StoreEntry(arrays, {name: value for name, value in values.items() if isinstance(value, tuple)})


@dataclass(frozen=True, eq=False)
class PlannedTask:
    """All settings of one task under one variant.

    Parameters
    ----------
    variant, task : str
    problem : Problem
    splits : dict of size to tuple of Split
    units : tuple of StoreUnit
        In the order of the methods, sizes, numbers of terms and splits.
    """

    variant: str
    task: str
    problem: Problem
    splits: dict[int | None, tuple[Split, ...]]
    units: tuple[StoreUnit, ...]

    @property
    def settings(self) -> dict[Setting, list[StoreUnit]]:
        """The settings with their units."""
        found = defaultdict[Setting, list[StoreUnit]](list)
        for unit in self.units:
            found[unit.setting].append(unit)
        return found

    def of_units(self, keys: Container[str]) -> PlannedTask:
        """Return the task with only the units of these keys."""
        return replace(self, units=tuple(unit for unit in self.units if unit.key in keys))


# --- Settings of a task ---


def plan_task(experiment: Experiment, variant: Variant, task: Task, read: LoadedVariant) -> PlannedTask:
    """Return all settings of one task and variant."""
    selected = {key for cell in experiment.cells for key in settings_of_cell(experiment, cell)}
    rows, documents = read.counts.documents.of_classes(task.classes)
    splits = {size: tuple(protocol_at_size(variant.protocol, size).splits(documents)) for size in variant.sizes}
    trained = training_rows_of(split for each in splits.values() for split in each)
    whole, default = len(rows) == len(read.counts.documents), variant.collection.text
    truth = documents.labels if documents.topics is None else documents.topics
    key_of = partial(store_key, rows=array_digest(rows.astype(np.int64), truth), classes=list(task.classes))

    def problem_on(counts: Counts, counts_id: str, text: TextSettings) -> Problem:
        chosen = replace(counts, documents=documents, matrix=counts.matrix if whole else counts.matrix[rows])
        pruning = text.pruning if text.pruning.by_split else None
        return Problem(chosen, key_of(counts=counts_id), experiment.seed, trained, pruning)

    texts = {default: (read.counts, read.key), **read.texts}
    counted = {text: problem_on(*each, text) for text, each in texts.items()}
    strings = {  # methods that read strings depend on no count
        text: replace(counted[default], key=key_of(texts=each.key), pruning=None, texts=each.take(rows))
        for text, each in read.strings.items()
    }
    replicated = tags_of(variant.protocol.cls).replicated

    def problem_of(spec: MethodSpec) -> Problem:
        return (strings if spec.classifier.tags.reads_texts else counted)[spec.text or default]

    def method_of(spec: MethodSpec) -> Method:
        """Return the method of a specification; a fusion has those of its members, each on its own counts or texts."""
        if spec.fused is None:
            return build_method(spec, problem_of(spec), variant.terms, replicated=replicated)
        members = spec.fused.members
        return FusedMethod(spec, tuple(map(method_of, members)), tuple(map(problem_of, members)), batched=replicated)

    @cache
    def inner_folds_of(split: Split) -> tuple[Split, ...]:
        """Return the folds of a split's training documents, as rows of the task; () if nothing is chosen on folds."""
        made = () if experiment.inner is None else experiment.inner.build().splits(documents.take(split.train))
        return tuple(Split(f.name, split.train[f.train], split.train[f.test], f.number) for f in made)

    digest, units = cache(_rows_digest), list[StoreUnit]()
    for entry, (index, spec) in ((each, one) for each in variant.entries for one in enumerate(each.candidates)):
        method, problem, several = method_of(spec), problem_of(spec), len(entry.candidates) > 1
        code = method_code(spec)
        content = {"code": code, "problem": problem.key, "values": experiment.ranks_documents, **_content(method)}
        for size, number in product(variant.sizes, variant.numbers):
            key = SettingKey(variant.name, task.name, entry.label, index, size, number)
            if key not in selected:
                continue
            setting = Setting(key, method, problem, code)
            label = f"{key.name}{f' {index}' if several else ''}"
            content["terms"] = variant.terms and [number, variant.terms.rank, variant.terms.aggregate]
            folds = [(split, inner_folds_of(split) if several else ()) for split in splits[size]]
            for part in [folds] if method.batched else [[each] for each in folds]:
                of_unit, inner = zip(*part, strict=True)
                seeds = [problem.seed, [split.number for split in of_unit]] if method.uses_seed else None
                digests = [[digest(split), [digest(fold) for fold in folds]] for split, folds in part]
                unit_key = store_key(rows=digests, seeds=seeds, **content)
                name = label if method.batched else f"{label} · {of_unit[0].name}"
                units.append(StoreUnit(unit_key, name, setting, of_unit, inner, experiment.ranks_documents))
    return PlannedTask(variant.name, task.name, counted[default], splits, tuple(units))


def _content(method: Method) -> dict[str, Any]:
    """Return what decides a method's predictions, beside its code, documents and splits."""
    spec = method.spec
    return {
        "stage": "decisions",
        "representation": spec.representation.resolved,
        "kernel": spec.kernel and spec.kernel.resolved,
        "classifier": spec.classifier.resolved,
        "threshold": spec.threshold and spec.threshold.plain,
        "predictions": spec.predictions and spec.predictions.digest,
        "vectors": spec.vectors and spec.vectors.resolved,
        "fused": method.content if isinstance(method, FusedMethod) else None,
    }


def method_code(spec: MethodSpec) -> str:
    """Return the digest of the code that decides a method's results; a protocol's code counts by its splits alone."""
    return code_digest(*(part.cls for part in spec.components), plan_task, MatrixCache)


def _rows_digest(split: Split) -> str:
    return array_digest(split.train.astype(np.int64), split.test.astype(np.int64))


# --- Batches ---


@dataclass(frozen=True, eq=False)
class Batch:
    """Units that are computed at once: some of one setting, or one of each of several settings on the same split.

    Parameters
    ----------
    parts : tuple of tuple of StoreUnit
        The units of each setting; several settings share inner products.
    once : bool
        Whether no other split needs the inner products, so that large matrices are never stored.
    """

    parts: tuple[tuple[StoreUnit, ...], ...]
    once: bool = False

    @property
    def units(self) -> list[StoreUnit]:
        """The units of all parts."""
        return [unit for part in self.parts for unit in part]

    @property
    def group(self) -> tuple[Any, ...]:
        """A value that is equal for consecutive batches which one worker should compute, since they share much."""
        unit = self.parts[0][0]
        setting, key = unit.setting, unit.setting.key
        if setting.problem.multilabel:
            return setting.problem.key, key.size, unit.splits[0].name
        return setting.problem.key, *(key if setting.classifies_points else setting.shares)

    def solve(self, matrices: MatrixCache) -> list[tuple[StoreUnit, list[SettingPredictions] | BaseException]]:
        """Compute each unit: predictions on all its splits, or the exception that its method raised."""
        first = self.parts[0][0].setting
        methods = [(part[0].setting.method, [s for unit in part for s in unit.all_splits]) for part in self.parts]
        try:
            results = solve_batch(methods, first.problem, first.key.terms, matrices, once=self.once)
        except (ValueError, FloatingPointError) as error:  # an error in what the parts share
            return [(unit, error) for unit in self.units]
        found = list[tuple[StoreUnit, list[SettingPredictions] | BaseException]]()
        for part, result in zip(self.parts, results, strict=True):
            rest = iter(() if isinstance(result, Exception) else result)
            of_unit = ((unit, list(islice(rest, len(unit.all_splits)))) for unit in part)
            found += ((unit, result if isinstance(result, Exception) else own) for unit, own in of_unit)
        return found


def plan_batches(missing: Sequence[StoreUnit]) -> list[Batch]:
    """Plan the batches of a task's units, in the order that lets methods share matrices and models.

    A batch is one unit, so that a stopped run continues after it; or all units of a setting, where points are
    classified and splits are solved side by side; or the units on one split whose SVMs share inner products, or whose
    fusions share methods. Where documents have several classes, methods share the models of a split, so all methods
    compute one split before the next.
    """
    rank = defaultdict[Any, int](count().__next__)  # of first appearance
    parts, splits = defaultdict[Any, list[StoreUnit]](list), defaultdict[str, set[int]](set)

    def order(unit: StoreUnit) -> tuple[int, int]:
        setting = unit.setting
        if setting.problem.multilabel:
            return rank[setting.key.size, unit.splits[0].name], rank[setting.problem.key]
        return rank[setting.problem.key], rank[setting.shares]

    for unit in sorted(missing, key=order):
        setting = unit.setting
        whole = setting.classifies_points and not setting.problem.multilabel
        parts[setting.key, "" if whole else unit.key].append(unit)
        splits[setting.problem.key] |= {id(split) for split in unit.all_splits}
    joined = defaultdict[Any, list[tuple[StoreUnit, ...]]](list)
    for number, part in enumerate(parts.values()):
        setting = part[0].setting
        joins = setting.method.joins(setting.problem, setting.key.terms)
        same = setting.problem.key, joins, setting.key.terms, id(part[0].splits[0])
        joined[number if joins is None else same].append(tuple(part))
    return [Batch(tuple(each), len(splits[each[0][0].setting.problem.key]) == 1) for each in joined.values()]


# --- Results of units ---


def unpack_predictions(entry: StoreEntry) -> SettingPredictions:
    """Return a unit's predictions back from the store."""
    facts: dict[str, Any] = {name: tuple(value) for name, value in entry.facts.items()}
    return SettingPredictions(**facts | entry.arrays)


def fold_counts(
    predictions: Sequence[SettingPredictions], folds: Sequence[Split], problem: Problem
) -> NDArray[np.int64]:
    """Count the predictions on folds by class, summed over the folds, as a row of `SettingPredictions.inner`."""
    truth, k = problem.members if problem.multilabel else problem.documents.labels, len(problem.documents.classes)
    total = np.zeros(3 * k + 1, dtype=np.int64)
    for fold, predicted in zip(folds, predictions, strict=True):
        counts = tally_predictions(truth[fold.test], predicted.predicted, k)
        total += np.concatenate([counts.right, counts.assigned, counts.true, [counts.documents]])
    return total
