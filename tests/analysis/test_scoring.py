"""Predictions to the frame of scores, on predictions made up by hand: no training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmark.analysis.scoring import RunPredictions
from benchmark.evaluation.predictions import Predictions, TaskKey
from tests.analysis.made import CLASSES, drawn_study, predicted


class TestClasses:
    def test_the_mean_of_the_classes_is_that_of_all(self, centroids):
        _, _, scored = centroids
        each = [scored.cells[f"{name}-skl-50"].values["macro-recall"] for name in CLASSES]
        assert scored.cells["all-skl-50"].values["macro-recall"] == pytest.approx(np.mean(each, axis=0))

    def test_cells_of_a_class_are_paired_on_its_documents(self, centroids):
        experiment, _, scored = centroids
        tests = scored.tests("faculty-skl-50", "faculty-mean-50", experiment.metrics)
        assert [test.test for test in tests] == ["wilcoxon", "mcnemar"]
        with pytest.raises(ValueError, match="different classes"):
            scored.test("mcnemar", "faculty-skl-50", "course-mean-50", "macro-recall")


class TestVariants:
    def test_of_several_classes_too(self):
        """Turned by one place: that there and back is not the same."""
        turned = [2, 0, 1]
        order = [CLASSES[i] for i in turned]
        experiment = drawn_study(
            choose=None, methods=["linear"], compare=[], variants={"turned": {"corpus": {"classes": order}}}
        )
        made = predicted(experiment, multilabel=True)
        own = made.tasks["base", ""]
        tasks = made.tasks | {TaskKey("turned", ""): replace(own, classes=tuple(order), truth=own.truth[:, turned])}
        points = {
            key: replace(
                made.settings["base", *key[1:]],
                predicted=made.settings["base", *key[1:]].predicted[:, turned],
                tied=made.settings["base", *key[1:]].tied[:, turned],
            )
            for key in made.settings
            if key[0] == "turned"
        }
        scored = RunPredictions(experiment, Predictions(tasks, made.splits, made.settings | points), {}, {}).scored
        one, other = (scored.cells[name].outcome for name in ("linear-50", "turned-linear-50"))
        for part in ("truth", "predicted", "tied"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
