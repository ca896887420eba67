"""Category curves to scores: the F-measures of every draw, its seconds; and the archive of the decisions."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.category_curves import HP_TOP
from benchmark.evaluation.draws import DrawScores
from benchmark.evaluation.multilabel import category_counts, macro_f1, macro_f1_of_means, micro_f1
from benchmark.experiment.category_curves import CategoryResults, MethodResults, Tested
from benchmark.experiment.category_methods import PARTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.category_curves import CategoryCurves
    from benchmark.evaluation.multilabel import CategoryCounts

METRICS = ("macro-f1", "micro-f1", "macro-f1-of-means")
#: Measured on the clock: it decides claims and is drawn, but stands in no table.
SECONDS = "seconds"


def counts_by_draw(results: CategoryResults) -> dict[str, CategoryCounts]:
    """Counts of every cell that didn't fail, shape (draws, k) each, in table order."""
    cells = [cell.id for cell in results.experiment.cells if cell.id in results.found]
    return {cell: category_counts(results.tested.truth, results.found[cell].assigned) for cell in cells}


def score(results: CategoryResults) -> dict[str, DrawScores]:
    """Every cell that didn't fail, by id, in table order."""
    scored = {}
    methods = {cell.id: cell.method for cell in results.experiment.cells}
    for cell, counts in counts_by_draw(results).items():
        own = results.found[cell]
        values = {
            "macro-f1": macro_f1(counts),
            "micro-f1": micro_f1(counts),
            "macro-f1-of-means": macro_f1_of_means(counts),
            SECONDS: category_seconds(own.seconds, methods[cell], len(results.tested.categories)),
        }
        scored[cell] = DrawScores(cell, values, len(results.tested.ids), own.ties.sum(axis=1))
    return scored


def category_seconds(seconds: NDArray[np.float64], method: str, n_categories: int) -> NDArray[np.float64]:
    """Seconds to train one category's machine, its kernel matrix included, feature extraction excluded.

    A run of the paper's Figure 3 is one category on one training set, and its time this. Here the categories share
    what doesn't depend on them: one matrix of inner products, which counts whole, and but for HP-TOP one kernel matrix.

    Parameters
    ----------
    seconds : float array, shape (draws, 5)
        Of all categories, by `PARTS`.
    method : str
    n_categories : int
    """
    part = dict(zip(PARTS, seconds.T, strict=True))
    matrices = n_categories if method == HP_TOP else 1
    return np.asarray(part["products"] + part["kernel"] / matrices + part["training"] / n_categories)


def training_seconds(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Seconds of everything but testing, for all categories of a training set; shape (draws,)."""
    return np.asarray(seconds[:, [i for i, part in enumerate(PARTS) if part != "testing"]].sum(axis=1))


def described(results: CategoryResults) -> dict[str, Any]:
    """What the manifest says of category curves: methods, draws and seeds."""
    study = results.experiment
    return {
        "cells": {cell: {"ties": int(each.ties.sum())} for cell, each in results.found.items()},
        "methods": {method.name: method.resolved for method in study.methods},
        "protocol": {
            "sizes": list(study.sizes),
            "replicates": study.replicates,
            "nested": study.nested,
            "test": study.test,
        },
        "seeds": {"draws": study.seed},
    }


def encode(results: CategoryResults) -> bytes:
    """The decisions as a NumPy archive, the same bytes for the same decisions and seconds."""
    tested = results.tested
    arrays: dict[str, NDArray[Any]] = {
        "documents": _joined(tested.ids),
        "categories": _joined(tested.categories),
        "truth": np.packbits(tested.truth, axis=-1),
        "parts": _joined(PARTS),
    }
    for size, positives in results.positives.items():
        arrays[f"positives/{size}"] = positives
    for cell, each in results.found.items():
        arrays[f"{cell}/assigned"] = np.packbits(each.assigned, axis=-1)
        arrays[f"{cell}/ties"] = each.ties
        arrays[f"{cell}/seconds"] = each.seconds
    file = io.BytesIO()
    np.savez_compressed(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    return file.getvalue()


def decode(
    study: CategoryCurves, content: bytes, failures: dict[str, str], facts: dict[str, dict[str, Any]]
) -> CategoryResults:
    """The decisions back from their archive.

    Raises
    ------
    ValueError, KeyError, OSError
        If it is damaged, or not the archive of this configuration.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = dict(archive)
    if _split(arrays["parts"]) != PARTS:
        raise ValueError("its seconds are of other parts")
    ids, categories = _split(arrays["documents"]), _split(arrays["categories"])

    def bits(name: str) -> NDArray[np.bool_]:
        return np.unpackbits(arrays[name], axis=-1, count=len(categories)).astype(bool)

    tested = Tested(ids, categories, bits("truth"))
    found = {
        cell.id: MethodResults(bits(f"{cell.id}/assigned"), arrays[f"{cell.id}/ties"], arrays[f"{cell.id}/seconds"])
        for cell in study.cells
        if cell.id not in failures
    }
    positives = {size: arrays[f"positives/{size}"] for size in study.sizes}
    return CategoryResults(study, tested, positives, found, failures, facts)


def _joined(names: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.frombuffer("\0".join(names).encode(), dtype=np.uint8)


def _split(joined: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(joined.tobytes().decode().split("\0"))
