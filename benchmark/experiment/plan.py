"""Plan a task: its settings, the units of the store that each consists of, and batches of units computed together."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import count, islice, product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from benchmark.config.subset import settings_of_cell
from benchmark.config.tasks import protocol_at_size
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
from benchmark.experiment.code_digest import code_digest, imported_modules, is_stored
from benchmark.experiment.store import StoreEntry, array_digest, store_key
from benchmark.methods.base import solve_batch
from benchmark.methods.matrix_cache import MatrixCache
from benchmark.methods.problem import Problem
from benchmark.methods.registry import build_method
from benchmark.methods.split_data import products_key, training_rows_of
from benchmark.methods.wrappers import FusedMethod
from benchmark.system.numba_jit import compile_all
from benchmark.system.registries import is_builtin
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchmark.config.model import Experiment, MethodSpec, Task, TextSettings, Variant
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.splits import Split
    from benchmark.experiment.counting import LoadedVariant
    from benchmark.methods.base import Method
    from benchmark.text.counts import Counts

#: A setting with one of its units, and with some of them.
SettingUnit: TypeAlias = "tuple[Setting, StoreUnit]"
Part: TypeAlias = "tuple[Setting, tuple[StoreUnit, ...]]"
#: A unit's key with its result, or the reason why there is none.
UnitResult: TypeAlias = "tuple[str, StoreEntry | str]"


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
    key : SettingKey
    method : Method
    problem : Problem
    code : str
        Digest of the code that decides its results.
    units : tuple of StoreUnit
    """

    key: SettingKey
    method: Method
    problem: Problem
    code: str
    units: tuple[StoreUnit, ...]

    def compile(self) -> None:
        """Compile the functions that the method may call, before a clock is started."""
        classes: list[type] = []
        method: Any = self.method
        while method is not None:  # and those that it wraps
            classes.append(type(method))
            method = getattr(method, "method", None)
        compile_all(imported_modules(*component_classes(self.method.spec), *classes)[0])

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
        return tuple(dict.fromkeys(each for each in component_classes(self.method.spec) if not is_builtin(each)))

    @property
    def stored(self) -> bool:
        """Whether results are stored: all its classes are of this package or installed, or say so."""
        return all(map(is_stored, component_classes(self.method.spec)))


@dataclass(frozen=True, eq=False)
class PlannedTask:
    """All settings of one task under one variant.

    Parameters
    ----------
    variant, task : str
    problem : Problem
    splits : dict of size to tuple of Split
    settings : tuple of Setting
        In the order of the methods, sizes and numbers of terms.
    """

    variant: str
    task: str
    problem: Problem
    splits: dict[int | None, tuple[Split, ...]]
    settings: tuple[Setting, ...]

    @property
    def units(self) -> dict[str, list[SettingUnit]]:
        """The settings' units by their keys, which several settings may share."""
        found = defaultdict[str, list[SettingUnit]](list)
        for setting in self.settings:
            for unit in setting.units:
                found[unit.key].append((setting, unit))
        return found

    def of_units(self, keys: Container[str]) -> PlannedTask:
        """Return the task with only the units of these keys."""
        settings = (replace(s, units=tuple(unit for unit in s.units if unit.key in keys)) for s in self.settings)
        return replace(self, settings=tuple(setting for setting in settings if setting.units))

    @property
    def documents(self) -> TaskDocuments:
        """The documents, as scores see them."""
        documents = self.problem.documents
        truth = documents.labels if documents.topics is None else documents.topics
        return TaskDocuments(documents.ids, documents.classes, truth)

    def tested(self, near: Iterable[NDArray[np.intp]] = ()) -> Iterator[tuple[int | None, tuple[TestedSplit, ...]]]:
        """Yield the splits of every size, as scores see them; `near` has each split's rows of near-duplicates."""
        members, groups, rows = self.problem.members, self.problem.documents.groups, iter(near)
        for size, splits in self.splits.items():
            tested = []
            for split in splits:
                leaks = {} if (duplicates := next(rows, None)) is None else {NEAR_DUPLICATES: duplicates}
                if groups is not None:
                    leaks[SHARED_GROUPS] = split.test[np.isin(groups[split.test], groups[split.train])]
                trained = members[split.train].sum(axis=0, dtype=np.int64)
                tested.append(TestedSplit(split.name, split.test, trained, leaks))
            yield size, tuple(tested)


def component_classes(spec: MethodSpec) -> list[type]:
    """Return the classes that a configuration names for a method."""
    return [part.cls for part in spec.components]


# --- Settings of a task ---


def plan_task(experiment: Experiment, variant: Variant, task: Task, read: LoadedVariant) -> PlannedTask:
    """Return all settings of one task and variant."""
    selected = {key for cell in experiment.cells for key in settings_of_cell(experiment, cell)}
    rows, documents = read.counts.documents.of_classes(task.classes)
    splits = {size: tuple(protocol_at_size(variant.protocol, size).splits(documents)) for size in variant.sizes}
    trained = training_rows_of(split for each in splits.values() for split in each)
    whole, truth = len(rows) == len(read.counts.documents), documents.labels
    labels = array_digest(rows.astype(np.int64), truth if documents.topics is None else documents.topics)
    key_of = partial(store_key, rows=labels, classes=list(task.classes))

    def problem_of_counts(counts: Counts, counts_id: str, text: TextSettings) -> Problem:
        chosen = replace(counts, documents=documents, matrix=counts.matrix if whole else counts.matrix[rows])
        pruning = text.pruning if text.pruning.by_split else None
        return Problem(chosen, key_of(counts=counts_id), experiment.seed, trained, pruning)

    default = variant.collection.text
    problem = problem_of_counts(read.counts, read.key, default)
    counted = {None: problem} | {text: problem_of_counts(*each, text) for text, each in read.texts.items()}
    strings = {  # methods that read strings depend on no count
        text: replace(problem, key=key_of(texts=each.key), pruning=None, texts=each.take(rows))
        for text, each in read.strings.items()
    }

    def problem_of(spec: MethodSpec) -> Problem:
        counts_problem = counted.get(spec.text, problem)
        return strings.get(spec.text or default, counts_problem) if spec.classifier.tags.reads_texts else counts_problem

    replicated = tags_of(variant.protocol.cls).replicated

    def method_of(spec: MethodSpec) -> Method:
        """Return the method of a specification; a fusion has those of its members, each on its own counts or texts."""
        if spec.fused is None:
            return build_method(spec, problem_of(spec), variant.terms, replicated=replicated)
        members = spec.fused.members
        return FusedMethod(spec, tuple(map(method_of, members)), tuple(map(problem_of, members)), batched=replicated)

    inner_of, digest = cache(partial(_inner_splits, experiment, documents)), cache(rows_digest)
    settings = []
    for entry in variant.entries:
        several = len(entry.candidates) > 1
        for index, spec in enumerate(entry.candidates):
            method, method_problem, code = method_of(spec), problem_of(spec), method_code(spec)
            for size, number in product(variant.sizes, variant.numbers):
                key = SettingKey(variant.name, task.name, entry.label, index, size, number)
                if experiment.only and key not in selected:
                    continue
                folds = [(split, inner_of(split) if several else ()) for split in splits[size]]
                setting = Setting(key, method, method_problem, code, ())
                label = f"{key.name}{f' {index}' if several else ''}"
                terms = variant.terms and [number, variant.terms.rank, variant.terms.aggregate]
                content = {"terms": terms, "values": experiment.ranks_documents}
                settings.append(replace(setting, units=tuple(_units(setting, label, folds, digest, content))))
    return PlannedTask(variant.name, task.name, problem, splits, tuple(settings))


def _units(
    setting: Setting,
    label: str,
    folds: Sequence[tuple[Split, tuple[Split, ...]]],
    digest: Callable[[Split], str],
    content: dict[str, Any],
) -> Iterator[StoreUnit]:
    """Yield the units of a setting, of its splits with their inner folds; `content` is what else decides results."""
    method, problem, spec = setting.method, setting.problem, setting.method.spec
    for part in [folds] if method.batched else [[each] for each in folds]:
        key = store_key(
            stage="decisions",
            code=setting.code,
            problem=problem.key,
            representation=spec.representation.resolved,
            kernel=spec.kernel and spec.kernel.resolved,
            classifier=spec.classifier.resolved,
            threshold=spec.threshold and spec.threshold.plain,
            predictions=spec.predictions and spec.predictions.digest,
            vectors=spec.vectors and spec.vectors.resolved,
            fused=method.content if isinstance(method, FusedMethod) else None,
            rows=[[digest(split), [digest(fold) for fold in inner]] for split, inner in part],
            seeds=[problem.seed, [split.number for split, _ in part]] if method.uses_seed else None,
            **content,
        )
        name = label if method.batched else f"{label} · {part[0][0].name}"
        splits, inner = tuple(split for split, _ in part), tuple(inner for _, inner in part)
        yield StoreUnit(key, name, splits, inner, content["values"])


def method_code(spec: MethodSpec) -> str:
    """Return the digest of the code that decides a method's results; a protocol's code counts by its splits alone."""
    return code_digest(*component_classes(spec), plan_task, MatrixCache)


def _inner_splits(experiment: Experiment, documents: Documents, split: Split) -> tuple[Split, ...]:
    """Return the folds of a split's training documents, as rows of the task; () if nothing is chosen on folds."""
    if experiment.inner is None:
        return ()
    made = experiment.inner.build().splits(documents.take(split.train))
    return tuple(type(split)(f.name, split.train[f.train], split.train[f.test], f.number) for f in made)


def rows_digest(split: Split) -> str:
    """Return the digest of a split's rows."""
    return array_digest(split.train.astype(np.int64), split.test.astype(np.int64))


# --- Batches ---


@dataclass(frozen=True, eq=False)
class Batch:
    """Units that are computed at once: some of one setting, or one of each of several settings on the same split.

    Parameters
    ----------
    parts : tuple of (Setting, tuple of StoreUnit)
        Settings with their units; several settings share inner products.
    once : bool
        Whether no other split needs the inner products, so that large matrices are never stored.
    """

    parts: tuple[Part, ...]
    once: bool = False

    @property
    def units(self) -> tuple[StoreUnit, ...]:
        """The units of all parts."""
        return tuple(unit for _, units in self.parts for unit in units)

    def solve(self, matrices: MatrixCache) -> list[list[SettingPredictions] | Exception]:
        """Compute each part: predictions by split, then those of the inner folds, or the exception that it raised."""
        first = self.parts[0][0]
        methods = [(setting.method, unit_splits(units)) for setting, units in self.parts]
        try:
            return solve_batch(methods, first.problem, first.key.terms, matrices, once=self.once)
        except (ValueError, FloatingPointError) as error:  # an error in what the parts share
            return [error] * len(self.parts)


def unit_splits(units: Iterable[StoreUnit]) -> list[Split]:
    """Return all splits of some units: for each its splits, then the folds of their training documents."""
    return [split for unit in units for split in (*unit.splits, *(fold for folds in unit.inner for fold in folds))]


def plan_batches(missing: Sequence[SettingUnit], *, by_split: bool) -> list[Batch]:
    """Plan the batches, in the order that lets methods share matrices and models.

    A batch is one unit, so that a stopped run continues after it; or all units of a setting, where points are
    classified and splits are solved side by side; or the units on one split whose SVMs share inner products, or whose
    fusions share methods.

    Parameters
    ----------
    missing : sequence of (Setting, StoreUnit)
    by_split : bool
        Whether methods share the models of a split, so that all methods compute one split before the next.
    """
    splits = defaultdict[str, set[int]](set)
    for setting, unit in missing:
        splits[setting.problem.key] |= {id(split) for split in unit_splits([unit])}
    joined: dict[Any, list[Part]] = {}
    for number, (setting, units) in enumerate(_ordered(missing, by_split=by_split)):
        joins, terms = setting.method.joins(setting.problem, setting.key.terms), setting.key.terms
        same = number if joins is None else (setting.problem.key, joins, terms, id(units[0].splits[0]))
        joined.setdefault(same, []).append((setting, units))
    return [Batch(tuple(parts), len(splits[parts[0][0].problem.key]) == 1) for parts in joined.values()]


def _ordered(missing: Sequence[SettingUnit], *, by_split: bool) -> list[Part]:
    """Return units, or all units of settings that classify points, grouped by what they share."""
    rank = defaultdict[Any, int](count().__next__)  # of first appearance
    if by_split:
        by = sorted(
            missing, key=lambda each: (rank[each[0].key.size, each[1].splits[0].name], rank[each[0].problem.key])
        )
        return [(setting, (unit,)) for setting, unit in by]
    units = defaultdict[SettingKey, list[StoreUnit]](list)
    for setting, unit in missing:
        units[setting.key].append(unit)
    settings = {setting.key: setting for setting, _ in missing}.values()
    found: list[Part] = []
    for setting in sorted(settings, key=lambda each: (rank[each.problem.key], rank[each.shares])):
        own = units[setting.key]
        found += [(setting, tuple(own))] if setting.classifies_points else [(setting, (unit,)) for unit in own]
    return found


# --- Results of units ---


def predictions_of_unit(
    unit: StoreUnit, predictions: Sequence[SettingPredictions], problem: Problem, memory: float
) -> SettingPredictions:
    """Return a unit's predictions by split, and the error counts of its inner folds."""
    outer, rest = SettingPredictions.joined(predictions[: len(unit.splits)]), iter(predictions[len(unit.splits) :])
    counted = [fold_counts(list(islice(rest, len(folds))), folds, problem) for folds in unit.inner if folds]
    return replace(
        outer,
        values=outer.values if unit.keeps_values else None,
        seconds=outer.seconds.round(6),
        memory=np.full(len(outer.sizes), memory),
        inner=np.stack(counted) if counted else NO_INNER_FOLDS,
        warnings=tuple(dict.fromkeys(text for each in predictions for text in each.warnings)),
    )


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


def pack_predictions(predictions: SettingPredictions) -> StoreEntry:
    """Return a unit's predictions as stored."""
    values = vars(predictions)
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    return StoreEntry(arrays, {name: value for name, value in values.items() if isinstance(value, tuple)})


def unpack_predictions(entry: StoreEntry) -> SettingPredictions:
    """Return a unit's predictions back from the store."""
    facts: dict[str, Any] = {name: tuple(value) for name, value in entry.facts.items()}
    return SettingPredictions(**facts | entry.arrays)
