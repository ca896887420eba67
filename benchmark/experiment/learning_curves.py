"""Learning curves: every kernel of a grid, on every draw of every size, from one matrix of inner products a task.

A task's kernel matrix is written once in LIBSVM's layout; the draws and the inner folds of cross-validation are lists
of rows into it (`benchmark.classifiers.many`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmark.classifiers.libsvm import NodeMatrix
from benchmark.classifiers.many import BinaryProblem, solve_many
from benchmark.config.learning_curves import INNER
from benchmark.config.schema import BASE
from benchmark.evaluation.protocols import KFold
from benchmark.observer import Silent
from benchmark.experiment.plan import code_digest
from benchmark.experiment.reading import check_expectations, described, read_counts
from benchmark.experiment.store import Entry, array_digest, key_of
from benchmark.kernels.gram import Gram
from benchmark.kernels.smoothing import frequency_products
from benchmark.representation import weight_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.config.learning_curves import Curve, LearningCurves, Setting, Task
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.protocols import Split
    from benchmark.observer import Observer
    from benchmark.experiment.store import Store
    from benchmark.kernels.gram import InnerProducts
    from benchmark.text.counts import Counts


@dataclass(frozen=True, eq=False)
class SizeResults:
    """What one kernel of a grid predicted at one size.

    Parameters
    ----------
    second : bool array, shape (replicates, n_documents)
        Whether a document was given to the task's second class; False where it was trained on.
    ties : int array, shape (replicates,)
        Decisions that were exactly 0.
    inner_errors : float array, shape (replicates,) or (0,)
        Error of the inner cross-validation on each draw's training documents; empty where nothing is selected.
    """

    second: NDArray[np.bool_]
    ties: NDArray[np.int64]
    inner_errors: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TaskResults:
    """What became of one task under one setting.

    Parameters
    ----------
    documents : Documents
        Of the two classes, labels 0 and 1.
    trained : dict of size to bool array, shape (replicates, n_documents)
        Which documents each draw trained on.
    found : dict of (curve, grid index, size) to SizeResults
    """

    documents: Documents
    trained: dict[int, NDArray[np.bool_]]
    found: dict[tuple[str, int, int], SizeResults] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CurveResults:
    """What a run of learning curves found out: predictions by (setting, task), failures by curve, facts by setting."""

    experiment: LearningCurves
    tasks: dict[tuple[str, str], TaskResults]
    failures: dict[str, str]
    facts: dict[str, dict[str, Any]]


def run_learning_curves(
    study: LearningCurves, store: Store, *, jobs: int = 1, observer: Observer | None = None, download: bool = True
) -> CurveResults:
    """Compute every point of every curve that the store doesn't have yet."""
    observer = observer or Silent()
    results = CurveResults(study, {}, {}, {})
    observer.plan(len(study.settings) * len(study.tasks) * sum(len(curve.grid) for curve in study.curves))
    nodes = NodeMatrix()
    with threadpool_limits(jobs, user_api="blas"):
        for setting in study.settings:
            counts, facts, key = read_counts(setting.documents, store, observer, download=download)
            check_expectations(study, setting.documents, counts)
            results.facts[setting.name] = described(counts, facts)
            for task in study.tasks:
                work = _Work(study, setting, task, counts, key, store, jobs, observer, nodes)
                results.tasks[setting.name, task.name] = work.run(results.failures)
    return results


def plan_learning_curves(
    study: LearningCurves, store: Store, observer: Observer, *, download: bool = True
) -> tuple[list[tuple[str, int, int, str]], int]:
    """Each curve of each task with its kernels and sizes, and what of it the store has; inner products aren't kept."""
    rows, to_build = [], 0
    for setting in study.settings:
        counts, _, key = read_counts(setting.documents, store, observer, download=download)
        for task in study.tasks:
            work = _Work(study, setting, task, counts, key, store, 1, observer, NodeMatrix())
            exponents: dict[float, bool] = {}
            for curve in study.curves:
                keys = work.keys(curve)
                stored = sum(store.has(key) for key in keys)
                state = "not needed" if stored == len(keys) else "to build"
                exponent = curve.grid[0].build().exponent
                exponents[exponent] = exponents.get(exponent, False) or stored < len(keys)
                rows.append((work.label(curve.name), len(keys), stored, state))
            to_build += sum(exponents.values()) * 8 * len(work.documents) ** 2
    return rows, to_build


class _Work:
    """One task under one setting: its documents, its draws, and the products that all its kernels share."""

    def __init__(
        self,
        study: LearningCurves,
        setting: Setting,
        task: Task,
        counts: Counts,
        counts_id: str,
        store: Store,
        jobs: int,
        observer: Observer,
        nodes: NodeMatrix,
    ) -> None:
        self.study, self.setting, self.task = study, setting, task
        self.store, self.jobs, self.observer, self.nodes = store, jobs, observer, nodes
        rows, self.documents = task.documents(counts.documents)
        self.weights = weight_terms(counts.matrix[rows], None)
        self.splits = {size: study.splits(self.documents, size) for size in study.sizes}
        self.key = {
            "counts": counts_id,
            "rows": array_digest(rows.astype(np.int64), self.documents.labels),
            "smoothing": setting.smoothing,
            "machine": [setting.C, setting.scale, setting.epsilon],
        }
        self._products: dict[float, InnerProducts] = {}

    def run(self, failures: dict[str, str]) -> TaskResults:
        """Every kernel of every curve, size by size."""
        result = TaskResults(self.documents, {size: _trained(s, self.documents) for size, s in self.splits.items()})
        for exponent, curve, index, kernel in self._ordered():
            if set(self._products) - {exponent}:
                self._products.clear()  # one matrix at a time
            label = self.label(curve)
            try:
                found = self._kernel(kernel, selects=self._selects(curve))
            except (ValueError, FloatingPointError) as error:
                failures[label] = f"{kernel.given}: {error}"
                self.observer.note(f"{label} failed with {kernel.given}: {error}")
            else:
                result.found.update({(curve, index, size): each for size, each in found.items()})
            self.observer.step(f"{label} {kernel.given or ''}".rstrip())
        return result

    def label(self, curve: str) -> str:
        """What tables and messages call one curve of this task."""
        return "-".join([*([] if self.setting.name == BASE else [self.setting.name]), self.task.name, curve])

    def keys(self, curve: Curve) -> list[str]:
        """Store keys of every point of a curve's grid."""
        selects = self._selects(curve.name)
        return [self._key(kernel, size, selects) for kernel in curve.grid for size in self.study.sizes]

    def _ordered(self) -> Iterator[tuple[float, str, int, Component]]:
        """All kernels, those that share a matrix of inner products one after the other."""
        kernels = [
            (each.build().exponent, curve.name, index, each)
            for curve in self.study.curves
            for index, each in enumerate(curve.grid)
        ]
        return iter(sorted(kernels, key=lambda kernel: kernel[0]))

    def _selects(self, name: str) -> bool:
        """Whether a curve needs the inner errors: it has a grid, and cross-validation is asked for."""
        grids = {curve.name: len(curve.grid) for curve in self.study.curves}
        return INNER in self.study.selections and grids[name] > 1

    def _kernel(self, kernel: Component, *, selects: bool) -> dict[int, SizeResults]:
        """What one kernel predicts at every size; the sizes that are missing share one kernel matrix."""
        keys = {size: self._key(kernel, size, selects) for size in self.study.sizes}
        entries = {size: self.store.get(key) for size, key in keys.items()}
        missing = [size for size, entry in entries.items() if entry is None]
        found = {size: _unpack(entry, len(self.documents)) for size, entry in entries.items() if entry is not None}
        if missing:
            matrix = self._matrix(kernel)
            for size, solved in self._solve(matrix, missing, selects=selects).items():
                self.store.put(keys[size], _pack(solved))
                found[size] = solved
        return found

    def _key(self, kernel: Component, size: int, selects: bool) -> str:
        study = self.study
        draws = [study.seed, size, study.replicates, study.inner_folds if selects else 0]
        return key_of(stage="curves", code=code_digest("curves"), kernel=kernel.resolved, draws=draws, **self.key)

    def _matrix(self, kernel: Component) -> NDArray[np.float64]:
        """The kernel between all documents of the task, in the unit that C is meant in."""
        built = kernel.build()
        if built.exponent not in self._products:
            self._products[built.exponent] = frequency_products(self.weights, built.exponent, self.setting.smoothing)
        products = self._products[built.exponent]
        everything = products.columns
        matrix = Gram(built, products, "l1", everything, everything).block(0, len(everything))
        if self.setting.scale == "mean-self-product":
            mean = float(np.diagonal(matrix).mean())
            if not mean > 0:
                raise ValueError(f"the mean of k(x, x) is {mean:g}: C can't be measured by it")
            matrix /= mean
        return matrix

    def _solve(self, matrix: NDArray[np.float64], sizes: list[int], *, selects: bool) -> dict[int, SizeResults]:
        labels, splits = self.documents.labels, {size: self.splits[size] for size in sizes}
        outer = [split for size in sizes for split in splits[size]]
        inner = [self._inner(split) for split in outer] if selects else [[] for _ in outer]
        problems = [_problem(split, labels) for split in outer]
        problems += [_problem(fold, labels) for folds in inner for fold in folds]
        setting = self.setting
        decisions = solve_many(matrix, problems, C=setting.C, epsilon=setting.epsilon, jobs=self.jobs, nodes=self.nodes)
        folds = iter(decisions[len(outer) :])
        errors = [_inner_error(own, folds, labels) for own in inner]
        found = {}
        for position, size in enumerate(sizes):
            draws = slice(position * self.study.replicates, (position + 1) * self.study.replicates)
            second = np.zeros((self.study.replicates, len(labels)), dtype=bool)
            for row, split, decided in zip(second, outer[draws], decisions[draws], strict=True):
                row[split.test] = decided <= 0  # LIBSVM's rule: only a positive decision is for the first class
            ties = np.array([np.count_nonzero(decided == 0) for decided in decisions[draws]], dtype=np.int64)
            found[size] = SizeResults(second, ties, np.array(errors[draws] if selects else [], dtype=np.float64))
        return found

    def _inner(self, split: Split) -> list[Split]:
        """Folds of a draw's training documents, as rows of the task."""
        train = self.documents.take(split.train)
        folds = KFold(self.study.inner_folds, self.study.seed).splits(train)
        return [type(split)(fold.name, split.train[fold.train], split.train[fold.test]) for fold in folds]


def _trained(splits: list[Split], documents: Documents) -> NDArray[np.bool_]:
    trained = np.zeros((len(splits), len(documents)), dtype=bool)
    for row, split in zip(trained, splits, strict=True):
        row[split.train] = True
    return trained


def _problem(split: Split, labels: NDArray[np.int32]) -> BinaryProblem:
    first = labels[split.train] == 0
    return BinaryProblem(split.train[first], split.train[~first], split.test)


def _inner_error(folds: list[Split], decisions: Iterator[NDArray[np.float64]], labels: NDArray[np.int32]) -> float:
    wrong = [np.count_nonzero((next(decisions) <= 0) != (labels[fold.test] == 1)) for fold in folds]
    return sum(wrong) / max(1, sum(len(fold.test) for fold in folds))


def _pack(results: SizeResults) -> Entry:
    packed = np.packbits(results.second, axis=1)
    return Entry({"second": packed, "ties": results.ties, "inner_errors": results.inner_errors})


def _unpack(entry: Entry, n: int) -> SizeResults:
    arrays = entry.arrays
    second = np.unpackbits(arrays["second"], axis=1, count=n).astype(bool)
    return SizeResults(second, arrays["ties"], arrays["inner_errors"])
