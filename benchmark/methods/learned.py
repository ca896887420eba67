"""Which classes can be learned from training documents, and decision values of classes to decisions.

A class that no training document has can't be learned: no method gives it to a document; one that every training
document has is given to every document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.predictions import SettingPredictions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def learned_classes(members: NDArray[np.bool_], classes: tuple[str, ...]) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Columns of the classes that some training documents have and others don't, and their names.

    Parameters
    ----------
    members : bool array, shape (n, k)
        Which classes each training document has.
    classes : tuple of str, length k
    """
    columns = np.flatnonzero(members.any(axis=0) & ~members.all(axis=0))
    return columns, tuple(classes[int(x)] for x in columns)


def given_by_class(everywhere: NDArray[np.bool_], columns: NDArray[np.intp], values: Array) -> NDArray[np.bool_]:
    """A decision for each class: a document is given those with a positive value.

    Parameters
    ----------
    everywhere : bool array, shape (k,)
        The classes that every training document has.
    columns : intp array, shape (n_learned,)
    values : float64 array, shape (m, n_learned)

    Raises
    ------
    FloatingPointError
        If a decision value is not finite.
    """
    check_finite(values)
    given = np.repeat(everywhere[None], len(values), axis=0)
    given[:, columns] = values > 0  # LIBSVM's rule
    return given


def decided_by_class(
    members: NDArray[np.bool_], columns: NDArray[np.intp], values: Array, seconds: Array
) -> SettingPredictions:
    """See `given_by_class`; `members`, shape (n, k), says which classes each training document has."""
    given = given_by_class(np.asarray(members.all(axis=0)), columns, values)
    tied = np.zeros(given.shape, dtype=bool)
    tied[:, columns] = values == 0
    return SettingPredictions.of_split(given, tied, seconds)


def decided_by_largest(k: int, columns: NDArray[np.intp], values: Array, seconds: Array) -> SettingPredictions:
    """One class for each document: the largest of its values, shape (m, n_learned); of those that tie, the first."""
    check_finite(values)
    full = np.full((len(values), k), -np.inf)
    full[:, columns] = values
    best = full.max(axis=1, keepdims=True)
    return SettingPredictions.of_split(full.argmax(axis=1).astype(np.int32), (full == best).sum(axis=1) > 1, seconds)


def check_finite(values: Array) -> Array:
    """The values; FloatingPointError if one isn't finite."""
    if not np.isfinite(values).all():
        raise FloatingPointError("a decision value is not a finite number")
    return values
