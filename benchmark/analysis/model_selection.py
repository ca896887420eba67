"""Model selection: the candidate that each split uses, by test documents or cross-validation, and its predictions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmark.config.model import CHOOSE_ORACLE, method_of
from benchmark.evaluation.metrics import is_metric_defined, stack_tallies, tally_predictions
from benchmark.evaluation.predictions import SettingPredictions, tallies_from_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmark.config.model import Cell, Experiment
    from benchmark.evaluation.metrics import Tallies
    from benchmark.evaluation.predictions import Predictions, SettingKey

    Floats = NDArray[np.float64]


def select_candidates(
    experiment: Experiment, predictions: Predictions, cell: Cell, losses: Callable[[SettingKey], Floats]
) -> NDArray[np.intp] | None:
    """Return the index of the selected candidate for each split; None where a candidate has no predictions.

    A single candidate is used everywhere. "oracle" selects once for the whole curve, over the sizes at which every
    candidate has predictions, by the mean of the `losses` on the test documents: that is optimistic, and papers do so.
    "cross-validation" selects for each split.
    """
    each, known = range(len(method_of(experiment, cell).candidates)), predictions.settings
    points = [known[key] for key in (cell.setting(index, cell.size) for index in each) if key in known]
    if len(points) < len(each):
        return None
    n_splits = len(points[0].sizes)
    if len(each) == 1:
        return np.zeros(n_splits, dtype=np.intp)
    if cell.choice == CHOOSE_ORACLE:
        sizes = experiment.variants[cell.variant].sizes
        common = [size for size in sizes if all(cell.setting(index, size) in known for index in each)]
        of_each = [np.mean([losses(cell.setting(index, size)).mean() for size in common]) for index in each]
        return np.full(n_splits, np.argmin(of_each), dtype=np.intp)
    if any(len(point.inner) != n_splits for point in points):
        return None
    multilabel = predictions.tasks[cell.setting(0, cell.size).of_task].multilabel
    losses_of = partial(losses_of_counts, experiment, multilabel=multilabel)
    return best_by_inner_loss(np.stack([losses_of(tallies_from_rows(point.inner)) for point in points]))


def selected_predictions(predictions: Predictions, cell: Cell, candidates: NDArray[np.intp]) -> SettingPredictions:
    """Return the predictions of the selected candidates, split by split."""
    if len(set(candidates)) == 1:
        return predictions.settings[cell.setting(int(candidates[0]), cell.size)]
    splits = (predictions.settings[cell.setting(int(index), cell.size)].split(n) for n, index in enumerate(candidates))
    return SettingPredictions.joined(list(splits))


def split_losses(experiment: Experiment, predictions: Predictions, key: SettingKey) -> Floats:
    """Return the loss of each split of a setting on the test documents, see `losses_of_counts`."""
    documents, splits = predictions.tasks[key.of_task], predictions.splits[key.of_splits]
    k, predicted = len(documents.classes), predictions.settings[key].by_split
    counts = stack_tallies(
        tally_predictions(documents.truth[split.test], labels, k)
        for split, labels in zip(splits, predicted, strict=True)
    )
    return losses_of_counts(experiment, counts, multilabel=documents.multilabel)


def losses_of_counts(experiment: Experiment, counts: Tallies, *, multilabel: bool) -> Floats:
    """Return losses, of the shape of `counts.documents`: `selection_metric`, or 1 minus it where more is better."""
    known, metric = experiment.scorers, selection_metric(experiment, multilabel=multilabel)
    values: Floats = known[metric].scores(counts)
    return 1 - values if known[metric].more_is_better else values


def selection_metric(experiment: Experiment, *, multilabel: bool) -> str:
    """Return the metric by which candidates are chosen: the first of counts that is of all classes.

    By default, it is macro-F1 where documents may have several classes, and otherwise the error.
    """
    known = experiment.scorers
    of_all = (
        each
        for each in experiment.metrics
        if is_metric_defined(each, multilabel=multilabel, of_class=False, known=known) and not known[each].ranking
    )
    return next(of_all, "macro-f1" if multilabel else "error")


def best_by_inner_loss(losses: Floats) -> NDArray[np.intp]:
    """Return for each split the candidate with the lowest inner loss; among equals, the middle candidate.

    Parameters
    ----------
    losses : float64 array, shape (candidates, splits)

    Examples
    --------
    >>> best_by_inner_loss(np.array([[0.1], [0.1], [0.1], [0.2]]))
    array([1])
    """
    lowest = (np.flatnonzero(column == column.min()) for column in losses.T)
    return np.array([indices[(len(indices) - 1) // 2] for indices in lowest], dtype=np.intp)
