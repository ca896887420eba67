"""Names as one array, and back: how archives and the store keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def joined(names: Iterable[str]) -> NDArray[np.uint8]:
    """Names as one array; NUL stands between them, which no name contains."""
    return np.frombuffer("\0".join(names).encode(), dtype=np.uint8)


def parted(names: NDArray[np.uint8]) -> tuple[str, ...]:
    """Names back from their array."""
    return tuple(names.tobytes().decode().split("\0"))
