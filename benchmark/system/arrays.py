"""Types of the arrays that most functions take, and names as one array.

The types are float64 numbers, truth values, and positions of rows or columns.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]


def join_names(names: Iterable[str]) -> NDArray[np.uint8]:
    """Join names in one array, separated by NUL, which no name contains; archives and the store save this form."""
    return np.frombuffer("\0".join(names).encode(), dtype=np.uint8)


def split_names(names: NDArray[np.uint8]) -> tuple[str, ...]:
    """Split an array made by `join_names` into names."""
    return tuple(names.tobytes().decode().split("\0"))
