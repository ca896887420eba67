"""Support vector machines on kernels that are elementwise functions of inner products, one class a document."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.blocks import blas_threads, largest_magnitude, rows_per_block, run_blocks
from benchmark.classifiers.libsvm import train
from benchmark.classifiers.many import BinaryProblem, solve_many
from benchmark.classifiers.one_vs_one import Clock, Wanted
from benchmark.classifiers.svm import (
    Machines,
    SupportVectorClassifier,
    decide,
    decide_together,
    fit_machines,
    fit_together,
    mean_self_product,
    predict,
)
from benchmark.compiled import numba_threads
from benchmark.evaluation.predictions import SettingPredictions
from benchmark.kernels.gram import Gram, self_values
from benchmark.methods.answers import real_numbers
from benchmark.methods.base import Problem, Stopwatch
from benchmark.methods.fitted import FittedMachines, learned_of
from benchmark.methods.weights import Work, learns, named, shared_products
from benchmark.registries import shipped
from benchmark.tags import tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.protocols import Split
    from benchmark.kernels.base import Kernel
    from benchmark.kernels.gram import InnerProducts
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.workbench import Workbench


@dataclass(frozen=True)
class OnSplits:
    """A method that solves each split by itself.

    Parameters
    ----------
    spec : MethodSpec
    over_classes : str
        How terms are ranked for all classes, where they are selected.
    """

    spec: MethodSpec
    over_classes: str = "sum"
    batched: ClassVar[bool] = False
    uses_seed: ClassVar[bool] = False

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: Workbench
    ) -> list[SettingPredictions]:
        """Train on each split and decide, see `Method.solve`."""
        with threads(bench):
            return [self._split(Work(problem, split, splits, terms, self.over_classes, bench)) for split in splits]

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: Workbench) -> FittedMethod:
        """Train on a split, see `Method.fit`."""
        with threads(bench):
            return self._fitted(Work(problem, split, [split], terms, self.over_classes, bench))

    def _split(self, work: Work) -> SettingPredictions:
        raise NotImplementedError

    def _fitted(self, work: Work) -> FittedMethod:  # noqa: ARG002
        raise ValueError(f"what the kernel {self.spec.kernel and self.spec.kernel.name!r} learns can't be kept")


class KernelMachine(OnSplits):
    """LIBSVM on each split by itself: one-vs-one or one-vs-rest, training documents sorted by class.

    Its kernel is a subclass of `Kernel`, its classifier `SupportVectorClassifier`.
    """

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: Workbench
    ) -> list[SettingPredictions]:
        """Train on each split and decide, see `Method.solve`."""
        if self.joins(terms) is None:
            return super().solve(problem, splits, terms, bench)
        (found,) = solve_joined([(self, splits)], problem, terms, bench)
        if isinstance(found, Exception):
            raise found
        return found

    def joins(self, terms: int | None) -> tuple[Any, ...] | None:
        """Return the same for machines that can be trained together; None for what is trained alone.

        A plug-in's kernel is alone: what it does to its arguments, or reads, is of its own results only.
        """
        ours = self.spec.kernel is not None and shipped(self.spec.kernel.cls)
        if not (ours and self.spec.classifier.build().scheme == "one-vs-one"):
            return None
        selected = None if terms is None else repr(self.spec.representation)
        return shared_products(self.spec), self.over_classes, selected

    def _split(self, work: Work) -> SettingPredictions:
        watch = Stopwatch()
        machines, products, rows = self._trained(work, watch)
        normalization = self.spec.representation.normalization
        gram = Gram(kernel_of(self.spec), products, normalization, work.split.test, rows)
        predicted, tied = predict(machines, decide(machines, gram, work.bench.jobs))
        watch.lap("testing")
        return SettingPredictions.of_split(predicted, tied, watch.seconds())

    def _fitted(self, work: Work) -> FittedMachines:
        machines, _, rows = self._trained(work, Stopwatch())
        return FittedMachines.of(learned_of(work, self.spec), work.selected_counts()[rows], machines)

    def _trained(self, work: Work, watch: Stopwatch) -> tuple[Machines, InnerProducts, NDArray[np.intp]]:
        """The machines, what their kernel values are made of, and the training documents in the order of theirs."""
        kernel, classifier = kernel_of(self.spec), self.spec.classifier.build()
        products = work.products(self.spec.representation, kernel.exponent, watch)
        normalization, (rows, sizes) = self.spec.representation.normalization, _by_class(work)
        machines = fit_machines(
            Gram(kernel, products, normalization, rows, rows),
            sizes,
            C=cost(classifier, kernel, products, normalization),
            epsilon=classifier.epsilon,
            scheme=classifier.scheme,
            ridge=classifier.ridge,
            cache_mb=classifier.cache_mb,
            jobs=work.bench.jobs,
            nodes=work.bench.nodes,
        )
        watch.lap("training")
        return machines, products, rows


def _by_class(work: Work) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The training documents, class after class, and how many each class has."""
    documents, train = work.problem.documents, work.split.train
    labels = documents.labels[train]
    return train[np.argsort(labels, kind="stable")], np.bincount(labels, minlength=len(documents.classes))


def solve_joined(
    asked: Sequence[tuple[KernelMachine, Sequence[Split]]],
    problem: Problem,
    terms: int | None,
    bench: Workbench,
    *,
    once: bool = False,
) -> list[list[SettingPredictions] | Exception]:
    """Train one-vs-one machines that share inner products, split by split, and decide.

    Parameters
    ----------
    asked : sequence of (KernelMachine, sequence of Split)
        Machines that `joins` the same, each with the splits that it is asked for.
    problem, terms, bench
        As of `Method.solve`.
    once : bool
        Whether nothing else needs the inner products.

    Returns
    -------
    list of (list of SettingPredictions or Exception)
        For each machine its decisions, split by split, or why it can't be trained on one of them.
    """
    found: list[dict[int, SettingPredictions]] = [{} for _ in asked]
    failed: dict[int, Exception] = {}
    splits = {id(split): split for _, own in asked for split in own}
    with threads(bench):
        for number, split in splits.items():
            wanted = [i for i, (_, own) in enumerate(asked) if any(each is split for each in own) and i not in failed]
            machines = [asked[i][0] for i in wanted]
            if not machines:
                continue
            work = Work(problem, split, [*splits.values()], terms, machines[0].over_classes, bench)
            for i, decided in zip(wanted, _solve_together(machines, work, once=once), strict=True):
                if isinstance(decided, Exception):
                    failed[i] = decided
                else:
                    found[i][number] = decided
    return [failed[i] if i in failed else [found[i][id(split)] for split in own] for i, (_, own) in enumerate(asked)]


def _solve_together(
    machines: Sequence[KernelMachine], work: Work, *, once: bool
) -> list[SettingPredictions | Exception]:
    """Train machines of the same inner products on a split and decide, or tell why they can't be trained.

    Seconds are those of all threads, divided by how many there are.
    """
    watch, bench, specs = Stopwatch(), work.bench, [machine.spec for machine in machines]
    exponent, (rows, sizes) = kernel_of(specs[0]).exponent, _by_class(work)
    products = work.products(specs[0].representation, exponent, watch, by_class=True, once=once)

    @cache  # kernels that are the same are evaluated once
    def gram(kernel: str, normalization: str, *, tested: bool) -> Gram:
        built = kernel_of(next(spec for spec in specs if repr(spec.kernel) == kernel))
        return Gram(built, products, normalization, work.split.test if tested else rows, rows)

    found, wanted = dict[int, SettingPredictions | Exception](), dict[int, Wanted]()
    asked: list[Gram] = []
    for each, spec in enumerate(specs):
        classifier, name = spec.classifier.build(), (repr(spec.kernel), spec.representation.normalization)
        try:
            C = cost(classifier, kernel_of(spec), products, name[1])
        except ValueError as error:
            found[each] = error
            continue
        own = classifier.epsilon, classifier.cache_mb, classifier.ridge
        wanted[each] = Wanted(gram(*name, tested=False), C, *own)
        asked.append(gram(*name, tested=True))
    watch.lap("products")
    training, testing = Clock(len(wanted)), Clock(len(wanted))
    budget, jobs = bench.budget, bench.jobs
    fitted = fit_together([*wanted.values()], sizes, jobs=jobs, nodes=bench.nodes, budget=budget, clock=training)
    decided = decide_together(fitted, asked, jobs=jobs, clock=testing)
    products_seconds = (training.shared + testing.shared) / jobs
    for i, (each, trained, values) in enumerate(zip(wanted, fitted, decided, strict=True)):
        if isinstance(trained, Exception) or isinstance(values, Exception):
            found[each] = trained if isinstance(trained, Exception) else values  # type: ignore[assignment]
            continue
        own_watch = Stopwatch()
        predicted, tied = predict(trained, values)
        own_watch.lap("testing")
        spent = {"products": products_seconds, "training": training.own[i] / jobs, "testing": testing.own[i] / jobs}
        for part, seconds in spent.items():
            own_watch.book(part, float(seconds))
        found[each] = SettingPredictions.of_split(predicted, tied, watch.seconds() + own_watch.seconds())
    return [found[i] for i in range(len(machines))]


class GramMachine(OnSplits):
    """LIBSVM on each split by itself, on the Gram rows that a kernel's own `transform` gives."""

    def _split(self, work: Work) -> SettingPredictions:
        watch, labels = Stopwatch(), work.problem.documents.labels
        train = work.split.train[np.argsort(labels[work.split.train], kind="stable")]
        points = work.points(self.spec.representation)
        watch.lap("extraction")
        gram, tested = cached_rows(work, self, points, train, labels[train])
        watch.lap("kernel")
        machine = self.spec.classifier.build(jobs=work.bench.jobs).fit(gram, labels[train])
        watch.lap("training")
        predicted, tied = predict(machine.machines_, machine.decision_function(tested))
        watch.lap("testing")
        return SettingPredictions.of_split(machine.classes_[predicted].astype(np.int32), tied, watch.seconds())


def cached_rows(
    work: Work, method: OnSplits, points: sp.csr_array, train: NDArray[np.intp], y: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the `gram_rows` of a split's documents, of which `train` names the training points and y their classes.

    Those that took long are kept from one run to the next.
    """

    def make() -> dict[str, NDArray[Any]]:
        kernel = kernel_on(work, method.spec)
        return dict(zip(("gram", "tested"), gram_rows(kernel, points[train], y, points[work.split.test]), strict=True))

    terms = work.terms, work.over_classes
    arrays = work.bench.cached(*named(work.problem, method.spec, type(method), "Gram matrix", work.split, terms), make)
    return arrays["gram"], arrays["tested"]


def gram_rows(
    kernel: Any, points: sp.csr_array, y: NDArray[Any], tested: sp.csr_array
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A kernel's values between training points, shape (n, n), and between tested points and these, shape (m, n).

    Parameters
    ----------
    kernel : transformer
        `fit(points, y)` remembers the training points, `transform` gives the values against them.
    points, tested : CSR arrays, shapes (n, V) and (m, V)
    y : array, shape (n,) or (n, k)
        The training points' classes.

    Raises
    ------
    ValueError
        If they have another shape, aren't finite numbers, or are all equal.
    """
    ours = shipped(type(kernel))  # a plug-in is handed copies
    kernel.fit(points if ours else points.copy(), y if ours else y.copy())
    found = []
    for rows in (points, tested):
        values = kernel.transform(rows if ours else rows.copy())
        found.append(real_numbers(values, (rows.shape[0], points.shape[0]), f"the kernel {kernel!r}"))
    check_different(kernel, found[0])
    return found[0], found[1]


def check_finite(kernel: Any, values: NDArray[np.float64]) -> None:
    """Raise ValueError where a kernel's values are no numbers."""
    if not np.isfinite(largest_magnitude(values)):
        raise ValueError(f"the kernel {kernel!r} gives values that are not finite numbers")


def check_different(kernel: Any, gram: NDArray[np.float64]) -> None:
    """Raise ValueError where a Gram matrix has but one value: it tells no documents apart."""
    if gram.size > 1 and gram.min() == gram.max():
        raise ValueError(f"the kernel {kernel!r} gives {gram.flat[0]:g} for every pair of documents: all values equal")


@dataclass(frozen=True)
class ManyMachines:
    """LIBSVM on many splits of documents of two classes, over one kernel matrix between all documents.

    Parameters
    ----------
    spec : MethodSpec
        As of `KernelMachine`; weights must not depend on the split.
    """

    spec: MethodSpec
    batched: ClassVar[bool] = True
    uses_seed: ClassVar[bool] = False

    def solve(
        self, problem: Problem, splits: Sequence[Split], terms: int | None, bench: Workbench
    ) -> list[SettingPredictions]:
        """Train on each split and decide, see `Method.solve`; each split has the same share of the seconds."""
        if terms is not None or len(problem.documents.classes) != 2:
            raise ValueError("machines over one kernel matrix need two classes, and the same terms in all splits")
        watch, labels = Stopwatch(), problem.documents.labels
        classifier = self.spec.classifier.build()
        with threads(bench):
            documents = (problem.key, self.spec.representation)
            key = (*documents, repr(self.spec.kernel), classifier.unit, classifier.ridge)
            matrix, spent, _ = bench.shared(key, lambda: self._matrix(problem, classifier, bench))
            watch.lap("kernel")
            decided = solve_many(
                matrix,
                [_binary(split, labels) for split in splits],
                C=classifier.C,
                epsilon=classifier.epsilon,
                jobs=bench.jobs,
                nodes=bench.nodes,
            )
        watch.lap("training")
        seconds = (spent + watch.seconds("training")) / len(splits)
        # LIBSVM's rule: only a positive decision is for the first class.
        return [SettingPredictions.of_split((values <= 0).astype(np.int32), values == 0, seconds) for values in decided]

    def fit(self, problem: Problem, split: Split, terms: int | None, bench: Workbench) -> FittedMachines:
        """Train on a split, see `Method.fit`; coefficients are those of the kernel itself, whatever C's unit."""
        work, classifier = Work(problem, split, [split], terms, "sum", bench), self.spec.classifier.build()
        each = _binary(split, problem.documents.labels)
        with threads(bench):
            matrix, _, unit = self._matrix(problem, classifier, bench)
            bench.nodes.fill_square(matrix, bench.jobs)
            parameters = {"C": classifier.C, "epsilon": classifier.epsilon, "cache_mb": classifier.cache_mb}
            (machine,) = train(bench.nodes, [(each.first, each.second)], **parameters, jobs=bench.jobs)
        rows = np.concatenate([each.first, each.second])
        position = np.zeros(len(matrix), dtype=np.intp)
        position[rows] = np.arange(len(rows))
        own = replace(machine, support=position[machine.support], coefficients=machine.coefficients / unit)
        bounds = np.array([0, len(each.first), len(rows)])
        machines = Machines("one-vs-one", bounds, (own,))
        return FittedMachines.of(learned_of(work, self.spec), problem.counts.matrix[rows], machines)

    def _matrix(
        self, problem: Problem, classifier: SupportVectorClassifier, bench: Workbench
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """The kernel between all documents of the task, divided by C's unit; the seconds it took, and the unit."""
        watch, representation, kernel = Stopwatch(), self.spec.representation, kernel_of(self.spec)
        everything = np.arange(len(problem.documents))
        rows = everything if learns(representation) else None
        held = bench.products(problem, representation, kernel.exponent, everything, rows)
        watch.book("products", held.seconds)
        gram = Gram(kernel, held.products, representation.normalization, everything, everything)
        n, unit = len(everything), 1.0

        def make() -> dict[str, NDArray[Any]]:
            matrix = np.empty((n, n))

            def fill(start: int, stop: int) -> None:
                matrix[start:stop] = gram.block(start, stop)

            run_blocks(fill, n, rows_per_block(n), bench.jobs)
            return {"gram": matrix}

        matrix = bench.cached(*named(problem, self.spec, type(self), "Gram matrix"), make)["gram"]
        if classifier.unit == "mean-self-product":
            unit = mean_self_product(np.diagonal(matrix))
        if classifier.ridge:
            matrix[np.diag_indices_from(matrix)] += classifier.ridge
        if unit != 1.0:
            matrix /= unit
        watch.lap("kernel")
        return matrix, watch.seconds(), unit


def _binary(split: Split, labels: NDArray[np.int32]) -> BinaryProblem:
    first = labels[split.train] == 0
    return BinaryProblem(split.train[first], split.train[~first], split.test)


def cost(classifier: SupportVectorClassifier, kernel: Kernel, products: InnerProducts, normalization: str) -> float:
    """C in the unit it is meant in: the mean of k(x, x) is that over all documents of the problem."""
    return classifier.C if classifier.unit == "one" else classifier.cost(self_values(kernel, products, normalization))


def kernel_of(spec: MethodSpec) -> Any:
    """A new kernel; ValueError where a method has none."""
    if spec.kernel is None:
        raise ValueError(f"the classifier {spec.classifier.name!r} needs a kernel")
    return spec.kernel.build()


def kernel_on(work: Work, spec: MethodSpec) -> Any:
    """A new kernel that knows the blocks of the terms and their weights, where it is a sum over them."""
    kernel = kernel_of(spec)
    if "block_of" in tags_of(kernel).set_by_run:
        weighting = work.weighting(work.selected_counts(), spec.representation)
        kernel.set_params(block_of=weighting.block_of_, weights=weighting.block_weights_)
    return kernel


@contextmanager
def threads(bench: Workbench) -> Iterator[None]:
    """Let BLAS and compiled functions use as many threads as the workbench has: one owner of the cores at a time."""
    with blas_threads(bench.jobs), numba_threads(bench.jobs):
        yield
