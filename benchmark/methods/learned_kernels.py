"""Methods with kernels that learn a model of the training documents: HP-TOP and the Fisher kernel of PLSI.

HP-TOP's kernel is computed from the hyperplanes of linear machines of all classes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmark.classifiers.libsvm import DenseRows
from benchmark.classifiers.matrix_svm import linear_svm_hyperplanes, train_one_vs_rest
from benchmark.evaluation.predictions import METHOD_TIMERS, SettingPredictions
from benchmark.kernels.plsi import FittedPLSI
from benchmark.methods.base import Method
from benchmark.methods.split_data import SplitData, Stopwatch
from benchmark.methods.svm_method import linear_gram, train_against_rest
from benchmark.representation.weighting import canonical_csr
from benchmark.system.numba_jit import numba_threads

if TYPE_CHECKING:
    import scipy.sparse as sp

    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.splits import Split
    from benchmark.kernels.fisher import PLSIFisher
    from benchmark.methods.matrix_cache import Arrays
    from benchmark.methods.problem import Problem
    from benchmark.system.arrays import Array


class TopMethod(Method):
    """One machine for each class on the class's HP-TOP kernel.

    Documents without a class form an additional class, "other", in HP-TOP's mixture only. A class without density is
    refused: it has a single training document, or no variance. Feature extraction includes the time of the linear
    machines, except for their inner products.
    """

    def solve_split(self, work: SplitData) -> SettingPredictions:
        """Train on a split and predict its test documents."""
        classifier, matrices, learned = self.spec.classifier.build(), work.matrices, work.learned
        parameters = {"epsilon": classifier.epsilon, "jobs": matrices.jobs}
        names, members = learned.names(work.problem), work.members
        mixture, mixed, rest = members[:, learned.columns], names, ~members.any(axis=1)
        if rest.any() and not rest.all():
            mixture, mixed = np.column_stack([mixture, rest]), (*names, "other")
        if len(mixed) < 2:
            raise ValueError(f"HP-TOP needs at least two classes, and the training documents have {len(mixed)}")
        points, gram, cost = linear_gram(work, self.spec)
        tested = canonical_csr(work.view(self.spec).points(self.inputs(work, work.split.test)))
        matrices.nodes.fill(DenseRows(gram), matrices.jobs, classifier.ridge)
        machines = train_one_vs_rest(matrices.nodes, mixture, mixed, C=cost, **parameters)
        hyperplanes = linear_svm_hyperplanes(points, machines)
        top = self.spec.build_kernel().set_params(C=classifier.C, **parameters)
        top.fit(points, mixture, categories=mixed, linear=gram, hyperplanes=hyperplanes)
        work.watch.lap("extraction")
        values = top.solve_targets(range(len(names)), tested, matrices.nodes, work.watch.lap, work.watch.lap)
        return learned.decide(values).timed(work.watch.seconds())


class FisherMethod(Method):
    """One linear machine for each class against the rest, in the space of the scores of PLSI models."""

    uses_seed: ClassVar[bool] = True  # a PLSI model starts from random parameters

    def solve_split(self, work: SplitData) -> SettingPredictions:
        """Train on a split and predict its test documents."""
        counts, split, jobs = work.problem.counts.matrix, work.split, work.matrices.jobs
        with numba_threads(jobs):
            model, folded, seconds = _plsi_model(work, self.spec, counts)
        work.watch.lap("extraction", seconds[0])
        gram, classifier = DenseRows(work.matrices.square(model.scores_)), self.spec.classifier.build()
        machines = train_against_rest(work, self.spec, gram, classifier.C)
        hyperplanes = linear_svm_hyperplanes(model.scores_, machines)
        with numba_threads(jobs):
            values = hyperplanes.values(model.scores(counts[split.test], folded))
        work.watch.lap("testing")
        work.watch.lap("testing", seconds[1])
        return work.learned.decide(values).timed(work.watch.seconds())


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
    arrays = work.matrices.cached(about, [FisherMethod, type(kernel)], content, learn)
    models = [[arrays[f"{number}/{part}"] for part in range(4)] for number in range(len(kernel.n_classes))]
    if not hasattr(kernel, "scores_"):
        kernel.take(trained, [FittedPLSI(*parts[:-1]) for parts in models])
    return kernel, [parts[-1] for parts in models], arrays["seconds"]


def plsi_seed(problem: Problem, split: Split) -> int:
    """Return the seed of PLSI's random starting parameters, different for each split."""
    return int(np.random.default_rng([problem.seed, len(split.train), split.number, 1]).integers(2**31))
