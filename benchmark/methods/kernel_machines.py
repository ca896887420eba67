"""Support vector machines on kernel matrices, for documents with exactly one class."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.classifiers.batch_svm import BinaryProblem, batch_decision_values
from benchmark.classifiers.libsvm import train_binary_svms
from benchmark.classifiers.one_vs_one import SvmProblem, TrainingClock
from benchmark.classifiers.svm import (
    MulticlassSvm,
    SupportVectorClassifier,
    mean_self_product,
    predict_class_codes,
    svm_class_scores,
    svm_decision_values,
    svm_decision_values_together,
    train_multiclass,
    train_multiclass_together,
)
from benchmark.evaluation.predictions import SettingPredictions
from benchmark.kernels import is_elementwise_kernel
from benchmark.kernels.gram import LazyGram, kernel_diagonal
from benchmark.methods.fitted import FittedMachines, trained_state
from benchmark.methods.plugin_outputs import check_real_array, scores_of_all_classes
from benchmark.methods.split_data import SplitData, cache_entry, products_key
from benchmark.methods.stopwatch import Stopwatch
from benchmark.methods.weighted_counts import split_weighting, weighted_points
from benchmark.system.numba_jit import numba_threads
from benchmark.system.registries import is_builtin
from benchmark.system.row_blocks import blas_threads, largest_magnitude, rows_per_block, run_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.protocols import Split
    from benchmark.kernels.base import Kernel
    from benchmark.kernels.gram import InnerProducts
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.methods.problem import Problem

#: Training documents on which a user's kernel is checked first.
_FEW = 50


@dataclass(frozen=True)
class PerSplit:
    """Base class of methods that solve each split separately.

    Parameters
    ----------
    spec : MethodSpec
    aggregate : str
        How the information gains of a term are aggregated over the classes, where terms are selected.
    """

    spec: MethodSpec
    aggregate: str = "sum"
    batched: ClassVar[bool] = False
    uses_seed: ClassVar[bool] = False

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on each split and predict its test documents, see `Method.solve`."""
        check_user_kernel(self.spec, problem, splits[0])
        with limit_threads(bench):
            return [self._split(SplitData(problem, split, splits, terms, self.aggregate, bench)) for split in splits]

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: MatrixCache) -> FittedMethod:
        """Train on a split and return the trained method, see `Method.fit`."""
        with limit_threads(bench):
            return self._fitted(SplitData(problem, split, [split], terms, self.aggregate, bench))

    def _split(self, work: SplitData) -> SettingPredictions:
        """Train on a split and predict its test documents."""
        raise NotImplementedError

    def _fitted(self, work: SplitData) -> FittedMethod:  # noqa: ARG002
        """Train on a split and return the trained method."""
        raise ValueError(f"a model with the kernel {self.spec.kernel and self.spec.kernel.name!r} can't be saved")


class KernelSvm(PerSplit):
    """LIBSVM on each split separately: one-vs-one or one-vs-rest, training documents sorted by class.

    The kernel is a subclass of `Kernel`, the classifier is `SupportVectorClassifier`.
    """

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on each split and predict its test documents, see `Method.solve`."""
        if self.joins(terms) is None:
            return super().solve(problem, splits, terms, bench)
        (predictions,) = solve_jointly([(self, splits)], problem, terms, bench)
        if isinstance(predictions, Exception):
            raise predictions
        return predictions

    def joins(self, terms: int | None) -> tuple[Any, ...] | None:
        """Return a key that is equal for machines that can be trained together; None for a machine trained alone.

        A user's kernel is trained alone.
        """
        ours = self.spec.kernel is not None and is_builtin(self.spec.kernel.cls)
        if not (ours and self.spec.classifier.build().scheme == "one-vs-one"):
            return None
        selected = None if terms is None else repr(self.spec.representation)
        return products_key(self.spec), self.aggregate, selected

    def _split(self, work: SplitData) -> SettingPredictions:
        watch = Stopwatch()
        machines, products, rows = self._trained(work, watch)
        normalization = self.spec.representation.normalization
        gram = LazyGram(build_kernel(self.spec), products, normalization, work.split.test, rows)
        values = svm_decision_values(machines, gram, work.bench.jobs)
        predicted, tied = predict_class_codes(machines, values)
        watch.lap("testing")
        return SettingPredictions.of_split(predicted, tied, watch.seconds(), _values_of_classes(machines, values))

    def _fitted(self, work: SplitData) -> FittedMachines:
        machines, _, rows = self._trained(work, Stopwatch())
        return FittedMachines.of(
            trained_state(work, self.spec), work.selected_counts()[rows], machines, build_kernel(self.spec)
        )

    def _trained(self, work: SplitData, watch: Stopwatch) -> tuple[MulticlassSvm, InnerProducts, NDArray[np.intp]]:
        """Return the machines, the inner products of their kernel, and the training rows sorted by class."""
        kernel, classifier = build_kernel(self.spec), self.spec.classifier.build()
        products = work.products(self.spec.representation, kernel.exponent, watch)
        normalization, (rows, sizes) = self.spec.representation.normalization, _by_class(work)
        machines = train_multiclass(
            LazyGram(kernel, products, normalization, rows, rows),
            sizes,
            C=scaled_cost(classifier, kernel, products, normalization),
            epsilon=classifier.epsilon,
            scheme=classifier.scheme,
            ridge=classifier.ridge,
            cache_mb=classifier.cache_mb,
            jobs=work.bench.jobs,
            nodes=work.bench.nodes,
        )
        watch.lap("training")
        return machines, products, rows


def _values_of_classes(machines: MulticlassSvm, decisions: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return a decision value for each class, shape (m, k); None where pairs of classes vote."""
    votes = machines.scheme == "one-vs-one" and decisions.shape[1] > 1
    return None if votes else svm_class_scores(machines, decisions)


def _by_class(work: SplitData) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the training rows sorted by class, and the number of training documents of each class."""
    documents, train = work.problem.documents, work.split.train
    labels = documents.labels[train]
    return train[np.argsort(labels, kind="stable")], np.bincount(labels, minlength=len(documents.classes))


def solve_jointly(
    asked: Sequence[tuple[KernelSvm, Sequence[Split]]],
    problem: Problem,
    terms: int | None,
    bench: MatrixCache,
    *,
    once: bool = False,
) -> list[list[SettingPredictions] | Exception]:
    """Train one-vs-one machines that share inner products, split by split, and predict the test documents.

    Parameters
    ----------
    asked : sequence of (KernelSvm, sequence of Split)
        Machines with equal keys of `joins`, each with the splits to solve.
    problem, terms, bench
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
    with limit_threads(bench):
        for number, split in all_splits.items():
            pending = [i for i, (_, splits) in enumerate(asked) if any(s is split for s in splits) and i not in failed]
            machines = [asked[i][0] for i in pending]
            if not machines:
                continue
            work = SplitData(problem, split, [*all_splits.values()], terms, machines[0].aggregate, bench)
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
    machines: Sequence[KernelSvm], work: SplitData, *, once: bool
) -> list[SettingPredictions | Exception]:
    """Train machines that share inner products on a split; return the predictions or the error of each.

    Seconds are summed over threads and divided by the number of threads.
    """
    watch, bench, specs = Stopwatch(), work.bench, [machine.spec for machine in machines]
    exponent, (rows, sizes) = build_kernel(specs[0]).exponent, _by_class(work)
    products = work.products(specs[0].representation, exponent, watch, by_class=True, once=once)

    @cache  # equal kernels are evaluated once
    def gram(kernel: str, normalization: str, *, tested: bool) -> LazyGram:
        built = build_kernel(next(spec for spec in specs if repr(spec.kernel) == kernel))
        return LazyGram(built, products, normalization, work.split.test if tested else rows, rows)

    results, pending = dict[int, SettingPredictions | Exception](), dict[int, SvmProblem]()
    test_grams: list[LazyGram] = []
    for number, spec in enumerate(specs):
        classifier, name = spec.classifier.build(), (repr(spec.kernel), spec.representation.normalization)
        try:
            C = scaled_cost(classifier, build_kernel(spec), products, name[1])
        except ValueError as error:
            results[number] = error
            continue
        settings = classifier.epsilon, classifier.cache_mb, classifier.ridge
        pending[number] = SvmProblem(gram(*name, tested=False), C, *settings)
        test_grams.append(gram(*name, tested=True))
    watch.lap("products")
    training, testing = TrainingClock(len(pending)), TrainingClock(len(pending))
    budget, jobs = bench.budget, bench.jobs
    fitted = train_multiclass_together(
        [*pending.values()], sizes, jobs=jobs, nodes=bench.nodes, budget=budget, clock=training
    )
    decision_values = svm_decision_values_together(fitted, test_grams, jobs=jobs, clock=testing)
    products_seconds = (training.shared + testing.shared) / jobs
    for i, (number, trained, values) in enumerate(zip(pending, fitted, decision_values, strict=True)):
        if isinstance(trained, Exception) or isinstance(values, Exception):
            results[number] = trained if isinstance(trained, Exception) else values  # type: ignore[assignment]
            continue
        machine_watch = Stopwatch()
        predicted, tied = predict_class_codes(trained, values)
        machine_watch.lap("testing")
        spent = {"products": products_seconds, "training": training.own[i] / jobs, "testing": testing.own[i] / jobs}
        for part, seconds in spent.items():
            machine_watch.book(part, float(seconds))
        scores, spent_in_all = _values_of_classes(trained, values), watch.seconds() + machine_watch.seconds()
        results[number] = SettingPredictions.of_split(predicted, tied, spent_in_all, scores)
    return [results[i] for i in range(len(machines))]


class PrecomputedKernelSvm(PerSplit):
    """LIBSVM on each split separately, on the Gram rows that the kernel's `transform` returns."""

    def _split(self, work: SplitData) -> SettingPredictions:
        watch, labels = Stopwatch(), work.problem.documents.labels
        train = work.split.train[np.argsort(labels[work.split.train], kind="stable")]
        points = work.points(self.spec.representation)
        watch.lap("extraction")
        gram, tested = cached_rows(work, self, points, train, labels[train])
        watch.lap("kernel")
        machine = self.spec.classifier.build(jobs=work.bench.jobs).fit(gram, labels[train])
        watch.lap("training")
        decided = machine.decision_function(tested)
        predicted, tied = predict_class_codes(machine.machines_, decided)
        watch.lap("testing")
        values = _values_of_classes(machine.machines_, decided)
        values = None if values is None else scores_of_all_classes(work.problem, machine.classes_, values)
        return SettingPredictions.of_split(machine.classes_[predicted].astype(np.int32), tied, watch.seconds(), values)


def cached_rows(
    work: SplitData, method: PerSplit, points: sp.csr_array, train: NDArray[np.intp], y: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the `gram_rows` of a split: of its training rows `train` with the classes `y`, and of its test documents.

    Rows that took long to compute are cached between runs.
    """

    def make() -> dict[str, NDArray[Any]]:
        """Compute the rows."""
        kernel = build_kernel(method.spec)
        return dict(zip(("gram", "tested"), gram_rows(kernel, points[train], y, points[work.split.test]), strict=True))

    terms = work.terms, work.aggregate
    arrays = work.bench.cached(
        *cache_entry(work.problem, method.spec, type(method), "Gram matrix", work.split, terms), make
    )
    return arrays["gram"], arrays["tested"]


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
    check_not_constant(kernel, grams[0])
    return grams[0], grams[1]


def check_finite_gram(kernel: Any, values: NDArray[np.float64]) -> None:
    """Raise ValueError where a kernel's values are not finite numbers."""
    if not np.isfinite(largest_magnitude(values)):
        raise ValueError(f"the kernel {kernel!r} gives values that are not finite numbers")


def check_user_kernel(spec: MethodSpec, problem: Problem, split: Split) -> None:
    """Raise ValueError where a user's elementwise kernel has values that aren't finite, or only equal ones."""
    if spec.kernel is None or is_builtin(spec.kernel.cls) or not is_elementwise_kernel(spec.kernel.cls):
        return
    counts = problem.counts.matrix
    weighting = split_weighting(problem, counts, spec.representation, split)
    points, kernel = weighted_points(counts, spec.representation, weighting), build_kernel(spec)
    for train in (split.train[:_FEW], split.train):
        values = kernel.fit(points[train]).transform(points[train])
        gram = check_real_array(values, (len(train), len(train)), f"the kernel {kernel!r}")
        if gram.min() < gram.max():
            return
    check_not_constant(kernel, gram)


def check_not_constant(kernel: Any, gram: NDArray[np.float64]) -> None:
    """Raise ValueError where all values of a Gram matrix are equal, so that no documents can be distinguished."""
    if gram.size > 1 and gram.min() == gram.max():
        raise ValueError(f"the kernel {kernel!r} gives {gram.flat[0]:g} for every pair of documents: all values equal")


@dataclass(frozen=True)
class SharedMatrixSvm:
    """LIBSVM on many splits of documents of two classes, with one kernel matrix of all documents.

    Parameters
    ----------
    spec : MethodSpec
        As in `KernelSvm`; weights must not depend on the split.
    """

    spec: MethodSpec
    batched: ClassVar[bool] = True
    uses_seed: ClassVar[bool] = False

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: MatrixCache
    ) -> list[SettingPredictions]:
        """Train on each split and predict, see `Method.solve`; seconds are divided equally among the splits."""
        if terms is not None or len(problem.documents.classes) != 2:
            raise ValueError("splits share one kernel matrix only with two classes and the same terms in all splits")
        check_user_kernel(self.spec, problem, splits[0])
        watch, labels = Stopwatch(), problem.documents.labels
        classifier = self.spec.classifier.build()
        with limit_threads(bench):
            documents = (problem.key, self.spec.representation)
            key = (*documents, repr(self.spec.kernel), classifier.scale_C, classifier.ridge)
            matrix, spent, _ = bench.shared(key, lambda: self._matrix(problem, classifier, bench))
            watch.lap("kernel")
            decided = batch_decision_values(
                matrix,
                [_binary(split, labels) for split in splits],
                C=classifier.C,
                epsilon=classifier.epsilon,
                jobs=bench.jobs,
                nodes=bench.nodes,
            )
        watch.lap("training")
        seconds = (spent + watch.seconds("training")) / len(splits)
        # LIBSVM's rule: only a positive decision value predicts the first class.
        return [
            SettingPredictions.of_split(
                (values <= 0).astype(np.int32), values == 0, seconds, np.column_stack([values, -values])
            )
            for values in decided
        ]

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: MatrixCache) -> FittedMachines:
        """Train on a split, see `Method.fit`; coefficients are of the unscaled kernel, whatever C's unit."""
        work, classifier = SplitData(problem, split, [split], terms, "sum", bench), self.spec.classifier.build()
        binary = _binary(split, problem.documents.labels)
        with limit_threads(bench):
            matrix, _, unit = self._matrix(problem, classifier, bench)
            bench.nodes.fill_square(matrix, bench.jobs)
            parameters = {"C": classifier.C, "epsilon": classifier.epsilon, "cache_mb": classifier.cache_mb}
            (machine,) = train_binary_svms(bench.nodes, [(binary.first, binary.second)], **parameters, jobs=bench.jobs)
        rows = np.concatenate([binary.first, binary.second])
        position = np.zeros(len(matrix), dtype=np.intp)
        position[rows] = np.arange(len(rows))
        machine = replace(machine, support=position[machine.support], coefficients=machine.coefficients / unit)
        bounds = np.array([0, len(binary.first), len(rows)])
        machines = MulticlassSvm("one-vs-one", bounds, (machine,))
        return FittedMachines.of(
            trained_state(work, self.spec), problem.counts.matrix[rows], machines, build_kernel(self.spec)
        )

    def _matrix(
        self, problem: Problem, classifier: SupportVectorClassifier, bench: MatrixCache
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Return the kernel matrix of all documents of the task divided by C's unit, its seconds, and the unit."""
        watch, representation, kernel = Stopwatch(), self.spec.representation, build_kernel(self.spec)
        everything = np.arange(len(problem.documents))
        rows = everything if representation.learns else None
        held = bench.products(problem, representation, kernel.exponent, everything, rows)
        watch.book("products", held.seconds)
        gram = LazyGram(kernel, held.products, representation.normalization, everything, everything)
        n, unit = len(everything), 1.0

        def make() -> dict[str, NDArray[Any]]:
            """Compute the Gram matrix, block by block."""
            matrix = np.empty((n, n))

            def fill(start: int, stop: int) -> None:
                """Compute the rows from start to stop."""
                matrix[start:stop] = gram.block(start, stop)

            run_blocks(fill, n, rows_per_block(n), bench.jobs)
            return {"gram": matrix}

        matrix = bench.cached(*cache_entry(problem, self.spec, type(self), "Gram matrix"), make)["gram"]
        if classifier.scale_C == "mean-self-product":
            unit = mean_self_product(np.diagonal(matrix))
        if classifier.ridge:
            matrix[np.diag_indices_from(matrix)] += classifier.ridge
        if unit != 1.0:
            matrix /= unit
        watch.lap("kernel")
        return matrix, watch.seconds(), unit


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


def build_kernel(spec: MethodSpec) -> Any:
    """Build the kernel of a method; ValueError where it has none."""
    if spec.kernel is None:
        raise ValueError(f"the classifier {spec.classifier.name!r} needs a kernel")
    return spec.kernel.build()


@contextmanager
def limit_threads(bench: MatrixCache) -> Iterator[None]:
    """Limit BLAS and compiled functions to the workbench's number of threads while the block runs.

    Only one of LIBSVM, BLAS and numba uses the cores at a time.
    """
    with blas_threads(bench.jobs), numba_threads(bench.jobs):
        yield
