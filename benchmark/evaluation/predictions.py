"""The predictions of an experiment, of one class a document or of several: what all scores are computed from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


#: The files of a run's folder that hold what it predicted, and what that took.
PREDICTIONS, TIMINGS = "predictions.npz", "timings.csv"
#: What the seconds of a method are spent on. "products" are the inner products that its kernel matrices are made of.
PARTS = ("extraction", "products", "kernel", "training", "testing")
#: All seconds that a method tells. "machines" are those of the training, as if its machines had been trained one by one
#: (they may be trained side by side); 0 of what has none or doesn't tell.
CLOCKS = (*PARTS, "machines")


@dataclass(frozen=True, eq=False)
class TaskDocuments:
    """The documents of one task under one variant.

    Parameters
    ----------
    ids : tuple of str, length n
    classes : tuple of str, length k
    truth : int32 array, shape (n,), or bool array, shape (n, k)
        The class of each document; or which classes it has.
    """

    ids: tuple[str, ...]
    classes: tuple[str, ...]
    truth: NDArray[Any]

    @property
    def several(self) -> bool:
        """Whether a document may have several classes, or none."""
        return self.truth.ndim == 2


@dataclass(frozen=True, eq=False)
class TestedSplit:
    """One split, as scores see it.

    Parameters
    ----------
    name : str
        "cornell", "test", "replicate-07".
    test : intp array, shape (m,)
        Rows of the task's documents that are tested, ascending.
    trained : int64 array, shape (k,)
        Training documents of each class.
    """

    __test__ = False

    name: str
    test: NDArray[np.intp]
    trained: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Given:
    """What one candidate of one method decided at one point, split by split.

    Parameters
    ----------
    given, tied : tuples of arrays
        As in `methods.base.Decisions`, one array a split.
    seconds : float64 array, shape (splits, 6)
        By `CLOCKS`.
    memory : float64 array, shape (splits,)
        The most bytes that the process held while it trained and tested; NaN where that isn't known.
    inner : float64 array, shape (splits,) or (0,)
        Error of the inner cross-validation on each split's training documents; empty where nothing is chosen by it.
    versions : tuple of str
        Of the code that took each split's seconds; "" where that isn't known.
    """

    given: tuple[NDArray[Any], ...]
    tied: tuple[NDArray[np.bool_], ...]
    seconds: NDArray[np.float64]
    memory: NDArray[np.float64]
    inner: NDArray[np.float64]
    versions: tuple[str, ...] = ()


#: (variant, task)
TaskKey = tuple[str, str]
#: (variant, task, training size or None)
SplitKey = tuple[str, str, int | None]
#: (variant, task, method's label, index of the candidate, training size or None, terms or None)
PointKey = tuple[str, str, str, int, int | None, int | None]


@dataclass(frozen=True, eq=False)
class Predictions:
    """All that an experiment predicted.

    Parameters
    ----------
    tasks : dict of (variant, task) to TaskDocuments
    splits : dict of (variant, task, size) to tuple of TestedSplit
    points : dict of (variant, task, method, candidate, size, terms) to Given
        Points that failed are missing.
    measured : dict of (measure, variant) to dict of str to array
        What the measures computed.
    """

    tasks: dict[TaskKey, TaskDocuments]
    splits: dict[SplitKey, tuple[TestedSplit, ...]]
    points: dict[PointKey, Given]
    measured: dict[tuple[str, str], dict[str, NDArray[Any]]] = field(default_factory=dict)
