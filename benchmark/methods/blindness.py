"""Whether a method could tell any of the documents apart that it decided on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.kernels import elementwise
from benchmark.kernels.gram import Gram
from benchmark.methods.base import Stopwatch
from benchmark.methods.kernel_machines import kernel_of

if TYPE_CHECKING:
    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.methods.weights import Work

#: Kernel values that are looked at together.
_VALUES = 10_000_000


def blindness(spec: MethodSpec, work: Work, decisions: SettingPredictions) -> str:
    """Why the decisions on a split say nothing of its documents; "" where they may say something.

    Either all decisions are ties; or the kernel gives all tested documents the same values, so that the decision
    values, which are sums of these, are the same, too. Kernel values are computed only where all documents were given
    the same.

    Parameters
    ----------
    spec : MethodSpec
    work : Work
        The split.
    decisions : SettingPredictions
        On its tested documents.
    """
    predicted, test = decisions.predicted, work.split.test
    if len(test) < 2 or (predicted != predicted[:1]).any():
        return ""
    if decisions.tied.all():
        return "every decision is a tie: nothing tells one class from another"
    if spec.kernel is None or not elementwise(spec.kernel.cls):
        return ""
    kernel, normalization = kernel_of(spec), spec.representation.normalization
    products = work.products(spec.representation, kernel.exponent, Stopwatch())
    gram = Gram(kernel, products, normalization, test, work.split.train)
    start, stop, first = 0, 2, gram.block(0, 1)
    while start < len(test):
        if (gram.block(start, min(stop, len(test))) != first).any():  # most often the first two tell
            return ""
        start, stop = stop, stop + max(2, _VALUES // gram.shape[1])
    return f"the kernel {kernel!r} gives all tested documents the same values, and so do the decisions"
