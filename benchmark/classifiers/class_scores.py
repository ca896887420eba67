"""Scores of classes in scikit-learn's form, which for two classes is one column, and with a column for each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def second_less_first(scores: Array) -> Array:
    """Return scores in the form of `decision_function`: (m, k), or (m,) where there are one or two columns.

    Parameters
    ----------
    scores : float64 array, shape (m, k), or (m, 1) for the second of two classes
    """
    if scores.shape[1] == 2:
        return np.asarray(scores[:, 1] - scores[:, 0])
    return scores[:, 0] if scores.shape[1] == 1 else scores


def score_of_each(values: Array) -> Array:
    """Return values of `decision_function` with a column for each class: of two classes, -value and value.

    Parameters
    ----------
    values : float64 array, shape (m, k), or (m,) for two classes

    Examples
    --------
    >>> score_of_each(np.array([0.5, -2.0]))
    array([[-0.5,  0.5],
           [ 2. , -2. ]])
    """
    return np.column_stack([-values, values]) if values.ndim == 1 else values


def score_method(classifier: Any) -> str:
    """Return the method that gives a classifier's scores, `decision_function` or else `predict_proba`, or ""."""
    return next((name for name in ("decision_function", "predict_proba") if hasattr(classifier, name)), "")
