"""Build the method that solves a specification from a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.config.method_rules import check_method
from benchmark.kernels import is_elementwise_kernel
from benchmark.methods.elsewhere.given_predictions import GivenPredictionsMethod
from benchmark.methods.elsewhere.pipelines import PipelineMethod
from benchmark.methods.elsewhere.vector_classifiers import ThresholdedVectors, VectorClassifierMethod
from benchmark.methods.kernel_machines import KernelSvm, PrecomputedKernelSvm, SharedMatrixSvm
from benchmark.methods.one_vs_rest import (
    FisherKernelMethod,
    HyperplaneTopMethod,
    KernelOneVsRest,
    LinearOneVsRest,
    PrecomputedKernelOneVsRest,
)
from benchmark.methods.point_classifiers import PointClassifierMethod
from benchmark.methods.weighted_counts import depends_on_split
from benchmark.methods.wrappers.thresholds import ThresholdedMethod
from benchmark.methods.wrappers.training_vocabulary import TrainingVocabularyMethod
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from benchmark.config.model import MethodSpec, TermSelection
    from benchmark.methods.base import Method
    from benchmark.methods.kernel_machines import PerSplit
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

    Raises
    ------
    ValueError
        If the parts of the method are incompatible, see `check_method`.
    """
    check_method(spec)
    method = _method_for(spec, problem, terms, replicated=replicated)
    if spec.threshold is not None and problem.multilabel:
        method = ThresholdedVectors(method) if isinstance(method, VectorClassifierMethod) else ThresholdedMethod(method)
    return method if problem.pruning is None else TrainingVocabularyMethod(method)


def _method_for(spec: MethodSpec, problem: Problem, terms: TermSelection | None, *, replicated: bool) -> Method:
    """Return the method without thresholds."""
    aggregate = terms.aggregate if terms is not None else "sum"
    if spec.predictions is not None:
        return GivenPredictionsMethod(spec, batched=replicated)
    if spec.kernel is None:
        return _of_points(spec)(spec, aggregate, batched=replicated)
    if not is_elementwise_kernel(spec.kernel.cls):
        return _by_gram_rows(spec.kernel.cls, problem)(spec, aggregate)
    if problem.multilabel:
        hyperplanes = tags_of(spec.kernel.cls).solved_by == "points" and not spec.representation.dirichlet
        return LinearOneVsRest(spec, aggregate) if hyperplanes else KernelOneVsRest(spec, aggregate)
    if replicated and terms is None and _one_matrix_serves_all(spec, problem):
        return SharedMatrixSvm(spec)
    return KernelSvm(spec, aggregate)


def _of_points(spec: MethodSpec) -> type[PointClassifierMethod]:
    """Return the method for a classifier without a kernel."""
    if spec.vectors is not None:
        return VectorClassifierMethod
    if spec.classifier.tags.reads_texts:
        return PipelineMethod
    return PointClassifierMethod


def _by_gram_rows(kernel: type[Any], problem: Problem) -> type[PerSplit]:
    """Return the method for a kernel that isn't a function of inner products."""
    by_values = PrecomputedKernelOneVsRest if problem.multilabel else PrecomputedKernelSvm
    return {"targets": HyperplaneTopMethod, "scores": FisherKernelMethod}.get(tags_of(kernel).solved_by, by_values)


def _one_matrix_serves_all(spec: MethodSpec, problem: Problem) -> bool:
    """Return whether all splits can be solved with one kernel matrix."""
    two = len(problem.documents.classes) == 2 and spec.classifier.build().scheme == "one-vs-one"
    return two and not depends_on_split(spec.representation)
