"""A configuration to predictions: the walk through all stages, remembering what was computed before."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from benchmark.classifiers.libsvm import NodeMatrix
from benchmark.classifiers.svm import decide, fit_machines, predict
from benchmark.experiment.observer import Silent
from benchmark.experiment.plan import Base, Task, bases
from benchmark.experiment.reading import check_expectations, described, read_counts
from benchmark.environment import gigabytes
from benchmark.experiment.store import Entry, Store
from benchmark.kernels.gram import Gram, InnerProducts
from benchmark.kernels.products import StreamedProducts, inner_products, self_products
from benchmark.representation import NORMALIZATIONS, embed, inverse_document_frequency, norms, weight_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config import Experiment, Variant
    from benchmark.corpora.corpus import Documents
    from benchmark.evaluation.protocols import Split
    from benchmark.experiment.observer import Observer
    from benchmark.text.counts import Counts


#: The largest matrix of inner products that is worth keeping. Measured on two cores: 20NG's 1.7 GB are computed in
#: 1.0 s, written in 1.5 to 4 s and read back and verified in 0.8 s at best; WebKB's 141 MB in 0.35, 0.2 and 0.1 s.
KEPT_BYTES = 500_000_000


def memory_budget() -> int:
    """Bytes that a matrix of inner products may take: ``$BENCH_MEMORY_GB``, 4 unless given.

    A larger one is not held: its rows are computed again for every cell that asks for them.
    """
    return gigabytes("BENCH_MEMORY_GB", 4.0)


@dataclass(frozen=True)
class FoldPredictions:
    """What one cell predicted on one fold.

    Parameters
    ----------
    predicted : int32 array, shape (n_test,)
        Class codes, in the order of the fold's test rows.
    tied : bool array, shape (n_test,)
        Where the first place was shared.
    n_support : int
        Training documents that support the machines.
    """

    predicted: NDArray[np.int32]
    tied: NDArray[np.bool_]
    n_support: int


@dataclass
class VariantRun:
    """What became of one variant: its documents, folds, and every cell's predictions by fold.

    Parameters
    ----------
    documents : Documents
    facts : dict
        Corpus digest and source, vocabulary size, documents without words.
    splits : list of Split
    predictions : dict of cell id to dict of fold name to FoldPredictions
    failures : dict of cell id to str
    """

    documents: Documents
    facts: dict[str, Any]
    splits: list[Split]
    predictions: dict[str, dict[str, FoldPredictions]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


def run(
    experiment: Experiment,
    store: Store,
    *,
    jobs: int = 1,
    observer: Observer | None = None,
    download: bool = True,
) -> dict[str, VariantRun]:
    """Compute every cell of an experiment that the store doesn't have yet.

    Returns
    -------
    dict of variant name to VariantRun
        In the order in which the cells first name them.

    Raises
    ------
    DataError
        If the corpus is missing or isn't the one its card and the configuration describe.
    """
    observer = observer or Silent()
    names = dict.fromkeys(cell.variant for cell in experiment.cells)
    workspace = _Workspace()
    # One owner of the cores at a time: threads of ours run LIBSVM and the links, numba's run the inner products.
    with threadpool_limits(jobs, user_api="blas"):
        return {
            name: _run_variant(experiment, experiment.variants[name], store, jobs, observer, download, workspace)
            for name in names
        }


def _run_variant(
    experiment: Experiment,
    variant: Variant,
    store: Store,
    jobs: int,
    observer: Observer,
    download: bool,
    workspace: _Workspace,
) -> VariantRun:
    counts, facts, key = read_counts(variant, store, observer, download=download)
    check_expectations(experiment, variant, counts)
    documents = counts.documents
    splits = experiment.protocol.build().splits(documents)
    facts = described(counts, facts) | {
        "folds": {s.name: {"train": len(s.train), "test": len(s.test)} for s in splits},
    }
    result = VariantRun(documents, facts, splits)
    todo = bases(experiment, variant, counts, key, splits)
    observer.plan(sum(len(base.tasks) for base in todo))
    for base in todo:
        _run_base(base, counts, result, store, jobs, observer, workspace)
    workspace.finish()
    return result


def _run_base(
    base: Base,
    counts: Counts,
    result: VariantRun,
    store: Store,
    jobs: int,
    observer: Observer,
    workspace: _Workspace,
) -> None:
    missing = []
    for task in base.tasks:
        entry = store.get(task.key)
        if entry is None:
            missing.append(task)
            continue
        _keep(result, task, FoldPredictions(entry.arrays["predicted"], entry.arrays["tied"], entry.facts["n_support"]))
        observer.step(f"{task.cell.id} · {task.split.name}")
    if not missing:
        return
    products = workspace.products(base, counts, store, jobs)
    for task in missing:
        if task.cell.id in result.failures:
            observer.step(f"{task.cell.id} · {task.split.name}")
            continue
        try:
            outcome = _solve(task, products, result.documents, jobs, workspace.nodes)
        except (ValueError, FloatingPointError) as error:
            result.failures[task.cell.id] = f"{task.split.name}: {error}"
            observer.note(f"{task.cell.id} failed on {task.split.name}: {error}")
        else:
            arrays = {"predicted": outcome.predicted, "tied": outcome.tied}
            store.put(task.key, Entry(arrays, {"n_support": outcome.n_support}))
            _keep(result, task, outcome)
        observer.step(f"{task.cell.id} · {task.split.name}")


def _keep(result: VariantRun, task: Task, outcome: FoldPredictions) -> None:
    result.predictions.setdefault(task.cell.id, {})[task.split.name] = outcome


def _solve(task: Task, products: InnerProducts, documents: Documents, jobs: int, nodes: NodeMatrix) -> FoldPredictions:
    """Train a cell on a fold's training documents, sorted by class, and predict its test documents."""
    kernel, classifier = task.cell.kernel.build(), task.cell.classifier.build()
    labels = documents.labels[task.split.train]
    train = task.split.train[np.argsort(labels, kind="stable")]
    machines = fit_machines(
        Gram(kernel, products, task.cell.normalization, train, train),
        np.bincount(labels, minlength=len(documents.classes)),
        C=classifier.C,
        epsilon=classifier.epsilon,
        scheme=classifier.scheme,
        cache_mb=classifier.cache_mb,
        jobs=jobs,
        nodes=nodes,
    )
    decisions = decide(machines, Gram(kernel, products, task.cell.normalization, task.split.test, train), jobs)
    predicted, tied = predict(machines, decisions)
    return FoldPredictions(predicted, tied, machines.n_support)


class _Workspace:
    """The large arrays of a run, kept from one cell to the next, and the thread that writes to the store meanwhile."""

    def __init__(self) -> None:
        self.nodes = NodeMatrix()
        self._matrix = np.empty(0)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._writing: Future[bool] | None = None

    def products(self, base: Base, counts: Counts, store: Store, jobs: int) -> InnerProducts:
        """The inner products of a base, from the store or computed."""
        self.finish()  # the memory is written over now
        idf = None if base.idf_rows is None else inverse_document_frequency(counts.matrix[base.idf_rows])
        weights = weight_terms(counts.matrix, idf)
        embedded = embed(weights, base.exponent)
        divisors = {name: norms(weights, name) for name in NORMALIZATIONS}
        matrix = self._products(base, embedded, store, jobs) if base.n_bytes <= memory_budget() else None
        held = StreamedProducts(embedded, base.columns) if matrix is None else matrix
        own = self_products(embedded)
        return InnerProducts(held, base.columns, own, divisors, base.exponent, embedded.shape[1])

    def _products(self, base: Base, embedded: sp.csr_array, store: Store, jobs: int) -> NDArray[np.float64]:
        shape = (base.n_documents, len(base.columns))
        if self._matrix.size < shape[0] * shape[1]:
            self._matrix = np.empty(0)
            self._matrix = np.empty(shape[0] * shape[1])
        matrix = self._matrix[: shape[0] * shape[1]].reshape(shape)
        entry = store.get(base.key, into={"matrix": matrix})
        if entry is None:
            with _numba_threads(jobs):
                inner_products(embedded, embedded[base.columns], out=matrix)
            if base.n_bytes <= KEPT_BYTES:  # written while LIBSVM trains
                self._writing = self._writer.submit(store.put, base.key, Entry({"matrix": matrix}))
        return matrix

    def finish(self) -> None:
        """Wait until the last matrix is written."""
        if self._writing is not None:
            self._writing.result()
            self._writing = None


@contextmanager
def _numba_threads(jobs: int) -> Iterator[None]:
    before = numba.get_num_threads()
    numba.set_num_threads(max(1, min(jobs, before)))
    try:
        yield
    finally:
        numba.set_num_threads(before)
