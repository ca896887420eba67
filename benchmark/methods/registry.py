"""Build the method that solves a specification from a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.kernels import is_elementwise_kernel
from benchmark.methods.given_predictions import GivenPredictionsMethod
from benchmark.methods.point_classifiers import PointClassifierMethod
from benchmark.methods.split_data import depends_on_split
from benchmark.methods.svm_method import SharedMatrixSvm, SvmMethod, TopMethod
from benchmark.methods.wrappers import ThresholdedMethod
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from benchmark.config.model import MethodSpec, TermSelection
    from benchmark.methods.base import Method
    from benchmark.methods.problem import Problem


def build_method(spec: MethodSpec, problem: Problem, terms: TermSelection | None, *, replicated: bool) -> Method:
    """Return the method that solves a problem's splits.

    Parameters
    ----------
    spec : MethodSpec
    problem : Problem
    terms : TermSelection or None
        How terms are selected; None for all terms.
    replicated : bool
        True if the splits are many small random training sets from one collection.

    Returns
    -------
    Method
    """
    aggregate, kernel = "sum" if terms is None else terms.aggregate, spec.kernel
    two = not problem.multilabel and len(problem.documents.classes) == 2
    same = two and replicated and not (terms or problem.pruning or depends_on_split(spec.representation))
    method: Method
    if spec.predictions is not None:
        method = GivenPredictionsMethod(spec, aggregate, batched=replicated)
    elif kernel is None:
        method = PointClassifierMethod(spec, aggregate, batched=replicated)
    elif tags_of(kernel.cls).solved_by == "targets":
        method = TopMethod(spec, aggregate)
    elif same and is_elementwise_kernel(kernel.cls) and spec.classifier.build().scheme == "one-vs-one":
        method = SharedMatrixSvm(spec, aggregate, batched=True)
    else:
        method = SvmMethod(spec, aggregate)
    return ThresholdedMethod(method, spec.threshold) if spec.threshold is not None and problem.multilabel else method
