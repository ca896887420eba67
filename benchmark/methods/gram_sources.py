"""Sources of Gram rows for support vector machines: inner products, a kernel's own rows, and the scores of a model."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.classifiers.libsvm import DenseRows, KernelTiles
from benchmark.classifiers.matrix_svm import linear_svm_hyperplanes
from benchmark.classifiers.svm import MulticlassSvm, svm_decision_values
from benchmark.evaluation.predictions import METHOD_TIMERS
from benchmark.kernels.gram import InnerProducts, LazyGram, kernel_diagonal
from benchmark.kernels.models.plsi import FittedPLSI
from benchmark.kernels.products import self_products
from benchmark.methods.checked_classifiers import check_real_array
from benchmark.methods.split_data import SplitData, Stopwatch
from benchmark.representation.weighting import canonical_csr
from benchmark.system.numba_jit import numba_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    import scipy.sparse as sp

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.splits import Split
    from benchmark.kernels.models.fisher import PLSIFisher
    from benchmark.methods.matrix_cache import Arrays
    from benchmark.methods.problem import Problem
    from benchmark.system.arrays import Array, Indices


@dataclass(frozen=True, eq=False)
class GramSource:
    """Kernel values of a split.

    Parameters
    ----------
    train : KernelTiles, shape (n, n)
        Of the training documents, in the order of `rows`.
    rows : intp array, shape (n,)
        The training documents: sorted by class where pairs of classes may be trained.
    cost : float
        LIBSVM's -c.
    values : callable
        Returns the decision values of the test documents from trained machines, shape (m, n_machines).
    tested : KernelTiles, shape (m, n), optional
        Of the test documents, where they are inner products.
    """

    train: KernelTiles
    rows: Indices
    cost: float
    values: Callable[[MulticlassSvm], Array]
    tested: KernelTiles | None = None


def products_source(
    work: SplitData, spec: MethodSpec, products: InnerProducts, known: dict[Any, tuple[LazyGram, ...]]
) -> GramSource:
    """Return a kernel of inner products, computed tile by tile; equal kernels in `known` are evaluated once."""
    kernel, normalization, rows = spec.build_kernel(), spec.representation.normalization, _rows(work)
    made = tuple(LazyGram(kernel, products, normalization, each, rows) for each in (rows, work.split.test))
    train, tested = known.setdefault((repr(spec.kernel), normalization), made)
    classifier, jobs = spec.classifier.build(), work.matrices.jobs
    scaled = classifier.scale_C != "one"  # the mean of k(x, x) is taken over all documents of the problem
    cost = classifier.cost(kernel_diagonal(kernel, products, normalization)) if scaled else classifier.C
    return GramSource(train, rows, cost, lambda machines: svm_decision_values(machines, tested, jobs), tested)


def linear_gram(work: SplitData, spec: MethodSpec) -> tuple[sp.csr_array, Array, float]:
    """Return the training points of a split, their inner products and LIBSVM's -c, scaled by all documents' k(x, x)."""
    everything = work.points(spec)
    points, cost = canonical_csr(everything[work.split.train]), spec.classifier.build().cost(self_products(everything))
    work.watch.lap("extraction")
    gram = work.matrices.square(points)
    work.watch.lap("products")
    return points, gram, cost


def rows_source(work: SplitData, spec: MethodSpec) -> GramSource:
    """Return the Gram rows that the kernel's `transform` returns."""
    rows, problem, points = _rows(work), work.problem, work.points(spec)
    labels = work.members if problem.multilabel else problem.documents.labels[rows]
    work.watch.lap("extraction")
    kernel, n = spec.build_kernel(), len(rows)
    kernel.fit(points[rows], labels.copy())  # a user's kernel may write over what it gets
    gram, tested = (
        check_real_array(kernel.transform(points[each]), (len(each), n), f"the kernel {kernel!r}")
        for each in (rows, work.split.test)
    )
    if gram.size > 1 and gram.min() == gram.max():
        raise ValueError(f"the kernel {kernel!r} gives {gram.flat[0]:g} for every pair of documents: all values equal")
    work.watch.lap("kernel")
    tiles = DenseRows(tested)
    cost, jobs = spec.classifier.build().cost(np.diagonal(gram)), work.matrices.jobs
    return GramSource(DenseRows(gram), rows, cost, lambda machines: svm_decision_values(machines, tiles, jobs))


def scores_source(work: SplitData, spec: MethodSpec) -> GramSource:
    """Return the inner products of scores of PLSI models; a machine is a hyperplane in the space of the scores."""
    counts, split = work.problem.counts.matrix, work.split
    with numba_threads(work.matrices.jobs):
        model, folded, seconds = _plsi_model(work, spec, counts)
    work.watch.book("extraction", seconds[0])

    def values(machines: MulticlassSvm) -> Array:
        """Return the values of the hyperplanes."""
        hyperplanes = linear_svm_hyperplanes(model.scores_, machines.machines)
        with numba_threads(work.matrices.jobs):
            found = hyperplanes.values(model.scores(counts[split.test], folded))
        work.watch.lap("testing")
        work.watch.book("testing", seconds[1])
        return found

    train = DenseRows(work.matrices.square(model.scores_))
    return GramSource(train, split.train, spec.classifier.build().C, values)


def _plsi_model(work: SplitData, spec: MethodSpec, counts: sp.csr_array) -> tuple[PLSIFisher, list[Array], Array]:
    """Return the kernel with its models, the test documents folded into each model, and the seconds of both.

    The models are cached instead of the Gram matrix: they take a hundredth of its bytes, and computing the matrix
    is fast.
    """
    split, kernel = work.split, spec.build_kernel().set_params(seed=plsi_seed(work.problem, work.split))
    trained = counts[split.train]

    def learn() -> Arrays:
        """Fit the PLSI models and fold in the test documents; return P(w|z), P(z|d), P(z) and P(z|d) of each model."""
        watch = Stopwatch()
        kernel.fit(trained)
        watch.lap("extraction")
        folded = kernel.fold(counts[split.test])
        watch.lap("testing")
        arrays = {"seconds": watch.seconds()[[METHOD_TIMERS.index("extraction"), METHOD_TIMERS.index("testing")]]}
        for number, (model, tested) in enumerate(zip(kernel.models_, folded, strict=True)):
            parts = model.word_given_class, model.class_given_document, model.classes, tested
            arrays |= {f"{number}/{part}": array for part, array in enumerate(parts)}
        return arrays

    content = {
        "what": "PLSI models",
        "problem": work.problem.key,
        "rows": [hashlib.sha256(part.tobytes()).hexdigest() for part in (split.train, split.test)],
        "kernel": spec.kernel and spec.kernel.resolved,
        "seed": [work.problem.seed, split.number],
    }
    about = f"PLSI models, {len(split.train):,} documents of {len(work.problem.documents.classes)} classes"
    arrays = work.matrices.cached(about, [GramSource, type(kernel)], content, learn)
    models = [[arrays[f"{number}/{part}"] for part in range(4)] for number in range(len(kernel.n_classes))]
    if not hasattr(kernel, "scores_"):
        kernel.take(trained, [FittedPLSI(*parts[:-1]) for parts in models])
    return kernel, [parts[-1] for parts in models], arrays["seconds"]


def plsi_seed(problem: Problem, split: Split) -> int:
    """Return the seed of PLSI's random starting parameters, different for each split."""
    return int(np.random.default_rng([problem.seed, len(split.train), split.number, 1]).integers(2**31))


def by_class(work: SplitData) -> tuple[Indices, Indices]:
    """Return the training rows sorted by class, and the number of training documents of each class that has any."""
    labels, train = work.problem.documents.labels[work.split.train], work.split.train
    return train[np.argsort(labels, kind="stable")], np.unique(labels, return_counts=True)[1]


def _rows(work: SplitData) -> Indices:
    """Return the training rows: sorted by class where each document has exactly one."""
    return work.split.train if work.problem.multilabel else by_class(work)[0]
