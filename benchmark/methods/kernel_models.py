"""One-vs-rest support vector machines, for documents with several classes and for kernels that learn a model.

HP-TOP computes its features from the linear machines and shares them with the linear method. Documents without a class
form an additional class, "other", in HP-TOP's mixture only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchmark.classifiers.hyperplanes import linear_svm_hyperplanes
from benchmark.classifiers.libsvm import BinarySvm, DenseRows
from benchmark.evaluation.predictions import METHOD_TIMERS
from benchmark.kernels.models.plsi import FittedPLSI
from benchmark.kernels.products import self_products
from benchmark.methods.fitted import FittedHyperplanes
from benchmark.methods.split_data import cache_entry
from benchmark.methods.stopwatch import Stopwatch
from benchmark.methods.svm_method import PerSplit, train_each_class
from benchmark.representation import canonical_csr

if TYPE_CHECKING:
    from collections.abc import Sequence

    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.classifiers.hyperplanes import Hyperplanes
    from benchmark.classifiers.svm import SupportVectorClassifier
    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.evaluation.protocols import Split
    from benchmark.kernels.models.fisher import PLSIFisher
    from benchmark.methods.matrix_cache import Arrays
    from benchmark.methods.problem import Problem
    from benchmark.methods.split_data import SplitData

    Array = NDArray[np.float64]

OTHER_CLASS = "other"
#: Cached arrays of a PLSI model: P(w|z), P(z|d) of the training documents, P(z), and P(z|d) of the test documents.
_OF_MODEL = ("words", "documents", "classes", "tested")


@dataclass(frozen=True, eq=False)
class LinearMachines:
    """Linear support vector machine of each class that can be learned, with the training times.

    Parameters
    ----------
    points, tested : CSR arrays, shapes (n, V) and (m, V)
        Training and test documents.
    gram : float64 array, shape (n, n)
        Inner products of `points`, in the memory of the matrix cache.
    machines : tuple of BinarySvm
        One for each class.
    other : BinarySvm or None
        Machine of the documents without a class; None unless some training documents have a class and some don't.
    seconds : float64 array, shape (6,)
        Seconds by `TIMERS`, up to and including the training of all machines.
    """

    points: sp.csr_array
    tested: sp.csr_array
    gram: Array
    machines: tuple[BinarySvm, ...]
    other: BinarySvm | None
    seconds: Array

    @property
    def hyperplanes(self) -> Hyperplanes:
        """Hyperplanes of the classes."""
        return linear_svm_hyperplanes(self.points, self.machines)


def linear_machines(work: SplitData, spec: MethodSpec) -> LinearMachines:
    """Return the linear machines of a split, trained once for consecutive methods that need the same machines."""
    classifier = spec.classifier.build()
    machine = (classifier.C, classifier.epsilon, classifier.ridge, classifier.cache_mb, classifier.scale_C)
    documents = (work.problem.key, work.split.train.tobytes(), work.split.test.tobytes())
    key = (*documents, spec.representation, work.terms, work.aggregate, machine)
    return work.matrices.shared(key, lambda: _linear_machines(work, spec, classifier))


def _linear_machines(work: SplitData, spec: MethodSpec, classifier: SupportVectorClassifier) -> LinearMachines:
    everything, learned, matrices = work.points(spec), work.learned, work.matrices
    points, tested = canonical_csr(everything[work.split.train]), canonical_csr(everything[work.split.test])
    members, names = work.members, learned.names(work.problem)
    C = classifier.cost(self_products(everything)) if classifier.scale_C != "one" else classifier.C
    watch = Stopwatch()
    gram = matrices.square(points)
    watch.lap("products")
    rest = np.logical_not(members.any(axis=1)).reshape(-1, 1)
    beside = [OTHER_CLASS] if rest.any() and not rest.all() else []  # first: it usually takes longest
    targets = np.hstack([rest[:, : len(beside)], members[:, learned.columns]])

    def learn() -> Arrays:
        """Train the machines and return their arrays and seconds."""
        watch = Stopwatch()
        matrices.nodes.fill(DenseRows.square(gram), matrices.jobs, classifier.ridge)
        watch.lap("kernel")
        machines = train_each_class(work, classifier, C, watch, targets, (*beside, *names))
        return {**_as_arrays(machines), "seconds": watch.seconds()}

    parameters = {"C": C, **{name: getattr(classifier, name) for name in ("epsilon", "ridge", "cache_mb")}}
    linear = replace(spec, kernel=None)
    entry = cache_entry(work.problem, linear, LinearMachines, "hyperplanes", work, **parameters)
    arrays = matrices.cached(*entry, learn)
    machines, seconds = _from_arrays(arrays), arrays["seconds"] + watch.seconds("products")
    other = machines[0] if beside else None
    return LinearMachines(points, tested, gram, machines[len(beside) :], other, seconds)


def _as_arrays(machines: Sequence[BinarySvm]) -> Arrays:
    """Return the machines as concatenated arrays."""
    return {
        "support": np.concatenate([np.empty(0, dtype=np.intp), *(each.support for each in machines)]),
        "coefficients": np.concatenate([np.empty(0), *(each.coefficients for each in machines)]),
        "ends": np.cumsum([len(each.support) for each in machines], dtype=np.intp),
        "rho": np.array([each.rho for each in machines]),
        "of_each": np.array([each.seconds for each in machines]),
    }


def _from_arrays(arrays: Arrays) -> tuple[BinarySvm, ...]:
    """Return the machines that `_as_arrays` has concatenated."""
    support, coefficients = (np.split(arrays[name], arrays["ends"][:-1]) for name in ("support", "coefficients"))
    rows = zip(support, coefficients, arrays["rho"].tolist(), arrays["of_each"].tolist(), strict=False)
    return tuple(BinarySvm(*row) for row in rows) if len(arrays["ends"]) else ()


class LinearOneVsRest(PerSplit):
    """Linear machines as hyperplanes, one for each class: decision values need no kernel values."""

    def _split(self, work: SplitData) -> SettingPredictions:
        linear = linear_machines(work, self.spec)
        watch = Stopwatch()
        values = linear.hyperplanes.values(linear.tested)
        watch.lap("testing")
        return work.learned.decide(values).timed(linear.seconds + watch.seconds())

    def _fitted(self, work: SplitData) -> FittedHyperplanes:
        return FittedHyperplanes(work.view(self.spec), work.learned, linear_machines(work, self.spec).hyperplanes)


class HyperplaneTopMethod(PerSplit):
    """HP-TOP: one machine for each class, each on its own kernel, computed from the linear machines of all classes.

    HP-TOP can't be used where a class has no density: a single training document, or no variance. Its feature
    extraction includes the time of the linear machines, except for the inner products, which are timed as "products".
    """

    def _split(self, work: SplitData) -> SettingPredictions:
        linear = linear_machines(work, self.spec)
        watch, classifier = Stopwatch(), self.spec.classifier.build()
        members, matrices, learned = work.members, work.matrices, work.learned
        names = learned.names(work.problem)
        mixture, machines, mixed = members[:, learned.columns], linear.machines, names
        if linear.other is not None:
            none = np.logical_not(members.any(axis=1)).reshape(-1, 1)
            mixture, machines, mixed = np.hstack([mixture, none]), (*machines, linear.other), (*names, OTHER_CLASS)
        if len(mixed) < 2:
            raise ValueError(f"HP-TOP needs at least two classes, and the training documents have {len(mixed)}")
        top = self.spec.build_kernel().set_params(
            C=classifier.C, epsilon=classifier.epsilon, cache_mb=classifier.cache_mb, jobs=matrices.jobs
        )
        top.fit(linear.points, mixture, categories=mixed, linear=linear.gram, machines=machines)
        watch.lap("extraction")
        values = top.solve_targets(range(len(names)), linear.tested, matrices.nodes, watch.lap, watch.book)
        return learned.decide(values).timed(_top_seconds(linear, watch.seconds()))


class FisherKernelMethod(PerSplit):
    """One-vs-rest machines on the Fisher kernel of PLSI models of the split's training documents.

    The kernel is the inner product of the models' scores, so a machine is a hyperplane in the space of the scores.
    """

    @property
    def uses_seed(self) -> bool:
        """True: PLSI starts from random parameters."""
        return True

    def _split(self, work: SplitData) -> SettingPredictions:
        counts, split, matrices = work.selected_counts, work.split, work.matrices
        watch, classifier = Stopwatch(), self.spec.classifier.build()
        model, folded, seconds = self._model(work, counts)
        watch.book("extraction", seconds[0])
        gram = matrices.square(model.scores_)
        matrices.nodes.fill(DenseRows.square(gram), matrices.jobs, classifier.ridge)
        watch.lap("kernel")
        machines = train_each_class(work, classifier, classifier.C, watch)
        values = linear_svm_hyperplanes(model.scores_, machines).values(model.scores(counts[split.test], folded))
        watch.lap("testing")
        watch.book("testing", seconds[1])
        return work.learned.decide(values).timed(watch.seconds())

    def _model(self, work: SplitData, counts: sp.csr_array) -> tuple[PLSIFisher, list[Array], Array]:
        """Return the kernel with its models, the test documents folded into each model, and the seconds of both.

        The models are cached instead of the Gram matrix: they take a hundredth of its bytes, and computing the matrix
        is fast.
        """
        split, kernel = work.split, self.spec.build_kernel().set_params(seed=plsi_seed(work.problem, work.split))
        trained = counts[split.train]

        def learn() -> Arrays:
            """Fit the PLSI models, fold in the test documents and return the arrays of both."""
            watch = Stopwatch()
            kernel.fit(trained)
            watch.lap("extraction")
            folded = kernel.fold(counts[split.test])
            watch.lap("testing")
            arrays = {"seconds": watch.seconds()[[METHOD_TIMERS.index("extraction"), METHOD_TIMERS.index("testing")]]}
            for number, (model, tested) in enumerate(zip(kernel.models_, folded, strict=True)):
                parts = model.word_given_class, model.class_given_document, model.classes, tested
                arrays |= {f"{number}/{name}": array for name, array in zip(_OF_MODEL, parts, strict=True)}
            return arrays

        entry = cache_entry(work.problem, self.spec, type(self), "PLSI models", work)
        arrays = work.matrices.cached(*entry, learn)
        by_model = [[arrays[f"{n}/{name}"] for name in _OF_MODEL] for n in range(len(kernel.n_classes))]
        if not hasattr(kernel, "scores_"):
            kernel.take(trained, [FittedPLSI(*parts[:-1]) for parts in by_model])
        return kernel, [parts[-1] for parts in by_model], arrays["seconds"]


def plsi_seed(problem: Problem, split: Split) -> int:
    """Return the seed of PLSI's random starting parameters, different for each split."""
    return int(np.random.default_rng([problem.seed, len(split.train), split.number, 1]).integers(2**31))


def _top_seconds(linear: LinearMachines, top: Array) -> Array:
    """Return HP-TOP's seconds by `TIMERS`: `top`, plus the linear machines' seconds as feature extraction."""
    products, extraction = (METHOD_TIMERS.index(part) for part in ("products", "extraction"))
    seconds, of_linear = top.copy(), linear.seconds[: len(METHOD_TIMERS)]
    seconds[products] += of_linear[products]
    seconds[extraction] += of_linear.sum() - of_linear[products]
    return seconds
