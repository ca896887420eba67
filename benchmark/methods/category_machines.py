"""Machines that tell each class from all others: of documents with several classes, and on kernels that learn a model.

HP-TOP's features are made of the linear machines, and the two share them. Documents without any of the classes are one
class more, "other", of HP-TOP's mixture alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.classifiers.hyperplanes import hyperplanes_of, train_categories
from benchmark.classifiers.libsvm import DenseRows, Machine
from benchmark.classifiers.svm import Machines, SupportVectorClassifier, decide
from benchmark.evaluation.predictions import PARTS
from benchmark.kernels.gram import Gram
from benchmark.kernels.products import self_products
from benchmark.methods.base import Stopwatch
from benchmark.methods.fitted import FittedHyperplanes, FittedMachines, learned_of
from benchmark.methods.kernel_machines import OnSplits, cost, gram_rows, kernel_of, kernel_on
from benchmark.methods.learned import decided_by_class, decided_by_largest, learned_classes
from benchmark.representation import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec, Representation
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.kernels.gram import InnerProducts
    from benchmark.methods.base import Problem
    from benchmark.methods.weights import Work
    from benchmark.methods.workbench import Workbench

    Array = NDArray[np.float64]

OTHER = "other"


@dataclass(frozen=True, eq=False)
class LinearMachines:
    """The linear machine of each class that can be learned, with its clock.

    Parameters
    ----------
    points, tested : CSR arrays, shapes (n, V) and (m, V)
        Training and tested documents.
    gram : float64 array, shape (n, n)
        Inner products of `points`, in the workbench's memory.
    machines : tuple of Machine
    other : Machine or None
        Of the documents without any class, where there are such and others.
    seconds : float64 array, shape (6,)
        By `CLOCKS`, until the classes' machines were trained.
    other_seconds : float
        Of the training of `other`, done beside the classes'.
    """

    points: sp.csr_array
    tested: sp.csr_array
    gram: Array
    machines: tuple[Machine, ...]
    other: Machine | None
    seconds: Array
    other_seconds: float


def linear_machines(work: Work, spec: MethodSpec) -> LinearMachines:
    """Those of a split, trained once for all methods that ask for the same one after the other."""
    classifier = spec.classifier.build()
    machine = (classifier.C, classifier.epsilon, classifier.ridge, classifier.cache_mb, classifier.unit)
    documents = (work.problem.key, work.split.train.tobytes(), work.split.test.tobytes())
    key = (*documents, spec.representation, work.terms, work.over_classes, machine)
    return work.bench.shared(key, lambda: _linear_machines(work, spec.representation, classifier))


def _linear_machines(work: Work, representation: Representation, classifier: SupportVectorClassifier) -> LinearMachines:
    everything, members, bench = work.points(representation), work.members, work.bench
    points, tested = canonical(everything[work.split.train]), canonical(everything[work.split.test])
    columns, names = learned_classes(members, work.problem.documents.classes)
    C = classifier.cost(self_products(everything)) if classifier.unit != "one" else classifier.C
    watch = Stopwatch()
    gram = bench.square(points)
    watch.lap("products")
    bench.nodes.fill(DenseRows.square(gram), bench.jobs, classifier.ridge)
    watch.lap("kernel")
    rest = np.logical_not(members.any(axis=1)).reshape(-1, 1)
    beside = [OTHER] if rest.any() and not rest.all() else []  # first: it takes longest, as a rule
    asked = np.hstack([rest[:, : len(beside)], members[:, columns]])
    machines = _trained(bench, classifier, C, asked, (*beside, *names), watch)
    other, other_seconds = machines[0] if beside else None, 0.0
    if other is not None:  # its part of what was done side by side
        other_seconds = float(watch.seconds("training").sum() * other.seconds / watch.seconds("machines").sum())
        watch.book("training", -other_seconds)
        watch.book("machines", -other.seconds)
    return LinearMachines(points, tested, gram, machines[len(beside) :], other, watch.seconds(), other_seconds)


class LinearCategories(OnSplits):
    """Linear machines as hyperplanes, one for each class: decisions are made without a kernel value."""

    def _split(self, work: Work) -> SettingPredictions:
        linear = linear_machines(work, self.spec)
        watch = Stopwatch()
        values = hyperplanes_of(linear.points, linear.machines).values(linear.tested)
        watch.lap("testing")
        return _decided(work, values, linear.seconds + watch.seconds())

    def _fitted(self, work: Work) -> FittedHyperplanes:
        linear = linear_machines(work, self.spec)
        return FittedHyperplanes(learned_of(work, self.spec), hyperplanes_of(linear.points, linear.machines))


class KernelCategories(OnSplits):
    """Machines on one kernel matrix, one for each class: any kernel that is elementwise in inner products."""

    def _split(self, work: Work) -> SettingPredictions:
        watch = Stopwatch()
        machines, products = self._trained(work, watch)
        split, normalization = work.split, self.spec.representation.normalization
        rows = Gram(kernel_of(self.spec), products, normalization, split.test, split.train)
        values = decide(machines, rows, work.bench.jobs) if machines.machines else np.empty((len(split.test), 0))
        watch.lap("testing")
        return _decided(work, values, watch.seconds())

    def _fitted(self, work: Work) -> FittedMachines:
        machines, _ = self._trained(work, Stopwatch())
        return FittedMachines.of(learned_of(work, self.spec), work.selected_counts()[work.split.train], machines)

    def _trained(self, work: Work, watch: Stopwatch) -> tuple[Machines, InnerProducts]:
        kernel, classifier = kernel_of(self.spec), self.spec.classifier.build()
        products = work.products(self.spec.representation, kernel.exponent, watch)
        normalization, split, bench = self.spec.representation.normalization, work.split, work.bench
        bench.nodes.fill(Gram(kernel, products, normalization, split.train, split.train), bench.jobs, classifier.ridge)
        watch.lap("kernel")
        columns, names = learned_classes(work.members, work.problem.documents.classes)
        C = cost(classifier, kernel, products, normalization)
        machines = _trained(bench, classifier, C, work.members[:, columns], names, watch)
        bounds = np.array([0, len(split.train)], dtype=np.intp)  # rows of several classes have no order by class
        return Machines("one-vs-rest", bounds, machines), products


class GramCategories(OnSplits):
    """Machines on the Gram rows that a kernel's own `transform` gives, one for each class."""

    def _split(self, work: Work) -> SettingPredictions:
        watch, classifier, split, bench = Stopwatch(), self.spec.classifier.build(), work.split, work.bench
        points = work.points(self.spec.representation)
        watch.lap("extraction")
        gram, tested = gram_rows(kernel_on(work, self.spec), points[split.train], work.members, points[split.test])
        bench.nodes.fill(DenseRows.square(gram), bench.jobs, classifier.ridge)
        watch.lap("kernel")
        columns, names = learned_classes(work.members, work.problem.documents.classes)
        machines = _trained(bench, classifier, classifier.C, work.members[:, columns], names, watch)
        rows = DenseRows(tested, np.arange(len(tested)), np.arange(len(gram)))
        bounds = np.array([0, len(gram)], dtype=np.intp)
        whole = Machines("one-vs-rest", bounds, machines)
        values = decide(whole, rows, bench.jobs) if machines else np.empty((len(tested), 0))
        watch.lap("testing")
        return _decided(work, values, watch.seconds())


class TopMachines(OnSplits):
    """HP-TOP: a machine for each class, on a kernel of its own that is made of all classes' linear machines.

    It can't be used where a class has no density: one training document, or no variance. The linear machines' time is
    part of its feature extraction, the inner products are part of both.
    """

    def _split(self, work: Work) -> SettingPredictions:
        linear = linear_machines(work, self.spec)
        watch, classifier = Stopwatch(), self.spec.classifier.build()
        members, bench = work.members, work.bench
        columns, names = learned_classes(members, work.problem.documents.classes)
        mixture, machines, mixed = members[:, columns], linear.machines, names
        if linear.other is not None:
            none = np.logical_not(members.any(axis=1)).reshape(-1, 1)
            mixture, machines, mixed = np.hstack([mixture, none]), (*machines, linear.other), (*names, OTHER)
        if len(mixed) < 2:
            raise ValueError(f"HP-TOP needs two categories at least, and the training documents have {len(mixed)}")
        top = kernel_of(self.spec).set_params(
            C=classifier.C, epsilon=classifier.epsilon, cache_mb=classifier.cache_mb, jobs=bench.jobs
        )
        top.fit(linear.points, mixture, categories=mixed, linear=linear.gram, machines=machines)
        watch.lap("extraction")
        values = top.solve_targets(range(len(names)), linear.tested, bench.nodes, watch.lap, watch.book)
        return _decided(work, values, _top_seconds(linear, watch.seconds()))


class FisherMachines(OnSplits):
    """Machines on the Fisher kernel of PLSI models of the split's training documents, one for each class.

    The kernel is the inner product of the models' scores, so that a machine is a hyperplane among the scores.
    """

    #: PLSI starts at random.
    uses_seed: ClassVar[bool] = True

    def _split(self, work: Work) -> SettingPredictions:
        counts, split, bench = work.selected_counts(), work.split, work.bench
        watch, classifier = Stopwatch(), self.spec.classifier.build()
        model = kernel_of(self.spec).set_params(seed=seed_of(work.problem, split)).fit(counts[split.train])
        watch.lap("extraction")
        # A latent class has a score for each word, and its own.
        gram = bench.square(model.scores_, width=model.n_features_in_ + 1)
        bench.nodes.fill(DenseRows.square(gram), bench.jobs, classifier.ridge)
        watch.lap("kernel")
        columns, names = learned_classes(work.members, work.problem.documents.classes)
        machines = _trained(bench, classifier, classifier.C, work.members[:, columns], names, watch)
        values = hyperplanes_of(model.scores_, machines).values(model.scores(counts[split.test]))
        watch.lap("testing")
        return _decided(work, values, watch.seconds())


def seed_of(problem: Problem, split: Split) -> int:
    """Of PLSI's random starts: another one for each split."""
    return int(np.random.default_rng([problem.seed, len(split.train), split.number, 1]).integers(2**31))


def _top_seconds(linear: LinearMachines, own: Array) -> Array:
    """HP-TOP's seconds: its own, and those of the linear machines as what its features are extracted by."""
    products, extraction = (PARTS.index(part) for part in ("products", "extraction"))
    seconds, theirs = own.copy(), linear.seconds[: len(PARTS)]
    seconds[products] += theirs[products]
    seconds[extraction] += theirs.sum() - theirs[products] + linear.other_seconds
    return seconds


def _trained(
    bench: Workbench,
    classifier: SupportVectorClassifier,
    C: float,
    members: NDArray[np.bool_],
    names: Sequence[str],
    watch: Stopwatch,
) -> tuple[Machine, ...]:
    """A machine for each column of `members`, on the kernel matrix that was written last."""
    parameters = {"C": C, "epsilon": classifier.epsilon, "cache_mb": classifier.cache_mb}
    machines = train_categories(bench.nodes, members, names, **parameters, jobs=bench.jobs)
    watch.lap("training")
    watch.book("machines", sum(machine.seconds for machine in machines))
    return machines


def _decided(work: Work, values: Array, seconds: Array) -> SettingPredictions:
    columns, _ = learned_classes(work.members, work.problem.documents.classes)
    if work.problem.several:
        return decided_by_class(work.members, columns, values, seconds)
    return decided_by_largest(work.members.shape[1], columns, values, seconds)
