"""Support vector machines: a source of Gram rows, and one-vs-one or one-vs-rest machines on them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.classifiers.batch_svm import BinaryProblem, batch_decision_values
from benchmark.classifiers.hyperplanes import train_one_vs_rest
from benchmark.classifiers.libsvm import DenseRows
from benchmark.classifiers.one_vs_one import SvmProblem
from benchmark.classifiers.svm import (
    MulticlassSvm,
    SupportVectorClassifier,
    mean_self_product,
    svm_decision_values,
    svm_decision_values_together,
    train_multiclass,
    train_multiclass_together,
)
from benchmark.evaluation.predictions import TIMERS
from benchmark.kernels import is_elementwise_kernel
from benchmark.kernels.gram import LazyGram, kernel_diagonal
from benchmark.methods.base import Method
from benchmark.methods.checked_classifiers import check_real_array
from benchmark.methods.fitted import FittedMachines, svm_decisions
from benchmark.methods.learned_classes import Decisions
from benchmark.methods.split_data import SplitData, cache_entry, products_key
from benchmark.methods.stopwatch import Stopwatch
from benchmark.system.numba_jit import numba_threads
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads, rows_per_block, run_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.classifiers.libsvm import BinarySvm, KernelTiles
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.kernels.base import Kernel
    from benchmark.kernels.gram import InnerProducts
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem


class PerSplit(Method):
    """Base class of methods that solve each split separately."""

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, matrices: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on each split and predict its test documents, see `Method.solve`."""
        with limit_threads(matrices):
            return [self._split(SplitData(problem, split, splits, terms, self.aggregate, matrices)) for split in splits]

    def fit(self, problem: Problem, split: Split, terms: int | None, matrices: MatrixCache) -> FittedMethod:
        """Train on a split and return the trained method, see `Method.fit`."""
        with limit_threads(matrices):
            return self._fitted(SplitData(problem, split, [split], terms, self.aggregate, matrices))

    def _split(self, work: SplitData) -> SettingPredictions:
        """Train on a split and predict its test documents."""
        raise NotImplementedError

    def _fitted(self, work: SplitData) -> FittedMethod:  # noqa: ARG002
        """Train on a split and return the trained method."""
        raise ValueError(f"a model with the kernel {self.spec.kernel and self.spec.kernel.name!r} can't be saved")


@dataclass(frozen=True, eq=False)
class GramSource:
    """Kernel values of a split.

    Parameters
    ----------
    train : KernelTiles, shape (n, n)
        Of the training documents, in the order of `rows`.
    tested : KernelTiles, shape (m, n)
        Of the test documents against the training documents.
    rows : intp array, shape (n,)
        The training documents: sorted by class where each has exactly one.
    cost : float
        LIBSVM's -c.
    """

    train: KernelTiles
    tested: KernelTiles
    rows: NDArray[np.intp]
    cost: float


class SvmMethod(PerSplit):
    """LIBSVM on each split separately, on a kernel of inner products or on the Gram rows that `transform` returns.

    Pairs of classes or each class against the rest are trained where documents have exactly one class; each class
    against the rest where they may have several.
    """

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, matrices: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on each split and predict its test documents, see `Method.solve`."""
        if self.joins(problem, terms) is None:
            return super().solve(problem, splits, terms, matrices)
        (predictions,) = solve_jointly([(self, splits)], problem, terms, matrices)
        if isinstance(predictions, Exception):
            raise predictions
        return predictions

    def joins(self, problem: Problem, terms: int | None) -> Any:
        """Return a value that is equal for machines that can be trained together; None for a machine trained alone.

        One-vs-one machines on our kernels of inner products are trained together.
        """
        kernel = self.spec.kernel
        ours = kernel is not None and is_builtin(kernel.cls) and is_elementwise_kernel(kernel.cls)
        if problem.multilabel or not (ours and self.spec.classifier.build().scheme == "one-vs-one"):
            return None
        selected = None if terms is None else repr(self.spec.representation)
        return products_key(self.spec), self.aggregate, selected

    def _split(self, work: SplitData) -> SettingPredictions:
        watch = Stopwatch()
        source, machines = self._trained(work, watch)
        if machines.machines:
            values = svm_decision_values(machines, source.tested, work.matrices.jobs)
        else:
            values = np.empty((len(work.split.test), 0))
        watch.lap("testing")
        return decided(work, machines, values, watch.seconds())

    def _fitted(self, work: SplitData) -> FittedMethod:
        if not is_elementwise_kernel(type(self.spec.build_kernel())):
            return super()._fitted(work)
        source, machines = self._trained(work, Stopwatch())
        return FittedMachines.of(work, self.spec, source.rows, machines)

    def _trained(self, work: SplitData, watch: Stopwatch) -> tuple[GramSource, MulticlassSvm]:
        """Return the kernel values of a split and the machines that are trained on them."""
        classifier, matrices = self.spec.classifier.build(), work.matrices
        elementwise = is_elementwise_kernel(type(self.spec.build_kernel()))
        source = (self._of_products if elementwise else self._of_rows)(work, classifier, watch)
        if not work.problem.multilabel:
            machines = train_multiclass(
                source.train,
                _by_class(work)[1],
                C=source.cost,
                epsilon=classifier.epsilon,
                scheme=classifier.scheme,
                ridge=classifier.ridge,
                cache_mb=classifier.cache_mb,
                jobs=matrices.jobs,
                nodes=matrices.nodes,
            )
            watch.lap("training")
            return source, machines
        matrices.nodes.fill(source.train, matrices.jobs, classifier.ridge)
        watch.lap("kernel")
        bounds = np.array([0, len(source.rows)], dtype=np.intp)  # rows with several classes can't be sorted by class
        return source, MulticlassSvm("one-vs-rest", bounds, train_each_class(work, classifier, source.cost, watch))

    def _of_products(self, work: SplitData, classifier: SupportVectorClassifier, watch: Stopwatch) -> GramSource:
        """Return a kernel of inner products, computed tile by tile."""
        kernel, normalization, rows = self.spec.build_kernel(), self.spec.representation.normalization, _rows(work)
        products = work.products(self.spec, kernel.exponent, watch)
        train, tested = (LazyGram(kernel, products, normalization, each, rows) for each in (rows, work.split.test))
        return GramSource(train, tested, rows, scaled_cost(classifier, kernel, products, normalization))

    def _of_rows(self, work: SplitData, classifier: SupportVectorClassifier, watch: Stopwatch) -> GramSource:
        """Return the Gram rows that the kernel's `transform` returns; those that took long are cached between runs."""
        rows, problem, points = _rows(work), work.problem, work.points(self.spec)
        labels = work.members if problem.multilabel else problem.documents.labels[rows]
        watch.lap("extraction")

        def make() -> dict[str, NDArray[Any]]:
            """Compute the rows."""
            grams = gram_rows(self.spec.build_kernel(), points[rows], labels, points[work.split.test])
            return dict(zip(("gram", "tested"), grams, strict=True))

        entry = cache_entry(problem, self.spec, type(self), "Gram matrix", work)
        arrays = work.matrices.cached(*entry, make)
        watch.lap("kernel")
        gram, tested = arrays["gram"], arrays["tested"]
        return GramSource(
            DenseRows.square(gram),
            DenseRows(tested, np.arange(len(tested)), np.arange(len(gram))),
            rows,
            classifier.cost(np.diagonal(gram)),
        )


def decided(
    work: SplitData, machines: MulticlassSvm, values: NDArray[np.float64], seconds: NDArray[np.float64]
) -> SettingPredictions:
    """Return the predictions of a split from the decision values of its machines, shape (m, n_machines)."""
    decisions = svm_decisions(work.learned, machines, values)
    if not work.problem.multilabel and machines.scheme == "one-vs-one" and values.shape[1] > 1:
        decisions = decisions._replace(values=None)  # where pairs of classes vote, values are of no class
    return decisions.timed(seconds)


def train_each_class(
    work: SplitData,
    classifier: SupportVectorClassifier,
    C: float,
    watch: Stopwatch,
    members: NDArray[np.bool_] | None = None,
    names: Sequence[str] | None = None,
) -> tuple[BinarySvm, ...]:
    """Train a machine for each learned class, or column of `members`, on the kernel matrix in the nodes."""
    matrices, learned = work.matrices, work.learned
    members = work.members[:, learned.columns] if members is None else members
    names = learned.names(work.problem) if names is None else names
    parameters = {"C": C, "epsilon": classifier.epsilon, "cache_mb": classifier.cache_mb}
    machines = train_one_vs_rest(matrices.nodes, members, names, **parameters, jobs=matrices.jobs)
    watch.lap("training")
    watch.book("machines", sum(machine.seconds for machine in machines))
    return machines


def _by_class(work: SplitData) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the training rows sorted by class, and the number of training documents of each class that has any."""
    labels, train = work.problem.documents.labels[work.split.train], work.split.train
    return train[np.argsort(labels, kind="stable")], np.unique(labels, return_counts=True)[1]


def _rows(work: SplitData) -> NDArray[np.intp]:
    """Return the training rows: sorted by class where each document has exactly one."""
    return work.split.train if work.problem.multilabel else _by_class(work)[0]


def solve_jointly(
    asked: Sequence[tuple[SvmMethod, Sequence[Split]]],
    problem: Problem,
    terms: int | None,
    matrices: MatrixCache,
    *,
    once: bool = False,
) -> list[list[SettingPredictions] | Exception]:
    """Train one-vs-one machines that share inner products, split by split, and predict the test documents.

    Parameters
    ----------
    asked : sequence of (SvmMethod, sequence of Split)
        Machines with equal keys of `joins`, each with the splits to solve.
    problem, terms, matrices
        As in `Method.solve`.
    once : bool
        True if nothing else needs the inner products.

    Returns
    -------
    list of (list of SettingPredictions or Exception)
        For each machine its predictions, split by split, or the error that prevents its training on one of them.
    """
    predictions: list[dict[int, SettingPredictions]] = [{} for _ in asked]
    failed: dict[int, Exception] = {}
    all_splits = {id(split): split for _, splits in asked for split in splits}
    with limit_threads(matrices):
        for number, split in all_splits.items():
            pending = [i for i, (_, splits) in enumerate(asked) if any(s is split for s in splits) and i not in failed]
            machines = [asked[i][0] for i in pending]
            if not machines:
                continue
            work = SplitData(problem, split, [*all_splits.values()], terms, machines[0].aggregate, matrices)
            for i, result in zip(pending, _solve_together(machines, work, once=once), strict=True):
                if isinstance(result, Exception):
                    failed[i] = result
                else:
                    predictions[i][number] = result
    return [
        failed[i] if i in failed else [predictions[i][id(split)] for split in splits]
        for i, (_, splits) in enumerate(asked)
    ]


def _solve_together(
    machines: Sequence[SvmMethod], work: SplitData, *, once: bool
) -> list[SettingPredictions | Exception]:
    """Train machines that share inner products on a split; return the predictions or the error of each.

    The seconds of each machine's training are those of LIBSVM, divided by the number of threads; other seconds are
    divided equally.
    """
    watch, matrices, specs = Stopwatch(), work.matrices, [machine.spec for machine in machines]
    exponent, (rows, sizes) = specs[0].build_kernel().exponent, _by_class(work)
    products = work.products(specs[0], exponent, watch, by_class=True, once=once)

    @cache  # equal kernels are evaluated once
    def gram(kernel: str, normalization: str, *, tested: bool) -> LazyGram:
        built = next(spec for spec in specs if repr(spec.kernel) == kernel).build_kernel()
        return LazyGram(built, products, normalization, work.split.test if tested else rows, rows)

    results: dict[int, SettingPredictions | Exception] = {}
    pending: dict[int, SvmProblem] = {}
    test_grams: list[LazyGram] = []
    for number, spec in enumerate(specs):
        classifier, name = spec.classifier.build(), (repr(spec.kernel), spec.representation.normalization)
        try:
            C = scaled_cost(classifier, spec.build_kernel(), products, name[1])
        except ValueError as error:
            results[number] = error
            continue
        settings = classifier.epsilon, classifier.cache_mb, classifier.ridge
        pending[number] = SvmProblem(gram(*name, tested=False), C, *settings)
        test_grams.append(gram(*name, tested=True))
    watch.lap("products")
    together = Stopwatch()
    budget, jobs = matrices.budget, matrices.jobs
    trained = train_multiclass_together([*pending.values()], sizes, jobs=jobs, nodes=matrices.nodes, budget=budget)
    together.lap("kernel")
    decision_values = svm_decision_values_together(trained, test_grams, jobs=jobs)
    together.lap("testing")
    solver = [0.0 if isinstance(each, Exception) else sum(m.seconds for m in each.machines) / jobs for each in trained]
    shared = together.seconds()
    shared[TIMERS.index("kernel")] = max(0.0, shared[TIMERS.index("kernel")] - sum(solver))
    for number, svms, values, training in zip(pending, trained, decision_values, solver, strict=True):
        if isinstance(svms, Exception) or isinstance(values, Exception):
            results[number] = svms if isinstance(svms, Exception) else values  # type: ignore[assignment]
            continue
        seconds = watch.seconds() + shared / len(pending)
        seconds[TIMERS.index("training")] += training
        results[number] = decided(work, svms, values, seconds)
    return [results[i] for i in range(len(machines))]


def gram_rows(
    kernel: Any, points: sp.csr_array, y: NDArray[Any], tested: sp.csr_array
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the Gram rows of the training points and of the test points against the training points.

    Parameters
    ----------
    kernel : transformer
        `fit(points, y)` remembers the training points, `transform` returns Gram rows against them.
    points, tested : CSR arrays, shapes (n, V) and (m, V)
        Training points and test points.
    y : array, shape (n,) or (n, k)
        Classes of the training points, or class indicators.

    Returns
    -------
    float64 arrays, shapes (n, n) and (m, n)

    Raises
    ------
    ValueError
        If the values have another shape, aren't finite numbers, or are all equal.
    """
    kernel.fit(points, y)
    grams = []
    for rows in (points, tested):
        values = kernel.transform(rows)
        grams.append(check_real_array(values, (rows.shape[0], points.shape[0]), f"the kernel {kernel!r}"))
    gram, tested_rows = grams
    if gram.size > 1 and gram.min() == gram.max():
        raise ValueError(f"the kernel {kernel!r} gives {gram.flat[0]:g} for every pair of documents: all values equal")
    return gram, tested_rows


class SharedMatrixSvm(SvmMethod):
    """LIBSVM on many splits of documents of two classes, with one kernel matrix of all documents.

    Weights must not depend on the split. WebKB's reduced diffusion experiment takes 4 processor seconds, and 17 with a
    kernel matrix for each split.
    """

    def joins(self, problem: Problem, terms: int | None) -> None:
        """Return None: all splits are solved at once."""

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, matrices: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on each split and predict, see `Method.solve`; seconds are divided equally among the splits."""
        if terms is not None or len(problem.documents.classes) != 2:
            raise ValueError("splits share one kernel matrix only with two classes and the same terms in all splits")
        watch, labels, classifier = Stopwatch(), problem.documents.labels, self.spec.classifier.build()
        with limit_threads(matrices):
            documents = (problem.key, self.spec.representation)
            key = (*documents, repr(self.spec.kernel), classifier.scale_C, classifier.ridge)
            matrix, spent = matrices.shared(key, lambda: self._matrix(problem, classifier, matrices))
            watch.lap("kernel")
            parameters = {"C": classifier.C, "epsilon": classifier.epsilon, "nodes": matrices.nodes}
            problems = [_binary(split, labels) for split in splits]
            values = batch_decision_values(matrix, problems, jobs=matrices.jobs, **parameters)
        watch.lap("training")
        seconds = (spent + watch.seconds("training")) / len(splits)
        # LIBSVM's rule: only a positive decision value predicts the first class.
        decisions = (Decisions((v <= 0).astype(np.int32), v == 0, np.column_stack([v, -v])) for v in values)
        return [each.timed(seconds) for each in decisions]

    def _matrix(
        self, problem: Problem, classifier: SupportVectorClassifier, matrices: MatrixCache
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the kernel matrix of all documents of the task divided by C's unit, and its seconds."""
        watch, representation, kernel = Stopwatch(), self.spec.representation, self.spec.build_kernel()
        everything = np.arange(len(problem.documents))
        rows = everything if representation.learns else None
        timed = matrices.products(problem, representation, kernel.exponent, everything, rows)
        watch.book("products", timed.seconds)
        gram, n = (
            LazyGram(kernel, timed.products, representation.normalization, everything, everything),
            len(everything),
        )

        def make() -> dict[str, NDArray[Any]]:
            """Compute the Gram matrix, block by block."""
            matrix = np.empty((n, n))

            def fill(start: int, stop: int) -> None:
                """Compute the rows from start to stop."""
                matrix[start:stop] = gram.block(start, stop)

            run_blocks(fill, n, rows_per_block(n), matrices.jobs)
            return {"gram": matrix}

        matrix = matrices.cached(*cache_entry(problem, self.spec, type(self), "Gram matrix"), make)["gram"]
        unit = mean_self_product(np.diagonal(matrix)) if classifier.scale_C == "mean-self-product" else 1.0
        if classifier.ridge:
            matrix[np.diag_indices_from(matrix)] += classifier.ridge
        if unit != 1.0:
            matrix /= unit
        watch.lap("kernel")
        return matrix, watch.seconds()


def _binary(split: Split, labels: NDArray[np.int32]) -> BinaryProblem:
    """Return the training rows of both classes, and the test rows."""
    first = labels[split.train] == 0
    return BinaryProblem(split.train[first], split.train[~first], split.test)


def scaled_cost(
    classifier: SupportVectorClassifier, kernel: Kernel, products: InnerProducts, normalization: str
) -> float:
    """Return C in its unit; the mean of k(x, x) is taken over all documents of the problem."""
    return (
        classifier.C
        if classifier.scale_C == "one"
        else classifier.cost(kernel_diagonal(kernel, products, normalization))
    )


@contextmanager
def limit_threads(matrices: MatrixCache) -> Iterator[None]:
    """Limit BLAS and compiled functions to the run's number of threads while the block runs.

    Only one of LIBSVM, BLAS and numba uses the cores at a time.
    """
    with blas_threads(matrices.jobs), numba_threads(matrices.jobs):
        yield
