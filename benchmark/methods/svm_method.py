"""Support vector machines: a source of Gram rows, and one-vs-one or one-vs-rest machines on them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from benchmark.classifiers.libsvm import BinarySvm, DenseRows, KernelTiles
from benchmark.classifiers.matrix_svm import (
    Hyperplanes,
    batch_decision_values,
    linear_svm_hyperplanes,
    train_one_vs_rest,
)
from benchmark.classifiers.one_vs_one import SvmProblem
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
from benchmark.evaluation.predictions import TIMERS, SettingPredictions
from benchmark.evaluation.splits import Split
from benchmark.kernels import is_elementwise_kernel
from benchmark.kernels.gram import InnerProducts, LazyGram, kernel_diagonal
from benchmark.kernels.products import StreamedProducts, self_products
from benchmark.methods.base import FittedMethod, Method
from benchmark.methods.checked_classifiers import check_real_array
from benchmark.methods.problem import Decisions, LearnedClasses, Problem, check_finite_values
from benchmark.methods.split_data import FittedView, SplitData, Stopwatch, products_key
from benchmark.representation.weighting import canonical_csr, power_transform
from benchmark.system.user_classes import is_builtin

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp

    from benchmark.config.model import MethodSpec
    from benchmark.kernels.base import Kernel
    from benchmark.methods.matrix_cache import MatrixCache
    from benchmark.system.arrays import Array, Indices


@dataclass(frozen=True, eq=False)
class FittedMachines(FittedMethod):
    """Support vector machines on a kernel that is an elementwise function of inner products.

    Only the counts of the support vectors are kept. Kernel values, decision values and votes are computed by the
    functions that a run uses. A decision value that is 0 up to rounding may differ in sign: its sum has fewer rows.

    Parameters
    ----------
    view : FittedView
    counts : CSR array, shape (s, V)
        Term counts of the support vectors, sorted by class where each document has exactly one.
    machines : MulticlassSvm
        Machines whose support indexes the rows of `counts`.
    kernel : Kernel
    """

    view: FittedView
    counts: sp.csr_array
    machines: MulticlassSvm
    kernel: Kernel

    @classmethod
    def of(cls, work: SplitData, spec: MethodSpec, rows: Indices, machines: MulticlassSvm) -> Self:
        """Return the machines of a split with the counts of their support vectors; `rows` are its training rows."""
        used = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *(m.support for m in machines.machines)]))
        bounds = np.searchsorted(used, machines.class_bounds)
        renumbered = (replace(m, support=np.searchsorted(used, m.support), seconds=0.0) for m in machines.machines)
        machines = MulticlassSvm(machines.scheme, bounds, tuple(renumbered))
        counts = work.problem.counts.matrix[rows[used]]
        return cls(work.learned, work.view(spec), counts, machines, spec.build_kernel())

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone, without what was computed from them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def decide(self, inputs: sp.csr_array) -> Decisions:
        """Return the decisions on documents, see `FittedMethod`."""
        m, s = inputs.shape[0], self.counts.shape[0]
        if not self.machines.machines:
            return svm_decisions(self.learned, self.machines, np.empty((m, 0)))
        # Rows 0 to m - 1 are the documents, m to m + s - 1 the support vectors.
        points, exponent, columns = self.view.points(inputs), self.kernel.exponent, np.arange(m, m + s)
        points = power_transform(points, exponent)
        support_squares, streamed = self._support
        squares, norms = np.concatenate([self_products(points), support_squares]), {"none": np.ones(m + s)}
        products = InnerProducts(streamed.of(points), columns, squares, norms, exponent, inputs.shape[1])
        gram = LazyGram(self.kernel, products, "none", np.arange(m), columns)
        return svm_decisions(self.learned, self.machines, svm_decision_values(self.machines, gram))

    @cached_property
    def _support(self) -> tuple[Array, StreamedProducts]:
        """Inner products of each support vector with itself, and with other points."""
        points = power_transform(self.view.points(self.counts), self.kernel.exponent)
        return self_products(points), StreamedProducts(points, np.arange(self.counts.shape[0]))


def svm_decisions(learned: LearnedClasses, machines: MulticlassSvm, values: Array) -> Decisions:
    """Return decisions from the values of machines: by votes of pairs, or by the largest or the positive values.

    Class values of pairs are added as by `svm_class_scores`.
    """
    if learned.multilabel:
        return learned.decide(values)
    codes, tied = predict_class_codes(machines, values)
    scores = learned.class_values(svm_class_scores(machines, values))
    return Decisions(learned.columns[codes].astype(np.int32), tied, scores)


@dataclass(frozen=True, eq=False)
class FittedHyperplanes(FittedMethod):
    """One hyperplane for each learned class, for documents with several classes."""

    view: FittedView
    hyperplanes: Hyperplanes

    def decide(self, inputs: sp.csr_array) -> Decisions:
        """Return the decisions on documents, see `FittedMethod`."""
        points = canonical_csr(self.view.points(inputs))
        return self.learned.decide(self.hyperplanes.values(points))


@dataclass(frozen=True, eq=False)
class GramSource:
    """Kernel values of a split.

    Parameters
    ----------
    train : KernelTiles, shape (n, n)
        Of the training documents, in the order of `rows`.
    tested : KernelTiles, shape (m, n)
        Of the test documents.
    rows : intp array, shape (n,)
        The training documents: sorted by class where each has exactly one.
    cost : float
        LIBSVM's -c.
    """

    train: KernelTiles
    tested: KernelTiles
    rows: Indices
    cost: float


def products_source(
    work: SplitData, spec: MethodSpec, products: InnerProducts, known: dict[Any, tuple[LazyGram, ...]]
) -> GramSource:
    """Return a kernel of inner products, computed tile by tile; equal kernels in `known` are evaluated once."""
    kernel, normalization, rows = spec.build_kernel(), spec.representation.normalization, by_class(work)[0]
    made = tuple(LazyGram(kernel, products, normalization, each, rows) for each in (rows, work.split.test))
    train, tested = known.setdefault((repr(spec.kernel), normalization), made)
    classifier = spec.classifier.build()
    scaled = classifier.scale_C != "one"  # the mean of k(x, x) is taken over all documents of the problem
    cost = classifier.cost(kernel_diagonal(kernel, products, normalization)) if scaled else classifier.C
    return GramSource(train, tested, rows, cost)


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
    rows, problem, points = by_class(work)[0], work.problem, work.points(spec)
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
    cost = spec.classifier.build().cost(np.diagonal(gram))
    return GramSource(DenseRows(gram), DenseRows(tested), rows, cost)


def by_class(work: SplitData) -> tuple[Indices, Indices]:
    """Return the training rows sorted by class, and the number of training documents of each class that has any.

    Rows of documents with several classes stay as they are: their labels are all -1.
    """
    labels, train = work.problem.documents.labels[work.split.train], work.split.train
    return train[np.argsort(labels, kind="stable")], np.unique(labels, return_counts=True)[1]


def train_against_rest(work: SplitData, spec: MethodSpec, gram: KernelTiles, cost: float) -> tuple[BinarySvm, ...]:
    """Train a machine for each learned class against the rest."""
    classifier, matrices, learned = spec.classifier.build(), work.matrices, work.learned
    matrices.nodes.fill(gram, matrices.jobs, classifier.ridge)
    work.watch.lap("kernel")
    parameters = {"C": cost, "epsilon": classifier.epsilon, "jobs": matrices.jobs}
    members, names = work.members[:, learned.columns], learned.names(work.problem)
    machines = train_one_vs_rest(matrices.nodes, members, names, **parameters)
    work.watch.lap("training")
    work.watch.lap("machines", sum(machine.seconds for machine in machines))
    return machines


class SvmMethod(Method):
    """LIBSVM on a source of Gram rows: inner products, or a kernel's `transform`.

    Pairs of classes or each class against the rest are trained where documents have exactly one class; each class
    against the rest where they may have several.
    """

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

    def solve_split(self, work: SplitData) -> SettingPredictions:
        """Train on a split and predict its test documents."""
        source, machines = self._trained(work)
        values = np.empty((len(work.split.test), 0))
        if machines.machines:
            values = svm_decision_values(machines, source.tested, work.matrices.jobs)
        work.watch.lap("testing")
        return self._decided(work, machines, values, work.watch.seconds())

    def solve_joined(
        self, methods: Sequence[SvmMethod], work: SplitData, *, once: bool
    ) -> list[SettingPredictions | Exception]:
        """Train machines that share inner products on a split; return the predictions or the error of each.

        The seconds of each machine's training are those of LIBSVM, divided by the number of threads; other seconds are
        divided equally.
        """
        matrices, jobs, sizes = work.matrices, work.matrices.jobs, by_class(work)[1]
        products = work.products(self.spec, self.spec.build_kernel().exponent, by_class=True, once=once)
        results: dict[int, SettingPredictions | Exception] = {}
        problems, tested = dict[int, SvmProblem](), dict[int, Any]()
        grams: dict[Any, Any] = {}  # equal kernels are evaluated once
        for number, method in enumerate(methods):
            try:
                source = products_source(work, method.spec, products, grams)
            except ValueError as error:
                results[number] = error
                continue
            classifier, tested[number] = method.spec.classifier.build(), source.tested
            problems[number] = SvmProblem(source.train, source.cost, classifier.epsilon, classifier.ridge)
        work.watch.lap("products")
        together, nodes, budget = Stopwatch(), matrices.nodes, matrices.budget
        trained = train_multiclass_together([*problems.values()], sizes, jobs=jobs, nodes=nodes, budget=budget)
        together.lap("kernel")
        decision_values = svm_decision_values_together(trained, [*tested.values()], jobs=jobs)
        together.lap("testing")
        solver = [0.0 if isinstance(t, Exception) else sum(m.seconds for m in t.machines) / jobs for t in trained]
        together.lap("kernel", -sum(solver))
        for number, machines, values, training in zip(problems, trained, decision_values, solver, strict=True):
            if isinstance(machines, Exception) or isinstance(values, Exception):
                results[number] = machines if isinstance(machines, Exception) else values  # type: ignore[assignment]
                continue
            seconds = work.watch.seconds() + np.maximum(together.seconds(), 0.0) / len(problems)
            seconds[TIMERS.index("training")] += training
            results[number] = self._decided(work, machines, values, seconds)
        return [results[number] for number in range(len(methods))]

    def fit(self, work: SplitData) -> FittedMethod:
        """Train on a split and return the trained method, see `Method.fit`."""
        if not is_elementwise_kernel(type(self.spec.build_kernel())):
            return super().fit(work)
        if self.spec.representation.dirichlet:
            raise ValueError("a method with a Dirichlet prior has no model to keep, and so no threshold or fusion")
        source, trained = self._trained(work)
        return FittedMachines.of(work, self.spec, source.rows, trained)

    def _trained(self, work: SplitData) -> tuple[GramSource, MulticlassSvm]:
        """Return the kernel values of a split and the machines that are trained on them."""
        classifier, kernel, matrices = self.spec.classifier.build(), self.spec.build_kernel(), work.matrices
        if is_elementwise_kernel(type(kernel)):
            source = products_source(work, self.spec, work.products(self.spec, kernel.exponent), {})
        else:
            source = rows_source(work, self.spec)
        if work.problem.multilabel:
            machines = train_against_rest(work, self.spec, source.train, source.cost)
            bounds = np.array([0, len(source.rows)], dtype=np.intp)  # rows of several classes can't be sorted by class
            return source, MulticlassSvm("one-vs-rest", bounds, machines)
        problem = SvmProblem(source.train, source.cost, classifier.epsilon, classifier.ridge)
        options = {"scheme": classifier.scheme, "jobs": matrices.jobs, "nodes": matrices.nodes}
        trained = train_multiclass(problem, by_class(work)[1], **options)
        work.watch.lap("training")
        return source, trained

    @staticmethod
    def _decided(work: SplitData, machines: MulticlassSvm, values: Array, seconds: Array) -> SettingPredictions:
        """Return the predictions of a split from the decision values of its machines, shape (m, n_machines)."""
        decisions = svm_decisions(work.learned, machines, check_finite_values(values))
        if not work.problem.multilabel and machines.scheme == "one-vs-one" and values.shape[1] > 1:
            decisions = decisions._replace(values=None)  # where pairs of classes vote, values are of no class
        return decisions.timed(seconds)


class HyperplaneMethod(Method):
    """LIBSVM on the inner product of points: a hyperplane for each class, where documents may have several."""

    def fit(self, work: SplitData) -> FittedHyperplanes:
        """Train on a split and return the trained method, see `Method.fit`."""
        points, gram, cost = linear_gram(work, self.spec)
        machines = train_against_rest(work, self.spec, DenseRows(gram), cost)
        return FittedHyperplanes(work.learned, work.view(self.spec), linear_svm_hyperplanes(points, machines))


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
        first, classifier = problem.documents.labels == 0, self.spec.classifier.build()
        key = problem.key, self.spec.representation, repr(self.spec.kernel), classifier.scale_C, classifier.ridge
        rows = np.arange(len(problem.documents))
        whole = self.data_of(problem, Split("all", rows, rows[:0]), terms, matrices)
        matrix, spent = matrices.shared("kernel matrix", key, lambda: self._matrix(whole, classifier))
        watch, parameters = Stopwatch(), {"C": classifier.C, "epsilon": classifier.epsilon, "nodes": matrices.nodes}
        problems = [(split.train[first[split.train]], split.train[~first[split.train]], split.test) for split in splits]
        values = batch_decision_values(matrix, problems, jobs=matrices.jobs, **parameters)
        watch.lap("training")
        seconds = (spent + watch.seconds()) / len(splits)
        # LIBSVM's rule: only a positive decision value predicts the first class.
        decisions = (Decisions((v <= 0).astype(np.int32), v == 0, np.column_stack([v, -v])) for v in values)
        return [each.timed(seconds) for each in decisions]

    def _matrix(self, work: SplitData, classifier: SupportVectorClassifier) -> tuple[Array, Array]:
        """Return the kernel matrix of all documents of the task divided by C's unit, and its seconds."""
        kernel, rows, normalization = self.spec.build_kernel(), work.split.train, self.spec.representation.normalization
        products = work.products(self.spec, kernel.exponent)
        matrix = LazyGram(kernel, products, normalization, rows, rows).block(0, len(rows))
        unit = mean_self_product(np.diagonal(matrix)) if classifier.scale_C == "mean-self-product" else 1.0
        if classifier.ridge:
            matrix[np.diag_indices_from(matrix)] += classifier.ridge
        if unit != 1.0:
            matrix /= unit
        work.watch.lap("kernel")
        return matrix, work.watch.seconds()
