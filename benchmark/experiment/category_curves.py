"""Category curves: every method on every draw of every size, each with its binary decisions on the test documents.

What one method decided after one draw is one entry of the store, so that a run that was stopped goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmark.classifiers.libsvm import NodeMatrix
from benchmark.compiled import numba_threads
from benchmark.config.category_curves import PLSI_FISHER, cell_id
from benchmark.errors import ConfigError
from benchmark.experiment.category_methods import PARTS, Decided, Draw, Solver, solve
from benchmark.observer import Silent
from benchmark.experiment.plan import code_digest
from benchmark.experiment.reading import check_expectations, described, read_counts
from benchmark.experiment.store import Entry, array_digest, key_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.components import Component
    from benchmark.config.category_curves import CategoryCurves, Setting
    from benchmark.corpora.corpus import Documents
    from benchmark.observer import Observer
    from benchmark.experiment.store import Store
    from benchmark.text.counts import Counts

_LARGEST_SEED = 2**31


@dataclass(frozen=True, eq=False)
class Tested:
    """The test documents, the same for every draw.

    Parameters
    ----------
    ids, categories : tuple of str
    truth : bool array, shape (m, k)
        Which categories each has.
    """

    ids: tuple[str, ...]
    categories: tuple[str, ...]
    truth: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MethodResults:
    """What one method decided at one size.

    Parameters
    ----------
    assigned : bool array, shape (draws, m, k)
    ties : int array, shape (draws, k)
        Decision values that were exactly 0.
    seconds : float array, shape (draws, 5)
        By `PARTS`.
    """

    assigned: NDArray[np.bool_]
    ties: NDArray[np.int64]
    seconds: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CategoryResults:
    """What a run found out.

    Parameters
    ----------
    experiment : CategoryCurves
    tested : Tested
    positives : dict of size to int array, shape (draws, k)
        Training documents of each category.
    found : dict of cell id to MethodResults
        Cells that failed are missing.
    failures : dict of cell id to str
    facts : dict of setting to dict
    """

    experiment: CategoryCurves
    tested: Tested
    positives: dict[int, NDArray[np.int64]]
    found: dict[str, MethodResults]
    failures: dict[str, str]
    facts: dict[str, dict[str, Any]]


def run_category_curves(
    study: CategoryCurves, store: Store, *, jobs: int = 1, observer: Observer | None = None, download: bool = True
) -> CategoryResults:
    """Compute every method on every draw that the store doesn't have yet, small sizes first."""
    observer = observer or Silent()
    results: CategoryResults | None = None
    observer.plan(len(study.cells) * study.replicates)
    nodes = NodeMatrix()
    with threadpool_limits(jobs, user_api="blas"), numba_threads(jobs):
        for setting in study.settings:
            counts, facts, key = read_counts(setting.documents, store, observer, download=download)
            check_expectations(study, setting.documents, counts)
            work = _Work(study, setting, counts, key, store, jobs, observer, nodes)
            if results is None:
                results = CategoryResults(study, work.tested, work.positives(), {}, {}, {})
            sizes = counts.documents.sizes()
            more = {"documents_by_class_and_group": sizes.tolist(), "documents_without_class": work.without_class()}
            results.facts[setting.name] = described(counts, facts) | more
            for size in study.sizes:
                work.run(size, results)
    if results is None:
        raise ConfigError(f"{study.name}: has no setting")
    return results


def plan_category_curves(
    study: CategoryCurves, store: Store, observer: Observer, *, download: bool = True
) -> tuple[list[tuple[str, int, int, str]], int]:
    """Each method at each size with its draws, and what of them the store has.

    The bytes are those of the largest matrix of inner products: they aren't kept, and only one exists at a time.
    """
    rows, largest = [], 0
    for setting in study.settings:
        counts, _, key = read_counts(setting.documents, store, observer, download=download)
        work = _Work(study, setting, counts, key, store, 1, observer, NodeMatrix())
        for method in study.methods:
            for size in study.sizes:
                stored = sum(store.has(work.key(method, size, draw)) for draw in range(1, study.replicates + 1))
                state = "not needed" if stored == study.replicates else "to build"
                largest = max(largest, 0 if stored == study.replicates else 8 * size**2)
                rows.append((cell_id(setting.name, method.name, size), study.replicates, stored, state))
    return rows, largest


def draw_rows(pool: NDArray[np.intp], size: int, replicate: int, seed: int, *, nested: bool) -> NDArray[np.intp]:
    """Draw training documents without replacement, all subsets equally likely; ascending.

    Parameters
    ----------
    pool : intp array
        Rows to draw from.
    size, replicate, seed : int
        A draw is a function of these alone: more sizes or replicates never change the ones already made.
    nested : bool
        Whether the smaller sets of a replicate are parts of the larger ones: then all are the beginning of one order.

    Raises
    ------
    ValueError
        If there are not so many.
    """
    if not 0 < size <= len(pool):
        msg = f"{size} documents can't be drawn from {len(pool)}"
        raise ValueError(msg)
    words = [seed, replicate] if nested else [seed, size, replicate]
    return np.sort(np.random.default_rng(words).permutation(pool)[:size])


def memberships(documents: Documents) -> NDArray[np.bool_]:
    """Which classes each document has, shape (n, k): several or none, or its one label."""
    if documents.topics is not None:
        return documents.topics
    return np.asarray(documents.labels[:, None] == np.arange(len(documents.classes)))


class _Work:
    """One setting: its documents and draws."""

    def __init__(
        self,
        study: CategoryCurves,
        setting: Setting,
        counts: Counts,
        counts_id: str,
        store: Store,
        jobs: int,
        observer: Observer,
        nodes: NodeMatrix,
    ) -> None:
        self.study, self.setting, self.counts, self.counts_id = study, setting, counts, counts_id
        self.store, self.observer = store, observer
        self.solver = Solver(setting.C, setting.epsilon, jobs, nodes)
        documents = counts.documents
        held = documents.groups == documents.group_names.index(study.test)
        self.test, self.pool = np.flatnonzero(held), np.flatnonzero(~held)
        self.members = memberships(documents)
        ids = tuple(documents.ids[row] for row in self.test)
        self.tested = Tested(ids, documents.classes, self.members[self.test])

    def run(self, size: int, results: CategoryResults) -> None:
        """Every method on every draw of one size; a method that fails on a draw has no results of that size."""
        done: dict[str, list[Decided]] = {method.name: [] for method in self.study.methods}
        for replicate in range(1, self.study.replicates + 1):
            wanted = {method.name: method for method in self.study.methods if method.name in done}
            for name, decided in self._draw(size, replicate, wanted).items():
                cell = cell_id(self.setting.name, name, size)
                if isinstance(decided, str):
                    results.failures[cell] = f"replicate {replicate}: {decided}"
                    self.observer.note(f"{cell} failed: {results.failures[cell]}")
                    del done[name]
                else:
                    done[name].append(decided)
                self.observer.step(f"{cell} replicate {replicate}")
        for name, draws in done.items():
            stacked = (np.stack([getattr(each, part) for each in draws]) for part in ("assigned", "ties", "seconds"))
            results.found[cell_id(self.setting.name, name, size)] = MethodResults(*stacked)

    def key(self, method: Component, size: int, replicate: int) -> str:
        """Store key of what one method decided after one draw."""
        setting = self.setting
        of_method: dict[str, Any] = (
            {"seed": self._seed(size, replicate)}
            if method.name == PLSI_FISHER
            else {"weighting": setting.weighting, "normalization": setting.normalization}
        )
        return key_of(
            stage="categories",
            code=code_digest("categories"),
            counts=self.counts_id,
            train=array_digest(self._rows(size, replicate).astype(np.int64)),
            test=array_digest(self.test.astype(np.int64)),
            method=method.resolved,
            machine=[setting.C, setting.epsilon],
            **of_method,
        )

    def positives(self) -> dict[int, NDArray[np.int64]]:
        """Training documents of each category, by size and draw."""
        draws = range(1, self.study.replicates + 1)
        return {
            size: np.stack([self.members[self._rows(size, draw)].sum(axis=0, dtype=np.int64) for draw in draws])
            for size in self.study.sizes
        }

    def without_class(self) -> list[int]:
        """Documents without any of the classes, by group."""
        documents = self.counts.documents
        none = documents.groups[~self.members.any(axis=1)]
        return [int(n) for n in np.bincount(none, minlength=len(documents.group_names))]

    def _rows(self, size: int, replicate: int) -> NDArray[np.intp]:
        return draw_rows(self.pool, size, replicate, self.study.seed, nested=self.study.nested)

    def _seed(self, size: int, replicate: int) -> int:
        """Of PLSI's random starts: another one for each draw."""
        return int(np.random.default_rng([self.study.seed, size, replicate, 1]).integers(_LARGEST_SEED))

    def _draw(self, size: int, replicate: int, wanted: dict[str, Component]) -> dict[str, Decided | str]:
        """What the methods decide after one draw, or why they can't; what the store lacks is computed and kept."""
        keys = {name: self.key(method, size, replicate) for name, method in wanted.items()}
        entries = {name: self.store.get(key) for name, key in keys.items()}
        found: dict[str, Decided | str] = {
            name: _unpack(entry, len(self.tested.categories)) for name, entry in entries.items() if entry is not None
        }
        missing = {name: method for name, method in wanted.items() if name not in found}
        if missing:
            rows, matrix = self._rows(size, replicate), self.counts.matrix
            draw = Draw(matrix[rows], matrix[self.test], self.members[rows], self.tested.categories)
            weighting = self.setting.weighting, self.setting.normalization
            solved = solve(draw, weighting, self.solver, missing, self._seed(size, replicate))
            for name, decided in solved.items():
                if not isinstance(decided, str):
                    self.store.put(keys[name], _pack(decided))
            found |= solved
        return found


def _pack(decided: Decided) -> Entry:
    packed = np.packbits(decided.assigned, axis=1)
    return Entry({"assigned": packed, "ties": decided.ties, "seconds": decided.seconds}, {"parts": list(PARTS)})


def _unpack(entry: Entry, n_categories: int) -> Decided:
    arrays = entry.arrays
    assigned = np.unpackbits(arrays["assigned"], axis=1, count=n_categories).astype(bool)
    return Decided(assigned, arrays["ties"], arrays["seconds"])
