"""Names as one array, and back; archives and the store save names in this form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def join_names(names: Iterable[str]) -> NDArray[np.uint8]:
    """Join names in one array, separated by NUL, which no name contains."""
    return np.frombuffer("\0".join(names).encode(), dtype=np.uint8)


def split_names(names: NDArray[np.uint8]) -> tuple[str, ...]:
    """Split an array made by `join_names` into names."""
    return tuple(names.tobytes().decode().split("\0"))
