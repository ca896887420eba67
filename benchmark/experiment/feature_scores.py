"""Feature curves to outcomes, and their predictions to a file and back."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.evaluation.metrics import Outcome
from benchmark.experiment.feature_curves import FeatureResults, PanelResults, Predicted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmark.config.feature_curves import FeatureCurves


def outcomes_of(results: FeatureResults) -> dict[str, Outcome]:
    """Every cell that didn't fail, by id, in table order.

    Panels are of different documents: test documents are numbered panel after panel, so that cells of two panels are
    never paired. Settings test the same documents, and their cells can be.
    """
    study, found = results.experiment, {}
    n_classes = {panel.name: len(panel.classes) for panel in study.panels}
    first = dict.fromkeys(n_classes, 0)
    for before, after in zip(study.panels, study.panels[1:], strict=False):
        first[after.name] = first[before.name] + len(results.panels[study.settings[0].name, before.name].ids)
    for cell in study.cells:
        own = results.panels[cell.setting, cell.panel]
        if (cell.method, cell.size) in own.found:
            rows = np.arange(len(own.ids))
            codes = own.found[cell.method, cell.size].codes
            zeros = np.zeros(len(rows), dtype=np.intp)
            found[cell.id] = Outcome(cell.id, rows + first[cell.panel], zeros, own.truth, codes, n_classes[cell.panel])
    return found


def ties_of(results: FeatureResults) -> dict[str, int]:
    """Predictions whose first place was shared, by cell."""
    found = {}
    for cell in results.experiment.cells:
        own = results.panels[cell.setting, cell.panel].found.get((cell.method, cell.size))
        if own is not None:
            found[cell.id] = int(np.count_nonzero(own.tied))
    return found


def described(results: FeatureResults) -> dict[str, Any]:
    """What the manifest says of the cells: every parameter, and the ties."""
    study, ties = results.experiment, ties_of(results)
    settings = {setting.name: setting for setting in study.settings}
    return {
        "cells": {
            cell.id: {**settings[cell.setting].resolved(cell.method), "terms": cell.size, "ties": ties[cell.id]}
            for cell in study.cells
            if cell.id in ties
        },
        "panels": {panel.name: {"title": panel.title, "classes": list(panel.classes)} for panel in study.panels},
        "protocol": {"train": list(study.train_groups), "test": list(study.test_groups)},
        "seeds": {},
    }


def encode(results: FeatureResults) -> bytes:
    """The predictions as a NumPy archive, the same bytes for the same predictions."""
    arrays: dict[str, NDArray[Any]] = {}
    for (setting, name), panel in results.panels.items():
        place = f"{setting}/{name}"
        arrays[f"{place}/documents"] = np.frombuffer("\0".join(panel.ids).encode(), dtype=np.uint8)
        arrays[f"{place}/truth"] = panel.truth
        for (method, size), each in panel.found.items():
            arrays[f"{place}/{method}/{size}/codes"] = each.codes
            arrays[f"{place}/{method}/{size}/tied"] = np.packbits(each.tied)
    file = io.BytesIO()
    np.savez_compressed(file, **dict(sorted(arrays.items())))  # type: ignore[arg-type]
    return file.getvalue()


def decode(study: FeatureCurves, content: bytes, failures: dict[str, str], facts: dict[str, Any]) -> FeatureResults:
    """The predictions back from their archive.

    Raises
    ------
    ValueError, KeyError, OSError
        If it is damaged, or not the archive of this configuration.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = dict(archive)
    panels = {
        (setting.name, panel.name): _decoded(study, arrays, f"{setting.name}/{panel.name}", failures)
        for setting in study.settings
        for panel in study.panels
    }
    return FeatureResults(study, panels, failures, facts)


def _decoded(
    study: FeatureCurves,
    arrays: dict[str, NDArray[Any]],
    place: str,
    failures: dict[str, str],
) -> PanelResults:
    result = PanelResults(tuple(arrays[f"{place}/documents"].tobytes().decode().split("\0")), arrays[f"{place}/truth"])
    n = len(result.ids)
    for cell in study.cells:
        if f"{cell.setting}/{cell.panel}" == place and cell.id not in failures:
            point = f"{place}/{cell.method}/{cell.size}"
            tied = np.unpackbits(arrays[f"{point}/tied"], count=n).astype(bool)
            result.found[cell.method, cell.size] = Predicted(arrays[f"{point}/codes"], tied)
    return result
