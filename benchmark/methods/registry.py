"""What a configuration says of a method to the method that does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.config.components import check_method
from benchmark.kernels import HyperplaneTop, Linear, PLSIFisher
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
