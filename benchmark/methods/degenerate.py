"""Degenerate predictions: ties and kernel values that don't distinguish the test documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.kernels import is_elementwise_kernel
from benchmark.kernels.gram import LazyGram
from benchmark.methods.stopwatch import Stopwatch

if TYPE_CHECKING:
    from benchmark.config.model import MethodSpec
    from benchmark.evaluation.predictions import SettingPredictions
    from benchmark.methods.split_data import SplitData

#: Kernel values that are compared in one block.
_VALUES = 10_000_000


def degenerate_predictions_reason(spec: MethodSpec, work: SplitData, decisions: SettingPredictions) -> str:
    """Return the reason why the predictions of a split are degenerate, or "" if they aren't.

    Predictions are degenerate if all of them are ties, or if the kernel has the same values for all test documents:
    decision values are sums of kernel values, and so are the same, too. Kernel values are computed only where all test
    documents get the same prediction.

    Parameters
    ----------
    spec : MethodSpec
    work : SplitData
        The split and its documents.
    decisions : SettingPredictions
        Predictions of the split's test documents.

    Returns
    -------
    str
    """
    predicted, test = decisions.predicted, work.split.test
    if len(test) < 2 or (predicted != predicted[:1]).any():
        return ""
    if decisions.tied.all():
        return "every prediction is a tie: no class scores higher than all others"
    if spec.kernel is None or not is_elementwise_kernel(spec.kernel.cls):
        return ""
    kernel, normalization = spec.build_kernel(), spec.representation.normalization
    products = work.products(spec, kernel.exponent, Stopwatch())
    gram = LazyGram(kernel, products, normalization, test, work.split.train)
    start, stop, first = 0, 2, gram.block(0, 1)
    while start < len(test):
        if (gram.block(start, min(stop, len(test))) != first).any():  # most often the first two differ
            return ""
        start, stop = stop, stop + max(2, _VALUES // gram.shape[1])
    return f"the kernel {kernel!r} has the same values for all test documents, so all get the same prediction"
