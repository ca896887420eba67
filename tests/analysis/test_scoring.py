"""Predictions to scores, costs and labels of cells, on predictions made up by hand: no training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmark.analysis.agreement import pair_summary
from benchmark.analysis.formatting.labels import label_cells
from benchmark.analysis.scoring import RunPredictions, time_metrics
from benchmark.analysis.summarize import summarize
from benchmark.evaluation.predictions import TIMERS, Predictions, TaskKey
from tests.analysis.made import CLASSES, drawn_study, predicted, table_study
from tests.builders import setting_of, small_experiment

#: By `TIMERS`, of four binary classifiers: extraction, products, kernel, training, testing, and training one by one.
SECONDS = np.array([[10.0, 1.0, 4.0, 2.0, 50.0, 8.0], [20.0, 2.0, 8.0, 4.0, 60.0, 0.0]])


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


@pytest.mark.parametrize(("method", "matrices"), [("linear", 1), ("hp-top", 4)])
def test_seconds_are_of_one_machine_which_has_a_matrix_of_its_own_or_shares_one(method, matrices):
    experiment = drawn_study(choose=None, methods=[method], compare=[])
    none = tuple(np.zeros(1, dtype=np.int32) for _ in SECONDS)
    found = time_metrics(experiment, experiment.cells[0], setting_of(none, seconds=SECONDS), 4)
    assert len(TIMERS) == SECONDS.shape[1]
    one = [1 + 4 / matrices + 8 / 4, 2 + 8 / matrices + 4 / 4]
    np.testing.assert_allclose(found["seconds"], one)
    np.testing.assert_allclose(found["seconds-with-features"], np.add(one, [10, 20]))
    np.testing.assert_allclose(found["seconds-in-all"], [10 + 1 + 4 + 2, 20 + 2 + 8 + 4])


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


def test_a_plug_ins_metric_may_be_better_where_it_is_less() -> None:
    """The accuracy as a metric of a plug-in, of which less is better, beside metrics of this package."""
    experiment = table_study(metrics=["accuracy", "error", "macro-f1"])
    mine = replace(experiment.scorers["accuracy"], more_is_better=False)
    own = replace(experiment, metrics=("mine", "error", "macro-f1"), scorers={**experiment.scorers, "mine": mine})
    (a, b, *_), run = own.ids, RunPredictions(own, predicted(experiment), {}, {})
    for found in (summarize(run), pair_summary(run, a, b)):
        assert not found.more_is_better("mine")
        assert not found.more_is_better("error")
        assert found.more_is_better("macro-f1")
