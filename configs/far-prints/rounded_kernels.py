"""Kernels whose values are rounded, as programs of 2005 may have stored them."""

import numpy as np

from benchmark.kernels import KERNELS as SHIPPED
from benchmark.system.tags import Tags


def to_single(values):
    """Round to single precision, as a matrix of C floats."""
    return values.astype(np.float32).astype(np.float64)


def to_text(values, digits=6):
    """Round to `digits` significant digits, as C's %g writes them into a file of precomputed values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.abs(values))))
        rounded = np.round(values * scale) / scale
    return np.where(values == 0, 0.0, rounded)


def _rounded(base, rule, reason):
    class Rounded(SHIPPED[base]):
        tags = Tags(normalizations=SHIPPED[base].tags.normalizations, stored=True)

        def from_products(self, products, left, right):
            return rule(super().from_products(products, left, right))

    Rounded.__name__ = Rounded.__qualname__ = f"{SHIPPED[base].__name__}{reason}"
    Rounded.__doc__ = f"{base} with values rounded: {reason}."
    return Rounded


LinearSingle, NedSingle, NgdSingle = (_rounded(each, to_single, "Single") for each in ("linear", "ned", "ngd"))
LinearText, NedText, NgdText = (_rounded(each, to_text, "Text") for each in ("linear", "ned", "ngd"))
KERNELS = {
    "linear-single": LinearSingle,
    "ned-single": NedSingle,
    "ngd-single": NgdSingle,
    "linear-text": LinearText,
    "ned-text": NedText,
    "ngd-text": NgdText,
}
