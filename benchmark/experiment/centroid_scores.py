"""Centroid curves to scores: accuracies of the topics on every draw, their growth, and Table I with its intervals."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.config.centroid_curves import ALL, GROWTH, TABLE, cell_id
from benchmark.corpora.corpus import Documents
from benchmark.evaluation.draws import DrawScores, mcnemar_by_document
from benchmark.evaluation.intervals import LEVEL, Estimate
from benchmark.experiment.centroid_curves import UNTESTED, CentroidResults, Predicted, SettingResults, TableRow
from benchmark.experiment.centroid_solvers import EXACT, Solved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from benchmark.config.centroid_curves import CentroidCell, CentroidCurves
    from benchmark.evaluation.significance import TestResult

ACCURACY, DISTANCE = "accuracy", "average-skl"
_SOLVED = ("energies", "gaps", "steps", "edges")
_TABLE = ("values", "resampled", "by_smoothing")


def scores_of(results: CentroidResults) -> dict[str, DrawScores]:
    """Every cell that didn't fail, by id, in table order."""
    found: dict[str, DrawScores] = {}
    study = results.experiment
    for cell in study.cells:
        setting = results.settings[cell.setting]
        if cell.what == TABLE:
            if cell.centroid in setting.table:
                found[cell.id] = _distance(cell, setting)
        elif cell.what == GROWTH:
            ends = [
                cell_id(cell.setting, cell.topic, cell.centroid, size) for size in (study.sizes[-1], study.sizes[0])
            ]
            if all(end in found for end in ends):
                found[cell.id] = _growth(cell, found[ends[0]], found[ends[1]])
        elif (cell.centroid, cell.size) in setting.found:
            found[cell.id] = _point(cell, setting)
    return found


def _point(cell: CentroidCell, setting: SettingResults) -> DrawScores:
    """Accuracy of a topic: the share of its test documents that are given to it; "all": the mean over the topics."""
    predicted, labels, k = setting.found[cell.centroid, cell.size], setting.documents.labels, _k(setting)
    tested = predicted.codes != UNTESTED
    right = predicted.codes == labels
    of_topic = np.stack([(right & (labels == c)).sum(axis=1) for c in range(k)], axis=1)
    n = np.stack([(tested & (labels == c)).sum(axis=1) for c in range(k)], axis=1)
    recalls = of_topic / n
    if cell.topic == ALL:
        ties = predicted.tied.sum(axis=1)
        return DrawScores(cell.id, {ACCURACY: recalls.mean(axis=1)}, int(n[0].sum()), ties)
    c = setting.documents.classes.index(cell.topic)
    ties = (predicted.tied & (labels == c)).sum(axis=1)
    return DrawScores(cell.id, {ACCURACY: recalls[:, c]}, int(n[0, c]), ties)


def _growth(cell: CentroidCell, last: DrawScores, first: DrawScores) -> DrawScores:
    """What the accuracy of a draw of the largest size is above that of the smallest size's draw of the same number."""
    growth = last.scores[ACCURACY] - first.scores[ACCURACY]
    # A tie may move either accuracy; the smaller test set is the last size's.
    return DrawScores(cell.id, {ACCURACY: growth}, last.n, last.ties + first.ties)


def _distance(cell: CentroidCell, setting: SettingResults) -> DrawScores:
    c, row = setting.documents.classes.index(cell.topic), setting.table[cell.centroid]
    value, resampled = float(row.values[c]), row.resampled[:, c]
    # Resamples repeat documents and lack others, so that their centroids lie farther apart, as those of fewer documents
    # do. The print is of about as many documents as ours, not of resamples: the interval has their spread about ours.
    low, high = value + np.quantile(resampled - resampled.mean(), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    n = int((setting.documents.labels == c).sum())
    estimate = Estimate(value, float(low), float(high), n, "bootstrap")
    return DrawScores(cell.id, {DISTANCE: np.array([value])}, n, np.zeros(1, dtype=np.int64), {DISTANCE: estimate})


def _k(setting: SettingResults) -> int:
    return len(setting.documents.classes)


def document_test(results: CentroidResults, a: str, b: str) -> TestResult | None:
    """McNemar's test between two points of one topic and size, each document once; None where there is nothing to pair.

    Of "all", the test counts all documents alike, whereas the accuracy averages the topics.
    """
    cells = {cell.id: cell for cell in results.experiment.cells}
    one, other = cells[a], cells[b]
    if (one.what, one.setting, one.topic, one.size) != (other.what, other.setting, other.topic, other.size):
        return None
    setting = results.settings[one.setting]
    pair = [setting.found.get((cell.centroid, cell.size)) for cell in (one, other)]
    if one.what != "point" or pair[0] is None or pair[1] is None:
        return None
    labels = setting.documents.labels
    own = labels >= 0 if one.topic == ALL else labels == setting.documents.classes.index(one.topic)
    tested = (pair[0].codes != UNTESTED) & own
    return mcnemar_by_document(a, b, pair[0].codes == labels, pair[1].codes == labels, tested)


def described(results: CentroidResults) -> dict[str, Any]:
    """What the manifest says of centroid curves."""
    study = results.experiment
    return {
        "cells": {name: {"ties": int(each.ties.sum())} for name, each in scores_of(results).items()},
        "protocol": {"sizes": list(study.sizes), "replicates": study.replicates, "resamples": study.resamples},
        "seeds": {"draws": study.seed, "resamples": study.seed},
        "timings": results.timings,
    }


def encode(results: CentroidResults) -> bytes:
    """Predictions, Table I and energies as a NumPy archive, the same bytes for the same findings."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, setting in results.settings.items():
        arrays[f"{name}/documents"] = np.frombuffer("\0".join(setting.documents.ids).encode(), dtype=np.uint8)
        arrays[f"{name}/labels"] = setting.documents.labels
        arrays[f"{name}/sizes"] = np.array(results.experiment.sizes)
        for (centroid, size), each in setting.found.items():
            arrays[f"{name}/{centroid}/{size}/codes"] = each.codes
            arrays[f"{name}/{centroid}/{size}/tied"] = np.packbits(each.tied, axis=1)
        for centroid, row in setting.table.items():
            arrays |= {f"{name}/{TABLE}/{centroid}/{part}": getattr(row, part) for part in _TABLE}
    for solver, solved in results.solved.items():
        arrays |= {f"solved/{solver}/{part}": getattr(solved, part) for part in _SOLVED}
    file = io.BytesIO()
    np.savez_compressed(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    return file.getvalue()


def decode(study: CentroidCurves, content: bytes, failures: dict[str, str], facts: dict[str, Any]) -> CentroidResults:
    """The findings back from their archive.

    Raises
    ------
    ValueError, KeyError, OSError
        If it is damaged, or not the archive of this configuration.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = dict(archive)
    settings = {setting.name: _decoded_setting(study, arrays, setting.name) for setting in study.settings}
    names = [name for name in (EXACT, *study.graphs) if f"solved/{name}/steps" in arrays]
    solved = {name: Solved(*(arrays[f"solved/{name}/{part}"] for part in _SOLVED)) for name in names}
    return CentroidResults(study, settings, solved, failures, facts)


def _decoded_setting(study: CentroidCurves, arrays: Mapping[str, NDArray[Any]], name: str) -> SettingResults:
    ids = tuple(arrays[f"{name}/documents"].tobytes().decode().split("\0"))
    n, labels = len(ids), arrays[f"{name}/labels"]
    if arrays[f"{name}/sizes"].tolist() != list(study.sizes):
        raise KeyError(f"{name}: the archive has other sizes")
    documents = Documents(ids, labels, np.zeros(n, dtype=np.int32), study.classes, ("",))
    result = SettingResults(documents)
    for centroid in study.centroids:
        for size in study.sizes:
            place = f"{name}/{centroid}/{size}"
            if f"{place}/codes" in arrays:
                tied = np.unpackbits(arrays[f"{place}/tied"], axis=1, count=n).astype(bool)
                result.found[centroid, size] = Predicted(arrays[f"{place}/codes"], tied)
    for centroid in study.table_centroids:
        place = f"{name}/{TABLE}/{centroid}"
        if f"{place}/values" in arrays:
            result.table[centroid] = TableRow(*(arrays[f"{place}/{part}"] for part in _TABLE))
    return result
