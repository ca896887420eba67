"""Linear machines as hyperplanes, for documents with several classes, and HP-TOP, which starts from them.

HP-TOP computes its features from the linear machines and shares them with the linear method. Documents without a class
form an additional class, "other", in HP-TOP's mixture only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchmark.classifiers.hyperplanes import Hyperplanes, machine_coefficients
from benchmark.classifiers.libsvm import DenseRows
from benchmark.evaluation.predictions import METHOD_TIMERS
from benchmark.kernels.products import self_products
from benchmark.methods.base import Method
from benchmark.methods.fitted import FittedHyperplanes
from benchmark.methods.split_data import cache_entry
from benchmark.methods.stopwatch import Stopwatch
from benchmark.methods.svm_method import limit_threads, train_each_class
from benchmark.representation import canonical_csr
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray

    from benchmark.classifiers.svm import SupportVectorClassifier
    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.methods.fitted import FittedMethod
    from benchmark.methods.matrix_cache import Arrays
    from benchmark.methods.split_data import SplitData

    Array = NDArray[np.float64]

OTHER_CLASS = "other"


@dataclass(frozen=True, eq=False)
class LinearMachines:
    """Linear support vector machine of each class that can be learned, with the training times.

    Parameters
    ----------
    points, tested : CSR arrays, shapes (n, V) and (m, V)
        Training and test documents.
    gram : float64 array, shape (n, n)
        Inner products of `points`, in the memory of the matrix cache.
    mixture : Hyperplanes
        Those of the classes and, if some training documents have a class and some don't, of those without.
    n_classes : int
    seconds : float64 array, shape (6,)
        Seconds by `TIMERS`, up to and including the training of all machines.
    """

    points: sp.csr_array
    tested: sp.csr_array
    gram: Array
    mixture: Hyperplanes
    n_classes: int
    seconds: Array

    @property
    def hyperplanes(self) -> Hyperplanes:
        """Hyperplanes of the classes."""
        return Hyperplanes(self.mixture.weights[:, : self.n_classes], self.mixture.offsets[: self.n_classes])


def linear_machines(work: SplitData, spec: MethodSpec) -> LinearMachines:
    """Return the linear machines of a split, trained once for consecutive methods that need the same machines."""
    classifier = spec.classifier.build()
    machine = (classifier.C, classifier.epsilon, classifier.ridge, classifier.scale_C)
    documents = (work.problem.key, work.split.train.tobytes(), work.split.test.tobytes())
    key = (*documents, spec.representation, work.terms, work.aggregate, machine)
    return work.matrices.shared(key, lambda: _linear_machines(work, spec, classifier))


def _linear_machines(work: SplitData, spec: MethodSpec, classifier: SupportVectorClassifier) -> LinearMachines:
    everything, learned, matrices = work.points(spec), work.learned, work.matrices
    points, tested = canonical_csr(everything[work.split.train]), canonical_csr(everything[work.split.test])
    members = work.members
    C = classifier.cost(self_products(everything)) if classifier.scale_C != "one" else classifier.C
    watch = Stopwatch()
    gram = matrices.square(points)
    watch.lap("products")
    targets, names = members[:, learned.columns], learned.names(work.problem)
    rest = np.logical_not(members.any(axis=1))
    if rest.any() and not rest.all():  # first: it usually takes longest
        targets, names = np.column_stack([rest, targets]), (OTHER_CLASS, *names)

    def learn() -> Arrays:
        """Train the machines and return their arrays and seconds."""
        watch = Stopwatch()
        matrices.nodes.fill(DenseRows.square(gram), matrices.jobs, classifier.ridge)
        watch.lap("kernel")
        machines = train_each_class(work, classifier, C, watch, targets, names)
        coefficients = machine_coefficients(machines, len(gram))
        return {"coefficients": coefficients, "rho": np.array([m.rho for m in machines]), "seconds": watch.seconds()}

    parameters = {"C": C, **{name: getattr(classifier, name) for name in ("epsilon", "ridge")}}
    linear = replace(spec, kernel=None)
    entry = cache_entry(work.problem, linear, LinearMachines, "hyperplanes", work, **parameters)
    arrays, n = matrices.cached(*entry, learn), len(learned.columns)
    order = np.roll(np.arange(len(names)), n - len(names))  # documents without a class come last
    mixture = Hyperplanes(np.asarray(points.T @ arrays["coefficients"][:, order]), arrays["rho"][order])
    return LinearMachines(points, tested, gram, mixture, n, arrays["seconds"] + watch.seconds("products"))


class HyperplaneMethod(Method):
    """One machine for each class: a hyperplane, or HP-TOP's, on a kernel computed from the hyperplanes of all classes.

    HP-TOP can't be used where a class has no density: a single training document, or no variance. Its feature
    extraction includes the time of the linear machines, except for the inner products, which are timed as "products".
    """

    @property
    def _linear(self) -> bool:
        return self.spec.kernel is not None and tags_of(self.spec.kernel.cls).solved_by == "points"

    def solve_split(self, work: SplitData) -> SettingPredictions:
        """Train on a split and predict its test documents."""
        with limit_threads(work.matrices):
            linear, watch = linear_machines(work, self.spec), Stopwatch()
            if not self._linear:
                values = _top_values(work, self.spec, linear, watch)
                return work.learned.decide(values).timed(_top_seconds(linear, watch.seconds()))
            values = linear.hyperplanes.values(linear.tested)
            watch.lap("testing")
            return work.learned.decide(values).timed(linear.seconds + watch.seconds())

    def fit_split(self, work: SplitData) -> FittedMethod:
        """Train on a split and return the trained method, see `Method.fit`."""
        if not self._linear:
            return super().fit_split(work)
        with limit_threads(work.matrices):
            return FittedHyperplanes(work.view(self.spec), work.learned, linear_machines(work, self.spec).hyperplanes)


def _top_values(work: SplitData, spec: MethodSpec, linear: LinearMachines, watch: Stopwatch) -> Array:
    """Return HP-TOP's decision values of the test documents, shape (m, n_learned)."""
    classifier, members, matrices, learned = spec.classifier.build(), work.members, work.matrices, work.learned
    names, mixture = learned.names(work.problem), members[:, learned.columns]
    mixed = names
    if linear.mixture.weights.shape[1] > len(names):
        mixture = np.column_stack([mixture, np.logical_not(members.any(axis=1))])
        mixed = (*names, OTHER_CLASS)
    if len(mixed) < 2:
        raise ValueError(f"HP-TOP needs at least two classes, and the training documents have {len(mixed)}")
    top = spec.build_kernel().set_params(C=classifier.C, epsilon=classifier.epsilon, jobs=matrices.jobs)
    top.fit(linear.points, mixture, categories=mixed, linear=linear.gram, hyperplanes=linear.mixture)
    watch.lap("extraction")
    values: Array = top.solve_targets(range(len(names)), linear.tested, matrices.nodes, watch.lap, watch.book)
    return values


def _top_seconds(linear: LinearMachines, top: Array) -> Array:
    """Return HP-TOP's seconds by `TIMERS`: `top`, plus the linear machines' seconds as feature extraction."""
    products, extraction = (METHOD_TIMERS.index(part) for part in ("products", "extraction"))
    seconds, of_linear = top.copy(), linear.seconds[: len(METHOD_TIMERS)]
    seconds[products] += of_linear[products]
    seconds[extraction] += of_linear.sum() - of_linear[products]
    return seconds
