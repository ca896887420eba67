"""HP-TOP, whose kernel is computed from the hyperplanes of linear machines of all classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.classifiers.hyperplanes import linear_svm_hyperplanes, train_one_vs_rest
from benchmark.classifiers.libsvm import DenseRows
from benchmark.kernels.products import self_products
from benchmark.methods.base import Method
from benchmark.methods.split_data import Stopwatch
from benchmark.representation.weighting import canonical_csr

if TYPE_CHECKING:
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.methods.split_data import SplitData


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
        everything = work.points(self.spec)
        points, tested = canonical_csr(everything[work.split.train]), canonical_csr(everything[work.split.test])
        watch, cost = Stopwatch(), classifier.cost(self_products(everything))
        gram = matrices.square(points)
        watch.lap("products")
        matrices.nodes.fill(DenseRows(gram), matrices.jobs, classifier.ridge)
        machines = train_one_vs_rest(matrices.nodes, mixture, mixed, C=cost, **parameters)
        hyperplanes = linear_svm_hyperplanes(points, machines)
        top = self.spec.build_kernel().set_params(C=classifier.C, **parameters)
        top.fit(points, mixture, categories=mixed, linear=gram, hyperplanes=hyperplanes)
        watch.lap("extraction")
        values = top.solve_targets(range(len(names)), tested, matrices.nodes, watch.lap, watch.book)
        return learned.decide(values).timed(watch.seconds())
