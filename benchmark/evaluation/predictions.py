"""The predictions of an experiment, of one class a document or of several: what all scores are computed from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


#: The files of a run's folder: the predictions; what they are of; the arrays that measures computed; the numbers that
#: these and plug-ins' metrics came to; what the settings took.
PREDICTIONS, DOCUMENTS, SPLITS, SETTINGS = (
    f"{name}.parquet" for name in ("predictions", "documents", "splits", "settings")
)
DIAGNOSTICS, ESTIMATES, TIMINGS = "diagnostics.npz", "estimates.parquet", "timings.parquet"
RECORD = (PREDICTIONS, DOCUMENTS, SPLITS, SETTINGS, DIAGNOSTICS, ESTIMATES, TIMINGS)
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


class TaskKey(NamedTuple):
    """Names a task under a variant."""

    variant: str
    task: str


class SplitKey(NamedTuple):
    """Names the splits of a task that train on so many documents; `size` is None where the protocol decides."""

    variant: str
    task: str
    size: int | None

    @property
    def of_task(self) -> TaskKey:
        """The task whose documents are divided."""
        return TaskKey(self.variant, self.task)


class SettingKey(NamedTuple):
    """Names a setting: a candidate of a method with a training size and a number of terms, None where there is none."""

    variant: str
    task: str
    method: str
    candidate: int
    size: int | None
    terms: int | None

    @property
    def of_task(self) -> TaskKey:
        """The task that it classifies documents of."""
        return TaskKey(self.variant, self.task)

    @property
    def of_splits(self) -> SplitKey:
        """The splits that it is trained on."""
        return SplitKey(self.variant, self.task, self.size)


@dataclass(frozen=True, eq=False)
class SettingPredictions:
    """The predictions of a setting on one split or on several, split after split.

    Parameters
    ----------
    predicted : int16 array, shape (m,), or bool array, shape (m, k)
        The class of each tested document; or, where documents may have several, which classes it gets.
    tied : bool array, of the shape of `predicted`
        Where the first place was shared; or where the decision value was exactly 0.
    sizes : tuple of int
        Tested documents of each split; their sum is m.
    seconds : float64 array, shape (splits, 6)
        By `CLOCKS`.
    memory : float64 array, shape (splits,)
        The most bytes that the process held while it trained and tested; NaN where that isn't known.
    inner : float64 array, shape (splits,) or (0,)
        Error of the inner cross-validation on each split's training documents; empty where nothing is chosen by it.
    versions : tuple of str
        Of the code that took each split's seconds; "" where that isn't known.
    """

    predicted: NDArray[Any]
    tied: NDArray[np.bool_]
    sizes: tuple[int, ...]
    seconds: NDArray[np.float64]
    memory: NDArray[np.float64]
    inner: NDArray[np.float64]
    versions: tuple[str, ...]

    @classmethod
    def of_split(cls, predicted: NDArray[Any], tied: NDArray[np.bool_], seconds: NDArray[np.float64]) -> Self:
        """Return what a method predicts on one split, in seconds by `CLOCKS`, shape (6,)."""
        codes = predicted if predicted.dtype == np.bool_ else predicted.astype(np.int16)
        unknown = np.array([np.nan])
        return cls(codes, tied, (len(codes),), seconds[None], unknown, np.empty(0), ("",))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the predictions of all parts, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        names = ("predicted", "tied", "seconds", "memory", "inner")
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        sizes = tuple(size for part in parts for size in part.sizes)
        versions = tuple(version for part in parts for version in part.versions)
        return cls(sizes=sizes, versions=versions, **arrays)

    @property
    def bounds(self) -> NDArray[np.intp]:
        """First row of each split, and the number of rows, shape (splits + 1,)."""
        return np.cumsum([0, *self.sizes])

    def split(self, number: int) -> Self:
        """Return the predictions of one split."""
        rows, at = slice(*self.bounds[number : number + 2]), slice(number, number + 1)
        return type(self)(
            self.predicted[rows],
            self.tied[rows],
            self.sizes[at],
            self.seconds[at],
            self.memory[at],
            self.inner[at],
            self.versions[at],
        )

    @property
    def by_split(self) -> list[NDArray[Any]]:
        """`predicted` of each split."""
        return np.split(self.predicted, self.bounds[1:-1])

    @property
    def tied_by_split(self) -> list[NDArray[np.bool_]]:
        """`tied` of each split."""
        return np.split(self.tied, self.bounds[1:-1])


@dataclass(frozen=True, eq=False)
class Predictions:
    """All that an experiment predicted.

    Parameters
    ----------
    tasks : dict of TaskKey to TaskDocuments
    splits : dict of SplitKey to tuple of TestedSplit
    settings : dict of SettingKey to SettingPredictions
        Settings that failed are missing.
    measured : dict of (measure, variant) to dict of str to array
        What the measures computed.
    """

    tasks: dict[TaskKey, TaskDocuments]
    splits: dict[SplitKey, tuple[TestedSplit, ...]]
    settings: dict[SettingKey, SettingPredictions]
    measured: dict[tuple[str, str], dict[str, NDArray[Any]]] = field(default_factory=dict)
