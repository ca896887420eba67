"""Feature curves: every method on every number of selected terms, trained and tested once on a fixed split.

Terms are ranked once a panel, by their information gain over the training documents; the terms of every size are a
prefix of a ranking.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.naive_bayes import ComplementNB
from threadpoolctl import threadpool_limits

from benchmark.classifiers.class_specific import EmbeddedFamily, ProjectedPdf
from benchmark.classifiers.libsvm import DenseRows, NodeMatrix
from benchmark.classifiers.multinomial_bayes import MultinomialBayes
from benchmark.classifiers.svm import decide, fit_machines, predict
from benchmark.config.feature_curves import CLASS_SPECIFIC, COMPLEMENT, EEF, MNB, PPT, SVM, panel_labels
from benchmark.config.schema import BASE
from benchmark.errors import ConfigError
from benchmark.observer import Silent
from benchmark.experiment.plan import code_digest
from benchmark.experiment.reading import check_expectations, described, read_counts
from benchmark.experiment.store import Entry, array_digest, key_of
from benchmark.representation.selection import aggregate, information_gain, rank_terms
from benchmark.kernels.products import inner_products
from benchmark.representation import inverse_document_frequency, norms, weight_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.feature_curves import FeatureCurves, FeaturePanel, Setting
    from benchmark.observer import Observer
    from benchmark.experiment.store import Store
    from benchmark.text.counts import Counts

_BAYESIAN: dict[str, Callable[[int, float], Any]] = {
    MNB: lambda _, smoothing: MultinomialBayes(smoothing),
    # Rennie et al. (ICML 2003); a document without a selected term has no evidence for any class: all of them tie.
    COMPLEMENT: lambda _, smoothing: ComplementNB(alpha=smoothing, force_alpha=True),
    PPT: ProjectedPdf,
    EEF: EmbeddedFamily,
}


@dataclass(frozen=True, eq=False)
class Predicted:
    """What one method predicted with one number of terms.

    Parameters
    ----------
    codes : int32 array, shape (n_test,)
        Positions of classes in the panel.
    tied : bool array, shape (n_test,)
        Where the first place was shared: it went to the class that comes first.
    """

    codes: NDArray[np.int32]
    tied: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PanelResults:
    """What became of one panel under one setting.

    Parameters
    ----------
    ids : tuple of str
        Test documents.
    truth : int32 array, shape (n_test,)
        Positions of their classes in the panel.
    found : dict of (method, size) to Predicted
    """

    ids: tuple[str, ...]
    truth: NDArray[np.int32]
    found: dict[tuple[str, int], Predicted] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FeatureResults:
    """What a run found out: predictions by (setting, panel), failures by cell, facts by setting."""

    experiment: FeatureCurves
    panels: dict[tuple[str, str], PanelResults]
    failures: dict[str, str]
    facts: dict[str, dict[str, Any]]


def run_feature_curves(
    study: FeatureCurves, store: Store, *, jobs: int = 1, observer: Observer | None = None, download: bool = True
) -> FeatureResults:
    """Compute every point of every curve that the store doesn't have yet.

    Raises
    ------
    ConfigError
        A setting has fewer words than are to be selected; nothing is trained then.
    """
    observer = observer or Silent()
    results = FeatureResults(study, {}, {}, {})
    observer.plan(len(study.cells))
    with threadpool_limits(jobs, user_api="blas"):
        works = list(_works(study, store, jobs, observer, download=download))
        while works:
            work, facts = works.pop(0)  # and let its matrices go with it
            results.facts[work.setting.name] = facts
            results.panels[work.setting.name, work.panel.name] = work.run(results.failures)
    return results


def plan_feature_curves(
    study: FeatureCurves, store: Store, observer: Observer, *, download: bool = True
) -> tuple[list[tuple[str, int, int, str]], int]:
    """Each curve with its sizes, and how many of them the store has; inner products aren't kept."""
    rows, largest = [], 0
    for work, _ in _works(study, store, 1, observer, download=download):
        for method in study.methods:
            stored = sum(store.has(work.key(method, size)) for size in study.sizes)
            missing = method == SVM and stored < len(study.sizes)
            rows.append((work.label(method), len(study.sizes), stored, "to build" if missing else "not needed"))
            largest = max(largest, 8 * work.n_products if missing else 0)
    return rows, largest


def _works(
    study: FeatureCurves, store: Store, jobs: int, observer: Observer, *, download: bool
) -> Iterator[tuple[_Work, dict[str, Any]]]:
    """Every panel under every setting; settings that differ in parameters alone share their counts."""
    nodes = NodeMatrix()
    read: dict[str, tuple[Counts, dict[str, Any]]] = {}
    for setting in study.settings:
        counts, facts, key = read_counts(setting.documents, store, observer, download=download)
        check_expectations(study, setting.documents, counts)
        counts, facts = read.setdefault(key, (counts, described(counts, facts)))
        if study.sizes[-1] > len(counts.vocabulary):
            problem = f"{study.sizes[-1]:,} terms can't be selected from the {len(counts.vocabulary):,}"
            raise ConfigError(f"{study.name}: {problem} that the variant {setting.name!r} has; mend `sizes` or `text`")
        for panel in study.panels:
            yield _Work(study, setting, panel, counts, key, store, jobs, observer, nodes), facts


class _Work:
    """One panel under one setting: its documents, and the rankings of terms that its methods select from."""

    def __init__(
        self,
        study: FeatureCurves,
        setting: Setting,
        panel: FeaturePanel,
        counts: Counts,
        counts_id: str,
        store: Store,
        jobs: int,
        observer: Observer,
        nodes: NodeMatrix,
    ) -> None:
        self.study, self.setting, self.panel = study, setting, panel
        self.store, self.jobs, self.observer, self.nodes = store, jobs, observer, nodes
        self._counts = counts
        self._train, self._test = study.rows(counts.documents, panel)
        labels = panel_labels(counts.documents, panel)
        self._labels, self._truth = labels[self._train], labels[self._test]
        sizes = np.bincount(self._labels, minlength=len(panel.classes))
        empty = [name for name, size in zip(panel.classes, sizes, strict=True) if not size]
        if empty or not len(self._test):  # the card says otherwise, but for documents that were excluded
            what = f"no training document of {', '.join(empty)}" if empty else "no test document"
            raise ConfigError(f"{study.name}: what is not excluded holds {what} ({panel.title})")
        self._class_sizes = sizes.astype(np.intp)
        rows = array_digest(*(each.astype(np.int64) for each in (self._train, self._test, labels)))
        self._content = {"counts": counts_id, "rows": rows}

    @property
    def n_products(self) -> int:
        """Inner products of all documents with those trained on."""
        return (len(self._train) + len(self._test)) * len(self._train)

    def run(self, failures: dict[str, str]) -> PanelResults:
        """Every method at every size."""
        ids = tuple(self._counts.documents.ids[row] for row in self._test)
        result = PanelResults(ids, self._truth)
        for method in self.study.methods:
            for size in self.study.sizes:
                label = f"{self.label(method)}-{size}"
                try:
                    result.found[method, size] = self._predicted(method, size)
                except (ValueError, FloatingPointError) as error:
                    failures[label] = str(error)
                    self.observer.note(f"{label} failed: {error}")
                self.observer.step(label)
        return result

    def label(self, method: str) -> str:
        """What tables and messages call one curve of this panel."""
        return "-".join([*([] if self.setting.name == BASE else [self.setting.name]), self.panel.name, method])

    def key(self, method: str, size: int) -> str:
        """Store key of one point."""
        parameters = self.setting.resolved(method)
        return key_of(stage="features", code=code_digest("features"), method=parameters, terms=size, **self._content)

    def _predicted(self, method: str, size: int) -> Predicted:
        key = self.key(method, size)
        entry = self.store.get(key)
        if entry is not None:
            return Predicted(entry.arrays["codes"], entry.arrays["tied"])
        found = self._machine(size) if method == SVM else self._bayes(method, size)
        self.store.put(key, Entry({"codes": found.codes, "tied": found.tied}))
        return found

    @cached_property
    def _points(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Counts of the training and of the test documents, over all terms."""
        matrix = weight_terms(self._counts.matrix, None)
        if self.setting.counts == "presence":
            matrix.data[:] = 1.0
        return matrix[self._train], matrix[self._test]

    @cached_property
    def _gains(self) -> NDArray[np.float64]:
        return information_gain(self._points[0], self._labels, self.panel.classes)

    @cached_property
    def _of_each(self) -> NDArray[np.intp]:
        """Terms by falling gain for each class, shape (n_classes, V)."""
        return rank_terms(self._gains)

    @cached_property
    def _of_all(self) -> NDArray[np.intp]:
        """Terms by falling gain for all classes, shape (V,)."""
        return rank_terms(aggregate(self._gains, self._class_sizes / self._class_sizes.sum(), self.setting.selection))

    def _bayes(self, method: str, size: int) -> Predicted:
        train, test = self._points
        model = _BAYESIAN[method](size, self.setting.smoothing)
        if method in CLASS_SPECIFIC:
            model.fit(train, self._labels, self._of_each)
        else:
            terms = self._of_all[:size]
            train, test = train[:, terms], test[:, terms]
            model.fit(train, self._labels)
        joint = model.predict_joint_log_proba(test)
        best = joint.max(axis=1, keepdims=True)
        return Predicted(joint.argmax(axis=1).astype(np.int32), (joint == best).sum(axis=1) > 1)

    def _machine(self, size: int) -> Predicted:
        """LIBSVM on the inner products of the selected terms' weights."""
        setting, terms = self.setting, self._of_all[:size]
        train, test = (matrix[:, terms] for matrix in self._points)
        idf = inverse_document_frequency(train) if setting.weighting == "tfidf" else None
        train, test = (_normalized(weight_terms(each, idf), setting.normalization) for each in (train, test))
        columns = np.arange(len(self._train))
        machines = fit_machines(
            DenseRows(inner_products(train, train), columns, columns),
            self._class_sizes,
            C=setting.C,
            epsilon=setting.epsilon,
            scheme=setting.scheme,
            jobs=self.jobs,
            nodes=self.nodes,
        )
        rows = np.arange(len(self._test))
        decisions = decide(machines, DenseRows(inner_products(test, train), rows, columns), self.jobs)
        return Predicted(*predict(machines, decisions))


def _normalized(weights: sp.csr_array, normalization: str) -> sp.csr_array:
    """Each row divided by its norm over the selected terms; `weights` is written over."""
    weights.data /= np.repeat(norms(weights, normalization), np.diff(weights.indptr))
    return weights
