"""Centroid curves: naive Bayes with each centroid on every draw of every size, and Table I on all documents.

Draws are trained side by side: the root of Lambert's function, which takes most of the time, releases the interpreter's
lock.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmark.classifiers.centroids.divergence import average_skl_to_others
from benchmark.config.centroid_curves import TABLE
from benchmark.config.schema import BASE
from benchmark.errors import ConfigError
from benchmark.experiment.centroid_solvers import Solved, run_solvers, solver_keys
from benchmark.observer import Silent
from benchmark.experiment.plan import code_digest
from benchmark.experiment.reading import check_expectations, described, read_counts
from benchmark.experiment.store import Entry, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.classifiers.divergence_bayes import DivergenceBayes
    from benchmark.config.centroid_curves import CentroidCurves, Setting
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.protocols import Split
    from benchmark.observer import Observer
    from benchmark.experiment.store import Store
    from benchmark.text.counts import Counts

    Array = NDArray[np.float64]

#: The code of a document that a draw doesn't test.
UNTESTED = -1


@dataclass(frozen=True, eq=False)
class Predicted:
    """What naive Bayes with one centroid predicted at one size.

    Parameters
    ----------
    codes : int16 array, shape (replicates, n_documents)
        Indices into the classes; `UNTESTED` where a draw doesn't test a document.
    tied : bool array, shape (replicates, n_documents)
        Where the first place was shared: it went to the class that came first in training.
    """

    codes: NDArray[np.int16]
    tied: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TableRow:
    """Table I with one kind of centroid: the average SKL of each class's centroid to those of the others, in nats.

    Parameters
    ----------
    values : float64 array, shape (k,)
        Of all documents.
    resampled : float64 array, shape (resamples, k)
        Of documents drawn with replacement within each class.
    by_smoothing : float64 array, shape (values of the smoothing, k)
        The values once more; without rows where the setting isn't the configuration itself.
    """

    values: Array
    resampled: Array
    by_smoothing: Array


@dataclass(frozen=True, eq=False)
class SettingResults:
    """What became of one setting: predictions by (centroid, size), and Table I by centroid."""

    documents: Documents
    found: dict[tuple[str, int], Predicted] = field(default_factory=dict)
    table: dict[str, TableRow] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CentroidResults:
    """What a run found out; `solved` by graph, "exact" for the closed form; timings are for the manifest alone."""

    experiment: CentroidCurves
    settings: dict[str, SettingResults]
    solved: dict[str, Solved]
    failures: dict[str, str]
    facts: dict[str, dict[str, Any]]
    timings: dict[str, Any] = field(default_factory=dict)


def run_centroid_curves(
    study: CentroidCurves, store: Store, *, jobs: int = 1, observer: Observer | None = None, download: bool = True
) -> CentroidResults:
    """Compute every point of every curve, Table I and the flows that the store doesn't have yet.

    Raises
    ------
    ConfigError
        In a draw, no training document of a class has a word; nothing is trained then.
    """
    observer = observer or Silent()
    results = CentroidResults(study, {}, {}, {}, {})
    works = list(_works(study, store, jobs, observer, download=download))
    per_setting = len(study.centroids) * len(study.sizes) + len(study.table_centroids)
    observer.plan(len(works) * per_setting + len(study.graphs))
    with threadpool_limits(1, user_api="blas"):
        for work, facts in works:
            results.facts[work.setting.name] = facts
            results.settings[work.setting.name] = work.run(results.failures)
        if study.graphs:
            first, counts_id = works[0][0], works[0][0].counts_id
            found = results.solved, results.failures, results.timings
            run_solvers(study, first.counts, counts_id, store, observer, found)
    return results


def plan_centroid_curves(
    study: CentroidCurves, store: Store, observer: Observer, *, download: bool = True
) -> tuple[list[tuple[str, int, int, str]], int]:
    """Each curve with its sizes, each row of Table I and each flow, and what of them the store has."""
    rows = []
    for work, _ in _works(study, store, 1, observer, download=download):
        found = {centroid: [work.key(centroid, size) for size in study.sizes] for centroid in study.centroids}
        found |= {f"{TABLE}-{centroid}": [work.table_key(centroid)] for centroid in study.table_centroids}
        rows += [(work.label(name), len(keys), sum(map(store.has, keys)), "not needed") for name, keys in found.items()]
        if work.setting.name == BASE:
            keys_of = solver_keys(study, work.counts_id)
            rows += [(f"flow-{graph}", 1, int(store.has(key)), "not needed") for graph, key in keys_of.items()]
    return rows, 0


def _works(
    study: CentroidCurves, store: Store, jobs: int, observer: Observer, *, download: bool
) -> Iterator[tuple[_Work, dict[str, Any]]]:
    """Every setting with its documents, its draws checked."""
    for setting in study.settings:
        counts, facts, key = read_counts(setting.documents, store, observer, download=download)
        check_expectations(study, setting.documents, counts)
        work = _Work(study, setting, counts, key, store, jobs, observer)
        work.check_words()
        yield work, described(counts, facts)


class _Work:
    """One setting: its documents and draws, and what the store has of them."""

    def __init__(
        self,
        study: CentroidCurves,
        setting: Setting,
        counts: Counts,
        counts_id: str,
        store: Store,
        jobs: int,
        observer: Observer,
    ) -> None:
        self.study, self.setting, self.counts, self.counts_id = study, setting, counts, counts_id
        self.store, self.jobs, self.observer = store, jobs, observer
        self.matrix, self.documents = counts.matrix, counts.documents
        self.splits = {size: study.splits(setting, counts.documents, size) for size in study.sizes}
        self.content = {"counts": counts_id, "smoothing": setting.smoothing, "code": code_digest("centroids")}

    def check_words(self) -> None:
        """Refuse a draw that leaves a class without a training word, before anything is trained."""
        with_words = np.diff(self.matrix.indptr) > 0
        labels, classes = self.documents.labels, self.documents.classes
        for size, splits in self.splits.items():
            for split in splits:
                rows = split.train[with_words[split.train]]
                missing = np.flatnonzero(np.bincount(labels[rows], minlength=len(classes)) == 0)
                if len(missing):
                    where = f"{self.study.name}: {self.setting.name}, {size} training documents, {split.name}"
                    problem = f"no training document of {classes[missing[0]]!r} has a word: it has no centroid"
                    raise ConfigError(f"{where}: {problem}")

    def run(self, failures: dict[str, str]) -> SettingResults:
        """Every size with every centroid, then Table I; a centroid that fails is named, the others stand."""
        result = SettingResults(self.documents)
        for centroid in self.study.centroids:
            for size in self.study.sizes:
                try:
                    result.found[centroid, size] = self._predicted(centroid, size)
                except (ValueError, FloatingPointError) as error:
                    failures[self.label(centroid)] = str(error)
                    self.observer.note(f"{self.label(centroid)} failed: {error}")
                self.observer.step(f"{self.label(centroid)} {size}")
        for centroid in self.study.table_centroids:
            name = self.label(f"{TABLE}-{centroid}")
            try:
                result.table[centroid] = self._table(centroid)
            except (ValueError, FloatingPointError) as error:
                failures[name] = str(error)
                self.observer.note(f"{name} failed: {error}")
            self.observer.step(name)
        return result

    def label(self, name: str) -> str:
        """What tables and messages call a part of this setting's work."""
        return name if self.setting.name == BASE else f"{self.setting.name}-{name}"

    def key(self, centroid: str, size: int) -> str:
        """Store key of the predictions with one centroid at one size."""
        study, setting = self.study, self.setting
        draws = [study.seed, size, study.replicates, setting.test]
        rule = [setting.prior, setting.length]
        return key_of(stage="centroids", centroid=centroid, draws=draws, rule=rule, **self.content)

    def table_key(self, centroid: str) -> str:
        """Store key of Table I with one centroid."""
        grid = [self.study.seed, self.study.resamples, list(self._grid())]
        return key_of(stage="centroids", table=centroid, grid=grid, **self.content)

    def _grid(self) -> tuple[float, ...]:
        return self.study.table_smoothing if self.setting.name == BASE else ()

    def _predicted(self, centroid: str, size: int) -> Predicted:
        key, shape = self.key(centroid, size), (self.study.replicates, len(self.documents))
        entry = self.store.get(key)
        if entry is None:
            with ThreadPoolExecutor(self.jobs) as pool:
                draws = list(pool.map(partial(self._draw, self.setting.classifier(centroid)), self.splits[size]))
            codes, tied = (np.stack(each) for each in zip(*draws, strict=True))
            entry = Entry({"codes": codes, "tied": np.packbits(tied, axis=1)})
            self.store.put(key, entry)
        tied = np.unpackbits(entry.arrays["tied"], axis=1, count=shape[1]).astype(bool)
        return Predicted(entry.arrays["codes"], tied)

    def _draw(self, classifier: DivergenceBayes, split: Split) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
        """Train on one draw and predict the documents it tests."""
        own = type(classifier)(**classifier.get_params())
        own.fit(self.matrix[split.train], self.documents.labels[split.train])
        scores = own.decision_function(self.matrix[split.test])
        codes = np.full(len(self.documents), UNTESTED, dtype=np.int16)
        tied = np.zeros(len(self.documents), dtype=bool)
        codes[split.test] = own.classes_[scores.argmax(axis=1)]
        tied[split.test] = (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1
        return codes, tied

    def _table(self, centroid: str) -> TableRow:
        entry = self.store.get(self.table_key(centroid))
        if entry is None:
            everything = np.arange(len(self.documents))
            seeds = [[self.study.seed, number] for number in range(self.study.resamples)]
            with ThreadPoolExecutor(self.jobs) as pool:
                resampled = list(pool.map(lambda seed: self._distances(centroid, self._resample(seed)), seeds))
                grid = list(pool.map(lambda s: self._distances(centroid, everything, s), self._grid()))
            values = self._distances(centroid, everything)
            by_smoothing = np.array(grid).reshape(len(grid), len(values))
            entry = Entry({"values": values, "resampled": np.array(resampled), "by_smoothing": by_smoothing})
            self.store.put(self.table_key(centroid), entry)
        return TableRow(*(entry.arrays[name] for name in ("values", "resampled", "by_smoothing")))

    def _resample(self, seed: list[int]) -> NDArray[np.intp]:
        """As many documents of each class as there are, with replacement."""
        rng, labels = np.random.default_rng(seed), self.documents.labels
        return np.concatenate([rng.choice(rows, len(rows)) for rows in _by_class(labels, len(self.study.classes))])

    def _distances(self, centroid: str, rows: NDArray[np.intp], smoothing: float | None = None) -> Array:
        """Average SKL of each class to the others, in nats, shape (k,), in the order of the classes."""
        classifier = self.setting.classifier(centroid)
        classifier.smoothing = classifier.smoothing if smoothing is None else smoothing
        counts: sp.csr_array = self.matrix[rows]
        classifier.fit(counts, self.documents.labels[rows])
        distances = average_skl_to_others(classifier.centroids_)
        return np.asarray(distances[np.argsort(classifier.classes_)])


def _by_class(labels: NDArray[np.int32], k: int) -> list[NDArray[np.intp]]:
    return [np.flatnonzero(labels == code) for code in range(k)]
