"""Build the method that solves a specification from a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.kernels import is_elementwise_kernel
from benchmark.methods.given_predictions import GivenPredictionsMethod
from benchmark.methods.point_classifiers import PointClassifierMethod
from benchmark.methods.split_data import depends_on_split
from benchmark.methods.svm_method import SharedMatrixSvm, SvmMethod
from benchmark.methods.top_method import TopMethod
from benchmark.methods.wrappers.thresholds import ThresholdedMethod
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
    cls = _method_class(spec, problem, terms, replicated=replicated)
    together = cls is SharedMatrixSvm or (replicated and cls in (PointClassifierMethod, GivenPredictionsMethod))
    method: Method = cls(spec, "sum" if terms is None else terms.aggregate, batched=together)
    return ThresholdedMethod(method, spec.threshold) if spec.threshold is not None and problem.multilabel else method


def _method_class(spec: MethodSpec, problem: Problem, terms: TermSelection | None, *, replicated: bool) -> type[Method]:
    """Return the class of the method, without thresholds."""
    if spec.predictions is not None:
        return GivenPredictionsMethod
    if spec.kernel is None:
        return PointClassifierMethod
    if not is_elementwise_kernel(spec.kernel.cls):
        return TopMethod if tags_of(spec.kernel.cls).solved_by == "targets" else SvmMethod
    two = not problem.multilabel and len(problem.documents.classes) == 2
    same = two and replicated and not (terms or problem.pruning or depends_on_split(spec.representation))
    return SharedMatrixSvm if same and spec.classifier.build().scheme == "one-vs-one" else SvmMethod
