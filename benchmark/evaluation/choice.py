"""Which candidate of a method each split uses: by the test documents, or by cross-validation on training documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ORACLE, INNER = "oracle", "cross-validation"


def by_test(losses: Sequence[Sequence[Floats]]) -> int:
    """The one candidate whose loss on the test documents, averaged over the whole curve, is lowest.

    It has seen the test documents and is optimistic; papers choose so.

    Parameters
    ----------
    losses : for each candidate, for each point of its curve, a float64 array, shape (splits,)
    """
    return int(np.argmin([np.mean([point.mean() for point in curve]) for curve in losses]))


def by_inner(errors: Floats) -> NDArray[np.intp]:
    """For each split the candidate with the lowest inner error; among equals, the middle one.

    Parameters
    ----------
    errors : float64 array, shape (candidates, splits)

    Examples
    --------
    >>> by_inner(np.array([[0.1], [0.1], [0.1], [0.2]]))
    array([1])
    """
    return np.array([_middle(np.flatnonzero(column == column.min())) for column in errors.T], dtype=np.intp)


def _middle(indices: NDArray[np.intp]) -> int:
    return int(indices[(len(indices) - 1) // 2])
