"""The terms of a document that speak most for its classes: those whose removal lowers the decision value most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: Copies of one document, each without one of its terms, per batch.
LEAVE_ONE_OUT_ROWS = 256
#: A term whose cost is below this share of a decision value counts as rounding.
_ROUNDING = 1e-12


def telling_terms(
    terms: Sequence[str], values: Array, without: Array, classes: Sequence[int], n_words: int, *, multilabel: bool
) -> dict[int, list[str]]:
    """Return for each class the terms whose removal lowers its decision value most, largest drop first.

    Where a document has one class, the value is the margin above the next class.

    Parameters
    ----------
    terms : sequence of str, length n
        Terms of the document.
    values : float64 array, shape (1, k)
        Class values of the document.
    without : float64 array, shape (n, k)
        Class values of the document without each of its terms.
    classes : sequence of int
    n_words : int
        Maximum number of terms for a class.
    multilabel : bool
        True if a document may have several classes, or none.
    """
    found = {}
    for code in classes:
        whole = _margin(values, code, multilabel=multilabel)[0]
        with np.errstate(invalid="ignore"):  # a class of every document has an infinite value
            cost = whole - _margin(without, code, multilabel=multilabel)
        order = np.argsort(-cost, kind="stable")[:n_words]
        telling = order[cost[order] > _ROUNDING * (1 + abs(whole))]
        found[code] = [terms[place] for place in telling]
    return found


def _margin(values: Array, code: int, *, multilabel: bool) -> Array:
    if multilabel:
        return values[:, code]
    return np.asarray(values[:, code] - np.delete(values, code, axis=1).max(axis=1))


def without_columns(document: sp.csr_array, columns: Sequence[int]) -> sp.csr_array:
    """Return copies of a document, shape (1, V), each without one of these columns; -1 stands for none."""
    stay = document.indices != np.array(columns, dtype=np.intp)[:, None]
    ends, n = np.cumsum(stay.sum(axis=1)), len(columns)
    data, indices = (np.tile(part, (n, 1))[stay] for part in (document.data, document.indices))
    return sp.csr_array((data, indices, np.append(0, ends)), shape=(n, document.shape[1]))
