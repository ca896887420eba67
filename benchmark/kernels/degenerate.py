"""Check, before any work, that a kernel's parameters don't make its values degenerate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import NotFittedError

if TYPE_CHECKING:
    from benchmark.kernels.base import Kernel

#: Inner products of unit vectors, from orthogonal to nearly equal; the last is that of a vector with itself.
_COSINES = np.array([0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0])
#: Squared lengths: of many different terms with weights that sum to 1, of unit vectors, of counts.
_SQUARES = (1e-8, 1e-4, 1e-2, 1.0, 1e4, 1e8)
#: LIBSVM multiplies two kernel values, which must neither underflow nor overflow.
_SMALLEST, _LARGEST = 1e-100, 1e150
#: Smaller differences, relative to the values, are mostly rounding, on which LIBSVM doesn't converge: for NGD on 600
#: documents, a shift of 1e11 takes ten times as long as one of 1e10, and with 1e13 LIBSVM never stops.
_SMALLEST_SHARE = 1e-11


def degenerate_reason(kernel: Kernel) -> str:
    """Return why no SVM can learn from a kernel's values, at any length of documents; "" if one can.

    A kernel that must be fitted before it has values passes.
    """
    squares = (1.0,) if kernel.exponent != 1 else _SQUARES
    reasons = [_degenerate_at(kernel, square) for square in squares]
    return reasons[squares.index(1.0)] if all(reasons) else ""


def _degenerate_at(kernel: Kernel, square: float) -> str:
    try:
        with np.errstate(all="ignore"):
            products, right = square * _COSINES[None], np.full(_COSINES.size, square)
            values = kernel.from_products(products, np.array([square]), right)[0]
    except NotFittedError:
        return ""
    except ArithmeticError as error:
        return f"makes kernel values that can't be computed ({error})"
    largest = float(np.abs(values).max())
    if not largest <= _LARGEST:
        return f"makes kernel values larger than {_LARGEST:g}"
    between = values[:-1]
    if np.ptp(between) < max(_SMALLEST, _SMALLEST_SHARE * float(np.abs(between).max())):
        return "makes the kernel values of all pairs of different documents equal, up to rounding"
    return ""
