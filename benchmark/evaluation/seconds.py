"""From the clock's parts to the seconds that a paper's figure of times shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmark.evaluation.predictions import PARTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def clocked(seconds: Floats, *, matrices: int, machines: int) -> dict[str, Floats]:
    """Seconds of every draw, by `metrics.CLOCK`.

    "seconds": to train one machine, its kernel matrix included and feature extraction excluded. Where there is a
    machine for each class, they share what doesn't depend on the class: the inner products, which count whole, and as a
    rule one kernel matrix. "seconds-with-features" has the extraction besides; "seconds-in-all" is everything but
    testing, of all machines.

    Parameters
    ----------
    seconds : float64 array, shape (splits, 5)
        Of all machines, by `PARTS`.
    matrices, machines : int
        How many kernel matrices and machines there are; 1 and 1 of a method that gives each document one class.
    """
    part = dict(zip(PARTS, seconds.T, strict=True))
    given = np.asarray(part["products"] + part["kernel"] / matrices + part["training"] / machines)
    training = [i for i, name in enumerate(PARTS) if name != "testing"]
    return {
        "seconds": given,
        "seconds-with-features": given + part["extraction"],
        "seconds-in-all": np.asarray(seconds[:, training].sum(axis=1)),
    }
