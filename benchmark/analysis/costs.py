"""Costs of cells: seconds on the clock and peak memory, as measured when a cell was first computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.analysis.model_selection import selected_predictions
from benchmark.config.model import ALL_CLASSES, method_of
from benchmark.config.subset import settings_of_cell
from benchmark.evaluation.predictions import METHOD_TIMERS, TIMERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from benchmark.analysis.scoring import RunPredictions
    from benchmark.config.model import Cell, Experiment
    from benchmark.evaluation.predictions import SettingPredictions

_TESTING = METHOD_TIMERS.index("testing")


def cost_rows(run: RunPredictions) -> Iterator[list[Any]]:
    """Yield the rows of the cost frame: seconds of training and testing over all splits, peak bytes, if stored."""
    known = set(run.stored)
    for cell in (cell for cell in run.experiment.cells if cell.what == "point" and cell.id in run.scored.chosen):
        elsewhere = method_of(run.experiment, cell).candidates[0].predictions is not None
        if cell.of_class in ("", ALL_CLASSES) and not elsewhere:
            setting = selected_predictions(run.predictions, cell, run.scored.chosen[cell.id])
            seconds = setting.seconds[:, : len(METHOD_TIMERS)].sum(axis=0)
            testing, stored = float(seconds[_TESTING]), known.issuperset(settings_of_cell(run.experiment, cell))
            yield [cell.id, float(seconds.sum()) - testing, testing, float(np.max(setting.memory)), stored]


def time_metrics(
    experiment: Experiment, cell: Cell, found: SettingPredictions, machines: int
) -> dict[str, NDArray[np.float64]]:
    """Return the seconds of every split, by metric of `metrics.CLOCK`.

    "seconds" is the time to train one classifier, including its kernel matrix and excluding feature extraction. Where
    each class has a binary classifier, these share what doesn't depend on the class: the inner products, which count
    whole, and as a rule one kernel matrix. Their training counts as if they had been trained one by one, as those of
    HP-TOP are. "seconds-with-features" adds the extraction. "seconds-in-all" is everything but testing, for all
    classifiers, as they were trained.

    Parameters
    ----------
    experiment : Experiment
    cell : Cell
    found : SettingPredictions
        Predictions of the cell; their seconds are those of all binary classifiers.
    machines : int
        Number of binary classifiers; 1 for a method that predicts one class per document.
    """
    kernel = method_of(experiment, cell).candidates[0].kernel
    matrices = machines if kernel is not None and kernel.tags.solved_by == "targets" else 1
    part = dict(zip(TIMERS, found.seconds.T, strict=True))
    training = np.where(part["machines"] > 0, part["machines"], part["training"])
    seconds = np.asarray(part["products"] + part["kernel"] / matrices + training / machines)
    return {
        "seconds": seconds,
        "seconds-with-features": seconds + part["extraction"],
        "seconds-in-all": np.asarray(np.delete(found.seconds[:, : len(METHOD_TIMERS)], _TESTING, axis=1).sum(axis=1)),
    }
