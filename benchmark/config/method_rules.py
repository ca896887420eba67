"""Which components can form a method together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.kernels import is_elementwise_kernel as is_elementwise
from benchmark.system.tags import tags_of

if TYPE_CHECKING:
    from benchmark.config.components import Component
    from benchmark.config.model import MethodSpec


def check_method(spec: MethodSpec) -> None:
    """Refuse a combination of components that can't be a method, in a message for the author of the configuration.

    Raises
    ------
    ValueError
    """
    representation, classifier = spec.representation, spec.classifier
    elementwise = spec.kernel is not None and is_elementwise(spec.kernel.cls)
    needs_kernel = tags_of(classifier.cls).needs_kernel
    if needs_kernel and spec.kernel is None:
        raise ValueError(f"the classifier {classifier.name!r} needs a kernel")
    if spec.kernel is not None and not needs_kernel:
        raise ValueError(f"the classifier {classifier.name!r} takes points, not the kernel {spec.kernel.name!r}")
    if spec.kernel is not None:
        allowed = tags_of(spec.kernel.build()).normalizations
        if representation.normalization not in allowed:
            problem = f"is defined for the normalization {' or '.join(allowed)}, not {representation.normalization}"
            raise ValueError(f"the kernel {spec.kernel.name!r} {problem}")
    if representation.dirichlet:
        if not elementwise:
            raise ValueError("only kernels that are functions of inner products have a Dirichlet prior on documents")
        if representation.normalization != "l1" or representation.weighting.name not in ("tf", "binary"):
            raise ValueError("a Dirichlet prior on documents needs counts (tf or binary) with the normalization l1")
    if spec.kernel is not None and not elementwise:
        _check_model(spec.kernel, classifier.build(), spec.threshold)


def _check_model(kernel: Component, classifier: Any, threshold: Component | None) -> None:
    """Refuse settings that a kernel which learns a model of the documents can't use."""
    if tags_of(kernel.cls).solved_by == "targets" and classifier.ridge:
        raise ValueError(f"the kernel {kernel.name!r} differs from class to class: it has no ridge")
    if classifier.scale_C != "one":
        raise ValueError(f"C can't be scaled by the mean of k(x, x) of the kernel {kernel.name!r}")
    if threshold is not None:
        raise ValueError(f"the kernel {kernel.name!r} is not a function of inner products: it has no threshold")
