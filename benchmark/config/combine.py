"""Which representations, kernels and classifiers make a method together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.kernels import Kernel

if TYPE_CHECKING:
    from benchmark.config.model import MethodSpec


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
