"""Whether parameters leave a kernel anything to tell documents by: its values are tried before any work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import NotFittedError

if TYPE_CHECKING:
    from benchmark.kernels.base import Kernel

#: Inner products of unit vectors, from nothing in common to all but the same; and of a vector with itself.
_TRIED = np.array([0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0])
#: Squared lengths: of many different terms with weights that sum to 1, of unit vectors, of counts.
_SQUARES = (1e-8, 1e-4, 1e-2, 1.0, 1e4, 1e8)
#: LIBSVM multiplies two values.
_SMALLEST, _LARGEST = 1e-100, 1e150
#: What is left of a difference that is smaller beside the values is mostly rounding, from which LIBSVM doesn't come to
#: an end: of NGD on 600 documents, a shift of 1e11 takes ten times as long as one of 1e10, and 1e13 for ever.
_SMALLEST_SHARE = 1e-11


def worthless(kernel: Kernel) -> str:
    """Why no machine can learn from a kernel's values, however long documents are; "" where one can.

    Of a kernel that learns something of the documents, nothing is said before it has.
    """
    squares = (1.0,) if kernel.exponent != 1 else _SQUARES
    found = [_worthless(kernel, square) for square in squares]
    return found[squares.index(1.0)] if all(found) else ""


def _worthless(kernel: Kernel, square: float) -> str:
    try:
        with np.errstate(all="ignore"):
            values = kernel.link(square * _TRIED[None], np.array([square]), np.full(_TRIED.size, square))[0]
    except NotFittedError:
        return ""
    except ArithmeticError as error:
        return f"makes values that can't be computed ({error})"
    largest = float(np.abs(values).max())
    if not largest <= _LARGEST:
        return f"makes values above {_LARGEST:g}"
    between = values[:-1]
    if np.ptp(between) < max(_SMALLEST, _SMALLEST_SHARE * float(np.abs(between).max())):
        return "makes all values between different documents the same, but for rounding"
    return ""
