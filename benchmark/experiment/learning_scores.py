"""Learning curves to scores: free parameters are selected, and every point has its error on every draw."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.learning_curves import ORACLE
from benchmark.corpora.corpus import Documents
from benchmark.evaluation.draws import DrawScores
from benchmark.experiment.learning_curves import CurveResults, SizeResults, TaskResults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.config.learning_curves import CurvePoint, LearningCurves


@dataclass(frozen=True, eq=False)
class Selected:
    """A point with the parameters that were selected for each draw.

    Parameters
    ----------
    scored : DrawScores
    chosen : int array, shape (replicates,)
        Index into the curve's grid.
    """

    scored: DrawScores
    chosen: NDArray[np.intp]


def select(results: CurveResults) -> dict[str, Selected]:
    """Every cell that didn't fail, by id, in table order."""
    errors = {key: _errors(task) for key, task in results.tasks.items()}
    found = {}
    for cell in results.experiment.cells:
        task = results.tasks[cell.setting, cell.task]
        n_grid = next(len(curve.grid) for curve in results.experiment.curves if curve.name == cell.curve)
        if all((cell.curve, index, cell.size) in task.found for index in range(n_grid)):
            found[cell.id] = _selected(cell, task, errors[cell.setting, cell.task], n_grid, results.experiment)
    return found


def _errors(task: TaskResults) -> dict[tuple[str, int, int], NDArray[np.float64]]:
    """Test error of each draw, by (curve, grid index, size)."""
    truth = task.documents.labels == 1
    found = {}
    for key, each in task.found.items():
        tested = ~task.trained[key[2]]
        found[key] = ((each.second != truth) & tested).sum(axis=1) / tested.sum(axis=1)
    return found


def _selected(
    cell: CurvePoint,
    task: TaskResults,
    errors: Mapping[tuple[str, int, int], NDArray[np.float64]],
    n_grid: int,
    study: LearningCurves,
) -> Selected:
    """Choose from the grid: for the whole curve by its test errors, or for each draw by its inner errors.

    "oracle" is the one grid point whose test error, averaged over the curve, is lowest, as the paper's figure was made.
    Cross-validation takes for each draw the grid point with the lowest inner error; among equals, the middle one.
    """
    if n_grid == 1:
        chosen = np.zeros(study.replicates, dtype=np.intp)
    elif cell.selection == ORACLE:
        curve = [np.mean([errors[cell.curve, i, size].mean() for size in study.sizes]) for i in range(n_grid)]
        chosen = np.full(study.replicates, int(np.argmin(curve)), dtype=np.intp)
    else:
        inner = np.stack([task.found[cell.curve, i, cell.size].inner_errors for i in range(n_grid)])
        chosen = np.array([_middle(np.flatnonzero(column == column.min())) for column in inner.T], dtype=np.intp)
    draws = range(study.replicates)
    error = np.array([errors[cell.curve, int(chosen[draw]), cell.size][draw] for draw in draws])
    ties = np.array([task.found[cell.curve, int(chosen[draw]), cell.size].ties[draw] for draw in draws])
    n = len(task.documents) - cell.size
    return Selected(DrawScores(cell.id, {"error": error}, n, ties), chosen)


def _middle(indices: NDArray[np.intp]) -> int:
    return int(indices[(len(indices) - 1) // 2])


def described(results: CurveResults) -> dict[str, Any]:
    """What the manifest says of learning curves: what was selected, and the seeds."""
    study, selected = results.experiment, select(results)
    grids = {curve.name: curve.grid for curve in study.curves}
    return {
        "cells": {
            cell.id: {
                "kernels": [grids[cell.curve][int(index)].resolved for index in selected[cell.id].chosen],
                "ties": int(selected[cell.id].scored.ties.sum()),
            }
            for cell in study.cells
            if cell.id in selected
        },
        "protocol": {"sizes": list(study.sizes), "replicates": study.replicates, "inner_folds": study.inner_folds},
        "seeds": {"draws": study.seed},
    }


def encode(results: CurveResults) -> bytes:
    """The predictions as a NumPy archive, the same bytes for the same predictions."""
    arrays: dict[str, NDArray[Any]] = {}
    for (setting, name), task in results.tasks.items():
        place = f"{setting}/{name}"
        arrays[f"{place}/documents"] = np.frombuffer("\0".join(task.documents.ids).encode(), dtype=np.uint8)
        arrays[f"{place}/labels"] = task.documents.labels
        for size, trained in task.trained.items():
            arrays[f"{place}/{size}/trained"] = np.packbits(trained, axis=1)
        for (curve, index, size), each in task.found.items():
            point = f"{place}/{size}/{curve}/{index}"
            arrays[f"{point}/second"] = np.packbits(each.second, axis=1)
            arrays[f"{point}/ties"] = each.ties
            arrays[f"{point}/inner"] = each.inner_errors
    file = io.BytesIO()
    np.savez_compressed(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    return file.getvalue()


def decode(study: LearningCurves, content: bytes, failures: dict[str, str], facts: dict[str, Any]) -> CurveResults:
    """The predictions back from their archive.

    Raises
    ------
    ValueError, KeyError, OSError
        If it is damaged, or not the archive of this configuration.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        tasks = {
            (setting.name, task.name): _decoded_task(study, dict(arrays), f"{setting.name}/{task.name}")
            for setting in study.settings
            for task in study.tasks
        }
    return CurveResults(study, tasks, failures, facts)


def _decoded_task(study: LearningCurves, arrays: Mapping[str, NDArray[Any]], place: str) -> TaskResults:
    ids = tuple(arrays[f"{place}/documents"].tobytes().decode().split("\0"))
    n, labels = len(ids), arrays[f"{place}/labels"]
    task = next(task for task in study.tasks if place.endswith(f"/{task.name}"))
    documents = Documents(ids, labels, np.zeros(n, dtype=np.int32), (task.first, task.second), ("",))

    def bits(name: str) -> NDArray[np.bool_]:
        return np.unpackbits(arrays[f"{place}/{name}"], axis=1, count=n).astype(bool)

    result = TaskResults(documents, {size: bits(f"{size}/trained") for size in study.sizes})
    for curve in study.curves:
        for index in range(len(curve.grid)):
            for size in study.sizes:
                point = f"{size}/{curve.name}/{index}"
                if f"{place}/{point}/second" in arrays:
                    own = arrays[f"{place}/{point}/ties"], arrays[f"{place}/{point}/inner"]
                    result.found[curve.name, index, size] = SizeResults(bits(f"{point}/second"), *own)
    return result
