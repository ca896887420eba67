"""Learnable classes, and predictions from the decision values of classes.

A class that no training document has can't be learned, and is never predicted. A class that every training document has
can't be learned either, and is predicted for every document where documents may have several classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.predictions import SettingPredictions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def learned_classes(members: NDArray[np.bool_], classes: tuple[str, ...]) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    """Return the columns and names of the classes that some training documents have and others don't.

    Parameters
    ----------
    members : bool array, shape (n, k)
        Class indicators of the training documents.
    classes : tuple of str, length k
    """
    columns = np.flatnonzero(members.any(axis=0) & ~members.all(axis=0))
    return columns, tuple(classes[int(x)] for x in columns)


def positive_classes(everywhere: NDArray[np.bool_], columns: NDArray[np.intp], values: Array) -> NDArray[np.bool_]:
    """Return class indicators, shape (m, k): the classes with a positive decision value.

    Parameters
    ----------
    everywhere : bool array, shape (k,)
        True for classes that every training document has.
    columns : intp array, shape (n_learned,)
        Positions of the learned classes.
    values : float64 array, shape (m, n_learned)
        Decision values.

    Raises
    ------
    FloatingPointError
        If a decision value is not finite.
    """
    check_finite_values(values)
    predicted = np.repeat(everywhere[None], len(values), axis=0)
    predicted[:, columns] = values > 0  # LIBSVM's rule
    return predicted


def values_of_all_classes(everywhere: NDArray[np.bool_], columns: NDArray[np.intp], values: Array) -> Array:
    """Return a decision value for each class, shape (m, k): -inf for one that could not be learned, or inf.

    It is inf for a class of every training document, which is predicted for every document; parameters are those of
    `positive_classes`.
    """
    full = np.tile(np.where(everywhere, np.inf, -np.inf), (len(values), 1))
    full[:, columns] = values
    return full


def multilabel_predictions(
    members: NDArray[np.bool_], columns: NDArray[np.intp], values: Array, seconds: Array
) -> SettingPredictions:
    """Return the predictions of `positive_classes`; `members` are the training documents' class indicators, (n, k)."""
    everywhere = np.asarray(members.all(axis=0))
    predicted = positive_classes(everywhere, columns, values)
    tied = np.zeros(predicted.shape, dtype=bool)
    tied[:, columns] = values == 0
    return SettingPredictions.of_split(predicted, tied, seconds, values_of_all_classes(everywhere, columns, values))


def argmax_predictions(k: int, columns: NDArray[np.intp], values: Array, seconds: Array) -> SettingPredictions:
    """Predict for each document the class with the largest of its values, shape (m, n_learned); ties: first class."""
    check_finite_values(values)
    full = np.full((len(values), k), -np.inf)
    full[:, columns] = values
    best = full.max(axis=1, keepdims=True)
    tied = (full == best).sum(axis=1) > 1
    return SettingPredictions.of_split(full.argmax(axis=1).astype(np.int32), tied, seconds, full)


def check_finite_values(values: Array) -> Array:
    """Return the decision values; FloatingPointError if one isn't finite."""
    if not np.isfinite(values).all():
        raise FloatingPointError("a decision value is not a finite number")
    return values
