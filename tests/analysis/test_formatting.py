"""Labels of methods as text."""

from __future__ import annotations

import numpy as np

from benchmark.analysis.formatting.labels import label_cells
from benchmark.analysis.scoring import RunPredictions
from tests.analysis.made import CLASSES, predicted
from tests.builders import small_experiment


def test_the_median_of_the_chosen_is_marked() -> None:
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
