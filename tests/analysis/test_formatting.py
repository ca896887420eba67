"""Numbers, units, and labels of methods as text: tables of cases, with both sides of each limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmark.analysis.formatting.labels import label_cells
from benchmark.analysis.formatting.units import axis_label, axis_scale
from benchmark.analysis.scoring import RunPredictions
from benchmark.evaluation.metrics import DiagnosticMetric
from tests.analysis.made import CLASSES, predicted
from tests.builders import small_experiment

DECLARED = {
    "level": DiagnosticMetric("level", "nats", "mean level"),
    "plain": DiagnosticMetric("plain", "nats"),
}


class TestUnits:
    @pytest.mark.parametrize(
        ("metrics", "label", "scale"),
        [
            (("error",), "Error (%)", 100),
            (("macro-f1", "micro-f1"), "Macro-F1 or micro-F1 (%)", 100),
            (("level", "plain"), "Mean level or plain (nats)", 1),
            (("accuracy", "level"), "Accuracy or mean level", 1),
            (("seconds",), "Seconds", 1),
        ],
    )
    def test_an_axis_names_what_it_shows_and_its_unit(self, metrics: Any, label: str, scale: float) -> None:
        assert axis_label(metrics, DECLARED) == label
        assert axis_scale(metrics, DECLARED) == scale


class TestCells:
    def test_the_median_of_the_chosen_is_marked(self) -> None:
        experiment = small_experiment(
            corpus={"name": "synthetic", "classes": CLASSES},
            name="x",
            methods=[{"kernel": {"name": "rbf", "sigma": [0.1, 0.2, 0.4]}}],
            choose={"by": "oracle"},
        )
        scored = RunPredictions(experiment, predicted(experiment), {}, {}).scored
        (name,) = scored.chosen
        for chosen, label in (
            ([1, 1], "sigma 0.2"),
            ([0, 1], "sigma 0.1 (smallest) (median)"),
            ([1, 2, 2], "sigma 0.4 (largest) (median)"),
        ):
            scored.chosen[name] = np.array(chosen)
            (info,) = label_cells(experiment, scored)
            assert info.columns["parameter"] == label
