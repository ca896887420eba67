"""What a configuration says of a method to the method that does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.kernels import HyperplaneTop, Kernel, Linear, PLSIFisher
from benchmark.methods.category_machines import FisherMachines, KernelCategories, LinearCategories, TopMachines
from benchmark.methods.kernel_machines import KernelMachine, ManyMachines
from benchmark.methods.points import PointClassifier
from benchmark.methods.weights import differs_by_split

if TYPE_CHECKING:
    from benchmark.config.model import MethodSpec, Terms
    from benchmark.methods.base import Method, Problem


def method_for(spec: MethodSpec, problem: Problem, terms: Terms | None, *, draws: bool) -> Method:
    """The method that solves a problem's splits.

    Parameters
    ----------
    spec : MethodSpec
    problem : Problem
    terms : Terms or None
        How terms are selected, where they are.
    draws : bool
        Whether the splits are many small draws from one collection.

    Raises
    ------
    ValueError
        If the parts of the method don't go together, see `check_method`.
    """
    check_method(spec)
    over_classes = terms.over_classes if terms is not None else "sum"
    if spec.kernel is None:
        return PointClassifier(spec, over_classes, batched=draws)
    if issubclass(spec.kernel.cls, HyperplaneTop):
        return TopMachines(spec, over_classes)
    if issubclass(spec.kernel.cls, PLSIFisher):
        return FisherMachines(spec, over_classes)
    if problem.several:
        hyperplanes = issubclass(spec.kernel.cls, Linear) and not spec.representation.dirichlet
        return LinearCategories(spec, over_classes) if hyperplanes else KernelCategories(spec, over_classes)
    if draws and terms is None and _one_matrix_serves_all(spec, problem):
        return ManyMachines(spec)
    return KernelMachine(spec, over_classes)


def _one_matrix_serves_all(spec: MethodSpec, problem: Problem) -> bool:
    two = len(problem.documents.classes) == 2 and spec.classifier.build().scheme == "one-vs-one"
    return two and not differs_by_split(spec.representation)


def check_method(spec: MethodSpec) -> None:
    """Refuse what can't be a method, in words for the person who named its parts.

    Raises
    ------
    ValueError
    """
    representation, classifier = spec.representation, spec.classifier
    elementwise = spec.kernel is not None and issubclass(spec.kernel.cls, Kernel)
    if classifier.cls.needs_kernel and spec.kernel is None:
        raise ValueError(f"the classifier {classifier.name!r} needs a kernel")
    if spec.kernel is not None and not classifier.cls.needs_kernel:
        raise ValueError(f"the classifier {classifier.name!r} takes points, not the kernel {spec.kernel.name!r}")
    if elementwise and spec.kernel is not None:
        allowed = spec.kernel.build().normalizations
        if representation.normalization not in allowed:
            problem = f"is defined for the normalization {' or '.join(allowed)}, not {representation.normalization}"
            raise ValueError(f"the kernel {spec.kernel.name!r} {problem}")
    if representation.dirichlet:
        if not elementwise:
            raise ValueError("only kernels that are functions of inner products have a Dirichlet prior on documents")
        if representation.normalization != "l1" or representation.weighting == "tfidf":
            raise ValueError("a Dirichlet prior on documents is one on counts, normalized by l1")
    if spec.kernel is not None and not elementwise and classifier.build().unit != "one":
        raise ValueError(f"C can't be measured by the mean of k(x, x) of the kernel {spec.kernel.name!r}")
