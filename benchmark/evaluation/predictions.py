"""Predictions of an experiment, from which all scores are computed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from benchmark.evaluation.metrics import Tallies

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.system.arrays import Array, Bools, Indices


#: Files of a run: predictions, their documents, splits and settings; arrays of diagnostics; estimates of diagnostics
#: and of plug-ins' metrics; times of settings.
PREDICTIONS_TABLE, DOCUMENTS_TABLE, SPLITS_TABLE, SETTINGS_TABLE = (
    f"{name}.parquet" for name in ("predictions", "documents", "splits", "settings")
)
DIAGNOSTICS_ARRAYS, ESTIMATES_TABLE, TIMINGS_TABLE = "diagnostics.npz", "estimates.parquet", "timings.parquet"
#: Archive in a run folder of all that isn't a prediction or a time.
RECORDS_ARCHIVE = "records.zip"
ARCHIVED_FILES = (DOCUMENTS_TABLE, SPLITS_TABLE, SETTINGS_TABLE, DIAGNOSTICS_ARRAYS, ESTIMATES_TABLE)
#: Files of a run folder that the manifest names.
RUN_FILES = (PREDICTIONS_TABLE, RECORDS_ARCHIVE, TIMINGS_TABLE)
#: Parts of a method's time. "products" is the computation of the inner products of its kernel matrices.
METHOD_TIMERS = ("extraction", "products", "kernel", "training", "testing")
#: All times of a method. "machines" is the training time of its binary machines, summed as if they had been trained one
#: by one (they may be trained in parallel); 0 for methods without machines, or where that isn't measured.
TIMERS = (*METHOD_TIMERS, "machines")
#: Ways in which a tested document may be known from training: almost the same words, or the same group.
NEAR_DUPLICATES, SHARED_GROUPS = "near-duplicates", "shared groups"
#: `SettingPredictions.inner` where inner folds choose nothing.
NO_INNER_FOLDS = np.empty((0, 0), dtype=np.int64)

#: First word of the columns with a score of each class in a file of predictions, as `bench predict` writes them; the
#: first kind found counts.
SCORE_WORDS = ("decision", "score", "probability")


def score_columns(columns: Iterable[Any]) -> list[str]:
    """Return the columns of the first kind of scores that a file of predictions has."""
    names = [str(each) for each in columns]
    kinds = ([name for name in names if name.startswith(f"{word} ")] for word in SCORE_WORDS)
    return next(filter(None, kinds), [])


def tallies_from_rows(rows: NDArray[np.int64]) -> Tallies:
    """Return counts from rows as in `SettingPredictions.inner`, with the rows as first axis."""
    right, assigned, true = np.split(rows[:, :-1], 3, axis=1)
    return Tallies(right, assigned, true, rows[:, -1])


@dataclass(frozen=True, eq=False)
class TaskDocuments:
    """Documents of one task under one variant.

    Parameters
    ----------
    ids : tuple of str, length n
    classes : tuple of str, length k
    truth : int32 array, shape (n,), or bool array, shape (n, k)
        Class of each document, or class indicators.
    """

    ids: tuple[str, ...]
    classes: tuple[str, ...]
    truth: NDArray[Any]

    @property
    def multilabel(self) -> bool:
        """True if a document may have several classes, or none."""
        return self.truth.ndim == 2


@dataclass(frozen=True, eq=False)
class TestedSplit:
    """Test documents of one split.

    Parameters
    ----------
    name : str
        "cornell", "test", "replicate-07".
    test : intp array, shape (m,)
        Rows of the test documents among the task's documents, ascending.
    trained : int64 array, shape (k,)
        Number of training documents of each class.
    leaks : mapping of str to intp array
        Rows of the test documents that have a near-duplicate or a document of their group in training, by
        `NEAR_DUPLICATES` and `SHARED_GROUPS`; a way that wasn't looked for is missing.
    """

    __test__ = False

    name: str
    test: Indices
    trained: NDArray[np.int64]
    leaks: Mapping[str, Indices] = field(default_factory=dict)


class TaskKey(NamedTuple):
    """Key of a task under a variant."""

    variant: str
    task: str


class SplitKey(NamedTuple):
    """Key of the splits of a task at one training size; `size` is None where the protocol determines it."""

    variant: str
    task: str
    size: int | None

    @property
    def of_task(self) -> TaskKey:
        """Key of the task."""
        return TaskKey(self.variant, self.task)


class SettingKey(NamedTuple):
    """Key of a setting: a candidate of a method at one training size and number of terms; None where not set."""

    variant: str
    task: str
    method: str
    candidate: int
    size: int | None
    terms: int | None

    @property
    def of_task(self) -> TaskKey:
        """Key of the task."""
        return TaskKey(self.variant, self.task)

    @property
    def of_splits(self) -> SplitKey:
        """Key of the splits."""
        return SplitKey(self.variant, self.task, self.size)

    @property
    def name(self) -> str:
        """Name of the setting in messages: variant, task, method, size and terms."""
        words = self.variant, self.task, self.method, self.size, self.terms
        return "-".join(str(word) for word in words if word not in ("", "base", None))


@dataclass(frozen=True, eq=False)
class SettingPredictions:
    """Predictions of a setting on one or several splits, concatenated in the order of the splits.

    Parameters
    ----------
    predicted : int16 array, shape (m,), or bool array, shape (m, k)
        Predicted class of each test document, or class indicators where documents may have several classes.
    tied : bool array, of the shape of `predicted`
        True for a tie for the first place, or for a decision value of exactly 0.
    sizes : tuple of int
        Number of test documents of each split; the sum is m.
    seconds : float64 array, shape (splits, 6)
        Seconds by `TIMERS`.
    memory : float64 array, shape (splits,)
        Peak resident bytes of the process during training and testing; NaN where not known.
    inner : int64 array, shape (splits, 3 k + 1) or (0, 0)
        Counts of the inner folds of each split's training documents, summed over the folds: `Tallies.right`,
        `assigned` and `true` of each class, and `documents`. Empty where inner folds choose nothing.
    warnings : tuple of str
        What the classifier warned of while it was trained on any of the splits, each text once.
    values : float64 array, shape (m, k), or None
        Decision value of each class; infinite for classes that could not be learned. None where a method has none, and
        where no metric asks for them.
    """

    predicted: NDArray[Any]
    tied: Bools
    sizes: tuple[int, ...]
    seconds: Array
    memory: Array
    inner: NDArray[np.int64]
    warnings: tuple[str, ...] = ()
    values: Array | None = None

    @classmethod
    def of_split(cls, predicted: NDArray[Any], tied: Bools, seconds: Array, values: Array | None = None) -> Self:
        """Return the predictions of one split; `seconds` by `TIMERS`, shape (6,)."""
        codes = predicted if predicted.dtype == np.bool_ else predicted.astype(np.int16)
        unknown = np.array([np.nan])
        return cls(codes, tied, (len(codes),), seconds[None], unknown, NO_INNER_FOLDS, values=values)

    @classmethod
    def untrained(cls, predicted: NDArray[Any], sizes: tuple[int, ...]) -> Self:
        """Return predictions of which nothing but the labels is known."""
        seconds, unknown = np.zeros((len(sizes), len(TIMERS))), np.full(len(sizes), np.nan)
        return cls(predicted, np.zeros(predicted.shape, dtype=np.bool_), sizes, seconds, unknown, NO_INNER_FOLDS)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the predictions of all parts, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        names = ("predicted", "tied", "seconds", "memory", "inner")
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        sizes = tuple(size for part in parts for size in part.sizes)
        warnings = tuple(dict.fromkeys(text for part in parts for text in part.warnings))
        each = [part.values for part in parts if part.values is not None]
        values = np.concatenate(each) if len(each) == len(parts) else None
        return cls(sizes=sizes, warnings=warnings, values=values, **arrays)

    @property
    def bounds(self) -> Indices:
        """First row of each split, and the number of rows, shape (splits + 1,)."""
        return np.cumsum([0, *self.sizes])

    def split(self, number: int) -> Self:
        """Return the predictions of one split."""
        rows, at = slice(*self.bounds[number : number + 2]), slice(number, number + 1)
        of_documents = ("predicted", "tied", *(["values"] if self.values is not None else []))
        parts = {name: getattr(self, name)[rows] for name in of_documents}
        parts |= {name: getattr(self, name)[at] for name in ("sizes", "seconds", "memory", "inner")}
        return replace(self, **parts)

    @property
    def by_split(self) -> list[NDArray[Any]]:
        """`predicted` of each split."""
        return np.split(self.predicted, self.bounds[1:-1])


@dataclass(frozen=True, eq=False)
class Predictions:
    """All predictions of an experiment.

    Parameters
    ----------
    tasks : dict of TaskKey to TaskDocuments
    splits : dict of SplitKey to tuple of TestedSplit
    settings : dict of SettingKey to SettingPredictions
        Settings that failed are missing.
    diagnostics : dict of (diagnostic, variant) to dict of str to array
        Arrays of the diagnostics that figures read.
    """

    tasks: dict[TaskKey, TaskDocuments]
    splits: dict[SplitKey, tuple[TestedSplit, ...]]
    settings: dict[SettingKey, SettingPredictions]
    diagnostics: dict[tuple[str, str], dict[str, NDArray[Any]]] = field(default_factory=dict)
