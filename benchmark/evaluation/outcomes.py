"""Predictions of one cell on all test documents of all splits, and the scores of cells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.metrics import METRICS, Tallies, is_metric_defined, stack_tallies, tally_predictions
from benchmark.evaluation.ranking_metrics import DecisionRanking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmark.evaluation.metrics import Metric
    from benchmark.system.arrays import Array, Bools, Indices

    Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Predictions of one cell of an experiment, with the truth.

    Parameters
    ----------
    cell : str
        Name of the cell, "tf-l1-ngd".
    documents : int array, shape (n,)
        Number of the test document; a document occurs once for each split that tests it.
    folds : int array, shape (n,)
        Number of the split that tests it.
    truth, predicted : int arrays, shape (n,), or bool arrays, shape (n, k)
        True and predicted class, from 0 to n_classes - 1; or true and predicted class indicators.
    n_classes : int
    of_class : int or None
        The single class that is scored; None for all classes together.
    tied : bool array, of the shape of `truth`, or None
        True for a tie for the first place, or a decision value of exactly 0; None where ties aren't known.
    known : mapping of str to Metric
        Metrics by name.
    values : float64 array, shape (n, n_classes), or None
        Decision value of each class, where a metric asks for them.
    """

    cell: str
    documents: Ints
    folds: Ints
    truth: NDArray[Any]
    predicted: NDArray[Any]
    n_classes: int
    of_class: int | None = None
    tied: Bools | None = None
    known: Mapping[str, Metric] = field(default_factory=lambda: METRICS)
    values: Array | None = None

    @property
    def multilabel(self) -> bool:
        """True if a document may have several classes, or none."""
        return self.truth.ndim == 2

    @cached_property
    def correct(self) -> Bools:
        """True for right predictions, of the shape of `truth`."""
        return np.asarray(self.truth == self.predicted)

    @cached_property
    def repeats_documents(self) -> bool:
        """True if a document is tested by more than one split, as with random subsets."""
        return bool(np.unique(self.documents).size < self.documents.size)

    @cached_property
    def rows(self) -> tuple[Indices, ...]:
        """Positions of each split's documents, split by split."""
        return tuple(np.flatnonzero(self.folds == fold) for fold in np.unique(self.folds))

    @cached_property
    def tallies(self) -> Tallies:
        """Counts of the scored class or classes, with the splits as first axis."""
        whole = stack_tallies(
            tally_predictions(self.truth[rows], self.predicted[rows], self.n_classes) for rows in self.rows
        )
        return whole if self.of_class is None else whole.only(self.of_class)

    @cached_property
    def rankings(self) -> tuple[DecisionRanking, ...]:
        """Decision values and truth of each split; () where there are no values."""
        if self.values is None:
            return ()
        pairs = ((self.truth[rows], self.values[rows]) for rows in self.rows)
        return tuple(DecisionRanking.of_documents(*pair, self.of_class) for pair in pairs)

    def can_score(self, metric: str) -> bool:
        """Return whether a metric can be computed from the predictions, or the decision values."""
        spec = self.known.get(metric)
        return spec is not None and (spec.of is not None or (spec.ranking is not None and self.values is not None))

    @cached_property
    def parts(self) -> tuple[Outcome, ...]:
        """Outcome of each split separately."""
        return tuple(self.take(rows) for rows in self.rows)

    def take(self, rows: Indices) -> Outcome:
        """Return the outcome on some of the tested documents."""
        optional = (name for name in ("tied", "values") if getattr(self, name) is not None)
        names = ("documents", "folds", "truth", "predicted", *optional)
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def ties(self, of_class: int | None) -> NDArray[np.int64]:
        """Return the number of ties of each split, for all classes or for one.

        The ties of one class are those on its documents, or on its decisions where documents may have several classes.
        """
        tied = np.zeros(self.truth.shape, dtype=bool) if self.tied is None else self.tied
        if of_class is not None:
            tied = tied[:, of_class] if self.multilabel else tied & (self.truth == of_class)
        return np.array([np.count_nonzero(tied[rows]) for rows in self.rows], dtype=np.int64)

    def counted(self) -> Bools:
        """Return a mask of the documents of the scored class, shape (n,); all documents if all classes are scored."""
        if self.of_class is None:
            return np.ones(len(self.documents), dtype=bool)
        return np.asarray(self.truth[:, self.of_class] if self.multilabel else self.truth == self.of_class)


@dataclass(frozen=True)
class Estimate:
    """Number computed from test documents, with its 95% interval.

    Parameters
    ----------
    value, low, high : float
        `value` is computed from all documents; the interval need not be symmetric about it.
    n : int
        Number of test documents; a document tested in r folds counts r times.
    method : str
        Kind of interval: "wilson", "bonett-price", "bootstrap", "t over replicates", "fieller", "single replicate",
        "count", or one of those of `evaluation.intervals` that begin with none.
    """

    value: float
    low: float
    high: float
    n: int
    method: str


def fold_scores(outcome: Outcome, metric: str) -> Array:
    """Return the metric on each split, in the order of the splits.

    Raises
    ------
    ValueError
        If the metric needs decision values and the outcome has none, or if only its recorded scores are known.
    """
    spec = outcome.known[metric]
    if spec.ranking is not None:
        if outcome.values is None:
            raise ValueError(f"{outcome.cell!r} has no decision values, which {metric} needs")
        return np.array([spec.ranking(each) for each in outcome.rankings], dtype=np.float64)
    return spec.scores(outcome.tallies)


def outcome_scores(outcome: Outcome) -> dict[str, Array]:
    """Return the values of every metric that is defined for an outcome and can be computed, on each split."""
    how = {"multilabel": outcome.multilabel, "of_class": outcome.of_class is not None}
    names = (name for name in outcome.known if is_metric_defined(name, **how, known=outcome.known))
    return {name: fold_scores(outcome, name) for name in names if outcome.can_score(name)}


def score_over_splits(outcome: Outcome, metric: str) -> float:
    """Return the score of a cell: that of the summed counts where the metric is pooled, else the mean over the splits.

    Raises
    ------
    ValueError
        If the metric is pooled and a document is tested by more than one split.
    """
    if not outcome.known[metric].pooled:
        return float(fold_scores(outcome, metric).mean())
    if outcome.repeats_documents:
        raise ValueError(f"{outcome.cell!r} tests documents more than once: their outcomes cannot be pooled")
    return float(outcome.known[metric].scores(outcome.tallies.summed()))


def check_same_documents(a: Outcome, b: Outcome) -> None:
    """Check that two outcomes can be paired: the same documents in the same order.

    Raises
    ------
    ValueError
        If the outcomes differ in documents, folds, truth or scored class.
    """
    for name in ("documents", "folds", "truth"):
        if not np.array_equal(getattr(a, name), getattr(b, name)):
            raise ValueError(f"{a.cell!r} and {b.cell!r} differ in {name}: only the same test documents can be paired")
    if a.of_class != b.of_class:
        raise ValueError(f"{a.cell!r} and {b.cell!r} are scores of different classes")


#: Fold name of a cell's score over all splits: their mean, or the score of a single split.
ALL_SPLITS = "all"
SCORE_COLUMNS = ("cell", "fold", "metric", "value", "low", "high", "n", "ties")
#: Columns that describe a row's cell; size and terms are missing where they are not axes.
CELL_COLUMNS = ("variant", "task", "of_class", "method", "choice", "size", "terms", "what")


@dataclass(frozen=True, eq=False)
class CellScores:
    """Scores of one cell on every split.

    Parameters
    ----------
    cell : str
    folds : tuple of str
        Names of the splits; empty for a cell without splits.
    values : mapping of str to float64 array, shape (splits,)
        Scores by metric; shares are fractions.
    n, ties : int arrays, shape (splits,)
        Numbers of tested documents and of tied decisions.
    outcome : Outcome or None
        The predictions themselves; None for a cell that is computed from scores or makes no predictions.
    known : mapping of str to Estimate
        Estimates by metric that are not computed from the splits: a bootstrap of all documents, a count.
    recorded : mapping of (metric, fold, cell) to Estimate
        Estimates of plug-in metrics, in a run that is read from its folder. Where the cell is "", the score of a fold
        (`ALL_SPLITS` for all); else the difference to the score of that cell.
    """

    cell: str
    folds: tuple[str, ...]
    values: Mapping[str, Array]
    n: NDArray[np.int64]
    ties: NDArray[np.int64]
    outcome: Outcome | None = None
    known: Mapping[str, Estimate] = field(default_factory=dict)
    recorded: Mapping[tuple[str, str, str], Estimate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for metric, values in self.values.items():
            if values.shape != (len(self.folds),) or not values.size or not np.isfinite(values).all():
                raise ValueError(f"{self.cell!r}: {metric} must be finite on each of {len(self.folds)} splits")

    def has(self, metric: str) -> bool:
        """Return whether the cell has a score of this metric."""
        return metric in self.values or metric in self.known

    def can_score(self, metric: str) -> bool:
        """Return whether the metric can be computed from the predictions, or their decision values."""
        return self.outcome is not None and self.outcome.can_score(metric)

    def named(self, cell: str) -> CellScores:
        """Return the same scores under another cell's name."""
        return replace(self, cell=cell, outcome=None if self.outcome is None else replace(self.outcome, cell=cell))

    def of_class(self, position: int) -> CellScores:
        """Return the scores of one class, computed from predictions on all classes."""
        if self.outcome is None:
            raise ValueError(f"{self.cell!r} has no predictions, so its classes can't be scored one by one")
        outcome = replace(self.outcome, of_class=position)
        tested, ties = outcome.tallies.documents, self.outcome.ties(position)
        return CellScores(self.cell, self.folds, outcome_scores(outcome), tested, ties, outcome)


def mean_scores(name: str, cells: Sequence[CellScores]) -> CellScores:
    """Return the mean scores of cells on the splits that they share, of each metric that all have."""
    first, ties = cells[0], np.sum([each.ties for each in cells], axis=0)
    shared = [metric for metric in first.values if all(metric in each.values for each in cells)]
    values = {metric: np.mean([each.values[metric] for each in cells], axis=0) for metric in shared}
    return CellScores(name, first.folds, values, first.n, ties)
