"""Growth of seconds and memory with the documents: from pilot runs on samples to the whole run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def growth_terms(sizes: Array, values: Array, noise: Array) -> Array:
    """Fit what doesn't grow and what grows with each size to the values of pilots.

    values ≈ c[0] + sizes @ c[1:] with c ≥ 0, by least squares. A few pilots may leave open how much of the growth is
    linear and how much is steep: as far as noise allows, both have equal parts in the largest pilot.

    Parameters
    ----------
    sizes : float64 array, shape (n_pilots, n_sizes)
        As shares of those of the whole run, ascending.
    values : float64 array, shape (n_pilots,)
        Seconds or bytes.
    noise : float64 array, shape (n_pilots,)
        Errors that the values may have.

    Returns
    -------
    float64 array, shape (n_sizes + 1,)
        The terms of the whole run; their sum is its forecast.
    """
    from scipy.optimize import nnls  # noqa: PLC0415 - slow to load

    rows = np.column_stack([np.ones(len(values)), sizes]) / noise[:, None]
    target = values / noise
    if sizes.shape[1] == 2:
        linear, steep = sizes[-1] / max(values[-1] - values[0], noise[-1])
        rows, target = np.vstack([rows, [0.0, linear, -steep]]), np.append(target, 0.0)
    return np.asarray(nnls(rows, target)[0])
