"""Machines that tell each class from all others: of documents with several classes, and on kernels that learn a model.

HP-TOP's features are made of the linear machines, and the two share them. Documents without any of the classes are one
class more, "other", of HP-TOP's mixture alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.classifiers.hyperplanes import hyperplanes_of, train_categories
from benchmark.classifiers.libsvm import DenseRows, Machine
from benchmark.classifiers.svm import Machines, SupportVectorClassifier, decide
from benchmark.evaluation.predictions import CLOCKS, PARTS
from benchmark.kernels.gram import Gram
from benchmark.kernels.models.plsi import Fitted
from benchmark.kernels.products import self_products
from benchmark.methods.base import Stopwatch
from benchmark.methods.fitted import FittedHyperplanes, FittedMachines, learned_of
from benchmark.methods.kernel_machines import OnSplits, cached_rows, cost, kernel_of
from benchmark.methods.learned import decided_by_class, decided_by_largest, learned_classes
from benchmark.methods.weights import named
from benchmark.representation import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.kernels.gram import InnerProducts
    from benchmark.kernels.models.fisher import PLSIFisher
    from benchmark.methods.base import Problem
    from benchmark.methods.weights import Work
    from benchmark.methods.workbench import Arrays, Workbench

    Array = NDArray[np.float64]

OTHER = "other"
#: What is kept of a PLSI model: P(w|z), P(z|d) of the training documents, P(z), and P(z|d) of the tested ones.
_OF_MODEL = ("words", "documents", "classes", "tested")


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
    return work.bench.shared(key, lambda: _linear_machines(work, spec, classifier))


def _linear_machines(work: Work, spec: MethodSpec, classifier: SupportVectorClassifier) -> LinearMachines:
    everything, members, bench = work.points(spec.representation), work.members, work.bench
    points, tested = canonical(everything[work.split.train]), canonical(everything[work.split.test])
    columns, names = learned_classes(members, work.problem.documents.classes)
    C = classifier.cost(self_products(everything)) if classifier.unit != "one" else classifier.C
    watch = Stopwatch()
    gram = bench.square(points)
    watch.lap("products")
    rest = np.logical_not(members.any(axis=1)).reshape(-1, 1)
    beside = [OTHER] if rest.any() and not rest.all() else []  # first: it takes longest, as a rule
    asked = np.hstack([rest[:, : len(beside)], members[:, columns]])

    def learn() -> Arrays:
        watch = Stopwatch()
        bench.nodes.fill(DenseRows.square(gram), bench.jobs, classifier.ridge)
        watch.lap("kernel")
        machines = _trained(bench, classifier, C, asked, (*beside, *names), watch)
        return {**_as_arrays(machines), "seconds": watch.seconds()}

    linear = replace(spec, kernel=None)
    own = {"C": C, **{name: getattr(classifier, name) for name in ("epsilon", "ridge", "cache_mb")}}
    terms = work.terms, work.over_classes
    arrays = bench.cached(*named(work.problem, linear, LinearMachines, "hyperplanes", work.split, terms, **own), learn)
    machines, seconds, other_seconds = _from_arrays(arrays), arrays["seconds"].copy(), 0.0
    other = machines[0] if beside else None
    if other is not None:  # its part of what was done side by side
        training, one_by_one = CLOCKS.index("training"), CLOCKS.index("machines")
        other_seconds = float(seconds[training] * other.seconds / seconds[one_by_one])
        seconds[training] -= other_seconds
        seconds[one_by_one] -= other.seconds
    seconds += watch.seconds("products")
    return LinearMachines(points, tested, gram, machines[len(beside) :], other, seconds, other_seconds)


def _as_arrays(machines: Sequence[Machine]) -> Arrays:
    """Return machines end to end."""
    return {
        "support": np.concatenate([np.empty(0, dtype=np.intp), *(each.support for each in machines)]),
        "coefficients": np.concatenate([np.empty(0), *(each.coefficients for each in machines)]),
        "ends": np.cumsum([len(each.support) for each in machines], dtype=np.intp),
        "rho": np.array([each.rho for each in machines]),
        "of_each": np.array([each.seconds for each in machines]),
    }


def _from_arrays(arrays: Arrays) -> tuple[Machine, ...]:
    """Return the machines back."""
    support, coefficients = (np.split(arrays[name], arrays["ends"][:-1]) for name in ("support", "coefficients"))
    rows = zip(support, coefficients, arrays["rho"].tolist(), arrays["of_each"].tolist(), strict=False)
    return tuple(Machine(*row) for row in rows) if len(arrays["ends"]) else ()


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
        gram, tested = cached_rows(work, self, points, split.train, work.members)
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
        model, folded, seconds = self._model(work, counts)
        watch.book("extraction", seconds[0])
        # A latent class has a score for each word, and its own.
        gram = bench.square(model.scores_, width=model.n_features_in_ + 1)
        bench.nodes.fill(DenseRows.square(gram), bench.jobs, classifier.ridge)
        watch.lap("kernel")
        columns, names = learned_classes(work.members, work.problem.documents.classes)
        machines = _trained(bench, classifier, classifier.C, work.members[:, columns], names, watch)
        values = hyperplanes_of(model.scores_, machines).values(model.scores(counts[split.test], folded))
        watch.lap("testing")
        watch.book("testing", seconds[1])
        return _decided(work, values, watch.seconds())

    def _model(self, work: Work, counts: sp.csr_array) -> tuple[PLSIFisher, list[Array], Array]:
        """Return the kernel with its models, the tested documents folded into each, and the seconds of both.

        The models are kept rather than the Gram matrix: they take a hundredth of its bytes, and it is soon computed.
        """
        split, kernel = work.split, kernel_of(self.spec).set_params(seed=seed_of(work.problem, work.split))
        trained = counts[split.train]

        def learn() -> Arrays:
            watch = Stopwatch()
            kernel.fit(trained)
            watch.lap("extraction")
            folded = kernel.fold(counts[split.test])
            watch.lap("testing")
            arrays = {"seconds": watch.seconds()[[PARTS.index("extraction"), PARTS.index("testing")]]}
            for number, (model, own) in enumerate(zip(kernel.models_, folded, strict=True)):
                parts = model.word_given_class, model.class_given_document, model.classes, own
                arrays |= {f"{number}/{name}": array for name, array in zip(_OF_MODEL, parts, strict=True)}
            return arrays

        terms = work.terms, work.over_classes
        arrays = work.bench.cached(*named(work.problem, self.spec, type(self), "PLSI models", split, terms), learn)
        of_each = [[arrays[f"{n}/{name}"] for name in _OF_MODEL] for n in range(len(kernel.models))]
        if not hasattr(kernel, "scores_"):
            kernel.take(trained, [Fitted(plsi, *own[:-1]) for plsi, own in zip(kernel.models, of_each, strict=True)])
        return kernel, [own[-1] for own in of_each], arrays["seconds"]


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
