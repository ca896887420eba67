"""Numbers, units, and labels of methods as text: tables of cases, with both sides of each limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmark.analysis.formatting.labels import candidate_label, grid_label, label_cells
from benchmark.analysis.formatting.units import axis_label, axis_scale
from benchmark.analysis.scoring import RunPredictions
from benchmark.config.model import BASE_VARIANT
from benchmark.evaluation.metrics import DiagnosticMetric
from tests.analysis.made import CLASSES, predicted
from tests.builders import small_experiment

DECLARED = {
    "level": DiagnosticMetric("level", "nats", "mean level", axis="level of all", together="levels", definition="mean"),
    "plain": DiagnosticMetric("plain", "nats"),
}


class TestUnits:
    @pytest.mark.parametrize(
        ("metrics", "label", "scale"),
        [
            (("error",), "Test error (%)", 100),
            (("macro-f1", "micro-f1"), "F-measure (%)", 100),
            (("level", "plain"), "Levels or plain (nats)", 1),
            (("accuracy", "level"), "Accuracy (fraction) or levels (nats)", 1),
            (("seconds",), "Seconds", 1),
        ],
    )
    def test_an_axis_names_what_it_shows_and_its_unit(self, metrics: Any, label: str, scale: float) -> None:
        assert axis_label(metrics, DECLARED) == label
        assert axis_scale(metrics, DECLARED) == scale


def entry_of(method: Any, **changes: Any) -> Any:
    experiment = small_experiment(corpus={"name": "synthetic"}, methods=[method], **changes)
    return experiment.variants[BASE_VARIANT].entries[0]


class TestMethods:
    def test_candidates_of_any_part_are_told_apart(self) -> None:
        choose = {"by": "cross-validation", "folds": 2, "grid_keys": ["weighting", "text", "normalization"]}
        entry = entry_of({"weighting": ["tf", "tfidf"], "kernel": "linear", "name": "a"}, choose=choose)
        assert grid_label(entry) == "weighting tf, tfidf"
        assert [candidate_label(entry, i) for i in (0, 1)] == ["weighting tf", "weighting tfidf"]
        entry = entry_of({"normalization": ["l1", "l2"], "kernel": "linear", "name": "a"}, choose=choose)
        assert [candidate_label(entry, i) for i in (0, 1)] == ["normalization l1", "normalization l2"]

    def test_smallest_and_largest_of_three_are_marked_unless_none_is_beyond(self) -> None:
        choose = {"by": "cross-validation", "folds": 2}
        entry = entry_of({"classifier": {"name": "eef", "n_terms": [50, 100, 200, None]}}, choose=choose)
        labels = [candidate_label(entry, i) for i in range(4)]
        assert labels == ["n_terms 50 (smallest)", "n_terms 100", "n_terms 200", "n_terms None"]


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
            (info,) = label_cells(experiment, scored, None)
            assert info.columns["parameter"] == label
